//! Spreadsheets: `xlsx` and its relatives. A sheet is a section, which begins with its name; a row
//! is a line. Read cell by cell: the size that a sheet claims means nothing.

use quick_xml::events::{BytesStart, Event};
use trove_domain::port::{ExtractError, ExtractedText};

use super::package::{FORMAT, Package};
use crate::budget::malformed;
use crate::dates::{Epoch, Serial};
use crate::found::Found;
use crate::writer::TextWriter;
use crate::xml::{attribute, local, qualified, text_of};

pub(super) fn extract(package: &Package<'_>) -> Result<ExtractedText, ExtractError> {
    let mut found = Found::new(package.meter);
    package.properties(&mut found)?;
    let workbook = Workbook::read(package)?;
    package.meter.check_pages(workbook.sheets.len())?;
    for (name, part) in &workbook.sheets {
        let read = read_sheet(package, &workbook, name, part, &mut found);
        package.meter.part(&format!("sheet {name}"), read)?;
    }
    Ok(found.finish())
}

/// What all sheets share.
struct Workbook {
    /// Name and part of each sheet, in the order of the tabs.
    sheets: Vec<(String, String)>,
    strings: Vec<Box<str>>,
    /// For each style of a cell whether it shows a number as a date.
    dates: Vec<bool>,
    epoch: Epoch,
}

impl Workbook {
    fn read(package: &Package<'_>) -> Result<Self, ExtractError> {
        let relations = package.relations(package.main())?;
        let part_of = |kind: &str| {
            let relation = relations.values().find(|relation| relation.kind == kind);
            relation.map(|relation| relation.target.clone())
        };
        let mut workbook = Self {
            sheets: Vec::new(),
            strings: Vec::new(),
            dates: Vec::new(),
            epoch: Epoch::Year1900,
        };
        let mut xml = package
            .xml(package.main())?
            .ok_or_else(|| malformed(FORMAT, &"its main part is missing"))?;
        loop {
            match xml.next()? {
                Event::Start(start) if local(&start) == "sheet" => {
                    let id = qualified(&start, "r:id").unwrap_or_default();
                    let name = attribute(&start, "name").unwrap_or_default();
                    let part = relations.get(&id).map(|relation| relation.target.clone());
                    workbook.sheets.push((name, part.unwrap_or_default()));
                }
                Event::Start(start) if local(&start) == "workbookPr" => {
                    if matches!(attribute(&start, "date1904").as_deref(), Some("1" | "true")) {
                        workbook.epoch = Epoch::Year1904;
                    }
                }
                Event::Eof => break,
                _ => {}
            }
        }
        if let Some(part) = part_of("sharedStrings") {
            workbook.strings = read_strings(package, &part)?;
        }
        if let Some(part) = part_of("styles") {
            let read = read_styles(package, &part);
            workbook.dates = package.meter.part(&part, read)?.unwrap_or_default();
        }
        Ok(workbook)
    }

    fn is_date(&self, style: Option<usize>) -> bool {
        style.and_then(|style| self.dates.get(style)).copied().unwrap_or(false)
    }
}

/// The texts that cells refer to by number.
fn read_strings(package: &Package<'_>, part: &str) -> Result<Vec<Box<str>>, ExtractError> {
    let mut strings = Vec::new();
    let Some(mut xml) = package.xml(part)? else { return Ok(strings) };
    let (mut text, mut in_text) = (String::new(), false);
    // A text that no cell shows counts as well, but a table is not kept that is far too long.
    let mut left = package.meter.budget().chars.saturating_mul(4);
    loop {
        match xml.next()? {
            Event::Start(start) => match local(&start) {
                "si" => text.clear(),
                "t" => in_text = true,
                // How it is pronounced.
                "rPh" => xml.skip()?,
                _ => {}
            },
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                match name.rsplit_once(':').map_or(name, |(_, local)| local) {
                    "si" => strings.push(text.as_str().into()),
                    "t" => in_text = false,
                    _ => {}
                }
            }
            Event::Eof => return Ok(strings),
            event => {
                if in_text && let Some(piece) = text_of(&event) {
                    left = left.checked_sub(piece.len()).ok_or(package.meter.too_long())?;
                    text.push_str(&piece);
                }
            }
        }
    }
}

