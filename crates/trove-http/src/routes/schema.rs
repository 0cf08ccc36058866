//! What the document says of values that several routes share.

use chrono::{DateTime, Timelike, Utc};
use trove_domain::access::Role;
use trove_domain::source::DocumentSource;
use trove_engine::administration::is_printable;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{OpenApi, PartialSchema, ToSchema};

use super::{
    access_tokens, agents, api_keys, auth, connector_docs, connectors, credentials, docs,
    document_sets, flags, groups, health, ingest, ingested, llm, pairs, profile, ready,
    remove_ingested, runs, search, search_history, send_search_message, token_limits, tools, users,
    version, workspace,
};
use crate::error::ErrorBody;
use crate::validation::{
    Field, FieldError, Fields, HttpValidationError, Read, Record, one_of, text, text_between,
};

/// The document, before what the table of routes knows is added.
#[derive(OpenApi)]
#[openapi(
    info(
        title = "Trove",
        version = "Development",
        description = "Enterprise search: documents go in, ranked passages come out, and every \
            caller finds what it may read.",
    ),
    paths(
        health::health, ready::ready, version::version, search::search,
        send_search_message::send_search_message, search_history::search_history, ingest::ingest,
        ingested::list_ingested, remove_ingested::remove_ingested,
        connector_docs::list_connector_docs, docs::document,
        agents::read::list_personas, agents::read::get_persona, agents::read::list_agents,
        agents::read::list_agents_for_administration, agents::read::list_personas_for_administration,
        agents::write::create_persona, agents::write::update_persona, agents::write::delete_persona,
        agents::share::share_persona, agents::share::publish_persona,
        agents::flags::set_visible, agents::flags::set_listed, agents::flags::set_default,
        agents::flags::set_featured, agents::flags::restore_persona,
        agents::flags::set_display_priorities, agents::image::upload_image,
        agents::labels::list_labels, agents::labels::create_label,
        tools::list_tools, tools::get_tool,
        connectors::read::list_connectors, connectors::read::list_all_connectors,
        connectors::read::get_connector, connectors::write::create_connector,
        connectors::write::update_connector, connectors::write::delete_connector,
        flags::list_doc_boosts, flags::set_doc_boost, flags::set_doc_hidden,
        flags::list_docs_sync_status,
        runs::run_once::run_connector, runs::statuses::list_indexing_statuses,
        runs::failing::list_failed_indexing_statuses, runs::attempts::list_index_attempts,
        runs::attempts::list_index_attempt_errors,
        connectors::files::upload_connector_files, connectors::files::list_connector_files,
        connectors::files::update_connector_files,
        pairs::read::list_connector_statuses, pairs::read::list_basic_connector_statuses,
        pairs::read::list_indexed_sources, pairs::read::get_pair,
        pairs::write::associate_credential, pairs::write::dissociate_credential,
        pairs::write::create_connector_with_empty_credential, pairs::write::set_pair_status,
        pairs::write::rename_pair, pairs::write::set_pair_property, pairs::write::swap_credential,
        pairs::prune::prune_pair, pairs::prune::get_last_pruned, pairs::deletion::delete_pair,
        credentials::read::list_credentials, credentials::read::list_own_credentials,
        credentials::read::list_similar_credentials, credentials::read::get_credential,
        credentials::write::create_credential, credentials::write::put_credential,
        credentials::write::update_credential, credentials::write::delete_credential,
        credentials::write::force_delete_credential,
        credentials::write::delete_any_credential,
        credentials::private_key::create_credential_with_key,
        credentials::private_key::put_credential_with_key,
        document_sets::read::list_document_sets, document_sets::read::are_public,
        document_sets::write::create_document_set, document_sets::write::update_document_set,
        document_sets::write::delete_document_set,
        llm::usable::list_llm_providers, llm::usable::list_persona_llm_providers,
        llm::admin::list_all_llm_providers, llm::admin::remove_llm_provider,
        llm::upsert::put_llm_provider, llm::defaults::set_default_provider,
        llm::defaults::set_default_vision_provider, llm::defaults::set_default_model,
        llm::defaults::set_default_vision_model, llm::defaults::set_default_chat_naming_model,
        llm::test::test_llm, llm::test::test_default_llm, llm::options::list_llm_options,
        groups::read::list_user_groups, groups::read::list_user_group_names,
        groups::write::create_user_group, groups::write::update_user_group,
        groups::write::add_users_to_user_group, groups::write::set_curator,
        groups::write::set_manager, groups::write::rename_user_group,
        groups::write::delete_user_group,
        api_keys::list_api_keys, api_keys::create_api_key, api_keys::update_api_key,
        api_keys::regenerate_api_key, api_keys::delete_api_key,
        access_tokens::list_access_tokens, access_tokens::create_access_token,
        access_tokens::delete_access_token, access_tokens::list_scopes,
        token_limits::list_global, token_limits::create_global, token_limits::list_users,
        token_limits::create_users, token_limits::list_groups, token_limits::list_group,
        token_limits::create_group, token_limits::update, token_limits::delete,
        users::me::me, users::me::get_user_role, users::permissions::my_permissions,
        users::list::list_users, users::list::list_all_users, users::list::list_accepted_users,
        users::list::list_all_accepted_users, users::report::count_users,
        users::report::download_users, users::invite::invite_users,
        users::invite::list_invited_users, users::invite::remove_invited_user,
        users::invite::list_valid_domains, users::change::set_user_role,
        users::change::set_admin_access,
        users::change::deactivate_user, users::change::activate_user, users::change::delete_user,
        auth::info::auth_type, workspace::settings, workspace::replace_settings,
        workspace::change_settings, auth::register::register,
        auth::session::login, auth::session::logout, auth::session::refresh_session,
        auth::account::own_account, auth::account::update_own_account,
        auth::password::change_password, auth::password::reset_user_password,
        auth::unmailed::forgot_password, auth::unmailed::reset_password,
        auth::unmailed::request_verify_token, auth::unmailed::verify,
        profile::personalization::set_personalization, profile::agents::pin_assistants,
        profile::agents::show_assistant, profile::agents::set_own_default_model,
        profile::interface::set_theme, profile::interface::set_chat_background,
        profile::interface::set_app_mode, profile::interface::set_auto_scroll,
        profile::interface::set_temperature_override, profile::interface::set_shortcuts,
    ),
    components(schemas(ErrorBody, HttpValidationError, FieldError)),
    tags(
        (name = "search", description = "Ranked passages."),
        (name = "ingestion", description = "Documents that a program posts."),
        (name = "connectors", description = "Descriptions of what is read."),
        (name = "credentials", description = "What sources are read with. Secrets go in and do not come out."),
        (name = "agents", description = "Prompts and knowledge to search and talk with. Their paths say persona."),
        (name = "document sets", description = "Named sets of connector-credential pairs."),
        (name = "language models", description = "Providers of language models, and the defaults."),
        (name = "users", description = "Who there is, who signs in, and what each may do."),
        (name = "keys", description = "Keys of programs, and tokens that users make for theirs."),
        (name = "user groups", description = "Groups of users, and what is shared with them."),
        (name = "token limits", description = "How many tokens may be used, and by whom."),
        (name = "system", description = "The deployment itself."),
    ),
)]
pub(crate) struct Document;

