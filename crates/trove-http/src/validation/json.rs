//! A JSON body as a tree, parsed within bounds.

mod parse;

pub(crate) use parse::VALUES_MAX;

use std::collections::HashSet;

use serde::ser::{Serialize, Serializer};

/// A JSON value.
///
/// Not `serde_json::Value`: its shape depends on which of its features any crate of the build
/// turns on, and its objects cost ten times the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Json {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number without fraction or exponent that fits.
    Integer(i64),
    /// A number with a fraction or an exponent.
    Float(f64),
    /// A number too large for either, as it was sent.
    Huge(String),
    /// A string.
    Text(String),
    /// A list.
    List(Vec<Json>),
    /// An object, as sent: keys in order, and of equal keys the last one counts.
    Object(Vec<(String, Json)>),
}

/// Why a body is no usable JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum JsonError {
    /// It is not JSON, or it is nested too deeply.
    Syntax {
        /// Where reading stopped, in bytes from the start.
        offset: usize,
    },
    /// It holds more values than are taken.
    TooManyValues,
}

impl Json {
    /// Parses a whole body.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, JsonError> {
        parse::document(body)
    }

    /// The value as the text of a tag: strings and huge numbers as they are, the rest as JSON.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) | Self::Huge(text) => text,
            // Serializing a tree of plain values into memory has no way to fail.
            other => serde_json::to_string(&other).unwrap_or_default(),
        }
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Bool(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Float(value) => serializer.serialize_f64(*value),
            // A huge number within a list or object keeps its digits as a string.
            Self::Text(value) | Self::Huge(value) => serializer.serialize_str(value),
            Self::List(items) => serializer.collect_seq(items),
            Self::Object(entries) => {
                let mut seen = HashSet::new();
                let mut kept: Vec<_> =
                    entries.iter().rev().filter(|(key, _)| seen.insert(key.as_str())).collect();
                kept.reverse();
                serializer.collect_map(kept.into_iter().map(|(key, value)| (key, value)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Json, JsonError, VALUES_MAX};

    #[test]
    fn values_are_read_as_they_are_sent() {
        let check = |body: &str, expected: Json| {
            assert_eq!(Json::parse(body.as_bytes()), Ok(expected), "{body}");
        };
        check("null", Json::Null);
        check(" true ", Json::Bool(true));
        check("-7", Json::Integer(-7));
        check("5.0", Json::Float(5.0));
        check("-0", Json::Integer(0));
        check("1e2", Json::Float(100.0));
        check("1e-400", Json::Float(0.0));
        check("9223372036854775807", Json::Integer(i64::MAX));
        for huge in ["9223372036854775808", "-9223372036854775809", "1e400", "-1.5E+999"] {
            check(huge, Json::Huge(huge.to_owned()));
        }
        // What Windows puts before a text.
        check("\u{feff}1", Json::Integer(1));
        check(r#""\u00e9""#, Json::Text("é".to_owned()));
        check("[1]", Json::List(vec![Json::Integer(1)]));
        check(
            r#"{"b":1,"a":null}"#,
            Json::Object(vec![("b".to_owned(), Json::Integer(1)), ("a".to_owned(), Json::Null)]),
        );
    }

    #[test]
    fn a_syntax_error_is_located_in_bytes() {
        let check = |body: &[u8], offset: usize| {
            assert_eq!(Json::parse(body), Err(JsonError::Syntax { offset }), "{body:?}");
        };
        check(b"{", 1);
        check(b"x", 0);
        check(br#"{"a": x}"#, 6);
        check(b"{\n\"a\": x}", 7);
        check(b"[] []", 3);
        check(b"", 0);
        check(b"NaN", 0);
        check(b"nulx", 3);
        check(b"01", 1);
        check(b"1.x", 2);
        check(b"[1,]", 3);
        check(b"{\"a\" 1}", 5);
        check(b"\"abc", 4);
        check(b"[\"a\\x\"]", 4);
        check(b"\xef\xbb\xbfx", 3);
        // A lone surrogate and bytes that are no UTF-8 are no JSON either.
        assert!(matches!(Json::parse(br#""\ud800""#), Err(JsonError::Syntax { .. })));
        assert!(matches!(Json::parse(b"\"\xff\""), Err(JsonError::Syntax { .. })));
    }

    #[test]
    fn deep_nesting_is_refused_and_not_followed() {
        let deep = "[".repeat(1_000_000);
        assert!(matches!(Json::parse(deep.as_bytes()), Err(JsonError::Syntax { .. })));
        let fine = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert!(Json::parse(fine.as_bytes()).is_ok());
    }

    #[test]
    fn a_body_of_very_many_values_is_refused() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 1));
        assert!(Json::parse(list(VALUES_MAX - 1).as_bytes()).is_ok());
        assert_eq!(Json::parse(list(VALUES_MAX).as_bytes()), Err(JsonError::TooManyValues));
    }

    #[test]
    fn text_form_is_the_string_or_its_json() {
        let check = |body: &str, text: &str| {
            assert_eq!(Json::parse(body.as_bytes()).unwrap().into_text(), text);
        };
        check(r#""a b""#, "a b");
        check("5", "5");
        check("5.0", "5.0");
        check("true", "true");
        check("null", "null");
        check("12345678901234567890123", "12345678901234567890123");
        check("1e400", "1e400");
        check("[18446744073709551616]", r#"["18446744073709551616"]"#);
        check(r#"{"x":[1,"y"],"x":{"z":false}}"#, r#"{"x":{"z":false}}"#);
    }
}
