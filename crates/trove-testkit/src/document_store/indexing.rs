//! How work on a document ends: its content or its attributes reached the index.

use std::collections::BTreeSet;

use trove_domain::cc_pair::{AccessType, PairReader};
use trove_domain::port::{AccessChange, IndexedMark, PendingState, Registration};

use super::{hash, listed, pending, record};
use crate::builders::document_id;
use crate::stores::{Stores, at, mark, new_job, registration};

/// And what it was indexed with is known.
pub async fn an_indexed_document_has_no_work_left(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let revisions = stores.register(pair, &["a", "b"]).await;
    let marked = IndexedMark {
        id: document_id("a"),
        revision: revisions[0],
        content_hash: "hash".to_owned(),
        chunk_count: 42,
        embedding_model: Some("model".to_owned()),
    };
    stores.documents.mark_indexed(pair, &[marked], at(1)).await.unwrap();
    let record = record(stores, "a").await.unwrap();
    assert_eq!((record.pending, record.chunk_count), (None, 42));
    assert_eq!(record.content_hash.as_deref(), Some("hash"));
    assert_eq!(record.embedding_model.as_deref(), Some("model"));
    assert!(!record.registration.content_changes);
    assert_eq!(stores.dirty().await, ["b"]);
    assert_eq!(listed(stores, pair).await, ["a"]);
}

/// The content counts; what changed since is still to be told to the index.
pub async fn a_mark_of_an_old_revision_leaves_the_attributes_pending(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let old = stores.register(pair, &["a"]).await[0];
    let unchanged = Registration { content_changes: false, ..registration("a") };
    stores.documents.register(pair, &[unchanged], at(1)).await.unwrap();
    stores.documents.mark_indexed(pair, &[mark("a", old)], at(2)).await.unwrap();
    assert_eq!(pending(stores, "a").await, Some(PendingState::Attributes));
    assert_eq!(hash(stores, "a").await, Some(format!("a at {old}")));
    assert_eq!(listed(stores, pair).await, ["a"]);
}

/// Another process may have written them while the document was not yet there to be written to.
pub async fn a_late_mark_leaves_newer_attributes_to_be_written(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Private, &[]).await;
    let old = stores.register(pair, &["a"]).await[0];
    let change = AccessChange { access_type: AccessType::Public, groups: BTreeSet::new() };
    let job = new_job("sync", "sync");
    assert!(stores.pairs.set_access(pair, change, at(1), job).await.unwrap());
    let new = record(stores, "a").await.unwrap().revision;
    assert!(new > old);
    stores.documents.mark_synced(&[(document_id("a"), new)], at(2)).await.unwrap();
    assert_eq!(pending(stores, "a").await, None);
    stores.documents.mark_indexed(pair, &[mark("a", old)], at(3)).await.unwrap();
    assert_eq!(pending(stores, "a").await, Some(PendingState::Attributes));
}

/// A writer that was overtaken by one with newer content must not leave its hash: should the newer
/// one crash, the index may hold the newer content.
pub async fn a_late_mark_does_not_make_old_content_look_current(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let old = stores.register(pair, &["a"]).await[0];
    let new = stores.register(pair, &["a"]).await[0];
    stores.documents.mark_indexed(pair, &[mark("a", old)], at(1)).await.unwrap();
    assert_eq!(hash(stores, "a").await, None);
    assert_eq!(pending(stores, "a").await, Some(PendingState::Attributes));
    stores.documents.mark_indexed(pair, &[mark("a", new)], at(1)).await.unwrap();
    assert_eq!(hash(stores, "a").await, Some(format!("a at {new}")));
    stores.documents.mark_indexed(pair, &[mark("a", old)], at(1)).await.unwrap();
    assert_eq!(hash(stores, "a").await, Some(format!("a at {new}")));
    assert_eq!(pending(stores, "a").await, None);
}

/// The others of the batch count.
pub async fn marks_of_unknown_documents_are_ignored(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let revision = stores.register(pair, &["b"]).await[0];
    let marks = [mark("a", 1), mark("b", revision), mark("c", 1)];
    stores.documents.mark_indexed(pair, &marks, at(1)).await.unwrap();
    assert_eq!(record(stores, "a").await, None);
    assert_eq!(pending(stores, "b").await, None);
    assert_eq!(listed(stores, pair).await, ["b"]);
}

/// Also when another has done so before.
pub async fn each_pair_has_a_document_indexed_for_itself(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    let unlinked = stores.pair("unlinked", AccessType::Public, &[]).await;
    stores.index(first, &["a"]).await;
    let revision = stores.register(second, &["a"]).await[0];
    assert!(listed(stores, second).await.is_empty());
    stores.documents.mark_indexed(second, &[mark("a", revision)], at(1)).await.unwrap();
    stores.documents.mark_indexed(unlinked, &[mark("a", revision)], at(1)).await.unwrap();
    assert_eq!(listed(stores, first).await, ["a"]);
    assert_eq!(listed(stores, second).await, ["a"]);
    assert!(listed(stores, unlinked).await.is_empty());
    assert_eq!(record(stores, "a").await.unwrap().cc_pairs, [first, second]);
}

