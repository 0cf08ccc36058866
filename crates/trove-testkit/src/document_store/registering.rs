//! What a registration does to the registry.

use futures::future::join_all;
use trove_domain::cc_pair::AccessType;
use trove_domain::document::MetadataValue;
use trove_domain::id::CcPairId;
use trove_domain::port::{DocumentRecord, PendingState, Registration};
use trove_domain::source::DocumentSource;

use super::{hash, record};
use crate::builders::document_id;
use crate::stores::{Stores, at, document_ids, registration};

/// A registration in which everything is set, and nothing is plain.
pub(super) fn rich(id: &str) -> Registration {
    let text = |text: &str| text.to_owned();
    Registration {
        id: document_id(id),
        source: DocumentSource::GoogleDrive,
        semantic_identifier: text("O'Hara's отчёт \"100%\"\n日本"),
        link: Some(text("https://example.com/?q=%27a_b%27")),
        metadata: [
            (text("one"), MetadataValue::One(text("O'Hara"))),
            (text("many"), MetadataValue::Many(vec![text("b"), text("a"), text("b"), text("")])),
            (text("single"), MetadataValue::Many(vec![text("x")])),
            (text("none"), MetadataValue::Many(Vec::new())),
            (text("ключ \"%_\\"), MetadataValue::One(String::new())),
        ]
        .into(),
        updated_at: Some(at(7) + chrono::TimeDelta::microseconds(123_456)),
        created_at: Some(at(-100_000_000_000)),
        primary_owners: vec![text("Zoë"), text("Ann O'Hara"), text("Zoë")],
        secondary_owners: vec![text("\"Bob\"")],
        from_ingestion_api: true,
        external_access: None,
        content_changes: true,
    }
}

/// Pending for its attributes, without content yet.
pub async fn a_registered_document_reads_back(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let documents = [rich("https://example.com/a'b%_\\ü?x=1#日本"), registration("plain")];
    let revisions = stores.documents.register(pair, &documents, at(0)).await.unwrap().unwrap();
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    let records = stores.documents.get(&ids).await.unwrap();
    for ((registration, revision), record) in documents.into_iter().zip(revisions).zip(records) {
        let expected = DocumentRecord {
            registration,
            revision,
            pending: Some(PendingState::Attributes),
            content_hash: None,
            embedding_model: None,
            chunk_count: 0,
            cc_pairs: vec![pair],
            indexed_for: Vec::new(),
        };
        assert_eq!(record, Some(expected));
    }
}

/// A pair that has registered it, and was lost then, has it not.
pub async fn who_has_a_document_indexed_is_known(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    stores.index(first, &["a"]).await;
    stores.register(second, &["a"]).await;
    let known = record(stores, "a").await.unwrap();
    assert_eq!((known.cc_pairs, known.indexed_for), (vec![first, second], vec![first]));
    stores.index(second, &["a"]).await;
    assert_eq!(record(stores, "a").await.unwrap().indexed_for, [first, second]);
}

/// Unknown ones as `None`, repeated ones again.
pub async fn documents_are_answered_in_input_order(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let revisions = stores.register(pair, &["b", "a"]).await;
    assert_eq!(revisions.len(), 2);
    let asked = document_ids(&["a", "unknown", "b", "a", "A"]);
    let records = stores.documents.get(&asked).await.unwrap();
    let found: Vec<_> = records
        .iter()
        .map(|record| record.as_ref().map(|record| record.registration.id.as_str()))
        .collect();
    assert_eq!(found, [Some("a"), None, Some("b"), Some("a"), None]);
}

/// For every method.
pub async fn an_empty_batch_is_fine(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let documents = &stores.documents;
    assert_eq!(documents.get(&[]).await.unwrap(), []);
    assert_eq!(documents.register(pair, &[], at(0)).await.unwrap(), Some(Vec::new()));
    assert_eq!(documents.register(CcPairId(4711), &[], at(0)).await.unwrap(), None);
    documents.mark_indexed(pair, &[], at(0)).await.unwrap();
    assert_eq!(documents.attributes(&[]).await.unwrap(), []);
    documents.mark_synced(&[], at(0)).await.unwrap();
    assert_eq!(documents.unlink(pair, &[], at(0)).await.unwrap(), []);
    assert_eq!(documents.begin_removal(&[], at(0)).await.unwrap(), []);
    documents.finish_removal(&[]).await.unwrap();
}

