//! What all OOXML documents have in common: parts, relations between them, and properties.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};

use quick_xml::events::Event;
use trove_domain::port::ExtractError;

use crate::archive::Archive;
use crate::budget::{Meter, malformed};
use crate::found::{Found, date};
use crate::xml::{Xml, attribute, local};

pub(super) const FORMAT: &str = "Office document";

/// Most relations of one part.
const RELATIONS_MAX: usize = 100_000;

/// Where a relation leads.
#[derive(Clone, Debug)]
pub(super) struct Relation {
    /// Last word of its type: `hyperlink`, `slide`.
    pub(super) kind: String,
    /// Name of a part, or an address.
    pub(super) target: String,
    pub(super) external: bool,
}

/// A document and its main part.
pub(super) struct Package<'a> {
    archive: &'a Archive<'a>,
    pub(super) meter: &'a Meter,
    main: String,
    properties: Option<String>,
}

impl<'a> Package<'a> {
    pub(super) fn open(archive: &'a Archive<'a>, meter: &'a Meter) -> Result<Self, ExtractError> {
        let mut package = Self { archive, meter, main: String::new(), properties: None };
        for relation in package.relations("")?.into_values() {
            match relation.kind.as_str() {
                "officeDocument" => package.main = relation.target,
                "core-properties" => package.properties = Some(relation.target),
                _ => {}
            }
        }
        if !archive.contains(&package.main) {
            // Some writers leave the relations out; every reader knows these names.
            let usual = ["word/document.xml", "ppt/presentation.xml", "xl/workbook.xml"];
            let Some(found) = usual.into_iter().find(|name| archive.contains(name)) else {
                return Err(malformed(FORMAT, &"it has no main part"));
            };
            found.clone_into(&mut package.main);
        }
        package.properties.get_or_insert_with(|| "docProps/core.xml".to_owned());
        Ok(package)
    }

    /// Name of the main part.
    pub(super) fn main(&self) -> &str {
        &self.main
    }

    /// Opens a part; `None` when there is none of this name.
    pub(super) fn xml(
        &self,
        part: &str,
    ) -> Result<Option<Xml<'a, impl BufRead + use<'_, 'a>>>, ExtractError> {
        let content = self.archive.part(part)?;
        Ok(content.map(|content| Xml::new(BufReader::new(content), FORMAT, self.meter)))
    }

    /// Where the relations of a part lead, by their ids. The package itself is the part ``.
    pub(super) fn relations(&self, part: &str) -> Result<HashMap<String, Relation>, ExtractError> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let separator = if folder.is_empty() { "" } else { "/" };
        let name = format!("{folder}{separator}_rels/{file}.rels");
        let mut relations = HashMap::new();
        let Some(mut xml) = self.xml(&name)? else { return Ok(relations) };
        loop {
            match xml.next()? {
                Event::Start(start) if local(&start) == "Relationship" => {
                    let id = attribute(&start, "Id");
                    let kind = attribute(&start, "Type").unwrap_or_default();
                    let target = attribute(&start, "Target").unwrap_or_default();
                    let external = attribute(&start, "TargetMode").as_deref() == Some("External");
                    let kind = kind.rsplit('/').next().unwrap_or_default().to_owned();
                    let target = if external { target } else { resolve(folder, &target) };
                    if let Some(id) = id
                        && relations.len() < RELATIONS_MAX
                    {
                        relations.insert(id, Relation { kind, target, external });
                    }
                }
                Event::Eof => return Ok(relations),
                _ => {}
            }
        }
    }

    /// Reads title, authors, dates and the like.
    pub(super) fn properties(&self, found: &mut Found<'_>) -> Result<(), ExtractError> {
        let name = self.properties.as_deref().unwrap_or_default();
        let read = self.read_properties(name, found);
        self.meter.part("the properties of the document", read).map(|_| ())
    }

    fn read_properties(&self, part: &str, found: &mut Found<'_>) -> Result<(), ExtractError> {
        let Some(mut xml) = self.xml(part)? else { return Ok(()) };
        loop {
            let name = match xml.next()? {
                Event::Start(start) => local(&start).to_owned(),
                Event::Eof => return Ok(()),
                _ => continue,
            };
            if name == "coreProperties" {
                continue;
            }
            let value = xml.text()?;
            match name.as_str() {
                "title" => found.title(&value),
                "creator" => value.split(';').for_each(|author| found.author(author)),
                "lastModifiedBy" => found.property("last_modified_by", &value),
                "created" => found.created(date(&value)),
                "modified" => found.modified(date(&value)),
                "language" => found.language(&value),
                "keywords" => found.properties("keywords", &value),
                "subject" | "category" | "description" => found.property(&name, &value),
                _ => {}
            }
        }
    }
}

/// The part that `target` names, seen from a folder.
fn resolve(folder: &str, target: &str) -> String {
    let target = target.split('#').next().unwrap_or_default();
    let (mut path, rest) = match target.strip_prefix('/') {
        Some(rest) => (Vec::new(), rest),
        None => (folder.split('/').filter(|part| !part.is_empty()).collect(), target),
    };
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                path.pop();
            }
            part => path.push(part),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::resolve;

    #[test]
    fn targets_are_seen_from_their_part() {
        assert_eq!(resolve("ppt", "slides/slide1.xml"), "ppt/slides/slide1.xml");
        assert_eq!(resolve("ppt/slides", "../notes/n.xml"), "ppt/notes/n.xml");
        assert_eq!(resolve("ppt/slides", "/word/a.xml"), "word/a.xml");
        assert_eq!(resolve("", "../../etc/passwd"), "etc/passwd");
    }
}
