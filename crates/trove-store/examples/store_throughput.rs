//! Measures what is on the path of every request and of every indexed document.
//!
//! `cargo run --release -p trove-store --example store_throughput [DOCUMENTS] [POSTGRES_URL]`; on a
//! new SQLite file unless an address is given. Wants an empty database.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};

use trove_domain::access::Role;
use trove_domain::cc_pair::{AccessType, CcPair};
use trove_domain::document::MetadataValue;
use trove_domain::id::UserId;
use trove_domain::port::{AccessFilter, ApiKeyStore, DocumentStore, GroupContents, GroupStore};
use trove_domain::port::{IndexedMark, JobQueue, Registration};
use trove_store::{PostgresConfig, SqliteConfig, Store};
use trove_testkit::fakes::SequentialIds;
use trove_testkit::stores::{Stores, at, caller, new_job, new_key, registration, token_hash};
use uuid::Uuid;

const BATCH: usize = 256;
const CALLS: u32 = 5000;
const MEMBERS: u32 = 10_000;

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let documents: usize = arguments.next().map_or(Ok(20_480), |number| number.parse())?;
    let directory = tempfile::tempdir()?;
    let ids = Arc::new(SequentialIds::default());
    let store = if let Some(url) = arguments.next() {
        Store::open_postgres(PostgresConfig::new(url.into()), ids).await?
    } else {
        let path = directory.path().join("trove.db");
        Store::open_sqlite(SqliteConfig::new(path), ids).await?
    };
    index(&store, documents).await?;
    let stores = Stores::new(Arc::new(store.clone()));
    request(&store, &stores).await?;
    work(&store).await?;
    group(&store, &stores).await?;
    store.close().await;
    Ok(())
}

async fn index(store: &Store, count: usize) -> Result<(), Box<dyn Error>> {
    for round in ["new", "again"] {
        let mut spent = [Duration::ZERO; 4];
        for first in (0..count).step_by(BATCH) {
            let documents: Vec<_> = (first..first + BATCH).map(document).collect();
            let ids: Vec<_> = documents.iter().map(|document| document.id.clone()).collect();
            let start = Instant::now();
            DocumentStore::get(store, &ids).await?;
            let got = Instant::now();
            let revisions = store.register(CcPair::DEFAULT, &documents, at(0)).await?;
            let registered = Instant::now();
            store.attributes(&ids).await?;
            let known = Instant::now();
            let marks = ids.into_iter().zip(revisions.unwrap_or_default());
            let marks: Vec<_> = marks
                .map(|(id, revision)| IndexedMark {
                    id,
                    revision,
                    content_hash: "0123456789abcdef0123456789abcdef".to_owned(),
                    chunk_count: 3,
                    embedding_model: Some("all-MiniLM-L6-v2".to_owned()),
                })
                .collect();
            let prepared = Instant::now();
            store.mark_indexed(CcPair::DEFAULT, &marks, at(0)).await?;
            let steps = [got - start, registered - got, known - registered, prepared.elapsed()];
            for (spent, step) in spent.iter_mut().zip(steps) {
                *spent += step;
            }
        }
        let documents = u32::try_from(count)?;
        for (step, spent) in ["get", "register", "attributes", "mark_indexed"].iter().zip(spent) {
            let rate = f64::from(documents) / spent.as_secs_f64();
            println!("{step:<14} {round:<6} {rate:>9.0} documents/s");
        }
        let whole: Duration = spent.iter().sum();
        let rate = f64::from(documents) / whole.as_secs_f64();
        println!("{:<14} {round:<6} {rate:>9.0} documents/s", "all four");
    }
    Ok(())
}

fn document(number: usize) -> Registration {
    let mut document = registration(&format!("https://example.com/wiki/pages/{number:08}"));
    document.semantic_identifier = format!("Page {number} of the handbook");
    document.link = Some(document.id.as_str().to_owned());
    document.updated_at = Some(at(0));
    document.primary_owners = vec!["Ann Example".to_owned()];
    for key in ["space", "author", "labels"] {
        document.metadata.insert(key.to_owned(), MetadataValue::One(format!("{key} {number}")));
    }
    document
}

async fn request(store: &Store, stores: &Stores) -> Result<(), Box<dyn Error>> {
    let user = stores.user("ann@example.com").await;
    ApiKeyStore::insert(store, new_key(user, 1)).await?;
    for number in 0..5 {
        let group = GroupStore::insert(store, &format!("group {number}")).await?;
        let group = group.ok_or("the database is not empty")?.id;
        store.set_members(group, &[(user, false)]).await?;
        stores.pair(&format!("pair {number}"), AccessType::Private, &[group]).await;
    }
    let caller = caller(user, "ann@example.com", Role::Basic);
    let hash = token_hash(1);
    let start = Instant::now();
    for _ in 0..CALLS {
        ApiKeyStore::find(store, &hash).await?;
    }
    println!("find           {:>16.1} µs", per_call(start));
    let start = Instant::now();
    for _ in 0..CALLS {
        store.scope_for(&caller).await?;
    }
    println!("scope_for      {:>16.1} µs", per_call(start));
    Ok(())
}

async fn work(store: &Store) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    for _ in 0..CALLS {
        store.claim("idle", at(0), Duration::from_mins(1), 1).await?;
    }
    println!("claim, idle    {:>16.1} µs", per_call(start));
    let start = Instant::now();
    for _ in 0..CALLS / 10 {
        store.enqueue(new_job("queue", "kind")).await?;
        for job in store.claim("queue", at(1), Duration::from_mins(1), 1).await? {
            store.complete(&job).await?;
        }
    }
    println!("a whole job    {:>16.1} µs", per_call(start) * 10.0);
    Ok(())
}

/// A group that everybody of a company comes into, is listed with, and leaves again.
async fn group(store: &Store, stores: &Stores) -> Result<(), Box<dyn Error>> {
    let mut members = BTreeSet::new();
    for number in 0..MEMBERS {
        members.insert(stores.user(&format!("member{number}@example.com")).await);
    }
    let admin = caller(UserId(Uuid::nil()), "admin@example.com", Role::Admin);
    let group = stores.group("everybody", &[]).await;
    for (what, members) in [("join", members), ("leave", BTreeSet::new())] {
        let contents = GroupContents { members, cc_pairs: BTreeSet::new() };
        let start = Instant::now();
        store.replace(&admin, group, contents, at(0), new_job("sync", "sync")).await?;
        println!("{MEMBERS} {what:<8} {:>15.1} ms", start.elapsed().as_secs_f64() * 1e3);
        let start = Instant::now();
        GroupStore::list(store, &admin, None, 100).await?;
        println!("{MEMBERS} listed   {:>15.1} ms", start.elapsed().as_secs_f64() * 1e3);
    }
    Ok(())
}

/// Microseconds.
fn per_call(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e6 / f64::from(CALLS)
}
