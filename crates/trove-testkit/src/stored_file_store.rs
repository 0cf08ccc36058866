//! What every [`StoredFileStore`](trove_domain::port::StoredFileStore) does.

use serde_json::json;
use trove_domain::connector::Connector;
use trove_domain::id::{ConnectorId, UserId};
use trove_domain::indexing::IndexingTrigger;
use trove_domain::port::{
    ConnectorRefusal, ConnectorReplacement, FileKey, NewConnector, UserChange, WantedOfPairs,
};
use trove_domain::stored_file::{FileOrigin, StoredFile};

use crate::connector_store::connector_details;
use crate::index_attempt_store::begin;
use crate::pair_task_store::active;
use crate::stores::{Stores, at, new_job};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! stored_file_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            stored_file_store,
            $start,
            [
                a_file_is_stored_as_given,
                what_is_reserved_is_no_file_yet,
                files_are_finished_together_or_not_at_all,
                unfinished_files_are_listed_by_rising_id,
                what_is_forgotten_is_gone,
                a_file_outlasts_its_owner,
                a_connector_gets_its_files_in_one_step,
                a_refused_replacement_finishes_nothing,
                pairs_are_asked_for_what_the_change_of_files_wants,
                idle_files_are_listed_by_rising_id,
                a_file_that_is_kept_is_not_idle,
                what_was_kept_meanwhile_is_not_retired,
                a_retired_file_is_none,
            ]
        );
    };
}

fn key(id: &str) -> FileKey {
    FileKey::new(id).unwrap()
}

fn file(id: &str, owner: Option<UserId>) -> StoredFile {
    StoredFile {
        id: key(id),
        name: "Grüße 世界.txt".to_owned(),
        origin: FileOrigin::Connector,
        mime_type: "text/plain".to_owned(),
        size_bytes: 5_000_000_000,
        owner,
        created_at: at(7),
    }
}

async fn reserve(stores: &Stores, ids: &[&str]) {
    let ids: Vec<FileKey> = ids.iter().map(|id| key(id)).collect();
    stores.files.reserve(&ids, None, at(1)).await.unwrap();
}

async fn found(stores: &Stores, ids: &[&str]) -> Vec<StoredFile> {
    let ids: Vec<FileKey> = ids.iter().map(|id| key(id)).collect();
    let mut found = stores.files.find(&ids).await.unwrap();
    found.sort_by(|a, b| a.id.cmp(&b.id));
    found
}

async fn unfinished(stores: &Stores) -> Vec<String> {
    let listed = stores.files.list_unfinished(None, 100).await.unwrap();
    listed.iter().map(|id| id.as_str().to_owned()).collect()
}

/// Every field of it.
pub async fn a_file_is_stored_as_given(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    let metadata = StoredFile {
        origin: FileOrigin::ConnectorMetadata,
        size_bytes: 0,
        ..file("b", Some(owner))
    };
    let files = [file("a", None), metadata];
    reserve(stores, &["a", "b"]).await;
    assert!(stores.files.finish(&files).await.unwrap());
    assert_eq!(found(stores, &["a", "b", "missing"]).await, files);
    assert!(stores.files.finish(&[]).await.unwrap());
}

/// Nobody can name it.
pub async fn what_is_reserved_is_no_file_yet(stores: &Stores) {
    reserve(stores, &["a"]).await;
    assert_eq!(found(stores, &["a"]).await, []);
    assert_eq!(unfinished(stores).await, ["a"]);
    assert!(stores.files.finish(&[file("a", None)]).await.unwrap());
    assert!(unfinished(stores).await.is_empty());
}

/// And only once.
pub async fn files_are_finished_together_or_not_at_all(stores: &Stores) {
    reserve(stores, &["a"]).await;
    let both = [file("a", None), file("b", None)];
    assert!(!stores.files.finish(&both).await.unwrap());
    assert_eq!(found(stores, &["a", "b"]).await, []);
    assert_eq!(unfinished(stores).await, ["a"]);
    assert!(stores.files.finish(&both[..1]).await.unwrap());
    assert!(!stores.files.finish(&both[..1]).await.unwrap());
}

