//! What a file is: its first bytes say, and only where they say nothing its name does.

use std::path::Path;

use trove_domain::port::ExtractError;

use crate::extensions::EXTENSIONS;
use crate::text::TextFormat;

/// So many bytes of the beginning are looked at.
pub(crate) const HEAD_BYTES: usize = 1024;

/// What reads a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Text(TextFormat),
    /// Text under the name of something else.
    Disguised(TextFormat),
    Pdf,
    /// A ZIP archive, whatever is in it.
    Zip,
    /// A compound file of binary parts: older documents, messages, encrypted newer documents.
    Compound,
    Rtf,
    Mail,
}

impl Kind {
    /// Whether it is read in one linear pass by parsers without much behind them, so that nothing
    /// is gained by a process of its own.
    pub(crate) fn is_simple(self) -> bool {
        matches!(self, Self::Text(_) | Self::Disguised(_))
    }
}

/// Looks at the name of a file and the first [`HEAD_BYTES`] of its content.
pub(crate) fn detect(file_name: &str, head: &[u8]) -> Result<Kind, ExtractError> {
    let extension = extension(file_name);
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        return Ok(Kind::Zip);
    }
    if head.starts_with(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1") {
        return Ok(Kind::Compound);
    }
    if text.starts_with(b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    // Printers and mail programs put something before it; a text that speaks of it is none.
    if extension == "pdf" && head.windows(5).any(|window| window == b"%PDF-") {
        return Ok(Kind::Pdf);
    }
    if text.starts_with(b"{\\rtf") {
        return Ok(Kind::Rtf);
    }
    let named = match extension.as_str() {
        "eml" | "mht" | "mhtml" => Kind::Mail,
        "md" | "markdown" => Kind::Text(TextFormat::Markdown),
        "mdx" => Kind::Text(TextFormat::Mdx),
        "rst" => Kind::Text(TextFormat::RestructuredText),
        "html" | "htm" => Kind::Text(TextFormat::Html),
        "xhtml" => Kind::Text(TextFormat::Xhtml),
        "xml" => Kind::Text(TextFormat::Xml),
        "json" | "jsonl" | "ndjson" => Kind::Text(TextFormat::Json),
        "csv" => Kind::Text(TextFormat::Csv),
        "tsv" => Kind::Text(TextFormat::Tsv),
        "pdf" | "docx" | "docm" | "dotx" | "pptx" | "pptm" | "ppsx" | "potx" | "xlsx" | "xlsm"
        | "xltx" | "xls" | "odt" | "ott" | "ods" | "ots" | "odp" | "otp" | "rtf" | "epub"
        | "msg" | "zip" => promised(&extension, text)?,
        known if EXTENSIONS.contains(&known) => Kind::Text(TextFormat::Plain),
        _ => return Err(ExtractError::UnsupportedFormat { extension }),
    };
    Ok(named)
}

/// The extension of a name in lower case, without the dot.
pub(crate) fn extension(file_name: &str) -> String {
    let extension = Path::new(file_name).extension();
    extension.map(|extension| extension.to_string_lossy().to_lowercase()).unwrap_or_default()
}

/// What reads a file whose name promises an inside, and whose first bytes do not.
fn promised(extension: &str, text: &[u8]) -> Result<Kind, ExtractError> {
    if is_html(text) {
        return Ok(Kind::Disguised(TextFormat::Html));
    }
    match extension {
        // Programs export tables of text under this name.
        "xls" => Ok(Kind::Disguised(TextFormat::Plain)),
        _ if text.is_empty() => Ok(Kind::Text(TextFormat::Plain)),
        _ => Err(broken(extension)),
    }
}

/// It is not what its name says, nor text that anybody wrote.
pub(crate) fn broken(extension: &str) -> ExtractError {
    let format = extension.to_uppercase();
    ExtractError::Malformed { format, detail: "it does not begin as such a file does".to_owned() }
}

/// The error page of a server is saved under the name of the file that it should have been.
fn is_html(text: &[u8]) -> bool {
    let start = text.get(..14).unwrap_or(text).to_ascii_lowercase();
    start.starts_with(b"<!doctype html") || start.starts_with(b"<html")
}

#[cfg(test)]
mod tests {
    use super::{EXTENSIONS, Kind, detect};
    use crate::text::TextFormat;

    #[test]
    fn the_first_bytes_decide() {
        for name in ["a.txt", "a.pdf", "a", "a.docx", "a.png"] {
            assert_eq!(detect(name, b"%PDF-1.7"), Ok(Kind::Pdf), "{name}");
            assert_eq!(detect(name, b"\xef\xbb\xbf\n{\\rtf1"), Ok(Kind::Rtf), "{name}");
            assert_eq!(detect(name, b"PK\x03\x04"), Ok(Kind::Zip), "{name}");
        }
        assert_eq!(detect("a.pdf", b"junk %PDF-1.4"), Ok(Kind::Pdf));
        assert_eq!(detect("a.txt", b"about %PDF-1.4"), Ok(Kind::Text(TextFormat::Plain)));
    }

    #[test]
    fn only_text_that_programs_save_under_another_name_is_text() {
        assert_eq!(detect("a.xls", b"text"), Ok(Kind::Disguised(TextFormat::Plain)));
        for name in
            ["a.rtf", "a.docx", "a.pdf", "a.pptx", "a.xlsx", "a.epub", "a.odt", "a.msg", "a.zip"]
        {
            let told = detect(name, b"text").unwrap_err().to_string();
            let format = name[2..].to_uppercase();
            assert_eq!(
                told,
                format!("the file is no readable {format}: it does not begin as such a file does")
            );
            assert_eq!(detect(name, b" \n"), Ok(Kind::Text(TextFormat::Plain)), "{name}");
        }
        assert_eq!(detect("a.PDF", b"\n<!DOCTYPE html><p>"), Ok(Kind::Disguised(TextFormat::Html)));
    }

    #[test]
    fn every_extension_that_is_listed_is_known() {
        for extension in EXTENSIONS {
            assert!(detect(&format!("a.{extension}"), b"<html>").is_ok(), "{extension}");
        }
    }
}
