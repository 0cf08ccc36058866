//! Takes secrets out of words that somebody else has written.
//!
//! Servers repeat keys in their errors: whole, cut, or as they found them in a header, an address
//! or a JSON text. Whoever reads the error must not learn a part of the key that is worth anything.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use base64::Engine;
use base64::prelude::{BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD};

/// So many characters of a secret in a row are a part of it; fewer may be anything.
const PART: usize = 8;
/// What stands in place of a secret.
pub(crate) const STARS: &str = "********";

/// The text without the secrets: neither as they are, in capitals or small letters, nor in base64,
/// with the escapes of addresses or of JSON, nor eight characters in a row of any of that.
pub(crate) fn mask<'a>(text: &str, secrets: impl IntoIterator<Item = &'a str>) -> String {
    let parts = Parts::of(secrets);
    let as_written = View::of(text);
    let unescaped = as_written.unescaped();
    let decoded = unescaped.decoded();
    let mut hidden = vec![false; text.len()];
    for view in [as_written, unescaped, decoded] {
        parts.mark(&view, &mut hidden);
    }
    let mut masked = String::with_capacity(text.len());
    let mut is_hiding = false;
    for (start, character) in text.char_indices() {
        let hide = hidden[start..start + character.len_utf8()].contains(&true);
        match (hide, is_hiding) {
            (true, false) => masked.push_str(STARS),
            (true, true) => {}
            (false, _) => masked.push(character),
        }
        is_hiding = hide;
    }
    masked
}

/// What must not be in a text, by length, in small letters.
pub(crate) struct Parts {
    /// Length of a part; shorter secrets are their only part.
    length: usize,
    by_length: HashMap<usize, HashSet<Vec<u8>>>,
}

impl Parts {
    fn of<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        Self::of_length(PART, secrets)
    }

    pub(crate) fn of_length<'a>(length: usize, secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let mut parts = Self { length, by_length: HashMap::new() };
        for secret in secrets {
            parts.add(secret.as_bytes());
            for engine in [BASE64_STANDARD_NO_PAD, BASE64_URL_SAFE_NO_PAD] {
                // Three bytes are four characters, so that it matters what stands before.
                for (before, shared) in [(0, 0), (1, 2), (2, 3)] {
                    let mut bytes = vec![0; before];
                    bytes.extend_from_slice(secret.as_bytes());
                    parts.add(&engine.encode(bytes).as_bytes()[shared..]);
                }
            }
        }
        parts
    }

    /// Each part of one form of a secret; all of it, where it is short.
    fn add(&mut self, form: &[u8]) {
        let form = form.to_ascii_lowercase();
        let length = form.len().min(self.length);
        if length > 0 {
            let parts = self.by_length.entry(length).or_default();
            parts.extend(form.windows(length).map(<[u8]>::to_vec));
        }
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_length.is_empty()
    }

    /// Whether a part holds `bytes`, which are in small letters.
    pub(crate) fn hold(&self, bytes: &[u8]) -> bool {
        let mut parts = self.by_length.values().flatten();
        parts.any(|part| part.windows(bytes.len()).any(|window| window == bytes))
    }

    pub(crate) fn mark(&self, view: &View, hidden: &mut [bool]) {
        for (length, parts) in &self.by_length {
            for (start, found) in view.bytes.windows(*length).enumerate() {
                if parts.contains(found) {
                    let written = view.spans[start].start..view.spans[start + length - 1].end;
                    hidden[written].fill(true);
                }
            }
        }
    }
}

/// A text in small letters, as one that decodes it reads it; each byte knows where it was written.
pub(crate) struct View {
    bytes: Vec<u8>,
    spans: Vec<Range<usize>>,
}

