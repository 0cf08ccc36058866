//! The one reader of XML. It knows neither document types nor entities beyond the five of the
//! language, so nothing expands; depth and number of elements are bounded.

use std::borrow::Cow;
use std::io::BufRead;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use trove_domain::port::ExtractError;

use crate::budget::Meter;

/// Reads XML event by event.
pub(crate) struct Xml<'m, R> {
    reader: Reader<R>,
    buffer: Vec<u8>,
    meter: &'m Meter,
    /// What is being read, for messages.
    format: &'static str,
    depth: usize,
}

impl<'m, R: BufRead> Xml<'m, R> {
    pub(crate) fn new(content: R, format: &'static str, meter: &'m Meter) -> Self {
        let mut reader = Reader::from_reader(content);
        let config = reader.config_mut();
        config.expand_empty_elements = true;
        config.allow_dangling_amp = true;
        Self { reader, buffer: Vec::new(), meter, format, depth: 0 }
    }

    /// The next tag or text; `Event::Eof` at the end.
    pub(crate) fn next(&mut self) -> Result<Event<'_>, ExtractError> {
        self.buffer.clear();
        self.meter.take_event()?;
        let event = self
            .reader
            .read_event_into(&mut self.buffer)
            .map_err(|error| self.meter.failure(self.format, &error))?;
        match event {
            Event::Start(_) => {
                self.depth += 1;
                self.meter.check_depth(self.depth)?;
            }
            Event::End(_) => self.depth = self.depth.saturating_sub(1),
            Event::Eof if self.depth > 0 => {
                return Err(self.meter.failure(self.format, &"it ends in the middle"));
            }
            _ => {}
        }
        Ok(event)
    }

    /// Skips the rest of the element whose start was just read.
    pub(crate) fn skip(&mut self) -> Result<(), ExtractError> {
        let outside = self.depth.saturating_sub(1);
        while self.depth > outside {
            self.next()?;
        }
        Ok(())
    }

    /// The text of the element whose start was just read.
    pub(crate) fn text(&mut self) -> Result<String, ExtractError> {
        let outside = self.depth.saturating_sub(1);
        let mut text = String::new();
        while self.depth > outside {
            if let Some(piece) = text_of(&self.next()?) {
                text.push_str(&piece);
            }
        }
        Ok(text)
    }
}

/// The characters that an event stands for, if it stands for any.
pub(crate) fn text_of<'e>(event: &'e Event<'_>) -> Option<Cow<'e, str>> {
    match event {
        Event::Text(text) => Some(text.xml10_content()),
        Event::CData(text) => Some(text.xml10_content()),
        Event::GeneralRef(reference) => {
            let name: &str = reference;
            let character = match name {
                "amp" => Some('&'),
                "lt" => Some('<'),
                "gt" => Some('>'),
                "quot" => Some('"'),
                "apos" => Some('\''),
                _ => reference.resolve_char_ref().ok().flatten(),
            };
            character.map(|character| Cow::Owned(character.to_string()))
        }
        _ => None,
    }
}

/// Name of an element without its prefix.
pub(crate) fn local<'e>(start: &'e BytesStart<'_>) -> &'e str {
    let name: &str = start.name().into_inner();
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

/// Value of the attribute with this local name.
pub(crate) fn attribute(start: &BytesStart<'_>, name: &str) -> Option<String> {
    attributes(start).find(|(key, _)| local_of(key) == name).map(|(_, value)| value)
}

/// Value of the attribute with exactly this name, prefix included.
pub(crate) fn qualified(start: &BytesStart<'_>, name: &str) -> Option<String> {
    attributes(start).find(|(key, _)| key == name).map(|(_, value)| value)
}

/// All attributes that can be read.
pub(crate) fn attributes(start: &BytesStart<'_>) -> impl Iterator<Item = (String, String)> {
    // Looking for an attribute that is there twice takes quadratic time.
    let mut attributes = start.attributes();
    attributes.with_checks(false);
    attributes.filter_map(Result::ok).map(|attribute| {
        let key: &str = attribute.key.into_inner();
        let raw: &str = &attribute.value;
        let value =
            quick_xml::escape::unescape(raw).map_or_else(|_| raw.to_owned(), Cow::into_owned);
        (key.to_owned(), value)
    })
}

fn local_of(name: &str) -> &str {
    name.rsplit_once(':').map_or(name, |(_, local)| local)
}

#[cfg(test)]
mod tests {
    use quick_xml::events::Event;
    use trove_domain::port::{ExtractError, Resource};

    use super::{Xml, attribute, local, text_of};
    use crate::budget::{Budget, Meter};

    fn text(xml: &str) -> Result<String, ExtractError> {
        let meter = Meter::new(Budget::default());
        let mut xml = Xml::new(xml.as_bytes(), "XML", &meter);
        let mut all = String::new();
        loop {
            match xml.next()? {
                Event::Eof => return Ok(all),
                event => all.extend(text_of(&event).as_deref()),
            }
        }
    }

    #[test]
    fn characters_are_what_they_stand_for() {
        assert_eq!(
            text("<a>&lt;b&gt; &#x4e16;&#30028;<![CDATA[<c>]]></a>").unwrap(),
            "<b> 世界<c>"
        );
    }

    #[test]
    fn entities_do_not_expand() {
        let laughs = "<!DOCTYPE a [<!ENTITY b \"ha\"><!ENTITY c \"&b;&b;&b;\">]><a>x&c;&b;y</a>";
        assert_eq!(text(laughs).unwrap(), "xy");
        assert_eq!(text("<!DOCTYPE a SYSTEM \"file:///etc/passwd\"><a>&a;</a>").unwrap(), "");
    }

    #[test]
    fn depth_and_events_are_bounded() {
        let deep = "<a>".repeat(501);
        assert_eq!(
            text(&deep),
            Err(ExtractError::OutOfBudget { resource: Resource::Depth, limit: 500 })
        );
        let meter = Meter::new(Budget { events: 10, ..Budget::default() });
        let many = "<a/>".repeat(10);
        let mut xml = Xml::new(many.as_bytes(), "XML", &meter);
        let error = loop {
            if let Err(error) = xml.next() {
                break error;
            }
        };
        assert_eq!(error, ExtractError::OutOfBudget { resource: Resource::Events, limit: 10 });
    }

    #[test]
    fn what_is_cut_off_or_mixed_up_is_an_error() {
        for broken in ["<a>", "<a><b></a></b>", "<a", "<a></a></b>", "<a>\u{0}</a"] {
            assert!(matches!(text(broken), Err(ExtractError::Malformed { .. })), "{broken}");
        }
    }

    #[test]
    fn names_have_no_prefixes() {
        let meter = Meter::new(Budget::default());
        let mut xml = Xml::new("<w:a r:id='x&amp;y' b='z'/>".as_bytes(), "XML", &meter);
        let Event::Start(start) = xml.next().unwrap() else { panic!("a start") };
        assert_eq!(local(&start), "a");
        assert_eq!(attribute(&start, "id").as_deref(), Some("x&y"));
        assert_eq!(attribute(&start, "c"), None);
    }
}
