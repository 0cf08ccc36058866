//! The extractor: from a file to what reads it, within a budget.

use std::borrow::Cow;
use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use trove_domain::port::{ExtractError, ExtractedText, Resource, TextExtractor};

use crate::archive::Source;
use crate::budget::{Budget, Meter};
use crate::detect::{HEAD_BYTES, Kind, broken, detect, extension};
use crate::extensions::EXTENSIONS;
use crate::text::TextFormat;
use crate::{archive_files, charset, compound, mail, pdf, rtf, text};

/// Understands all formats, in the process that asks.
///
/// A panic in a parser is an error of the file. A parser that uses up the memory or the stack, or
/// that works without coming to an end, takes the process with it: where files come from strangers,
/// [`crate::IsolatedExtractor`] is the one to take.
#[derive(Clone, Copy, Debug, Default)]
pub struct InProcessExtractor {
    budget: Budget,
}

impl InProcessExtractor {
    /// An extractor that keeps to `budget`.
    #[must_use]
    pub fn new(budget: Budget) -> Self {
        Self { budget }
    }

    fn run(
        &self,
        read: impl FnOnce(&Meter) -> Result<ExtractedText, ExtractError>,
    ) -> Result<ExtractedText, ExtractError> {
        let meter = Meter::new(self.budget);
        let mut text = catch_unwind(AssertUnwindSafe(|| read(&meter))).unwrap_or_else(|_| {
            Err(ExtractError::Crashed { detail: "its reader gave up".into() })
        })?;
        text.warnings = meter.warnings();
        Ok(text)
    }
}

impl TextExtractor for InProcessExtractor {
    fn extensions(&self) -> &'static [&'static str] {
        EXTENSIONS
    }

    fn extract(&self, file_name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
        let source = Source::Bytes(content);
        check_length(source.len(), &self.budget)?;
        self.run(|meter| read(file_name, source, meter))
    }

    fn extract_file(&self, file_name: &str, path: &Path) -> Result<ExtractedText, ExtractError> {
        let (file, length) = open(path)?;
        check_length(length, &self.budget)?;
        self.run(|meter| read(file_name, Source::File(&file, length), meter))
    }
}

/// Opens a regular file.
pub(crate) fn open(path: &Path) -> Result<(File, u64), ExtractError> {
    let mut options = OpenOptions::new();
    options.read(true);
    // Opening a FIFO would wait for a writer.
    #[cfg(unix)]
    if let Ok(flags) = i32::try_from(rustix::fs::OFlags::NONBLOCK.bits()) {
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, flags);
    }
    let file = options.open(path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    if !about.is_file() {
        return Err(ExtractError::Unreadable { detail: "it is not a regular file".to_owned() });
    }
    Ok((file, about.len()))
}

#[expect(clippy::needless_pass_by_value, reason = "the shape that map_err wants")]
pub(crate) fn unreadable(error: io::Error) -> ExtractError {
    ExtractError::Unreadable { detail: error.to_string() }
}

pub(crate) fn check_length(length: u64, budget: &Budget) -> Result<(), ExtractError> {
    let limit = budget.file_bytes;
    if length > limit {
        return Err(ExtractError::OutOfBudget { resource: Resource::FileBytes, limit });
    }
    Ok(())
}

/// The beginning of a file.
pub(crate) fn head_of(source: Source<'_>) -> Result<Vec<u8>, ExtractError> {
    let mut head = vec![0; HEAD_BYTES];
    let mut length = 0;
    while length < head.len() {
        let at = u64::try_from(length).unwrap_or(u64::MAX);
        let read = rawzip::ReaderAt::read_at(&source, &mut head[length..], at);
        match read.map_err(unreadable)? {
            0 => break,
            read => length += read,
        }
    }
    head.truncate(length);
    Ok(head)
}