/// In pages.
pub async fn unfinished_files_are_listed_by_rising_id(stores: &Stores) {
    reserve(stores, &["c", "a", "b"]).await;
    let page = stores.files.list_unfinished(None, 2).await.unwrap();
    assert_eq!(page, [key("a"), key("b")]);
    let page = stores.files.list_unfinished(Some(&page[1]), 2).await.unwrap();
    assert_eq!(page, [key("c")]);
}

/// Whether it was finished or not.
pub async fn what_is_forgotten_is_gone(stores: &Stores) {
    reserve(stores, &["a", "b", "c"]).await;
    assert!(stores.files.finish(&[file("a", None), file("c", None)]).await.unwrap());
    stores.files.forget(&[key("a"), key("b"), key("missing")]).await.unwrap();
    assert_eq!(found(stores, &["a", "b", "c"]).await, [file("c", None)]);
    assert!(unfinished(stores).await.is_empty());
}

/// Connectors read it on.
pub async fn a_file_outlasts_its_owner(stores: &Stores) {
    let owner = stores.user("owner@example.com").await;
    reserve(stores, &["a"]).await;
    assert!(stores.files.finish(&[file("a", Some(owner))]).await.unwrap());
    assert!(stores.set_active(owner, false, at(9)).await.unwrap());
    let removed = stores.users.remove(owner, at(9), new_job("sync", "sync")).await.unwrap();
    assert_eq!(removed, UserChange::Done);
    assert_eq!(found(stores, &["a"]).await, [file("a", None)]);
}

async fn connector(stores: &Stores, name: &str) -> Connector {
    let details = connector_details(name);
    let new = NewConnector { details, indexing_start: None, created_at: at(1) };
    stores.connectors.insert(new).await.unwrap().unwrap()
}

fn naming(connector: &Connector, id: &str) -> ConnectorReplacement {
    let mut details = connector.details.clone();
    details.config.insert("file_locations".to_owned(), json!([id]));
    let (id, present) = (connector.id, connector.details.clone());
    let wanted = WantedOfPairs::default();
    ConnectorReplacement { id, present, details, wanted, now: at(9) }
}

/// Neither names what is not there, nor is there what nobody names.
pub async fn a_connector_gets_its_files_in_one_step(stores: &Stores) {
    let before = connector(stores, "c").await;
    reserve(stores, &["a"]).await;
    let wanted = naming(&before, "a");
    let after = stores.files.finish_into(&[file("a", None)], wanted.clone()).await.unwrap();
    let expected = Connector { details: wanted.details, updated_at: at(9), ..before };
    assert_eq!(after, Ok(expected.clone()));
    assert_eq!(stores.connectors.get(expected.id).await.unwrap(), Some(expected));
    assert_eq!(found(stores, &["a"]).await, [file("a", None)]);
}

/// Whatever is in its way.
pub async fn a_refused_replacement_finishes_nothing(stores: &Stores) {
    let before = connector(stores, "c").await;
    reserve(stores, &["a"]).await;
    let both = [file("a", None), file("b", None)];
    let refused = async |files: &[StoredFile], wanted| {
        stores.files.finish_into(files, wanted).await.unwrap().unwrap_err()
    };
    assert_eq!(refused(&both, naming(&before, "a")).await, ConnectorRefusal::Superseded);
    let mut old = naming(&before, "a");
    old.present.name = "other".to_owned();
    assert_eq!(refused(&both[..1], old).await, ConnectorRefusal::Superseded);
    let missing = ConnectorReplacement { id: ConnectorId(4711), ..naming(&before, "a") };
    assert_eq!(refused(&both[..1], missing).await, ConnectorRefusal::Missing);
    assert_eq!(stores.connectors.get(before.id).await.unwrap(), Some(before));
    assert_eq!(unfinished(stores).await, ["a"]);
}

