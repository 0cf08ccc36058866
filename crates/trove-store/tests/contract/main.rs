//! Every suite of the relational ports on both databases, and what is special about each.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod access;
mod database;
mod pair_tasks;
mod postgres_server;
mod registry;
mod secrets;
mod sqlite_file;

/// The suites in modules of their names. `$start` is a function; see the suites.
macro_rules! suites {
    ($start:path) => {
        mod user_store {
            trove_testkit::user_store_contract!($start());
        }
        mod invitation_store {
            trove_testkit::invitation_store_contract!($start());
        }
        mod session_store {
            trove_testkit::session_store_contract!($start());
        }
        mod profile_store {
            trove_testkit::profile_store_contract!($start());
        }
        mod api_key_store {
            trove_testkit::api_key_store_contract!($start());
        }
        mod access_token_store {
            trove_testkit::access_token_store_contract!($start());
        }
        mod index_attempt_store {
            trove_testkit::index_attempt_store_contract!($start());
        }
        mod pair_task_store {
            trove_testkit::pair_task_store_contract!($start());
        }
        mod access_filter {
            trove_testkit::access_filter_contract!($start());
        }
        mod agent_store {
            trove_testkit::agent_store_contract!($start());
        }
        mod group_store {
            trove_testkit::group_store_contract!($start());
        }
        mod connector_store {
            trove_testkit::connector_store_contract!($start());
        }
        mod credential_store {
            trove_testkit::credential_store_contract!($start());
        }
        mod cc_pair_store {
            trove_testkit::cc_pair_store_contract!($start());
        }
        mod permission_sync_store {
            trove_testkit::permission_sync_store_contract!($start());
        }
        mod document_set_store {
            trove_testkit::document_set_store_contract!($start());
        }
        mod document_store {
            trove_testkit::document_store_contract!($start());
        }
        mod document_flag_store {
            trove_testkit::document_flag_store_contract!($start());
        }
        mod token_limit_store {
            trove_testkit::token_limit_store_contract!($start());
        }
        mod stored_file_store {
            trove_testkit::stored_file_store_contract!($start());
        }
        mod search_history {
            trove_testkit::search_history_contract!($start());
        }
        mod job_queue {
            trove_testkit::job_queue_contract!($start());
        }
        mod workspace_store {
            trove_testkit::workspace_store_contract!($start());
        }
        mod llm_provider_store {
            trove_testkit::llm_provider_store_contract!($start());
        }
    };
}

mod sqlite {
    suites!(crate::database::sqlite);
}

mod postgres {
    suites!(crate::database::postgres);
}
