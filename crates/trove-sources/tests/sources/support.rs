//! Names, pauses and dialers under a test's control.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use chrono::DateTime;
use serde_json::Value;
use tempfile::TempDir;
use tokio::time::Instant;
use trove_domain::document::Document;
use trove_domain::id::DocumentId;
use trove_domain::port::{
    Checkpoint, FileStore, ReadWindow, Skipped, Source, SourceError, SourceFactory, SourceFailure,
    SourceSettings, TextExtractor,
};
use trove_domain::source::DocumentSource;
use trove_files::ObjectFileStore;
use trove_sources::dialer::{Backoff, Dialer, DialerParts, Limits, Names, NetworkPolicy, Pacer};
use trove_sources::{CrawlLimits, Sources};
use trove_testkit::fakes::{FakeClock, SequentialIds};

/// Reads files in this process.
pub(crate) fn extractor() -> impl TextExtractor {
    let budget = trove_extract::Budget { chars: 1_000_000, ..trove_extract::Budget::default() };
    trove_extract::InProcessExtractor::new(budget)
}

/// What names resolve to: each question takes the next answer, and the last one stays.
#[derive(Default)]
pub(crate) struct FakeNames(Mutex<HashMap<String, Vec<Vec<IpAddr>>>>);

impl FakeNames {
    pub(crate) fn with(self, name: &str, answers: &[&[&str]]) -> Self {
        let parse = |text: &&str| text.parse().unwrap();
        let answers = answers.iter().rev().map(|ips| ips.iter().map(parse).collect()).collect();
        self.0.lock().unwrap().insert(name.to_owned(), answers);
        self
    }
}

#[async_trait]
impl Names for FakeNames {
    async fn addresses(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let mut known = self.0.lock().unwrap();
        let answers = known.get_mut(name).ok_or(io::ErrorKind::NotFound)?;
        Ok(if answers.len() > 1 { answers.pop().unwrap() } else { answers[0].clone() })
    }
}

/// Waits for nothing and remembers what it should have waited for.
pub(crate) struct FakePacer {
    start: Instant,
    pub(crate) pauses: Mutex<Vec<Duration>>,
}

impl Default for FakePacer {
    fn default() -> Self {
        Self { start: Instant::now(), pauses: Mutex::default() }
    }
}

#[async_trait]
impl Pacer for FakePacer {
    fn now(&self) -> Instant {
        self.start + self.pauses.lock().unwrap().iter().sum::<Duration>()
    }

    async fn pause(&self, length: Duration) {
        self.pauses.lock().unwrap().push(length);
    }
}

/// Everything that a dialer of a test is made of.
pub(crate) struct Setting {
    pub(crate) names: FakeNames,
    pub(crate) allow: &'static [&'static str],
    pub(crate) limits: Limits,
    pub(crate) backoff: Backoff,
    pub(crate) pacer: Arc<FakePacer>,
}

impl Default for Setting {
    fn default() -> Self {
        Self {
            names: FakeNames::default(),
            allow: &["127.0.0.0/8"],
            limits: Limits::default(),
            backoff: Backoff::default(),
            pacer: Arc::default(),
        }
    }
}

impl Setting {
    pub(crate) fn dialer(self) -> Dialer {
        let allow = self.allow.iter().map(|network| network.parse().unwrap()).collect();
        Dialer::new(DialerParts {
            policy: NetworkPolicy { allow },
            limits: self.limits,
            backoff: self.backoff,
            names: Arc::new(self.names),
            clock: Arc::new(FakeClock::default()),
            ids: Arc::new(SequentialIds::default()),
            pacer: self.pacer,
        })
        .unwrap()
    }
}

/// Everything that one reading of a source brought.
#[derive(Debug, Default)]
pub(crate) struct Run {
    pub(crate) documents: Vec<Document>,
    pub(crate) failures: Vec<SourceFailure>,
    pub(crate) skipped: Vec<Skipped>,
    pub(crate) unchanged: Vec<DocumentId>,
    pub(crate) carry: Option<Checkpoint>,
    pub(crate) steps: usize,
}

impl Run {
    /// Ids of the documents, in order.
    pub(crate) fn ids(&self) -> Vec<&str> {
        let mut ids: Vec<&str> = self.documents.iter().map(|doc| doc.id.as_str()).collect();
        ids.sort_unstable();
        ids
    }

    pub(crate) fn document(&self, id: &str) -> &Document {
        self.documents.iter().find(|doc| doc.id.as_str() == id).unwrap()
    }
}

pub(crate) const ALWAYS: ReadWindow =
    ReadWindow { start: DateTime::UNIX_EPOCH, end: DateTime::UNIX_EPOCH };

/// A factory, and what its sources see.
pub(crate) struct World {
    pub(crate) sources: Sources,
    pub(crate) files: Arc<dyn FileStore>,
    pub(crate) directory: TempDir,
}

impl World {
    pub(crate) fn new(setting: Setting) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let files: Arc<dyn FileStore> =
            Arc::new(ObjectFileStore::local(&directory.path().join("files")).unwrap());
        let temporary = directory.path().join("temporary");
        std::fs::create_dir(&temporary).unwrap();
        let sources = Sources {
            dialer: setting.dialer(),
            extractor: Arc::new(extractor()),
            files: Arc::clone(&files),
            temporary,
            crawl: CrawlLimits::default(),
        };
        Self { sources, files, directory }
    }

    pub(crate) async fn open(
        &self,
        source: DocumentSource,
        config: &Value,
    ) -> Result<Arc<dyn Source>, SourceError> {
        let config = config.as_object().unwrap().clone();
        let credential = "{}".into();
        self.sources.open(SourceSettings { source, config, credential }).await
    }

    /// Reads all of a source; every step as another process would, from text.
    pub(crate) async fn read(
        &self,
        source: DocumentSource,
        config: &Value,
        carry: Option<&Checkpoint>,
    ) -> Result<Run, SourceError> {
        let (mut run, mut from) = (Run::default(), carry.cloned());
        loop {
            let source = self.open(source, config).await.unwrap();
            let step = source.read(ALWAYS, from.as_ref()).await?;
            run.steps += 1;
            assert!(run.steps < 5_000, "a run ends");
            assert!(step.documents.len() <= 32);
            run.documents.extend(step.documents);
            run.failures.extend(step.failures);
            run.skipped.extend(step.skipped);
            run.unchanged.extend(step.unchanged);
            let Some(next) = step.next else {
                run.carry = step.carry;
                return Ok(run);
            };
            from = Some(Checkpoint(serde_json::from_str(&next.0.to_string()).unwrap()));
        }
    }

    /// Lists all of a source.
    pub(crate) async fn list(
        &self,
        source: DocumentSource,
        config: &Value,
    ) -> Result<Vec<String>, SourceError> {
        let (mut ids, mut from) = (Vec::new(), None);
        loop {
            let source = self.open(source, config).await.unwrap();
            let step = source.list(from.as_ref()).await?;
            ids.extend(step.ids.into_iter().map(DocumentId::into_string));
            if step.next.is_none() {
                ids.sort_unstable();
                return Ok(ids);
            }
            from = step.next;
        }
    }
}
