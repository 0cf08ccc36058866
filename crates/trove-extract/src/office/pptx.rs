//! Slides: `pptx` and its relatives. A slide is a section, with its notes.

use quick_xml::events::Event;
use trove_domain::port::{ExtractError, ExtractedText};

use super::package::{FORMAT, Package};
use crate::budget::malformed;
use crate::found::Found;
use crate::writer::{self, TextWriter};
use crate::xml::{attribute, local, qualified, text_of};

pub(super) fn extract(package: &Package<'_>) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(package.meter);
    package.properties(&mut found)?;
    let slides = slides(package)?;
    package.meter.check_pages(slides.len())?;
    for (number, slide) in slides.iter().enumerate() {
        let read = read_slide(package, slide, &mut found);
        package.meter.part(&format!("slide {}", number + 1), read)?;
    }
    Ok(found.finish())
}

/// Names of the slides' parts, in the order of the show.
fn slides(package: &Package<'_>) -> Result<Vec<String>, ExtractError> {
    let relations = package.relations(package.main())?;
    let mut xml = package
        .xml(package.main())?
        .ok_or_else(|| malformed(FORMAT, &"its main part is missing"))?;
    let mut slides = Vec::new();
    loop {
        match xml.next()? {
            Event::Start(start) if local(&start) == "sldId" => {
                let id = qualified(&start, "r:id").unwrap_or_default();
                if let Some(relation) = relations.get(&id).filter(|r| r.kind == "slide") {
                    slides.push(relation.target.clone());
                }
            }
            Event::Eof => break,
            _ => {}
        }
    }
    // One slide a thousand times is no show.
    let mut seen = std::collections::HashSet::new();
    slides.retain(|slide| seen.insert(slide.clone()));
    Ok(slides)
}

fn read_slide(
    package: &Package<'_>,
    slide: &str,
    found: &mut Found<'_>,
) -> Result<(), ExtractError> {
    let relations = package.relations(slide)?;
    let mut writer = found.writer();
    let title = read_shapes(package, slide, &mut writer)?;
    for relation in relations.values().filter(|relation| relation.external) {
        found.link(&relation.target);
    }
    if let Some(notes) = relations.values().find(|relation| relation.kind == "notesSlide") {
        writer.paragraph();
        let read = read_shapes(package, &notes.target, &mut writer);
        package.meter.part(&notes.target, read)?;
    }
    found.section(writer, None)?;
    if let Some(title) = title {
        found.title(&title);
    }
    Ok(())
}

/// Writes the text of all shapes; answers the text of the one that is the title.
fn read_shapes(
    package: &Package<'_>,
    part: &str,
    writer: &mut TextWriter,
) -> Result<Option<String>, ExtractError> {
    let Some(mut xml) = package.xml(part)? else {
        return Err(malformed(FORMAT, &"it is missing"));
    };
    let mut title = None;
    let (mut in_title, mut in_text, mut shape_from) = (false, false, 0);
    loop {
        match xml.next()? {
            Event::Start(start) => match local(&start) {
                // What a newer program shows in another way is here a second time; the number of
                // the slide and the like are as they were when it was saved.
                "Fallback" | "fld" => xml.skip()?,
                "sp" => {
                    writer.paragraph();
                    (in_title, shape_from) = (false, writer.position());
                }
                "ph" => {
                    let kind = attribute(&start, "type");
                    in_title |= matches!(kind.as_deref(), Some("title" | "ctrTitle"));
                }
                "t" => in_text = true,
                "br" => writer.line(),
                "tbl" => writer.open_frame(),
                "tr" => writer.row(),
                "tc" => writer.cell(),
                _ => {}
            },
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                match name.rsplit_once(':').map_or(name, |(_, local)| local) {
                    "t" => in_text = false,
                    "p" => writer.line(),
                    "tbl" => writer.close_frame(),
                    "sp" => {
                        if in_title && title.is_none() {
                            title = writer::title(&writer.since(shape_from));
                        }
                        writer.paragraph();
                    }
                    _ => {}
                }
            }
            Event::Eof => return Ok(title),
            event => {
                if in_text && let Some(text) = text_of(&event) {
                    writer.text(&text);
                }
            }
        }
        if writer.is_full() {
            return Ok(title);
        }
    }
}
