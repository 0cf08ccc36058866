//! `GET /persona`, `/persona/{persona_id}`, `/agents`, `/admin/agents`, `/admin/persona`

use std::collections::BTreeSet;

use actix_web::HttpResponse;
use actix_web::web::Data;
use serde::Serialize;
use trove_domain::id::AgentId;
use trove_domain::port::{AgentFilter, Reach};
use trove_engine::Engine;
use trove_engine::administration::AgentView;
use utoipa::ToSchema;

use super::PersonaPath;
use super::record::{FullPersonaReply, MinimalPersonaReply, PersonaReply};
use crate::error::ApiError;
use crate::extract::{Caller, Input, Parts, Valid};
use crate::stream;
use crate::validation::{Fields, Read, boolean, integer, integer_between, integer_id};

/// Agents that are in memory at a time.
const PAGE_AGENTS: u32 = 50;

fn reach(editable: bool) -> Reach {
    if editable { Reach::Editable } else { Reach::Visible }
}

/// Which agents.
pub(crate) struct ListPersonas {
    filter: AgentFilter,
}

impl Input for ListPersonas {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| {
            let deleted = query.or("include_deleted", false, boolean);
            let ids = query.repeated("persona_ids", integer_id);
            let (deleted, ids) = (deleted?, ids?);
            let ids: BTreeSet<AgentId> = ids.into_iter().map(AgentId).collect();
            let filter = AgentFilter {
                reach: Reach::Visible,
                deleted,
                builtin: true,
                unlisted: false,
                ids: (!ids.is_empty()).then_some(ids),
            };
            Ok(Self { filter })
        })
    }
}

/// Which agents, for whoever administers them.
pub(crate) struct ListPersonasForAdministration {
    filter: AgentFilter,
}

impl Input for ListPersonasForAdministration {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| {
            let deleted = query.or("include_deleted", false, boolean);
            let editable = query.or("get_editable", false, boolean);
            let (deleted, reach) = (deleted?, reach(editable?));
            let filter = AgentFilter { reach, deleted, builtin: true, unlisted: true, ids: None };
            Ok(Self { filter })
        })
    }
}

/// Which page of which agents.
pub(crate) struct ListAgents {
    filter: AgentFilter,
    page_num: u64,
    page_size: u32,
}

impl ListAgents {
    fn read(query: &mut Fields<'_>, unlisted: bool) -> Read<Self> {
        let page_num = query.or("page_num", 0, |field| {
            let (json, place) = field.split();
            let number = integer(place.same(json))?;
            let msg = "Input should be greater than or equal to 0";
            u64::try_from(number).map_err(|_| place.reject("greater_than_equal", msg))
        });
        let page_size = query.or("page_size", 10, integer_between(1, 1000));
        let deleted = query.or("include_deleted", false, boolean);
        let editable = query.or("get_editable", false, boolean);
        let builtin = query.or("include_default", true, boolean);
        let (page_num, page_size) = (page_num?, page_size?);
        let (deleted, reach, builtin) = (deleted?, reach(editable?), builtin?);
        Ok(Self {
            filter: AgentFilter { reach, deleted, builtin, unlisted, ids: None },
            page_num,
            page_size: u32::try_from(page_size).unwrap_or(1000),
        })
    }

    /// The page, with how many agents there are.
    async fn page<T: From<AgentView>>(
        &self,
        caller: &Caller,
        engine: &Engine,
    ) -> Result<PageReply<T>, ApiError> {
        let offset = self.page_num.saturating_mul(u64::from(self.page_size));
        let page =
            engine.list_agents_numbered(&caller.0, &self.filter, offset, self.page_size).await?;
        Ok(PageReply {
            items: page.items.into_iter().map(T::from).collect(),
            total_items: page.total,
        })
    }
}

/// Agents that lists show.
pub(crate) struct ListedAgents(ListAgents);

impl Input for ListedAgents {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| ListAgents::read(query, false)).map(Self)
    }
}

/// Agents, unlisted ones among them.
pub(crate) struct AllAgents(ListAgents);

impl Input for AllAgents {
    const BODY: bool = false;

    fn read(parts: Parts<'_>) -> Read<Self> {
        parts.query(|query| ListAgents::read(query, true)).map(Self)
    }
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = PaginatedReturn)]
pub(crate) struct PageReply<T> {
    /// What is on the page.
    items: Vec<T>,
    /// How many there are on all pages.
    total_items: u64,
}

