//! How documents leave the registry.

use futures::future::{join, join_all};
use trove_domain::cc_pair::{AccessType, PairReader};
use trove_domain::id::CcPairId;
use trove_domain::port::{DirtyDocument, PendingState, Registration, Unlinked};

use super::{hash, listed, pending, record};
use crate::builders::document_id;
use crate::stores::{Stores, at, document_ids, mark, registration};

pub(super) async fn unlink(stores: &Stores, pair: CcPairId, ids: &[&str]) -> Vec<Unlinked> {
    stores.documents.unlink(pair, &document_ids(ids), at(1)).await.unwrap()
}

async fn begin(stores: &Stores, ids: &[&str]) -> Vec<String> {
    let begun = stores.documents.begin_removal(&document_ids(ids), at(1)).await.unwrap();
    begun.into_iter().map(trove_domain::id::DocumentId::into_string).collect()
}

async fn expect_removal(stores: &Stores, ids: &[&str]) {
    let expected: Vec<_> = document_ids(ids)
        .into_iter()
        .map(|id| DirtyDocument { id, pending: PendingState::Removal })
        .collect();
    assert_eq!(stores.documents.list_dirty(None, 10_000).await.unwrap(), expected);
}

/// It is gone for everybody.
pub async fn an_orphan_is_to_be_removed(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b"]).await;
    assert_eq!(unlink(stores, pair, &["a"]).await, [Unlinked::Orphaned]);
    assert_eq!(record(stores, "a").await, None);
    assert_eq!(listed(stores, pair).await, ["b"]);
    expect_removal(stores, &["a"]).await;
}

/// Its access changed.
pub async fn a_document_that_others_hold_stays(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    stores.index(first, &["a"]).await;
    stores.index(second, &["a"]).await;
    let before = record(stores, "a").await.unwrap();
    assert_eq!(unlink(stores, first, &["a"]).await, [Unlinked::StillHeld]);
    let after = record(stores, "a").await.unwrap();
    assert_eq!(after.pending, Some(PendingState::Attributes));
    assert!(after.revision > before.revision);
    assert_eq!((&after.content_hash, after.cc_pairs), (&before.content_hash, vec![second]));
    assert!(listed(stores, first).await.is_empty());
    assert_eq!(listed(stores, second).await, ["a"]);
    assert_eq!(unlink(stores, second, &["a"]).await, [Unlinked::Orphaned]);
    expect_removal(stores, &["a"]).await;
}

/// Unknown documents, other people's, and those on their way out.
pub async fn unlinking_what_a_pair_does_not_hold_changes_nothing(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    stores.index(first, &["a", "b"]).await;
    begin(stores, &["b"]).await;
    let before = record(stores, "a").await;
    let expected = [Unlinked::NotLinked; 3];
    assert_eq!(unlink(stores, second, &["a", "unknown", "b"]).await, expected);
    assert_eq!(unlink(stores, CcPairId(4711), &["a", "unknown", "b"]).await, expected);
    assert_eq!(unlink(stores, first, &["b"]).await, [Unlinked::NotLinked]);
    assert_eq!(record(stores, "a").await, before);
    expect_removal(stores, &["b"]).await;
}

/// The second time an id occurs, it is not linked any more.
pub async fn unlinking_answers_in_input_order(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    stores.index(first, &["a", "b", "c"]).await;
    stores.index(second, &["b", "d"]).await;
    let outcomes = unlink(stores, first, &["d", "c", "b", "c", "unknown", "a"]).await;
    assert_eq!(
        outcomes,
        [
            Unlinked::NotLinked,
            Unlinked::Orphaned,
            Unlinked::StillHeld,
            Unlinked::NotLinked,
            Unlinked::NotLinked,
            Unlinked::Orphaned,
        ]
    );
}

/// Two pairs that let go at the same time do not leave a document to nobody.
pub async fn of_concurrent_unlinks_the_last_one_orphans(stores: &Stores) {
    let pairs = [
        stores.pair("first", AccessType::Public, &[]).await,
        stores.pair("second", AccessType::Public, &[]).await,
    ];
    let ids = ["a", "b", "c", "d", "e", "f", "g", "h"];
    let backward: Vec<_> = ids.iter().rev().copied().collect();
    for _ in 0..5 {
        for pair in pairs {
            stores.index(pair, &ids).await;
        }
        let (mut first, mut second) =
            join(unlink(stores, pairs[0], &ids), unlink(stores, pairs[1], &backward)).await;
        second.reverse();
        for (first, second) in first.drain(..).zip(second) {
            let outcomes = [first, second];
            assert!(outcomes.contains(&Unlinked::Orphaned), "{outcomes:?}");
            assert!(outcomes.contains(&Unlinked::StillHeld), "{outcomes:?}");
        }
        expect_removal(stores, &ids).await;
    }
}

