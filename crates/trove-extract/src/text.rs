//! Files that are text already: notes, tables, configuration, source code, and markup.

mod json;
mod table;
mod xml_file;

use std::borrow::Cow;

use trove_domain::port::{ExtractError, ExtractedText};

use crate::budget::Meter;
use crate::found::Found;
use crate::writer::Full;
use crate::{charset, html, markdown, plain};

/// UTF-8 needs at most this many bytes for a character.
const MAX_BYTES_PER_CHAR: usize = 4;

/// A document of one section.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
}

/// A kind of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TextFormat {
    Plain,
    RestructuredText,
    Markdown,
    Mdx,
    Html,
    Xhtml,
    Xml,
    Json,
    Csv,
    Tsv,
}

/// Text of a file in `format`. The text is one section without a link; its paragraphs are separated
/// by one blank line.
pub(crate) fn extract(
    content: &[u8],
    format: TextFormat,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    // More bytes than this cannot be few enough characters, in any charset but one that is markup.
    if content.len() > meter.budget().chars.saturating_mul(MAX_BYTES_PER_CHAR) {
        return Err(meter.too_long());
    }
    let decoded = decode(content, format)?;
    extract_decoded(&decoded, format, meter)
}

fn decode(content: &[u8], format: TextFormat) -> Result<Cow<'_, str>, ExtractError> {
    let declared = match format {
        TextFormat::Html | TextFormat::Xhtml => html::declared_charset(content),
        _ => charset::declared_by_xml(content),
    };
    charset::decode(content, declared).map_err(|charset::Binary| ExtractError::Binary)
}

/// As [`extract`], of text that is decoded.
pub(crate) fn extract_decoded(
    text: &str,
    format: TextFormat,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(meter);
    let max_chars = meter.chars_left();
    let extract = match format {
        TextFormat::Plain => plain::extract(text, max_chars),
        TextFormat::RestructuredText => plain::extract_restructured_text(text, max_chars),
        TextFormat::Markdown => markdown::extract(text, markdown::Dialect::Gfm, max_chars),
        TextFormat::Mdx => markdown::extract(text, markdown::Dialect::Mdx, max_chars),
        TextFormat::Html => html::extract(text, html::Syntax::Html, max_chars),
        TextFormat::Xhtml => html::extract(text, html::Syntax::Xml, max_chars),
        TextFormat::Xml => xml_file::extract(text, meter)?,
        TextFormat::Json => json::extract(text, max_chars),
        TextFormat::Csv => table::extract(text, None, meter)?,
        TextFormat::Tsv => table::extract(text, Some(b'\t'), meter)?,
    };
    if matches!(format, TextFormat::Html | TextFormat::Xhtml) {
        html::facts::read(text, &mut found);
    }
    let Extract { title, text } = extract.map_err(|Full| meter.too_long())?;
    if let Some(title) = title {
        found.title(&title);
    }
    found.text_section(text, None)?;
    Ok(found.finish())
}
