//! `kill -9` in the middle of runs of indexing, prunings and deletions.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use reqwest::StatusCode;
use serde_json::{Value, json};
use trove_testkit::postgres::Schema;

use crate::child::{Service, trove};
use crate::site::Site;

/// Pages of the site, besides the first one.
const PAGES: usize = 40;
/// Rounds after which everything has to be as the site is.
const CHECKED_EVERY: u64 = 10;
const ADMIN: &str = "/api/manage/admin";

/// What is on the site: pages with their version.
#[derive(Default)]
struct Content {
    pages: BTreeMap<usize, u32>,
    versions: u32,
}

impl Content {
    /// A word that this page has in this version alone.
    fn word(page: usize, version: u32) -> String {
        format!("zp{page}v{version}")
    }

    fn path(page: usize) -> String {
        format!("/p{page}")
    }

    /// Changes a few pages: some are new, some gone, some say something else.
    fn change(&mut self, site: &Site, random: &mut StdRng) {
        for _ in 0..random.random_range(1..=8) {
            let page = random.random_range(0..PAGES);
            if self.pages.contains_key(&page) && random.random_bool(0.4) {
                self.pages.remove(&page);
                site.remove(&Self::path(page));
            } else {
                self.versions += 1;
                self.pages.insert(page, self.versions);
                let text = format!("{} and words", Self::word(page, self.versions));
                site.page(&Self::path(page), &format!("Page {page}"), &text, &[]);
            }
        }
        let paths: Vec<String> = self.pages.keys().map(|page| Self::path(*page)).collect();
        let links: Vec<&str> = paths.iter().map(String::as_str).collect();
        site.page("/", "Start", "where it begins", &links);
    }
}

/// A run as it was last seen.
#[derive(Clone, Debug, Default, PartialEq)]
struct Run {
    id: i64,
    status: String,
    enumerated: i64,
}

/// What outlasts the kills.
struct World<'a> {
    directory: &'a Path,
    database: Option<&'a str>,
    site: Site,
    content: Content,
    /// Reads the site for ever.
    lasting: i64,
    /// Reads it, too, and is deleted now and then: connector, credential, pair.
    passing: Option<(i64, i64, i64)>,
    /// Deletions that were acknowledged.
    deleted: BTreeSet<i64>,
    seen: Run,
    /// Runs that were on when the service was killed, and went on.
    resumed: usize,
}

