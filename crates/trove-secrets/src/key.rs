use std::fmt;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use secrecy::SecretString;
use sha2::{Digest, Sha256};
use trove_domain::port::IdGenerator;
use trove_domain::secret::SecretKeyId;
use zeroize::Zeroizing;

/// Length of a key in bytes.
pub const KEY_BYTES: usize = 32;

/// Most keys of a ring: one in use, one to come, and some to spare.
const KEYS_MAX: usize = 8;

/// Bytes of an id: enough to tell keys apart, and no help in finding one.
const ID_BYTES: usize = 8;

/// A key. Overwritten in memory when it is dropped, and shown by its id only.
#[derive(Clone)]
pub struct SecretKey {
    id: SecretKeyId,
    bytes: Zeroizing<[u8; KEY_BYTES]>,
}

impl SecretKey {
    /// Draws a key.
    ///
    /// # Errors
    ///
    /// [`InvalidKey::NotRandom`] when the generator did not draw.
    pub fn generate(ids: &dyn IdGenerator) -> Result<Self, InvalidKey> {
        let mut bytes = Zeroizing::new([0; KEY_BYTES]);
        ids.fill_secret(&mut *bytes);
        Self::new(bytes)
    }

    fn new(bytes: Zeroizing<[u8; KEY_BYTES]>) -> Result<Self, InvalidKey> {
        // Zeros from a broken device, or a filler that somebody typed: refused.
        if bytes.iter().all(|byte| *byte == bytes[0]) {
            return Err(InvalidKey::NotRandom);
        }
        let mut hash = Sha256::new();
        hash.update(b"trove secret key id\0");
        hash.update(*bytes);
        let hash = hash.finalize();
        let digits = hash.iter().take(ID_BYTES).flat_map(|byte| [byte >> 4, byte & 15]);
        let id: String =
            digits.filter_map(|digit| char::from_digit(u32::from(digit), 16)).collect();
        let id = SecretKeyId::new(id).map_err(|_| InvalidKey::NotRandom)?;
        Ok(Self { id, bytes })
    }

    /// Reads base64 of [`KEY_BYTES`] bytes.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`], which shows nothing of the text.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let decoded = BASE64_STANDARD.decode(text.trim()).map(Zeroizing::new);
        let decoded = decoded.map_err(|_| InvalidKey::NotBase64)?;
        let bytes: [u8; KEY_BYTES] = decoded
            .as_slice()
            .try_into()
            .map_err(|_| InvalidKey::WrongLength { bytes: decoded.len() })?;
        Self::new(Zeroizing::new(bytes))
    }

    /// The form for a file.
    #[must_use]
    pub fn to_text(&self) -> SecretString {
        BASE64_STANDARD.encode(*self.bytes).into()
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> &SecretKeyId {
        &self.id
    }

    pub(crate) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.bytes
    }
}

impl fmt::Debug for SecretKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SecretKey({}, ..)", self.id)
    }
}

/// Why a text is no key, or no list of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKey {
    /// It is not base64.
    #[error("it is not base64; `head -c 32 /dev/urandom | base64` makes a key")]
    NotBase64,
    /// It is base64 of something longer or shorter.
    #[error(
        "it has {bytes} bytes instead of {KEY_BYTES}; `head -c 32 /dev/urandom | base64` makes a key"
    )]
    WrongLength {
        /// How long it is.
        bytes: usize,
    },
    /// All bytes are the same.
    #[error("it is not random; `head -c 32 /dev/urandom | base64` makes a key")]
    NotRandom,
    /// There is no key.
    #[error("there is no key")]
    Empty,
    /// There are more keys than anybody needs.
    #[error("there are more than {KEYS_MAX} keys")]
    TooMany,
    /// A key is there twice.
    #[error("a key is there twice")]
    Repeated,
}

/// One key or several, each once, oldest first. The last one is to be used once the database's
/// secrets are sealed with it.
#[derive(Clone, Debug)]
pub struct KeyRing(Vec<SecretKey>);

impl KeyRing {
    /// A ring of `keys`.
    ///
    /// # Errors
    ///
    /// [`InvalidKey::Empty`], [`InvalidKey::TooMany`], [`InvalidKey::Repeated`].
    pub fn new(keys: Vec<SecretKey>) -> Result<Self, InvalidKey> {
        if keys.is_empty() {
            return Err(InvalidKey::Empty);
        }
        if keys.len() > KEYS_MAX {
            return Err(InvalidKey::TooMany);
        }
        let repeated = |(at, key): (usize, &SecretKey)| keys[..at].iter().any(|k| k.id == key.id);
        if keys.iter().enumerate().any(repeated) {
            return Err(InvalidKey::Repeated);
        }
        Ok(Self(keys))
    }

    /// Reads keys that are separated by commas or white space.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] of the first text that is no key.
    pub fn parse(text: &str) -> Result<Self, InvalidKey> {
        let separates = |c: char| c == ',' || c.is_whitespace();
        let texts = text.split(separates).filter(|text| !text.is_empty());
        // One more than allowed is enough to know.
        let keys: Result<Vec<_>, _> = texts.take(KEYS_MAX + 1).map(SecretKey::parse).collect();
        Self::new(keys?)
    }

    /// The keys, oldest first.
    #[must_use]
    pub fn keys(&self) -> &[SecretKey] {
        &self.0
    }

    /// The last key.
    #[must_use]
    pub fn newest(&self) -> &SecretKey {
        // Never empty by construction.
        &self.0[self.0.len() - 1]
    }

    /// The key with this id.
    #[must_use]
    pub fn get(&self, id: &SecretKeyId) -> Option<&SecretKey> {
        self.0.iter().find(|key| key.id == *id)
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;
    use trove_testkit::fakes::SequentialIds;

    use super::{InvalidKey, KeyRing, SecretKey};

    #[test]
    fn a_key_reads_back_and_is_shown_by_its_id() {
        let ids = SequentialIds::default();
        let key = SecretKey::generate(&ids).unwrap();
        let text = key.to_text();
        let again = SecretKey::parse(&format!(" {}\n", text.expose_secret())).unwrap();
        assert_eq!(again.id(), key.id());
        assert_eq!(again.bytes(), key.bytes());
        assert_eq!(key.id().as_str().len(), 16);
        assert_eq!(format!("{key:?}"), format!("SecretKey({}, ..)", key.id()));
        assert_ne!(SecretKey::generate(&ids).unwrap().id(), key.id());
    }

    #[test]
    fn what_is_no_key_is_told_why() {
        let check = |text: &str, why: InvalidKey| {
            assert_eq!(KeyRing::parse(text).unwrap_err(), why, "{text}");
        };
        check("", InvalidKey::Empty);
        check(" , \n", InvalidKey::Empty);
        check("hunter2!", InvalidKey::NotBase64);
        check("aGVsbG8=", InvalidKey::WrongLength { bytes: 5 });
        check("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=", InvalidKey::NotRandom);
        let ids = SequentialIds::default();
        let make = || SecretKey::generate(&ids).unwrap().to_text().expose_secret().to_owned();
        let (a, b) = (make(), make());
        check(&format!("{a},{b},{a}"), InvalidKey::Repeated);
        let many: Vec<String> = (0..100).map(|_| make()).collect();
        check(&many.join("\n"), InvalidKey::TooMany);
        let ring = KeyRing::parse(&format!("{a}\n{b}\n")).unwrap();
        assert_eq!(ring.newest().to_text().expose_secret(), b);
        assert!(ring.get(ring.keys()[0].id()).is_some());
    }
}
