//! A JSON body as a tree, parsed within bounds.

use std::cell::Cell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, Serializer};

/// Most values (scalars, lists and objects) of one body.
///
/// A byte of JSON can cost fifty bytes of memory (`[{"":0},…`); with this the tree of a body stays
/// below about 60 MB whatever a client sends.
const VALUES_MAX: usize = 500_000;

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
    /// Any other number.
    Float(f64),
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
    /// It holds more than [`VALUES_MAX`] values.
    TooManyValues,
}

impl Json {
    /// Parses a whole body.
    pub(crate) fn parse(body: &[u8]) -> Result<Self, JsonError> {
        let left = Cell::new(VALUES_MAX);
        // The limit of serde_json on nesting (128) stays on: reading is recursive.
        let mut deserializer = serde_json::Deserializer::from_slice(body);
        Tree(&left)
            .deserialize(&mut deserializer)
            .and_then(|tree| deserializer.end().map(|()| tree))
            .map_err(|error| {
                if error.is_data() {
                    JsonError::TooManyValues
                } else {
                    JsonError::Syntax { offset: offset(body, &error) }
                }
            })
    }

    /// The value as the text of a tag: a string as it is, everything else as JSON.
    #[must_use]
    pub fn into_text(self) -> String {
        match self {
            Self::Text(text) => text,
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
            Self::Text(value) => serializer.serialize_str(value),
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

/// Byte offset of a syntax error; `serde_json` tells line and column.
fn offset(body: &[u8], error: &serde_json::Error) -> usize {
    if error.is_eof() {
        return body.len();
    }
    let mut lines = body.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let line_start = match error.line() {
        0 | 1 => 0,
        line => lines.nth(line - 2).map_or(0, |(position, _)| position + 1),
    };
    (line_start + error.column().saturating_sub(1)).min(body.len())
}

/// Reads one value, as long as there are any left to read.
struct Tree<'a>(&'a Cell<usize>);

impl<'de> DeserializeSeed<'de> for Tree<'_> {
    type Value = Json;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Json, D::Error> {
        let Some(left) = self.0.get().checked_sub(1) else {
            return Err(D::Error::custom("too many values"));
        };
        self.0.set(left);
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree<'_> {
    type Value = Json;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Integer(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        #[expect(clippy::as_conversions, reason = "the nearest float is what is wanted")]
        #[expect(clippy::cast_precision_loss, reason = "the nearest float is what is wanted")]
        Ok(i64::try_from(value).map_or_else(|_| Json::Float(value as f64), Json::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Json, E> {
        Ok(Json::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Tree(self.0))? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut object = Vec::new();
        while let Some(key) = entries.next_key::<String>()? {
            object.push((key, entries.next_value_seed(Tree(self.0))?));
        }
        Ok(Json::Object(object))
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
        check("18446744073709551615", Json::Float(18_446_744_073_709_551_615.0));
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
        check(r#"{"x":[1,"y"],"x":{"z":false}}"#, r#"{"x":{"z":false}}"#);
    }
}
