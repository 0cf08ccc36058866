//! Limits of tokens, and how many were used.

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use diesel::dsl::sql;
use diesel::prelude::*;
use diesel::sql_types::BigInt;
use diesel_async::{AsyncConnection, RunQueryDsl};
use trove_domain::error::StoreError;
use trove_domain::group::Group;
use trove_domain::id::{GroupId, TokenLimitId, UserId};
use trove_domain::port::{TokenLimitStore, UsageOf};
use trove_domain::token_limit::{LimitScope, TokenAllowance, TokenLimit, minute};
use trove_domain::user::AccountKind;

use crate::Store;
use crate::backend::{read, transact};
use crate::error::{Failure, corrupt};
use crate::groups::living_groups;
use crate::schema::{token_limit, token_usage, user_account, user_group, user_group_member};
use crate::sql::{Id, Time};

const GLOBAL: &str = "global";
const USER: &str = "user";
const GROUP: &str = "group";

#[derive(Queryable, Selectable)]
#[diesel(table_name = token_limit)]
struct LimitRow {
    id: i32,
    scope: String,
    group_id: Option<i32>,
    enabled: bool,
    budget_thousands: i32,
    period_hours: i32,
}

fn limit(row: LimitRow) -> Result<TokenLimit, Failure> {
    let LimitRow { id, scope, group_id, enabled, budget_thousands, period_hours } = row;
    let scope = match (scope.as_str(), group_id) {
        (GLOBAL, None) => LimitScope::Global,
        (USER, None) => LimitScope::User,
        (GROUP, Some(group)) => LimitScope::Group(GroupId(group)),
        _ => return Err(corrupt("token limit", id)("it has no scope")),
    };
    let number = |n: i32| u32::try_from(n).map_err(corrupt("token limit", id));
    let allowance = TokenAllowance {
        enabled,
        budget_thousands: number(budget_thousands)?,
        period_hours: number(period_hours)?,
    };
    Ok(TokenLimit { id: TokenLimitId(id), scope, allowance })
}

fn limits(rows: Vec<LimitRow>) -> Result<Vec<TokenLimit>, Failure> {
    rows.into_iter().map(limit).collect()
}

fn columns(scope: LimitScope) -> (&'static str, Option<i32>) {
    match scope {
        LimitScope::Global => (GLOBAL, None),
        LimitScope::User => (USER, None),
        LimitScope::Group(group) => (GROUP, Some(group.0)),
    }
}

/// What an allowance fills.
macro_rules! allowance {
    ($allowance:expr) => {
        (
            token_limit::enabled.eq($allowance.enabled),
            token_limit::budget_thousands
                .eq(i32::try_from($allowance.budget_thousands).unwrap_or(i32::MAX)),
            token_limit::period_hours
                .eq(i32::try_from($allowance.period_hours).unwrap_or(i32::MAX)),
        )
    };
}

/// Usage of somebody since a minute.
macro_rules! usage {
    ($of:expr, $since:expr) => {{
        let usage =
            token_usage::table.filter(token_usage::used_at.ge(Time(minute($since)))).into_boxed();
        match $of {
            UsageOf::Everybody => usage,
            UsageOf::User(user) => usage.filter(token_usage::user_id.eq(Id(user.0))),
            UsageOf::Group(group) => {
                let members = user_group_member::table
                    .filter(user_group_member::group_id.eq(group.0))
                    .select(user_group_member::user_id);
                usage.filter(token_usage::user_id.eq_any(members))
            }
        }
    }};
}

fn tokens(sum: i64) -> u64 {
    u64::try_from(sum).unwrap_or(0)
}

#[async_trait]
impl TokenLimitStore for Store {
    #[tracing::instrument(name = "db.token_limit.insert", skip_all)]
    async fn insert_limit(
        &self,
        scope: LimitScope,
        allowance: TokenAllowance,
    ) -> Result<Option<TokenLimit>, StoreError> {
        let (kind, group) = columns(scope);
        transact!(self, "token_limit.insert", |conn| {
            if let Some(group) = group {
                let groups: i64 = living_groups!()
                    .filter(user_group::id.eq(group))
                    .count()
                    .get_result(conn)
                    .await?;
                if groups == 0 {
                    return Ok(None);
                }
            }
            let id: i32 = diesel::insert_into(token_limit::table)
                .values((
                    token_limit::scope.eq(kind),
                    token_limit::group_id.eq(group),
                    allowance!(allowance),
                ))
                .returning(token_limit::id)
                .get_result(conn)
                .await?;
            Ok(Some(TokenLimit { id: TokenLimitId(id), scope, allowance }))
        })
    }

    #[tracing::instrument(name = "db.token_limit.update", skip_all)]
    async fn update_limit(
        &self,
        id: TokenLimitId,
        allowance: TokenAllowance,
    ) -> Result<Option<TokenLimit>, StoreError> {
        transact!(self, "token_limit.update", |conn| {
            diesel::update(token_limit::table.find(id.0))
                .set(allowance!(allowance))
                .execute(conn)
                .await?;
            let row: Option<LimitRow> = token_limit::table
                .find(id.0)
                .select(LimitRow::as_select())
                .first(conn)
                .await
                .optional()?;
            row.map(limit).transpose()
        })
    }

    #[tracing::instrument(name = "db.token_limit.remove", skip_all)]
    async fn remove_limit(&self, id: TokenLimitId) -> Result<bool, StoreError> {
        transact!(self, "token_limit.remove", |conn| {
            let gone = diesel::delete(token_limit::table.find(id.0)).execute(conn).await?;
            Ok(gone == 1)
        })
    }

