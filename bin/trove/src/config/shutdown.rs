use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::load::millis;
use super::rule::Rule;

/// `[shutdown]`: how the service stops.
#[derive(Clone, Debug, Deserialize, Serialize)]
pub struct ShutdownSection {
    /// How long requests and background work may take to finish after a signal to stop, in
    /// milliseconds. Default 30 s: what orchestrators commonly wait before they kill.
    #[serde(rename = "deadline_ms", with = "millis")]
    pub deadline: Duration,
}

impl Default for ShutdownSection {
    fn default() -> Self {
        Self { deadline: Duration::from_secs(30) }
    }
}

pub(super) const RULES: &[Rule] = &[Rule {
    key: "shutdown.deadline_ms",
    accepted: "a whole number of milliseconds from 1000 to 3600000",
    holds: |config| {
        (Duration::from_secs(1)..=Duration::from_hours(1)).contains(&config.shutdown.deadline)
    },
}];
