//! How the registry is read in order.

use trove_domain::cc_pair::{AccessType, PairReader};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::page::Page;
use trove_domain::port::{DirtyDocument, DocumentSummary, NewCcPair, PendingState, Registration};

use super::{IN_BYTE_ORDER, listed, record};
use crate::builders::document_id;
use crate::stores::{Stores, at, document_ids, mark, new_pair, registration};

fn ids(items: &[DocumentSummary]) -> Vec<&str> {
    items.iter().map(|item| item.id.as_str()).collect()
}

async fn index_posted(stores: &Stores, pair: CcPairId, ids: &[&str]) {
    let documents: Vec<_> = ids
        .iter()
        .map(|id| Registration { from_ingestion_api: true, ..registration(id) })
        .collect();
    let revisions = stores.documents.register(pair, &documents, at(0)).await.unwrap().unwrap();
    let marks: Vec<_> = ids.iter().zip(revisions).map(|(id, r)| mark(id, r)).collect();
    stores.documents.mark_indexed(pair, &marks, at(0)).await.unwrap();
}

async fn posted(
    stores: &Stores,
    after: Option<&DocumentId>,
    limit: u32,
) -> Page<DocumentSummary, DocumentId> {
    stores.documents.list_from_ingestion_api(PairReader::Administrator, after, limit).await.unwrap()
}

/// The order of ids, which is that of their bytes.
pub async fn unfinished_work_is_listed_by_rising_id(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let backward: Vec<_> = IN_BYTE_ORDER.iter().rev().copied().collect();
    stores.index(pair, &["settled"]).await;
    stores.register(pair, &backward).await;
    stores.documents.begin_removal(&document_ids(&["A", "日本"]), at(1)).await.unwrap();
    let expected: Vec<_> = document_ids(&IN_BYTE_ORDER)
        .into_iter()
        .map(|id| {
            let removed = ["A", "日本"].contains(&id.as_str());
            let pending = if removed { PendingState::Removal } else { PendingState::Attributes };
            DirtyDocument { id, pending }
        })
        .collect();
    assert!(expected.is_sorted_by(|a, b| a.id < b.id));
    assert_eq!(stores.documents.list_dirty(None, 100).await.unwrap(), expected);
}

/// Nothing is left out when what was read is settled meanwhile.
pub async fn unfinished_work_is_read_in_pages(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.register(pair, &IN_BYTE_ORDER).await;
    assert_eq!(stores.documents.list_dirty(None, 0).await.unwrap(), []);
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let page = stores.documents.list_dirty(after.as_ref(), 5).await.unwrap();
        let Some(last) = page.last() else { break };
        after = Some(last.id.clone());
        for document in page {
            let revision = stores.revision(document.id.as_str()).await;
            stores.documents.mark_synced(&[(document.id.clone(), revision)], at(1)).await.unwrap();
            read.push(document.id.into_string());
        }
    }
    assert_eq!(read, IN_BYTE_ORDER);
    assert!(stores.dirty().await.is_empty());
}

/// Those that only were registered are not among them.
pub async fn a_pair_lists_its_indexed_documents_by_rising_id(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let other = stores.pair("other", AccessType::Public, &[]).await;
    let backward: Vec<_> = IN_BYTE_ORDER.iter().rev().copied().collect();
    stores.index(pair, &backward).await;
    stores.register(pair, &["registered"]).await;
    stores.index(other, &["foreign", "a"]).await;
    assert_eq!(listed(stores, pair).await, IN_BYTE_ORDER);
    assert_eq!(listed(stores, other).await, ["a", "foreign"]);
    assert!(listed(stores, CcPairId(4711)).await.is_empty());
}

/// Stable while documents come and go.
pub async fn a_list_of_a_pair_is_read_in_pages(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["b", "d", "f", "h"]).await;
    let first = stores.documents.list_by_pair(pair, None, 2).await.unwrap();
    assert_eq!(ids(&first.items), ["b", "d"]);
    assert_eq!(first.next, Some(document_id("d")));
    // One before, one after, and the place itself is gone.
    stores.index(pair, &["a", "g"]).await;
    stores.documents.unlink(pair, &document_ids(&["d"]), at(1)).await.unwrap();
    let second = stores.documents.list_by_pair(pair, first.next.as_ref(), 2).await.unwrap();
    assert_eq!(ids(&second.items), ["f", "g"]);
    let third = stores.documents.list_by_pair(pair, second.next.as_ref(), 2).await.unwrap();
    assert_eq!(ids(&third.items), ["h"]);
    assert_eq!(third.next, None);
    let beyond = document_id("h");
    let beyond = stores.documents.list_by_pair(pair, Some(&beyond), 2).await.unwrap();
    assert_eq!((beyond.items, beyond.next), (Vec::new(), None));
}

