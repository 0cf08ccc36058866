//! Limits of tokens: what administrators set, and whether somebody may use more.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use chrono::{DateTime, Utc};
use trove_domain::access::{Caller, Role};
use trove_domain::audit::AuditAction;
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::group::Group;
use trove_domain::id::{GroupId, TokenLimitId};
use trove_domain::port::UsageOf;
use trove_domain::token_limit::{LimitScope, TokenAllowance, TokenLimit};

use crate::Engine;
use crate::audit::{Details, details};

/// Most limits of everybody, of each user, or of one group.
const LIMITS_MAX: usize = 100;

/// Why a limit was not shown or changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenLimitError {
    /// There is no such limit.
    #[error("there is no token rate limit {0}")]
    NoSuchLimit(TokenLimitId),
    /// There is no such group that the caller controls.
    #[error("there is no user group {0}")]
    NoSuchGroup(GroupId),
    /// There are as many limits of the kind as there may be.
    #[error("there may be at most {LIMITS_MAX} limits of one kind; delete one first")]
    TooMany,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for TokenLimitError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchLimit(_) | Self::NoSuchGroup(_) => ErrorKind::NotFound,
            Self::TooMany => ErrorKind::Invalid,
            Self::Store(error) => error.kind(),
        }
    }
}

/// Whose budget is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpentBudget {
    /// That of the whole deployment.
    Global,
    /// The user's own.
    User,
    /// Those of all groups of the user that have one.
    Groups,
}

impl SpentBudget {
    /// The value used in the interface.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Global => "global",
            Self::User => "user",
            Self::Groups => "user_group",
        }
    }
}

/// Why somebody may use no more tokens now.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenBudgetError {
    /// A budget is used up.
    #[error("the token budget of {} is used up; try again later", match scope {
        SpentBudget::Global => "the organization",
        SpentBudget::User => "this user",
        SpentBudget::Groups => "the user's groups",
    })]
    Spent {
        /// Whose.
        scope: SpentBudget,
        /// When there is something left again.
        reset_at: DateTime<Utc>,
        /// How long that is.
        retry_after: Duration,
    },
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for TokenBudgetError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::Spent { .. } => ErrorKind::RateLimited,
            Self::Store(error) => error.kind(),
        }
    }

    fn retry_after(&self) -> Option<Duration> {
        match self {
            Self::Spent { retry_after, .. } => Some(*retry_after),
            Self::Store(_) => None,
        }
    }
}

impl Engine {
    /// Sets a limit.
    ///
    /// # Errors
    ///
    /// [`TokenLimitError`]; nothing is set then.
    pub async fn create_token_limit(
        &self,
        scope: LimitScope,
        allowance: TokenAllowance,
    ) -> Result<TokenLimit, TokenLimitError> {
        let subject = match scope {
            LimitScope::Global => "everybody".to_owned(),
            LimitScope::User => "each user".to_owned(),
            LimitScope::Group(group) => format!("group {group}"),
        };
        let create = async {
            let present = self.backends().token_limits.limits_of(scope).await?;
            if present.is_some_and(|present| present.len() >= LIMITS_MAX) {
                return Err(TokenLimitError::TooMany);
            }
            let made = self.backends().token_limits.insert_limit(scope, allowance).await?;
            made.ok_or(match scope {
                LimitScope::Group(group) => TokenLimitError::NoSuchGroup(group),
                // Those exist.
                LimitScope::Global | LimitScope::User => TokenLimitError::NoSuchGroup(GroupId(0)),
            })
        };
        let told = |limit: &TokenLimit| details([("token_limit", limit.id.to_string())]);
        let wanted = described(allowance);
        let action = AuditAction::CreateTokenLimit;
        self.recorded_as(action, Some(subject), wanted, create, told).await
    }

    /// Changes a limit.
    ///
    /// # Errors
    ///
    /// [`TokenLimitError`]; nothing changes then.
    pub async fn update_token_limit(
        &self,
        id: TokenLimitId,
        allowance: TokenAllowance,
    ) -> Result<TokenLimit, TokenLimitError> {
        let update = async {
            let changed = self.backends().token_limits.update_limit(id, allowance).await?;
            changed.ok_or(TokenLimitError::NoSuchLimit(id))
        };
        let subject = format!("token_limit {id}");
        self.recorded(AuditAction::UpdateTokenLimit, subject, described(allowance), update).await
    }

    /// Removes a limit.
    ///
    /// # Errors
    ///
    /// [`TokenLimitError`]; it stays then.
    pub async fn delete_token_limit(&self, id: TokenLimitId) -> Result<(), TokenLimitError> {
        let delete = async {
            let gone = self.backends().token_limits.remove_limit(id).await?;
            if gone { Ok(()) } else { Err(TokenLimitError::NoSuchLimit(id)) }
        };
        let subject = format!("token_limit {id}");
        self.recorded(AuditAction::DeleteTokenLimit, subject, Details::new(), delete).await
    }

