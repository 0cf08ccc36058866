//! Secrets at rest: an authenticated cipher, and the keys for it.
//!
//! [`XChaChaCipher`] encrypts with XChaCha20-Poly1305: the nonce is long enough to be drawn at
//! random for each secret, and the place that a secret belongs to is authenticated with it.
//! A [`KeyRing`] holds the keys, several while one replaces another, and [`KeyFile`] keeps them in a
//! file that only its owner reads.

mod cipher;
mod file;
mod key;

pub use cipher::XChaChaCipher;
pub use file::{KeyFile, KeyFileError};
pub use key::{InvalidKey, KEY_BYTES, KeyRing, SecretKey};
