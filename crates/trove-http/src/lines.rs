//! Streams of one JSON object a line, as soon as each is there.

use actix_web::HttpResponse;
use actix_web::http::header::{self, HeaderName, HeaderValue};
use bytes::Bytes;
use futures_util::stream::{Stream, StreamExt};
use serde::Serialize;
use serde_json::ser::{CharEscape, Formatter};

/// An answer whose body is one line for each of `objects`.
///
/// The framing is that of the reference: the content type says `text/event-stream`, yet there are
/// no events, only lines of JSON.
pub(crate) fn respond<T: Serialize + 'static>(
    objects: impl Stream<Item = T> + 'static,
) -> HttpResponse {
    let lines = objects.map(|object| Ok::<_, actix_web::Error>(line(&object)));
    HttpResponse::Ok()
        .content_type("text/event-stream; charset=utf-8")
        .insert_header((header::CACHE_CONTROL, HeaderValue::from_static("no-store")))
        // Nothing on the way may collect lines: neither a compression nor a proxy.
        .insert_header((header::CONTENT_ENCODING, HeaderValue::from_static("identity")))
        .insert_header((
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ))
        .streaming(Box::pin(lines))
}

/// `object` as one line, ended by a line feed.
pub(crate) fn line(object: &impl Serialize) -> Bytes {
    let mut text = Vec::with_capacity(256);
    let mut serializer = serde_json::Serializer::with_formatter(&mut text, AsciiLine);
    // Fails for maps with keys that are no strings only, which no answer has.
    if let Err(error) = object.serialize(&mut serializer) {
        tracing::error!(%error, "a line could not be written");
        text.clear();
    }
    text.push(b'\n');
    Bytes::from(text)
}

/// JSON of ASCII characters, with a blank after each comma and colon.
struct AsciiLine;

impl Formatter for AsciiLine {
    fn begin_array_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_key<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> std::io::Result<()> {
        if first { Ok(()) } else { writer.write_all(b", ") }
    }

    fn begin_object_value<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
    ) -> std::io::Result<()> {
        writer.write_all(b": ")
    }

    fn write_string_fragment<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> std::io::Result<()> {
        let mut units = [0; 2];
        for part in fragment.split_inclusive(|c: char| !c.is_ascii()) {
            let plain = part.trim_end_matches(|c: char| !c.is_ascii());
            writer.write_all(plain.as_bytes())?;
            for unit in
                part[plain.len()..].chars().flat_map(|c| c.encode_utf16(&mut units).to_vec())
            {
                write!(writer, "\\u{unit:04x}")?;
            }
        }
        Ok(())
    }

    fn write_char_escape<W: ?Sized + std::io::Write>(
        &mut self,
        writer: &mut W,
        char_escape: CharEscape,
    ) -> std::io::Result<()> {
        match char_escape {
            CharEscape::AsciiControl(byte) => write!(writer, "\\u{byte:04x}"),
            CharEscape::Quote => writer.write_all(b"\\\""),
            CharEscape::ReverseSolidus => writer.write_all(b"\\\\"),
            CharEscape::Solidus => writer.write_all(b"/"),
            CharEscape::Backspace => writer.write_all(b"\\b"),
            CharEscape::FormFeed => writer.write_all(b"\\f"),
            CharEscape::LineFeed => writer.write_all(b"\\n"),
            CharEscape::CarriageReturn => writer.write_all(b"\\r"),
            CharEscape::Tab => writer.write_all(b"\\t"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::line;

    fn text(value: &Value) -> String {
        String::from_utf8(line(value).to_vec()).unwrap()
    }

    #[test]
    fn a_line_has_blanks_and_ascii_only() {
        assert_eq!(
            text(&json!({"a": [1, null, 0.5], "b": {}})),
            "{\"a\": [1, null, 0.5], \"b\": {}}\n"
        );
        assert_eq!(
            text(&json!("é\n\"\\\t\u{1}🎉x中")),
            "\"\\u00e9\\n\\\"\\\\\\t\\u0001\\ud83c\\udf89x\\u4e2d\"\n"
        );
    }

    proptest! {
        #[test]
        fn a_line_says_what_it_was_given(key in any::<String>(), value in any::<String>()) {
            let object = json!({key: [value]});
            let line = text(&object);
            prop_assert!(line.is_ascii());
            prop_assert_eq!(line.find('\n'), Some(line.len() - 1));
            prop_assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), object);
        }
    }
}
