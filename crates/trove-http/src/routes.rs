//! Every route, with who may call it.

mod access_tokens;
mod agents;
mod api_keys;
mod auth;
mod connector_docs;
mod connectors;
mod credentials;
mod docs;
mod document_sets;
mod flags;
mod groups;
mod health;
mod ingest;
mod ingested;
mod llm;
mod pairs;
mod profile;
mod ready;
mod remove_ingested;
mod runs;
mod schema;
mod search;
mod search_doc;
mod search_filters;
mod search_history;
mod send_search_message;
mod status;
mod token_limits;
mod tools;
mod users;
mod version;
mod workspace;

use std::collections::BTreeMap;

use actix_web::HttpRequest;
use actix_web::http::Method;
use actix_web::web::{self, ServiceConfig};
use trove_domain::access_token::TokenScope;

use crate::HttpConfig;
use crate::endpoint::{Endpoint, EndpointInfo, Gate, Policy};
use crate::fallback;

pub(crate) use docs::JSON_PATH as DOCUMENT_PATH;
pub(crate) use schema::Document;

/// The table of routes.
fn endpoints() -> Vec<Endpoint> {
    content().into_iter().chain(sources()).chain(people()).chain(keys()).chain(groups()).collect()
}

/// Keys of programs, and tokens that people make.
#[rustfmt::skip]
fn keys() -> Vec<Endpoint> {
    use Gate::Open;
    use Policy::{Admin, Basic};
    let (get, post) = (|| Method::GET, || Method::POST);
    let (patch, delete) = (|| Method::PATCH, || Method::DELETE);
    vec![
        Endpoint::new(get(), "/admin/api-key", Admin, Open, api_keys::list_api_keys),
        Endpoint::new(post(), "/admin/api-key", Admin, Open, api_keys::create_api_key),
        Endpoint::new(patch(), "/admin/api-key/{api_key_id}", Admin, Open, api_keys::update_api_key),
        Endpoint::new(delete(), "/admin/api-key/{api_key_id}", Admin, Open, api_keys::delete_api_key),
        Endpoint::new(post(), "/admin/api-key/{api_key_id}/regenerate", Admin, Open, api_keys::regenerate_api_key),

        Endpoint::new(get(), "/user/pats", Basic, Open, access_tokens::list_access_tokens),
        Endpoint::new(post(), "/user/pats", Basic, Open, access_tokens::create_access_token),
        Endpoint::new(get(), "/user/pats/scopes", Basic, Open, access_tokens::list_scopes),
        Endpoint::new(delete(), "/user/pats/{token_id}", Basic, Open, access_tokens::delete_access_token),
    ]
}

