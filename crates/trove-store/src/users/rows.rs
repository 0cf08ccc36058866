//! Rows of users, and how addresses are compared.

use diesel::dsl::IsNotNull;
use diesel::prelude::*;
use trove_domain::email;
use trove_domain::id::UserId;
use trove_domain::user::User;

use crate::error::{Failure, corrupt};
use crate::schema::user_account;
use crate::sql::{Id, Time};

/// Columns of a [`User`].
#[derive(Queryable, Selectable)]
#[diesel(table_name = user_account)]
pub(crate) struct UserRow {
    pub(crate) id: Id,
    email: String,
    kind: String,
    role: String,
    active: bool,
    #[diesel(select_expression = user_account::password_hash.is_not_null())]
    #[diesel(select_expression_type = IsNotNull<user_account::password_hash>)]
    has_password: bool,
    name: Option<String>,
    created_at: Time,
    updated_at: Time,
}

pub(crate) fn user(row: UserRow) -> Result<User, Failure> {
    let UserRow { id, email, kind, role, active, has_password, name, created_at, updated_at } = row;
    let kind = kind.parse().map_err(corrupt("user", id.0))?;
    let role = role.parse().map_err(corrupt("user", id.0))?;
    Ok(User {
        id: UserId(id.0),
        email,
        kind,
        role,
        active,
        has_password,
        name,
        created_at: created_at.0,
        updated_at: updated_at.0,
    })
}

/// What makes an address unique. PostgreSQL has no text with NUL, and no address holds one.
pub(crate) fn email_key(email: &str) -> String {
    email::email_key(email).replace('\0', "\u{fffd}")
}

/// Longest text that is looked for: no address is longer, and SQLite bounds patterns.
const TEXT_MAX: usize = 1000;

/// A pattern of the addresses that hold `text`, to be used with the escape character `\`.
pub(super) fn holds(text: &str) -> String {
    if text.len() > TEXT_MAX {
        // Fits nothing but the empty text, which is no address.
        return String::new();
    }
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in email_key(text).chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::holds;

    #[test]
    fn nothing_in_a_text_is_a_wildcard() {
        assert_eq!(holds("A_b%\\"), "%a\\_b\\%\\\\%");
        assert_eq!(holds(""), "%%");
        assert_eq!(holds(&"a".repeat(1001)), "");
    }
}
