//! Addresses of people.

use email_address::{EmailAddress as Syntax, Options};
use unicode_normalization::UnicodeNormalization;

use crate::api_key::SERVICE_DOMAIN;

/// An address that mail can be sent to, as far as its syntax tells.
///
/// The part before the `@` is kept as given, in Unicode normal form C. The domain is in lower case
/// and in Unicode: `User@XN--BCHER-KVA.example` is `User@bücher.example`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EmailAddress(String);

/// Why a string is no address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidEmailAddress {
    /// It is not of the form `name@domain`.
    #[error("it is not of the form name@domain.example")]
    Syntax,
    /// The part before the `@` is in quotation marks.
    #[error("names in quotation marks are not accepted")]
    Quoted,
    /// The domain is none.
    #[error("its domain is not valid")]
    Domain,
    /// Addresses of this domain are those of programs.
    #[error("addresses below {SERVICE_DOMAIN} are those of API keys")]
    Reserved,
    /// It is longer than mail allows.
    #[error("an address has at most {max} bytes", max = EmailAddress::MAX_BYTES)]
    TooLong,
}

impl EmailAddress {
    /// Longest address in bytes of UTF-8 (RFC 5321 and its errata).
    pub const MAX_BYTES: usize = 254;

    /// Checks and normalises `address`.
    ///
    /// # Errors
    ///
    /// [`InvalidEmailAddress`] names the broken rule.
    pub fn parse(address: &str) -> Result<Self, InvalidEmailAddress> {
        if address.len() > Self::MAX_BYTES {
            return Err(InvalidEmailAddress::TooLong);
        }
        let options =
            Options::default().with_required_tld().without_domain_literal().without_display_text();
        let address: String = address.nfc().collect();
        let syntax = Syntax::parse_with_options(&address, options)
            .map_err(|_| InvalidEmailAddress::Syntax)?;
        if syntax.local_part().contains('"') {
            return Err(InvalidEmailAddress::Quoted);
        }
        let domain = idna::domain_to_ascii_strict(syntax.domain())
            .map_err(|_| InvalidEmailAddress::Domain)?;
        let (domain, valid) = idna::domain_to_unicode(&domain);
        valid.map_err(|_| InvalidEmailAddress::Domain)?;
        if domain == SERVICE_DOMAIN || domain.ends_with(&format!(".{SERVICE_DOMAIN}")) {
            return Err(InvalidEmailAddress::Reserved);
        }
        let normal = format!("{}@{domain}", syntax.local_part());
        if normal.chars().any(|c| c.is_control() || c.is_whitespace() || is_invisible(c)) {
            return Err(InvalidEmailAddress::Syntax);
        }
        if normal.len() > Self::MAX_BYTES {
            return Err(InvalidEmailAddress::TooLong);
        }
        Ok(Self(normal))
    }

    /// The address as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What follows the `@`.
    #[must_use]
    pub fn domain(&self) -> &str {
        self.0.rsplit_once('@').map_or("", |(_, domain)| domain)
    }

    /// The address as an owned string.
    #[must_use]
    pub fn into_string(self) -> String {
        self.0
    }
}

impl std::fmt::Display for EmailAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// Whether nobody sees the character, so that an address with it looks like another one: characters
/// that join, hide, or turn the direction of writing (general category Cf, and variation selectors).
fn is_invisible(c: char) -> bool {
    matches!(
        c,
        '\u{ad}'
            | '\u{600}'..='\u{605}'
            | '\u{61c}'
            | '\u{6dd}'
            | '\u{70f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200f}'
            | '\u{202a}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{feff}'
            | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e0fff}'
    )
}

/// What makes an address unique, and what it is looked up by: its letter case does not matter.
///
/// Letter by letter: what a word looks like in lower case depends on where it ends (a capital sigma),
/// and the same letters would give two keys.
#[must_use]
pub fn email_key(email: &str) -> String {
    email.chars().flat_map(char::to_lowercase).map(|c| if c == 'ς' { 'σ' } else { c }).collect()
}

#[cfg(test)]
mod tests {
    use super::{EmailAddress, InvalidEmailAddress, email_key};

    #[test]
    fn addresses_are_normalised() {
        let check = |given: &str, normal: &str| {
            assert_eq!(EmailAddress::parse(given).unwrap().as_str(), normal, "{given}");
        };
        check("a@b.c", "a@b.c");
        check("User@EXAMPLE.com", "User@example.com");
        check("first.last+tag@sub.example.com", "first.last+tag@sub.example.com");
        check("o'neil_x-1@example.com", "o'neil_x-1@example.com");
        check("ZOE\u{308}@example.com", "ZO\u{cb}@example.com");
        check("a@B\u{dc}cher.example", "a@b\u{fc}cher.example");
        check("a@xn--bcher-kva.example", "a@b\u{fc}cher.example");
        assert_eq!(EmailAddress::parse("a@B.example").unwrap().domain(), "b.example");
    }

    #[test]
    fn the_same_letters_have_one_key() {
        for [a, b] in [["User@B.c", "uSER@b.C"], ["ΑΣ@gr.com", "ας@gr.com"], ["ΑΣ@x.y", "ασ@x.y"]]
        {
            assert_eq!(email_key(a), email_key(b), "{a} {b}");
        }
        assert_ne!(email_key("i@x.y"), email_key("ı@x.y"));
    }

    #[test]
    fn what_is_no_address_is_refused() {
        let check = |given: &str, why: InvalidEmailAddress| {
            assert_eq!(EmailAddress::parse(given), Err(why), "{given}");
        };
        for given in [
            "",
            "bad",
            "@",
            "a@",
            "@b.c",
            "a@b",
            "a b@c.d",
            "a@b c.d",
            "a@@b.c",
            "a@b@c.d",
            ".a@b.c",
            "a.@b.c",
            "a..b@c.d",
            "a@.b.c",
            "a@b.c.",
            "a@[127.0.0.1]",
            "A <a@b.c>",
            "<a@b.c>",
            "a@b.c,d@e.f",
            "a@b.c\n",
            " a@b.c",
            "a@b.c ",
            "a\0@b.c",
            "a@b_c.d",
            "a@-b.c",
            "a@b-.c",
            "a@b..c",
            "mailto:a@b.c,",
            "a,b@c.d",
            "a@\u{202e}b.c",
            "a\u{200b}b@c.d",
            "a\u{200f}b@c.d",
            "a\u{202e}b@c.d",
            "\u{feff}a@c.d",
            "a\u{ad}b@c.d",
            "a\u{fe0f}@c.d",
            "a\u{e0061}@c.d",
        ] {
            assert!(EmailAddress::parse(given).is_err(), "{given:?}");
        }
        for domain in ["api-key.invalid", "0190.API-KEY.invalid", "x.y.api-key.INVALID"] {
            check(&format!("API_KEY__a@{domain}"), InvalidEmailAddress::Reserved);
        }
        assert!(EmailAddress::parse("a@not-api-key.invalid").is_ok());
        check("\"a b\"@c.d", InvalidEmailAddress::Quoted);
        check(&format!("{}@example.com", "a".repeat(65)), InvalidEmailAddress::Syntax);
        check(&format!("a@{}.com", "b".repeat(64)), InvalidEmailAddress::Syntax);
        check(&format!("a@{}com", "b.".repeat(130)), InvalidEmailAddress::TooLong);
    }
}
