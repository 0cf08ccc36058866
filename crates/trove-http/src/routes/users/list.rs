//! Lists: `GET /manage/users`, `GET /manage/users/accepted` and `GET /users`.

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::access::Role;
use trove_domain::page::NumberedPage;
use trove_domain::user::ListedUser;
use trove_engine::Engine;
use trove_engine::accounts::{AcceptedFilter, USERS_PAGE};
use utoipa::{IntoParams, ToSchema};

use super::invite::InvitedReply;
use super::records::UserReply;
use crate::error::ApiError;
use crate::extract::{Input, Parts, Valid};
use crate::routes::schema::{RoleValue, role};
use crate::validation::{Read, boolean, integer_between, text};

/// Most users of a page.
const PAGE_SIZE_MAX: i64 = 1000;

/// Which users to list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AcceptedQuery {
    /// Only addresses that hold this, in any letter case.
    q: Option<String>,
    /// Which page, from 0.
    #[param(default = 0, minimum = 0, required = false)]
    page_num: u64,
    /// Users on a page, 1 to 1000.
    #[param(default = 10, minimum = 1, maximum = 1000, required = false)]
    page_size: u32,
    /// Only users with one of these roles; repeat the parameter for several.
    #[param(value_type = Vec<RoleValue>, required = false)]
    roles: BTreeSet<Role>,
    /// Only users who are let in, or only those who are kept out.
    is_active: Option<bool>,
}

impl Input for AcceptedQuery {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|fields| {
            let q = fields.nullable("q", text);
            let page_num = fields.or("page_num", 0, integer_between(0, i64::MAX));
            let page_size = fields.or("page_size", 10, integer_between(1, PAGE_SIZE_MAX));
            let roles = fields.repeated("roles", role);
            let is_active = fields.nullable("is_active", boolean);
            // Cannot fail after the bounds; saturate rather than panic.
            Ok(Self {
                q: q?,
                page_num: u64::try_from(page_num?).unwrap_or(0),
                page_size: u32::try_from(page_size?).unwrap_or(u32::MAX),
                roles: roles?.into_iter().collect(),
                is_active: is_active?,
            })
        })
    }
}

/// A page of users.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PaginatedReturn_FullUserSnapshot)]
pub(crate) struct AcceptedReply {
    /// The users of the page, by rising address.
    items: Vec<UserReply>,
    /// How many users all pages have.
    total_items: u64,
}

/// A page of users: everybody with an account, and who is known by a chat bot.
#[utoipa::path(
    get, path = "/manage/users/accepted", tag = "users", operation_id = "list_accepted_users",
    params(AcceptedQuery),
    responses((status = 200, description = "The page.", body = AcceptedReply))
)]
pub(crate) async fn list_accepted_users(
    engine: Data<Engine>,
    Valid(query): Valid<AcceptedQuery>,
) -> Result<HttpResponse, ApiError> {
    let filter = AcceptedFilter { text: query.q, roles: query.roles, active: query.is_active };
    let offset = query.page_num.saturating_mul(u64::from(query.page_size));
    let page = engine.list_accepted_users(filter, offset, query.page_size).await?;
    Ok(HttpResponse::Ok().json(AcceptedReply { items: users(page.items), total_items: page.total }))
}

/// All users that `GET /manage/users/accepted` has on its pages.
#[utoipa::path(
    get, path = "/manage/users/accepted/all", tag = "users",
    operation_id = "list_all_accepted_users",
    responses((status = 200, description = "The users.", body = Vec<UserReply>))
)]
pub(crate) async fn list_all_accepted_users(
    engine: Data<Engine>,
) -> Result<HttpResponse, ApiError> {
    let all = engine.all_accepted_users(AcceptedFilter::default()).await?;
    Ok(HttpResponse::Ok().json(users(all)))
}

/// Which of the three lists' pages to show.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AllUsersQuery {
    /// Only addresses that hold this, in any letter case.
    q: Option<String>,
    /// Which page of ten accepted users, from 0. Without all three numbers there are no pages.
    #[param(minimum = 0)]
    accepted_page: Option<u64>,
    /// Which page of ten users of chat bots, from 0.
    #[param(minimum = 0)]
    slack_users_page: Option<u64>,
    /// Which page of ten invitations, from 0.
    #[param(minimum = 0)]
    invited_page: Option<u64>,
    /// Whether users that exist for an API key are listed.
    #[param(default = false, required = false)]
    include_api_keys: bool,
}

