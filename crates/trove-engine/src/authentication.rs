//! Who holds a key.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest, Sha256};
use trove_domain::access::Caller;
use trove_domain::error::StoreError;
use trove_domain::port::IdGenerator;
use trove_domain::user::TokenHash;

use crate::Engine;

/// What every API key of Trove begins with, so that scanners for leaked secrets know one.
pub const KEY_PREFIX: &str = "tk_";

/// Longest token that is worth hashing, in bytes. Own keys have 43.
const TOKEN_BYTES_MAX: usize = 1024;

/// A new token: secret, hash to store, and what may be shown of it.
pub(crate) struct NewToken {
    pub(crate) secret: SecretString,
    pub(crate) hash: TokenHash,
    pub(crate) display: String,
}

/// Draws a token of 240 random bits.
pub(crate) fn new_token(ids: &dyn IdGenerator) -> NewToken {
    let mut random = [0_u8; 30];
    ids.fill_secret(&mut random);
    let token = format!("{KEY_PREFIX}{}", BASE64_URL_SAFE_NO_PAD.encode(random));
    let display =
        format!("{}********{}", &token[..KEY_PREFIX.len() + 4], &token[token.len() - 4..]);
    NewToken { hash: hash(&token), display, secret: token.into() }
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
    /// Who holds `token`; `None` when nobody does: unknown, revoked, or its user is inactive.
    ///
    /// # Errors
    ///
    /// [`StoreError`] when the keys cannot be looked up.
    pub async fn authenticate(&self, token: &SecretString) -> Result<Option<Caller>, StoreError> {
        let token = token.expose_secret();
        if token.is_empty() || token.len() > TOKEN_BYTES_MAX {
            return Ok(None);
        }
        let holder = self.backends().api_keys.find(&hash(token)).await?;
        Ok(holder.map(trove_domain::user::KeyHolder::into_caller))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use trove_testkit::fakes::SequentialIds;

    use super::new_token;

    #[test]
    fn a_token_shows_its_ends_only() {
        let ids = SequentialIds::default();
        let token = new_token(&ids);
        let secret = token.secret.expose_secret();
        assert_eq!(secret.len(), 43);
        assert_eq!(token.display.len(), 3 + 4 + 8 + 4);
        assert!(secret.starts_with(&token.display[..7]));
        assert_ne!(secret, new_token(&ids).secret.expose_secret());
    }
}