/// Which styles of cells are dates.
fn read_styles(package: &Package<'_>, part: &str) -> Result<Vec<bool>, ExtractError> {
    let mut dates = Vec::new();
    let Some(mut xml) = package.xml(part)? else { return Ok(dates) };
    let mut custom = std::collections::HashMap::new();
    let mut in_cells = false;
    loop {
        match xml.next()? {
            Event::Start(start) => match local(&start) {
                "numFmt" => {
                    let id = attribute(&start, "numFmtId").and_then(|id| id.parse::<u32>().ok());
                    let code = attribute(&start, "formatCode").unwrap_or_default();
                    if let Some(id) = id {
                        custom.insert(id, shows_date(&code));
                    }
                }
                "cellXfs" => in_cells = true,
                "xf" if in_cells => {
                    let id = attribute(&start, "numFmtId").and_then(|id| id.parse().ok());
                    let id: u32 = id.unwrap_or(0);
                    // The formats that every program knows without their being written down.
                    let usual = matches!(id, 14..=22 | 27..=36 | 45..=47 | 50..=58);
                    dates.push(custom.get(&id).copied().unwrap_or(usual));
                }
                _ => {}
            },
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                if name.ends_with("cellXfs") {
                    in_cells = false;
                }
            }
            Event::Eof => return Ok(dates),
            _ => {}
        }
    }
}

/// Whether a format of numbers has a place for years, months, days, hours or seconds.
fn shows_date(code: &str) -> bool {
    let (mut quoted, mut bracketed, mut escaped) = (false, false, false);
    code.chars().any(|c| {
        if std::mem::take(&mut escaped) {
            return false;
        }
        match c {
            '\\' | '_' | '*' => escaped = true,
            '"' => quoted = !quoted,
            '[' if !quoted => bracketed = true,
            ']' if !quoted => bracketed = false,
            _ => {
                let is_part = matches!(c.to_ascii_lowercase(), 'y' | 'm' | 'd' | 'h' | 's');
                return is_part && !quoted && !bracketed;
            }
        }
        false
    })
}

/// A cell while it is read.
#[derive(Default)]
struct Cell {
    kind: String,
    style: Option<usize>,
    value: String,
}

impl Cell {
    fn new(start: &BytesStart<'_>) -> Self {
        Self {
            kind: attribute(start, "t").unwrap_or_default(),
            style: attribute(start, "s").and_then(|style| style.parse().ok()),
            value: String::new(),
        }
    }

    fn write(&self, workbook: &Workbook, writer: &mut TextWriter) {
        let value = self.value.trim();
        if value.is_empty() {
            return;
        }
        writer.cell();
        match self.kind.as_str() {
            "s" => {
                let text = value.parse().ok().and_then(|at: usize| workbook.strings.get(at));
                writer.text(text.map_or("", |text| text));
            }
            "b" => writer.text(if value == "1" { "TRUE" } else { "FALSE" }),
            "" | "n" if workbook.is_date(self.style) => {
                let serial = value.parse().ok().and_then(|days| Serial::new(days, workbook.epoch));
                match serial {
                    Some(serial) => writer.text(&serial.to_string()),
                    None => writer.text(value),
                }
            }
            _ => writer.text(value),
        }
    }
}

fn read_sheet(
    package: &Package<'_>,
    workbook: &Workbook,
    name: &str,
    part: &str,
    found: &mut Found<'_>,
) -> Result<(), ExtractError> {
    let mut xml = package.xml(part)?.ok_or_else(|| malformed(FORMAT, &"it is missing"))?;
    let mut writer = found.writer();
    writer.text(name);
    writer.open_frame();
    let begun = writer.position();
    let (mut cell, mut in_value) = (Cell::default(), false);
    loop {
        match xml.next()? {
            Event::Start(start) => match local(&start) {
                "row" => writer.row(),
                "c" => cell = Cell::new(&start),
                "v" | "t" => in_value = true,
                "rPh" => xml.skip()?,
                _ => {}
            },
            Event::End(end) => {
                let name: &str = end.name().into_inner();
                match name.rsplit_once(':').map_or(name, |(_, local)| local) {
                    "c" => cell.write(workbook, &mut writer),
                    "v" | "t" => in_value = false,
                    _ => {}
                }
            }
            Event::Eof => break,
            event => {
                if in_value && let Some(text) = text_of(&event) {
                    cell.value.push_str(&text);
                }
            }
        }
        if writer.is_full() {
            break;
        }
    }
    // Of an empty sheet not even the name is worth finding.
    if writer.position() > begun || writer.is_full() {
        writer.close_frame();
        found.section(writer, None)?;
    }
    for relation in package.relations(part)?.values().filter(|relation| relation.external) {
        found.link(&relation.target);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::shows_date;

    #[test]
    fn formats_of_dates_are_told_from_others() {
        for code in ["yyyy-mm-dd", "[$-409]d/m/yy h:mm AM/PM", "mm:ss", "[h]:mm:ss", "\"on \"dd"] {
            assert!(shows_date(code), "{code}");
        }
        for code in ["General", "0.00", "#,##0\\ \"days\"", "[Red]0", "0.0E+00", "_d0", "@"] {
            assert!(!shows_date(code), "{code}");
        }
    }
}
