//! Names, pauses and dialers under a test's control.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;
use trove_sources::dialer::{Backoff, Dialer, DialerParts, Limits, Names, NetworkPolicy, Pacer};
use trove_testkit::fakes::{FakeClock, SequentialIds};

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
