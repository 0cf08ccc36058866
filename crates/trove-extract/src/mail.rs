//! Messages as they travel: `eml`, and pages that browsers save as one (`mht`).

use mail_parser::{Address, Message, MessageParser, MimeHeaders, PartType};
use trove_domain::port::{ExtractError, ExtractedText};

use crate::archive::Source;
use crate::budget::{Meter, malformed};
use crate::extractor;
use crate::found::{Found, NAMELESS};
use crate::text::{self, TextFormat};

/// Text of a message.
pub(crate) fn extract(content: &[u8], meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let message = MessageParser::default().parse(content);
    let message = message.ok_or_else(|| malformed("message", &"it has no header"))?;
    extract_message(&message, meter)
}

fn extract_message(message: &Message<'_>, meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(meter);
    read_facts(message, &mut found);
    for body in message.text_bodies() {
        meter.take_entry()?;
        let text = match &body.body {
            PartType::Html(html) => text::extract_decoded(html, TextFormat::Html, meter)?,
            PartType::Text(text) => text::extract_decoded(text, TextFormat::Plain, meter)?,
            _ => continue,
        };
        found.sections_of(text);
    }
    for attachment in message.attachments() {
        meter.take_entry()?;
        let given = attachment.attachment_name();
        let name = given.unwrap_or(NAMELESS);
        let read = meter.inside(name, || match &attachment.body {
            PartType::Message(inner) => extract_message(inner, meter),
            body => {
                let content = match body {
                    PartType::Text(text) | PartType::Html(text) => text.as_bytes(),
                    PartType::Binary(bytes) | PartType::InlineBinary(bytes) => bytes,
                    PartType::Message(_) | PartType::Multipart(_) => &[],
                };
                extractor::read(name, Source::Bytes(content), meter)
            }
        });
        match read {
            Ok(text) => found.inner(given, text)?,
            // Pictures and signatures are part of many messages.
            Err(ExtractError::UnsupportedFormat { .. } | ExtractError::Binary) => {}
            Err(error) => {
                meter.part(name, Err::<(), _>(error))?;
            }
        }
    }
    Ok(found.finish())
}

fn read_facts(message: &Message<'_>, found: &mut Found<'_>) {
    if let Some(subject) = message.subject() {
        found.title(subject);
    }
    for author in message.from().map(people).unwrap_or_default() {
        found.author(&author);
    }
    for (property, address) in [("to", message.to()), ("cc", message.cc())] {
        for person in address.map(people).unwrap_or_default() {
            found.property(property, &person);
        }
    }
    let sent = message.date().filter(|date| date.is_valid());
    found.created(sent.and_then(|date| chrono::DateTime::from_timestamp(date.to_timestamp(), 0)));
}

/// Names and addresses as people write them.
fn people(address: &Address<'_>) -> Vec<String> {
    let person = |one: &mail_parser::Addr<'_>| match (one.name(), one.address()) {
        (Some(name), Some(address)) => Some(format!("{name} <{address}>")),
        (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
        (None, None) => None,
    };
    address.iter().filter_map(person).collect()
}