/// What is read, and with what.
#[rustfmt::skip]
fn sources() -> Vec<Endpoint> {
    use Gate::Open;
    use Policy::{Admin, Basic, Chat, Curator};
    let (get, post, put) = (|| Method::GET, || Method::POST, || Method::PUT);
    let (patch, delete) = (|| Method::PATCH, || Method::DELETE);
    vec![
        Endpoint::new(get(), "/manage/admin/connector", Curator, Open, connectors::read::list_connectors),
        Endpoint::new(post(), "/manage/admin/connector", Curator, Open, connectors::write::create_connector),
        Endpoint::new(patch(), "/manage/admin/connector/{connector_id}", Curator, Open, connectors::write::update_connector),
        Endpoint::new(delete(), "/manage/admin/connector/{connector_id}", Curator, Open, connectors::write::delete_connector),
        Endpoint::new(post(), "/manage/admin/connector/file/upload", Curator, Open, connectors::files::upload_connector_files).slow(),
        Endpoint::new(get(), "/manage/admin/connector/{connector_id}/files", Curator, Open, connectors::files::list_connector_files),
        Endpoint::new(post(), "/manage/admin/connector/{connector_id}/files/update", Curator, Open, connectors::files::update_connector_files).slow(),
        Endpoint::new(get(), "/manage/connector", Curator, Open, connectors::read::list_all_connectors),
        Endpoint::new(get(), "/manage/connector/{connector_id}", Curator, Open, connectors::read::get_connector),

        Endpoint::new(get(), "/manage/admin/connector/status", Curator, Open, pairs::read::list_connector_statuses),
        Endpoint::new(post(), "/manage/admin/connector/run-once", Curator, Open, runs::run_once::run_connector),
        Endpoint::new(post(), "/manage/admin/connector/indexing-status", Curator, Open, runs::statuses::list_indexing_statuses),
        Endpoint::new(get(), "/manage/admin/connector/failed-indexing-status", Curator, Open, runs::failing::list_failed_indexing_statuses),
        Endpoint::new(get(), "/manage/admin/cc-pair/{cc_pair_id}/index-attempts", Curator, Open, runs::attempts::list_index_attempts),
        Endpoint::new(get(), "/manage/admin/cc-pair/{cc_pair_id}/errors", Curator, Open, runs::attempts::list_index_attempt_errors),
        Endpoint::new(get(), "/manage/admin/doc-boosts", Curator, Open, flags::list_doc_boosts),
        Endpoint::new(post(), "/manage/admin/doc-boosts", Curator, Open, flags::set_doc_boost),
        Endpoint::new(post(), "/manage/admin/doc-hidden", Curator, Open, flags::set_doc_hidden),
        Endpoint::new(get(), "/manage/admin/cc-pair/{cc_pair_id}/get-docs-sync-status", Curator, Open, flags::list_docs_sync_status),
        Endpoint::new(get(), "/manage/connector-status", Chat, Open, pairs::read::list_basic_connector_statuses),
        Endpoint::new(get(), "/manage/indexed-sources", Basic, Open, pairs::read::list_indexed_sources),
        Endpoint::new(put(), "/manage/connector/{connector_id}/credential/{credential_id}", Curator, Open, pairs::write::associate_credential),
        Endpoint::new(delete(), "/manage/connector/{connector_id}/credential/{credential_id}", Basic, Open, pairs::write::dissociate_credential),
        Endpoint::new(post(), "/manage/admin/connector-with-mock-credential", Curator, Open, pairs::write::create_connector_with_empty_credential),
        Endpoint::new(get(), "/manage/admin/cc-pair/{cc_pair_id}", Curator, Open, pairs::read::get_pair),
        Endpoint::new(put(), "/manage/admin/cc-pair/{cc_pair_id}/status", Curator, Open, pairs::write::set_pair_status),
        Endpoint::new(put(), "/manage/admin/cc-pair/{cc_pair_id}/name", Curator, Open, pairs::write::rename_pair),
        Endpoint::new(put(), "/manage/admin/cc-pair/{cc_pair_id}/property", Curator, Open, pairs::write::set_pair_property),
        Endpoint::new(post(), "/manage/admin/cc-pair/{cc_pair_id}/prune", Curator, Open, pairs::prune::prune_pair),
        Endpoint::new(get(), "/manage/admin/cc-pair/{cc_pair_id}/last_pruned", Curator, Open, pairs::prune::get_last_pruned),
        Endpoint::new(post(), "/manage/admin/deletion-attempt", Curator, Open, pairs::deletion::delete_pair),

        Endpoint::new(put(), "/manage/admin/credential/swap", Basic, Open, pairs::write::swap_credential),
        Endpoint::new(get(), "/manage/admin/credential", Curator, Open, credentials::read::list_credentials),
        Endpoint::new(get(), "/manage/admin/similar-credentials/{source_type}", Curator, Open, credentials::read::list_similar_credentials),
        Endpoint::new(post(), "/manage/credential", Curator, Open, credentials::write::create_credential),
        Endpoint::new(get(), "/manage/credential", Basic, Open, credentials::read::list_own_credentials),
        Endpoint::new(post(), "/manage/credential/private-key", Curator, Open, credentials::private_key::create_credential_with_key),
        Endpoint::new(get(), "/manage/credential/{credential_id}", Basic, Open, credentials::read::get_credential),
        Endpoint::new(patch(), "/manage/credential/{credential_id}", Basic, Open, credentials::write::update_credential),
        Endpoint::new(delete(), "/manage/credential/force/{credential_id}", Basic, Open, credentials::write::force_delete_credential),
        Endpoint::new(delete(), "/manage/credential/{credential_id}", Basic, Open, credentials::write::delete_credential),
        Endpoint::new(put(), "/manage/admin/credential/private-key/{credential_id}", Basic, Open, credentials::private_key::put_credential_with_key),
        Endpoint::new(put(), "/manage/admin/credential/{credential_id}", Basic, Open, credentials::write::put_credential),
        Endpoint::new(delete(), "/manage/admin/credential/{credential_id}", Admin, Open, credentials::write::delete_any_credential),
    ]
}

