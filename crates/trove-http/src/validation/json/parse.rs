//! Reads JSON as RFC 8259 defines it, within bounds.
//!
//! With jiter because of its numbers, which come as they were sent: `serde_json` refuses those
//! beyond the range of a float and rounds integers beyond 64 bits, unless a feature is on that
//! changes it for the whole build.

use jiter::{Jiter, JiterError, Peek};

use super::{Json, JsonError};

/// Most values (scalars, lists and objects) of one body.
///
/// A byte of JSON can cost fifty bytes of memory (`[{"":0},…`); with this the tree of a body stays
/// below about 60 MB whatever a client sends.
pub(crate) const VALUES_MAX: usize = 500_000;

/// Deepest nesting: reading is recursive, here and in whatever looks at the tree.
const DEPTH_MAX: usize = 127;

/// What some editors and shells put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a whole body.
pub(super) fn document(body: &[u8]) -> Result<Json, JsonError> {
    let text = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
    let mut reader = Reader { jiter: Jiter::new(text), values_left: VALUES_MAX };
    let marked = body.len() - text.len();
    reader.document().map_err(|error| match error {
        JsonError::Syntax { offset } => JsonError::Syntax { offset: offset + marked },
        JsonError::TooManyValues => error,
    })
}

struct Reader<'a> {
    jiter: Jiter<'a>,
    values_left: usize,
}

impl Reader<'_> {
    fn document(&mut self) -> Result<Json, JsonError> {
        let first = self.jiter.peek()?;
        let value = self.value(first, 0)?;
        self.jiter.finish()?;
        Ok(value)
    }

    /// The value that begins with `first`.
    fn value(&mut self, first: Peek, depth: usize) -> Result<Json, JsonError> {
        self.values_left = self.values_left.checked_sub(1).ok_or(JsonError::TooManyValues)?;
        Ok(match first {
            Peek::Null => {
                self.jiter.known_null()?;
                Json::Null
            }
            Peek::True | Peek::False => Json::Bool(self.jiter.known_bool(first)?),
            Peek::String => Json::Text(self.jiter.known_str()?.to_owned()),
            Peek::Array | Peek::Object if depth >= DEPTH_MAX => {
                return Err(JsonError::Syntax { offset: self.jiter.current_index() });
            }
            Peek::Array => {
                let mut items = Vec::new();
                let mut next = self.jiter.known_array()?;
                while let Some(first) = next {
                    items.push(self.value(first, depth + 1)?);
                    next = self.jiter.array_step()?;
                }
                Json::List(items)
            }
            Peek::Object => {
                let mut entries = Vec::new();
                let mut next = self.jiter.known_object()?.map(str::to_owned);
                while let Some(key) = next {
                    let first = self.jiter.peek()?;
                    entries.push((key, self.value(first, depth + 1)?));
                    next = self.jiter.next_key()?.map(str::to_owned);
                }
                Json::Object(entries)
            }
            // What is no number either is refused by this.
            _ => number(self.jiter.known_number_bytes(first)?),
        })
    }
}

impl From<JiterError> for JsonError {
    fn from(error: JiterError) -> Self {
        Self::Syntax { offset: error.index }
    }
}

/// A number as it was sent.
fn number(literal: &[u8]) -> Json {
    let literal = String::from_utf8_lossy(literal);
    let value = if literal.contains(['.', 'e', 'E']) {
        literal.parse().ok().filter(|value: &f64| value.is_finite()).map(Json::Float)
    } else {
        literal.parse().ok().map(Json::Integer)
    };
    value.unwrap_or_else(|| Json::Huge(literal.into_owned()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::{BYTE_ORDER_MARK, document};
    use crate::validation::Json;

    /// As `serde_json` sees it: it is right about everything but huge numbers.
    fn same(ours: &Json, theirs: &Value) -> bool {
        match (ours, theirs) {
            (Json::Null, Value::Null) | (Json::Huge(_), Value::Number(_)) => true,
            (Json::Bool(ours), Value::Bool(theirs)) => ours == theirs,
            (Json::Integer(ours), Value::Number(theirs)) => {
                // It reads `-0` as a float.
                theirs.as_i64() == Some(*ours) || (*ours == 0 && theirs.as_f64() == Some(0.0))
            }
            // Its last digit may be off, unless a feature is on.
            (Json::Float(ours), Value::Number(theirs)) => {
                let near = ours.abs() * 1e-15 + f64::MIN_POSITIVE;
                theirs.as_f64().is_some_and(|theirs| (ours - theirs).abs() <= near)
            }
            (Json::Text(ours), Value::String(theirs)) => ours == theirs,
            (Json::List(ours), Value::Array(theirs)) => {
                ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(o, t)| same(o, t))
            }
            (Json::Object(ours), Value::Object(theirs)) => theirs.iter().all(|(key, theirs)| {
                ours.iter().rfind(|(k, _)| k == key).is_some_and(|(_, ours)| same(ours, theirs))
            }),
            _ => false,
        }
    }

    fn agree(body: &[u8]) {
        let unmarked = body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body);
        let theirs: Result<Value, _> = serde_json::from_slice(unmarked);
        match (document(body), theirs) {
            (Ok(ours), Ok(theirs)) => assert!(same(&ours, &theirs), "{ours:?} {theirs:?}"),
            (Err(_), Err(_)) => {}
            (Ok(_), Err(theirs)) => {
                assert!(theirs.to_string().starts_with("number out of range"), "{theirs} {body:?}");
            }
            (Err(ours), Ok(_)) => panic!("{ours:?} for {}", String::from_utf8_lossy(body)),
        }
    }

    #[test]
    fn nesting_is_followed_as_far_as_serde_json_does() {
        for depth in 100..140 {
            agree(format!("{}{}", "[".repeat(depth), "]".repeat(depth)).as_bytes());
            agree(format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth)).as_bytes());
        }
    }

    proptest! {
        /// Made of what JSON is made of, so that some of it is JSON and the rest nearly.
        #[test]
        fn the_same_is_json_as_for_serde_json(
            parts in proptest::collection::vec(
                prop::sample::select(vec![
                    "[", "]", "{", "}", ",", ":", "\"a\"", "\"", "\\", "\\u00", "\\ud83d", "\\ude00",
                    "\\n", "null", "true", "false", "nul", "0", "-", "1", "00", ".5", ".", "e", "E+3",
                    "e400", "99999999999999999999", " ", "\n", "\t", "é", "\u{feff}", "[[", "]]",
                    "{\"k\":", "NaN", "\u{1}", "/",
                ]),
                0..12,
            )
        ) {
            agree(parts.concat().as_bytes());
        }

        #[test]
        fn bytes_are_read_without_a_panic(body in proptest::collection::vec(any::<u8>(), 0..40)) {
            agree(&body);
        }

        #[test]
        fn what_serde_json_writes_is_read(text in any::<String>(), n in any::<i64>(), x in any::<f64>()) {
            agree(serde_json::json!({ text.clone(): [n, x, text, {}, []] }).to_string().as_bytes());
        }
    }
}
