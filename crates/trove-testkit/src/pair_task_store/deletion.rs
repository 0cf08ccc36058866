//! Deletions.

use futures::future::join;
use trove_domain::cc_pair::CcPairStatus;
use trove_domain::document::DocumentAttributes;
use trove_domain::id::{ConnectorId, CredentialId};
use trove_domain::indexing::StopReason;
use trove_domain::indexing::task::TaskKind;
use trove_domain::port::{
    Control, NewConnector, NewCredential, NewScheduledPair, PairRefusal, TaskEnd, Unlinked,
};
use uuid::Uuid;

use super::{
    MINUTE, active, delete, list, missing, prune, refusals, run, schedule, status, take, task,
    unlink,
};
use crate::connector_store::connector_details;
use crate::credential_store::credential_details;
use crate::index_attempt_store::{begin, claim, scheduled};
use crate::stores::{Stores, at, caller, document_ids, new_job, registration};

/// And nothing takes it back.
pub async fn a_pair_is_deleted_from_any_status(stores: &Stores) {
    for (pair, refusal) in refusals(stores).await {
        let job = new_job("sync", "sync");
        assert_eq!(stores.tasks.begin_deletion(pair, at(0), job).await.unwrap(), Err(refusal));
    }
    let waits = scheduled(stores, "waits").await;
    let paused = active(stores, "paused", &[]).await;
    stores.pairs.set_paused(paused, true, at(1)).await.unwrap().unwrap();
    stores.tasks.request_prune(paused, true).await.unwrap().unwrap();
    let runs = active(stores, "runs", &[]).await;
    for pair in [waits, paused, runs] {
        delete(stores, pair, 2).await;
        assert_eq!(status(stores, pair).await, CcPairStatus::Deleting);
        let task = task(stores, pair).await.unwrap();
        assert_eq!((task.kind, task.created_at), (TaskKind::Deletion, at(2)));
        assert!(stores.pairs.set_paused(pair, false, at(3)).await.unwrap().is_err());
        assert_eq!(schedule(stores, pair).await, None);
    }
}

/// Whether or not somebody works on it.
pub async fn a_deletion_stops_the_run_of_the_pair(stores: &Stores) {
    let (works, waits) = (scheduled(stores, "a").await, scheduled(stores, "b").await);
    begin(stores, works, 0).await;
    let attempt = claim(stores, 0).await;
    begin(stores, waits, 0).await;
    for pair in [works, waits] {
        delete(stores, pair, 1).await;
    }
    let control = stores.attempts.heartbeat(&attempt, at(2), MINUTE).await.unwrap();
    assert_eq!(control, Control::Stop(StopReason::Deleting));
    let waited = stores.attempts.list(waits, 0, 1).await.unwrap().items.remove(0);
    assert!(waited.status.is_finished());
    assert_eq!(waited.error.as_deref(), Some("Canceled by user"));
}

/// With what the index may not know yet.
pub async fn a_deletion_replaces_a_pruning(stores: &Stores) {
    let pair = active(stores, "a", &["x", "y"]).await;
    prune(stores, pair, 1).await;
    let pruning = take(stores, 1).await;
    list(stores, &pruning, &["y"], 2).await;
    unlink(stores, &pruning, &["x"]).await.unwrap();
    delete(stores, pair, 3).await;
    assert!(!stores.tasks.heartbeat(&pruning, at(4), MINUTE).await.unwrap());
    let deletion = take(stores, 4).await;
    assert_eq!((deletion.task.kind, deletion.claim), (TaskKind::Deletion, 1));
    assert_eq!(deletion.unlinked, document_ids(&["x"]));
    assert_eq!(missing(stores, &deletion).await, ["y"]);
}

/// Nobody waits for the pause after a failure who asks again.
pub async fn a_deletion_that_is_asked_for_again_is_tried_at_once(stores: &Stores) {
    let pair = active(stores, "a", &["x"]).await;
    delete(stores, pair, 1).await;
    let first = take(stores, 1).await;
    delete(stores, pair, 2).await;
    assert!(stores.tasks.heartbeat(&first, at(2), MINUTE).await.unwrap(), "it goes on");
    stores.tasks.put_back(&first, "no index", at(9999), at(3)).await.unwrap();
    assert_eq!(stores.tasks.claim(at(4), MINUTE, 9).await.unwrap(), []);
    delete(stores, pair, 5).await;
    let again = take(stores, 5).await;
    assert_eq!((again.task.id, again.task.tries), (first.task.id, 1));
}

