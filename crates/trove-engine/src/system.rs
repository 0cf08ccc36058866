//! The clock and the randomness of a real process.

use chrono::{DateTime, SubsecRound, Utc};
use rand::RngCore;
use rand::rngs::OsRng;
use trove_domain::port::{Clock, IdGenerator};
use uuid::Uuid;

/// The clock of the machine, in microseconds.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one home of the system clock")]
    fn now(&self) -> DateTime<Utc> {
        Utc::now().trunc_subsecs(6)
    }
}

/// UUIDs of version 7, and secrets from the operating system's generator.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemIds;

impl IdGenerator for SystemIds {
    #[expect(clippy::disallowed_methods, reason = "the one home of random identifiers")]
    fn uuid(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn fill_secret(&self, secret: &mut [u8]) {
        use rand::TryRngCore;
        // Without the system's generator no secret can be made; carrying on would be worse.
        OsRng.unwrap_err().fill_bytes(secret);
    }
}
