use std::fmt;

use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// What is shown in place of a secret.
pub(super) const MASK: &str = "********";

/// A setting that is shown nowhere.
#[derive(Clone)]
pub struct Secret(SecretString);

impl Secret {
    /// The secret, without blanks around it.
    #[must_use]
    pub fn expose(&self) -> SecretString {
        self.0.expose_secret().trim().into()
    }

    /// Whether a header can hold it.
    pub(super) fn is_key(&self) -> bool {
        let key = self.0.expose_secret().trim();
        !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic())
    }

    /// Names and values of headers, one on each line; `None` when a line is none.
    #[must_use]
    pub fn headers(&self) -> Option<Vec<(String, SecretString)>> {
        let lines = self.0.expose_secret().lines().map(str::trim).filter(|line| !line.is_empty());
        let header = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let (name, value) = (name.trim(), value.trim());
            let token = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
            let is_header = !name.is_empty() && name.bytes().all(token) && value.is_ascii();
            is_header.then(|| (name.to_owned(), value.into()))
        };
        lines.map(header).collect()
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

impl<'de> Deserialize<'de> for Secret {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(|secret| Self(secret.into()))
    }
}

#[cfg(test)]
mod tests {
    use secrecy::ExposeSecret;

    use super::Secret;

    fn secret(text: &str) -> Secret {
        Secret(text.into())
    }

    #[test]
    fn keys_are_told_from_what_no_header_can_hold() {
        assert!(secret(" sk-1 \n").is_key());
        for text in ["", " ", "a b", "a\nb", "schlüssel"] {
            assert!(!secret(text).is_key(), "{text:?}");
        }
        assert_eq!(format!("{:?}", secret("sk-1")), "********");
    }

    #[test]
    fn headers_are_lines() {
        let headers = secret("X-Team: search\n\n Other:a:b ").headers().unwrap();
        let shown: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (&**name, value.expose_secret())).collect();
        assert_eq!(shown, [("X-Team", "search"), ("Other", "a:b")]);
        for text in ["X-Team", ": a", "a b: c", "a: ü"] {
            assert!(secret(text).headers().is_none(), "{text:?}");
        }
    }
}