/// So that nothing comes back, and nobody reads by it.
pub async fn a_pair_that_is_being_deleted_is_not_there_for_documents(stores: &Stores) {
    let other = active(stores, "b", &["both"]).await;
    let pair = active(stores, "a", &["both", "own"]).await;
    delete(stores, pair, 1).await;
    let new = [registration("new"), registration("own")];
    assert_eq!(stores.documents.register(pair, &new, at(2)).await.unwrap(), None);
    let records = stores.documents.get(&document_ids(&["both", "own", "new"])).await.unwrap();
    assert_eq!(records[0].as_ref().unwrap().cc_pairs, [other]);
    assert_eq!(records[1].as_ref().unwrap().cc_pairs, []);
    assert_eq!(records[2], None);
    let attributes = stores.documents.attributes(&document_ids(&["both", "own"])).await.unwrap();
    let public = |attributes: DocumentAttributes| attributes.access.public;
    let public = attributes.into_iter().map(|known| public(known.unwrap().attributes));
    assert_eq!(public.collect::<Vec<_>>(), [true, false]);
}

/// Long before their turn to be taken away comes; those of other pairs stay as they are.
pub async fn a_deletion_marks_the_documents_of_the_pair(stores: &Stores) {
    let other = active(stores, "b", &["both", "foreign"]).await;
    let pair = active(stores, "a", &["both", "own"]).await;
    assert!(stores.dirty().await.is_empty());
    let before = stores.revision("own").await;
    delete(stores, pair, 1).await;
    assert_eq!(stores.dirty().await, ["both", "own"]);
    assert!(stores.revision("own").await > before);
    assert_eq!(stores.claim("sync", at(1)).await.unwrap().kind, "sync");
    let held = stores.documents.get(&document_ids(&["both"])).await.unwrap().remove(0);
    assert_eq!(held.unwrap().cc_pairs, [other]);
    // Asked for again, it has nothing more to say of them.
    let revision = stores.revision("own").await;
    delete(stores, pair, 2).await;
    assert_eq!(stores.revision("own").await, revision);
}

/// Not before all of them were taken from it.
pub async fn a_pair_with_documents_is_not_gone(stores: &Stores) {
    let pair = active(stores, "a", &["x", "y"]).await;
    run(stores, pair, 1).await;
    delete(stores, pair, 1).await;
    let deletion = take(stores, 1).await;
    let store = &stores.tasks;
    assert_eq!(store.finish(&deletion, &[], at(2)).await.unwrap(), TaskEnd::Unfinished);
    assert_eq!(missing(stores, &deletion).await, ["x", "y"]);
    let taken = unlink(stores, &deletion, &["x", "y"]).await.unwrap();
    assert_eq!(taken, [Unlinked::Orphaned; 2]);
    assert_eq!(store.finish(&deletion, &[], at(3)).await.unwrap(), TaskEnd::Done);
    assert_eq!(stores.pairs.get(pair).await.unwrap(), None);
    assert_eq!(stores.attempts.list(pair, 0, 9).await.unwrap().total, 0);
    assert_eq!(task(stores, pair).await, None);
    assert_eq!(stores.dirty().await, ["x", "y"], "what the index has to be told");
    assert_eq!(store.finish(&deletion, &[], at(4)).await.unwrap(), TaskEnd::Lost);
}

async fn credential(stores: &Stores) -> CredentialId {
    let uuid = Uuid::from_u64_pair(0x0193_0000_0000_7000, stores.next());
    let details = credential_details("c");
    let new = NewCredential { uuid, details, owner: None, created_at: at(0) };
    stores.credentials.insert(new).await.unwrap().unwrap().id
}

async fn connector(stores: &Stores, name: &str) -> ConnectorId {
    let details = connector_details(name);
    let new = NewConnector { details, indexing_start: None, created_at: at(0) };
    stores.connectors.insert(new).await.unwrap().unwrap().id
}

