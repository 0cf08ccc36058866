//! What every [`CcPairStore`](trove_domain::port::CcPairStore) does.

mod scheduled;

use std::collections::BTreeSet;

use futures::future::{join, join_all};
use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::cc_pair::{AccessType, CcPair, CcPairStatus, PairReader};
use trove_domain::id::{CcPairId, ConnectorId, CredentialId, GroupId};
use trove_domain::port::{AccessChange, PendingState};
use trove_domain::source::DocumentSource;

use crate::builders::document_id;
use crate::stores::{Stores, at, document_ids, mark, new_job, new_pair, registration};

pub use scheduled::*;

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! cc_pair_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            cc_pair_store,
            $start,
            [
                the_default_pair_is_always_there,
                the_default_pair_is_answered_by_its_connector,
                a_missing_pair_is_made_as_given,
                an_existing_pair_is_answered_as_it_is,
                name_and_source_tell_pairs_apart,
                a_name_is_any_text,
                of_concurrent_calls_one_makes_the_pair_and_all_answer_it,
                an_unknown_pair_is_none,
                pairs_are_found_for_those_who_see_them,
                the_list_has_all_but_the_default_pair,
                the_list_is_read_in_pages,
                access_of_a_pair_is_replaced,
                a_change_of_access_marks_the_documents_of_the_pair,
                a_change_of_access_marks_thousands_of_documents,
                a_change_of_access_leaves_removals_alone,
                a_change_of_access_enqueues_its_job,
                a_job_that_waits_already_does_not_hinder_a_change_of_access,
                access_of_an_unknown_pair_changes_nothing,
                a_change_of_access_during_a_registration_is_not_lost,
                a_pair_is_removed_with_the_documents_that_it_alone_holds,
                a_removed_pair_takes_along_what_was_never_indexed,
                a_removed_pair_leaves_its_job_and_its_name,
                neither_the_default_pair_nor_an_unknown_one_is_removed,
                a_scheduled_pair_is_made_as_given,
                what_does_not_fit_is_not_associated,
                of_concurrent_associations_with_one_name_one_is_made,
                a_pair_is_taken_apart_with_its_documents,
                who_sees_a_pair_sees_whether_it_can_be_changed,
                a_scheduled_pair_is_renamed,
                a_scheduled_pair_is_paused_and_goes_on,
                a_pair_gets_another_credential,
            ]
        );
    };
}

fn change(access_type: AccessType, groups: &[GroupId]) -> AccessChange {
    AccessChange { access_type, groups: groups.iter().copied().collect() }
}

async fn set_access(stores: &Stores, pair: CcPairId, change: AccessChange) -> bool {
    stores.pairs.set_access(pair, change, at(1), new_job("sync", "sync")).await.unwrap()
}

/// Nobody has to make it.
pub async fn the_default_pair_is_always_there(stores: &Stores) {
    let pair = stores.pairs.get(CcPair::DEFAULT).await.unwrap().unwrap();
    let expected = CcPair {
        id: CcPairId(1),
        name: "DefaultCCPair".to_owned(),
        connector: ConnectorId(0),
        credential: CredentialId(0),
        source: DocumentSource::IngestionApi,
        access_type: AccessType::Public,
        groups: BTreeSet::new(),
        status: CcPairStatus::Active,
        creator: None,
        created_at: pair.created_at,
    };
    assert_eq!(pair, expected);
}

/// Its connector is called `Ingestion API`.
pub async fn the_default_pair_is_answered_by_its_connector(stores: &Stores) {
    let mut pair = new_pair("Ingestion API", AccessType::Private, &[]);
    pair.source = DocumentSource::IngestionApi;
    let pair = stores.pairs.get_or_insert(pair).await.unwrap();
    assert_eq!((pair.id, pair.access_type), (CcPair::DEFAULT, AccessType::Public));
}

/// And answered by its id from then on.
pub async fn a_missing_pair_is_made_as_given(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let mut new = new_pair("O'Hara's файлы", AccessType::Private, &groups);
    new.creator = Some(ann);
    let pair = stores.pairs.get_or_insert(new.clone()).await.unwrap();
    assert_ne!(pair.id, CcPair::DEFAULT);
    assert_ne!(pair.status, CcPairStatus::Deleting);
    let expected = CcPair {
        id: pair.id,
        name: new.name,
        connector: pair.connector,
        credential: CredentialId(0),
        source: new.source,
        access_type: AccessType::Private,
        groups: new.groups,
        status: pair.status,
        creator: Some(ann),
        created_at: new.created_at,
    };
    assert_eq!(pair, expected);
    assert_eq!(stores.pairs.get(pair.id).await.unwrap(), Some(expected));
}

