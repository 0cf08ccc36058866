//! Limits of tokens: `/admin/token-rate-limits` and below.

use std::collections::BTreeMap;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::id::{GroupId, TokenLimitId};
use trove_domain::token_limit::{LimitScope, TokenAllowance, TokenLimit};
use trove_engine::Engine;
use utoipa::ToSchema;

use crate::error::{ApiError, ErrorBody, Refusal};
use crate::extract::{Caller, Input, Parts, Valid, ValidJson};
use crate::validation::{Field, Fields, Read, Record, boolean, integer_between, integer_id};

/// A limit to set.
#[derive(Debug, ToSchema)]
#[schema(as = TokenRateLimitArgs,
    example = json!({"enabled": true, "token_budget": 500, "period_hours": 24}))]
pub(crate) struct LimitBody {
    /// Whether it counts.
    enabled: bool,
    /// How many thousand tokens may be used in a period.
    #[schema(minimum = 1, maximum = 1_000_000_000)]
    token_budget: u32,
    /// How long a period is, which ends now.
    #[schema(minimum = 1, maximum = 8_784)]
    period_hours: u32,
    /// Costs are not known: only null is accepted.
    #[schema(value_type = Option<f64>)]
    cost_budget_cents: Cost,
}

/// Whether somebody asks for a limit of costs.
#[derive(Debug)]
struct Cost(bool);

fn number(max: u32) -> impl Fn(Field<'_>) -> Read<u32> {
    move |field| {
        let value = integer_between(1, i64::from(max))(field)?;
        Ok(u32::try_from(value).unwrap_or(max))
    }
}

impl Record for LimitBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let enabled = fields.required("enabled", boolean);
        let token_budget = fields.required("token_budget", number(TokenAllowance::BUDGET_MAX));
        let period_hours = fields.required("period_hours", number(TokenAllowance::HOURS_MAX));
        let cost = fields.nullable("cost_budget_cents", |_: Field<'_>| Ok(()));
        Ok(Self {
            enabled: enabled?,
            token_budget: token_budget?,
            period_hours: period_hours?,
            cost_budget_cents: Cost(cost?.is_some()),
        })
    }
}

impl LimitBody {
    fn allowance(self) -> Result<TokenAllowance, ApiError> {
        if self.cost_budget_cents.0 {
            let detail = "cost_budget_cents: costs are not known here; leave it out";
            return Err(Refusal::NotImplemented { detail }.into());
        }
        let Self { enabled, token_budget, period_hours, cost_budget_cents: _ } = self;
        Ok(TokenAllowance { enabled, budget_thousands: token_budget, period_hours })
    }
}

/// A limit.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TokenRateLimitDisplay, example = json!({"token_id": 1, "enabled": true,
    "token_budget": 500, "period_hours": 24, "cost_budget_cents": null}))]
pub(crate) struct LimitReply {
    /// Its key.
    token_id: i32,
    /// Whether it counts.
    enabled: bool,
    /// How many thousand tokens may be used in a period.
    token_budget: u32,
    /// How long a period is.
    period_hours: u32,
    /// Always null.
    cost_budget_cents: Option<f64>,
}

impl From<TokenLimit> for LimitReply {
    fn from(limit: TokenLimit) -> Self {
        let TokenAllowance { enabled, budget_thousands, period_hours } = limit.allowance;
        Self {
            token_id: limit.id.0,
            enabled,
            token_budget: budget_thousands,
            period_hours,
            cost_budget_cents: None,
        }
    }
}

async fn list(
    engine: &Engine,
    caller: &Caller,
    scope: LimitScope,
) -> Result<HttpResponse, ApiError> {
    let limits = engine.token_limits(&caller.0, scope).await?.into_iter();
    Ok(HttpResponse::Ok().json(limits.map(LimitReply::from).collect::<Vec<_>>()))
}

async fn create(
    engine: &Engine,
    scope: LimitScope,
    body: LimitBody,
) -> Result<HttpResponse, ApiError> {
    let limit = engine.create_token_limit(scope, body.allowance()?).await?;
    Ok(HttpResponse::Ok().json(LimitReply::from(limit)))
}

/// The limits for everybody together.
#[utoipa::path(
    get, path = "/admin/token-rate-limits/global", tag = "token limits",
    operation_id = "list_global_token_limits",
    responses((status = 200, description = "The limits.", body = Vec<LimitReply>))
)]
pub(crate) async fn list_global(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    list(&engine, &caller, LimitScope::Global).await
}

/// Sets a limit for everybody together.
#[utoipa::path(
    post, path = "/admin/token-rate-limits/global", tag = "token limits",
    operation_id = "create_global_token_limit", request_body = LimitBody,
    responses((status = 200, description = "The limit.", body = LimitReply))
)]
pub(crate) async fn create_global(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<LimitBody>,
) -> Result<HttpResponse, ApiError> {
    create(&engine, LimitScope::Global, body).await
}

/// The limits for each user.
#[utoipa::path(
    get, path = "/admin/token-rate-limits/users", tag = "token limits",
    operation_id = "list_user_token_limits",
    responses((status = 200, description = "The limits.", body = Vec<LimitReply>))
)]
pub(crate) async fn list_users(
    caller: Caller,
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    list(&engine, &caller, LimitScope::User).await
}

