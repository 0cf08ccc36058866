//! Measures pages of users as administrators turn them.
//!
//! `cargo run --release -p trove-store --example user_lists [USERS] [POSTGRES_URL]`; on a new SQLite
//! file unless an address is given. Wants an empty database.

use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trove_domain::access::Role;
use trove_domain::port::{GroupStore, UserFilter, UserStore};
use trove_store::{PostgresConfig, SqliteConfig, Store};
use trove_testkit::fakes::SequentialIds;
use trove_testkit::stores::Stores;

const CALLS: usize = 101;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let count: usize = arguments.next().map_or(Ok(50_000), |number| number.parse())?;
    let directory = tempfile::tempdir()?;
    let ids = Arc::new(SequentialIds::default());
    let store = if let Some(url) = arguments.next() {
        Store::open_postgres(PostgresConfig::new(url.into()), ids).await?
    } else {
        let path = directory.path().join("trove.db");
        Store::open_sqlite(SqliteConfig::new(path), ids).await?
    };
    let stores = Stores::new(Arc::new(store.clone()));
    let started = Instant::now();
    let mut members = Vec::new();
    for n in 0..count {
        // Addresses that do not come in their order.
        let email = format!("reader{:06}@example.com", n * 7919 % count);
        let user = stores.new_user(&email, Role::Basic);
        members.push((user.id, false));
        assert!(UserStore::insert(&store, user).await?);
    }
    if let Some(group) = GroupStore::insert(&store, "everybody").await? {
        store.set_members(group.id, &members).await?;
    }
    println!("{count} users made in {:.1?}", started.elapsed());
    let all = UserFilter { text: None, roles: Role::ALL.into(), active: None, services: false };
    let text = |text: &str| UserFilter { text: Some(text.to_owned()), ..all.clone() };
    let last = u64::try_from(count)? - 10;
    for (what, filter, offset) in [
        ("first page", &all, 0),
        ("last page", &all, last),
        ("first page of a text in all", &text("example"), 0),
        ("a text in few", &text("099@"), 0),
        ("a text in none", &text("nobody"), 0),
    ] {
        let mut spent: Vec<Duration> = Vec::with_capacity(CALLS);
        for _ in 0..CALLS {
            let start = Instant::now();
            store.list_numbered(filter, offset, 10).await?;
            spent.push(start.elapsed());
        }
        spent.sort_unstable();
        println!("{what:<28} p50 {:>8.2?}  p99 {:>8.2?}", spent[CALLS / 2], spent[CALLS - 2]);
    }
    store.close().await;
    Ok(())
}