impl Input for AllUsersQuery {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|fields| {
            let page = || integer_between(0, i64::MAX);
            let q = fields.nullable("q", text);
            let accepted_page = fields.nullable("accepted_page", page());
            let slack_users_page = fields.nullable("slack_users_page", page());
            let invited_page = fields.nullable("invited_page", page());
            let include_api_keys = fields.or("include_api_keys", false, boolean);
            // Cannot fail after the bounds.
            let number = |page: Option<i64>| page.map(|page| u64::try_from(page).unwrap_or(0));
            Ok(Self {
                q: q?,
                accepted_page: number(accepted_page?),
                slack_users_page: number(slack_users_page?),
                invited_page: number(invited_page?),
                include_api_keys: include_api_keys?,
            })
        })
    }
}

impl AllUsersQuery {
    /// Pages of accepted users, invitations and users of chat bots, where all three are asked for.
    fn pages(&self) -> Option<[u64; 3]> {
        Some([self.accepted_page?, self.invited_page?, self.slack_users_page?])
    }
}

/// Three lists of users.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AllUsersResponse)]
pub(crate) struct AllUsersReply {
    /// Everybody with an account, by rising address.
    accepted: Vec<UserReply>,
    /// Who is invited and has not registered.
    invited: Vec<InvitedReply>,
    /// Who is known by a chat bot.
    slack_users: Vec<UserReply>,
    /// How many pages of ten there are; 1 where pages were not asked for.
    accepted_pages: u64,
    /// How many pages of ten there are; 1 where pages were not asked for.
    invited_pages: u64,
    /// How many pages of ten there are; 1 where pages were not asked for.
    slack_users_pages: u64,
}

/// Everybody: who has an account, who is invited, who is known by a chat bot.
#[utoipa::path(
    get, path = "/manage/users", tag = "users", operation_id = "list_all_users",
    params(AllUsersQuery),
    responses((status = 200, description = "The users.", body = AllUsersReply))
)]
pub(crate) async fn list_all_users(
    engine: Data<Engine>,
    Valid(query): Valid<AllUsersQuery>,
) -> Result<HttpResponse, ApiError> {
    let asked = query.pages();
    let all = engine.list_all_users(query.q, query.include_api_keys, asked).await?;
    let pages = |total: u64| match asked {
        Some(_) => total.div_ceil(u64::from(USERS_PAGE)),
        None => 1,
    };
    let NumberedPage { items: invited, total } = all.invited;
    let invited = invited.into_iter().map(|email| InvitedReply { email }).collect();
    Ok(HttpResponse::Ok().json(AllUsersReply {
        accepted_pages: pages(all.accepted.total),
        accepted: users(all.accepted.items),
        invited_pages: pages(total),
        invited,
        slack_users_pages: pages(all.bot_users.total),
        slack_users: users(all.bot_users.items),
    }))
}

/// Whom to list.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AddressesQuery {
    /// Whether users that exist for an API key are listed.
    #[param(default = false, required = false)]
    include_api_keys: bool,
}

impl Input for AddressesQuery {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|fields| {
            Ok(Self { include_api_keys: fields.or("include_api_keys", false, boolean)? })
        })
    }
}

/// Somebody to share things with.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MinimalUserSnapshot, example = json!({"id": "0190a1b2-c3d4-7000-8000-00000000000a",
    "email": "reader@example.com"}))]
pub(crate) struct AddressReply {
    /// Key of the user, a UUID.
    id: String,
    /// Address.
    email: String,
}

/// Everybody with an account, to share things with.
#[utoipa::path(
    get, path = "/users", tag = "users", operation_id = "list_users", params(AddressesQuery),
    responses((status = 200, description = "The users.", body = Vec<AddressReply>))
)]
pub(crate) async fn list_users(
    engine: Data<Engine>,
    Valid(query): Valid<AddressesQuery>,
) -> Result<HttpResponse, ApiError> {
    let users = engine.list_addresses(query.include_api_keys).await?.into_iter();
    let users: Vec<AddressReply> =
        users.map(|(id, email)| AddressReply { id: id.to_string(), email }).collect();
    Ok(HttpResponse::Ok().json(users))
}

fn users(listed: Vec<ListedUser>) -> Vec<UserReply> {
    listed.into_iter().map(Into::into).collect()
}
