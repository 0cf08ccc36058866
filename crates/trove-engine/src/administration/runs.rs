//! Runs of pairs, as administrators and curators ask for them and see them.

use std::collections::BTreeSet;

use trove_domain::access::Caller;
use trove_domain::audit::AuditAction;
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::connector::Connector;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::{CcPairId, ConnectorId, CredentialId};
use trove_domain::indexing::{AttemptError, AttemptStatus, IndexAttempt, IndexingTrigger, Pace};
use trove_domain::page::NumberedPage;
use trove_domain::port::PairRuns;

use super::PairError;
use crate::Engine;
use crate::audit::details;

/// Why pairs were not asked for a run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// There is no such connector that the caller knows.
    #[error("Connector by id {0} does not exist.")]
    NoSuchConnector(ConnectorId),
    /// A credential is not the connector's, as far as the caller sees.
    #[error("Not all specified credentials are associated with connector")]
    NotAssociated,
    /// The connector has none.
    #[error("Connector has no valid credentials, cannot create index attempts.")]
    NoCredentials,
    /// About a pair.
    #[error(transparent)]
    Pair(#[from] PairError),
}

impl Classify for RunError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchConnector(_) => ErrorKind::NotFound,
            Self::NotAssociated | Self::NoCredentials => ErrorKind::Invalid,
            Self::Pair(error) => error.kind(),
        }
    }
}

impl From<StoreError> for RunError {
    fn from(error: StoreError) -> Self {
        Self::Pair(error.into())
    }
}

/// A run with its pace.
#[derive(Clone, Debug, PartialEq)]
pub struct RunView {
    /// The run.
    pub attempt: IndexAttempt,
    /// How quickly it goes on.
    pub pace: Pace,
}

/// What the runs of a pair come to.
#[derive(Clone, Debug, PartialEq)]
pub struct PairProgress {
    /// The latest ones.
    pub runs: PairRuns,
    /// How many are known.
    pub count: u64,
    /// The pace of the latest.
    pub pace: Pace,
    /// What was indexed, in documents per minute since the pair was made.
    pub overall_per_minute: Option<f64>,
}

/// A pair whose last run to fail is later than its last one to succeed.
#[derive(Clone, Debug, PartialEq)]
pub struct FailingPair {
    /// The pair.
    pub pair: CcPairId,
    /// Its name.
    pub name: String,
    /// What went wrong.
    pub error: Option<String>,
    /// Whether it may be deleted at once: it is not run, and does not run.
    pub is_deletable: bool,
    /// Its connector.
    pub connector: ConnectorId,
    /// Its credential.
    pub credential: CredentialId,
}

/// Pairs that are read at a time.
const PAGE: u32 = 500;

impl Engine {
    /// Asks the pairs of a connector for a run out of turn: those of some credentials, or all of
    /// them. Answers how many were asked: a pair that runs is not.
    ///
    /// # Errors
    ///
    /// [`RunError`]; nobody is asked then.
    pub async fn run_connector(
        &self,
        caller: &Caller,
        connector: ConnectorId,
        credentials: &BTreeSet<CredentialId>,
        from_beginning: bool,
    ) -> Result<u64, RunError> {
        let run = async {
            let found = self.backends().connectors.get(connector).await?;
            let found = found.ok_or(RunError::NoSuchConnector(connector))?;
            if !self.knows_connector(caller, &found).await? {
                return Err(RunError::NoSuchConnector(connector));
            }
            let pairs = self.pairs_to_run(caller, &found, credentials).await?;
            let trigger =
                if from_beginning { IndexingTrigger::Reindex } else { IndexingTrigger::Update };
            let asked = self.backends().attempts.set_trigger(&pairs, trigger).await?;
            self.shared.runs_wanted.notify_one();
            Ok(asked)
        };
        let wanted = details([("from_beginning", from_beginning.to_string())]);
        let subject = format!("connector {connector}");
        self.recorded(AuditAction::RunPair, subject, wanted, run).await
    }

    async fn pairs_to_run(
        &self,
        caller: &Caller,
        connector: &Connector,
        credentials: &BTreeSet<CredentialId>,
    ) -> Result<Vec<CcPairId>, RunError> {
        if !credentials.is_subset(&connector.credentials) {
            return Err(RunError::NotAssociated);
        }
        let wanted = if credentials.is_empty() { &connector.credentials } else { credentials };
        let mut pairs = Vec::with_capacity(wanted.len());
        for credential in wanted {
            let store = &self.backends().cc_pairs;
            let Some(pair) = store.get_by_parts(connector.id, *credential).await? else { continue };
            match store.find_seen(caller, pair.id).await? {
                Some(seen) if seen.editable && !seen.scheduled => {
                    return Err(PairError::NotScheduled.into());
                }
                Some(seen) if seen.editable => pairs.push(pair.id),
                Some(_) => return Err(PairError::Forbidden(pair.id).into()),
                // As if there were none: all of them are all that the caller sees.
                None if credentials.is_empty() => {}
                None => return Err(RunError::NotAssociated),
            }
        }
        if pairs.is_empty() {
            return Err(RunError::NoCredentials);
        }
        Ok(pairs)
    }