/// Reads a file, or one inside another.
pub(crate) fn read(
    file_name: &str,
    source: Source<'_>,
    meter: &Meter,
) -> Result<ExtractedText, ExtractError> {
    let kind = detect(file_name, &head_of(source)?)?;
    if kind == Kind::Zip {
        return archive_files::extract(source, meter);
    }
    let content = match source {
        Source::Bytes(bytes) => Cow::Borrowed(bytes),
        Source::File(mut file, length) => {
            // Text that is too long is refused before it fills the memory.
            let longest = u64::try_from(meter.budget().chars.saturating_mul(4)).unwrap_or(u64::MAX);
            if kind.is_simple() && length > longest {
                return Err(meter.too_long());
            }
            // A file may grow while it is read.
            let mut buffer = Vec::with_capacity(usize::try_from(length).unwrap_or(0));
            let limit = meter.budget().file_bytes;
            io::Seek::rewind(&mut file).map_err(unreadable)?;
            file.take(limit.saturating_add(1)).read_to_end(&mut buffer).map_err(unreadable)?;
            check_length(u64::try_from(buffer.len()).unwrap_or(u64::MAX), meter.budget())?;
            Cow::Owned(buffer)
        }
    };
    match kind {
        Kind::Text(format) => text::extract(&content, format, meter),
        Kind::Disguised(TextFormat::Plain) if !charset::is_clean(&content) => {
            Err(broken(&extension(file_name)))
        }
        Kind::Disguised(format) => {
            let text = text::extract(&content, format, meter)?;
            let name = if format == TextFormat::Html { "a web page" } else { "plain text" };
            meter.warn(format!("the file is {name}, not what its name says"));
            Ok(text)
        }
        Kind::Pdf => pdf::extract(content, meter),
        Kind::Compound => compound::extract(file_name, &content, meter),
        Kind::Rtf => rtf::extract(&content, meter),
        Kind::Mail => mail::extract(&content, meter),
        Kind::Zip => archive_files::extract(source, meter),
    }
}

#[cfg(test)]
mod tests {
    use trove_domain::port::{ExtractError, TextExtractor};

    use super::InProcessExtractor;
    use crate::Budget;

    fn text(name: &str, content: &[u8]) -> Result<String, ExtractError> {
        let extracted = InProcessExtractor::new(Budget { chars: 100, ..Budget::default() })
            .extract(name, content)?;
        assert!(extracted.sections.len() <= 1);
        Ok(extracted.sections.into_iter().map(|section| section.text).collect())
    }

    #[test]
    fn the_extension_decides() {
        assert_eq!(text("a.txt", b"<p>*a*</p>").unwrap(), "<p>*a*</p>");
        assert_eq!(text("a.md", b"*a*").unwrap(), "a");
        assert_eq!(text("dir.v2/a.HTML", b"<p>*a*</p>").unwrap(), "*a*");
        for unknown in ["a.png", "a", "", ".txt", "a.", "dir.txt/a"] {
            assert!(
                matches!(text(unknown, b"a"), Err(ExtractError::UnsupportedFormat { .. })),
                "{unknown}"
            );
        }
    }

    #[test]
    fn nothing_gives_no_section() {
        for name in ["a.txt", "a.md", "a.html", "a.rst", "a.mdx", "a.xhtml"] {
            for blank in ["", " \n\t\r\n", "\u{feff}"] {
                assert_eq!(text(name, blank.as_bytes()).unwrap(), "", "{name} {blank:?}");
            }
        }
    }

    #[test]
    fn the_budget_counts_characters_of_text() {
        for (name, before, after) in
            [("a.txt", "", ""), ("a.md", "*", "*"), ("a.html", "<p class='wide'>", "</p>")]
        {
            let fits = format!("{before}{}{after}", "ä".repeat(100));
            assert_eq!(text(name, fits.as_bytes()).unwrap().chars().count(), 100, "{name}");
            let more = format!("{before}{}{after}", "ä".repeat(101));
            assert_eq!(
                text(name, more.as_bytes()),
                Err(ExtractError::TooLong { max_chars: 100 }),
                "{name}"
            );
        }
        let markup = "<br>".repeat(101);
        assert_eq!(
            text("a.html", markup.as_bytes()),
            Err(ExtractError::TooLong { max_chars: 100 })
        );
    }
}
