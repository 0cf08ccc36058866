//! Column types that both databases have, each in its own way.

use std::io::Write;

use chrono::{DateTime, SecondsFormat, Utc};
use diesel::backend::Backend;
use diesel::deserialize::{self, FromSql, FromSqlRow};
use diesel::expression::AsExpression;
use diesel::pg::Pg;
use diesel::query_builder::QueryId;
use diesel::serialize::{self, IsNull, Output, ToSql};
use diesel::sql_types::{SqlType, Text, Timestamptz};
use diesel::sqlite::Sqlite;
use uuid::Uuid;

/// An instant: `timestamptz`, or text that sorts like it (RFC 3339, UTC, six decimals).
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[diesel(postgres_type(oid = 1184, array_oid = 1185))]
#[diesel(sqlite_type(name = "Text"))]
pub struct Instant;

/// A UUID: `uuid`, or its hyphenated text.
#[derive(Debug, Clone, Copy, SqlType, QueryId)]
#[diesel(postgres_type(oid = 2950, array_oid = 2951))]
#[diesel(sqlite_type(name = "Text"))]
pub struct Guid;

/// Value of an [`Instant`] column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, AsExpression, FromSqlRow)]
#[diesel(sql_type = Instant)]
pub struct Time(pub DateTime<Utc>);

/// Value of a [`Guid`] column.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, AsExpression, FromSqlRow)]
#[diesel(sql_type = Guid)]
pub struct Id(pub Uuid);

impl ToSql<Instant, Pg> for Time {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        ToSql::<Timestamptz, Pg>::to_sql(&self.0, out)
    }
}

impl ToSql<Instant, Sqlite> for Time {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.to_rfc3339_opts(SecondsFormat::Micros, true));
        Ok(IsNull::No)
    }
}

impl FromSql<Instant, Pg> for Time {
    fn from_sql(bytes: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        <DateTime<Utc> as FromSql<Timestamptz, Pg>>::from_sql(bytes).map(Self)
    }
}

impl FromSql<Instant, Sqlite> for Time {
    fn from_sql(bytes: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let text = <String as FromSql<Text, Sqlite>>::from_sql(bytes)?;
        let instant = DateTime::parse_from_rfc3339(&text)
            .map(|instant| instant.with_timezone(&Utc))
            // Years beyond four digits; those do not sort, which nobody asks of such dates.
            .or_else(|_| text.parse())?;
        Ok(Self(instant))
    }
}

impl ToSql<Guid, Pg> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Pg>) -> serialize::Result {
        out.write_all(self.0.as_bytes())?;
        Ok(IsNull::No)
    }
}

impl ToSql<Guid, Sqlite> for Id {
    fn to_sql<'b>(&'b self, out: &mut Output<'b, '_, Sqlite>) -> serialize::Result {
        out.set_value(self.0.to_string());
        Ok(IsNull::No)
    }
}

impl FromSql<Guid, Pg> for Id {
    fn from_sql(bytes: <Pg as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        Ok(Self(Uuid::from_slice(bytes.as_bytes())?))
    }
}

impl FromSql<Guid, Sqlite> for Id {
    fn from_sql(bytes: <Sqlite as Backend>::RawValue<'_>) -> deserialize::Result<Self> {
        let text = <String as FromSql<Text, Sqlite>>::from_sql(bytes)?;
        Ok(Self(text.parse()?))
    }
}