/// Also when it is full.
pub async fn the_last_page_says_so(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    index_posted(stores, pair, &["a", "b", "c", "d"]).await;
    for limit in [2, 4, 5] {
        let mut page = stores.documents.list_by_pair(pair, None, limit).await.unwrap();
        let mut read = page.items.len();
        while let Some(next) = page.next {
            page = stores.documents.list_by_pair(pair, Some(&next), limit).await.unwrap();
            assert!(!page.items.is_empty());
            read += page.items.len();
        }
        assert_eq!(read, 4);
        assert_eq!(posted(stores, None, limit).await.next.is_none(), limit >= 4);
    }
}

/// Only those, of whatever pair.
pub async fn posted_documents_are_listed_by_rising_id(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let backward: Vec<_> = IN_BYTE_ORDER.iter().rev().copied().collect();
    let (first, second) = backward.split_at(6);
    index_posted(stores, pair, first).await;
    index_posted(stores, trove_domain::cc_pair::CcPair::DEFAULT, second).await;
    stores.index(pair, &["fetched"]).await;
    let only_registered = Registration { from_ingestion_api: true, ..registration("registered") };
    stores.documents.register(pair, &[only_registered], at(0)).await.unwrap();
    assert_eq!(ids(&posted(stores, None, 100).await.items), IN_BYTE_ORDER);
    // The last ingestion says what a document is.
    stores.index(pair, &["A"]).await;
    index_posted(stores, pair, &["fetched"]).await;
    let listed = posted(stores, None, 100).await;
    assert!(!ids(&listed.items).contains(&"A"));
    assert!(ids(&listed.items).contains(&"fetched"));
}

/// Stable while documents come and go.
pub async fn a_list_of_posted_documents_is_read_in_pages(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    index_posted(stores, pair, &["b", "d", "f"]).await;
    let first = posted(stores, None, 2).await;
    assert_eq!(ids(&first.items), ["b", "d"]);
    index_posted(stores, pair, &["a", "e"]).await;
    stores.documents.begin_removal(&document_ids(&["d"]), at(1)).await.unwrap();
    let second = posted(stores, first.next.as_ref(), 2).await;
    assert_eq!(ids(&second.items), ["e", "f"]);
    assert_eq!(second.next, None);
}

/// While its new content is on its way too.
pub async fn a_list_shows_name_and_link_of_now(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    index_posted(stores, pair, &["a"]).await;
    let renamed = Registration {
        semantic_identifier: "O'Hara's отчёт".to_owned(),
        link: Some("https://example.com".to_owned()),
        from_ingestion_api: true,
        ..registration("a")
    };
    stores.documents.register(pair, std::slice::from_ref(&renamed), at(1)).await.unwrap();
    let expected = DocumentSummary {
        id: renamed.id,
        semantic_identifier: renamed.semantic_identifier,
        link: renamed.link,
    };
    let page = stores.documents.list_by_pair(pair, None, 10).await.unwrap();
    assert_eq!(page.items, std::slice::from_ref(&expected));
    assert_eq!(posted(stores, None, 10).await.items, [expected]);
    assert_eq!(record(stores, "a").await.unwrap().content_hash, None);
}

/// The pairs that are open, that they made, and that are shared with a group of theirs.
pub async fn posted_documents_are_listed_for_those_who_see_a_pair_of_theirs(stores: &Stores) {
    let (maker, member) =
        (stores.user("maker@example.com").await, stores.user("member@example.com").await);
    let group = stores.group("members", &[member]).await;
    let other = stores.group("others", &[]).await;
    let public = stores.pair("public", AccessType::Public, &[other]).await;
    let synced = stores.pair("synced", AccessType::Sync, &[]).await;
    let shared = stores.pair("shared", AccessType::Private, &[group, other]).await;
    let foreign = stores.pair("foreign", AccessType::Private, &[other]).await;
    let unshared = stores.pair("unshared", AccessType::Private, &[]).await;
    let made = NewCcPair { creator: Some(maker), ..new_pair("made", AccessType::Private, &[]) };
    let made = stores.pairs.get_or_insert(made).await.unwrap().id;
    for (pair, id) in [
        (public, "public"),
        (synced, "synced"),
        (shared, "shared"),
        (foreign, "foreign"),
        (unshared, "unshared"),
        (made, "made"),
        (shared, "both"),
        (foreign, "both"),
    ] {
        index_posted(stores, pair, &[id]).await;
    }
    // Registered for a pair that one sees, and indexed for another.
    let half = Registration { from_ingestion_api: true, ..registration("foreign") };
    stores.documents.register(public, &[half], at(1)).await.unwrap();
    let listed = async |reader| {
        let page = stores.documents.list_from_ingestion_api(reader, None, 100).await.unwrap();
        page.items.into_iter().map(|item| item.id.into_string()).collect::<Vec<_>>()
    };
    assert_eq!(listed(PairReader::User(maker)).await, ["made", "public", "synced"]);
    assert_eq!(listed(PairReader::User(member)).await, ["both", "public", "shared", "synced"]);
    assert_eq!(
        listed(PairReader::Administrator).await,
        ["both", "foreign", "made", "public", "shared", "synced", "unshared"]
    );
    // Whoever leaves the group sees no more of it.
    stores.members(group, &[]).await;
    assert_eq!(listed(PairReader::User(member)).await, ["public", "synced"]);
}
