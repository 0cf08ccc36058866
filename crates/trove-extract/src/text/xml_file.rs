//! XML of any vocabulary: texts and the values of attributes, in lines as they are written.

use quick_xml::events::Event;
use trove_domain::port::ExtractError;

use super::Extract;
use crate::budget::Meter;
use crate::plain;
use crate::writer::{self, Full};
use crate::xml::{Xml, attributes, local, text_of};

/// Text of a file. What is no XML is read as it is.
pub(super) fn extract(text: &str, meter: &Meter) -> Result<Result<Extract, Full>, ExtractError> {
    let max_chars = meter.chars_left();
    match read(text, meter) {
        Ok((title, lines)) => Ok(plain::extract(&lines, max_chars).map(|e| Extract { title, ..e })),
        Err(ExtractError::Malformed { .. }) => Ok(plain::extract(text, max_chars)),
        Err(error) => Err(error),
    }
}

fn read(text: &str, meter: &Meter) -> Result<(Option<String>, String), ExtractError> {
    let mut xml = Xml::new(text.as_bytes(), "XML", meter);
    let mut lines = String::new();
    let mut title = None;
    let mut title_from = None;
    loop {
        match xml.next()? {
            Event::Start(start) => {
                if title.is_none() && local(&start).eq_ignore_ascii_case("title") {
                    title_from = Some(lines.len());
                }
                for (name, value) in attributes(&start) {
                    // Names of vocabularies, and where their rules are.
                    if !name.starts_with("xmlns") && !name.ends_with("chemaLocation") {
                        lines.push(' ');
                        lines.push_str(&value);
                    }
                }
                lines.push(' ');
            }
            Event::End(_) => {
                if let Some(from) = title_from.take() {
                    title = writer::title(lines.get(from..).unwrap_or_default());
                }
                lines.push(' ');
            }
            Event::Eof => return Ok((title, tidy(&lines))),
            event => {
                if let Some(text) = text_of(&event) {
                    lines.push_str(&text);
                }
            }
        }
    }
}

/// One blank between words; lines stay.
fn tidy(lines: &str) -> String {
    let mut out = String::with_capacity(lines.len());
    for line in lines.lines() {
        let mut words = line.split_whitespace();
        out.extend(words.next());
        for word in words {
            out.push(' ');
            out.push_str(word);
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::extract;
    use crate::budget::{Budget, Meter};

    fn check(xml: &str, title: Option<&str>, text: &str) {
        let meter = Meter::new(Budget::default());
        let found = extract(xml, &meter).unwrap().unwrap();
        assert_eq!((found.title.as_deref(), found.text.as_str()), (title, text), "{xml}");
    }

    #[test]
    fn texts_and_values_are_read() {
        check(
            "<?xml version='1.0'?>\n<book xmlns='x' id='b1'>\n <title>A <b>B</b></title>\n \
             <p>x &amp; y</p>\n</book>",
            Some("A B"),
            "b1\nA B\nx & y",
        );
        check("<a>&unknown;x</a>", None, "x");
    }

    #[test]
    fn what_is_no_xml_is_read_as_it_is() {
        for text in ["<a><b></a>", "a < b", "{}"] {
            check(text, None, text);
        }
    }
}
