//! OpenDocument: texts (`odt`), spreadsheets (`ods`) and slides (`odp`). A table of a spreadsheet
//! and a slide are a section each.

use std::io::BufReader;

use quick_xml::events::{BytesStart, Event};
use trove_domain::port::{ExtractError, ExtractedText};

use crate::archive::Archive;
use crate::budget::{Meter, malformed};
use crate::found::{Found, date};
use crate::writer::{self, TextWriter};
use crate::xml::{Xml, attribute, local, qualified, text_of};

const FORMAT: &str = "OpenDocument file";

/// Most blanks that one element stands for.
const BLANKS_MAX: usize = 100;

/// Text of a document.
pub(crate) fn extract(archive: &Archive<'_>, meter: &Meter) -> Result<ExtractedText, ExtractError> {
    refuse_encrypted(archive, meter)?;
    let mut found = Found::new(meter);
    let facts = read_facts(archive, meter, &mut found);
    meter.part("the properties of the document", facts)?;
    let content = archive.part("content.xml")?;
    let content = content.ok_or_else(|| malformed(FORMAT, &"it has no content"))?;
    let mut xml = Xml::new(BufReader::new(content), FORMAT, meter);
    let mut body = Body::new(&found);
    loop {
        match xml.next()? {
            Event::Start(start) => match local(&start) {
                // Deleted text, styles, and the notes of the one who changed it.
                "tracked-changes" | "automatic-styles" | "font-face-decls" | "scripts" => {
                    xml.skip()?;
                }
                _ => body.start(&start, &mut found)?,
            },
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                body.end(name.rsplit_once(':').map_or(name, |(_, local)| local), &mut found)?;
            }
            Event::Eof => break,
            event => {
                if body.paragraphs > 0
                    && let Some(text) = text_of(&event)
                {
                    body.writer.text(&text);
                }
            }
        }
        if body.writer.is_full() {
            break;
        }
    }
    let heading = body.heading.take();
    body.finish(&mut found)?;
    if let Some(heading) = heading {
        found.title(&heading);
    }
    Ok(found.finish())
}

/// The list of parts says which of them are encrypted.
fn refuse_encrypted(archive: &Archive<'_>, meter: &Meter) -> Result<(), ExtractError> {
    let Some(manifest) = archive.part("META-INF/manifest.xml")? else { return Ok(()) };
    let mut xml = Xml::new(BufReader::new(manifest), FORMAT, meter);
    loop {
        match xml.next()? {
            Event::Start(start) if local(&start) == "encryption-data" => {
                return Err(ExtractError::Encrypted);
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
    }
}

fn read_facts(
    archive: &Archive<'_>,
    meter: &Meter,
    found: &mut Found<'_>,
) -> Result<(), ExtractError> {
    let Some(meta) = archive.part("meta.xml")? else { return Ok(()) };
    let mut xml = Xml::new(BufReader::new(meta), FORMAT, meter);
    let mut author = None;
    loop {
        let name = match xml.next()? {
            Event::Start(start) => local(&start).to_owned(),
            Event::Eof => break,
            _ => continue,
        };
        match name.as_str() {
            "title" => found.title(&xml.text()?),
            "initial-creator" => found.author(&xml.text()?),
            "creator" => author = Some(xml.text()?),
            "creation-date" => found.created(date(&xml.text()?)),
            "date" => found.modified(date(&xml.text()?)),
            "language" => found.language(&xml.text()?),
            "keyword" => found.properties("keywords", &xml.text()?),
            "subject" | "description" => {
                let value = xml.text()?;
                found.property(&name, &value);
            }
            _ => {}
        }
    }
    // Whoever saved it last is an author where nobody else is known.
    if let Some(author) = author.filter(|_| found.about().authors.is_empty()) {
        found.author(&author);
    }
    Ok(())
}

/// Turns elements into text.
struct Body {
    writer: TextWriter,
    /// Paragraphs that are open: a note is one inside another.
    paragraphs: usize,
    /// Where the open heading begins.
    heading_from: Option<usize>,
    heading: Option<String>,
    in_spreadsheet: bool,
    tables: usize,
    pages: usize,
}

impl Body {
    fn new(found: &Found<'_>) -> Self {
        Self {
            writer: found.writer(),
            paragraphs: 0,
            heading_from: None,
            heading: None,
            in_spreadsheet: false,
            tables: 0,
            pages: 0,
        }
    }

    fn start(&mut self, start: &BytesStart<'_>, found: &mut Found<'_>) -> Result<(), ExtractError> {
        match local(start) {
            "spreadsheet" => self.in_spreadsheet = true,
            "p" => {
                self.writer.paragraph();
                self.paragraphs += 1;
            }
            "h" => {
                self.writer.paragraph();
                self.paragraphs += 1;
                let level = attribute(start, "outline-level");
                if self.heading.is_none() && matches!(level.as_deref(), None | Some("1")) {
                    self.heading_from = Some(self.writer.position());
                }
            }
            "a" => {
                if let Some(address) = qualified(start, "xlink:href") {
                    found.link(&address);
                }
            }
            "s" => {
                let count = attribute(start, "c").and_then(|count| count.parse().ok());
                self.writer.text(&" ".repeat(count.unwrap_or(1).min(BLANKS_MAX)));
            }
            "tab" => self.writer.text("\t"),
            "line-break" => self.writer.line(),
            "list-item" => self.writer.item("- "),
            "table" => {
                if self.in_spreadsheet && self.tables == 0 {
                    self.page(found)?;
                    self.writer.text(&attribute(start, "name").unwrap_or_default());
                }
                self.tables += 1;
                self.writer.open_frame();
            }
            "table-row" => self.writer.row(),
            "table-cell" => self.writer.cell(),
            "page" => self.page(found)?,
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: &str, found: &mut Found<'_>) -> Result<(), ExtractError> {
        match name {
            "p" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                self.writer.paragraph();
            }
            "h" => {
                self.paragraphs = self.paragraphs.saturating_sub(1);
                if let Some(from) = self.heading_from.take() {
                    self.heading = writer::title(&self.writer.since(from));
                }
                self.writer.paragraph();
            }
            "table" => {
                self.tables = self.tables.saturating_sub(1);
                self.writer.close_frame();
                if self.in_spreadsheet && self.tables == 0 {
                    self.page(found)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Begins another section.
    fn page(&mut self, found: &mut Found<'_>) -> Result<(), ExtractError> {
        self.pages += 1;
        // Each table begins and ends one.
        found.meter().check_pages(self.pages / 2)?;
        if self.writer.position() > 0 {
            let done = std::mem::replace(&mut self.writer, TextWriter::new(0));
            found.section(done, None)?;
            self.writer = found.writer();
        }
        Ok(())
    }

    fn finish(self, found: &mut Found<'_>) -> Result<(), ExtractError> {
        found.section(self.writer, None)
    }
}