impl World<'_> {
    async fn start(&self) -> Service {
        let mut command = trove(&["serve", "--listen", "127.0.0.1:0", "--data-dir"]);
        command.arg(self.directory).env("TROVE__INDEXING__ALLOWED_NETWORKS", "127.0.0.1");
        command.env("TROVE__INDEXING__LEASE_MS", "2000");
        if let Some(url) = self.database {
            command.env("TROVE__DATABASE__URL", url);
        }
        Service::start_with(command, self.directory).await
    }

    /// Makes a connector over the site with a pair of its own.
    async fn connect(&self, service: &Service, name: &str) -> Option<i64> {
        let connector = json!({"name": name, "source": "web", "input_type": "load_state",
            "connector_specific_config": {"base_url": self.site.address}, "refresh_freq": null,
            "prune_freq": null, "access_type": "public"});
        let path = format!("{ADMIN}/connector-with-mock-credential");
        let made = service.post(&path, &connector).await.ok()?;
        made.json::<Value>().await.ok()?["data"].as_i64()
    }

    async fn pair(service: &Service, pair: i64) -> Option<Value> {
        let answer = service.get(&format!("{ADMIN}/cc-pair/{pair}")).await.ok()?;
        if answer.status() == StatusCode::NOT_FOUND {
            return Some(Value::Null);
        }
        answer.json().await.ok()
    }

    async fn last_run(service: &Service, pair: i64) -> Option<Run> {
        let path = format!("{ADMIN}/cc-pair/{pair}/index-attempts?page_size=1");
        let page: Value = service.get(&path).await.ok()?.json().await.ok()?;
        let run = &page["items"][0];
        Some(Run {
            id: run["id"].as_i64().unwrap_or_default(),
            status: run["status"].as_str().unwrap_or_default().to_owned(),
            enumerated: run["docs_enumerated"].as_i64().unwrap_or_default(),
        })
    }

    /// What an administrator asks for; anything may be cut off by the kill.
    async fn act(&mut self, service: &Service, random: &mut StdRng) -> Option<()> {
        let connector = Self::pair(service, self.lasting).await?["connector"]["id"].clone();
        let body = json!({"connector_id": connector, "from_beginning": random.random_bool(0.3)});
        service.post(&format!("{ADMIN}/connector/run-once"), &body).await.ok()?;
        if random.random_bool(0.5) {
            let path = format!("{ADMIN}/cc-pair/{}/prune", self.lasting);
            let status = service.post(&path, &Value::Null).await.ok()?.status();
            assert!(status.is_success() || status == StatusCode::CONFLICT, "{status}");
        }
        match self.passing {
            None if random.random_bool(0.5) => {
                let name = format!("passing {}", self.content.versions);
                let pair = self.connect(service, &name).await?;
                let made = Self::pair(service, pair).await?;
                let of = |part: &str| made[part]["id"].as_i64();
                self.passing = Some((of("connector")?, of("credential")?, pair));
            }
            Some((connector, credential, pair)) if random.random_bool(0.5) => {
                let body = json!({"connector_id": connector, "credential_id": credential});
                let path = format!("{ADMIN}/deletion-attempt");
                let status = service.post(&path, &body).await.ok()?.status();
                assert!(status.is_success(), "{status}");
                self.deleted.insert(pair);
                self.passing = None;
            }
            _ => {}
        }
        Some(())
    }

    /// Acts, looks for a while, and kills the service wherever it is.
    async fn round(&mut self, random: &mut StdRng) {
        let mut service = self.start().await;
        let before = std::mem::take(&mut self.seen);
        if before.status == "in_progress" {
            let run = Self::last_run(&service, self.lasting).await.unwrap();
            assert_eq!(run.id, before.id, "the run goes on: {before:?} {run:?}");
            assert!(run.enumerated >= before.enumerated, "{before:?} {run:?}");
            self.resumed += 1;
        }
        self.content.change(&self.site, random);
        let looks = random.random_range(0..60);
        let watched = self.lasting;
        let acted = self.act(&service, random).await;
        assert!(acted.is_some(), "{}", service.log());
        for _ in 0..looks {
            self.seen = Self::last_run(&service, watched).await.unwrap();
        }
        let pid = service.pid().to_string();
        let killed = tokio::process::Command::new("kill").args(["-9", &pid]).status().await;
        assert!(killed.unwrap().success());
        service.kill().await;
    }

    /// Lets everything come to rest, and compares it with the site.
    async fn check(&mut self) {
        let service = self.start().await;
        // Whatever was going on ends; then everything is read and looked for once more.
        self.until_at_rest(&service).await;
        let connector =
            Self::pair(&service, self.lasting).await.unwrap()["connector"]["id"].clone();
        let body = json!({"connector_id": connector});
        let before = Self::last_run(&service, self.lasting).await.unwrap().id;
        service.post(&format!("{ADMIN}/connector/run-once"), &body).await.unwrap();
        while Self::last_run(&service, self.lasting).await.unwrap().id == before {}
        self.until_at_rest(&service).await;
        let pruned = Self::pair(&service, self.lasting).await.unwrap()["last_pruned"].clone();
        let path = format!("{ADMIN}/cc-pair/{}/prune", self.lasting);
        service.post(&path, &Value::Null).await.unwrap();
        while Self::pair(&service, self.lasting).await.unwrap()["last_pruned"] == pruned {}
        if let Some((connector, credential, pair)) = self.passing.take() {
            // What it holds alone would be in the way of the comparison.
            let body = json!({"connector_id": connector, "credential_id": credential});
            service.post(&format!("{ADMIN}/deletion-attempt"), &body).await.unwrap();
            self.deleted.insert(pair);
        }
        for pair in &self.deleted {
            while Self::pair(&service, *pair).await.unwrap() != Value::Null {}
        }
        self.deleted.clear();
        self.compare(&service).await;
        self.seen = Run::default();
        let mut service = service;
        service.kill().await;
    }

    async fn until_at_rest(&self, service: &Service) {
        let mut pairs = vec![self.lasting];
        pairs.extend(self.passing.map(|(_, _, pair)| pair));
        for pair in pairs {
            loop {
                let shown = Self::pair(service, pair).await.unwrap();
                assert_ne!(shown["status"], "INVALID", "{shown}");
                let status = shown["last_index_attempt_status"].as_str().unwrap_or_default();
                if shown["indexing"] == false && status == "success" {
                    break;
                }
                if ["canceled", "failed", "completed_with_errors"].contains(&status) {
                    // Pages were taken away while they were read.
                    let body = json!({"connector_id": shown["connector"]["id"]});
                    let path = format!("{ADMIN}/connector/run-once");
                    service.post(&path, &body).await.unwrap();
                }
            }
        }
    }

    async fn compare(&self, service: &Service) {
        let mut expected: BTreeSet<String> =
            self.content.pages.keys().map(|page| Content::path(*page)).collect();
        expected.insert("/".to_owned());
        for (page, version) in &self.content.pages {
            let word = Content::word(*page, *version);
            let found = service.search(&word).await;
            let exact: Vec<&Value> =
                found.iter().filter(|hit| hit.to_string().contains(&word)).collect();
            assert_eq!(exact.len(), 1, "{word}: {found:?}");
        }
        for page in (0..PAGES).filter(|page| !self.content.pages.contains_key(page)) {
            let title = format!("Page {page}");
            let found = service.search(&title).await;
            let gone = found.iter().find(|hit| hit["title"] == title.as_str());
            assert!(gone.is_none(), "{title} is gone: {gone:?}");
        }
        let shown = Self::pair(service, self.lasting).await.unwrap();
        assert_eq!(shown["num_docs_indexed"], expected.len(), "{shown}");
    }
}