/// For everything but the list of unfinished work, whatever pairs held it.
pub async fn a_document_to_be_removed_is_gone(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    let posted = Registration { from_ingestion_api: true, ..registration("a") };
    stores.index(first, &["a", "b"]).await;
    stores.documents.register(second, &[posted], at(0)).await.unwrap();
    let revision = stores.revision("a").await;
    stores.documents.mark_indexed(second, &[mark("a", revision)], at(0)).await.unwrap();

    assert_eq!(begin(stores, &["a"]).await, ["a"]);

    assert_eq!(record(stores, "a").await, None);
    assert_eq!(stores.documents.attributes(&[document_id("a")]).await.unwrap(), [None]);
    assert_eq!(listed(stores, first).await, ["b"]);
    assert!(listed(stores, second).await.is_empty());
    let posted = stores
        .documents
        .list_from_ingestion_api(PairReader::Administrator, None, 10)
        .await
        .unwrap();
    assert_eq!(posted.items, []);
    expect_removal(stores, &["a"]).await;
}

/// Whether in two calls or in one; unknown ones are left out.
pub async fn beginning_removal_twice_answers_once(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b", "c"]).await;
    assert_eq!(begin(stores, &["c", "unknown", "a", "c", "a"]).await, ["c", "a"]);
    assert_eq!(begin(stores, &["c", "a"]).await, [""; 0]);
    assert_eq!(begin(stores, &["a", "b"]).await, ["b"]);
    expect_removal(stores, &["a", "b", "c"]).await;
}

/// As if it had never been there.
pub async fn a_finished_removal_forgets_the_document(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b"]).await;
    begin(stores, &["a"]).await;
    unlink(stores, pair, &["b"]).await;
    stores.finish_removal(&["a", "b", "unknown"]).await;
    expect_removal(stores, &[]).await;
    stores.index(pair, &["a"]).await;
    assert_eq!(record(stores, "a").await.unwrap().pending, None);
    assert_eq!(listed(stores, pair).await, ["a"]);
}

/// They are not to be removed.
pub async fn finishing_leaves_other_documents_alone(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["done"]).await;
    stores.register(pair, &["pending"]).await;
    let ids = document_ids(&["done", "pending"]);
    let before = stores.documents.get(&ids).await.unwrap();
    assert_eq!(stores.documents.due_removals(&ids).await.unwrap(), []);
    let revisions: Vec<_> = before.iter().flatten().map(|record| record.revision).collect();
    let guessed: Vec<_> = ids.iter().cloned().zip(revisions).collect();
    stores.documents.finish_removal(&guessed).await.unwrap();
    assert_eq!(stores.documents.get(&ids).await.unwrap(), before);
}

/// What is to be removed is answered as it stands, and only that is forgotten.
pub async fn a_removal_is_finished_at_its_revision_only(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["b", "a", "here"]).await;
    begin(stores, &["a", "b"]).await;
    let ids = document_ids(&["b", "unknown", "a", "b", "here"]);
    let early = stores.documents.due_removals(&ids).await.unwrap();
    let due: Vec<&str> = early.iter().map(|(id, _)| id.as_str()).collect();
    assert_eq!(due, ["a", "b"]);
    // Of two that learnt of the removal one is late: the document came and went again.
    stores.index(pair, &["a"]).await;
    begin(stores, &["a"]).await;
    let late = stores.documents.due_removals(&ids).await.unwrap();
    assert!(late[0].1 > early[0].1);
    stores.documents.finish_removal(&early).await.unwrap();
    expect_removal(stores, &["a"]).await;
    stores.documents.finish_removal(&late).await.unwrap();
    expect_removal(stores, &[]).await;
}

/// So that a write or a removal that is still under way cannot pass for a later one.
pub async fn revisions_go_on_after_a_document_was_forgotten(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    begin(stores, &["a"]).await;
    let due = stores.documents.due_removals(&document_ids(&["a"])).await.unwrap();
    stores.documents.finish_removal(&due).await.unwrap();
    let again = stores.documents.register(pair, &[registration("a")], at(2)).await.unwrap();
    assert!(again.unwrap()[0] > due[0].1);
}

