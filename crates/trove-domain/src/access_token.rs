//! Personal access tokens: what users make for their own programs.

use std::fmt;
use std::str::FromStr;

use chrono::{DateTime, Utc};

use crate::access::{Caller, Proof};
use crate::id::{AccessTokenId, UserId};
use crate::user::{TokenHash, User};

/// What a token can be restricted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenScope {
    /// Searching, and what is needed to say what to search.
    ReadSearch,
    /// Reading chats.
    ReadChat,
    /// Chatting; implies reading.
    WriteChat,
    /// Using language models directly.
    UseLlmGateway,
}

/// Why a string is no scope.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a scope that a token can have")]
pub struct UnknownTokenScope(pub String);

impl TokenScope {
    /// Every scope.
    pub const ALL: [Self; 4] =
        [Self::ReadSearch, Self::ReadChat, Self::WriteChat, Self::UseLlmGateway];

    /// The value on the wire and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ReadSearch => "read:search",
            Self::ReadChat => "read:chat",
            Self::WriteChat => "write:chat",
            Self::UseLlmGateway => "use:llm_gateway",
        }
    }

    /// What whoever has this scope has, too.
    #[must_use]
    pub const fn implies(self) -> Option<Self> {
        match self {
            Self::WriteChat => Some(Self::ReadChat),
            Self::ReadSearch | Self::ReadChat | Self::UseLlmGateway => None,
        }
    }

    const fn bit(self) -> u8 {
        match self {
            Self::ReadSearch => 1,
            Self::ReadChat => 2,
            Self::WriteChat => 4,
            Self::UseLlmGateway => 8,
        }
    }
}

impl fmt::Display for TokenScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TokenScope {
    type Err = UnknownTokenScope;

    fn from_str(value: &str) -> Result<Self, UnknownTokenScope> {
        Self::ALL
            .into_iter()
            .find(|scope| scope.as_str() == value)
            .ok_or_else(|| UnknownTokenScope(value.to_owned()))
    }
}

/// A set of scopes, never empty: a token that may do nothing is a mistake.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct TokenScopes(u8);

impl TokenScopes {
    /// The set; `None` of none.
    #[must_use]
    pub fn new(scopes: impl IntoIterator<Item = TokenScope>) -> Option<Self> {
        let bits = scopes.into_iter().fold(0, |bits, scope| bits | scope.bit());
        (bits != 0).then_some(Self(bits))
    }

    /// The scopes as they were given, in the order of [`TokenScope::ALL`].
    pub fn iter(self) -> impl Iterator<Item = TokenScope> {
        TokenScope::ALL.into_iter().filter(move |scope| self.0 & scope.bit() != 0)
    }

    /// Whether the set allows what `scope` stands for.
    #[must_use]
    pub fn allow(self, scope: TokenScope) -> bool {
        self.iter().any(|held| held == scope || held.implies() == Some(scope))
    }
}

impl fmt::Debug for TokenScopes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(TokenScope::as_str)).finish()
    }
}

/// A token as it is kept: everything but the secret.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessToken {
    /// Its key.
    pub id: AccessTokenId,
    /// What its owner calls it. Names need not differ.
    pub name: String,
    /// Beginning and end of the token, to recognise it by.
    pub display: String,
    /// Whose rights it has.
    pub user: UserId,
    /// What it is restricted to.
    pub scopes: Option<TokenScopes>,
    /// When it was made.
    pub created_at: DateTime<Utc>,
    /// The last instant at which it works, if it ends.
    pub expires_at: Option<DateTime<Utc>>,
    /// When it was last used, to within [`LAST_USE_PRECISION_SECONDS`].
    pub last_used_at: Option<DateTime<Utc>>,
}

/// How old the kept instant of the last use of a key or a token may become while it is used.
pub const LAST_USE_PRECISION_SECONDS: i64 = 300;

/// Whether a use at `now` is worth writing down after the one that is kept.
#[must_use]
pub fn is_worth_noting(last_used_at: Option<DateTime<Utc>>, now: DateTime<Utc>) -> bool {
    last_used_at.is_none_or(|last| (now - last).num_seconds() >= LAST_USE_PRECISION_SECONDS)
}

/// A token to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAccessToken {
    /// What its owner calls it.
    pub name: String,
    /// Beginning and end of the token.
    pub display: String,
    /// Hash of the token.
    pub hash: TokenHash,
    /// Whose rights it has.
    pub user: UserId,
    /// What it is restricted to.
    pub scopes: Option<TokenScopes>,
    /// When it is made.
    pub created_at: DateTime<Utc>,
    /// The last instant at which it works, if it ends.
    pub expires_at: Option<DateTime<Utc>>,
}

/// A token that works, with its owner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenHolder {
    /// The token.
    pub token: AccessToken,
    /// Its owner, who is active.
    pub user: User,
}

impl TokenHolder {
    /// The caller that a request with this token comes from.
    #[must_use]
    pub fn into_caller(self) -> Caller {
        Caller {
            user: self.user.id,
            email: self.user.email,
            role: self.user.role,
            proof: Proof::AccessToken { id: self.token.id, scopes: self.token.scopes },
        }
    }
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, TimeDelta};

    use super::TokenScope::{self, ReadChat, ReadSearch, UseLlmGateway, WriteChat};
    use super::{TokenScopes, is_worth_noting};

    #[test]
    fn scopes_read_back() {
        for scope in TokenScope::ALL {
            assert_eq!(scope.as_str().parse(), Ok(scope));
        }
        assert!("admin".parse::<TokenScope>().is_err());
        assert!("READ:SEARCH".parse::<TokenScope>().is_err());
    }

    #[test]
    fn a_set_allows_what_is_in_it_and_what_that_implies() {
        assert_eq!(TokenScopes::new([]), None);
        let check = |held: &[TokenScope], allowed: &[TokenScope]| {
            let set = TokenScopes::new(held.iter().copied()).unwrap();
            assert_eq!(set.iter().collect::<Vec<_>>(), held);
            for scope in TokenScope::ALL {
                assert_eq!(set.allow(scope), allowed.contains(&scope), "{set:?} {scope}");
            }
        };
        check(&[ReadSearch], &[ReadSearch]);
        check(&[ReadChat], &[ReadChat]);
        check(&[WriteChat], &[ReadChat, WriteChat]);
        check(&[UseLlmGateway], &[UseLlmGateway]);
        check(&[ReadSearch, WriteChat], &[ReadSearch, ReadChat, WriteChat]);
    }

    #[test]
    fn a_use_is_noted_every_five_minutes() {
        let now = DateTime::from_timestamp_secs(1_767_225_600).unwrap();
        assert!(is_worth_noting(None, now));
        assert!(!is_worth_noting(Some(now - TimeDelta::seconds(299)), now));
        assert!(is_worth_noting(Some(now - TimeDelta::seconds(300)), now));
        // The clock was set back.
        assert!(!is_worth_noting(Some(now + TimeDelta::seconds(9)), now));
    }
}
