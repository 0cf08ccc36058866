//! What every [`SearchHistory`](trove_domain::port::SearchHistory) does.

use trove_domain::id::UserId;
use trove_domain::port::SEARCHES_KEPT;
use trove_domain::search_history::RecordedSearch;
use uuid::Uuid;

use crate::stores::{Stores, at};

/// Turns the suite into one test for each obligation. `$start` is a future of an `Option` of
/// something that dereferences to [`Stores`].
#[macro_export]
macro_rules! search_history_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            search_history,
            $start,
            [
                a_search_is_kept_as_it_is,
                searches_come_newest_first,
                repeated_searches_are_all_kept,
                users_see_their_own_searches_only,
                a_list_is_limited_and_begins_when_asked,
                the_latest_searches_of_a_user_are_kept,
                a_search_of_nobody_is_not_kept,
            ]
        );
    };
}

fn search(query: &str, seconds: i64) -> RecordedSearch {
    RecordedSearch { query: query.to_owned(), expansions: Vec::new(), created_at: at(seconds) }
}

async fn record(stores: &Stores, user: UserId, queries: &[(&str, i64)]) {
    for (query, seconds) in queries {
        stores.searches.record(user, search(query, *seconds)).await.unwrap();
    }
}

async fn queries(stores: &Stores, user: UserId, limit: u32, since: Option<i64>) -> Vec<String> {
    let list = stores.searches.list(user, limit, since.map(at)).await.unwrap();
    list.into_iter().map(|search| search.query).collect()
}

/// Every character but NUL, which PostgreSQL cannot hold.
pub async fn a_search_is_kept_as_it_is(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let mut search = search("Отчёт \"O'Hara\" 100% \\ \n🎉", 1);
    search.expansions = vec!["a, b".to_owned(), "[\"c\"]".to_owned()];
    stores.searches.record(ann, search.clone()).await.unwrap();
    assert_eq!(stores.searches.list(ann, 10, None).await.unwrap(), [search]);
    record(stores, ann, &[("", 2), ("a\0b", 3)]).await;
    assert_eq!(queries(stores, ann, 2, None).await, ["a\u{fffd}b", ""]);
}

/// Of the same instant the last one first.
pub async fn searches_come_newest_first(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    record(stores, ann, &[("b", 2), ("c", 2), ("a", 1), ("d", 3)]).await;
    assert_eq!(queries(stores, ann, 10, None).await, ["d", "c", "b", "a"]);
}

/// Each is a search.
pub async fn repeated_searches_are_all_kept(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    record(stores, ann, &[("a", 1), ("a", 1), ("a", 2)]).await;
    assert_eq!(queries(stores, ann, 10, None).await, ["a", "a", "a"]);
}

/// However alike.
pub async fn users_see_their_own_searches_only(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    record(stores, ann, &[("by ann", 1)]).await;
    record(stores, bob, &[("by bob", 2)]).await;
    assert_eq!(queries(stores, ann, 10, None).await, ["by ann"]);
    assert_eq!(queries(stores, bob, 10, None).await, ["by bob"]);
}

/// What happened at the beginning of the span belongs to it.
pub async fn a_list_is_limited_and_begins_when_asked(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    record(stores, ann, &[("a", 1), ("b", 2), ("c", 3)]).await;
    assert_eq!(queries(stores, ann, 2, None).await, ["c", "b"]);
    assert_eq!(queries(stores, ann, 9, Some(2)).await, ["c", "b"]);
    assert_eq!(queries(stores, ann, 1, Some(2)).await, ["c"]);
    assert!(queries(stores, ann, 9, Some(4)).await.is_empty());
    assert!(queries(stores, ann, 0, None).await.is_empty());
}

/// And not many more; those of others do not count.
pub async fn the_latest_searches_of_a_user_are_kept(stores: &Stores) {
    let ann = stores.user("ann@example.com").await;
    let bob = stores.user("bob@example.com").await;
    record(stores, bob, &[("by bob", 0)]).await;
    for number in 0..SEARCHES_KEPT + 60 {
        let search = search(&number.to_string(), i64::from(number));
        stores.searches.record(ann, search).await.unwrap();
    }
    let kept = queries(stores, ann, 2 * SEARCHES_KEPT, None).await;
    let kept_count = u32::try_from(kept.len()).unwrap();
    assert!((SEARCHES_KEPT..SEARCHES_KEPT + 50).contains(&kept_count), "{kept_count}");
    assert_eq!(kept[0], (SEARCHES_KEPT + 59).to_string());
    assert_eq!(queries(stores, bob, 10, None).await, ["by bob"]);
}

/// Nor is it an error: the user was deleted meanwhile.
pub async fn a_search_of_nobody_is_not_kept(stores: &Stores) {
    let nobody = UserId(Uuid::from_u128(1));
    record(stores, nobody, &[("a", 1)]).await;
    assert!(queries(stores, nobody, 10, None).await.is_empty());
}