/// Groups of people, and how many tokens people may use.
#[rustfmt::skip]
fn groups() -> Vec<Endpoint> {
    use Gate::Open;
    use Policy::{Admin, Basic, Curator};
    let (get, post, put) = (|| Method::GET, || Method::POST, || Method::PUT);
    let (patch, delete) = (|| Method::PATCH, || Method::DELETE);
    vec![
        Endpoint::new(get(), "/manage/admin/user-group", Curator, Open, groups::read::list_user_groups),
        Endpoint::new(get(), "/manage/user-groups/minimal", Basic, Open, groups::read::list_user_group_names),
        Endpoint::new(post(), "/manage/admin/user-group", Admin, Open, groups::write::create_user_group),
        Endpoint::new(patch(), "/manage/admin/user-group/rename", Curator, Open, groups::write::rename_user_group),
        Endpoint::new(patch(), "/manage/admin/user-group/{user_group_id}", Curator, Open, groups::write::update_user_group),
        Endpoint::new(delete(), "/manage/admin/user-group/{user_group_id}", Admin, Open, groups::write::delete_user_group),
        Endpoint::new(post(), "/manage/admin/user-group/{user_group_id}/add-users", Curator, Open, groups::write::add_users_to_user_group),
        Endpoint::new(post(), "/manage/admin/user-group/{user_group_id}/set-curator", Curator, Open, groups::write::set_curator),
        Endpoint::new(put(), "/manage/admin/user-group/{user_group_id}/manager", Curator, Open, groups::write::set_manager),

        Endpoint::new(get(), "/admin/token-rate-limits/global", Admin, Open, token_limits::list_global),
        Endpoint::new(post(), "/admin/token-rate-limits/global", Admin, Open, token_limits::create_global),
        Endpoint::new(get(), "/admin/token-rate-limits/users", Admin, Open, token_limits::list_users),
        Endpoint::new(post(), "/admin/token-rate-limits/users", Admin, Open, token_limits::create_users),
        Endpoint::new(get(), "/admin/token-rate-limits/user-groups", Admin, Open, token_limits::list_groups),
        Endpoint::new(get(), "/admin/token-rate-limits/user-group/{group_id}", Curator, Open, token_limits::list_group),
        Endpoint::new(post(), "/admin/token-rate-limits/user-group/{group_id}", Admin, Open, token_limits::create_group),
        Endpoint::new(put(), "/admin/token-rate-limits/rate-limit/{token_rate_limit_id}", Admin, Open, token_limits::update),
        Endpoint::new(delete(), "/admin/token-rate-limits/rate-limit/{token_rate_limit_id}", Admin, Open, token_limits::delete),
    ]
}

