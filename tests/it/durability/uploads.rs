//! `kill -9` in the middle of changes of a connector's files.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reqwest::StatusCode;
use serde_json::{Value, json};
use trove_testkit::postgres::Schema;

use super::runs::rounds;
use crate::child::{Service, trove};

const ADMIN: &str = "/api/manage/admin";
/// Rounds after which the index has to be as the files are.
const CHECKED_EVERY: u64 = 5;
/// Most files that are there before a change.
const FILES_MAX: usize = 12;

/// A file of the connector: its number says its name and its word, and no two are alike.
fn name_of(number: u32) -> String {
    format!("n{number}.txt")
}

fn word_of(number: u32) -> String {
    format!("zf{number}q")
}

fn content_of(number: u32) -> String {
    format!("{} and words", word_of(number))
}

/// A change that was asked for: the files before and after it.
struct Change {
    before: BTreeSet<String>,
    after: BTreeSet<String>,
    acknowledged: bool,
}

/// What outlasts the kills.
struct World<'a> {
    directory: &'a Path,
    database: Option<&'a str>,
    connector: i64,
    pair: i64,
    /// The number of the next file.
    next: u32,
    last: Option<Change>,
    /// Words of files that were there once.
    gone: BTreeSet<String>,
    /// Changes that had not happened when the service was killed, and those that had.
    undone: usize,
    done: usize,
}

