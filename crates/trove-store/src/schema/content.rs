//! What is read, and what becomes of it.

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
    use diesel::sql_types::{Bool, Integer, Nullable, Text};
    use crate::sql::Instant;
    pair_task (id) {
        id -> Integer,
        cc_pair_id -> Integer,
        kind -> Text,
        checkpoint -> Nullable<Text>,
        listed -> Bool,
        unlinked -> Nullable<Text>,
        tries -> Integer,
        retry_at -> Nullable<Instant>,
        error -> Nullable<Text>,
        claims -> Integer,
        leased_until -> Nullable<Instant>,
        created_at -> Instant,
        updated_at -> Instant,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Bool, Nullable, Text};
    use crate::sql::{Guid, Instant};
    stored_file (id) {
        id -> Text,
        display_name -> Text,
        origin -> Text,
        mime_type -> Text,
        size_bytes -> BigInt,
        owner_id -> Nullable<Guid>,
        created_at -> Instant,
        unfinished -> Bool,
        needed_at -> Nullable<Instant>,
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
        listed_by -> Nullable<Integer>,
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
    external_access (document_id, cc_pair_id) {
        document_id -> Text,
        cc_pair_id -> Integer,
        is_public -> Bool,
        user_keys -> Text,
        group_keys -> Text,
    }
}

diesel::table! {
    external_group_member (email_key, group_key, cc_pair_id) {
        email_key -> Text,
        group_key -> Text,
        cc_pair_id -> Integer,
        run -> BigInt,
        in_force -> Bool,
    }
}

diesel::table! {
    use diesel::sql_types::{BigInt, Integer, Nullable, Text};
    use crate::sql::Instant;
    permission_sync (cc_pair_id) {
        cc_pair_id -> Integer,
        status -> Text,
        checkpoint -> Nullable<Text>,
        run -> BigInt,
        tries -> Integer,
        failures -> Nullable<Text>,
        error -> Nullable<Text>,
        due_at -> Instant,
        claims -> Integer,
        leased_until -> Nullable<Instant>,
        finished_at -> Nullable<Instant>,
        completed_at -> Nullable<Instant>,
    }
}
