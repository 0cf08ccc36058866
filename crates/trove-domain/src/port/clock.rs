use chrono::{DateTime, Utc};

/// The time.
///
/// # Contract
///
/// * Two readings in a row never go backwards by more than a correction of the system clock.
/// * Readings have microsecond resolution at most, so that they survive every store unchanged.
pub trait Clock: Send + Sync + 'static {
    /// The present instant.
    fn now(&self) -> DateTime<Utc>;
}