/// No limit of a statement shows.
pub async fn a_batch_of_thousands_is_one_step(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let documents: Vec<_> = (0..5000).map(|n| registration(&format!("document {n}"))).collect();
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    for _ in 0..2 {
        let revisions = stores.documents.register(pair, &documents, at(0)).await.unwrap().unwrap();
        let records = stores.documents.get(&ids).await.unwrap();
        assert_eq!((revisions.len(), records.len()), (5000, 5000));
        for ((id, revision), record) in ids.iter().zip(revisions).zip(records) {
            let record = record.unwrap();
            assert_eq!((&record.registration.id, record.revision), (id, revision));
            assert_eq!(record.cc_pairs, [pair]);
        }
    }
}

/// The answer for it is its revision of the end.
pub async fn of_a_document_twice_in_a_batch_the_last_counts(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let named = |id: &str, name: &str| Registration {
        semantic_identifier: name.to_owned(),
        ..registration(id)
    };
    let batch = [named("a", "first"), named("b", "b"), named("a", "last")];
    let revisions = stores.documents.register(pair, &batch, at(0)).await.unwrap().unwrap();
    let record = record(stores, "a").await.unwrap();
    assert_eq!(record.registration.semantic_identifier, "last");
    assert_eq!((revisions.len(), revisions[2]), (3, record.revision));
    assert_eq!(record.cc_pairs, [pair]);
}

/// Not one document is stored.
pub async fn registering_for_an_unknown_pair_changes_nothing(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    let before = record(stores, "a").await;
    let batch = [registration("a"), registration("b")];
    assert_eq!(stores.documents.register(CcPairId(4711), &batch, at(1)).await.unwrap(), None);
    assert_eq!(record(stores, "a").await, before);
    assert_eq!(record(stores, "b").await, None);
}

/// What is not there any more is forgotten too.
pub async fn registering_again_replaces_everything_and_grows_the_revision(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let plain = registration("a");
    let mut before = 0;
    for registration in [rich("a"), plain.clone(), rich("a"), plain] {
        let batch = [registration.clone()];
        let revisions = stores.documents.register(pair, &batch, at(1)).await.unwrap().unwrap();
        let record = record(stores, "a").await.unwrap();
        assert_eq!(record.registration, registration);
        assert_eq!(record.pending, Some(PendingState::Attributes));
        assert_eq!([record.revision], *revisions);
        assert!(record.revision > before);
        before = record.revision;
    }
}

/// The document belongs to both then.
pub async fn registering_for_another_pair_keeps_the_first_link(stores: &Stores) {
    let first = stores.pair("first", AccessType::Public, &[]).await;
    let second = stores.pair("second", AccessType::Public, &[]).await;
    stores.register(second, &["a"]).await;
    stores.register(first, &["a"]).await;
    stores.register(first, &["a"]).await;
    assert_eq!(record(stores, "a").await.unwrap().cc_pairs, [first, second]);
}

/// With the number of its chunks and its model.
pub async fn unchanged_content_keeps_its_hash(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    let before = record(stores, "a").await.unwrap();
    let again = Registration { content_changes: false, ..rich("a") };
    stores.documents.register(pair, std::slice::from_ref(&again), at(1)).await.unwrap();
    let expected = DocumentRecord {
        registration: again,
        revision: before.revision + 1,
        pending: Some(PendingState::Attributes),
        ..before
    };
    assert!(expected.content_hash.is_some());
    assert_eq!(record(stores, "a").await, Some(expected));
}

/// So that a crash before the next mark does not make old content look current; a batch may hold
/// both kinds.
pub async fn changed_content_forgets_its_hash(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b"]).await;
    let batch = [registration("a"), Registration { content_changes: false, ..registration("b") }];
    stores.documents.register(pair, &batch, at(1)).await.unwrap();
    assert_eq!(hash(stores, "a").await, None);
    assert!(hash(stores, "b").await.is_some());
    assert!(record(stores, "a").await.unwrap().registration.content_changes);
    assert!(!record(stores, "b").await.unwrap().registration.content_changes);
}

/// Whatever the order of their documents, none fails and each grows the revision.
pub async fn concurrent_registrations_of_the_same_documents_all_count(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let forward: Vec<_> = (0..100).map(|n| registration(&format!("d{n}"))).collect();
    let backward: Vec<_> = forward.iter().rev().cloned().collect();
    let calls = (0..8).map(|n| {
        let documents = if n % 2 == 0 { &forward } else { &backward };
        stores.documents.register(pair, documents, at(0))
    });
    let mut revisions: Vec<i64> =
        join_all(calls).await.into_iter().map(|outcome| outcome.unwrap().unwrap()[50]).collect();
    revisions.sort_unstable();
    // Position 50 is d50 or d49: both were registered by all.
    for id in ["d49", "d50"] {
        assert_eq!(record(stores, id).await.unwrap().revision, revisions[0] + 7);
    }
    assert_eq!(revisions.len(), 8);
}
