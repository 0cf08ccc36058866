//! Reads JSON as RFC 8259 defines it.
//!
//! By hand because of its numbers: `serde_json` refuses those beyond the range of a float and
//! rounds integers beyond 64 bits, unless a feature is on that changes it for the whole build.

use super::{Json, JsonError};

/// Most values (scalars, lists and objects) of one body.
///
/// A byte of JSON can cost fifty bytes of memory (`[{"":0},…`); with this the tree of a body stays
/// below about 60 MB whatever a client sends.
pub(super) const VALUES_MAX: usize = 500_000;

/// Deepest nesting: reading is recursive, here and in whatever looks at the tree.
const DEPTH_MAX: usize = 127;

/// What some editors and shells put before a text in UTF-8.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads a whole body.
pub(super) fn document(body: &[u8]) -> Result<Json, JsonError> {
    let at = if body.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let mut reader = Reader { body, at, values_left: VALUES_MAX };
    let value = reader.value(0)?;
    match reader.next_token() {
        None => Ok(value),
        Some(_) => Err(reader.stuck()),
    }
}

struct Reader<'a> {
    body: &'a [u8],
    /// The byte to read next.
    at: usize,
    values_left: usize,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        self.values_left = self.values_left.checked_sub(1).ok_or(JsonError::TooManyValues)?;
        match self.next_token() {
            Some(b'n') => self.word("null", Json::Null),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'"') => self.text().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b'[') if depth < DEPTH_MAX => {
                let mut items = Vec::new();
                self.members(b']', |reader| {
                    items.push(reader.value(depth + 1)?);
                    Ok(())
                })?;
                Ok(Json::List(items))
            }
            Some(b'{') if depth < DEPTH_MAX => {
                let mut entries = Vec::new();
                self.members(b'}', |reader| {
                    if reader.next_token() != Some(b'"') {
                        return Err(reader.stuck());
                    }
                    let key = reader.text()?;
                    reader.token(b':')?;
                    entries.push((key, reader.value(depth + 1)?));
                    Ok(())
                })?;
                Ok(Json::Object(entries))
            }
            _ => Err(self.stuck()),
        }
    }

    /// What stands between a bracket and `close`, with commas in between.
    fn members(
        &mut self,
        close: u8,
        mut member: impl FnMut(&mut Self) -> Result<(), JsonError>,
    ) -> Result<(), JsonError> {
        self.at += 1;
        if self.next_token() == Some(close) {
            self.at += 1;
            return Ok(());
        }
        loop {
            member(self)?;
            if self.next_token() == Some(b',') {
                self.at += 1;
            } else {
                return self.token(close);
            }
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        for byte in word.bytes() {
            self.byte(byte)?;
        }
        Ok(value)
    }

    /// A string, whose quotation mark is next.
    fn text(&mut self) -> Result<String, JsonError> {
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.body.get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(JsonError::Syntax { offset: self.body.len() }),
            }
        }
        self.at = end + 1;
        // Escapes, surrogates and UTF-8 are the same with every feature.
        serde_json::from_slice(&self.body[start..=end]).map_err(|error| {
            // A column counts the bytes read; a line break has no place in a string.
            let within = if error.line() > 1 { 0 } else { error.column().saturating_sub(1) };
            JsonError::Syntax { offset: start + within }
        })
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.skip(b"-");
        if !self.skip(b"0") {
            self.digits()?;
        }
        let mut whole = true;
        if self.skip(b".") {
            whole = false;
            self.digits()?;
        }
        if self.skip(b"eE") {
            whole = false;
            self.skip(b"+-");
            self.digits()?;
        }
        let literal = String::from_utf8_lossy(&self.body[start..self.at]);
        let value = if whole {
            literal.parse().ok().map(Json::Integer)
        } else {
            literal.parse().ok().filter(|value: &f64| value.is_finite()).map(Json::Float)
        };
        Ok(value.unwrap_or_else(|| Json::Huge(literal.into_owned())))
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), JsonError> {
        let count = self.body[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += count;
        if count == 0 { Err(self.stuck()) } else { Ok(()) }
    }

    /// Whether one of `bytes` was next; it is read then.
    fn skip(&mut self, bytes: &[u8]) -> bool {
        let found = self.body.get(self.at).is_some_and(|byte| bytes.contains(byte));
        self.at += usize::from(found);
        found
    }

    fn byte(&mut self, byte: u8) -> Result<(), JsonError> {
        if self.skip(&[byte]) { Ok(()) } else { Err(self.stuck()) }
    }

    fn token(&mut self, byte: u8) -> Result<(), JsonError> {
        self.next_token();
        self.byte(byte)
    }

    /// The first byte that is no space, which is not read yet.
    fn next_token(&mut self) -> Option<u8> {
        while self.skip(b" \n\r\t") {}
        self.body.get(self.at).copied()
    }

    fn stuck(&self) -> JsonError {
        JsonError::Syntax { offset: self.at }
    }
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
