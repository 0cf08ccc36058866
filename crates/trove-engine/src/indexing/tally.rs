//! What became of the documents of a step.

use trove_domain::error::{Classify, ErrorKind};
use trove_domain::id::DocumentId;
use trove_domain::indexing::Progress;
use trove_domain::port::{FailedPart, SourceFailure, SourceStep, StepRecord};

use crate::ingestion::IngestOutcome;

/// Most characters of the error of a document.
const MESSAGE_CHARS_MAX: usize = 2_000;

/// Counts what was read and what became of it; an error where it is this deployment that fails, and
/// not the documents.
pub(super) fn tally(
    step: SourceStep,
    links: &[(DocumentId, Option<String>)],
    outcomes: Vec<IngestOutcome>,
) -> Result<StepRecord, String> {
    let count = |number: usize| u64::try_from(number).unwrap_or(u64::MAX);
    let mut progress = Progress {
        enumerated: count(
            links.len() + step.failures.len() + step.skipped.len() + step.unchanged.len(),
        ),
        unchanged: count(step.unchanged.len()),
        skipped: count(step.skipped.len()),
        ..Progress::default()
    };
    let mut failures = step.failures;
    let mut indexed = step.unchanged;
    for ((id, link), outcome) in links.iter().zip(outcomes) {
        match outcome {
            IngestOutcome::Indexed { new: true } => progress.new += 1,
            IngestOutcome::Indexed { new: false } | IngestOutcome::AttributesUpdated => {
                progress.updated += 1;
            }
            IngestOutcome::Unchanged => progress.unchanged += 1,
            IngestOutcome::Empty => progress.skipped += 1,
            IngestOutcome::Failed(error) => {
                let told = with_causes(error.as_ref());
                match error.kind() {
                    ErrorKind::Unavailable | ErrorKind::StorageFull | ErrorKind::NotFound => {
                        return Err(told);
                    }
                    _ => {}
                }
                let part = FailedPart::Document { id: id.clone(), link: link.clone() };
                failures.push(SourceFailure { part, message: told });
                continue;
            }
        }
        indexed.push(id.clone());
    }
    progress.failed = count(failures.len());
    Ok(StepRecord { progress, failures, indexed, checkpoint: step.next })
}

/// An error with its causes, in one line of bounded length.
pub(super) fn with_causes(error: &(dyn std::error::Error + 'static)) -> String {
    let mut told = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let because = error.to_string();
        // Many an error tells its cause itself.
        if !told.contains(&because) {
            told.push_str(": ");
            told.push_str(&because);
        }
        cause = error.source();
    }
    told.chars().take(MESSAGE_CHARS_MAX).collect()
}

#[cfg(test)]
mod tests {
    use trove_domain::port::SourceError;

    use super::with_causes;

    fn unavailable(message: &str, source: Option<SourceError>) -> SourceError {
        let source = source.map(Into::into);
        SourceError::Unavailable { message: message.to_owned(), retry_after: None, source }
    }

    #[test]
    fn each_cause_is_told_once() {
        let refused = || unavailable("connection refused", None);
        let error = unavailable("the page cannot be read", Some(refused()));
        assert_eq!(with_causes(&error), "the page cannot be read: connection refused");
        let tells = unavailable("the page cannot be read: connection refused", Some(refused()));
        assert_eq!(with_causes(&tells), "the page cannot be read: connection refused");
    }
}
