//! What sources say of who may read.

use std::collections::BTreeSet;

use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::cc_pair::AccessType;
use trove_domain::external_access::{ExternalAccess, ExternalGroup};
use trove_domain::id::CcPairId;
use trove_domain::port::{AccessChange, Registration};
use trove_domain::source::DocumentSource;

use super::access::access;
use crate::builders::document_id;
use crate::stores::{Stores, at, document_ids, new_job, registration};

fn group(id: &str) -> ExternalGroup {
    ExternalGroup::new(DocumentSource::Jira, id)
}

fn told(users: &[&str], groups: &[&str], is_public: bool) -> ExternalAccess {
    ExternalAccess::new(users, groups.iter().map(|id| group(id)), is_public)
}

async fn register(stores: &Stores, pair: CcPairId, id: &str, access: Option<ExternalAccess>) {
    let document = Registration { external_access: access, ..registration(id) };
    stores.documents.register(pair, &[document], at(0)).await.unwrap().unwrap();
}

async fn stored(stores: &Stores, pair: CcPairId, id: &str) -> Option<ExternalAccess> {
    let ids = [document_id(id)];
    stores.documents.external_access(pair, &ids).await.unwrap().unwrap().remove(0)
}

/// Rows 87 and 89: people, groups of its source, nobody else.
pub async fn documents_of_a_sync_pair_are_for_whom_their_source_names(stores: &Stores) {
    let inside = stores.group("inside", &[]).await;
    let pair = stores.pair("files", AccessType::Sync, &[inside]).await;
    register(stores, pair, "a", Some(told(&["Ann@example.com"], &["Engineering"], false))).await;
    register(stores, pair, "open", Some(told(&[], &[], true))).await;
    register(stores, pair, "closed", Some(told(&[], &[], false))).await;
    let expected = DocumentAccess::restricted_to([
        AclTag::user_email("ann@example.com"),
        AclTag::external_group(pair, "jira_engineering"),
    ]);
    assert_eq!(access(stores, "a").await, expected);
    assert_eq!(access(stores, "open").await, DocumentAccess::public());
    assert_eq!(access(stores, "closed").await, DocumentAccess::restricted_to([]));
}

/// Only what is said anew replaces it.
pub async fn a_registration_that_says_nothing_of_access_keeps_it(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Sync, &[]).await;
    assert_eq!(stored(stores, pair, "a").await, None);
    let first = told(&["ann@example.com"], &["g"], false);
    register(stores, pair, "a", Some(first.clone())).await;
    register(stores, pair, "a", None).await;
    assert_eq!(stored(stores, pair, "a").await, Some(first));
    let second = told(&["bob@example.com"], &[], false);
    register(stores, pair, "a", Some(second.clone())).await;
    assert_eq!(stored(stores, pair, "a").await, Some(second));
    let expected = DocumentAccess::restricted_to([AclTag::user_email("bob@example.com")]);
    assert_eq!(access(stores, "a").await, expected);
    let ids = document_ids(&["unknown", "a"]);
    let both = stores.documents.external_access(pair, &ids).await.unwrap().unwrap();
    assert_eq!((both[0].is_none(), both[1].is_some()), (true, true));
}

/// Row 67: a source cannot open what the pair does not leave to it.
pub async fn a_pair_that_does_not_leave_access_to_its_source_keeps_none(stores: &Stores) {
    for kind in [AccessType::Private, AccessType::Public] {
        let pair = stores.pair(kind.as_str(), kind, &[]).await;
        register(stores, pair, kind.as_str(), Some(told(&["ann@example.com"], &[], true))).await;
        let ids = [document_id(kind.as_str())];
        assert_eq!(stores.documents.external_access(pair, &ids).await.unwrap(), None);
    }
    assert_eq!(access(stores, "private").await, DocumentAccess::restricted_to([]));
    assert_eq!(access(stores, "public").await, DocumentAccess::public());
    let none = stores.documents.external_access(CcPairId(4711), &[]).await.unwrap();
    assert_eq!(none, None);
}

