//! Agents and language models.

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