/// Sets a limit for each user.
#[utoipa::path(
    post, path = "/admin/token-rate-limits/users", tag = "token limits",
    operation_id = "create_user_token_limit", request_body = LimitBody,
    responses((status = 200, description = "The limit.", body = LimitReply))
)]
pub(crate) async fn create_users(
    engine: Data<Engine>,
    ValidJson(body): ValidJson<LimitBody>,
) -> Result<HttpResponse, ApiError> {
    create(&engine, LimitScope::User, body).await
}

/// The limits of all groups that have some, by the name of the group.
#[utoipa::path(
    get, path = "/admin/token-rate-limits/user-groups", tag = "token limits",
    operation_id = "list_group_token_limits",
    responses((status = 200, description = "The limits.",
        body = BTreeMap<String, Vec<LimitReply>>))
)]
pub(crate) async fn list_groups(engine: Data<Engine>) -> Result<HttpResponse, ApiError> {
    let mut by_name: BTreeMap<String, Vec<LimitReply>> = BTreeMap::new();
    for (group, limit) in engine.token_limits_of_groups().await? {
        by_name.entry(group.name).or_default().push(limit.into());
    }
    Ok(HttpResponse::Ok().json(by_name))
}

/// Which group.
pub(crate) struct GroupPath(GroupId);

impl Input for GroupPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.path(|path| path.required("group_id", integer_id)).map(|id| Self(GroupId(id)))
    }
}

/// The limits of a group.
#[utoipa::path(
    get, path = "/admin/token-rate-limits/user-group/{group_id}", tag = "token limits",
    operation_id = "list_token_limits_of_group",
    params(("group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "The limits.", body = Vec<LimitReply>),
        (status = 404, description = "There is no such group that the caller controls.",
            body = ErrorBody),
    )
)]
pub(crate) async fn list_group(
    caller: Caller,
    engine: Data<Engine>,
    Valid(GroupPath(group)): Valid<GroupPath>,
) -> Result<HttpResponse, ApiError> {
    list(&engine, &caller, LimitScope::Group(group)).await
}

/// A group and its limit.
pub(crate) struct GroupLimit {
    group: GroupId,
    body: LimitBody,
}

impl Input for GroupLimit {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let group = parts.path(|path| path.required("group_id", integer_id));
        let body = parts.body();
        Ok(Self { group: GroupId(group?), body: body? })
    }
}

/// Sets a limit for the members of a group together.
///
/// Who is in several groups with limits is kept from using tokens only when all of them are used
/// up.
#[utoipa::path(
    post, path = "/admin/token-rate-limits/user-group/{group_id}", tag = "token limits",
    operation_id = "create_group_token_limit", request_body = LimitBody,
    params(("group_id" = i32, Path, description = "The group.", example = 7)),
    responses(
        (status = 200, description = "The limit.", body = LimitReply),
        (status = 404, description = "There is no such group.", body = ErrorBody),
    )
)]
pub(crate) async fn create_group(
    engine: Data<Engine>,
    Valid(input): Valid<GroupLimit>,
) -> Result<HttpResponse, ApiError> {
    create(&engine, LimitScope::Group(input.group), input.body).await
}

/// Which limit.
pub(crate) struct LimitPath(TokenLimitId);

impl Input for LimitPath {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("token_rate_limit_id", integer_id));
        Ok(Self(TokenLimitId(id?)))
    }
}

/// A limit and what it becomes.
pub(crate) struct Update {
    id: TokenLimitId,
    body: LimitBody,
}

impl Input for Update {
    const BODY: bool = true;

    fn read(mut parts: Parts<'_>) -> Read<Self> {
        let id = parts.path(|path| path.required("token_rate_limit_id", integer_id));
        let body = parts.body();
        Ok(Self { id: TokenLimitId(id?), body: body? })
    }
}

/// Changes a limit.
#[utoipa::path(
    put, path = "/admin/token-rate-limits/rate-limit/{token_rate_limit_id}", tag = "token limits",
    operation_id = "update_token_limit", request_body = LimitBody,
    params(("token_rate_limit_id" = i32, Path, description = "The limit.", example = 1)),
    responses(
        (status = 200, description = "The limit.", body = LimitReply),
        (status = 404, description = "There is no such limit.", body = ErrorBody),
    )
)]
pub(crate) async fn update(
    engine: Data<Engine>,
    Valid(input): Valid<Update>,
) -> Result<HttpResponse, ApiError> {
    let limit = engine.update_token_limit(input.id, input.body.allowance()?).await?;
    Ok(HttpResponse::Ok().json(LimitReply::from(limit)))
}

/// Removes a limit.
#[utoipa::path(
    delete, path = "/admin/token-rate-limits/rate-limit/{token_rate_limit_id}",
    tag = "token limits", operation_id = "delete_token_limit",
    params(("token_rate_limit_id" = i32, Path, description = "The limit.", example = 1)),
    responses(
        (status = 200, description = "It is gone. The body is `null`.", body = Option<()>),
        (status = 404, description = "There is no such limit.", body = ErrorBody),
    )
)]
pub(crate) async fn delete(
    engine: Data<Engine>,
    Valid(LimitPath(id)): Valid<LimitPath>,
) -> Result<HttpResponse, ApiError> {
    engine.delete_token_limit(id).await?;
    Ok(HttpResponse::Ok().json(()))
}
