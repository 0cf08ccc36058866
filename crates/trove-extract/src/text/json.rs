//! JSON, and lines of it: names and values, one to a line, with characters instead of escapes.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::Extract;
use crate::plain;
use crate::writer::{self, Full, TextWriter};

/// Names whose value at the outermost level is the title.
const TITLES: [&str; 2] = ["title", "name"];

/// Text of a file. What is no JSON, or nests deeper than serde_json goes, is read as it is.
pub(super) fn extract(text: &str, max_chars: usize) -> Result<Extract, Full> {
    let mut writer = TextWriter::new(max_chars);
    let mut title = None;
    let mut rest = serde_json::Deserializer::from_str(text).into_iter::<IgnoredAny>();
    // A first pass finds out whether all of it is JSON, and where its values end.
    let mut values = Vec::new();
    let mut from = 0;
    while let Some(value) = rest.next() {
        if value.is_err() {
            return plain::extract(text, max_chars);
        }
        let to = rest.byte_offset();
        values.push(from..to);
        from = to;
    }
    for range in values {
        let mut value = serde_json::Deserializer::from_str(text.get(range).unwrap_or_default());
        let scribe = Scribe { writer: &mut writer, title: &mut title, name: None, depth: 0 };
        if scribe.deserialize(&mut value).is_err() {
            // An escape for half a character is found only by who wants to know the character.
            return plain::extract(text, max_chars);
        }
        writer.paragraph();
        if writer.is_full() {
            break;
        }
    }
    Ok(Extract { title, text: writer.finish()? })
}

/// Writes one value.
struct Scribe<'w> {
    writer: &'w mut TextWriter,
    title: &'w mut Option<String>,
    /// Name of the value in the object that it is in.
    name: Option<String>,
    depth: usize,
}

impl Scribe<'_> {
    fn write(self, value: &str) {
        self.writer.line();
        if let Some(name) = &self.name {
            let is_title = TITLES.contains(&name.to_lowercase().as_str());
            if self.depth == 1 && is_title && self.title.is_none() {
                *self.title = writer::title(value);
            }
            self.writer.text(name);
            self.writer.text(": ");
        }
        self.writer.text(value);
    }
}

impl<'de> DeserializeSeed<'de> for Scribe<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Scribe<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<(), E> {
        self.write(if value { "true" } else { "false" });
        Ok(())
    }

    fn visit_i64<E>(self, value: i64) -> Result<(), E> {
        self.write(&value.to_string());
        Ok(())
    }

    fn visit_u64<E>(self, value: u64) -> Result<(), E> {
        self.write(&value.to_string());
        Ok(())
    }

    fn visit_f64<E>(self, value: f64) -> Result<(), E> {
        self.write(&value.to_string());
        Ok(())
    }

    fn visit_str<E>(self, value: &str) -> Result<(), E> {
        self.write(value);
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        loop {
            let (writer, title) = (&mut *self.writer, &mut *self.title);
            let item = Scribe { writer, title, name: self.name.clone(), depth: self.depth + 1 };
            if items.next_element_seed(item)?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        while let Some(name) = members.next_key::<String>()? {
            let (writer, title) = (&mut *self.writer, &mut *self.title);
            let name = Some(name);
            members.next_value_seed(Scribe { writer, title, name, depth: self.depth + 1 })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::extract;

    fn check(json: &str, title: Option<&str>, text: &str) {
        let found = extract(json, 1000).unwrap();
        assert_eq!((found.title.as_deref(), found.text.as_str()), (title, text), "{json}");
    }

    #[test]
    fn names_and_values_are_lines() {
        check(
            r#"{"title": "A", "tags": ["x", "y"], "sub": {"n": 1.5, "title": "no"}, "z": null}"#,
            Some("A"),
            "title: A\ntags: x\ntags: y\nn: 1.5\ntitle: no",
        );
        check(r#""\u4e16\u754c \ud83e\udd80""#, None, "世界 🦀");
        check("{\"a\":1}\n{\"a\":2}\n", None, "a: 1\n\na: 2");
        check("[[], {}, \"\"]", None, "");
    }

    #[test]
    fn what_is_no_json_is_read_as_it_is() {
        for text in ["{\"a\":", "// a\n{}", "\"\\ud800\"", "{'a': 1}"] {
            check(text, None, text);
        }
        let deep = "[".repeat(1000);
        check(&deep, None, &deep);
        let deep = "[".repeat(300) + &"]".repeat(300);
        check(&deep, None, &deep);
    }

    #[test]
    fn the_budget_counts() {
        assert!(extract(&format!("\"{}\"", "a".repeat(1000)), 1000).is_ok());
        assert!(extract(&format!("\"{}\"", "a".repeat(1001)), 1000).is_err());
    }
}
