//! What is found in a document while it is read.

use std::collections::HashSet;

use chrono::{DateTime, Datelike, NaiveDate, NaiveDateTime, Utc};
use trove_domain::document::Section;
use trove_domain::port::{ExtractError, ExtractedText, FileFacts};

use crate::budget::Meter;
use crate::writer::{self, Full, TextWriter};

/// Most authors, and most values of one property.
const VALUES_MAX: usize = 50;
/// Most links of a document.
const LINKS_MAX: usize = 1000;
/// Longest link in bytes; a longer one is data, not an address.
const LINK_BYTES_MAX: usize = 2000;

/// What a file inside another one is called that has neither name nor title.
pub(crate) const NAMELESS: &str = "attachment";

/// A document that grows section by section.
#[derive(Debug)]
pub(crate) struct Found<'m> {
    meter: &'m Meter,
    text: ExtractedText,
    seen_links: HashSet<String>,
}

impl<'m> Found<'m> {
    pub(crate) fn new(meter: &'m Meter) -> Self {
        Self { meter, text: ExtractedText::default(), seen_links: HashSet::new() }
    }

    pub(crate) fn meter(&self) -> &'m Meter {
        self.meter
    }

    /// Takes the writer of the next section.
    pub(crate) fn writer(&self) -> TextWriter {
        TextWriter::new(self.meter.chars_left())
    }

    /// Adds what was written as a section; nothing when there is no text.
    pub(crate) fn section(
        &mut self,
        writer: TextWriter,
        link: Option<String>,
    ) -> Result<(), ExtractError> {
        let text = writer.finish().map_err(|Full| self.meter.too_long())?;
        self.text_section(text, link)
    }

    /// Adds a section; nothing when there is no text.
    pub(crate) fn text_section(
        &mut self,
        text: String,
        link: Option<String>,
    ) -> Result<(), ExtractError> {
        self.meter.take_chars(text.chars().count())?;
        if !text.trim().is_empty() {
            self.text.sections.push(Section { text, link });
        }
        Ok(())
    }

    /// Adds what was found in a file inside this one, whose characters are counted already.
    pub(crate) fn sections_of(&mut self, inner: ExtractedText) {
        self.text.sections.extend(inner.sections);
        for link in inner.about.links {
            self.link(&link);
        }
    }

    /// Adds what was found in a file inside this one, under the name of that file, or its title
    /// where it has no name.
    pub(crate) fn inner(
        &mut self,
        name: Option<&str>,
        mut inner: ExtractedText,
    ) -> Result<(), ExtractError> {
        if let Some(first) = inner.sections.first_mut() {
            let heading = name.and_then(writer::title).or(inner.title.take());
            let heading = heading.unwrap_or_else(|| NAMELESS.to_owned());
            self.meter.take_chars(heading.chars().count() + 2)?;
            first.text = format!("{heading}\n\n{}", first.text);
        }
        // A place in that file is no place in this one.
        inner.sections.iter_mut().for_each(|section| section.link = None);
        self.sections_of(inner);
        Ok(())
    }

    /// Sets the title, unless there is one or `title` is blank.
    pub(crate) fn title(&mut self, title: &str) {
        if self.text.title.is_none() {
            self.text.title = writer::title(title);
        }
    }

    pub(crate) fn author(&mut self, author: &str) {
        push_value(&mut self.text.about.authors, author);
    }

    pub(crate) fn property(&mut self, name: &str, value: &str) {
        if let Some(value) = writer::title(value) {
            push_value(self.text.about.properties.entry(name.to_owned()).or_default(), &value);
        }
    }

    /// Adds the values of a property that are separated by commas or semicolons.
    pub(crate) fn properties(&mut self, name: &str, values: &str) {
        for value in values.split([',', ';']).take(VALUES_MAX) {
            self.property(name, value);
        }
    }

    pub(crate) fn language(&mut self, tag: &str) {
        let tag = tag.trim();
        let is_tag = |c: char| c.is_ascii_alphanumeric() || c == '-';
        let fits = (2..=35).contains(&tag.len()) && tag.chars().all(is_tag);
        if fits && self.text.about.language.is_none() {
            self.text.about.language = Some(tag.to_owned());
        }
    }

    pub(crate) fn created(&mut self, at: Option<DateTime<Utc>>) {
        self.text.about.created_at = self.text.about.created_at.or(at.filter(is_likely));
    }

    pub(crate) fn modified(&mut self, at: Option<DateTime<Utc>>) {
        self.text.about.modified_at = self.text.about.modified_at.or(at.filter(is_likely));
    }

    /// Adds an address that the text refers to: of the web or of a person.
    pub(crate) fn link(&mut self, address: &str) {
        let address = address.trim();
        let start = address.get(..8).unwrap_or(address).to_ascii_lowercase();
        let is_known =
            ["http://", "https://", "mailto:"].iter().any(|scheme| start.starts_with(scheme));
        let is_clean = !address.contains(|c: char| c.is_whitespace() || c.is_control());
        let links = &mut self.text.about.links;
        if is_known
            && is_clean
            && address.len() <= LINK_BYTES_MAX
            && links.len() < LINKS_MAX
            && self.seen_links.insert(address.to_owned())
        {
            links.push(address.to_owned());
        }
    }

    pub(crate) fn about(&mut self) -> &mut FileFacts {
        &mut self.text.about
    }

    pub(crate) fn finish(self) -> ExtractedText {
        self.text
    }
}