/// A source value.
pub(crate) struct SourceValue;

impl PartialSchema for SourceValue {
    fn schema() -> RefOr<Schema> {
        words("The system a document comes from.", sources())
    }
}

impl ToSchema for SourceValue {
    fn name() -> std::borrow::Cow<'static, str> {
        "DocumentSource".into()
    }
}

/// A role.
pub(crate) struct RoleValue;

impl PartialSchema for RoleValue {
    fn schema() -> RefOr<Schema> {
        words("What a user may do.", roles())
    }
}

impl ToSchema for RoleValue {
    fn name() -> std::borrow::Cow<'static, str> {
        "UserRole".into()
    }
}

fn roles() -> Vec<&'static str> {
    Role::ALL.map(Role::as_str).to_vec()
}

/// Reads a role.
pub(crate) fn role(field: Field<'_>) -> Read<Role> {
    one_of(roles)(field)
}

fn words(description: &str, words: Vec<&'static str>) -> RefOr<Schema> {
    let words = ObjectBuilder::new()
        .schema_type(Type::String)
        .description(Some(description))
        .enum_values(Some(words));
    Schema::Object(words.build()).into()
}

fn sources() -> Vec<&'static str> {
    DocumentSource::ALL.iter().map(|source| source.as_str()).collect()
}

