use std::sync::Arc;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD_NO_PAD;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use secrecy::{ExposeSecret, SecretString};
use trove_domain::port::{IdGenerator, SecretCipher, SecretCipherError};
use trove_domain::secret::{SealedSecret, SecretKeyId, SecretPlace};
use zeroize::Zeroizing;

use crate::key::{KeyRing, SecretKey};

/// Length of a nonce in bytes.
const NONCE_BYTES: usize = 24;

/// Longest secret in bytes: far beyond what anybody has, and little to decrypt.
const SECRET_BYTES_MAX: usize = 1 << 20;

/// Begins what is authenticated with a secret, and changes with its layout.
const LAYOUT: &[u8] = b"trove sealed secret 1\0";

/// XChaCha20-Poly1305 with the keys of a ring.
///
/// A sealed secret is base64 of a random nonce and the ciphertext with its tag; the id of the key,
/// table, row and field are authenticated with it.
pub struct XChaChaCipher {
    ids: Arc<dyn IdGenerator>,
    current: SecretKeyId,
    keys: Vec<(SecretKeyId, XChaCha20Poly1305)>,
}

impl XChaChaCipher {
    /// Opens with every key of `ring`, and seals with `current`; `None` when the ring does not hold
    /// that.
    #[must_use]
    pub fn new(ring: &KeyRing, current: &SecretKeyId, ids: Arc<dyn IdGenerator>) -> Option<Self> {
        ring.get(current)?;
        let cipher = |key: &SecretKey| XChaCha20Poly1305::new(key.bytes().into());
        let keys = ring.keys().iter().map(|key| (key.id().clone(), cipher(key))).collect();
        Some(Self { ids, current: current.clone(), keys })
    }

    fn cipher(&self, id: &SecretKeyId) -> Option<&XChaCha20Poly1305> {
        self.keys.iter().find(|(known, _)| known == id).map(|(_, cipher)| cipher)
    }
}

/// What is authenticated with a secret. Every part ends where the next one begins, whatever the
/// names are.
fn associated_data(key: &SecretKeyId, place: SecretPlace) -> Vec<u8> {
    let mut data = LAYOUT.to_vec();
    for part in [key.as_str(), place.table, place.field] {
        data.extend_from_slice(part.as_bytes());
        data.push(0);
    }
    data.extend_from_slice(place.row.as_bytes());
    data
}

impl SecretCipher for XChaChaCipher {
    fn key(&self) -> &SecretKeyId {
        &self.current
    }

    fn seal(
        &self,
        secret: &SecretString,
        place: SecretPlace,
    ) -> Result<SealedSecret, SecretCipherError> {
        let msg = secret.expose_secret().as_bytes();
        // Made together with the ring, so that the key is there.
        let cipher = self
            .cipher(&self.current)
            .ok_or_else(|| SecretCipherError::UnknownKey { key: self.current.clone() })?;
        if msg.len() > SECRET_BYTES_MAX {
            return Err(SecretCipherError::TooLong);
        }
        let mut nonce = [0; NONCE_BYTES];
        self.ids.fill_secret(&mut nonce);
        let aad = associated_data(&self.current, place);
        let sealed = cipher
            .encrypt(&XNonce::from(nonce), Payload { msg, aad: &aad })
            .map_err(|_| SecretCipherError::TooLong)?;
        let body = BASE64_STANDARD_NO_PAD.encode([nonce.as_slice(), &sealed].concat());
        Ok(SealedSecret::new(self.current.clone(), body))
    }

    fn open(
        &self,
        sealed: &SealedSecret,
        place: SecretPlace,
    ) -> Result<SecretString, SecretCipherError> {
        let key = sealed.key();
        let cipher =
            self.cipher(key).ok_or_else(|| SecretCipherError::UnknownKey { key: key.clone() })?;
        let damaged = || SecretCipherError::Damaged { place };
        let bytes = BASE64_STANDARD_NO_PAD.decode(sealed.body()).map_err(|_| damaged())?;
        let (nonce, msg) = bytes.split_first_chunk::<NONCE_BYTES>().ok_or_else(damaged)?;
        let aad = associated_data(key, place);
        let opened = cipher.decrypt(&XNonce::from(*nonce), Payload { msg, aad: &aad });
        let opened = Zeroizing::new(opened.map_err(|_| damaged())?);
        let text = std::str::from_utf8(&opened).map_err(|_| damaged())?;
        Ok(SecretString::from(text))
    }
}
