//! People, what they are let in with, and what is decided for everybody.

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
    use diesel::sql_types::{Integer, Nullable, Text};
    secret_key (row_number) {
        row_number -> Integer,
        key_id -> Nullable<Text>,
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
