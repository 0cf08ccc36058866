use std::fmt;
use std::path::PathBuf;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use trove_secrets::KeyRing;

use super::rule::Rule;

/// `[secrets]`: the key that encrypts secrets in the database.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
pub struct SecretsSection {
    /// The key, base64 of 32 bytes; also `TROVE_SECRETS_KEY`. While it is replaced: the old one and
    /// the new one, with a comma between. Not set by default: the key is made on the first start
    /// and kept in the data directory then.
    pub key: Option<SecretsKey>,
    /// A file that holds it, one key a line, readable for its owner only; also
    /// `TROVE_SECRETS_KEY_FILE`. Not set by default.
    pub key_file: Option<PathBuf>,
}

pub(super) const RULES: &[Rule] = &[
    Rule {
        key: "secrets.key",
        accepted: "base64 of 32 random bytes; while it is replaced, the old and the new one with a comma between",
        holds: |config| config.secrets.key.as_ref().is_none_or(|key| key.ring().is_some()),
    },
    Rule {
        key: "secrets.key_file",
        accepted: "the path of a file, where `secrets.key` is not set",
        holds: |config| match &config.secrets.key_file {
            Some(path) => !path.as_os_str().is_empty() && config.secrets.key.is_none(),
            None => true,
        },
    },
];

/// Keys as text. Shows stars, whichever way it is printed.
#[derive(Clone)]
pub struct SecretsKey(SecretString);

impl SecretsKey {
    /// The keys; `None` when the text is something else.
    #[must_use]
    pub fn ring(&self) -> Option<KeyRing> {
        KeyRing::parse(self.0.expose_secret()).ok()
    }
}

impl fmt::Debug for SecretsKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("********")
    }
}

impl Serialize for SecretsKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str("********")
    }
}

impl<'de> Deserialize<'de> for SecretsKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|text| Self(text.into()))
    }
}
