//! How all pairs are, by source, filtered and in pages.

use std::collections::{BTreeMap, BTreeSet};

use chrono::{DateTime, Utc};
use trove_domain::access::Caller;
use trove_domain::cc_pair::{AccessType, CcPairStatus, SeenPair};
use trove_domain::error::StoreError;
use trove_domain::id::CcPairId;
use trove_domain::indexing::{AttemptStatus, Pace};
use trove_domain::port::PairRuns;
use trove_domain::source::DocumentSource;

use crate::Engine;

/// Pairs of a source on a page.
const STATUSES_PAGE: usize = 10;

/// Pairs that are read at a time.
const PAGE: u32 = 500;

/// How a number of documents is compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// More than.
    Greater,
    /// Fewer than.
    Less,
    /// Exactly.
    Equal,
}

/// Which pairs to show. What is empty or `None` filters nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StatusFilter {
    /// Only pairs of this source.
    pub source: Option<DocumentSource>,
    /// Only pairs with one of these.
    pub access_types: BTreeSet<AccessType>,
    /// Only pairs whose latest run is one of these.
    pub last_statuses: BTreeSet<AttemptStatus>,
    /// Only pairs with so many documents.
    pub documents: Option<(Comparison, u64)>,
    /// Only pairs whose name holds this, in any letter case.
    pub name: Option<String>,
    /// Pages from 1; 1 where a source is not named.
    pub pages: BTreeMap<DocumentSource, i64>,
    /// All pairs of every source in place of a page.
    pub unpaged: bool,
}

/// How a pair is.
#[derive(Clone, Debug, PartialEq)]
pub struct PairStatusView {
    /// The pair.
    pub seen: SeenPair,
    /// Its latest run.
    pub last: Option<LastRunView>,
    /// What came of its latest finished run.
    pub last_finished: Option<AttemptStatus>,
}

/// The latest run of a pair, in short.
#[derive(Clone, Debug, PartialEq)]
pub struct LastRunView {
    /// Where it is in its life.
    pub status: AttemptStatus,
    /// Documents that it has found or brought into the index.
    pub documents: u64,
    /// How quickly it goes on.
    pub pace: Pace,
    /// Why it did not succeed, or what its last step was put back for.
    pub error: Option<String>,
}

/// The pairs of a source.
#[derive(Clone, Debug, PartialEq)]
pub struct SourceStatusView {
    /// The source.
    pub source: DocumentSource,
    /// How many there are after filtering.
    pub connectors: u64,
    /// Those of them that ran successfully and are not paused.
    pub active: u64,
    /// Those of them that everybody reads.
    pub public: u64,
    /// Documents of all of them.
    pub documents: u64,
    /// The page that was asked for.
    pub page: i64,
    /// How many pages there are.
    pub pages: u64,
    /// The pairs of the page.
    pub items: Vec<PairStatusView>,
}

impl Engine {
    /// How the pairs are that `caller` sees, by source.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn pair_statuses(
        &self,
        caller: &Caller,
        filter: &StatusFilter,
    ) -> Result<Vec<SourceStatusView>, StoreError> {
        let (mut rows, mut after) = (Vec::new(), None);
        loop {
            let page = self.list_pairs(caller, after, PAGE).await?;
            let ids: Vec<CcPairId> = page.items.iter().map(|seen| seen.pair.id).collect();
            let runs = self.backends().attempts.latest(&ids).await?;
            let now = self.backends().clock.now();
            let views = page.items.into_iter().zip(runs).map(|(seen, runs)| view(seen, runs, now));
            rows.extend(views.filter(|view| filter.admits(view)));
            match page.next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        Ok(by_source(rows, filter))
    }
}

fn view(seen: SeenPair, runs: PairRuns, now: DateTime<Utc>) -> PairStatusView {
    let last = runs.last.map(|run| LastRunView {
        status: run.status,
        documents: run.progress.indexed(),
        pace: Pace::of(&run, runs.last_success.as_ref(), now),
        error: run.error,
    });
    let last_finished = runs.last_finished.map(|run| run.status);
    PairStatusView { seen, last, last_finished }
}

impl StatusFilter {
    fn admits(&self, view: &PairStatusView) -> bool {
        let pair = &view.seen.pair;
        let documents = self.documents.is_none_or(|(comparison, wanted)| {
            let ordering = view.seen.documents.cmp(&wanted);
            match comparison {
                Comparison::Greater => ordering.is_gt(),
                Comparison::Less => ordering.is_lt(),
                Comparison::Equal => ordering.is_eq(),
            }
        });
        let name = self.name.as_ref().map(|name| name.to_lowercase());
        let last = view.last.as_ref().map(|last| last.status);
        documents
            && self.source.is_none_or(|source| source == pair.source)
            && (self.access_types.is_empty() || self.access_types.contains(&pair.access_type))
            && (self.last_statuses.is_empty()
                || last.is_some_and(|last| self.last_statuses.contains(&last)))
            && name.is_none_or(|name| pair.name.to_lowercase().contains(&name))
    }
}

/// Sums and pages; sources by their names, in a source what the caller may change first, then the
/// youngest first.
fn by_source(rows: Vec<PairStatusView>, filter: &StatusFilter) -> Vec<SourceStatusView> {
    let mut sources: BTreeMap<&str, Vec<PairStatusView>> = BTreeMap::new();
    for row in rows {
        sources.entry(row.seen.pair.source.as_str()).or_default().push(row);
    }
    sources.into_values().filter_map(|rows| of_source(rows, filter)).collect()
}

fn of_source(mut rows: Vec<PairStatusView>, filter: &StatusFilter) -> Option<SourceStatusView> {
    let source = rows.first()?.seen.pair.source;
    rows.sort_by_key(|row| (!row.seen.editable, std::cmp::Reverse(row.seen.pair.id)));
    let count = |fits: fn(&SeenPair) -> bool| number(rows.iter().filter(|r| fits(&r.seen)).count());
    let page = filter.pages.get(&source).copied().unwrap_or(1).max(1);
    let (active, public) = (
        count(|seen| seen.pair.status == CcPairStatus::Active),
        count(|seen| seen.pair.access_type == AccessType::Public),
    );
    let mut view = SourceStatusView {
        source,
        connectors: number(rows.len()),
        active,
        public,
        documents: rows.iter().map(|row| row.seen.documents).sum(),
        page,
        pages: number(rows.len().div_ceil(STATUSES_PAGE)),
        items: Vec::new(),
    };
    if filter.unpaged {
        view.items = rows;
        return Some(view);
    }
    let skipped = usize::try_from(page - 1).ok()?.checked_mul(STATUSES_PAGE)?;
    view.items = rows.into_iter().skip(skipped).take(STATUSES_PAGE).collect();
    // A page beyond the last one is no page.
    (!view.items.is_empty()).then_some(view)
}

fn number(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