/// Row 21: credentials stay.
pub async fn a_deleted_pair_takes_its_connector_along_unless_another_one_needs_it(stores: &Stores) {
    let connector = connector(stores, "c").await;
    let mut pairs = Vec::new();
    for name in ["a", "b"] {
        let credential = credential(stores).await;
        let new = NewScheduledPair {
            name: name.to_owned(),
            connector,
            credential,
            access_type: trove_domain::cc_pair::AccessType::Private,
            groups: [].into(),
            auto_sync_options: None,
            creator: None,
            created_at: at(0),
        };
        pairs.push(stores.pairs.associate(new).await.unwrap().unwrap());
    }
    for (pair, connectors_left) in pairs.into_iter().zip([true, false]) {
        delete(stores, pair.id, 1).await;
        let deletion = take(stores, 1).await;
        assert_eq!(stores.tasks.finish(&deletion, &[], at(2)).await.unwrap(), TaskEnd::Done);
        assert_eq!(stores.pairs.get(pair.id).await.unwrap(), None);
        let left = stores.connectors.get(connector).await.unwrap();
        assert_eq!(left.is_some(), connectors_left);
        assert!(stores.credentials.get(pair.credential).await.unwrap().is_some());
    }
}

/// It would go with the others.
pub async fn a_connector_that_goes_gets_no_other_pair(stores: &Stores) {
    let connector = connector(stores, "c").await;
    let new = async |name: &str| NewScheduledPair {
        name: name.to_owned(),
        connector,
        credential: credential(stores).await,
        access_type: trove_domain::cc_pair::AccessType::Private,
        groups: [].into(),
        auto_sync_options: None,
        creator: None,
        created_at: at(0),
    };
    let first = new("a").await;
    let (a, again) = (stores.pairs.associate(first.clone()).await.unwrap().unwrap(), first);
    let b = stores.pairs.associate(new("b").await).await.unwrap().unwrap();
    delete(stores, a.id, 1).await;
    // Another one is there still, with which it stays.
    let third = new("third").await;
    let c = stores.pairs.associate(third).await.unwrap().unwrap();
    for pair in [b.id, c.id] {
        delete(stores, pair, 2).await;
    }
    for new in [new("d").await, NewScheduledPair { name: "e".to_owned(), ..again }] {
        let refused = stores.pairs.associate(new).await.unwrap();
        assert_eq!(refused, Err(PairRefusal::Deleting));
    }
}

/// Whoever is second takes it away.
pub async fn two_deletions_share_a_document(stores: &Stores) {
    let (a, b) = (active(stores, "a", &["x"]).await, active(stores, "b", &["x"]).await);
    for pair in [a, b] {
        delete(stores, pair, 1).await;
    }
    let claimed = stores.tasks.claim(at(1), MINUTE, 9).await.unwrap();
    let (first, second) =
        join(unlink(stores, &claimed[0], &["x"]), unlink(stores, &claimed[1], &["x"])).await;
    let mut taken = [first.unwrap()[0], second.unwrap()[0]];
    taken.sort_unstable_by_key(|taken| *taken == Unlinked::Orphaned);
    assert_eq!(taken, [Unlinked::StillHeld, Unlinked::Orphaned]);
    for claimed in &claimed {
        assert_eq!(stores.tasks.finish(claimed, &[], at(2)).await.unwrap(), TaskEnd::Done);
    }
}

/// Until it goes on.
pub async fn a_deletion_that_fails_says_why(stores: &Stores) {
    let admin = stores.user("admin@example.com").await;
    let admin = caller(admin, "admin@example.com", trove_domain::access::Role::Admin);
    let (pair, pruned) = (active(stores, "a", &["x"]).await, active(stores, "b", &[]).await);
    let failure = async |pair| {
        let seen = stores.pairs.find_seen(&admin, pair).await.unwrap().unwrap();
        seen.deletion_failure
    };
    delete(stores, pair, 1).await;
    let deletion = take(stores, 1).await;
    stores.tasks.put_back(&deletion, "no\0index", at(5), at(2)).await.unwrap();
    assert_eq!(failure(pair).await.as_deref(), Some("no\u{fffd}index"));
    let deletion = take(stores, 5).await;
    assert_eq!(failure(pair).await.as_deref(), Some("no\u{fffd}index"));
    unlink(stores, &deletion, &["x"]).await.unwrap();
    assert_eq!(failure(pair).await, None);
    prune(stores, pruned, 6).await;
    let pruning = take(stores, 6).await;
    stores.tasks.put_back(&pruning, "no source", at(9), at(6)).await.unwrap();
    assert_eq!(failure(pruned).await, None);
}
