//! What the index must say of a document.

use std::collections::BTreeSet;

use trove_domain::access::{AclTag, DocumentAccess};
use trove_domain::cc_pair::AccessType;
use trove_domain::document::DocumentAttributes;
use trove_domain::port::Registration;

use super::registering::rich;
use super::{record, removal};
use crate::builders::document_id;
use crate::stores::{Stores, at, document_ids, registration};

pub(super) async fn access(stores: &Stores, id: &str) -> DocumentAccess {
    let mut attributes = stores.documents.attributes(&[document_id(id)]).await.unwrap();
    attributes.pop().unwrap().unwrap().attributes.access
}

/// Boost and visibility begin neutral.
pub async fn attributes_are_what_was_registered(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    let documents = [rich("rich"), registration("plain")];
    stores.documents.register(pair, &documents, at(0)).await.unwrap();
    let attributes = stores.documents.attributes(&document_ids(&["rich", "plain"])).await.unwrap();
    for (registered, known) in documents.into_iter().zip(attributes) {
        let Registration {
            id: _,
            source,
            semantic_identifier,
            link: _,
            metadata,
            updated_at,
            created_at,
            primary_owners,
            secondary_owners,
            from_ingestion_api: _,
            external_access: _,
            content_changes: _,
        } = registered;
        let expected = DocumentAttributes {
            semantic_identifier,
            source,
            access: DocumentAccess::public(),
            document_sets: BTreeSet::new(),
            hidden: false,
            boost: 0,
            metadata,
            updated_at,
            created_at,
            primary_owners,
            secondary_owners,
        };
        assert_eq!(known.unwrap().attributes, expected);
    }
}

/// Of now, whatever is pending.
pub async fn attributes_have_the_revision_of_the_document(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    for _ in 0..2 {
        let known = stores.documents.attributes(&[document_id("a")]).await.unwrap();
        assert_eq!(known[0].as_ref().unwrap().revision, stores.revision("a").await);
        stores.register(pair, &["a"]).await;
    }
}

/// Unknown ones as `None`, repeated ones again.
pub async fn attributes_are_answered_in_input_order(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.register(pair, &["b", "a"]).await;
    let asked = document_ids(&["a", "unknown", "b", "a", "A"]);
    let known = stores.documents.attributes(&asked).await.unwrap();
    let names: Vec<_> = known
        .iter()
        .map(|known| known.as_ref().map(|known| known.attributes.semantic_identifier.as_str()))
        .collect();
    assert_eq!(names, [Some("a"), None, Some("b"), Some("a"), None]);
}

/// Whatever groups the pair was once shared with.
pub async fn documents_of_a_public_pair_are_public(stores: &Stores) {
    let pair = stores.pair("files", AccessType::Public, &[]).await;
    stores.register(pair, &["a"]).await;
    assert_eq!(access(stores, "a").await, DocumentAccess::public());
}

/// One tag for each; without groups nobody reads them.
pub async fn documents_of_a_private_pair_are_for_its_groups(stores: &Stores) {
    let groups = [stores.group("a", &[]).await, stores.group("b", &[]).await];
    let shared = stores.pair("shared", AccessType::Private, &groups).await;
    let closed = stores.pair("closed", AccessType::Private, &[]).await;
    stores.register(shared, &["shared"]).await;
    stores.register(closed, &["closed"]).await;
    let expected = DocumentAccess::restricted_to(groups.map(AclTag::group));
    assert_eq!(access(stores, "shared").await, expected);
    assert_eq!(access(stores, "closed").await, DocumentAccess::restricted_to([]));
}

/// Row 88: nobody, its groups as little as the owner of its credential (row 89).
pub async fn documents_of_a_sync_pair_are_for_nobody_yet(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let pair = stores.pair("files", AccessType::Sync, &[group]).await;
    stores.register(pair, &["a"]).await;
    assert_eq!(access(stores, "a").await, DocumentAccess::restricted_to([]));
}

/// Each document of a batch for itself.
pub async fn access_is_the_union_over_the_pairs(stores: &Stores) {
    let groups =
        [stores.group("a", &[]).await, stores.group("b", &[]).await, stores.group("c", &[]).await];
    let first = stores.pair("first", AccessType::Private, &groups[..2]).await;
    let second = stores.pair("second", AccessType::Private, &groups[1..]).await;
    let sync = stores.pair("sync", AccessType::Sync, &[]).await;
    let public = stores.pair("public", AccessType::Public, &[]).await;
    stores.register(first, &["1", "12", "1s", "12p"]).await;
    stores.register(second, &["12", "12p"]).await;
    stores.register(sync, &["1s"]).await;
    stores.register(public, &["12p"]).await;
    let ids = document_ids(&["12p", "1s", "12", "1"]);
    let known = stores.documents.attributes(&ids).await.unwrap();
    let known: Vec<_> = known.into_iter().map(|known| known.unwrap().attributes.access).collect();
    let tags = |range: &[_]| range.iter().map(|group| AclTag::group(*group)).collect();
    let expected = [(true, 0..3), (false, 0..2), (false, 0..3), (false, 0..2)]
        .map(|(public, range)| DocumentAccess { public, tags: tags(&groups[range]) });
    assert_eq!(known, expected);
}

/// Of now.
pub async fn access_follows_the_pairs_that_hold_the_document(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let private = stores.pair("private", AccessType::Private, &[group]).await;
    let public = stores.pair("public", AccessType::Public, &[]).await;
    let restricted = DocumentAccess::restricted_to([AclTag::group(group)]);
    stores.register(private, &["a"]).await;
    assert_eq!(access(stores, "a").await, restricted);
    stores.register(public, &["a"]).await;
    assert!(access(stores, "a").await.public);
    removal::unlink(stores, public, &["a"]).await;
    assert_eq!(access(stores, "a").await, restricted);
    assert_eq!(record(stores, "a").await.unwrap().cc_pairs, [private]);
}

/// No limit of a statement shows.
pub async fn thousands_of_attributes_are_answered(stores: &Stores) {
    let group = stores.group("g", &[]).await;
    let pair = stores.pair("files", AccessType::Private, &[group]).await;
    let documents: Vec<_> = (0..5000).map(|n| registration(&format!("document {n}"))).collect();
    let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
    stores.documents.register(pair, &documents, at(0)).await.unwrap();
    let known = stores.documents.attributes(&ids).await.unwrap();
    assert_eq!(known.len(), 5000);
    for (id, known) in ids.iter().zip(known) {
        let attributes = known.unwrap().attributes;
        assert_eq!(attributes.semantic_identifier, id.as_str());
        assert_eq!(attributes.access, DocumentAccess::restricted_to([AclTag::group(group)]));
    }
}