/// Whatever else the second call asks for.
pub async fn an_existing_pair_is_answered_as_it_is(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let first = new_pair("files", AccessType::Private, &[group]);
    let first = stores.pairs.get_or_insert(first).await.unwrap();
    let mut second = new_pair("files", AccessType::Public, &[]);
    second.created_at = at(100);
    let second = stores.pairs.get_or_insert(second).await.unwrap();
    assert_eq!(second, first);
    assert_eq!(stores.pairs.get(first.id).await.unwrap(), Some(first));
}

/// Together.
pub async fn name_and_source_tell_pairs_apart(stores: &Stores) {
    let files = stores.pair("shared", AccessType::Public, &[]).await;
    let other_name = stores.pair("Shared", AccessType::Public, &[]).await;
    let mut other_source = new_pair("shared", AccessType::Public, &[]);
    other_source.source = DocumentSource::Web;
    let other_source = stores.pairs.get_or_insert(other_source).await.unwrap();
    assert_eq!(other_source.source, DocumentSource::Web);
    assert_eq!(BTreeSet::from([files, other_name, other_source.id]).len(), 3);
}

/// `%` and `_` stand for themselves.
pub async fn a_name_is_any_text(stores: &Stores) {
    let mut pairs = BTreeSet::new();
    let names = ["a_b", "axb", "%", "O'Hara", "\"", "ключ", "日本語", "a\\b", " "];
    for name in names {
        let pair = stores.pair(name, AccessType::Public, &[]).await;
        assert_eq!(stores.pairs.get(pair).await.unwrap().unwrap().name, name);
        pairs.insert(pair);
    }
    assert_eq!(pairs.len(), names.len());
}

/// No call fails because another was first.
pub async fn of_concurrent_calls_one_makes_the_pair_and_all_answer_it(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let calls = (0..8)
        .map(|_| stores.pairs.get_or_insert(new_pair("files", AccessType::Private, &[group])));
    let pairs: Vec<_> = join_all(calls).await.into_iter().map(Result::unwrap).collect();
    assert!(pairs.iter().all(|pair| pair == &pairs[0]));
    assert_eq!(stores.pairs.list(None, 10).await.unwrap().len(), 1);
}

/// Absence is an answer.
pub async fn an_unknown_pair_is_none(stores: &Stores) {
    assert_eq!(stores.pairs.get(CcPairId(4711)).await.unwrap(), None);
}

/// By rising id, as they are got one by one.
pub async fn the_list_has_all_but_the_default_pair(stores: &Stores) {
    assert_eq!(stores.pairs.list(None, 10).await.unwrap(), []);
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let mut expected = Vec::new();
    for (name, groups) in [("z", &groups[..]), ("a", &[]), ("m", &groups[1..])] {
        let pair = stores.pair(name, AccessType::Private, groups).await;
        expected.push(stores.pairs.get(pair).await.unwrap().unwrap());
    }
    assert!(expected.is_sorted_by_key(|pair| pair.id));
    assert_eq!(stores.pairs.list(None, 10).await.unwrap(), expected);
}

/// No pair is left out or repeated, also when one comes in between.
pub async fn the_list_is_read_in_pages(stores: &Stores) {
    let mut expected = Vec::new();
    for n in 0..5 {
        expected.push(stores.pair(&format!("pair {n}"), AccessType::Public, &[]).await);
    }
    assert_eq!(stores.pairs.list(None, 0).await.unwrap(), []);
    let (mut read, mut after) = (Vec::new(), None);
    loop {
        let page = stores.pairs.list(after, 2).await.unwrap();
        let Some(last) = page.last() else { break };
        if read.is_empty() {
            expected.push(stores.pair("late", AccessType::Public, &[]).await);
        }
        after = Some(last.id);
        read.extend(page.into_iter().map(|pair| pair.id));
    }
    assert_eq!(read, expected);
}

/// Type and groups; nothing else.
pub async fn access_of_a_pair_is_replaced(stores: &Stores) {
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let pair = stores.pair("files", AccessType::Private, &groups[..1]).await;
    let before = stores.pairs.get(pair).await.unwrap().unwrap();
    for (access_type, groups) in [
        (AccessType::Private, &groups[..]),
        (AccessType::Private, &groups[1..]),
        (AccessType::Public, &[]),
        (AccessType::Sync, &[]),
    ] {
        let access = change(access_type, groups);
        assert!(set_access(stores, pair, access.clone()).await);
        let after = stores.pairs.get(pair).await.unwrap().unwrap();
        let AccessChange { access_type, groups } = access;
        assert_eq!(after, CcPair { access_type, groups, ..before.clone() });
    }
}

