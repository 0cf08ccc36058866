//! When a request is made again.

use std::time::Duration;

use chrono::{DateTime, Utc};
use reqwest::header::{HeaderMap, RETRY_AFTER};

/// How often and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Most attempts in all.
    pub attempts_max: u32,
    /// Longest pause after the first attempt; it doubles with each.
    pub pause: Duration,
    /// Longest pause that a server may ask for; a request that would have to wait longer fails.
    pub pause_max: Duration,
}

impl Default for RetryPolicy {
    /// Four attempts within some 4 s, or as the server asks, up to half a minute.
    fn default() -> Self {
        Self {
            attempts_max: 4,
            pause: Duration::from_millis(600),
            pause_max: Duration::from_secs(30),
        }
    }
}

impl RetryPolicy {
    /// How long to wait after attempt number `attempt` (from 1) failed; `None` to give up. `random`
    /// spreads clients that failed together: the pause is between a half of its length and all of
    /// it, and never shorter than the server asked for.
    pub(crate) fn pause(
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

/// What the server asks for: seconds or a date, or milliseconds in a header of OpenAI's own.
pub(crate) fn retry_after(headers: &HeaderMap, now: DateTime<Utc>) -> Option<Duration> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    if let Some(ms) = text("retry-after-ms").and_then(|ms| ms.trim().parse().ok()) {
        return Some(Duration::from_millis(ms));
    }
    let value = text(RETRY_AFTER.as_str())?.trim();
    if let Ok(seconds) = value.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = DateTime::<Utc>::from(httpdate::parse_http_date(value).ok()?);
    Some((date - now).to_std().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use chrono::{DateTime, Utc};
    use reqwest::header::HeaderMap;

    use super::{RetryPolicy, retry_after};

    fn asked(name: &'static str, value: &str) -> Option<Duration> {
        let now: DateTime<Utc> = "2026-01-01T00:00:00Z".parse().unwrap();
        let mut headers = HeaderMap::new();
        headers.insert(name, value.parse().unwrap());
        retry_after(&headers, now)
    }

    #[test]
    fn a_server_may_ask_in_seconds_or_by_date() {
        let seconds = |seconds| Some(Duration::from_secs(seconds));
        assert_eq!(asked("retry-after", "7"), seconds(7));
        assert_eq!(asked("retry-after", " 1.5 "), Some(Duration::from_millis(1500)));
        assert_eq!(asked("retry-after", "Thu, 01 Jan 2026 00:00:20 GMT"), seconds(20));
        assert_eq!(asked("retry-after", "Wed, 31 Dec 2025 00:00:00 GMT"), seconds(0));
        assert_eq!(asked("retry-after-ms", "250"), Some(Duration::from_millis(250)));
        for nonsense in ["", "soon", "-1", "NaN", "1e300", "Thu, 99 Jan"] {
            assert_eq!(asked("retry-after", nonsense), None, "{nonsense}");
        }
    }

    #[test]
    fn pauses_grow_and_end() {
        let policy = RetryPolicy {
            attempts_max: 3,
            pause: Duration::from_secs(2),
            pause_max: Duration::from_secs(10),
        };
        assert_eq!(policy.pause(1, None, 0), Some(Duration::from_secs(1)));
        assert_eq!(policy.pause(1, None, u32::MAX), Some(Duration::from_secs(2)));
        assert_eq!(policy.pause(2, None, u32::MAX), Some(Duration::from_secs(4)));
        assert_eq!(policy.pause(3, None, 0), None);
        let asked = policy.pause(1, Some(Duration::from_secs(10)), u32::MAX).unwrap();
        assert!(asked >= Duration::from_secs(10), "{asked:?}");
        assert_eq!(policy.pause(1, Some(Duration::from_secs(11)), 0), None);
        let many = RetryPolicy { attempts_max: u32::MAX, ..policy };
        assert_eq!(many.pause(4000, None, u32::MAX), Some(Duration::from_secs(10)));
    }
}
