//! What must not be repeated.

use secrecy::{ExposeSecret, SecretString};

use crate::mask::mask;
use crate::veil::Veil;

/// Longest text of a provider that is shown, in characters.
const DETAIL_CHARS_MAX: usize = 300;
/// Shorter ones are no secrets, and would blot out ordinary text.
const SECRET_BYTES_MIN: usize = 4;

/// Keys and secret headers of an endpoint.
#[derive(Clone, Debug, Default)]
pub(crate) struct Secrets(Vec<SecretString>);

impl Secrets {
    pub(crate) fn add(&mut self, secret: &str) {
        if secret.len() >= SECRET_BYTES_MIN {
            self.0.push(secret.into());
        }
    }

    /// What keeps them out of an answer.
    pub(crate) fn veil(&self) -> Veil {
        Veil::over(self.0.iter().map(ExposeSecret::expose_secret))
    }

    /// Words of a provider, fit for a message: one line, bounded, without a secret or a
    /// part of one. The cut comes last, so that none of it stays.
    pub(crate) fn scrub(&self, text: &str) -> String {
        let text = mask(text, self.0.iter().map(ExposeSecret::expose_secret));
        let mut line = String::new();
        for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
            if word.is_empty() {
                continue;
            }
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
        match line.char_indices().nth(DETAIL_CHARS_MAX) {
            Some((end, _)) => format!("{}…", &line[..end]),
            None => line,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Secrets;

    #[test]
    fn secrets_are_replaced_before_the_text_is_cut() {
        let mut secrets = Secrets::default();
        secrets.add("sk-canary");
        secrets.add("abc");
        assert_eq!(secrets.scrub("bad key:\n\tsk-canary\u{7}!"), "bad key: ******** !");
        assert_eq!(secrets.scrub("abc"), "abc");
        let long = format!("{}sk-canary", "x".repeat(295));
        let shown = secrets.scrub(&long);
        assert!(!shown.contains("sk") && shown.ends_with("*****…"), "{shown}");
        assert!(!format!("{secrets:?}").contains("canary"));
    }
}
