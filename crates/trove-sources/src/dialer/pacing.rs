//! Time and manners: how often a host is asked, and when again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, sleep};

/// Requests to one host at the same time.
const CONCURRENCY: usize = 2;
/// Hosts that are remembered; those that nobody is asking are forgotten beyond it.
const HOSTS_MAX: usize = 1024;

/// Where pauses are made.
#[async_trait]
pub trait Pacer: Send + Sync + 'static {
    /// An instant to count from.
    fn now(&self) -> Instant;

    /// Waits.
    async fn pause(&self, length: Duration);
}

/// Waits for real.
#[derive(Clone, Copy, Debug, Default)]
pub struct RealPacer;

#[async_trait]
impl Pacer for RealPacer {
    fn now(&self) -> Instant {
        Instant::now()
    }

    async fn pause(&self, length: Duration) {
        sleep(length).await;
    }
}

/// How often and how long a request is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backoff {
    /// Most attempts in all.
    pub attempts_max: u32,
    /// Longest pause after the first attempt; it doubles with each.
    pub pause: Duration,
    /// Longest pause that a server may ask for; beyond it the caller decides.
    pub pause_max: Duration,
}

impl Default for Backoff {
    /// Three attempts, 1 s and 2 s apart at most, or as the server asks, up to 20 s.
    fn default() -> Self {
        Self { attempts_max: 3, pause: Duration::from_secs(1), pause_max: Duration::from_secs(20) }
    }
}

impl Backoff {
    /// How long to wait after attempt number `attempt` (from 1) failed; `None` to give up.
    pub(super) fn pause(
        &self,
        attempt: u32,
        retry_after: Option<Duration>,
        random: u32,
    ) -> Option<Duration> {
        if attempt >= self.attempts_max || retry_after.is_some_and(|wait| wait > self.pause_max) {
            return None;
        }
        let doubled = self.pause.saturating_mul(1 << (attempt - 1).min(16)).min(self.pause_max);
        let share = f64::from(random) / f64::from(u32::MAX);
        let pause = doubled.mul_f64(0.5 + share / 2.0);
        Some(retry_after.map_or(pause, |wait| wait + pause / 8))
    }
}

/// What the server asks for, in seconds or as a date; at most a day.
pub(super) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    const LONGEST: Duration = Duration::from_hours(24);
    let value = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    let wait = if let Ok(seconds) = value.parse::<u64>() {
        Duration::from_secs(seconds)
    } else {
        let date = DateTime::<Utc>::from(httpdate::parse_http_date(value).ok()?);
        (date - now).to_std().unwrap_or_default()
    };
    Some(wait.min(LONGEST))
}

/// What is known of one host.
struct Host {
    requests: Arc<Semaphore>,
    /// The earliest moment of the next request.
    next: Mutex<Option<Instant>>,
}

/// All hosts that were asked of late.
#[derive(Default)]
pub(super) struct Hosts(Mutex<HashMap<String, Arc<Host>>>);

impl Hosts {
    fn host(&self, name: &str) -> Arc<Host> {
        let mut hosts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= HOSTS_MAX && !hosts.contains_key(name) {
            hosts.retain(|_, host| Arc::strong_count(host) > 1);
        }
        let host = hosts.entry(name.to_owned()).or_insert_with(|| {
            let requests = Arc::new(Semaphore::new(CONCURRENCY));
            Arc::new(Host { requests, next: Mutex::default() })
        });
        Arc::clone(host)
    }

    /// Waits for a turn at a host that wants `interval` between requests. The turn lasts until it
    /// is dropped.
    pub(super) async fn turn(
        &self,
        name: &str,
        interval: Duration,
        pacer: &dyn Pacer,
    ) -> Option<OwnedSemaphorePermit> {
        let host = self.host(name);
        let turn = Arc::clone(&host.requests).acquire_owned().await.ok();
        let now = pacer.now();
        let at = {
            let mut next = host.next.lock().unwrap_or_else(PoisonError::into_inner);
            let at = next.unwrap_or(now).max(now);
            *next = Some(at + interval);
            at
        };
        if at > now {
            pacer.pause(at - now).await;
        }
        turn
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use reqwest::header::HeaderMap;

    use super::{Backoff, retry_after};

    fn asked(value: &str) -> Option<Duration> {
        let now: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert("retry-after", value.parse().unwrap());
        retry_after(&headers, now)
    }

    #[test]
    fn a_server_may_ask_in_seconds_or_by_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(asked("7"), seconds(7));
        assert_eq!(asked("Thu, 01 Jan 2026 00:00:20 GMT"), seconds(20));
        assert_eq!(asked("Wed, 31 Dec 2025 00:00:00 GMT"), seconds(0));
        assert_eq!(asked("99999999999"), seconds(86_400));
        for nonsense in ["", "soon", "-1", "1e300", "Thu, 99 Jan"] {
            assert_eq!(asked(nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn pauses_grow_and_end() {
        let backoff = Backoff {
            attempts_max: 3,
            pause: Duration::from_secs(2),
            pause_max: Duration::from_secs(10),
        };
        assert_eq!(backoff.pause(1, None, 0), Some(Duration::from_secs(1)));
        assert_eq!(backoff.pause(2, None, u32::MAX), Some(Duration::from_secs(4)));
        assert_eq!(backoff.pause(3, None, 0), None);
        let asked = backoff.pause(1, Some(Duration::from_secs(10)), u32::MAX).unwrap();
        assert!(asked >= Duration::from_secs(10), "{asked:?}");
        assert_eq!(backoff.pause(1, Some(Duration::from_secs(11)), 0), None);
    }
}
