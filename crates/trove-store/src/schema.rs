//! The tables of `migrations/`, the same on both databases.

mod chat;
mod content;
mod people;

pub(crate) use chat::*;
pub(crate) use content::*;
pub(crate) use people::*;

diesel::joinable!(token_limit -> user_group (group_id));
diesel::joinable!(agent -> user_account (owner_id));
diesel::joinable!(agent_label_link -> agent_label (label_id));
diesel::joinable!(agent_user -> user_account (user_id));
diesel::joinable!(access_token -> user_account (user_id));
diesel::joinable!(api_key -> user_account (user_id));
diesel::joinable!(credential_group -> user_group (group_id));
diesel::joinable!(index_attempt -> cc_pair (cc_pair_id));
diesel::joinable!(pair_task -> cc_pair (cc_pair_id));
diesel::joinable!(cc_pair -> connector (connector_id));
diesel::joinable!(cc_pair -> credential (credential_id));
diesel::joinable!(cc_pair -> user_account (creator_id));
diesel::joinable!(credential -> user_account (owner_id));
diesel::joinable!(external_group_member -> cc_pair (cc_pair_id));
diesel::joinable!(permission_sync -> cc_pair (cc_pair_id));
diesel::joinable!(document_cc_pair -> document (document_id));
diesel::joinable!(user_group_member -> user_group (group_id));
diesel::joinable!(user_group_member -> user_account (user_id));
diesel::joinable!(user_session -> user_account (user_id));
diesel::allow_tables_to_appear_in_same_query!(
    user_account,
    user_profile,
    invitation,
    user_session,
    api_key,
    access_token,
    user_group,
    user_group_member,
    token_limit,
    token_usage,
    connector,
    credential,
    credential_group,
    cc_pair,
    index_attempt,
    index_attempt_error,
    pair_task,
    stored_file,
    cc_pair_group,
    document,
    document_cc_pair,
    external_access,
    external_group_member,
    permission_sync,
    document_set,
    document_set_cc_pair,
    document_set_group,
    document_set_user,
    job,
    agent,
    agent_user,
    agent_group,
    agent_document_set,
    agent_document,
    agent_tool,
    agent_label,
    agent_label_link,
    llm_provider,
    llm_model_configuration,
    llm_provider_group,
    llm_provider_agent,
    llm_default,
);
