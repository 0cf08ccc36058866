//! What a page says of itself in its attributes: people, dates, language, and where it leads.

use html5gum::Span;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};

use super::tokenize;
use crate::found::{Found, date};

/// Elements whose attributes count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Element {
    Html,
    Meta,
    Anchor,
    #[default]
    Other,
}

/// The element that is being read.
#[derive(Debug, Default)]
struct Open {
    element: Element,
    attribute: Vec<u8>,
    /// Of a `meta` element: what it is about, and what it says.
    name: String,
    content: String,
}

/// Reads the attributes of a page.
pub(crate) fn read(html: &str, found: &mut Found<'_>) {
    let mut open = Open::default();
    let emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| -> Option<()> {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                let element = match name {
                    b"html" => Element::Html,
                    b"meta" => Element::Meta,
                    b"a" => Element::Anchor,
                    _ => Element::Other,
                };
                open = Open { element, ..Open::default() };
            }
            CallbackEvent::AttributeName { name } if open.element != Element::Other => {
                open.attribute = name.to_vec();
            }
            CallbackEvent::AttributeValue { value } if open.element != Element::Other => {
                let value = String::from_utf8_lossy(value);
                match (open.element, open.attribute.as_slice()) {
                    (Element::Anchor, b"href") => found.link(&value),
                    (Element::Html, b"lang" | b"xml:lang") => found.language(&value),
                    (Element::Meta, b"name" | b"property") => open.name = value.to_lowercase(),
                    (Element::Meta, b"content") => open.content = value.into_owned(),
                    _ => {}
                }
            }
            CallbackEvent::CloseStartTag { .. } if open.element == Element::Meta => {
                let Open { name, content, .. } = std::mem::take(&mut open);
                match name.as_str() {
                    "author" | "dc.creator" => found.author(&content),
                    "description" => found.property("description", &content),
                    "keywords" => found.properties("keywords", &content),
                    "article:published_time" | "dcterms.created" => found.created(date(&content)),
                    "article:modified_time" | "dcterms.modified" => found.modified(date(&content)),
                    _ => {}
                }
            }
            _ => {}
        }
        None
    });
    tokenize(html, emitter).for_each(drop);
}

#[cfg(test)]
mod tests {
    use super::read;
    use crate::budget::{Budget, Meter};
    use crate::found::Found;

    #[test]
    fn attributes_say_who_when_and_where_to() {
        let meter = Meter::new(Budget::default());
        let mut found = Found::new(&meter);
        read(
            "<!doctype html><html lang=de><meta name=Author content='A &amp; B'>\
             <meta content='x, y' name=keywords><meta property='article:published_time' \
             content='2024-02-29T10:00:00Z'><script>'<a href=https://example.com/no>'</script>\
             <a class=b href='https://example.com/?a=1&amp;b=2'>c</a><a href='/relative'>\
             <a href=mailto:a@example.com>",
            &mut found,
        );
        let about = found.finish().about;
        assert_eq!(about.authors, ["A & B"]);
        assert_eq!(about.language.as_deref(), Some("de"));
        assert_eq!(about.properties["keywords"], ["x", "y"]);
        assert_eq!(about.created_at.unwrap().to_rfc3339(), "2024-02-29T10:00:00+00:00");
        assert_eq!(about.links, ["https://example.com/?a=1&b=2", "mailto:a@example.com"]);
    }
}
