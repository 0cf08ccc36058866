//! The event stream of a server, from bytes to data.
//!
//! Format: WHATWG HTML, "Server-sent events", 9.2.5 and 9.2.6. Beyond it: the last event needs no
//! blank line, a line that is a JSON object counts as data, and a field `error` counts as the data
//! of an error, because servers write both.

/// Most bytes of one event.
const EVENT_BYTES_MAX: usize = 1 << 20;

/// One event.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    /// Its lines of data, joined by line feeds.
    pub(crate) data: String,
    /// Whether it is called an error.
    pub(crate) is_error: bool,
}

/// An event is larger than any that a model sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TooLarge;

/// Reads bytes as they come, however they are cut.
#[derive(Debug, Default)]
pub(crate) struct EventParser {
    line: Vec<u8>,
    event: Event,
    /// Whether a line of the event had data.
    has_data: bool,
    /// Whether the last byte ended a line as a carriage return: a line feed belongs to it.
    after_return: bool,
    /// Whether a line was read: the first may begin with a byte order mark.
    began: bool,
}

impl EventParser {
    /// Reads `bytes`; events that end in them are added to `events`.
    pub(crate) fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) -> Result<(), TooLarge> {
        for byte in bytes {
            let follows = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if follows => {}
                b'\n' => self.end_line(events),
                b'\r' => {
                    self.after_return = true;
                    self.end_line(events);
                }
                byte => {
                    self.line.push(*byte);
                    if self.line.len() + self.event.data.len() > EVENT_BYTES_MAX {
                        return Err(TooLarge);
                    }
                }
            }
        }
        Ok(())
    }

    /// What is left at the end of the stream.
    pub(crate) fn finish(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if !self.line.is_empty() {
            self.end_line(&mut events);
        }
        self.dispatch(&mut events);
        events
    }

    fn end_line(&mut self, events: &mut Vec<Event>) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let mut line = &*line;
        if !std::mem::replace(&mut self.began, true) {
            line = line.strip_prefix('\u{feff}').unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(events);
        } else if line.starts_with('{') {
            self.data(line);
        } else {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => self.data(value),
                "error" => {
                    self.event.is_error = true;
                    self.data(value);
                }
                "event" => self.event.is_error = value == "error",
                // Comments, ids, times to reconnect after.
                _ => {}
            }
        }
    }

    fn data(&mut self, value: &str) {
        if std::mem::replace(&mut self.has_data, true) {
            self.event.data.push('\n');
        }
        self.event.data.push_str(value);
    }

    fn dispatch(&mut self, events: &mut Vec<Event>) {
        let event = std::mem::take(&mut self.event);
        if std::mem::take(&mut self.has_data) {
            events.push(event);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{EVENT_BYTES_MAX, Event, EventParser, TooLarge};

    fn read(parts: &[&[u8]]) -> Vec<Event> {
        let mut parser = EventParser::default();
        let mut events = Vec::new();
        for part in parts {
            parser.push(part, &mut events).unwrap();
        }
        events.extend(parser.finish());
        events
    }

    fn data(text: &str) -> Event {
        Event { data: text.to_owned(), is_error: false }
    }

    fn error(text: &str) -> Event {
        Event { data: text.to_owned(), is_error: true }
    }

    #[test]
    fn fields_comments_and_ends_of_lines_are_told_apart() {
        for (text, expected) in [
            ("data: a\n\ndata: b\n\n", vec![data("a"), data("b")]),
            ("data:a\r\n\r\ndata:  b\r\n\r\n", vec![data("a"), data(" b")]),
            ("data: a\r\rdata: b\r\r", vec![data("a"), data("b")]),
            ("\u{feff}data: a\n\n", vec![data("a")]),
            (": keep-alive\n\n: again\ndata: a\n\n", vec![data("a")]),
            ("id: 1\nretry: 5\nevent: message\ndata: a\n\n", vec![data("a")]),
            ("data: a\ndata: b\n\n", vec![data("a\nb")]),
            ("data\n\n", vec![data("")]),
            ("event: error\ndata: a\n\ndata: b\n\n", vec![error("a"), data("b")]),
            ("error: {}\n\n", vec![error("{}")]),
            ("{\"error\": 1}\n", vec![data("{\"error\": 1}")]),
            ("data: a", vec![data("a")]),
            ("\n\n\n", vec![]),
            ("event: ping\n\n", vec![]),
        ] {
            assert_eq!(read(&[text.as_bytes()]), expected, "{text:?}");
        }
    }

    #[test]
    fn an_endless_line_is_refused() {
        let mut parser = EventParser::default();
        let mut events = Vec::new();
        let line = vec![b'x'; EVENT_BYTES_MAX + 1];
        assert_eq!(parser.push(&line, &mut events), Err(TooLarge));
        let mut parser = EventParser::default();
        let lines = b"data: xxxxxxxxxxxxxxxx\n".repeat(EVENT_BYTES_MAX / 16 + 1);
        assert_eq!(parser.push(&lines, &mut events), Err(TooLarge));
    }

    proptest! {
        #[test]
        fn where_the_bytes_are_cut_does_not_matter(
            lines in prop::collection::vec("(data: )?[a-z{:世é🦀]{0,6}(\r\n|\n|\r|\r\n\r\n|\n\n)", 0..12),
            cuts in prop::collection::vec(0_usize..200, 0..12),
        ) {
            let text = lines.concat();
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let parts: Vec<&[u8]> = cuts.windows(2).map(|cut| &bytes[cut[0]..cut[1]]).collect();
            prop_assert_eq!(read(&parts), read(&[bytes]));
        }

        #[test]
        fn any_bytes_are_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            read(&[&bytes]);
        }
    }
}
