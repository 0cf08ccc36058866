//! How often somebody may try.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use governor::clock::Clock as GovernorClock;
use governor::middleware::NoOpMiddleware;
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};
use trove_domain::port::{Clock, IdGenerator};

use super::{AccountConfig, SignInError};

/// In which time the attempts of the configuration come back.
const PERIOD: Duration = Duration::from_mins(10);

/// Places that are counted apart. What falls into one place is counted together, so that no number
/// of made-up addresses takes more memory than this.
const PLACES: u64 = 1 << 16;

type Limiter = RateLimiter<u64, HashMapStateStore<u64>, ThrottleClock, NoOpMiddleware<Duration>>;

/// Counts attempts, by the address that is tried and by where they come from.
pub(crate) struct Throttle {
    addresses: Option<Limiter>,
    sources: Option<Limiter>,
    clock: ThrottleClock,
    /// Keeps others from finding addresses that fall into one place.
    secret: [u8; 16],
}

impl Throttle {
    pub(crate) fn new(
        config: &AccountConfig,
        clock: Arc<dyn Clock>,
        ids: &dyn IdGenerator,
    ) -> Self {
        let clock = ThrottleClock(clock);
        let limiter = |attempts: u32| {
            let burst = NonZeroU32::new(attempts)?;
            let quota = Quota::with_period(PERIOD / attempts)?.allow_burst(burst);
            Some(Limiter::hashmap_with_clock(quota, clock.clone()))
        };
        let mut secret = [0; 16];
        ids.fill_secret(&mut secret);
        Self {
            addresses: limiter(config.attempts_per_address),
            sources: limiter(config.attempts_per_source),
            clock,
            secret,
        }
    }

    /// Counts an attempt from `source`.
    pub(crate) fn at_source(&self, source: &str) -> Result<(), SignInError> {
        self.count(self.sources.as_ref(), source)
    }

    /// Counts a guess of the password of `address`.
    pub(crate) fn at_address(&self, address: &str) -> Result<(), SignInError> {
        self.count(self.addresses.as_ref(), &trove_domain::email::email_key(address))
    }

    fn count(&self, limiter: Option<&Limiter>, key: &str) -> Result<(), SignInError> {
        let Some(limiter) = limiter else { return Ok(()) };
        let checked = limiter.check_key(&self.place(key));
        checked.map_err(|not_until| SignInError::TooManyAttempts {
            retry_after: not_until.wait_time_from(self.clock.now()),
        })
    }

    fn place(&self, key: &str) -> u64 {
        let mut hasher = DefaultHasher::new();
        hasher.write(&self.secret);
        key.hash(&mut hasher);
        hasher.finish() % PLACES
    }
}

/// The port as the limiter sees it.
#[derive(Clone)]
struct ThrottleClock(Arc<dyn Clock>);

impl GovernorClock for ThrottleClock {
    type Instant = Duration;

    fn now(&self) -> Duration {
        let micros = self.0.now().timestamp_micros();
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use chrono::TimeDelta;
    use trove_testkit::fakes::{FakeClock, SequentialIds};

    use super::Throttle;
    use crate::accounts::{AccountConfig, SignInError};

    fn throttle(per_address: u32, per_source: u32) -> (Throttle, Arc<FakeClock>) {
        let clock = Arc::new(FakeClock::default());
        let config = AccountConfig {
            attempts_per_address: per_address,
            attempts_per_source: per_source,
            ..AccountConfig::default()
        };
        let ids = SequentialIds::default();
        (Throttle::new(&config, Arc::<FakeClock>::clone(&clock), &ids), clock)
    }

    #[test]
    fn attempts_are_counted_by_address_and_come_back() {
        let (throttle, clock) = throttle(5, 0);
        for _ in 0..5 {
            throttle.at_address("reader@example.com").unwrap();
        }
        let refused = throttle.at_address("Reader@Example.com").unwrap_err();
        let SignInError::TooManyAttempts { retry_after } = refused else { panic!("{refused:?}") };
        assert_eq!(retry_after, Duration::from_mins(2));
        throttle.at_address("other@example.com").unwrap();
        clock.advance(TimeDelta::seconds(119));
        throttle.at_address("reader@example.com").unwrap_err();
        clock.advance(TimeDelta::seconds(1));
        throttle.at_address("reader@example.com").unwrap();
        throttle.at_address("reader@example.com").unwrap_err();
        // Another count, which is switched off.
        for _ in 0..1000 {
            throttle.at_source("192.0.2.1").unwrap();
        }
    }

    #[test]
    fn attempts_are_counted_by_source() {
        let (throttle, _) = throttle(0, 2);
        throttle.at_source("192.0.2.1").unwrap();
        throttle.at_source("192.0.2.1").unwrap();
        throttle.at_source("192.0.2.1").unwrap_err();
        throttle.at_source("192.0.2.2").unwrap();
    }

    #[test]
    fn made_up_addresses_do_not_take_memory_without_end() {
        let (throttle, _) = throttle(1_000_000, 0);
        for n in 0..200_000 {
            throttle.at_address(&format!("user{n}@example.com")).unwrap();
        }
        assert!(throttle.addresses.as_ref().unwrap().len() <= 65_536);
    }
}
