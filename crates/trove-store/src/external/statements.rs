//! Statements that write many rows, the same on both databases.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Bool, Integer, Text};
use diesel::sqlite::Sqlite;

use super::AccessRow;
use crate::documents::batch::{separator, statement, value};

/// Adds or replaces what the source of a pair says of documents. No document may occur twice.
pub(crate) struct UpsertAccess<'a> {
    pub(crate) pair: &'a i32,
    pub(crate) rows: &'a [AccessRow<'a>],
}

/// Adds memberships that are not in force yet, or notes that they were told again: address and
/// group of each. None may occur twice.
pub(super) struct TellMembers<'a> {
    pub(super) pair: &'a i32,
    pub(super) run: &'a i64,
    pub(super) members: &'a [(&'a str, &'a str)],
}

statement!(UpsertAccess, Text, |self, out| {
    out.push_sql(
        "INSERT INTO external_access (document_id, cc_pair_id, is_public, user_keys, group_keys) \
         VALUES ",
    );
    for (number, row) in self.rows.iter().enumerate() {
        out.push_sql(separator(number));
        value!(out, "", Text, row.document);
        value!(out, ", ", Integer, self.pair);
        value!(out, ", ", Bool, &row.is_public);
        value!(out, ", ", Text, &row.users);
        value!(out, ", ", Text, &row.groups);
        out.push_sql(")");
    }
    out.push_sql(
        " ON CONFLICT (document_id, cc_pair_id) DO UPDATE SET is_public = excluded.is_public, \
         user_keys = excluded.user_keys, group_keys = excluded.group_keys",
    );
});

statement!(TellMembers, Text, |self, out| {
    out.push_sql(
        "INSERT INTO external_group_member (email_key, group_key, cc_pair_id, run, in_force) \
         VALUES ",
    );
    for (number, (email, group)) in self.members.iter().enumerate() {
        out.push_sql(separator(number));
        value!(out, "", Text, *email);
        value!(out, ", ", Text, *group);
        value!(out, ", ", Integer, self.pair);
        value!(out, ", ", BigInt, self.run);
        out.push_sql(", false)");
    }
    out.push_sql(
        " ON CONFLICT (email_key, group_key, cc_pair_id) DO UPDATE SET run = excluded.run",
    );
});