/// What is searched, how, and the deployment itself.
#[rustfmt::skip]
fn content() -> Vec<Endpoint> {
    use TokenScope::ReadSearch;
    use Gate::{Open, VectorDb};
    use Policy::{Admin, Basic, Chat, Curator, Limited, Public};
    let (get, post, delete) = (|| Method::GET, || Method::POST, || Method::DELETE);
    let patch = || Method::PATCH;
    let put = || Method::PUT;
    vec![
        Endpoint::new(get(), "/health", Public, Open, health::health).at_root(),
        Endpoint::new(get(), "/health/ready", Public, Open, ready::ready).at_root(),
        Endpoint::new(get(), "/version", Public, Open, version::version).at_root(),

        Endpoint::new(post(), "/search", Basic, VectorDb, search::search)
            .searching().scope(ReadSearch),
        Endpoint::new(post(), "/search/send-search-message", Basic, VectorDb, send_search_message::send_search_message)
            .searching().scope(ReadSearch),
        Endpoint::new(get(), "/search/search-history", Basic, Open, search_history::search_history).scope(ReadSearch),

        Endpoint::new(post(), "/ingestion", Curator, VectorDb, ingest::ingest)
            .also_at("/onyx-api/ingestion").slow(),
        Endpoint::new(get(), "/ingestion", Curator, Open, ingested::list_ingested)
            .also_at("/onyx-api/ingestion"),
        Endpoint::new(delete(), "/ingestion/{document_id}", Curator, VectorDb, remove_ingested::remove_ingested)
            .also_at("/onyx-api/ingestion/{document_id}").slow(),
        Endpoint::new(get(), "/ingestion/connector-docs/{cc_pair_id}", Curator, Open, connector_docs::list_connector_docs)
            .also_at("/onyx-api/connector-docs/{cc_pair_id}"),

        Endpoint::new(get(), "/persona", Chat, Open, agents::read::list_personas),
        Endpoint::new(post(), "/persona", Basic, Open, agents::write::create_persona),
        Endpoint::new(get(), "/persona/labels", Basic, Open, agents::labels::list_labels),
        Endpoint::new(post(), "/persona/labels", Basic, Open, agents::labels::create_label),
        Endpoint::new(get(), "/persona/{persona_id}", Limited, Open, agents::read::get_persona),
        Endpoint::new(patch(), "/persona/{persona_id}", Basic, Open, agents::write::update_persona),
        Endpoint::new(delete(), "/persona/{persona_id}", Basic, Open, agents::write::delete_persona),
        Endpoint::new(patch(), "/persona/{persona_id}/share", Basic, Open, agents::share::share_persona),
        Endpoint::new(patch(), "/persona/{persona_id}/public", Basic, Open, agents::share::publish_persona),
        Endpoint::new(get(), "/agents", Chat, Open, agents::read::list_agents),
        Endpoint::new(get(), "/admin/agents", Curator, Open, agents::read::list_agents_for_administration),
        Endpoint::new(patch(), "/admin/agents/display-priorities", Admin, Open, agents::flags::set_display_priorities),
        Endpoint::new(get(), "/admin/persona", Curator, Open, agents::read::list_personas_for_administration),
        Endpoint::new(post(), "/admin/persona/upload-image", Basic, Open, agents::image::upload_image),
        Endpoint::new(patch(), "/admin/persona/{persona_id}/visible", Curator, Open, agents::flags::set_visible),
        Endpoint::new(patch(), "/admin/persona/{persona_id}/listed", Curator, Open, agents::flags::set_listed),
        Endpoint::new(patch(), "/admin/persona/{persona_id}/default", Curator, Open, agents::flags::set_default),
        Endpoint::new(patch(), "/admin/persona/{persona_id}/featured", Curator, Open, agents::flags::set_featured),
        Endpoint::new(patch(), "/admin/persona/{persona_id}/undelete", Admin, Open, agents::flags::restore_persona),
        Endpoint::new(get(), "/tool", Basic, Open, tools::list_tools),
        Endpoint::new(get(), "/tool/{tool_id}", Basic, Open, tools::get_tool),

        Endpoint::new(get(), "/manage/document-set", Basic, Open, document_sets::read::list_document_sets),
        Endpoint::new(get(), "/manage/document-set-public", Basic, Open, document_sets::read::are_public),
        Endpoint::new(post(), "/manage/admin/document-set", Curator, Open, document_sets::write::create_document_set),
        Endpoint::new(patch(), "/manage/admin/document-set", Curator, Open, document_sets::write::update_document_set),
        Endpoint::new(delete(), "/manage/admin/document-set/{document_set_id}", Curator, Open, document_sets::write::delete_document_set),
        Endpoint::new(get(), "/llm/provider", Chat, Open, llm::usable::list_llm_providers),
        Endpoint::new(get(), "/llm/persona/{persona_id}/providers", Chat, Open, llm::usable::list_persona_llm_providers),
        Endpoint::new(get(), "/admin/llm/provider", Admin, Open, llm::admin::list_all_llm_providers),
        Endpoint::new(put(), "/admin/llm/provider", Admin, Open, llm::upsert::put_llm_provider),
        Endpoint::new(delete(), "/admin/llm/provider/{provider_id}", Admin, Open, llm::admin::remove_llm_provider),
        Endpoint::new(post(), "/admin/llm/provider/{provider_id}/default", Admin, Open, llm::defaults::set_default_provider),
        Endpoint::new(post(), "/admin/llm/provider/{provider_id}/default-vision", Admin, Open, llm::defaults::set_default_vision_provider),
        Endpoint::new(post(), "/admin/llm/default", Admin, Open, llm::defaults::set_default_model),
        Endpoint::new(post(), "/admin/llm/default-vision", Admin, Open, llm::defaults::set_default_vision_model),
        Endpoint::new(post(), "/admin/llm/default-chat-naming", Admin, Open, llm::defaults::set_default_chat_naming_model),
        Endpoint::new(post(), "/admin/llm/test", Admin, Open, llm::test::test_llm),
        Endpoint::new(post(), "/admin/llm/test/default", Admin, Open, llm::test::test_default_llm),
        Endpoint::new(get(), "/admin/llm/built-in/options", Admin, Open, llm::options::list_llm_options),

        Endpoint::new(get(), DOCUMENT_PATH, Limited, Open, docs::document),
        Endpoint::new(get(), docs::PAGE_PATH, Public, Open, docs::page).undocumented(),
        Endpoint::new(get(), docs::FILE_PATH, Public, Open, docs::file).undocumented(),
    ]
}

