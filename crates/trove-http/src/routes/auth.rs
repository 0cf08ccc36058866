//! Signing in and out, registering, and passwords.

pub(crate) mod account;
pub(crate) mod info;
pub(crate) mod password;
pub(crate) mod register;
pub(crate) mod session;
pub(crate) mod unmailed;

use secrecy::SecretString;
use serde::Serialize;
use trove_domain::email::EmailAddress;
use trove_domain::user::User;
use trove_engine::accounts::SignInError;
use utoipa::ToSchema;

use super::schema::RoleValue;
use crate::error::{ApiError, Refusal};
use crate::validation::{Field, Read, text, text_between};

/// Longest password that is read, in characters.
const PASSWORD_CHARS_MAX: usize = 1000;

/// A user, as the routes of signing in show one.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UserRead, example = json!({"id": "0190a1b2-c3d4-7000-8000-00000000000a",
    "email": "reader@example.com", "is_active": true, "is_superuser": false, "is_verified": true,
    "role": "basic"}))]
pub(crate) struct AccountReply {
    /// Key of the user, a UUID.
    id: String,
    /// Address.
    email: String,
    /// Whether the user may sign in.
    is_active: bool,
    /// Not used.
    is_superuser: bool,
    /// Whether the user need not prove that the address is its own: always true.
    is_verified: bool,
    /// What the user may do.
    #[schema(value_type = RoleValue)]
    role: &'static str,
}

impl From<User> for AccountReply {
    fn from(user: User) -> Self {
        Self {
            id: user.id.to_string(),
            email: user.email,
            is_active: user.active,
            is_superuser: false,
            is_verified: true,
            role: user.role.as_str(),
        }
    }
}

/// Reads an address.
fn email(field: Field<'_>) -> Read<EmailAddress> {
    let (json, place) = field.split();
    let address = text(place.same(json))?;
    EmailAddress::parse(&address).map_err(|why| {
        place.reject("value_error", format!("value is not a valid email address: {why}"))
    })
}

/// Reads a password, whatever it is like.
fn password(field: Field<'_>) -> Read<SecretString> {
    text_between(0, PASSWORD_CHARS_MAX)(field).map(SecretString::from)
}

/// What clients know by a code.
fn coded(code: &'static str) -> ApiError {
    Refusal::Coded { code, reason: None }.into()
}

/// A password that is not accepted is known by a code, with the reason beside it.
fn weak_password(error: SignInError, code: &'static str) -> ApiError {
    match error {
        SignInError::Password(why) => Refusal::Coded { code, reason: Some(why.to_string()) }.into(),
        error => error.into(),
    }
}