/// Row 90: a document has what each of its pairs gives it, and loses it with the pair.
pub async fn external_access_goes_with_the_link(stores: &Stores) {
    let group = stores.group("inside", &[]).await;
    let pairs = [
        stores.pair("first", AccessType::Sync, &[]).await,
        stores.pair("second", AccessType::Sync, &[]).await,
        stores.pair("private", AccessType::Private, &[group]).await,
        stores.pair("public", AccessType::Public, &[]).await,
    ];
    register(stores, pairs[0], "a", Some(told(&["ann@example.com"], &[], false))).await;
    register(stores, pairs[1], "a", Some(told(&["bob@example.com"], &[], false))).await;
    register(stores, pairs[2], "a", None).await;
    let (ann, bob) = (AclTag::user_email("ann@example.com"), AclTag::user_email("bob@example.com"));
    let inside = AclTag::group(group);
    let all = [ann, bob.clone(), inside.clone()];
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to(all.clone()));
    register(stores, pairs[3], "a", None).await;
    let everybody = DocumentAccess { public: true, ..DocumentAccess::restricted_to(all) };
    assert_eq!(access(stores, "a").await, everybody);
    let ids = [document_id("a")];
    for pair in [pairs[3], pairs[0]] {
        stores.documents.unlink(pair, &ids, at(1)).await.unwrap();
    }
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to([bob, inside.clone()]));
    // It does not come back with the link.
    stores.documents.unlink(pairs[1], &ids, at(2)).await.unwrap();
    register(stores, pairs[1], "a", None).await;
    assert_eq!(stored(stores, pairs[1], "a").await, None);
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to([inside]));
}

/// A document of two pairs carries the groups of both, and each is told apart.
pub async fn groups_of_a_document_are_those_of_its_pairs(stores: &Stores) {
    let pairs = [
        stores.pair("first", AccessType::Sync, &[]).await,
        stores.pair("second", AccessType::Sync, &[]).await,
    ];
    for pair in pairs {
        register(stores, pair, "a", Some(told(&[], &["g"], false))).await;
    }
    let tags = pairs.map(|pair| group("g").tag(pair));
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to(tags.clone()));
    stores.documents.unlink(pairs[0], &[document_id("a")], at(1)).await.unwrap();
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to([tags[1].clone()]));
}

/// It does not come back when the pair asks its source again.
pub async fn external_access_ends_when_the_source_is_asked_no_more(stores: &Stores) {
    let pair = stores.pair("a", AccessType::Sync, &[]).await;
    let other = stores.pair("b", AccessType::Sync, &[]).await;
    for pair in [pair, other] {
        register(stores, pair, "a", Some(told(&["ann@example.com"], &["g"], false))).await;
    }
    for access_type in [AccessType::Private, AccessType::Sync] {
        let change = AccessChange { access_type, groups: BTreeSet::new() };
        let job = new_job("sync", "sync_documents");
        assert!(stores.pairs.set_access(pair, change, at(1), job).await.unwrap());
    }
    assert_eq!(stored(stores, pair, "a").await, None);
    let left = [AclTag::user_email("ann@example.com"), group("g").tag(other)];
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to(left));
}

/// Of hundreds in one step.
pub async fn external_access_of_many_documents_is_kept(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Sync, &[]).await;
    let of = |n: usize| told(&[&format!("{n}@example.com")], &["G"], n.is_multiple_of(2));
    let documents: Vec<Registration> = (0..1_201)
        .map(|n| Registration {
            external_access: Some(of(n)),
            ..registration(&format!("document {n}"))
        })
        .collect();
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    stores.documents.register(pair, &documents, at(0)).await.unwrap().unwrap();
    let known = stores.documents.external_access(pair, &ids).await.unwrap().unwrap();
    for (n, known) in known.into_iter().enumerate() {
        assert_eq!(known, Some(of(n)));
    }
}
