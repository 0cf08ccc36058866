//! Contract suites for the ports of Trove, and the fakes and builders that tests share.
//!
//! A suite is a module of async functions, each of which states one obligation of a port; its macro
//! turns the list into one test per obligation for an adapter. See `CONTRIBUTING.md`.
#![expect(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a panic is how a test says that it failed"
)]

pub mod access_filter;
pub mod access_token_store;
pub mod agent_store;
pub mod api_key_store;
pub mod audit_log;
pub mod builders;
pub mod cc_pair_store;
pub mod clock;
pub mod connector_store;
pub mod credential_store;
pub mod document_flag_store;
pub mod document_index;
pub mod document_set_store;
pub mod document_store;
pub mod embedding_model;
pub mod fakes;
pub mod file_store;
pub mod group_store;
pub mod ids;
pub mod index_attempt_store;
pub mod invitation_store;
pub mod job_queue;
pub mod language_model;
pub mod llm_provider_store;
pub mod model_server;
pub mod pair_task_store;
pub mod permission_sync_store;
pub mod postgres;
pub mod profile_store;
pub mod scripted_model;
pub mod scripted_models;
pub mod scripted_source;
pub mod search_history;
pub mod secret_cipher;
pub mod services;
pub mod session_store;
pub mod source;
pub mod stored_file_store;
pub mod stores;
pub mod text_extractor;
pub mod token_limit_store;
pub mod unpacker;
pub mod user_store;
pub mod workspace_store;
pub mod zips;

/// One test for each case of a suite, each on a subject of its own.
///
/// `$start` is a future of an `Option` of something that dereferences to the adapter; `None` means
/// that the service it needs is not there.
#[macro_export]
macro_rules! contract_suite {
    ($suite:ident, $start:expr, [$($case:ident),+ $(,)?]) => {$(
        #[tokio::test(flavor = "multi_thread")]
        async fn $case() {
            let Some(subject) = $start.await else { return };
            $crate::$suite::$case(&*subject).await;
        }
    )+};
}
