//! The tables of `migrations/`, the same on both databases.

diesel::table! {
    use diesel::sql_types::{Bool, Nullable, Text};
    use crate::sql::{Guid, Instant};
    user_account (id) {
        id -> Guid,
        email -> Text,
        email_key -> Text,
        kind -> Text,
        role -> Text,
        active -> Bool,
        password_hash -> Nullable<Text>,
        name -> Nullable<Text>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::Text;
    use crate::sql::Guid;
    user_profile (user_id) {
        user_id -> Guid,
        preferences -> Text,
        personalization -> Text,
    }
}

diesel::table! {
    use diesel::sql_types::Text;
    use crate::sql::Instant;
    invitation (email_key) {
        email_key -> Text,
        email -> Text,
        created_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Text};
    use crate::sql::{Guid, Instant};
    user_session (id) {
        id -> Integer,
        token_hash -> Text,
        user_id -> Guid,
        created_at -> Instant,
        expires_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    api_key (id) {
        id -> Integer,
        name -> Nullable<Text>,
        display -> Text,
        token_hash -> Text,
        user_id -> Guid,
        created_at -> Instant,
        revoked_at -> Nullable<Instant>,
        last_used_at -> Nullable<Instant>,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    access_token (id) {
        id -> Integer,
        name -> Text,
        display -> Text,
        token_hash -> Text,
        user_id -> Guid,
        scopes -> Nullable<Text>,
        created_at -> Instant,
        expires_at -> Nullable<Instant>,
        last_used_at -> Nullable<Instant>,
    }
}

diesel::table! {
    user_group (id) {
        id -> Integer,
        name -> Text,
        state -> Text,
        revision -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{Bool, Integer};
    use crate::sql::Guid;
    user_group_member (group_id, user_id) {
        group_id -> Integer,
        user_id -> Guid,
        curator -> Bool,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::sql::Instant;
    connector (id) {
        id -> Integer,
        name -> Text,
        source -> Text,
        config -> Text,
        created_at -> Instant,
        updated_at -> Instant,
        input_type -> Text,
        refresh_freq_s -> Nullable<Integer>,
        prune_freq_s -> Nullable<Integer>,
        indexing_start -> Nullable<Instant>,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    credential (id) {
        id -> Integer,
        name -> Nullable<Text>,
        source -> Text,
        owner_id -> Nullable<Guid>,
        created_at -> Instant,
        updated_at -> Instant,
        secret -> Nullable<Text>,
        uuid -> Guid,
        revision -> BigInt,
        admin_public -> Bool,
        curator_public -> Bool,
    }
}

diesel::table! {
    credential_group (credential_id, group_id) {
        credential_id -> Integer,
        group_id -> Integer,
    }
}

diesel::table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    cc_pair (id) {
        id -> Integer,
        name -> Text,
        connector_id -> Integer,
        credential_id -> Integer,
        access_type -> Text,
        status -> Text,
        creator_id -> Nullable<Guid>,
        created_at -> Instant,
        run_by -> Text,
        auto_sync_options -> Nullable<Text>,
        processing_mode -> Text,
        in_repeated_error_state -> Bool,
        indexing_trigger -> Nullable<Text>,
        prune_requested -> Bool,
        last_successful_index_at -> Nullable<Instant>,
        last_pruned_at -> Nullable<Instant>,
        deletion_failure -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::sql::Instant;
    index_attempt (id) {
        id -> Integer,
        cc_pair_id -> Integer,
        from_beginning -> Bool,
        status -> Text,
        window_start -> Instant,
        window_end -> Instant,
        stop_reason -> Nullable<Text>,
        checkpoint -> Nullable<Text>,
        steps -> Integer,
        documents_enumerated -> BigInt,
        documents_new -> BigInt,
        documents_updated -> BigInt,
        documents_unchanged -> BigInt,
        documents_skipped -> BigInt,
        documents_failed -> BigInt,
        documents_removed -> BigInt,
        tries -> Integer,
        retry_at -> Nullable<Instant>,
        error -> Nullable<Text>,
        is_invalid -> Bool,
        claims -> Integer,
        leased_until -> Nullable<Instant>,
        created_at -> Instant,
        started_at -> Nullable<Instant>,
        updated_at -> Instant,
        finished_at -> Nullable<Instant>,
    }
}

diesel::table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::sql::Instant;
    index_attempt_error (id) {
        id -> Integer,
        index_attempt_id -> Integer,
        cc_pair_id -> Integer,
        document_id -> Nullable<Text>,
        document_link -> Nullable<Text>,
        entity_id -> Nullable<Text>,
        window_start -> Nullable<Instant>,
        window_end -> Nullable<Instant>,
        message -> Text,
        resolved -> Bool,
        created_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Nullable, Text};
    use crate::sql::{Guid, Instant};
    stored_file (id) {
        id -> Text,
        display_name -> Text,
        origin -> Text,
        mime_type -> Text,
        size_bytes -> BigInt,
        owner_id -> Nullable<Guid>,
        created_at -> Instant,
    }
}

diesel::table! {
    cc_pair_group (cc_pair_id, group_id) {
        cc_pair_id -> Integer,
        group_id -> Integer,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::sql::Instant;
    document (id) {
        id -> Text,
        source -> Text,
        semantic_identifier -> Text,
        link -> Nullable<Text>,
        metadata -> Text,
        updated_at -> Nullable<Instant>,
        created_at -> Nullable<Instant>,
        primary_owners -> Text,
        secondary_owners -> Text,
        from_ingestion_api -> Bool,
        boost -> Integer,
        hidden -> Bool,
        revision -> BigInt,
        content_revision -> BigInt,
        pending -> Nullable<Text>,
        content_hash -> Nullable<Text>,
        embedding_model -> Nullable<Text>,
        chunk_count -> Integer,
        changed_at -> Instant,
    }
}

diesel::table! {
    document_cc_pair (document_id, cc_pair_id) {
        document_id -> Text,
        cc_pair_id -> Integer,
        indexed -> Bool,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    document_set (id) {
        id -> Integer,
        name -> Text,
        public -> Bool,
        created_at -> Instant,
        description -> Text,
        owner_id -> Nullable<Guid>,
        state -> Text,
        revision -> BigInt,
    }
}

diesel::table! {
    document_set_cc_pair (document_set_id, cc_pair_id) {
        document_set_id -> Integer,
        cc_pair_id -> Integer,
    }
}

diesel::table! {
    document_set_group (document_set_id, group_id) {
        document_set_id -> Integer,
        group_id -> Integer,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer};
    use crate::sql::Guid;
    document_set_user (document_set_id, user_id) {
        document_set_id -> Integer,
        user_id -> Guid,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    job (id) {
        id -> Guid,
        queue -> Text,
        kind -> Text,
        deduplication_key -> Nullable<Text>,
        payload -> Text,
        state -> Text,
        run_at -> Instant,
        leased_until -> Nullable<Instant>,
        attempt -> Integer,
        error -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Nullable};
    use crate::sql::Guid;
    registry (row_number) {
        row_number -> Integer,
        id -> Guid,
        index_holder -> Nullable<Guid>,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Text};
    use crate::sql::{Guid, Instant};
    search_history (id) {
        id -> Integer,
        user_id -> Guid,
        query -> Text,
        expansions -> Text,
        created_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    agent (id) {
        id -> Integer,
        name -> Text,
        description -> Text,
        system_prompt -> Text,
        task_prompt -> Text,
        replace_base_system_prompt -> Bool,
        datetime_aware -> Bool,
        search_start_date -> Nullable<Instant>,
        model_provider -> Nullable<Text>,
        model_name -> Nullable<Text>,
        model_configuration_id -> Nullable<Integer>,
        icon_name -> Nullable<Text>,
        starter_messages -> Nullable<Text>,
        owner_id -> Nullable<Guid>,
        public -> Bool,
        listed -> Bool,
        featured -> Bool,
        builtin -> Bool,
        deleted -> Bool,
        display_priority -> Nullable<Integer>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::Integer;
    use crate::sql::Guid;
    agent_user (agent_id, user_id) {
        agent_id -> Integer,
        user_id -> Guid,
    }
}

diesel::table! {
    agent_group (agent_id, group_id) {
        agent_id -> Integer,
        group_id -> Integer,
    }
}

diesel::table! {
    agent_document_set (agent_id, document_set_id) {
        agent_id -> Integer,
        document_set_id -> Integer,
    }
}

diesel::table! {
    agent_document (agent_id, document_id) {
        agent_id -> Integer,
        document_id -> Text,
    }
}

diesel::table! {
    agent_tool (agent_id, tool_id) {
        agent_id -> Integer,
        tool_id -> Integer,
    }
}

diesel::table! {
    agent_label (id) {
        id -> Integer,
        name -> Text,
    }
}

diesel::table! {
    agent_label_link (agent_id, label_id) {
        agent_id -> Integer,
        label_id -> Integer,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Nullable, Text};
    secret_key (row_number) {
        row_number -> Integer,
        key_id -> Nullable<Text>,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Integer, Nullable, Text};
    use crate::sql::{Guid, Instant};
    llm_provider (id) {
        id -> Integer,
        uuid -> Guid,
        revision -> BigInt,
        name -> Text,
        kind -> Text,
        api_base -> Nullable<Text>,
        api_version -> Nullable<Text>,
        deployment -> Nullable<Text>,
        api_key -> Nullable<Text>,
        custom_config -> Nullable<Text>,
        text_model -> Nullable<Text>,
        vision_model -> Nullable<Text>,
        chat_naming_model -> Nullable<Text>,
        public -> Bool,
        auto_mode -> Bool,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    llm_model_configuration (provider_id, name) {
        provider_id -> Integer,
        position -> Integer,
        name -> Text,
        visible -> Bool,
        input_tokens_max -> Nullable<Integer>,
        images -> Nullable<Bool>,
        display_name -> Nullable<Text>,
    }
}

diesel::table! {
    llm_provider_group (provider_id, group_id) {
        provider_id -> Integer,
        group_id -> Integer,
    }
}

diesel::table! {
    llm_provider_agent (provider_id, agent_id) {
        provider_id -> Integer,
        agent_id -> Integer,
    }
}

diesel::table! {
    llm_default (purpose) {
        purpose -> Text,
        provider_id -> Integer,
    }
}

diesel::table! {
    schema_migration (version) {
        version -> Text,
    }
}

diesel::table! {
    token_limit (id) {
        id -> Integer,
        scope -> Text,
        group_id -> Nullable<Integer>,
        enabled -> Bool,
        budget_thousands -> Integer,
        period_hours -> Integer,
    }
}

diesel::table! {
    use diesel::sql_types::BigInt;
    use crate::sql::{Guid, Instant};
    token_usage (user_id, used_at) {
        user_id -> Guid,
        used_at -> Instant,
        tokens -> BigInt,
    }
}

diesel::table! {
    use diesel::sql_types::{Integer, Text};
    workspace_settings (row_number) {
        row_number -> Integer,
        settings -> Text,
    }
}

diesel::joinable!(token_limit -> user_group (group_id));
diesel::joinable!(agent -> user_account (owner_id));
diesel::joinable!(agent_label_link -> agent_label (label_id));
diesel::joinable!(agent_user -> user_account (user_id));
diesel::joinable!(access_token -> user_account (user_id));
diesel::joinable!(api_key -> user_account (user_id));
diesel::joinable!(credential_group -> user_group (group_id));
diesel::joinable!(index_attempt -> cc_pair (cc_pair_id));
diesel::joinable!(cc_pair -> connector (connector_id));
diesel::joinable!(cc_pair -> credential (credential_id));
diesel::joinable!(cc_pair -> user_account (creator_id));
diesel::joinable!(credential -> user_account (owner_id));
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
    stored_file,
    cc_pair_group,
    document,
    document_cc_pair,
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
