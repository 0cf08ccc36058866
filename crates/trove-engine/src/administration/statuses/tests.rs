use chrono::DateTime;
use trove_domain::cc_pair::{AccessType, CcPair, CcPairStatus, SeenPair};
use trove_domain::id::{CcPairId, ConnectorId, CredentialId};
use trove_domain::indexing::{AttemptStatus, Pace};
use trove_domain::source::DocumentSource;

use super::{Comparison, LastRunView, PairStatusView, SourceStatusView, StatusFilter, by_source};

fn pair(id: i32, source: DocumentSource) -> PairStatusView {
    let pair = CcPair {
        id: CcPairId(id),
        name: format!("Pair {id}"),
        connector: ConnectorId(id),
        credential: CredentialId(id),
        source,
        access_type: AccessType::Public,
        groups: [].into(),
        status: CcPairStatus::Active,
        creator: None,
        created_at: DateTime::UNIX_EPOCH,
    };
    let seen = SeenPair {
        pair,
        editable: true,
        scheduled: true,
        in_repeated_error_state: false,
        documents: u64::try_from(id).unwrap(),
        last_successful_index_at: None,
        last_pruned_at: None,
        deletion_failure: None,
        creator_email: None,
    };
    PairStatusView { seen, last: None, last_finished: None }
}

fn listed(rows: Vec<PairStatusView>, filter: &StatusFilter) -> Vec<SourceStatusView> {
    by_source(rows.into_iter().filter(|row| filter.admits(row)).collect(), filter)
}

fn ids(sources: &[SourceStatusView]) -> Vec<i32> {
    sources.iter().flat_map(|source| &source.items).map(|row| row.seen.pair.id.0).collect()
}

#[test]
fn sources_are_sorted_and_what_may_be_changed_stands_first() {
    let mut rows = vec![pair(1, DocumentSource::Web), pair(2, DocumentSource::File)];
    rows.extend([pair(3, DocumentSource::Web), pair(4, DocumentSource::Web)]);
    rows[3].seen.editable = false;
    let sources = listed(rows, &StatusFilter::default());
    assert_eq!(ids(&sources), [2, 3, 1, 4]);
    assert_eq!((sources[1].connectors, sources[1].documents, sources[1].pages), (3, 8, 1));
}

#[test]
fn row_45_a_page_beyond_the_end_is_left_out_and_pages_begin_with_one() {
    let rows: Vec<_> = (1..=11).map(|id| pair(id, DocumentSource::Web)).collect();
    let page = |page| StatusFilter {
        pages: [(DocumentSource::Web, page)].into(),
        ..StatusFilter::default()
    };
    assert_eq!(ids(&listed(rows.clone(), &page(2))), [1]);
    for first in [1, 0, -5, i64::MIN] {
        assert_eq!(ids(&listed(rows.clone(), &page(first))).len(), 10, "{first}");
    }
    for beyond in [3, i64::MAX] {
        assert_eq!(listed(rows.clone(), &page(beyond)), [], "{beyond}");
    }
    let all = StatusFilter { unpaged: true, ..page(3) };
    let sources = listed(rows, &all);
    assert_eq!((ids(&sources).len(), sources[0].pages, sources[0].page), (11, 2, 3));
}

#[test]
fn rows_46_to_48_filters_and_sums() {
    let mut rows = vec![pair(0, DocumentSource::Web), pair(5, DocumentSource::Web)];
    rows[1].seen.pair.status = CcPairStatus::InitialIndexing;
    rows[1].seen.pair.access_type = AccessType::Private;
    let status = AttemptStatus::Failed;
    rows[1].last = Some(LastRunView { status, documents: 1, pace: Pace::default(), error: None });
    let none = StatusFilter::default();
    let sources = listed(rows.clone(), &none);
    assert_eq!((sources[0].active, sources[0].public, sources[0].connectors), (1, 1, 2));
    let check = |filter: StatusFilter, wanted: &[i32]| {
        assert_eq!(ids(&listed(rows.clone(), &filter)), wanted, "{filter:?}");
    };
    let documents =
        |comparison, count| StatusFilter { documents: Some((comparison, count)), ..none.clone() };
    check(documents(Comparison::Equal, 0), &[0]);
    check(documents(Comparison::Greater, 0), &[5]);
    check(documents(Comparison::Less, 5), &[0]);
    check(StatusFilter { last_statuses: [status].into(), ..none.clone() }, &[5]);
    let success = [AttemptStatus::Success].into();
    check(StatusFilter { last_statuses: success, ..none.clone() }, &[]);
    check(StatusFilter { access_types: [AccessType::Private].into(), ..none.clone() }, &[5]);
    check(StatusFilter { name: Some("PAIR 5".to_owned()), ..none.clone() }, &[5]);
    check(StatusFilter { name: Some(String::new()), ..none.clone() }, &[5, 0]);
    check(StatusFilter { source: Some(DocumentSource::File), ..none }, &[]);
}