fn push_value(values: &mut Vec<String>, value: &str) {
    if values.len() < VALUES_MAX
        && let Some(value) = writer::title(value)
        && !values.contains(&value)
    {
        values.push(value);
    }
}

/// Programs that do not know a date write zero.
fn is_likely(at: &DateTime<Utc>) -> bool {
    (1902..=9999).contains(&at.year())
}

/// A date as XML and most metadata have it; without a time it is midnight, without a zone UTC.
pub(crate) fn date(text: &str) -> Option<DateTime<Utc>> {
    let text = text.trim();
    if let Ok(at) = DateTime::parse_from_rfc3339(text) {
        return Some(at.to_utc());
    }
    let naive = NaiveDateTime::parse_from_str(text, "%Y-%m-%dT%H:%M:%S%.f");
    let midnight = || {
        let day = NaiveDate::parse_from_str(text.get(..10)?, "%Y-%m-%d").ok()?;
        day.and_hms_opt(0, 0, 0)
    };
    naive.ok().or_else(midnight).map(|at| at.and_utc())
}

#[cfg(test)]
mod tests {
    use super::{Found, date};
    use crate::budget::{Budget, Meter};

    #[test]
    fn dates_are_read_with_and_without_time() {
        let read = |text| date(text).map(|at| at.to_rfc3339());
        assert_eq!(read("2024-02-29T10:00:00Z").as_deref(), Some("2024-02-29T10:00:00+00:00"));
        assert_eq!(read("2024-02-29T10:00:00+02:00").as_deref(), Some("2024-02-29T08:00:00+00:00"));
        assert_eq!(
            read("2024-02-29T10:00:00.123").as_deref(),
            Some("2024-02-29T10:00:00.123+00:00")
        );
        assert_eq!(read(" 2024-02-29 ").as_deref(), Some("2024-02-29T00:00:00+00:00"));
        for wrong in ["", "2023-02-29", "yesterday", "2024-02-2", "世界世界世界"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn facts_are_tidy_and_bounded() {
        let meter = Meter::new(Budget::default());
        let mut found = Found::new(&meter);
        found.title(" \n ");
        found.title(" A\nb ");
        found.title("c");
        for number in 0..2000 {
            found.link(&format!("https://example.com/{number}"));
            found.property("keywords", &format!("k{number}"));
        }
        found.link("https://example.com/1");
        found.link("javascript:alert(1)");
        found.created(date("0001-01-01"));
        found.language("de-AT");
        found.language("'; --");
        let text = found.finish();
        assert_eq!(text.title.as_deref(), Some("A b"));
        assert_eq!(text.about.links.len(), 1000);
        assert_eq!(text.about.properties["keywords"].len(), 50);
        assert_eq!(text.about.created_at, None);
        assert_eq!(text.about.language.as_deref(), Some("de-AT"));
    }
}