    /// The limits of a scope, by rising id. Those of a group are for administrators and for whoever
    /// curates it.
    ///
    /// # Errors
    ///
    /// [`TokenLimitError`].
    pub async fn token_limits(
        &self,
        caller: &Caller,
        scope: LimitScope,
    ) -> Result<Vec<TokenLimit>, TokenLimitError> {
        let no_group = |group| TokenLimitError::NoSuchGroup(group);
        if let LimitScope::Group(group) = scope
            && !self.controls(caller, group).await?
        {
            return Err(no_group(group));
        }
        let limits = self.backends().token_limits.limits_of(scope).await?;
        match (limits, scope) {
            (None, LimitScope::Group(group)) => Err(no_group(group)),
            (limits, _) => Ok(limits.unwrap_or_default()),
        }
    }

    /// The limits of all groups that have some.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn token_limits_of_groups(&self) -> Result<Vec<(Group, TokenLimit)>, StoreError> {
        self.backends().token_limits.limits_of_groups().await
    }

    /// Whether the caller may use more tokens. Asked before they are used: whoever is let in may go
    /// beyond the budget once.
    ///
    /// Any limit of a scope counts; of several groups with limits, all have to be used up.
    ///
    /// # Errors
    ///
    /// [`TokenBudgetError`].
    pub async fn check_token_budget(&self, caller: &Caller) -> Result<(), TokenBudgetError> {
        let now = self.backends().clock.now();
        let limits = self.backends().token_limits.limits_for(caller.user).await?;
        let of = |scope| {
            let limits = limits.iter().filter(move |limit| limit.scope == scope);
            limits.map(|limit| limit.allowance).collect::<Vec<_>>()
        };
        let spent = |scope, reset_at: DateTime<Utc>| TokenBudgetError::Spent {
            scope,
            reset_at,
            retry_after: (reset_at - now).to_std().unwrap_or_default().max(Duration::from_secs(1)),
        };
        let global = self.reset(UsageOf::Everybody, &of(LimitScope::Global), now).await?;
        if let Some(reset) = global {
            return Err(spent(SpentBudget::Global, reset));
        }
        let own = self.reset(UsageOf::User(caller.user), &of(LimitScope::User), now).await?;
        if let Some(reset) = own {
            return Err(spent(SpentBudget::User, reset));
        }
        let groups: BTreeSet<GroupId> = limits
            .iter()
            .filter_map(|limit| match limit.scope {
                LimitScope::Group(group) => Some(group),
                LimitScope::Global | LimitScope::User => None,
            })
            .collect();
        let mut first = None;
        for group in groups {
            let allowances = of(LimitScope::Group(group));
            match self.reset(UsageOf::Group(group), &allowances, now).await? {
                None => return Ok(()),
                Some(reset) => {
                    first = Some(first.map_or(reset, |first: DateTime<Utc>| first.min(reset)));
                }
            }
        }
        first.map_or(Ok(()), |reset| Err(spent(SpentBudget::Groups, reset)))
    }

    /// When none of the allowances is used up any more; nothing when none is now.
    async fn reset(
        &self,
        of: UsageOf,
        allowances: &[TokenAllowance],
        now: DateTime<Utc>,
    ) -> Result<Option<DateTime<Utc>>, StoreError> {
        let store = &self.backends().token_limits;
        let mut latest = None;
        // What several limits ask for is looked up once.
        let mut sums: BTreeMap<DateTime<Utc>, u64> = BTreeMap::new();
        for allowance in allowances {
            let since = allowance.since(now);
            let used = match sums.get(&since) {
                Some(used) => *used,
                None => store.used_since(of, since).await?,
            };
            sums.insert(since, used);
            if used < allowance.tokens() {
                continue;
            }
            let mut left = used;
            let mut reset = allowance.forgets(now);
            for (minute, tokens) in store.usage_since(of, since).await? {
                left = left.saturating_sub(tokens);
                if left < allowance.tokens() {
                    reset = allowance.forgets(minute);
                    break;
                }
            }
            latest = Some(latest.map_or(reset, |latest: DateTime<Utc>| latest.max(reset)));
        }
        Ok(latest)
    }

    /// Whether a caller controls a group, or would if there were one.
    async fn controls(&self, caller: &Caller, group: GroupId) -> Result<bool, StoreError> {
        if caller.role == Role::Admin {
            return Ok(true);
        }
        let memberships = self.backends().groups.memberships(caller.user).await?;
        Ok(memberships.iter().any(|membership| {
            let controls = match caller.role {
                Role::GlobalCurator => true,
                Role::Curator => membership.curator,
                _ => false,
            };
            controls && membership.group == group
        }))
    }
}

fn described(allowance: TokenAllowance) -> Details {
    details([
        ("enabled", allowance.enabled.to_string()),
        ("token_budget", allowance.budget_thousands.to_string()),
        ("period_hours", allowance.period_hours.to_string()),
    ])
}