impl View {
    /// The bytes in small letters.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(crate) fn of(text: &str) -> Self {
        Self {
            bytes: text.bytes().map(|byte| byte.to_ascii_lowercase()).collect(),
            spans: (0..text.len()).map(|place| place..place + 1).collect(),
        }
    }

    /// Without the escapes of JSON.
    fn unescaped(&self) -> Self {
        self.read(|rest| match rest {
            [b'\\', byte @ (b'"' | b'\\' | b'/'), ..] => Some((*byte, 2)),
            [b'\\', b'u', b'0', b'0', high, low, ..] => Some((hex(*high, *low)?, 6)),
            _ => None,
        })
    }

    /// Without the escapes of addresses.
    fn decoded(&self) -> Self {
        self.read(|rest| match rest {
            [b'%', high, low, ..] => Some((hex(*high, *low)?, 3)),
            _ => None,
        })
    }

    /// With `escape` in place of what begins with an escape: a byte, and how many it takes.
    fn read(&self, escape: impl Fn(&[u8]) -> Option<(u8, usize)>) -> Self {
        let mut read = Self { bytes: Vec::new(), spans: Vec::new() };
        let mut place = 0;
        while place < self.bytes.len() {
            let (byte, taken) = escape(&self.bytes[place..]).unwrap_or((self.bytes[place], 1));
            read.bytes.push(byte.to_ascii_lowercase());
            read.spans.push(self.spans[place].start..self.spans[place + taken - 1].end);
            place += taken;
        }
        read
    }
}

fn hex(high: u8, low: u8) -> Option<u8> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::sample::Index;

    use super::*;

    #[test]
    fn other_words_stay() {
        let secrets = ["sk-canary-0123456789"];
        for text in ["", "no such model: sk-can", "é%", "%zz \\u00 \\", "0123456"] {
            assert_eq!(mask(text, secrets), text);
        }
        assert_eq!(mask("key sk-canary-0…3456789x", secrets), "key ********…3456789x");
        assert_eq!(mask("<23456789>", secrets), "<********>");
        assert_eq!(mask("abcdef", ["abcd"]), "********ef");
        assert_eq!(mask("abc", ["abcd"]), "abc");
    }

    /// As somebody may write a key into an error, and how much of that is not the key's.
    fn written(form: usize, key: &str) -> (String, usize) {
        let escaped = |escape: fn(u8) -> String| key.bytes().map(escape).collect::<String>();
        let said = match form {
            0 => key.to_owned(),
            1 => key.to_ascii_uppercase(),
            2 => key.to_ascii_lowercase(),
            3 => BASE64_STANDARD_NO_PAD.encode(key) + "==",
            4 => BASE64_URL_SAFE_NO_PAD.encode(format!("Bearer {key}")),
            5 => BASE64_STANDARD_NO_PAD.encode(format!("u:{key}")),
            6 => escaped(|byte| format!("%{byte:02X}")),
            7 => url::form_urlencoded::byte_serialize(key.as_bytes()).collect(),
            8 => escaped(|byte| format!("\\u00{byte:02x}")),
            _ => serde_json::Value::from(format!("/{key}/")).to_string().replace('/', "\\/"),
        };
        let others = match form {
            4 => "QmVhcmVyIA".len(),
            5 => "dTo".len(),
            _ => 0,
        };
        (said, others)
    }

    /// What is left of it that may tell something: the longest part in a row that both have.
    fn longest_common(one: &str, other: &str) -> usize {
        let (one, other) = (one.to_ascii_lowercase(), other.to_ascii_lowercase());
        let (one, other) = (one.as_bytes(), other.as_bytes());
        let mut longest = 0;
        for start in 0..one.len() {
            while start + longest < one.len()
                && other.windows(longest + 1).any(|part| part == &one[start..=start + longest])
            {
                longest += 1;
            }
        }
        longest
    }

    proptest! {
        /// Nothing of eight characters is left, in whatever form it came, and the words around it
        /// are.
        #[test]
        fn no_part_of_a_key_is_left(
            key in "[!-)+-~]{8,80}",
            (before, after) in ("[α-ω ]{0,9}", "[α-ω ]{0,9}"),
            form in 0_usize..10,
            (from, length) in (any::<Index>(), any::<Index>()),
        ) {
            // A part of the key that is worth hiding.
            let from = from.index(key.len() - PART + 1);
            let part = &key[from..from + PART + length.index(key.len() - from - PART + 1)];
            let (said, others) = written(form, part);
            let shown = mask(&format!("{before}{said}{after}"), [key.as_str()]);

            prop_assert!(shown.starts_with(&before) && shown.ends_with(&after), "{shown}");
            prop_assert!(shown.contains(STARS), "{form}: {said} is shown as {shown}");
            prop_assert!(longest_common(&shown, &key) < PART, "{said} is shown as {shown}");
            let told = longest_common(&shown, &said[others..]);
            prop_assert!(told < PART, "{said} is shown as {shown}");
        }
    }
}
