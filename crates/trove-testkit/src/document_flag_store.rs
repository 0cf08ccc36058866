//! What every [`DocumentFlagStore`](trove_domain::port::DocumentFlagStore) does.

use trove_domain::access::{Caller, Role};
use trove_domain::cc_pair::AccessType;
use trove_domain::id::DocumentId;
use trove_domain::port::{DocumentFlag, SyncState};

use crate::stores::{Stores, caller, new_job, start_of_time};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! document_flag_store_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            document_flag_store,
            $start,
            [
                a_decision_is_kept_and_makes_the_document_dirty,
                a_decision_outlasts_ingestion,
                what_is_not_ones_own_is_like_nothing,
                documents_are_listed_by_boost,
                what_the_index_does_not_know_is_told,
            ]
        );
    };
}

fn id(id: &str) -> DocumentId {
    DocumentId::new(id).unwrap()
}

async fn administrator(stores: &Stores) -> Caller {
    caller(
        stores.user_with("admin@example.com", Role::Admin).await,
        "admin@example.com",
        Role::Admin,
    )
}

async fn set(stores: &Stores, editor: &Caller, document: &str, flag: DocumentFlag) -> bool {
    let job = new_job("q", "k");
    stores.flags.set_flag(editor, &id(document), flag, start_of_time(), job).await.unwrap()
}

async fn listed(stores: &Stores, editor: &Caller, ascending: bool) -> Vec<(String, i32, bool)> {
    let listed = stores.flags.list_by_boost(editor, ascending, 10).await.unwrap();
    listed.into_iter().map(|one| (one.id.into_string(), one.boost, one.hidden)).collect()
}

/// For its attributes alone.
pub async fn a_decision_is_kept_and_makes_the_document_dirty(stores: &Stores) {
    let admin = administrator(stores).await;
    let pair = stores.pair("p", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    let before = stores.revision("a").await;
    assert!(set(stores, &admin, "a", DocumentFlag::Boost(-3)).await);
    assert!(set(stores, &admin, "a", DocumentFlag::Hidden(true)).await);
    assert_eq!(listed(stores, &admin, true).await, [("a".to_owned(), -3, true)]);
    assert_eq!(
        (stores.dirty().await, stores.revision("a").await),
        (vec!["a".to_owned()], before + 2)
    );
    let attributes = stores.documents.attributes(&[id("a")]).await.unwrap().remove(0).unwrap();
    assert_eq!((attributes.attributes.boost, attributes.attributes.hidden), (-3, true));
    let record = stores.documents.get(&[id("a")]).await.unwrap().remove(0).unwrap();
    assert!(record.content_hash.is_some(), "nothing is embedded again");
    assert!(stores.claim("q", start_of_time()).await.is_some(), "somebody is to tell the index");
}

/// Row 91: also what is hidden stays hidden.
pub async fn a_decision_outlasts_ingestion(stores: &Stores) {
    let admin = administrator(stores).await;
    let pair = stores.pair("p", AccessType::Public, &[]).await;
    stores.index(pair, &["a"]).await;
    assert!(set(stores, &admin, "a", DocumentFlag::Hidden(true)).await);
    assert!(set(stores, &admin, "a", DocumentFlag::Boost(7)).await);
    stores.index(pair, &["a"]).await;
    assert_eq!(listed(stores, &admin, false).await, [("a".to_owned(), 7, true)]);
}

/// To curators what is in pairs of groups that they control.
pub async fn what_is_not_ones_own_is_like_nothing(stores: &Stores) {
    let admin = administrator(stores).await;
    let user = stores.user_with("curator@example.com", Role::GlobalCurator).await;
    let curator = caller(user, "curator@example.com", Role::GlobalCurator);
    let group = stores.group("g", &[user]).await;
    let own = stores.pair("own", AccessType::Private, &[group]).await;
    let other = stores.pair("other", AccessType::Public, &[]).await;
    stores.index(own, &["a", "both"]).await;
    stores.index(other, &["b", "both"]).await;
    assert!(!set(stores, &curator, "b", DocumentFlag::Boost(1)).await);
    assert!(!set(stores, &curator, "nothing", DocumentFlag::Boost(1)).await);
    assert!(!set(stores, &admin, "nothing", DocumentFlag::Hidden(true)).await);
    assert!(set(stores, &curator, "a", DocumentFlag::Boost(1)).await);
    assert!(set(stores, &curator, "both", DocumentFlag::Boost(2)).await);
    let expected = [("both".to_owned(), 2, false), ("a".to_owned(), 1, false)];
    assert_eq!(listed(stores, &curator, false).await, expected);
    assert_eq!(listed(stores, &admin, false).await.len(), 3);
    stores.documents.begin_removal(&[id("a")], start_of_time()).await.unwrap();
    assert!(!set(stores, &curator, "a", DocumentFlag::Boost(3)).await, "it is on its way out");
}

/// Then by name, and as many as asked for.
pub async fn documents_are_listed_by_boost(stores: &Stores) {
    let admin = administrator(stores).await;
    let pair = stores.pair("p", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b", "c", "d"]).await;
    assert!(set(stores, &admin, "b", DocumentFlag::Boost(5)).await);
    assert!(set(stores, &admin, "d", DocumentFlag::Boost(-5)).await);
    let ids = async |ascending, limit| {
        let listed = stores.flags.list_by_boost(&admin, ascending, limit).await.unwrap();
        listed.into_iter().map(|one| one.id.into_string()).collect::<Vec<_>>()
    };
    assert_eq!(ids(true, 10).await, ["d", "a", "c", "b"]);
    assert_eq!(ids(false, 3).await, ["b", "a", "c"]);
    assert!(ids(false, 0).await.is_empty());
}

/// Page by page.
pub async fn what_the_index_does_not_know_is_told(stores: &Stores) {
    let admin = administrator(stores).await;
    let pair = stores.pair("p", AccessType::Public, &[]).await;
    let other = stores.pair("other", AccessType::Public, &[]).await;
    stores.index(pair, &["a", "b", "c"]).await;
    stores.index(other, &["d"]).await;
    stores.register(pair, &["never indexed"]).await;
    assert!(set(stores, &admin, "b", DocumentFlag::Boost(5)).await);
    let mut states: Vec<SyncState> = Vec::new();
    let mut after = None;
    loop {
        let page = stores.flags.list_sync_states(pair, after.as_ref(), 2).await.unwrap();
        states.extend(page.items);
        match page.next {
            Some(next) => after = Some(next),
            None => break,
        }
    }
    let states: Vec<(&str, bool)> =
        states.iter().map(|state| (state.id.as_str(), state.is_synced)).collect();
    assert_eq!(states, [("a", true), ("b", false), ("c", true)]);
}