/// The agents that the caller may use.
///
/// In the order of their places, those without one last. Public agents that are not listed are left
/// out, unless the caller sees them for another reason, too.
#[utoipa::path(
    get, path = "/persona", tag = "agents", operation_id = "list_personas",
    params(
        ("include_deleted" = Option<bool>, Query, description = "Deleted ones that the caller may change, too."),
        ("persona_ids" = Option<Vec<i32>>, Query, description = "None but these."),
    ),
    responses((status = 200, description = "The agents.", body = Vec<MinimalPersonaReply>))
)]
pub(crate) async fn list_personas(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListPersonas>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        let filter = input.filter.clone();
        async move { engine.list_agents(&caller.0, &filter, after, PAGE_AGENTS).await }
    };
    stream::array(fetch, MinimalPersonaReply::from).await
}

/// An agent.
///
/// A deleted one, and one that the caller may not see, is answered like a missing one.
#[utoipa::path(
    get, path = "/persona/{persona_id}", tag = "agents", operation_id = "get_persona",
    params(("persona_id" = i32, Path, description = "The agent.", example = 0)),
    responses(
        (status = 200, description = "The agent.", body = FullPersonaReply),
        (status = 404, description = "There is no such agent.", body = crate::error::ErrorBody),
    )
)]
pub(crate) async fn get_persona(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<PersonaPath>,
) -> Result<HttpResponse, ApiError> {
    let view = engine.agent(&caller.0, input.id).await?;
    Ok(HttpResponse::Ok().json(FullPersonaReply::from(view)))
}

/// The agents that the caller may use, by pages.
#[utoipa::path(
    get, path = "/agents", tag = "agents", operation_id = "list_agents",
    params(
        ("page_num" = Option<u64>, Query, description = "Which page, from 0."),
        ("page_size" = Option<u32>, Query, minimum = 1, maximum = 1000,
            description = "Agents on a page, 10 unless said."),
        ("include_deleted" = Option<bool>, Query, description = "Deleted ones that the caller may change, too."),
        ("get_editable" = Option<bool>, Query, description = "Only those that the caller may change."),
        ("include_default" = Option<bool>, Query,
            description = "Built-in ones, too; so unless said."),
    ),
    responses((status = 200, description = "The page.", body = PageReply<MinimalPersonaReply>))
)]
pub(crate) async fn list_agents(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListedAgents>,
) -> Result<HttpResponse, ApiError> {
    let page: PageReply<MinimalPersonaReply> = input.0.page(&caller, &engine).await?;
    Ok(HttpResponse::Ok().json(page))
}

/// The agents that the caller sees, unlisted ones among them, by pages.
#[utoipa::path(
    get, path = "/admin/agents", tag = "agents", operation_id = "list_agents_for_administration",
    params(
        ("page_num" = Option<u64>, Query, description = "Which page, from 0."),
        ("page_size" = Option<u32>, Query, minimum = 1, maximum = 1000,
            description = "Agents on a page, 10 unless said."),
        ("include_deleted" = Option<bool>, Query, description = "Deleted ones that the caller may change, too."),
        ("get_editable" = Option<bool>, Query, description = "Only those that the caller may change."),
        ("include_default" = Option<bool>, Query,
            description = "Built-in ones, too; so unless said."),
    ),
    responses((status = 200, description = "The page.", body = PageReply<PersonaReply>))
)]
pub(crate) async fn list_agents_for_administration(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<AllAgents>,
) -> Result<HttpResponse, ApiError> {
    let page: PageReply<PersonaReply> = input.0.page(&caller, &engine).await?;
    Ok(HttpResponse::Ok().json(page))
}

/// The agents that the caller sees, unlisted ones among them.
#[utoipa::path(
    get, path = "/admin/persona", tag = "agents", operation_id = "list_personas_for_administration",
    params(
        ("include_deleted" = Option<bool>, Query, description = "Deleted ones that the caller may change, too."),
        ("get_editable" = Option<bool>, Query, description = "Only those that the caller may change."),
    ),
    responses((status = 200, description = "The agents.", body = Vec<PersonaReply>))
)]
pub(crate) async fn list_personas_for_administration(
    caller: Caller,
    engine: Data<Engine>,
    Valid(input): Valid<ListPersonasForAdministration>,
) -> Result<HttpResponse, ApiError> {
    let fetch = move |after| {
        let (engine, caller) = (engine.clone(), caller.clone());
        let filter = input.filter.clone();
        async move { engine.list_agents(&caller.0, &filter, after, PAGE_AGENTS).await }
    };
    stream::array(fetch, PersonaReply::from).await
}
