//! Says in the log what a run has left out, and why: the record of the run only counts it.

use trove_domain::id::DocumentId;
use trove_domain::port::{ClaimedAttempt, SourceStep};

use crate::ingestion::IngestOutcome;

/// Most of one run that the log names.
const NAMED_MAX: usize = 100;

/// Why a document without text is left out.
const EMPTY: &str = "there is no text in it";

/// Says what a step has left out; `before` is how much the run had left out by then.
pub(super) fn tell(
    claimed: &ClaimedAttempt,
    before: u64,
    step: &SourceStep,
    links: &[(DocumentId, Option<String>)],
    outcomes: &[IngestOutcome],
) {
    let (pair, attempt) = (claimed.attempt.pair, claimed.attempt.id);
    let (named, more) = named(before, step, links, outcomes);
    for (id, reason) in named {
        tracing::info!(%pair, %attempt, id, reason, "left out of a run of indexing");
    }
    if more {
        let named = NAMED_MAX;
        tracing::info!(%pair, %attempt, named, "more is left out of this run than is named here");
    }
}

/// What of it the log names, and whether here there begins to be more than that.
fn named<'a>(
    before: u64,
    step: &'a SourceStep,
    links: &'a [(DocumentId, Option<String>)],
    outcomes: &'a [IngestOutcome],
) -> (Vec<(&'a str, &'a str)>, bool) {
    let skipped = step.skipped.iter().map(|left| (left.id.as_str(), left.reason.as_str()));
    let empty = links.iter().zip(outcomes).filter_map(|((id, _), outcome)| {
        matches!(outcome, IngestOutcome::Empty).then_some((id.as_str(), EMPTY))
    });
    let mut all = skipped.chain(empty);
    let before = usize::try_from(before).unwrap_or(usize::MAX);
    let named = all.by_ref().take(NAMED_MAX.saturating_sub(before)).collect();
    (named, before <= NAMED_MAX && all.next().is_some())
}

#[cfg(test)]
mod tests {
    use trove_domain::id::DocumentId;
    use trove_domain::port::{Skipped, SourceStep};

    use super::{EMPTY, NAMED_MAX, named};
    use crate::ingestion::IngestOutcome;

    fn step(skipped: usize) -> SourceStep {
        let left = |n| Skipped { id: format!("s{n}"), reason: "a picture".to_owned() };
        SourceStep { skipped: (0..skipped).map(left).collect(), ..SourceStep::default() }
    }

    #[test]
    fn whatever_has_no_text_is_named_too() {
        let links: Vec<_> =
            ["a", "b"].map(|id| (DocumentId::new(id).unwrap(), None)).into_iter().collect();
        let outcomes = [IngestOutcome::Unchanged, IngestOutcome::Empty];
        let (step, expected) = (step(1), vec![("s0", "a picture"), ("b", EMPTY)]);
        assert_eq!(named(0, &step, &links, &outcomes), (expected, false));
    }

    #[test]
    fn a_run_names_no_more_than_its_bound() {
        for (before, skipped, expected, more) in [
            (0, NAMED_MAX, NAMED_MAX, false),
            (0, NAMED_MAX + 1, NAMED_MAX, true),
            (90, 20, 10, true),
            (100, 1, 0, true),
            // It was said before.
            (101, 1, 0, false),
            (u64::MAX, 1, 0, false),
        ] {
            let step = step(skipped);
            let (named, is_more) = named(before, &step, &[], &[]);
            assert_eq!((named.len(), is_more), (expected, more), "{before} {skipped}");
        }
    }
}