/// Its revisions go on, so that the index never takes the new state for an older one, and what the
/// index held does not count.
pub async fn registering_again_cancels_a_removal(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b"]).await;
    let before = stores.revision("a").await;
    begin(stores, &["a"]).await;
    unlink(stores, pair, &["b"]).await;
    let again = ["a", "b"].map(|id| Registration { content_changes: false, ..registration(id) });
    let revisions = stores.documents.register(pair, &again, at(2)).await.unwrap().unwrap();
    stores.finish_removal(&["a", "b"]).await;
    for (id, revision) in ["a", "b"].into_iter().zip(revisions) {
        // Both the removal and its end were changes.
        assert!(revision > before + 1);
        assert_eq!(stores.revision(id).await, revision);
        assert_eq!(pending(stores, id).await, Some(PendingState::Attributes));
        assert_eq!(hash(stores, id).await, None);
        assert_eq!(record(stores, id).await.unwrap().chunk_count, 0);
    }
    assert!(listed(stores, pair).await.is_empty());
    stores.index(pair, &["a", "b"]).await;
    assert_eq!(listed(stores, pair).await, ["a", "b"]);
    expect_removal(stores, &[]).await;
}

/// Old links are not resurrected.
pub async fn registering_again_after_a_removal_holds_the_new_pair_only(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Private, &[]).await;
    stores.index(first, &["a"]).await;
    begin(stores, &["a"]).await;
    stores.index(second, &["a"]).await;
    assert_eq!(record(stores, "a").await.unwrap().cc_pairs, [second]);
    let known = stores.documents.attributes(&[document_id("a")]).await.unwrap();
    assert!(!known[0].as_ref().unwrap().attributes.access.public);
    assert!(listed(stores, first).await.is_empty());
}

/// Neither of content nor of attributes, whatever their revision.
pub async fn marks_do_not_bring_back_what_is_to_be_removed(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let revision = stores.register(pair, &["a"]).await[0];
    begin(stores, &["a"]).await;
    for revision in revision..revision + 3 {
        stores.documents.mark_indexed(pair, &[mark("a", revision)], at(2)).await.unwrap();
        stores.documents.mark_synced(&[(document_id("a"), revision)], at(2)).await.unwrap();
        expect_removal(stores, &["a"]).await;
        assert_eq!(record(stores, "a").await, None);
    }
    assert!(listed(stores, pair).await.is_empty());
}

/// The content it speaks of is not in the index any more.
pub async fn a_mark_from_before_a_removal_does_not_count_after_it(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let old = stores.register(pair, &["a"]).await[0];
    begin(stores, &["a"]).await;
    let again = Registration { content_changes: false, ..registration("a") };
    stores.documents.register(pair, &[again], at(2)).await.unwrap();
    stores.documents.mark_indexed(pair, &[mark("a", old)], at(3)).await.unwrap();
    assert_eq!(hash(stores, "a").await, None);
    assert_eq!(pending(stores, "a").await, Some(PendingState::Attributes));
    assert!(listed(stores, pair).await.is_empty());
}

/// No limit of a statement shows.
pub async fn thousands_of_documents_are_removed(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let ids: Vec<String> = (0..5000).map(|n| format!("document {n:04}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let (unlinked, begun) = ids.split_at(2500);
    stores.index(pair, &ids).await;
    assert_eq!(unlink(stores, pair, unlinked).await, [Unlinked::Orphaned; 2500]);
    assert_eq!(begin(stores, begun).await, begun);
    expect_removal(stores, &ids).await;
    stores.finish_removal(&ids).await;
    assert!(stores.dirty().await.is_empty());
}

/// A document either is held by a pair or is to be removed.
pub async fn concurrent_registrations_and_removals_leave_a_consistent_document(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let ids = ["a", "b", "c", "d"];
    for round in 0..10 {
        stores.index(pair, &ids).await;
        let register = async {
            stores.register(pair, &ids).await;
        };
        let remove = async {
            if round % 2 == 0 {
                begin(stores, &ids).await;
            } else {
                unlink(stores, pair, &["d", "c", "b", "a"]).await;
            }
            stores.finish_removal(&ids).await;
        };
        join(register, remove).await;
        let records = stores.documents.get(&document_ids(&ids)).await.unwrap();
        let dirty = stores.dirty().await;
        for (id, record) in ids.iter().zip(records) {
            match record {
                Some(record) => assert_eq!(record.cc_pairs, [pair], "{id}"),
                None => assert!(!dirty.contains(&(*id).to_owned()), "{id} was not finished"),
            }
        }
    }
    let calls = (0..4).map(|_| stores.register(pair, &ids));
    join_all(calls).await;
}