/// Who there is, who signs in, and what people set for themselves.
#[rustfmt::skip]
fn people() -> Vec<Endpoint> {
    use Gate::Open;
    use Policy::{Admin, Basic, Chat, Curator, Limited, Public};
    let (get, post, delete) = (|| Method::GET, || Method::POST, || Method::DELETE);
    let (patch, put) = (|| Method::PATCH, || Method::PUT);
    vec![
        Endpoint::new(get(), "/me", Chat, Open, users::me::me).any_scope(),
        Endpoint::new(get(), "/me/permissions", Basic, Open, users::permissions::my_permissions).any_scope(),
        Endpoint::new(get(), "/get-user-role", Basic, Open, users::me::get_user_role),
        Endpoint::new(get(), "/users", Basic, Open, users::list::list_users),
        Endpoint::new(get(), "/manage/users", Curator, Open, users::list::list_all_users),
        Endpoint::new(get(), "/manage/users/accepted", Admin, Open, users::list::list_accepted_users),
        Endpoint::new(get(), "/manage/users/accepted/all", Admin, Open, users::list::list_all_accepted_users),
        Endpoint::new(get(), "/manage/users/invited", Admin, Open, users::invite::list_invited_users),
        Endpoint::new(get(), "/manage/users/counts", Admin, Open, users::report::count_users),
        Endpoint::new(get(), "/manage/users/download", Admin, Open, users::report::download_users),
        Endpoint::new(patch(), "/manage/set-user-role", Admin, Open, users::change::set_user_role),
        Endpoint::new(patch(), "/manage/admin/users/admin-access", Admin, Open, users::change::set_admin_access),
        Endpoint::new(put(), "/manage/admin/users", Admin, Open, users::invite::invite_users),
        Endpoint::new(patch(), "/manage/admin/remove-invited-user", Admin, Open, users::invite::remove_invited_user),
        Endpoint::new(patch(), "/manage/admin/deactivate-user", Admin, Open, users::change::deactivate_user),
        Endpoint::new(patch(), "/manage/admin/activate-user", Admin, Open, users::change::activate_user),
        Endpoint::new(delete(), "/manage/admin/delete-user", Admin, Open, users::change::delete_user),
        Endpoint::new(get(), "/manage/admin/valid-domains", Admin, Open, users::invite::list_valid_domains),

        Endpoint::new(get(), "/auth/type", Public, Open, auth::info::auth_type),
        Endpoint::new(post(), "/auth/register", Public, Open, auth::register::register),
        Endpoint::new(post(), "/auth/login", Public, Open, auth::session::login),
        Endpoint::new(post(), "/auth/logout", Limited, Open, auth::session::logout),
        Endpoint::new(post(), "/auth/refresh", Limited, Open, auth::session::refresh_session),
        Endpoint::new(post(), "/auth/forgot-password", Public, Open, auth::unmailed::forgot_password),
        Endpoint::new(post(), "/auth/reset-password", Public, Open, auth::unmailed::reset_password),
        Endpoint::new(post(), "/auth/request-verify-token", Public, Open, auth::unmailed::request_verify_token),
        Endpoint::new(post(), "/auth/verify", Public, Open, auth::unmailed::verify),
        Endpoint::new(get(), "/users/me", Limited, Open, auth::account::own_account),
        Endpoint::new(patch(), "/users/me", Limited, Open, auth::account::update_own_account),
        Endpoint::new(post(), "/password/change-password", Basic, Open, auth::password::change_password),
        Endpoint::new(post(), "/password/reset_password", Admin, Open, auth::password::reset_user_password),
        Endpoint::new(get(), "/settings", Chat, Open, workspace::settings),
        Endpoint::new(put(), "/admin/settings", Admin, Open, workspace::replace_settings),
        Endpoint::new(patch(), "/admin/settings", Admin, Open, workspace::change_settings),

        Endpoint::new(patch(), "/user/personalization", Basic, Open, profile::personalization::set_personalization),
        Endpoint::new(patch(), "/user/default-model", Basic, Open, profile::agents::set_own_default_model),
        Endpoint::new(patch(), "/user/pinned-assistants", Basic, Open, profile::agents::pin_assistants),
        Endpoint::new(patch(), "/user/assistant-list/update/{assistant_id}", Basic, Open, profile::agents::show_assistant),
        Endpoint::new(patch(), "/user/theme-preference", Basic, Open, profile::interface::set_theme),
        Endpoint::new(patch(), "/user/chat-background", Basic, Open, profile::interface::set_chat_background),
        Endpoint::new(patch(), "/user/default-app-mode", Basic, Open, profile::interface::set_app_mode),
        Endpoint::new(patch(), "/auto-scroll", Basic, Open, profile::interface::set_auto_scroll),
        Endpoint::new(patch(), "/temperature-override-enabled", Basic, Open, profile::interface::set_temperature_override),
        Endpoint::new(patch(), "/shortcut-enabled", Basic, Open, profile::interface::set_shortcuts),
    ]
}

