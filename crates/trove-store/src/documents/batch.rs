//! Statements that change many rows, each with values of its own.
//!
//! Diesel writes those for one database at a time; these are the same on both.

use diesel::pg::Pg;
use diesel::prelude::*;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
use diesel::sqlite::Sqlite;
use trove_domain::port::IndexedMark;

use super::rows::NewDocumentRow;
use crate::sql::{Instant, Time};

/// Rows in one statement: SQLite accepts 32,766 values.
pub(crate) const ROWS_MAX: usize = 500;

/// Adds documents or replaces what an ingestion replaces; answers id and revision of each.
///
/// No id may occur twice. Rows are taken in the order given.
pub(super) struct Upsert<'a>(pub(super) &'a [NewDocumentRow<'a>]);

/// Records content that reached the index; answers the ids of the documents that it concerns.
///
/// No id may occur twice.
pub(super) struct MarkIndexed<'a> {
    pub(super) marks: &'a [(&'a IndexedMark, i32)],
    pub(super) now: &'a Time,
}

/// Records attributes that reached the index. No id may occur twice.
pub(super) struct MarkSynced<'a> {
    pub(super) revisions: &'a [(&'a str, i64)],
    pub(super) now: &'a Time,
}

/// The body of a statement once for each database.
macro_rules! statement {
    ($name:ident, $answer:ty, |$self:ident, $out:ident| $body:block) => {
        statement!(@on Pg, $name, |$self, $out| $body);
        statement!(@on Sqlite, $name, |$self, $out| $body);

        impl Query for $name<'_> {
            type SqlType = $answer;
        }

        impl QueryId for $name<'_> {
            type QueryId = ();

            // The number of rows is part of the text.
            const HAS_STATIC_QUERY_ID: bool = false;
        }
    };
    (@on $database:ident, $name:ident, |$self:ident, $out:ident| $body:block) => {
        impl QueryFragment<$database> for $name<'_> {
            fn walk_ast<'b>(&'b $self, mut $out: AstPass<'_, 'b, $database>) -> QueryResult<()> {
                $out.unsafe_to_cache_prepared();
                $body
                Ok(())
            }
        }
    };
}

/// One value, after what separates it from the one before.
macro_rules! value {
    ($out:ident, $before:literal, $type:ty, $value:expr) => {
        $out.push_sql($before);
        $out.push_bind_param::<$type, _>($value)?;
    };
}

pub(crate) use {statement, value};

pub(crate) const fn separator(row: usize) -> &'static str {
    if row == 0 { "(" } else { ", (" }
}

statement!(Upsert, (Text, BigInt), |self, out| {
    out.push_sql(
        "INSERT INTO document (id, source, semantic_identifier, link, metadata, updated_at, \
         created_at, primary_owners, secondary_owners, from_ingestion_api, changed_at, \
         content_revision, revision, pending, boost, hidden, chunk_count) VALUES ",
    );
    for (number, row) in self.0.iter().enumerate() {
        out.push_sql(separator(number));
        value!(out, "", Text, row.id);
        value!(out, ", ", Text, row.source);
        value!(out, ", ", Text, row.semantic_identifier);
        value!(out, ", ", Nullable<Text>, &row.link);
        value!(out, ", ", Text, &row.metadata);
        value!(out, ", ", Nullable<Instant>, &row.updated_at);
        value!(out, ", ", Nullable<Instant>, &row.created_at);
        value!(out, ", ", Text, &row.primary_owners);
        value!(out, ", ", Text, &row.secondary_owners);
        value!(out, ", ", Bool, &row.from_ingestion_api);
        value!(out, ", ", Instant, &row.changed_at);
        value!(out, ", ", BigInt, &row.content_revision);
        value!(out, ", ", BigInt, &row.revision);
        out.push_sql(", 'attributes', 0, false, 0)");
    }
    // A new row whose content changes carries its revision as that of the content, else 0.
    out.push_sql(
        " ON CONFLICT (id) DO UPDATE SET source = excluded.source, \
         semantic_identifier = excluded.semantic_identifier, link = excluded.link, \
         metadata = excluded.metadata, updated_at = excluded.updated_at, \
         created_at = excluded.created_at, primary_owners = excluded.primary_owners, \
         secondary_owners = excluded.secondary_owners, \
         from_ingestion_api = excluded.from_ingestion_api, changed_at = excluded.changed_at, \
         revision = document.revision + 1, pending = 'attributes', \
         content_revision = CASE WHEN excluded.content_revision > 0 \
         THEN document.revision + 1 ELSE document.content_revision END, \
         content_hash = CASE WHEN excluded.content_revision > 0 \
         THEN NULL ELSE document.content_hash END \
         RETURNING id, revision",
    );
});

statement!(MarkIndexed, Text, |self, out| {
    value!(out, "UPDATE document SET changed_at = ", Instant, self.now);
    out.push_sql(
        ", content_hash = mark.column3, chunk_count = mark.column4, \
         embedding_model = mark.column5, pending = CASE WHEN document.revision = mark.column2 \
         THEN NULL ELSE 'attributes' END FROM (VALUES ",
    );
    for (number, (mark, chunk_count)) in self.marks.iter().enumerate() {
        out.push_sql(separator(number));
        value!(out, "", Text, mark.id.as_str());
        value!(out, ", ", BigInt, &mark.revision);
        value!(out, ", ", Text, &mark.content_hash);
        value!(out, ", ", Integer, chunk_count);
        value!(out, ", ", Nullable<Text>, &mark.embedding_model);
        out.push_sql(")");
    }
    // Content that was replaced meanwhile is not what the index holds.
    out.push_sql(
        ") AS mark WHERE document.id = mark.column1 \
         AND document.content_revision <= mark.column2 \
         AND (document.pending IS NULL OR document.pending <> 'removal') RETURNING document.id",
    );
});

statement!(MarkSynced, Text, |self, out| {
    value!(out, "UPDATE document SET pending = NULL, changed_at = ", Instant, self.now);
    out.push_sql(" FROM (VALUES ");
    for (number, (id, revision)) in self.revisions.iter().enumerate() {
        out.push_sql(separator(number));
        value!(out, "", Text, *id);
        value!(out, ", ", BigInt, revision);
        out.push_sql(")");
    }
    out.push_sql(
        ") AS synced WHERE document.id = synced.column1 AND document.revision = synced.column2 \
         AND document.pending = 'attributes' RETURNING document.id",
    );
});
