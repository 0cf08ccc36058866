//! What every [`Source`] does.

#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a case fails by panicking")]

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use async_trait::async_trait;
use chrono::DateTime;
use futures::future::poll_immediate;
use serde_json::json;
use trove_domain::document::Document;
use trove_domain::id::DocumentId;
use trove_domain::port::{
    CHECKPOINT_BYTES_MAX, Checkpoint, FailedPart, ReadWindow, Source, SourceError, SourceStep,
};

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option` of something that dereferences to a [`SourceSubject`].
#[macro_export]
macro_rules! source_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            source,
            $start,
            [
                a_source_that_is_there_checks,
                a_run_has_several_steps_and_ends,
                the_same_checkpoint_gives_the_same_step,
                every_step_in_another_process_gives_the_same_documents,
                a_run_goes_on_from_any_checkpoint,
                what_is_no_checkpoint_of_the_source_begins_again,
                a_dropped_call_is_harmless,
                a_listing_holds_what_is_read,
                a_listing_goes_on_in_another_process,
                no_error_holds_a_secret,
            ]
        );
    };
}

/// A source to hold to its contract.
#[async_trait]
pub trait SourceSubject: Send + Sync {
    /// Opens it, as another process would. It has documents for more than two steps, and nothing
    /// of it changes.
    async fn open(&self) -> Arc<dyn Source>;

    /// Opens one of its kind that cannot be read, with [`Self::secret`] wherever a secret may be.
    async fn open_broken(&self) -> Arc<dyn Source>;

    /// What no error may hold.
    fn secret(&self) -> &'static str {
        "canary"
    }
}

/// Most documents of one step.
const STEP_DOCUMENTS_MAX: usize = 64;
/// More steps than any subject has.
const STEPS_MAX: usize = 1_000;

const WINDOW: ReadWindow = ReadWindow { start: DateTime::UNIX_EPOCH, end: DateTime::UNIX_EPOCH };

/// As a store keeps it.
fn stored(checkpoint: &Checkpoint) -> Checkpoint {
    let text = checkpoint.0.to_string();
    assert!(text.len() <= CHECKPOINT_BYTES_MAX, "{} bytes", text.len());
    Checkpoint(serde_json::from_str(&text).unwrap())
}

async fn read(source: &dyn Source, from: Option<&Checkpoint>) -> SourceStep {
    source.read(WINDOW, from).await.unwrap()
}

/// The steps of a run, read by one source, from a checkpoint on.
async fn steps(source: &dyn Source, from: Option<&Checkpoint>) -> Vec<SourceStep> {
    let mut steps = vec![read(source, from).await];
    while let Some(next) = steps[steps.len() - 1].next.clone() {
        steps.push(read(source, Some(&next)).await);
        assert!(steps.len() < STEPS_MAX, "the run does not end");
    }
    steps
}

fn documents(steps: &[SourceStep]) -> Vec<Document> {
    steps.iter().flat_map(|step| step.documents.clone()).collect()
}

async fn listed(subject: &dyn SourceSubject, reopened: bool) -> Vec<DocumentId> {
    let (mut source, mut ids, mut from) = (subject.open().await, Vec::new(), None);
    for _ in 0..STEPS_MAX {
        let step = source.list(from.as_ref()).await.unwrap();
        ids.extend(step.ids);
        let Some(next) = step.next else { return ids };
        from = Some(stored(&next));
        if reopened {
            source = subject.open().await;
        }
    }
    panic!("the listing does not end")
}

/// The least that is asked of it.
pub async fn a_source_that_is_there_checks(subject: &dyn SourceSubject) {
    subject.open().await.check().await.unwrap();
}

/// Of at most a few dozen documents each, no two of which have the same id.
pub async fn a_run_has_several_steps_and_ends(subject: &dyn SourceSubject) {
    let steps = steps(&*subject.open().await, None).await;
    assert!(steps.len() > 2, "{} steps", steps.len());
    assert!(steps.iter().all(|step| step.documents.len() <= STEP_DOCUMENTS_MAX));
    let documents = documents(&steps);
    let ids: BTreeSet<&DocumentId> = documents.iter().map(|document| &document.id).collect();
    assert_eq!(ids.len(), documents.len());
    // Only the last step may have something for the next run.
    assert!(steps.iter().all(|step| step.carry.is_none() || step.next.is_none()));
}

/// So a step that was lost before it was recorded can be read again.
pub async fn the_same_checkpoint_gives_the_same_step(subject: &dyn SourceSubject) {
    let source = subject.open().await;
    let mut from: Option<Checkpoint> = None;
    loop {
        let first = read(&*source, from.as_ref()).await;
        let again = read(&*source, from.as_ref()).await;
        let elsewhere = read(&*subject.open().await, from.as_ref()).await;
        assert_eq!(first, again);
        assert_eq!(first, elsewhere);
        let Some(next) = first.next else { return };
        from = Some(stored(&next));
    }
}

/// Nothing but the checkpoint carries a run.
pub async fn every_step_in_another_process_gives_the_same_documents(subject: &dyn SourceSubject) {
    let at_once = documents(&steps(&*subject.open().await, None).await);
    let (mut apart, mut from) = (Vec::new(), None);
    loop {
        let step = read(&*subject.open().await, from.as_ref()).await;
        apart.extend(step.documents);
        let Some(next) = step.next else { break };
        from = Some(stored(&next));
    }
    assert_eq!(apart, at_once);
}

/// Also from one that is not the latest.
pub async fn a_run_goes_on_from_any_checkpoint(subject: &dyn SourceSubject) {
    let all = steps(&*subject.open().await, None).await;
    for (position, step) in all.iter().enumerate() {
        let Some(next) = &step.next else { continue };
        let rest = steps(&*subject.open().await, Some(&stored(next))).await;
        assert_eq!(documents(&rest), documents(&all[position + 1..]), "after step {position}");
    }
}

/// Configurations and versions change, and a run must not be stuck for it.
pub async fn what_is_no_checkpoint_of_the_source_begins_again(subject: &dyn SourceSubject) {
    let first = read(&*subject.open().await, None).await;
    let deep = (0..100).fold(json!(1), |inner, _| json!([inner]));
    for foreign in [
        json!(null),
        json!({}),
        json!([]),
        json!("a checkpoint"),
        json!({ "at": -1, "index": "x", "version": 999_999, "state": "AAAA" }),
        json!({ "at": 1e300, "cursor": null, "next": {} }),
        deep,
    ] {
        let source = subject.open().await;
        let step = read(&*source, Some(&Checkpoint(foreign.clone()))).await;
        assert_eq!(step.documents, first.documents, "{foreign}");
        source.list(Some(&Checkpoint(foreign))).await.unwrap();
    }
}

/// A shutdown, a pause and a lost lease all drop a call.
pub async fn a_dropped_call_is_harmless(subject: &dyn SourceSubject) {
    let expected = documents(&steps(&*subject.open().await, None).await);
    let source = subject.open().await;
    let (mut found, mut from): (Vec<Document>, Option<Checkpoint>) = (Vec::new(), None);
    loop {
        for _ in 0..3 {
            // Started, and dropped where it first waits.
            let _read = poll_immediate(source.read(WINDOW, from.as_ref())).await;
            let _listed = poll_immediate(source.list(None)).await;
            let _checked = poll_immediate(source.check()).await;
            tokio::task::yield_now().await;
        }
        let step = read(&*source, from.as_ref()).await;
        found.extend(step.documents);
        from = step.next;
        if from.is_none() {
            break;
        }
    }
    assert_eq!(found, expected);
}

/// What is not listed is taken out of the index, so nothing that is read may be missing.
pub async fn a_listing_holds_what_is_read(subject: &dyn SourceSubject) {
    let ids: BTreeSet<DocumentId> = listed(subject, false).await.into_iter().collect();
    for step in steps(&*subject.open().await, None).await {
        let failed = step.failures.into_iter().filter_map(|failure| match failure.part {
            FailedPart::Document { id, .. } => Some(id),
            FailedPart::Entity { .. } => None,
        });
        let read = step.documents.into_iter().map(|document| document.id);
        for id in read.chain(step.unchanged).chain(failed) {
            assert!(ids.contains(&id), "{id} is not listed");
        }
    }
}

/// As a run does.
pub async fn a_listing_goes_on_in_another_process(subject: &dyn SourceSubject) {
    assert_eq!(listed(subject, true).await, listed(subject, false).await);
}

/// Errors are shown to whoever may see the connector, and written into the log.
pub async fn no_error_holds_a_secret(subject: &dyn SourceSubject) {
    let (source, secret) = (subject.open_broken().await, subject.secret());
    let mut said = Vec::new();
    let mut from = None;
    let mut hear = |error: &SourceError| {
        said.push(format!("{error:?}"));
        let mut cause: Option<&dyn Error> = Some(error);
        while let Some(error) = cause {
            said.push(error.to_string());
            cause = error.source();
        }
    };
    if let Err(error) = source.check().await {
        hear(&error);
    }
    if let Err(error) = source.list(None).await {
        hear(&error);
    }
    let mut failures = Vec::new();
    for _ in 0..STEPS_MAX {
        match source.read(WINDOW, from.as_ref()).await {
            Err(error) => {
                hear(&error);
                break;
            }
            Ok(step) => {
                failures.extend(step.failures.into_iter().map(|failure| failure.message));
                failures.extend(step.skipped.into_iter().map(|skipped| skipped.reason));
                from = step.next;
                if from.is_none() {
                    break;
                }
            }
        }
    }
    said.extend(failures);
    assert!(!said.is_empty(), "it is not broken");
    for text in said {
        assert!(!text.contains(secret), "{text}");
    }
}
