//! Texts: `docx` and its templates.

use std::collections::HashMap;

use quick_xml::events::{BytesStart, Event};
use trove_domain::port::{ExtractError, ExtractedText};

use super::package::{FORMAT, Package, Relation};
use crate::budget::malformed;
use crate::found::Found;
use crate::writer::{self, TextWriter};
use crate::xml::{attribute, local, text_of};

pub(super) fn extract(package: &Package<'_>) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(package.meter);
    package.properties(&mut found)?;
    let main = package.main();
    let relations = package.relations(main)?;
    if !read_part(package, main, &relations, &mut found)? {
        return Err(malformed(FORMAT, &"its main part is missing"));
    }
    let mut others: Vec<&Relation> = relations
        .values()
        .filter(|relation| matches!(relation.kind.as_str(), "footnotes" | "endnotes" | "comments"))
        .collect();
    // Footnotes first; the order of a hash map would differ from run to run.
    others.sort_by_key(|relation| (relation.kind != "footnotes", relation.target.clone()));
    for relation in others {
        let read = package
            .relations(&relation.target)
            .and_then(|inner| read_part(package, &relation.target, &inner, &mut found));
        package.meter.part(&relation.target, read)?;
    }
    Ok(found.finish())
}

/// Reads a part as a section; `false` when it is missing.
fn read_part(
    package: &Package<'_>,
    part: &str,
    relations: &HashMap<String, Relation>,
    found: &mut Found<'_>,
) -> Result<bool, ExtractError> {
    let Some(mut xml) = package.xml(part)? else { return Ok(false) };
    let mut reader = Body {
        writer: found.writer(),
        in_text: false,
        paragraph_from: 0,
        is_title: false,
        title: None,
        heading: None,
        is_heading: false,
    };
    loop {
        match xml.next()? {
            Event::Start(start) => match local(&start) {
                // What a newer program shows in another way is here a second time; the text of
                // deletions and of fields' instructions is none.
                "Fallback" | "instrText" | "delText" => xml.skip()?,
                "hyperlink" => {
                    let id = attribute(&start, "id");
                    if let Some(relation) = id.and_then(|id| relations.get(&id))
                        && relation.external
                    {
                        found.link(&relation.target);
                    }
                }
                _ => reader.start(&start),
            },
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                reader.end(name.rsplit_once(':').map_or(name, |(_, local)| local));
            }
            Event::Eof => break,
            event => {
                if reader.in_text
                    && let Some(text) = text_of(&event)
                {
                    reader.writer.text(&text);
                }
            }
        }
        if reader.writer.is_full() {
            break;
        }
    }
    let title = reader.title.or(reader.heading);
    found.section(reader.writer, None)?;
    if let Some(title) = title {
        found.title(&title);
    }
    Ok(true)
}

/// Turns elements into text.
struct Body {
    writer: TextWriter,
    in_text: bool,
    /// Where the open paragraph begins.
    paragraph_from: usize,
    is_title: bool,
    is_heading: bool,
    /// First paragraph in the style of a title.
    title: Option<String>,
    /// First paragraph in the style of a heading of the first level.
    heading: Option<String>,
}

impl Body {
    fn start(&mut self, start: &BytesStart<'_>) {
        match local(start) {
            "t" => self.in_text = true,
            "p" => {
                self.writer.paragraph();
                self.paragraph_from = self.writer.position();
                (self.is_title, self.is_heading) = (false, false);
            }
            "pStyle" => {
                let style = attribute(start, "val").unwrap_or_default().to_lowercase();
                self.is_title = style == "title";
                self.is_heading = matches!(style.as_str(), "heading1" | "heading 1");
            }
            "numPr" => self.writer.item("- "),
            "tab" | "ptab" => self.writer.text("\t"),
            "br" | "cr" => self.writer.line(),
            "noBreakHyphen" => self.writer.text("-"),
            "tbl" => self.writer.open_frame(),
            "tr" => self.writer.row(),
            "tc" => self.writer.cell(),
            _ => {}
        }
    }

    fn end(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" => {
                if self.is_title && self.title.is_none() {
                    self.title = writer::title(&self.writer.since(self.paragraph_from));
                } else if self.is_heading && self.heading.is_none() {
                    self.heading = writer::title(&self.writer.since(self.paragraph_from));
                }
                self.writer.paragraph();
            }
            "tbl" => self.writer.close_frame(),
            _ => {}
        }
    }
}