    /// Runs of a pair that `caller` sees, newest first.
    ///
    /// # Errors
    ///
    /// [`PairError`]; a pair that the caller may not see is like none.
    pub async fn list_runs(
        &self,
        caller: &Caller,
        pair: CcPairId,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<RunView>, PairError> {
        self.require_seen_pair(caller, pair).await?;
        let attempts = &self.backends().attempts;
        let page = attempts.list(pair, offset, limit).await?;
        let latest = attempts.latest(&[pair]).await?.pop();
        let complete = latest.and_then(|runs| runs.last_success);
        let now = self.backends().clock.now();
        let view = |attempt: IndexAttempt| {
            let pace = Pace::of(&attempt, complete.as_ref(), now);
            RunView { attempt, pace }
        };
        Ok(NumberedPage { items: page.items.into_iter().map(view).collect(), total: page.total })
    }

    /// What runs of a pair that `caller` sees could not read or index, newest first.
    ///
    /// # Errors
    ///
    /// [`PairError`]; a pair that the caller may not see is like none.
    pub async fn list_run_errors(
        &self,
        caller: &Caller,
        pair: CcPairId,
        with_resolved: bool,
        offset: u64,
        limit: u32,
    ) -> Result<NumberedPage<AttemptError>, PairError> {
        self.require_seen_pair(caller, pair).await?;
        Ok(self.backends().attempts.list_errors(pair, with_resolved, offset, limit).await?)
    }

    /// What the runs of a pair that `caller` sees come to.
    ///
    /// # Errors
    ///
    /// [`PairError`]; a pair that the caller may not see is like none.
    pub async fn pair_progress(
        &self,
        caller: &Caller,
        pair: CcPairId,
    ) -> Result<PairProgress, PairError> {
        let seen = self.backends().cc_pairs.find_seen(caller, pair).await?;
        let seen = seen.ok_or(PairError::NoSuchPair(pair))?;
        let attempts = &self.backends().attempts;
        let count = attempts.list(pair, 0, 1).await?.total;
        let runs = attempts.latest(&[pair]).await?.pop().ok_or(PairError::NoSuchPair(pair))?;
        let now = self.backends().clock.now();
        let last = runs.last.as_ref();
        let pace = last.map(|run| Pace::of(run, runs.last_success.as_ref(), now));
        let minutes = (now - seen.pair.created_at).as_seconds_f64() / 60.0;
        let documents = u32::try_from(runs.documents).map_or(f64::from(u32::MAX), f64::from);
        let overall = (minutes > 0.0 && documents > 0.0).then(|| documents / minutes);
        let pace = pace.unwrap_or_default();
        Ok(PairProgress { runs, count, pace, overall_per_minute: overall })
    }

    /// The pairs that `caller` sees, or may change, whose last run to fail is later than their last
    /// one to succeed, by rising id.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn failing_pairs(
        &self,
        caller: &Caller,
        editable_only: bool,
    ) -> Result<Vec<FailingPair>, StoreError> {
        let (mut failing, mut after) = (Vec::new(), None);
        loop {
            let page = self.list_pairs(caller, after, PAGE).await?;
            let ids: Vec<CcPairId> = page.items.iter().map(|seen| seen.pair.id).collect();
            let runs = self.backends().attempts.latest(&ids).await?;
            for (seen, runs) in page.items.into_iter().zip(runs) {
                if editable_only && !seen.editable {
                    continue;
                }
                let Some(failed) = runs.last_failed else { continue };
                // What is completed with errors, or cancelled, clears nothing.
                if runs.last_success.is_some_and(|success| success.updated_at > failed.updated_at) {
                    continue;
                }
                let runs_now =
                    runs.last.is_some_and(|last| last.status == AttemptStatus::InProgress);
                let pair = seen.pair;
                failing.push(FailingPair {
                    pair: pair.id,
                    name: pair.name,
                    error: failed.error,
                    is_deletable: !is_run(pair.status) && !runs_now,
                    connector: pair.connector,
                    credential: pair.credential,
                });
            }
            match page.next {
                Some(next) => after = Some(next),
                None => return Ok(failing),
            }
        }
    }

    pub(super) async fn require_seen_pair(
        &self,
        caller: &Caller,
        id: CcPairId,
    ) -> Result<(), PairError> {
        let seen = self.backends().cc_pairs.find_seen(caller, id).await?;
        seen.map(drop).ok_or(PairError::NoSuchPair(id))
    }
}

/// Whether the schedule runs a pair in this status.
const fn is_run(status: CcPairStatus) -> bool {
    matches!(status, CcPairStatus::Active | CcPairStatus::Scheduled | CcPairStatus::InitialIndexing)
}
