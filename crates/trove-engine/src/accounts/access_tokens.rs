//! Personal access tokens: what users make for their own programs.

use chrono::{DateTime, TimeDelta, Utc};
use secrecy::SecretString;
use trove_domain::access::Caller;
use trove_domain::access_token::{
    AccessToken, NewAccessToken, TokenScope, TokenScopes, UnknownTokenScope,
};
use trove_domain::error::{Classify, ErrorKind, StoreError};
use trove_domain::id::AccessTokenId;
use trove_domain::port::ACCESS_TOKENS_MAX;

use crate::Engine;
use crate::administration::InvalidKeyName;
use crate::authentication::new_access_token;

/// Most days that a token can be made for; one without a number never ends.
pub const ACCESS_TOKEN_DAYS_MAX: u32 = 36_500;

/// Most characters of an unknown scope that an error repeats.
const SCOPE_CHARS_MAX: usize = 100;

/// A token as asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessTokenRequest {
    /// What its owner calls it.
    pub name: String,
    /// It works until the end of the day so many days from now (UTC); for ever when `None`.
    pub expiration_days: Option<u32>,
    /// What it is restricted to; everything that its owner may do when `None`.
    pub scopes: Option<TokenScopes>,
}

/// Why a token was not made or ended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AccessTokenError {
    /// The caller has no such token that works.
    #[error("there is no personal access token {0}")]
    NoSuchToken(AccessTokenId),
    /// A token that may do nothing is a mistake.
    #[error("scopes: the list is empty; leave it out for a token with all your rights")]
    NoScopes,
    /// A scope that no token can have.
    #[error("scopes: {0}")]
    Scope(UnknownTokenScope),
    /// The name is no name.
    #[error("name: {0}")]
    Name(InvalidKeyName),
    /// The caller has as many as there may be.
    #[error(
        "you have {ACCESS_TOKENS_MAX} personal access tokens, and that is as many as there may be; delete one first"
    )]
    TooMany,
    /// The database failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Classify for AccessTokenError {
    fn kind(&self) -> ErrorKind {
        match self {
            Self::NoSuchToken(_) => ErrorKind::NotFound,
            Self::NoScopes | Self::Scope(_) | Self::Name(_) | Self::TooMany => ErrorKind::Invalid,
            Self::Store(error) => error.kind(),
        }
    }
}

/// The set of these scopes.
///
/// # Errors
///
/// [`AccessTokenError::NoScopes`], [`AccessTokenError::Scope`] with the first unknown one.
pub fn token_scopes(names: &[String]) -> Result<TokenScopes, AccessTokenError> {
    let scopes = names.iter().map(|name| {
        // Enough to recognise it by, whatever it is.
        let name: String = name.chars().take(SCOPE_CHARS_MAX).collect();
        name.parse::<TokenScope>().map_err(AccessTokenError::Scope)
    });
    let scopes = scopes.collect::<Result<Vec<TokenScope>, _>>()?;
    TokenScopes::new(scopes).ok_or(AccessTokenError::NoScopes)
}

impl Engine {
    /// The caller's own tokens that work, newest first.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when they cannot be read.
    pub async fn own_access_tokens(&self, caller: &Caller) -> Result<Vec<AccessToken>, StoreError> {
        let backends = self.backends();
        backends.access_tokens.list(caller.user, backends.clock.now()).await
    }

    pub(super) async fn create_access_token_unrecorded(
        &self,
        caller: &Caller,
        request: AccessTokenRequest,
    ) -> Result<(AccessToken, SecretString), AccessTokenError> {
        let AccessTokenRequest { name, expiration_days, scopes } = request;
        crate::administration::check_key_name(&name).map_err(AccessTokenError::Name)?;
        let backends = self.backends();
        let created_at = backends.clock.now();
        let token = new_access_token(backends.ids.as_ref());
        let new = NewAccessToken {
            name,
            display: token.display,
            hash: token.hash,
            user: caller.user,
            scopes,
            created_at,
            expires_at: expiration_days.and_then(|days| end_of_day(created_at, days)),
        };
        let made = backends.access_tokens.insert(new).await?.ok_or(AccessTokenError::TooMany)?;
        Ok((made, token.secret))
    }

    pub(super) async fn revoke_access_token_unrecorded(
        &self,
        caller: &Caller,
        id: AccessTokenId,
    ) -> Result<(), AccessTokenError> {
        let backends = self.backends();
        let now = backends.clock.now();
        let revoked = backends.access_tokens.revoke(caller.user, id, now).await?;
        if revoked { Ok(()) } else { Err(AccessTokenError::NoSuchToken(id)) }
    }
}

/// The last microsecond of the day `days` after the one of `now`; `None` beyond the calendar.
fn end_of_day(now: DateTime<Utc>, days: u32) -> Option<DateTime<Utc>> {
    let day = now.date_naive().checked_add_days(chrono::Days::new(u64::from(days) + 1))?;
    let next_day = day.and_hms_opt(0, 0, 0)?.and_utc();
    next_day.checked_sub_signed(TimeDelta::microseconds(1))
}

#[cfg(test)]
mod tests {
    use chrono::{DateTime, Utc};

    use super::{ACCESS_TOKEN_DAYS_MAX, end_of_day};

    #[test]
    fn days_end_with_their_last_microsecond() {
        let check = |now: &str, days, expected: &str| {
            let now: DateTime<Utc> = now.parse().unwrap();
            let expected: DateTime<Utc> = expected.parse().unwrap();
            assert_eq!(end_of_day(now, days), Some(expected), "{now} {days}");
        };
        check("2026-03-01T10:00:00Z", 1, "2026-03-02T23:59:59.999999Z");
        check("2026-03-01T23:59:59.999999Z", 1, "2026-03-02T23:59:59.999999Z");
        check("2026-03-01T00:00:00Z", 30, "2026-03-31T23:59:59.999999Z");
        check("2028-02-28T00:00:00Z", 1, "2028-02-29T23:59:59.999999Z");
        let now: DateTime<Utc> = "2026-03-01T10:00:00Z".parse().unwrap();
        assert!(end_of_day(now, ACCESS_TOKEN_DAYS_MAX).is_some());
    }
}
