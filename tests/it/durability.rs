//! Acknowledged means durable: `kill -9` in the middle of ingestion, and a full disk.

mod full_disk;
mod history;
mod runs;
mod uploads;

use std::path::Path;
use std::sync::{Arc, Mutex};

use futures::future::join_all;
use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reqwest::StatusCode;

use crate::child::Service;
use history::{History, Step};

const ROUNDS: u64 = 50;
const CLIENTS: usize = 4;
/// Documents that each client has for itself.
const DOCUMENTS: usize = 60;
/// Writes that are acknowledged in a round before the kill.
const ACKNOWLEDGED: std::ops::RangeInclusive<usize> = 1..=20;
/// Documents of earlier rounds that are looked at again after each.
const SAMPLE: usize = 5;
const SEED: u64 = 20;

/// After each of fifty kills every acknowledged write is found, whole and once; a write that was
/// not acknowledged has happened or has not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn fifty_kills_lose_nothing_and_leave_nothing_half_done() {
    let temp = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(SEED);
    let mut histories: Vec<History> =
        (0..CLIENTS).map(|client| History::new(client, DOCUMENTS)).collect();
    for round in 0..ROUNDS {
        let service = Service::start(temp.path()).await;
        check(&service, &mut histories, &mut random, round).await;
        let kill_after = random.random_range(ACKNOWLEDGED);
        histories = write_until_killed(service, histories, kill_after, round).await;
    }
    let service = Service::start(temp.path()).await;
    for history in &mut histories {
        for document in history.all() {
            history.verify(&service, document, "at the end").await;
        }
    }
}

/// Verifies whatever the last round touched, and a sample of the rest.
async fn check(service: &Service, histories: &mut [History], random: &mut StdRng, round: u64) {
    let label = format!("before round {round} of seed {SEED}");
    for history in histories {
        let mut documents = history.take_touched();
        documents.extend((0..SAMPLE).map(|_| random.random_range(0..DOCUMENTS)));
        for document in documents {
            history.verify(service, document, &label).await;
        }
    }
}

/// Lets all clients write at the same time, and kills the service as soon as `kill_after` writes
/// are acknowledged: the others are then wherever they happen to be.
async fn write_until_killed(
    mut service: Service,
    histories: Vec<History>,
    kill_after: usize,
    round: u64,
) -> Vec<History> {
    let acknowledged = Arc::new(Mutex::new(0));
    let enough = Arc::new(tokio::sync::Notify::new());
    let clients = histories.into_iter().enumerate().map(|(client, mut history)| {
        let (acknowledged, enough) = (Arc::clone(&acknowledged), Arc::clone(&enough));
        let service = &service;
        async move {
            let seed = SEED * 1_000_000 + round * 1000 + u64::try_from(client).unwrap();
            let mut random = StdRng::seed_from_u64(seed);
            loop {
                let step = history.begin(&mut random);
                if !send(service, &step).await {
                    return history;
                }
                history.acknowledge();
                let mut acknowledged = acknowledged.lock().unwrap();
                *acknowledged += 1;
                if *acknowledged == kill_after {
                    enough.notify_one();
                }
            }
        }
    });
    let writing = join_all(clients);
    let pid = service.pid().to_string();
    let killing = async {
        enough.notified().await;
        let killed = tokio::process::Command::new("kill").args(["-9", &pid]).status().await;
        assert!(killed.unwrap().success());
    };
    let (histories, ()) = futures::join!(writing, killing);
    service.kill().await;
    histories
}

/// Whether the step was acknowledged; otherwise the service is gone.
async fn send(service: &Service, step: &Step) -> bool {
    let status = match step {
        Step::Write { id, texts } => service.ingest(id, texts).await,
        Step::Remove { id } => {
            let url = format!("{}/api/ingestion/{id}", service.address);
            let sent = service.client.delete(url).bearer_auth(&service.key).send().await;
            sent.map(|answer| answer.status())
        }
    };
    match status {
        Ok(status) => {
            assert!(status.is_success() || status == StatusCode::NOT_FOUND, "{status}");
            true
        }
        Err(_) => false,
    }
}

/// The size of everything in a directory, in bytes.
fn size_of(dir: &Path) -> u64 {
    let entries = std::fs::read_dir(dir).unwrap().map(Result::unwrap);
    entries
        .map(|entry| match entry.metadata() {
            Ok(about) if about.is_dir() => size_of(&entry.path()),
            Ok(about) => about.len(),
            Err(_) => 0,
        })
        .sum()
}
