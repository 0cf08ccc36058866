//! How many tokens may be used, and by whom.

use chrono::{DateTime, DurationRound, TimeDelta, Utc};

use crate::id::{GroupId, TokenLimitId};

/// Whose tokens a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LimitScope {
    /// Everybody's together.
    Global,
    /// Those of each user.
    User,
    /// Those of the members of a group together.
    Group(GroupId),
}

/// What a limit says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenAllowance {
    /// Whether it counts at all.
    pub enabled: bool,
    /// How many thousand tokens may be used in a period.
    pub budget_thousands: u32,
    /// How long a period is, which ends now.
    pub period_hours: u32,
}

impl TokenAllowance {
    /// Largest budget, in thousands of tokens.
    pub const BUDGET_MAX: u32 = 1_000_000_000;

    /// Longest period: a year. Usage is kept that long.
    pub const HOURS_MAX: u32 = 366 * 24;

    /// How many tokens are too many.
    #[must_use]
    pub fn tokens(&self) -> u64 {
        u64::from(self.budget_thousands) * 1000
    }

    /// Since when usage counts. Usage is kept by the minute.
    #[must_use]
    pub fn since(&self, now: DateTime<Utc>) -> DateTime<Utc> {
        minute(now - self.period())
    }

    /// When usage of a minute counts no longer.
    #[must_use]
    pub fn forgets(&self, used: DateTime<Utc>) -> DateTime<Utc> {
        minute(used) + self.period() + TimeDelta::minutes(1)
    }

    fn period(&self) -> TimeDelta {
        TimeDelta::hours(i64::from(self.period_hours.min(Self::HOURS_MAX)))
    }
}

/// The beginning of the minute.
#[must_use]
pub fn minute(instant: DateTime<Utc>) -> DateTime<Utc> {
    instant.duration_trunc(TimeDelta::minutes(1)).unwrap_or(instant)
}

/// A limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenLimit {
    /// Its key.
    pub id: TokenLimitId,
    /// Whose tokens it counts.
    pub scope: LimitScope,
    /// What it says.
    pub allowance: TokenAllowance,
}

#[cfg(test)]
mod tests {
    use chrono::{TimeDelta, TimeZone, Utc};

    use super::TokenAllowance;

    #[test]
    fn usage_counts_until_its_minute_has_left_the_period() {
        let allowance = TokenAllowance { enabled: true, budget_thousands: 1, period_hours: 24 };
        let used = Utc.with_ymd_and_hms(2026, 1, 1, 10, 30, 59).unwrap();
        let counts = |now| allowance.since(now) <= super::minute(used);
        let end = allowance.forgets(used);
        assert!(counts(used));
        assert!(counts(end - TimeDelta::seconds(1)));
        assert!(!counts(end));
    }
}
