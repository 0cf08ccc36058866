//! A pair as clients see it.

use serde::Serialize;
use trove_domain::cc_pair::SeenPair;
use trove_domain::permission_sync::PermissionSyncStatus;
use trove_engine::administration::{PairProgress, PairView};
use utoipa::ToSchema;

use super::deletion::DeletionReply;
use crate::routes::connectors::record::ConnectorReply;
use crate::routes::credentials::record::CredentialReply;
use crate::routes::schema::{SourceValue, zulu};

/// A connector with a credential, in a list.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ConnectorStatus)]
pub(crate) struct ConnectorStatusReply {
    /// Key of the pair.
    cc_pair_id: i32,
    /// Its name.
    name: Option<String>,
    /// Its connector, with those of its credentials whose pairs the caller sees.
    connector: ConnectorReply,
    /// Its credential, masked.
    credential: CredentialReply,
    /// `public`, `private` or `sync`.
    #[schema(value_type = String)]
    access_type: &'static str,
    /// Groups that it is shared with.
    groups: Vec<i32>,
}

impl From<PairView> for ConnectorStatusReply {
    fn from(view: PairView) -> Self {
        let pair = view.seen.pair;
        Self {
            cc_pair_id: pair.id.0,
            name: Some(pair.name),
            connector: view.connector.into(),
            credential: view.credential.into(),
            access_type: pair.access_type.as_str(),
            groups: pair.groups.iter().map(|group| group.0).collect(),
        }
    }
}

/// A pair in short.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = BasicCCPairInfo)]
pub(crate) struct BasicPairReply {
    /// Whether a run has succeeded.
    has_successful_run: bool,
    /// The system it reads.
    #[schema(value_type = SourceValue)]
    source: &'static str,
    /// Where it is in its life.
    #[schema(value_type = String)]
    status: &'static str,
}

impl From<SeenPair> for BasicPairReply {
    fn from(seen: SeenPair) -> Self {
        Self {
            has_successful_run: seen.last_successful_index_at.is_some(),
            source: seen.pair.source.as_str(),
            status: seen.pair.status.as_str(),
        }
    }
}

/// A pair with everything that is known of it.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = CCPairFullInfo)]
#[expect(clippy::struct_excessive_bools, reason = "the record of the interface")]
pub(crate) struct PairReply {
    /// Its key.
    id: i32,
    /// Its name.
    name: String,
    /// Where it is in its life.
    #[schema(value_type = String)]
    status: &'static str,
    /// Whether its latest runs have failed.
    in_repeated_error_state: bool,
    /// How many documents it has indexed.
    num_docs_indexed: u64,
    /// Its connector.
    connector: ConnectorReply,
    /// Its credential, masked.
    credential: CredentialReply,
    /// How many runs are known.
    number_of_index_attempts: u64,
    /// What came of the latest run.
    #[schema(value_type = Option<String>)]
    last_index_attempt_status: Option<&'static str>,
    /// Its deletion, once it is asked for.
    latest_deletion_attempt: Option<DeletionReply>,
    /// `public`, `private` or `sync`.
    #[schema(value_type = String)]
    access_type: &'static str,
    /// Whether the caller may change it.
    is_editable_for_current_user: bool,
    /// Why its deletion failed.
    deletion_failure_message: Option<String>,
    /// Whether a run is on.
    indexing: bool,
    /// Who made it.
    creator: Option<String>,
    /// The address of who made it.
    creator_email: Option<String>,
    /// When a run last succeeded.
    last_indexed: Option<String>,
    /// When it was last looked for what is gone.
    last_pruned: Option<String>,
    /// When its permissions were last fetched completely; null where its source does not tell them.
    last_full_permission_sync: Option<String>,
    /// Documents per minute since it was made.
    overall_indexing_speed: Option<f64>,
    /// Always null.
    latest_checkpoint_description: Option<String>,
    /// What came of the latest fetching of permissions, or that it is on.
    #[schema(value_type = Option<String>)]
    last_permission_sync_attempt_status: Option<&'static str>,
    /// Whether permissions are being fetched.
    permission_syncing: bool,
    /// When a fetching of permissions last ended, whatever came of it.
    last_permission_sync_attempt_finished: Option<String>,
    /// Why permissions were not fetched, or not of all documents.
    last_permission_sync_attempt_error_message: Option<String>,
}

impl PairReply {
    pub(super) fn new(view: PairView, progress: PairProgress) -> Self {
        let latest_deletion_attempt = DeletionReply::of(&view);
        let PairView { seen, connector, credential, is_in_deletion: _, permissions } = view;
        let permissions = permissions.as_ref();
        let SeenPair { pair, editable, .. } = seen;
        let PairProgress { runs, count, overall_per_minute, .. } = progress;
        let running = runs.last.as_ref().filter(|run| !run.status.is_finished());
        // While the only run ever made goes on, clients want to see it grow.
        let first = running.filter(|run| count == 1 && run.progress.new > 0);
        Self {
            id: pair.id.0,
            name: pair.name,
            status: pair.status.as_str(),
            in_repeated_error_state: seen.in_repeated_error_state,
            num_docs_indexed: first.map_or(seen.documents, |run| run.progress.new),
            connector: connector.into(),
            credential: credential.into(),
            number_of_index_attempts: count,
            last_index_attempt_status: runs.last.as_ref().map(|run| run.status.as_str()),
            latest_deletion_attempt,
            access_type: pair.access_type.as_str(),
            is_editable_for_current_user: editable,
            deletion_failure_message: seen.deletion_failure,
            indexing: running.is_some(),
            creator: pair.creator.map(|creator| creator.to_string()),
            creator_email: seen.creator_email,
            last_indexed: seen.last_successful_index_at.map(zulu),
            last_pruned: seen.last_pruned_at.map(zulu),
            last_full_permission_sync: permissions.and_then(|sync| sync.completed_at).map(zulu),
            overall_indexing_speed: overall_per_minute,
            latest_checkpoint_description: None,
            last_permission_sync_attempt_status: permissions.map(|sync| sync.status.as_str()),
            permission_syncing: permissions
                .is_some_and(|sync| sync.status == PermissionSyncStatus::InProgress),
            last_permission_sync_attempt_finished: permissions
                .and_then(|sync| sync.finished_at)
                .map(zulu),
            last_permission_sync_attempt_error_message: permissions
                .and_then(|sync| sync.error.clone()),
        }
    }
}

/// The sources that connectors read.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = IndexedSourcesResponse)]
pub(crate) struct SourcesReply {
    /// Their values, sorted.
    #[schema(value_type = Vec<SourceValue>)]
    pub(super) sources: Vec<&'static str>,
}
