//! Who holds a key or a token.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use trove_domain::access::Caller;
use trove_domain::access_token::is_worth_noting;
use trove_domain::error::StoreError;
use trove_domain::port::IdGenerator;
use trove_domain::user::TokenHash;

use crate::{Engine, log};

/// What every API key of Trove begins with, so that scanners for leaked secrets know one.
pub const KEY_PREFIX: &str = "tk_";

/// What every personal access token of Trove begins with.
pub const ACCESS_TOKEN_PREFIX: &str = "trove_pat_";

/// Longest token that is worth hashing, in bytes. Own ones have 50 at most.
const TOKEN_BYTES_MAX: usize = 1024;

/// A new token: secret, hash to store, and what may be shown of it.
pub(crate) struct NewToken {
    pub(crate) secret: SecretString,
    pub(crate) hash: TokenHash,
    pub(crate) display: String,
}

/// Draws an API key of 240 random bits.
pub(crate) fn new_key(ids: &dyn IdGenerator) -> NewToken {
    draw(ids, KEY_PREFIX, |token| {
        format!("{}********{}", &token[..KEY_PREFIX.len() + 4], &token[token.len() - 4..])
    })
}

/// Draws a personal access token of 240 random bits.
pub(crate) fn new_access_token(ids: &dyn IdGenerator) -> NewToken {
    draw(ids, ACCESS_TOKEN_PREFIX, |token| {
        format!("{}****{}", &token[..12], &token[token.len() - 4..])
    })
}

fn draw(ids: &dyn IdGenerator, prefix: &str, display: impl Fn(&str) -> String) -> NewToken {
    let mut random = [0_u8; 30];
    ids.fill_secret(&mut random);
    let token = format!("{prefix}{}", BASE64_URL_SAFE_NO_PAD.encode(random));
    NewToken { hash: hash(&token), display: display(&token), secret: token.into() }
}

/// The secret of a new session, of 256 random bits, and the hash to store.
pub(crate) fn new_session_token(ids: &dyn IdGenerator) -> (SecretString, TokenHash) {
    let mut random = [0_u8; 32];
    ids.fill_secret(&mut random);
    let token = BASE64_URL_SAFE_NO_PAD.encode(random);
    let hash = hash(&token);
    (token.into(), hash)
}

pub(crate) fn hash(token: &str) -> TokenHash {
    TokenHash(Sha256::digest(token.as_bytes()).into())
}

impl Engine {
    /// Who holds `token`, an API key or a personal access token by its beginning; `None` when
    /// nobody does: unknown, revoked, expired, or its user is inactive.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when it cannot be looked up.
    pub async fn authenticate(&self, token: &SecretString) -> Result<Option<Caller>, StoreError> {
        let token = token.expose_secret();
        if token.len() > TOKEN_BYTES_MAX {
            return Ok(None);
        }
        if token.starts_with(KEY_PREFIX) {
            self.key_holder(&hash(token)).await
        } else if token.starts_with(ACCESS_TOKEN_PREFIX) {
            self.access_token_holder(&hash(token)).await
        } else {
            Ok(None)
        }
    }

    async fn key_holder(&self, hash: &TokenHash) -> Result<Option<Caller>, StoreError> {
        let backends = self.backends();
        let Some(holder) = backends.api_keys.find(hash).await? else { return Ok(None) };
        let now = backends.clock.now();
        if is_worth_noting(holder.last_used_at, now) {
            noted(backends.api_keys.note_use(holder.key, now).await);
        }
        Ok(Some(holder.into_caller()))
    }

    async fn access_token_holder(&self, hash: &TokenHash) -> Result<Option<Caller>, StoreError> {
        let backends = self.backends();
        let now = backends.clock.now();
        let found = backends.access_tokens.find(hash, now).await?;
        let Some(holder) = found else { return Ok(None) };
        if is_worth_noting(holder.token.last_used_at, now) {
            noted(backends.access_tokens.note_use(holder.token.id, now).await);
        }
        Ok(Some(holder.into_caller()))
    }
}

/// When a token was last used is no reason to refuse a request.
fn noted(result: Result<(), StoreError>) {
    if let Err(error) = result {
        log::error(&error, "the use of a token could not be noted");
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use trove_testkit::fakes::SequentialIds;

    use super::{new_access_token, new_key};

    #[test]
    fn a_token_shows_its_ends_only() {
        let ids = SequentialIds::default();
        let key = new_key(&ids);
        let secret = key.secret.expose_secret();
        assert_eq!(secret.len(), 43);
        assert_eq!(key.display.len(), 3 + 4 + 8 + 4);
        assert!(secret.starts_with(&key.display[..7]));
        assert_ne!(secret, new_key(&ids).secret.expose_secret());
        let token = new_access_token(&ids);
        let secret = token.secret.expose_secret();
        assert_eq!((secret.len(), token.display.len()), (50, 12 + 4 + 4));
        assert!(secret.starts_with("trove_pat_") && secret.starts_with(&token.display[..12]));
        assert!(secret.ends_with(&token.display[16..]));
    }
}