async fn kill(rounds: u64, seed: u64, database: Option<&str>) {
    let temp = tempfile::tempdir().unwrap();
    let mut random = StdRng::seed_from_u64(seed);
    let mut world = World {
        directory: temp.path(),
        database,
        site: Site::start().await,
        content: Content::default(),
        lasting: 0,
        passing: None,
        deleted: BTreeSet::new(),
        seen: Run::default(),
        resumed: 0,
    };
    world.content.change(&world.site, &mut random);
    let mut service = world.start().await;
    world.lasting = world.connect(&service, "lasting").await.unwrap();
    service.kill().await;
    for round in 1..=rounds {
        world.round(&mut random).await;
        if round % CHECKED_EVERY == 0 {
            world.check().await;
        }
    }
    println!("{} of {rounds} kills were in the middle of a run", world.resumed);
}

/// How many kills there are: as many as `TROVE_TEST_KILLS` said when the tests were built.
pub(super) fn rounds(usual: u64) -> u64 {
    option_env!("TROVE_TEST_KILLS").and_then(|rounds| rounds.parse().ok()).unwrap_or(usual)
}

/// Nothing is lost, nothing comes back, nothing stands twice, and no pair is stuck.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn kills_leave_every_run_pruning_and_deletion_to_be_finished() {
    kill(rounds(20), 6, None).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres_kills_leave_every_run_pruning_and_deletion_to_be_finished() {
    let Some(schema) = Schema::create().await else { return };
    kill(rounds(10), 8, Some(&schema.url())).await;
}