/// Those of other pairs stay as they are.
pub async fn a_change_of_access_marks_the_documents_of_the_pair(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let other = stores.pair("other", AccessType::Public, &[]).await;
    stores.index(other, &["foreign", "shared"]).await;
    stores.index(pair, &["a", "b", "shared"]).await;
    let before = [stores.revision("a").await, stores.revision("foreign").await];
    assert!(stores.dirty().await.is_empty());

    assert!(set_access(stores, pair, change(AccessType::Private, &[group])).await);

    assert_eq!(stores.dirty().await, ["a", "b", "shared"]);
    assert!(stores.revision("a").await > before[0]);
    assert_eq!(stores.revision("foreign").await, before[1]);
    let attributes = stores.documents.attributes(&document_ids(&["a", "shared"])).await.unwrap();
    let private = DocumentAccess::restricted_to([AclTag::group(group)]);
    assert_eq!(attributes[0].as_ref().unwrap().attributes.access, private);
    assert!(attributes[1].as_ref().unwrap().attributes.access.public);
}

/// One step, however many.
pub async fn a_change_of_access_marks_thousands_of_documents(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let ids: Vec<String> = (0..5000).map(|n| format!("document {n:04}")).collect();
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    stores.index(pair, &ids).await;
    assert!(stores.dirty().await.is_empty());
    assert!(set_access(stores, pair, change(AccessType::Private, &[])).await);
    assert_eq!(stores.dirty().await, ids);
}

/// What is to be removed does not come back.
pub async fn a_change_of_access_leaves_removals_alone(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b"]).await;
    stores.documents.begin_removal(&document_ids(&["a"]), at(1)).await.unwrap();
    assert!(set_access(stores, pair, change(AccessType::Private, &[])).await);
    let pending: Vec<_> =
        stores.documents.list_dirty(None, 9).await.unwrap().iter().map(|d| d.pending).collect();
    assert_eq!(pending, [PendingState::Removal, PendingState::Attributes]);
}

/// The job is there when the change is.
pub async fn a_change_of_access_enqueues_its_job(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    assert!(set_access(stores, pair, change(AccessType::Private, &[])).await);
    assert_eq!(stores.claim("sync", at(1)).await.unwrap().kind, "sync");
    assert_eq!(stores.claim("sync", at(1)).await, None);
}

/// One run does the work of both.
pub async fn a_job_that_waits_already_does_not_hinder_a_change_of_access(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let mut job = new_job("sync", "sync");
    job.deduplication_key = Some("sync".to_owned());
    for access_type in [AccessType::Private, AccessType::Sync] {
        let access = change(access_type, &[]);
        assert!(stores.pairs.set_access(pair, access, at(1), job.clone()).await.unwrap());
        assert_eq!(stores.pairs.get(pair).await.unwrap().unwrap().access_type, access_type);
        assert_eq!(stores.jobs.depth("sync").await.unwrap(), 1);
    }
}

/// Not even the job is enqueued.
pub async fn access_of_an_unknown_pair_changes_nothing(stores: &Stores) {
    assert!(!set_access(stores, CcPairId(4711), change(AccessType::Public, &[])).await);
    assert_eq!(stores.jobs.depth("sync").await.unwrap(), 0);
}

/// Either the registration sees the new access, or the document is marked for it.
pub async fn a_change_of_access_during_a_registration_is_not_lost(stores: &Stores) {
    let documents: Vec<_> = (0..50).map(|n| registration(&format!("d{n}"))).collect();
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    for round in 0..10 {
        let pair = stores.pair(&format!("pair {round}"), AccessType::Public, &[]).await;
        let write = async {
            let revisions = stores.documents.register(pair, &documents, at(0)).await.unwrap();
            let written = stores.documents.attributes(&ids).await.unwrap();
            let marks: Vec<_> = ids
                .iter()
                .zip(revisions.unwrap())
                .map(|(id, revision)| mark(id.as_str(), revision))
                .collect();
            stores.documents.mark_indexed(pair, &marks, at(0)).await.unwrap();
            written
        };
        let set = set_access(stores, pair, change(AccessType::Private, &[]));
        let (written, changed) = join(write, set).await;
        assert!(changed);
        let dirty = stores.dirty().await;
        for (id, written) in ids.iter().zip(written) {
            let told = !written.unwrap().attributes.access.public;
            assert!(told || dirty.iter().any(|dirty| dirty == id.as_str()), "{id}");
        }
        stores.documents.unlink(pair, &ids, at(0)).await.unwrap();
    }
    let gone = stores.documents.get(&[document_id("d0")]).await.unwrap();
    assert_eq!(gone, [None]);
}

