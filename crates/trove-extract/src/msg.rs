//! Messages of Outlook: `msg`. Texts and attachments are streams named by their property.

mod compressed_rtf;

use encoding_rs::{Encoding, WINDOWS_1252};
use trove_domain::port::{ExtractError, ExtractedText};

use crate::archive::Source;
use crate::budget::Meter;
use crate::charset::code_page;
use crate::compound::{Compound, stream};
use crate::extractor;
use crate::found::{Found, NAMELESS};
use crate::text::{self, TextFormat};

/// Bytes before the list of properties of a message, and of one inside another.
const OUTER_HEADER: usize = 32;
const INNER_HEADER: usize = 24;

/// Text of a message.
pub(crate) fn extract(
    file: &mut Compound<'_>,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    extract_at(file, "", OUTER_HEADER, meter)
}

fn extract_at(
    file: &mut Compound<'_>,
    at: &str,
    header: usize,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(meter);
    let list = stream(file, &format!("{at}/__properties_version1.0"), meter)?;
    let properties = Properties(list.unwrap_or_default().into_iter().skip(header).collect());
    let encoding = properties.number(0x3ffd).and_then(code_page).unwrap_or(WINDOWS_1252);
    let mut message = Message { file, at, encoding, meter };

    if let Some(subject) = message.text(0x0037)? {
        found.title(&subject);
    }
    let name = message.text(0x0c1a)?.unwrap_or_default();
    let address = match message.text(0x5d01)? {
        Some(address) => Some(address),
        None => message.text(0x0c1f)?.filter(|address| address.contains('@')),
    };
    match address {
        Some(address) if address != name => found.author(&format!("{name} <{address}>")),
        _ => found.author(&name),
    }
    for (tag, property) in [(0x0e04, "to"), (0x0e03, "cc")] {
        if let Some(people) = message.text(tag)? {
            found.properties(property, &people);
        }
    }
    found.created(properties.time(0x0039).or_else(|| properties.time(0x0e06)));
    let body = message.body()?;
    found.sections_of(body);
    attachments(file, at, &mut found, meter)?;
    Ok(found.finish())
}

/// One message, as far as it is made of streams.
struct Message<'f, 'a, 'm> {
    file: &'f mut Compound<'a>,
    at: &'f str,
    encoding: &'static Encoding,
    meter: &'m Meter,
}

impl Message<'_, '_, '_> {
    fn bytes(&mut self, tag: u16, kind: u16) -> Result<Option<Vec<u8>>, ExtractError> {
        let path = format!("{}/__substg1.0_{tag:04X}{kind:04X}", self.at);
        stream(self.file, &path, self.meter)
    }

    /// A text property, in UTF-16 or in the code page of the message.
    fn text(&mut self, tag: u16) -> Result<Option<String>, ExtractError> {
        let text = match self.bytes(tag, 0x001f)? {
            Some(bytes) => {
                Some(encoding_rs::UTF_16LE.decode_without_bom_handling(&bytes).0.into_owned())
            }
            None => self
                .bytes(tag, 0x001e)?
                .map(|bytes| self.encoding.decode_without_bom_handling(&bytes).0.into_owned()),
        };
        Ok(text.map(|text| text.trim_end_matches('\0').to_owned()).filter(|text| !text.is_empty()))
    }

    /// The text, in the simplest form there is.
    fn body(&mut self) -> Result<ExtractedText, ExtractError> {
        if let Some(text) = self.text(0x1000)? {
            return text::extract_decoded(&text, TextFormat::Plain, self.meter);
        }
        if let Some(html) = self.bytes(0x1013, 0x0102)? {
            return text::extract(&html, TextFormat::Html, self.meter);
        }
        if let Some(html) = self.text(0x1013)? {
            return text::extract_decoded(&html, TextFormat::Html, self.meter);
        }
        if let Some(packed) = self.bytes(0x1009, 0x0102)? {
            let limit = self.meter.budget().part_bytes;
            let rtf = compressed_rtf::unpack(&packed, limit);
            let read = rtf.and_then(|rtf| {
                self.meter.take_unpacked(u64::try_from(rtf.len()).unwrap_or(u64::MAX))?;
                crate::rtf::extract(&rtf, self.meter)
            });
            return Ok(self.meter.part("the text of the message", read)?.unwrap_or_default());
        }
        Ok(ExtractedText::default())
    }
}

fn attachments(
    file: &mut Compound<'_>,
    at: &str,
    found: &mut Found<'_>,
    meter: &Meter,
) -> Result<(), ExtractError> {
    let inside = if at.is_empty() { "/" } else { at };
    let Ok(entries) = file.read_storage(inside) else { return Ok(()) };
    let mut storages: Vec<String> = entries
        .filter(|entry| entry.is_storage() && entry.name().starts_with("__attach_version1.0_"))
        .map(|entry| format!("{at}/{}", entry.name()))
        .collect();
    storages.sort();
    for storage in storages {
        meter.take_entry()?;
        let mut attachment = Message { file, at: &storage, encoding: WINDOWS_1252, meter };
        let long = attachment.text(0x3707)?;
        let short = attachment.text(0x3704)?;
        let given = long.or(short).or(attachment.text(0x3001)?);
        let name = given.as_deref().unwrap_or(NAMELESS);
        let content = attachment.bytes(0x3701, 0x0102)?;
        let message = format!("{storage}/__substg1.0_3701000D");
        let read = meter.inside(name, || match content {
            Some(content) => extractor::read(name, Source::Bytes(&content), meter).map(Some),
            None if file.is_storage(&message) => {
                extract_at(file, &message, INNER_HEADER, meter).map(Some)
            }
            None => Ok(None),
        });
        match read {
            Ok(Some(text)) => found.inner(given.as_deref(), text)?,
            Ok(None) | Err(ExtractError::UnsupportedFormat { .. } | ExtractError::Binary) => {}
            Err(error) => {
                meter.part(name, Err::<(), _>(error))?;
            }
        }
    }
    Ok(())
}

/// The list of properties that are numbers: eight bytes of tag and flags, eight of value.
struct Properties(Vec<u8>);

impl Properties {
    fn value(&self, tag: u16, kind: u16) -> Option<[u8; 8]> {
        let wanted = (u32::from(tag) << 16 | u32::from(kind)).to_le_bytes();
        let entry = self.0.chunks_exact(16).find(|entry| entry.starts_with(&wanted))?;
        entry.get(8..)?.try_into().ok()
    }

    fn number(&self, tag: u16) -> Option<u32> {
        let [a, b, c, d, ..] = self.value(tag, 0x0003)?;
        Some(u32::from_le_bytes([a, b, c, d]))
    }

    /// Tenths of a microsecond since 1601.
    fn time(&self, tag: u16) -> Option<chrono::DateTime<chrono::Utc>> {
        let ticks = i64::from_le_bytes(self.value(tag, 0x0040)?);
        let seconds = ticks.checked_div(10_000_000)?.checked_sub(11_644_473_600)?;
        chrono::DateTime::from_timestamp(seconds, 0)
    }
}