/// In the same step, so that no crash comes between. Also while a pair runs: what has changed
/// meanwhile is for the run after it.
pub async fn pairs_are_asked_for_what_the_change_of_files_wants(stores: &Stores) {
    let pair = active(stores, "runs", &[]).await;
    let asked = async || {
        let runs = stores.attempts.schedules(None, 100).await.unwrap();
        let trigger = runs.into_iter().find(|(id, _)| *id == pair).unwrap().1.trigger;
        let prunings = stores.tasks.prune_schedules(None, 100).await.unwrap();
        let prune = prunings.iter().any(|(id, how)| *id == pair && how.is_requested);
        (trigger, prune)
    };
    let of = stores.pairs.get(pair).await.unwrap().unwrap().connector;
    let change = async |file_id: &str, update, prune| {
        let present = stores.connectors.get(of).await.unwrap().unwrap();
        reserve(stores, &[file_id]).await;
        let wanted = WantedOfPairs { update, prune };
        let change = ConnectorReplacement { wanted, ..naming(&present, file_id) };
        stores.files.finish_into(&[file(file_id, None)], change).await.unwrap().unwrap();
    };
    change("a", false, false).await;
    assert_eq!(asked().await, (None, false));
    change("b", true, false).await;
    assert_eq!(asked().await, (Some(IndexingTrigger::Update), false));
    change("c", false, true).await;
    assert_eq!(asked().await, (Some(IndexingTrigger::Update), true));
    stores.attempts.set_trigger(&[pair], IndexingTrigger::Reindex).await.unwrap();
    change("d", true, true).await;
    assert_eq!(asked().await, (Some(IndexingTrigger::Reindex), true));
    begin(stores, pair, 4000).await;
    assert_eq!(asked().await.0, None);
    change("e", true, false).await;
    assert_eq!(asked().await.0, Some(IndexingTrigger::Update));
}

/// Those that are: made at 7.
async fn finished(stores: &Stores, ids: &[&str]) {
    reserve(stores, ids).await;
    let files: Vec<StoredFile> = ids.iter().map(|id| file(id, None)).collect();
    assert!(stores.files.finish(&files).await.unwrap());
}

/// What is unfinished is not among them, however old it is.
pub async fn idle_files_are_listed_by_rising_id(stores: &Stores) {
    finished(stores, &["c", "a", "b"]).await;
    reserve(stores, &["0", "d"]).await;
    assert_eq!(stores.files.list_idle(at(7), None, 9).await.unwrap(), []);
    let page = stores.files.list_idle(at(8), None, 2).await.unwrap();
    assert_eq!(page, [key("a"), key("b")]);
    let page = stores.files.list_idle(at(8), Some(&page[1]), 2).await.unwrap();
    assert_eq!(page, [key("c")]);
}

/// For as long as a new one is not.
pub async fn a_file_that_is_kept_is_not_idle(stores: &Stores) {
    finished(stores, &["a", "b"]).await;
    stores.files.keep(&[key("a"), key("missing")], at(20)).await.unwrap();
    assert_eq!(stores.files.list_idle(at(20), None, 9).await.unwrap(), [key("b")]);
    assert_eq!(stores.files.list_idle(at(21), None, 9).await.unwrap(), [key("a"), key("b")]);
    assert_eq!(found(stores, &["a"]).await, [file("a", None)], "nothing else has changed");
}

/// Nor what is new, unfinished or unknown.
pub async fn what_was_kept_meanwhile_is_not_retired(stores: &Stores) {
    finished(stores, &["a", "b", "c"]).await;
    reserve(stores, &["d"]).await;
    let all = [key("a"), key("b"), key("d"), key("missing")];
    assert_eq!(stores.files.retire(&all, at(7)).await.unwrap(), []);
    stores.files.keep(&[key("a")], at(20)).await.unwrap();
    assert_eq!(stores.files.retire(&all, at(20)).await.unwrap(), [key("b")]);
    assert_eq!(stores.files.retire(&all, at(20)).await.unwrap(), [], "once");
    assert_eq!(found(stores, &["a", "b", "c"]).await, [file("a", None), file("c", None)]);
}

/// It is removed like an upload that did not end, and nobody keeps or finishes it.
pub async fn a_retired_file_is_none(stores: &Stores) {
    finished(stores, &["a"]).await;
    assert_eq!(stores.files.retire(&[key("a")], at(8)).await.unwrap(), [key("a")]);
    stores.files.keep(&[key("a")], at(20)).await.unwrap();
    assert_eq!(found(stores, &["a"]).await, []);
    assert_eq!(unfinished(stores).await, ["a"]);
    assert_eq!(stores.files.list_idle(at(99), None, 9).await.unwrap(), []);
    stores.files.forget(&[key("a")]).await.unwrap();
    assert!(unfinished(stores).await.is_empty());
}