    #[tracing::instrument(name = "db.token_limit.limits_of", skip_all)]
    async fn limits_of(&self, scope: LimitScope) -> Result<Option<Vec<TokenLimit>>, StoreError> {
        let (kind, group) = columns(scope);
        read!(self, "token_limit.limits_of", |conn| {
            if let Some(group) = group {
                let groups: i64 = user_group::table.find(group).count().get_result(conn).await?;
                if groups == 0 {
                    return Ok(None);
                }
            }
            let query = token_limit::table
                .filter(token_limit::scope.eq(kind))
                .order(token_limit::id)
                .select(LimitRow::as_select());
            let rows: Vec<LimitRow> = match group {
                Some(group) => query.filter(token_limit::group_id.eq(group)).load(conn).await?,
                None => query.load(conn).await?,
            };
            limits(rows).map(Some)
        })
    }

    #[tracing::instrument(name = "db.token_limit.limits_of_groups", skip_all)]
    async fn limits_of_groups(&self) -> Result<Vec<(Group, TokenLimit)>, StoreError> {
        read!(self, "token_limit.limits_of_groups", |conn| {
            let rows: Vec<(i32, String, LimitRow)> = token_limit::table
                .inner_join(user_group::table)
                .order((user_group::id, token_limit::id))
                .select((user_group::id, user_group::name, LimitRow::as_select()))
                .load(conn)
                .await?;
            let limits = rows
                .into_iter()
                .map(|(id, name, row)| Ok((Group { id: GroupId(id), name }, limit(row)?)));
            limits.collect()
        })
    }

    #[tracing::instrument(name = "db.token_limit.limits_for", skip_all)]
    async fn limits_for(&self, user: UserId) -> Result<Vec<TokenLimit>, StoreError> {
        read!(self, "token_limit.limits_for", |conn| {
            let people: i64 = user_account::table
                .find(Id(user.0))
                .filter(user_account::kind.eq(AccountKind::Person.as_str()))
                .count()
                .get_result(conn)
                .await?;
            let mut rows: Vec<LimitRow> = token_limit::table
                .filter(token_limit::enabled.eq(true))
                .filter(token_limit::scope.ne(GROUP))
                .order(token_limit::id)
                .select(LimitRow::as_select())
                .load(conn)
                .await?;
            if people == 0 {
                rows.retain(|row| row.scope == GLOBAL);
                return limits(rows);
            }
            let groups = user_group_member::table
                .filter(user_group_member::user_id.eq(Id(user.0)))
                .select(user_group_member::group_id.nullable());
            let of_groups: Vec<LimitRow> = token_limit::table
                .filter(token_limit::enabled.eq(true))
                .filter(token_limit::scope.eq(GROUP))
                .filter(token_limit::group_id.eq_any(groups))
                .order(token_limit::id)
                .select(LimitRow::as_select())
                .load(conn)
                .await?;
            rows.extend(of_groups);
            limits(rows)
        })
    }

    #[tracing::instrument(name = "db.token_usage.add", skip_all)]
    async fn add_usage(
        &self,
        user: UserId,
        tokens: u64,
        now: DateTime<Utc>,
    ) -> Result<(), StoreError> {
        let (used_at, tokens) = (Time(minute(now)), i64::try_from(tokens).unwrap_or(i64::MAX));
        let hours = TimeDelta::hours(i64::from(TokenAllowance::HOURS_MAX) + 1);
        transact!(self, "token_usage.add", |conn| {
            diesel::insert_into(token_usage::table)
                .values((
                    token_usage::user_id.eq(Id(user.0)),
                    token_usage::used_at.eq(used_at),
                    token_usage::tokens.eq(tokens),
                ))
                .on_conflict((token_usage::user_id, token_usage::used_at))
                .do_update()
                .set(token_usage::tokens.eq(token_usage::tokens + tokens))
                .execute(conn)
                .await?;
            diesel::delete(token_usage::table)
                .filter(token_usage::used_at.lt(Time(minute(now - hours))))
                .execute(conn)
                .await?;
            Ok(())
        })
    }

    #[tracing::instrument(name = "db.token_usage.used_since", skip_all)]
    async fn used_since(&self, of: UsageOf, since: DateTime<Utc>) -> Result<u64, StoreError> {
        read!(self, "token_usage.used_since", |conn| {
            let sum: i64 = usage!(of, since)
                .select(sql::<BigInt>("CAST(COALESCE(SUM(tokens), 0) AS BIGINT)"))
                .get_result(conn)
                .await?;
            Ok(tokens(sum))
        })
    }

    #[tracing::instrument(name = "db.token_usage.usage_since", skip_all)]
    async fn usage_since(
        &self,
        of: UsageOf,
        since: DateTime<Utc>,
    ) -> Result<Vec<(DateTime<Utc>, u64)>, StoreError> {
        read!(self, "token_usage.usage_since", |conn| {
            let rows: Vec<(Time, i64)> = usage!(of, since)
                .order(token_usage::used_at)
                .select((token_usage::used_at, token_usage::tokens))
                .load(conn)
                .await?;
            let mut minutes: Vec<(DateTime<Utc>, u64)> = Vec::new();
            for (at, used) in rows {
                match minutes.last_mut() {
                    Some((last, sum)) if *last == at.0 => *sum += tokens(used),
                    _ => minutes.push((at.0, tokens(used))),
                }
            }
            Ok(minutes)
        })
    }
}