async fn remove(stores: &Stores, pair: CcPairId) -> bool {
    stores.pairs.remove(pair, at(1), new_job("sync", "sync")).await.unwrap()
}

/// What others hold stays, with their access.
pub async fn a_pair_is_removed_with_the_documents_that_it_alone_holds(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let other = stores.pair("other", AccessType::Private, &[]).await;
    stores.index(other, &["foreign", "shared"]).await;
    stores.index(pair, &["a", "b", "shared"]).await;

    assert!(remove(stores, pair).await);

    assert_eq!(stores.pairs.get(pair).await.unwrap(), None);
    let left = stores.documents.get(&document_ids(&["a", "b"])).await.unwrap();
    assert_eq!(left, [None, None]);
    let dirty = stores.documents.list_dirty(None, 9).await.unwrap();
    let dirty: Vec<_> = dirty.iter().map(|dirty| (dirty.id.as_str(), dirty.pending)).collect();
    let (removal, attributes) = (PendingState::Removal, PendingState::Attributes);
    assert_eq!(dirty, [("a", removal), ("b", removal), ("shared", attributes)]);
    let attributes = stores.documents.attributes(&document_ids(&["shared"])).await.unwrap();
    assert!(!attributes[0].as_ref().unwrap().attributes.access.public);
    assert!(!remove(stores, pair).await, "it is gone");
}

/// An interrupted ingestion leaves such documents.
pub async fn a_removed_pair_takes_along_what_was_never_indexed(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.documents.register(pair, &[registration("a")], at(0)).await.unwrap().unwrap();
    assert!(remove(stores, pair).await);
    assert_eq!(stores.documents.get(&document_ids(&["a"])).await.unwrap(), [None]);
    let due = stores.documents.due_removals(&document_ids(&["a"])).await.unwrap();
    assert_eq!(due.len(), 1);
}

/// The name is free for another pair.
pub async fn a_removed_pair_leaves_its_job_and_its_name(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    assert!(remove(stores, pair).await);
    assert_eq!(stores.claim("sync", at(1)).await.unwrap().kind, "sync");
    let again = stores.pair("files", AccessType::Private, &[]).await;
    assert_ne!(again, pair);
}

/// Not even a job is enqueued.
pub async fn neither_the_default_pair_nor_an_unknown_one_is_removed(stores: &Stores) {
    stores.index(CcPair::DEFAULT, &["posted"]).await;
    assert!(!remove(stores, CcPair::DEFAULT).await);
    assert!(!remove(stores, CcPairId(4711)).await);
    assert!(stores.pairs.get(CcPair::DEFAULT).await.unwrap().is_some());
    assert!(stores.dirty().await.is_empty());
    assert_eq!(stores.jobs.depth("sync").await.unwrap(), 0);
}

/// An administrator sees every one, others what is open, theirs, or their groups'.
pub async fn pairs_are_found_for_those_who_see_them(stores: &Stores) {
    let (ann, bob) = (stores.user("ann@example.com").await, stores.user("bob@example.com").await);
    let group = stores.group("g", &[bob]).await;
    let mut made = new_pair("made", AccessType::Private, &[]);
    made.creator = Some(ann);
    let made = stores.pairs.get_or_insert(made).await.unwrap().id;
    let shared = stores.pair("shared", AccessType::Private, &[group]).await;
    let open = stores.pair("open", AccessType::Sync, &[]).await;
    let ids = [CcPairId(4711), open, shared, made].into();
    let found = async |reader| {
        let pairs = stores.pairs.find_visible(&ids, reader).await.unwrap();
        pairs.into_iter().map(|pair| pair.id).collect::<Vec<_>>()
    };
    assert_eq!(found(PairReader::Administrator).await, [made, shared, open]);
    assert_eq!(found(PairReader::User(ann)).await, [made, open]);
    assert_eq!(found(PairReader::User(bob)).await, [shared, open]);
    let groups = stores.pairs.find_visible(&[shared].into(), PairReader::User(bob)).await.unwrap();
    assert_eq!(groups[0].groups, BTreeSet::from([group]));
}
