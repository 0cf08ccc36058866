//! Several processes on one collection: each index here knows nothing of the others.

use futures::future::join_all;
use trove_domain::port::{DocumentIndex, WriteOutcome};
use trove_testkit::builders::{DocumentBuilder, document, document_id, query};

use crate::server::{self, Subject};

async fn texts(index: &dyn DocumentIndex, words: &str, alpha: f32) -> Vec<String> {
    let query = query(words).near(Some(8), 0.0).alpha(alpha).limit(100).build();
    let hits = index.search(&query).await.unwrap();
    hits.into_iter().map(|hit| hit.chunk.text).collect()
}

fn version(revision: i64, chunks: usize) -> DocumentBuilder {
    let text = format!("zebra version{revision}");
    document("a").revision(revision).texts(&vec![text.as_str(); chunks]).near(Some(8), 1.0)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_of_one_process_is_visible_to_the_others_at_once() {
    let Some(config) = server::config(Some(8)) else { return };
    let one = Subject(server::open(&config).await);
    let other = server::open(&config).await;
    for revision in 1..10 {
        one.replace(vec![version(revision, 3).build()]).await.unwrap();
        for alpha in [0.0, 0.5, 1.0] {
            let expected = vec![format!("zebra version{revision}"); 3];
            assert_eq!(texts(&other, "zebra", alpha).await, expected, "alpha {alpha}");
        }
    }
    let late = other.replace(vec![version(3, 1).build()]).await.unwrap();
    assert_eq!(late, [WriteOutcome::Superseded]);
    other.remove(&[(document_id("a"), 9)]).await.unwrap();
    assert!(texts(&*one, "zebra", 0.5).await.is_empty());
    assert_eq!(one.statistics().await.unwrap().chunks, 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_of_one_document_in_many_processes_leave_the_latest_revision() {
    let Some(config) = server::config(Some(8)) else { return };
    let first = Subject(server::open(&config).await);
    let others = join_all((0..4).map(|_| server::open(&config))).await;
    // 7 is coprime with 40: each revision once, in a scattered order.
    let writes = (0..40usize).map(|n| {
        let revision = i64::try_from(n * 7 % 40).unwrap();
        others[n % others.len()].replace(vec![version(revision, 2).build()])
    });
    for outcome in join_all(writes).await {
        assert_ne!(outcome.unwrap(), [WriteOutcome::Absent]);
    }
    for index in std::iter::once(&*first).chain(&others) {
        assert_eq!(texts(index, "zebra", 0.5).await, ["zebra version39"; 2]);
        assert_eq!(index.statistics().await.unwrap().chunks, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_process_that_has_just_started_sees_one_version_while_another_writes() {
    let Some(config) = server::config(Some(8)) else { return };
    let writer = Subject(server::open(&config).await);
    // Versions of other lengths, and of words that come and go.
    let next = |revision: i64| {
        let word = if revision % 2 == 0 { "zebra" } else { "giraffe" };
        let text = format!("{word} version{revision}");
        let chunks = 3 + usize::try_from(revision % 4).unwrap();
        document("a").revision(revision).texts(&vec![text.as_str(); chunks]).near(Some(8), 1.0)
    };
    writer.replace(vec![next(0).build()]).await.unwrap();
    let write = async {
        // The last one holds the words that every reader asks for.
        for revision in 1..=30 {
            writer.replace(vec![next(revision).build()]).await.unwrap();
        }
    };
    let read = |words: &'static str, alpha: f32| {
        let config = &config;
        async move {
            loop {
                // It has seen nothing yet.
                let fresh = server::open(config).await;
                let texts = texts(&fresh, words, alpha).await;
                let Some(first) = texts.first() else { continue };
                let revision: i64 = first.rsplit("version").next().unwrap().parse().unwrap();
                let chunks = 3 + usize::try_from(revision % 4).unwrap();
                assert_eq!(texts, vec![first.clone(); chunks], "{words} {alpha}");
                if revision == 30 {
                    return;
                }
            }
        }
    };
    futures::join!(write, read("zebra", 0.0), read("zebra giraffe", 0.5), read("zebra", 1.0));
}

#[tokio::test(flavor = "multi_thread")]
async fn removals_and_writes_in_many_processes_leave_one_whole_version_or_none() {
    let Some(config) = server::config(Some(8)) else { return };
    let first = Subject(server::open(&config).await);
    let others = join_all((0..3).map(|_| server::open(&config))).await;
    for round in 1..6 {
        let id = [(document_id("a"), round)];
        let update = document("a").revision(round).sets(&[7]).into_update();
        let (replaced, again, removed, updated) = futures::join!(
            others[0].replace(vec![version(round, 2).build()]),
            others[1].replace(vec![version(round, 2).build()]),
            others[2].remove(&id),
            first.update_attributes(vec![update]),
        );
        assert!(replaced.is_ok() && again.is_ok() && removed.is_ok() && updated.is_ok());
        let chunks = first.statistics().await.unwrap().chunks;
        assert!([0, 2].contains(&chunks), "{chunks} chunks");
        for alpha in [0.0, 1.0] {
            let found = texts(&*first, "zebra", alpha).await.len();
            assert_eq!(u64::try_from(found).unwrap(), chunks, "alpha {alpha}");
        }
    }
}