impl World<'_> {
    async fn start(&self) -> Service {
        let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(self.directory).env("TROVE__INDEXING__LEASE_MS", "2000");
        if let Some(url) = self.database {
            command.env("TROVE__DATABASE__URL", url);
        }
        Service::start_with(command, self.directory).await
    }

    fn file(&mut self) -> (String, String) {
        self.next += 1;
        (name_of(self.next), content_of(self.next))
    }

    async fn send(
        service: &Service,
        path: &str,
        files: &[(String, String)],
        removed: &[String],
    ) -> reqwest::Result<reqwest::Response> {
        let part = |head: &str, content: &str| {
            format!("--b\r\nContent-Disposition: form-data; {head}\r\n\r\n{content}\r\n")
        };
        let file = |(name, content): &(String, String)| {
            part(&format!("name=\"files\"; filename=\"{name}\""), content)
        };
        let mut body = part("name=\"file_ids_to_remove\"", &json!(removed).to_string());
        body.extend(files.iter().map(file));
        body.push_str("--b--\r\n");
        let sent = service.client.post(format!("{}{path}", service.address));
        let sent = sent.bearer_auth(&service.key).body(body);
        sent.header("content-type", "multipart/form-data; boundary=b").send().await
    }

    /// Makes the connector with one file, and its pair.
    async fn connect(&mut self, service: &Service) {
        let first = self.file();
        let path = format!("{ADMIN}/connector/file/upload");
        let stored = Self::send(service, &path, &[first], &[]).await.unwrap();
        let stored: Value = stored.json().await.unwrap();
        // Without names: those that the files were uploaded with count.
        let connector = json!({"name": "files", "source": "file", "input_type": "load_state",
            "connector_specific_config": {"file_locations": stored["file_paths"]},
            "refresh_freq": null, "prune_freq": null, "access_type": "public"});
        let path = format!("{ADMIN}/connector-with-mock-credential");
        let made = service.post(&path, &connector).await.unwrap();
        self.pair = made.json::<Value>().await.unwrap()["data"].as_i64().unwrap();
        self.connector = self.shown(service).await["connector"]["id"].as_i64().unwrap();
    }

    async fn shown(&self, service: &Service) -> Value {
        let path = format!("{ADMIN}/cc-pair/{}", self.pair);
        service.get(&path).await.unwrap().json().await.unwrap()
    }

    /// The files of the connector, ids and names; all of them are whole.
    async fn listed(&self, service: &Service) -> Vec<(String, String)> {
        let path = format!("{ADMIN}/connector/{}/files", self.connector);
        let listed: Value = service.get(&path).await.unwrap().json().await.unwrap();
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let mut files = Vec::new();
        for file in listed["files"].as_array().unwrap() {
            assert!(file["file_size"].is_u64(), "{file}");
            let (id, name) = (text(&file["file_id"]), text(&file["file_name"]));
            let stored = fs::read_to_string(self.directory.join("files").join(&id)).unwrap();
            // The first change gives the first file its name.
            let number = name.strip_prefix('n').and_then(|rest| rest.strip_suffix(".txt"));
            let number = number.map_or(1, |number| number.parse().unwrap());
            assert_eq!(stored, content_of(number), "{name}");
            files.push((id, name_of(number)));
        }
        files
    }

    /// Fails unless the last change has happened as a whole or not at all.
    async fn verify(&mut self, service: &Service) -> Vec<(String, String)> {
        let listed = self.listed(service).await;
        let names: BTreeSet<String> = listed.iter().map(|(_, name)| name.clone()).collect();
        if let Some(Change { before, after, acknowledged }) = self.last.take() {
            let is_done = names == after;
            assert!(
                is_done || (names == before && !acknowledged),
                "{names:?}: {before:?} {after:?}"
            );
            if is_done {
                self.done += 1;
            } else {
                self.undone += 1;
            }
            let all = before.union(&after);
            self.gone.extend(all.filter(|name| !names.contains(*name)).cloned());
        }
        listed
    }

    /// Changes the files, and kills the service meanwhile, or while it indexes what has changed.
    async fn round(&mut self, random: &mut StdRng) {
        let mut service = self.start().await;
        let listed = self.verify(&service).await;
        let mut removed = Vec::new();
        let mut after = BTreeSet::new();
        for (id, name) in &listed {
            if listed.len() > FILES_MAX || random.random_bool(0.4) {
                removed.push(id.clone());
            } else {
                after.insert(name.clone());
            }
        }
        let files: Vec<(String, String)> =
            (0..random.random_range(1..=6)).map(|_| self.file()).collect();
        after.extend(files.iter().map(|(name, _)| name.clone()));
        let path = format!("{ADMIN}/connector/{}/files/update", self.connector);
        let looks = random.random_range(0..20);
        let change = Self::send(&service, &path, &files, &removed);
        let kill = async {
            for _ in 0..looks {
                self.shown(&service).await;
            }
            let pid = service.pid().to_string();
            let killed = tokio::process::Command::new("kill").args(["-9", &pid]).status().await;
            assert!(killed.unwrap().success());
        };
        let (answer, ()) = futures::join!(change, kill);
        let acknowledged = answer.is_ok_and(|answer| {
            assert_eq!(answer.status(), StatusCode::OK);
            true
        });
        let before = listed.into_iter().map(|(_, name)| name).collect();
        self.last = Some(Change { before, after, acknowledged });
        service.kill().await;
    }

    /// Lets everything come to rest, and compares the index with the files. Nobody asks for a run or
    /// a pruning: the changes have.
    async fn check(&mut self) {
        let mut service = self.start().await;
        let listed = self.verify(&service).await;
        let current: BTreeSet<String> = listed.into_iter().map(|(_, name)| name).collect();
        loop {
            let shown = self.shown(&service).await;
            let status = shown["last_index_attempt_status"].as_str().unwrap_or_default();
            if ["failed", "completed_with_errors"].contains(&status) {
                for of in ["index-attempts", "errors"] {
                    let path = format!("{ADMIN}/cc-pair/{}/{of}?page_size=3", self.pair);
                    println!("{}", service.get(&path).await.unwrap().text().await.unwrap());
                }
                panic!("{shown}");
            }
            if shown["indexing"] == false && shown["num_docs_indexed"] == current.len() {
                break;
            }
        }
        let number = |name: &String| name[1..name.len() - 4].parse().unwrap();
        for name in &current {
            let word = word_of(number(name));
            while !Self::finds(&service, &word).await {}
        }
        for name in self.gone.difference(&current) {
            let word = word_of(number(name));
            while Self::finds(&service, &word).await {}
        }
        service.kill().await;
    }

    async fn finds(service: &Service, word: &str) -> bool {
        service.search(word).await.iter().any(|hit| hit.to_string().contains(word))
    }
}

async fn kill(rounds: u64, seed: u64, database: Option<&str>) {
    let temp = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(seed);
    let mut world = World {
        directory: temp.path(),
        database,
        connector: 0,
        pair: 0,
        next: 0,
        last: None,
        gone: BTreeSet::new(),
        undone: 0,
        done: 0,
    };
    let mut service = world.start().await;
    world.connect(&service).await;
    service.kill().await;
    for round in 1..=rounds {
        world.round(&mut random).await;
        if round % CHECKED_EVERY == 0 {
            world.check().await;
        }
    }
    println!("{} changes had happened, {} had not", world.done, world.undone);
}

/// The old files are there or the new ones, each whole, and the index follows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_leave_the_old_files_of_a_connector_or_the_new_ones() {
    kill(rounds(20), 11, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_kills_leave_the_old_files_of_a_connector_or_the_new_ones() {
    let Some(schema) = Schema::create().await else { return };
    kill(rounds(10), 12, Some(&schema.url())).await;
}
