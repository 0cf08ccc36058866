//! Books: `epub`. A chapter is a section.

use std::collections::{HashMap, HashSet};
use std::io::BufReader;

use quick_xml::events::Event;
use trove_domain::port::{ExtractError, ExtractedText};

use crate::archive::Archive;
use crate::budget::{Meter, malformed};
use crate::found::{Found, date};
use crate::text::{self, TextFormat};
use crate::xml::{Xml, attribute, local};

const FORMAT: &str = "EPUB book";

/// Text of a book.
pub(crate) fn extract(archive: &Archive<'_>, meter: &Meter) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(meter);
    let list = list_of_parts(archive, meter)?;
    let chapters = chapters(archive, &list, meter, &mut found)?;
    meter.check_pages(chapters.len())?;
    let encrypted = encrypted_parts(archive, meter)?;
    if !chapters.is_empty() && chapters.iter().all(|chapter| encrypted.contains(chapter)) {
        return Err(ExtractError::Encrypted);
    }
    for chapter in &chapters {
        let read = if encrypted.contains(chapter) {
            Err(ExtractError::Encrypted)
        } else {
            read_chapter(archive, chapter, meter)
        };
        if let Some(text) = meter.part(chapter, read)? {
            found.sections_of(text);
        }
    }
    Ok(found.finish())
}

fn read_chapter(
    archive: &Archive<'_>,
    chapter: &str,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    let content = archive.bytes(chapter)?.ok_or_else(|| malformed(FORMAT, &"it is missing"))?;
    text::extract(&content, TextFormat::Xhtml, meter)
}

/// Name of the part that lists all others.
fn list_of_parts(archive: &Archive<'_>, meter: &Meter) -> Result<String, ExtractError> {
    let container = archive.part("META-INF/container.xml")?;
    let container = container.ok_or_else(|| malformed(FORMAT, &"it has no list of its parts"))?;
    let mut xml = Xml::new(BufReader::new(container), FORMAT, meter);
    loop {
        match xml.next()? {
            Event::Start(start) if local(&start) == "rootfile" => {
                if let Some(path) = attribute(&start, "full-path") {
                    return Ok(path);
                }
            }
            Event::Eof => return Err(malformed(FORMAT, &"it has no list of its parts")),
            _ => {}
        }
    }
}

/// Names of the chapters' parts, in reading order. Facts are on the way.
fn chapters(
    archive: &Archive<'_>,
    list: &str,
    meter: &Meter,
    found: &mut Found<'_>,
) -> Result<Vec<String>, ExtractError> {
    let content = archive.part(list)?.ok_or_else(|| malformed(FORMAT, &"its list is missing"))?;
    let folder = list.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut xml = Xml::new(BufReader::new(content), FORMAT, meter);
    let (mut parts, mut order) = (HashMap::new(), Vec::new());
    let mut in_facts = false;
    loop {
        let name = match xml.next()? {
            Event::Start(start) => {
                let name = local(&start).to_owned();
                match name.as_str() {
                    "metadata" => in_facts = true,
                    "item" => {
                        let id = attribute(&start, "id").unwrap_or_default();
                        let place = attribute(&start, "href").unwrap_or_default();
                        parts.insert(id, resolve(folder, &place));
                    }
                    "itemref" => order.extend(attribute(&start, "idref")),
                    _ => {}
                }
                name
            }
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                in_facts &= !name.ends_with("metadata");
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        if !in_facts {
            continue;
        }
        match name.as_str() {
            "title" => found.title(&xml.text()?),
            "creator" => found.author(&xml.text()?),
            "language" => found.language(&xml.text()?),
            "date" => found.created(date(&xml.text()?)),
            "subject" => found.property("subject", &xml.text()?),
            "publisher" => found.property("publisher", &xml.text()?),
            "description" => found.property("description", &xml.text()?),
            _ => {}
        }
    }
    let mut seen = HashSet::new();
    let chapters = order.into_iter().filter_map(|id| parts.get(&id).cloned());
    Ok(chapters.filter(|chapter| seen.insert(chapter.clone())).collect())
}

/// Names of parts that only who has a key can read; shops sell such books.
fn encrypted_parts(archive: &Archive<'_>, meter: &Meter) -> Result<HashSet<String>, ExtractError> {
    let mut encrypted = HashSet::new();
    let Some(list) = archive.part("META-INF/encryption.xml")? else { return Ok(encrypted) };
    let mut xml = Xml::new(BufReader::new(list), FORMAT, meter);
    loop {
        match xml.next()? {
            Event::Start(start) if local(&start) == "CipherReference" => {
                encrypted.extend(attribute(&start, "URI").map(|place| resolve("", &place)));
            }
            Event::Eof => return Ok(encrypted),
            _ => {}
        }
    }
}

/// The part at a relative address, seen from a folder.
fn resolve(folder: &str, address: &str) -> String {
    let address = address.split('#').next().unwrap_or_default();
    let mut path: Vec<String> =
        folder.split('/').filter(|part| !part.is_empty()).map(str::to_owned).collect();
    for part in address.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            part => path.push(unescape(part)),
        }
    }
    path.join("/")
}

/// `%20` and the like are bytes of UTF-8.
fn unescape(part: &str) -> String {
    let mut bytes = Vec::with_capacity(part.len());
    let mut rest = part.as_bytes();
    while let [first, tail @ ..] = rest {
        let escaped = (*first == b'%').then(|| tail.get(..2)).flatten();
        let code = escaped.and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn addresses_are_seen_from_the_list() {
        assert_eq!(resolve("OEBPS", "a%20b.xhtml#x"), "OEBPS/a b.xhtml");
        assert_eq!(resolve("OEBPS/x", "../%E4%B8%96.xhtml"), "OEBPS/世.xhtml");
        assert_eq!(resolve("", "../../100%.xhtml"), "100%.xhtml");
        assert_eq!(resolve("", "%"), "%");
    }
}