/// Every route as data, companion paths among them.
#[must_use]
pub fn inventory() -> Vec<EndpointInfo> {
    endpoints().iter().flat_map(Endpoint::infos).collect()
}

/// The routes that a deployment has.
fn served(config: &HttpConfig) -> impl Iterator<Item = Endpoint> + use<> {
    let docs = config.docs;
    endpoints().into_iter().filter(move |endpoint| docs || !docs::is_docs(endpoint.info.path))
}

/// The full paths at which `info` answers.
fn full_paths(info: &EndpointInfo, config: &HttpConfig) -> Vec<String> {
    let mut paths = vec![format!("{}{}", config.prefix, info.path)];
    if info.at_root && !config.prefix.is_empty() {
        paths.push(info.path.to_owned());
    }
    paths
}

/// The full path patterns of all routes.
pub(crate) fn paths(config: &HttpConfig) -> Vec<String> {
    let infos: Vec<EndpointInfo> =
        served(config).flat_map(|e| e.infos().collect::<Vec<_>>()).collect();
    infos.iter().flat_map(|info| full_paths(info, config)).collect()
}

/// Adds all routes, one resource for each path, so that a wrong method is known as such.
pub(crate) fn register(services: &mut ServiceConfig, config: &HttpConfig) {
    let mut by_path: BTreeMap<String, Vec<(Method, actix_web::Route)>> = BTreeMap::new();
    for endpoint in served(config) {
        for info in endpoint.infos() {
            for path in full_paths(&info, config) {
                let route = endpoint.route(info.clone());
                let routes = by_path.entry(path).or_default();
                routes.push((info.method.clone(), route));
                // Load balancers ask for as little as they can; the body stays behind.
                if info.at_root {
                    let info = EndpointInfo { method: Method::HEAD, ..info.clone() };
                    routes.push((Method::HEAD, endpoint.route(info)));
                }
            }
        }
    }
    for (path, routes) in by_path {
        let methods: Vec<&str> = routes.iter().map(|(method, _)| method.as_str()).collect();
        let allow = methods.join(", ");
        let mut resource = web::resource(path);
        for (_, route) in routes {
            resource = resource.route(route);
        }
        services.service(resource.default_service(web::to(move |request: HttpRequest| {
            let allow = allow.clone();
            async move { fallback::method_not_allowed(&request, allow) }
        })));
    }
}
