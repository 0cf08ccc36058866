//! What a key may be called.

use trove_domain::error::{Classify, ErrorKind};

/// Most characters in the name of a key.
pub const KEY_NAME_CHARS_MAX: usize = 200;

/// Why a text is not the name of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidKeyName {
    /// There is nothing to recognise the key by.
    #[error("it is empty; leave it out instead")]
    Blank,
    /// It is too long.
    #[error("it has {0} characters, and at most {KEY_NAME_CHARS_MAX} are allowed")]
    TooLong(usize),
    /// It would change how a list of keys looks.
    #[error("it holds the control character {}", .0.escape_debug())]
    Unprintable(char),
}

impl Classify for InvalidKeyName {
    fn kind(&self) -> ErrorKind {
        ErrorKind::Invalid
    }
}

/// Whether `name` is the name of a key.
///
/// # Errors
///
/// [`InvalidKeyName`] says why not.
pub fn check_key_name(name: &str) -> Result<(), InvalidKeyName> {
    if name.trim().is_empty() {
        return Err(InvalidKeyName::Blank);
    }
    let length = name.chars().count();
    if length > KEY_NAME_CHARS_MAX {
        return Err(InvalidKeyName::TooLong(length));
    }
    match name.chars().find(|c| !is_printable(*c)) {
        Some(c) => Err(InvalidKeyName::Unprintable(c)),
        None => Ok(()),
    }
}

/// Whether a character is shown, and does not change how others are: no control character, no
/// line separator, nothing that turns the direction of writing.
#[must_use]
pub fn is_printable(c: char) -> bool {
    let turns =
        matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let separates = matches!(c, '\u{2028}' | '\u{2029}');
    !c.is_control() && !turns && !separates
}

#[cfg(test)]
mod tests {
    use super::{InvalidKeyName, KEY_NAME_CHARS_MAX, check_key_name};

    #[test]
    fn a_name_is_short_and_printable() {
        for name in ["robot", "Zoë's laptop", "ключ", "👩\u{200d}🔬"] {
            assert_eq!(check_key_name(name), Ok(()), "{name}");
        }
        assert_eq!(check_key_name(&"é".repeat(KEY_NAME_CHARS_MAX)), Ok(()));
        for (name, problem) in [
            ("", InvalidKeyName::Blank),
            (" \t ", InvalidKeyName::Blank),
            ("a\nb", InvalidKeyName::Unprintable('\n')),
            ("\u{1b}[2J", InvalidKeyName::Unprintable('\u{1b}')),
            ("a\u{202e}b", InvalidKeyName::Unprintable('\u{202e}')),
        ] {
            assert_eq!(check_key_name(name), Err(problem), "{name:?}");
        }
        let long = "é".repeat(KEY_NAME_CHARS_MAX + 1);
        assert_eq!(check_key_name(&long), Err(InvalidKeyName::TooLong(KEY_NAME_CHARS_MAX + 1)));
    }
}