/// Reads a source value.
pub(crate) fn source(field: Field<'_>) -> Read<DocumentSource> {
    one_of(sources)(field)
}

/// A key and one value of it.
#[derive(Debug, ToSchema)]
#[schema(as = Tag)]
pub(crate) struct TagBody {
    /// Name of the property.
    #[schema(example = "team")]
    pub(crate) tag_key: String,
    /// One value of the property, exact and case-sensitive.
    #[schema(example = "platform")]
    pub(crate) tag_value: String,
}

impl Record for TagBody {
    fn read(fields: &mut Fields<'_>) -> Read<Self> {
        let tag_key = fields.required("tag_key", text);
        let tag_value = fields.required("tag_value", text);
        Ok(Self { tag_key: tag_key?, tag_value: tag_value? })
    }
}

/// Most ids in one list of a request.
pub(crate) const IDS_MAX: usize = 1000;

/// A text to store. The databases have no text with NUL.
pub(crate) fn stored_text(min: usize, max: usize) -> impl Fn(Field<'_>) -> Read<String> {
    move |field| {
        let (json, place) = field.split();
        let text = text_between(min, max)(place.same(json))?;
        if text.contains('\0') {
            let msg = "Value error, the character U+0000 cannot be stored";
            return Err(place.reject("value_error", msg));
        }
        Ok(text)
    }
}

/// A name that lists show: not blank, and nothing in it changes how a list looks.
pub(crate) fn name_of_at_most(max: usize) -> impl Fn(Field<'_>) -> Read<String> {
    move |field| {
        let (json, place) = field.split();
        let name = printable_between(1, max)(place.same(json))?;
        if name.trim().is_empty() {
            return Err(place.reject("value_error", "Value error, a name must not be blank"));
        }
        Ok(name)
    }
}

/// A line of text that lists show: nothing in it changes how a list looks.
pub(crate) fn printable_between(min: usize, max: usize) -> impl Fn(Field<'_>) -> Read<String> {
    move |field| {
        let (json, place) = field.split();
        let text = text_between(min, max)(place.same(json))?;
        match text.chars().find(|c| !is_printable(*c)) {
            Some(c) => {
                let msg = format!("Value error, a name must not hold {}", c.escape_unicode());
                Err(place.reject("value_error", msg))
            }
            None => Ok(text),
        }
    }
}

/// `2024-01-02T03:04:05.678900Z`, with the fraction only if there is one.
pub(crate) fn zulu(instant: DateTime<Utc>) -> String {
    let format =
        if instant.nanosecond() < 1_000 { "%Y-%m-%dT%H:%M:%SZ" } else { "%Y-%m-%dT%H:%M:%S%.6fZ" };
    instant.format(format).to_string()
}

/// `2024-01-02T03:04:05.678900`, with the fraction only if there is one: an instant in UTC where the
/// interface has no zone.
pub(crate) fn naive_text(instant: DateTime<Utc>) -> String {
    let format =
        if instant.nanosecond() < 1_000 { "%Y-%m-%dT%H:%M:%S" } else { "%Y-%m-%dT%H:%M:%S%.6f" };
    instant.format(format).to_string()
}

/// Most items of one filter: far beyond what anybody asks for, and answered in milliseconds.
pub(crate) const FILTER_ITEMS_MAX: usize = 1000;

/// `2024-01-02T03:04:05.678900+00:00`, with the fraction only if there is one.
pub(crate) fn instant_text(instant: DateTime<Utc>) -> String {
    let format = if instant.nanosecond() < 1_000 {
        "%Y-%m-%dT%H:%M:%S+00:00"
    } else {
        "%Y-%m-%dT%H:%M:%S%.6f+00:00"
    };
    instant.format(format).to_string()
}

#[cfg(test)]
mod tests {
    use chrono::DateTime;

    use super::instant_text;

    #[test]
    fn instants_show_microseconds_only_when_there_are_some() {
        let text = |micros| instant_text(DateTime::from_timestamp_micros(micros).unwrap());
        assert_eq!(text(1_704_164_645_000_000), "2024-01-02T03:04:05+00:00");
        assert_eq!(text(1_704_164_645_678_900), "2024-01-02T03:04:05.678900+00:00");
    }
}