/// Absence is recorded, in place of what was there.
pub async fn a_document_without_vectors_or_chunks_is_indexed(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    let posted = Registration { from_ingestion_api: true, ..registration("a") };
    let revision = stores.documents.register(pair, &[posted], at(0)).await.unwrap().unwrap()[0];
    let bare = IndexedMark { chunk_count: 0, embedding_model: None, ..mark("a", revision) };
    stores.documents.mark_indexed(pair, &[bare], at(1)).await.unwrap();
    let record = record(stores, "a").await.unwrap();
    assert_eq!((record.chunk_count, record.embedding_model, record.pending), (0, None, None));
    assert_eq!(listed(stores, pair).await, ["a"]);
    let posted = stores
        .documents
        .list_from_ingestion_api(PairReader::Administrator, None, 10)
        .await
        .unwrap();
    assert_eq!(posted.items.len(), 1);
}

/// A repetition after a crash changes nothing.
pub async fn a_document_is_marked_again_with_the_same_revision(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    let before = record(stores, "a").await.unwrap();
    let again = [mark("a", before.revision), mark("a", before.revision)];
    stores.documents.mark_indexed(pair, &again, at(5)).await.unwrap();
    assert_eq!(record(stores, "a").await, Some(before));
}

/// No limit of a statement shows.
pub async fn thousands_of_marks_are_one_step(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let ids: Vec<String> = (0..5000).map(|n| format!("document {n:04}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    let revisions = stores.register(pair, &ids).await;
    let marks: Vec<_> = ids.iter().zip(revisions).map(|(id, r)| mark(id, r)).collect();
    stores.documents.mark_indexed(pair, &marks, at(1)).await.unwrap();
    assert!(stores.dirty().await.is_empty());
    assert_eq!(listed(stores, pair).await, ids);
    assert!(hash(stores, "document 4999").await.unwrap().starts_with("document 4999 at "));
}

/// The documents stay; what the index held of them does not count.
pub async fn forgotten_content_counts_as_changed(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b"]).await;
    let late = mark("a", stores.revision("a").await);
    stores.register(pair, &["never indexed"]).await;
    assert_eq!(stores.documents.forget_contents(at(1)).await.unwrap(), 2);
    for id in ["a", "b"] {
        let known = record(stores, id).await.unwrap();
        assert_eq!((known.content_hash, known.chunk_count), (None, 0));
    }
    stores.documents.mark_indexed(pair, &[late], at(2)).await.unwrap();
    assert_eq!(hash(stores, "a").await, None, "a mark from before does not count");
    assert_eq!(stores.documents.forget_contents(at(3)).await.unwrap(), 0);
    stores.index(pair, &["a"]).await;
    assert!(hash(stores, "a").await.is_some());
}

/// Until something changes again.
pub async fn a_synced_document_has_no_work_left(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let revisions = stores.register(pair, &["a", "b", "c"]).await;
    let synced = [
        (document_id("c"), revisions[2]),
        (document_id("unknown"), 1),
        (document_id("a"), revisions[0]),
    ];
    stores.documents.mark_synced(&synced, at(1)).await.unwrap();
    assert_eq!(stores.dirty().await, ["b"]);
    assert_eq!(record(stores, "unknown").await, None);
    stores.register(pair, &["a"]).await;
    assert_eq!(stores.dirty().await, ["a", "b"]);
}

/// What changed since is still to be told to the index.
pub async fn a_sync_of_an_old_revision_is_ignored(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let old = stores.register(pair, &["a"]).await[0];
    let new = stores.register(pair, &["a"]).await[0];
    stores.documents.mark_synced(&[(document_id("a"), old)], at(1)).await.unwrap();
    assert_eq!(pending(stores, "a").await, Some(PendingState::Attributes));
    stores.documents.mark_synced(&[(document_id("a"), new + 1)], at(1)).await.unwrap();
    assert_eq!(pending(stores, "a").await, Some(PendingState::Attributes));
    stores.documents.mark_synced(&[(document_id("a"), new)], at(1)).await.unwrap();
    assert_eq!(pending(stores, "a").await, None);
}

/// Content is another matter than attributes.
pub async fn syncing_keeps_what_indexing_recorded(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    let before = record(stores, "a").await.unwrap();
    let unchanged = Registration { content_changes: false, ..registration("a") };
    let revision = stores.documents.register(pair, &[unchanged], at(1)).await.unwrap().unwrap()[0];
    stores.documents.mark_synced(&[(document_id("a"), revision)], at(2)).await.unwrap();
    let mut after = record(stores, "a").await.unwrap();
    after.revision = before.revision;
    assert_eq!(after, before);
    assert_eq!(listed(stores, pair).await, ["a"]);
}
