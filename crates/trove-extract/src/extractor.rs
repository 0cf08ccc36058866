//! The extractor: which format a name means, and the budget.

use std::path::Path;

use trove_domain::document::Section;
use trove_domain::port::{ExtractError, ExtractedText, TextExtractor};

use crate::writer::Full;
use crate::{charset, html, markdown, plain};

/// Longest text that is taken from one file unless configured otherwise: some 3 000 book pages.
pub const DEFAULT_MAX_CHARS: usize = 10_000_000;

/// UTF-8 needs at most this many bytes for a character.
const MAX_BYTES_PER_CHAR: usize = 4;

/// Understands everything that is text already: notes, tables, configuration, source code, and the
/// markup of Markdown and HTML.
///
/// The text is one section without a link; its paragraphs are separated by one blank line.
#[derive(Clone, Copy, Debug)]
pub struct PlainTextExtractor {
    max_chars: usize,
}

/// A document before it is checked against the port's shape.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Extract {
    pub(crate) title: Option<String>,
    pub(crate) text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Plain,
    RestructuredText,
    Markdown,
    Mdx,
    Html,
    Xhtml,
}

impl PlainTextExtractor {
    /// Takes at most `max_chars` characters of text from a file, and refuses files of more than
    /// four times as many bytes without looking at them.
    #[must_use]
    pub fn new(max_chars: usize) -> Self {
        Self { max_chars }
    }
}

impl TextExtractor for PlainTextExtractor {
    fn extensions(&self) -> &'static [&'static str] {
        EXTENSIONS
    }

    fn extract(&self, file_name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
        let format = format_of(file_name)?;
        let max_chars = self.max_chars;
        let too_long = || ExtractError::TooLong { max_chars };
        if content.len() > max_chars.saturating_mul(MAX_BYTES_PER_CHAR) {
            return Err(too_long());
        }
        let declared = match format {
            Format::Html | Format::Xhtml => html::declared_charset(content),
            Format::Plain | Format::RestructuredText | Format::Markdown | Format::Mdx => {
                charset::declared_by_xml(content)
            }
        };
        let decoded =
            charset::decode(content, declared).map_err(|charset::Binary| ExtractError::Binary)?;
        let extract = match format {
            Format::Plain => plain::extract(&decoded, max_chars),
            Format::RestructuredText => plain::extract_restructured_text(&decoded, max_chars),
            Format::Markdown => markdown::extract(&decoded, markdown::Dialect::Gfm, max_chars),
            Format::Mdx => markdown::extract(&decoded, markdown::Dialect::Mdx, max_chars),
            Format::Html => html::extract(&decoded, html::Syntax::Html, max_chars),
            Format::Xhtml => html::extract(&decoded, html::Syntax::Xml, max_chars),
        };
        let Extract { title, text } = extract.map_err(|Full| too_long())?;
        let sections =
            if text.is_empty() { Vec::new() } else { vec![Section { text, link: None }] };
        Ok(ExtractedText { title, sections })
    }
}

/// The format that the extension of `file_name` stands for.
fn format_of(file_name: &str) -> Result<Format, ExtractError> {
    let extension = Path::new(file_name)
        .extension()
        .map(|extension| extension.to_string_lossy().to_lowercase())
        .unwrap_or_default();
    match extension.as_str() {
        "md" | "markdown" => Ok(Format::Markdown),
        "mdx" => Ok(Format::Mdx),
        "rst" => Ok(Format::RestructuredText),
        "html" | "htm" => Ok(Format::Html),
        "xhtml" => Ok(Format::Xhtml),
        known if EXTENSIONS.contains(&known) => Ok(Format::Plain),
        _ => Err(ExtractError::UnsupportedFormat { extension }),
    }
}

const EXTENSIONS: &[&str] = &[
    // Prose and notes.
    "txt",
    "text",
    "log",
    "md",
    "mdx",
    "markdown",
    "rst",
    "adoc",
    "asciidoc",
    "org",
    "tex",
    "srt",
    "vtt",
    // Tables and data.
    "csv",
    "tsv",
    "json",
    "jsonl",
    "ndjson",
    "yml",
    "yaml",
    "xml",
    "toml",
    "sql",
    "graphql",
    "proto",
    // Pages.
    "html",
    "htm",
    "xhtml",
    // Configuration.
    "conf",
    "cfg",
    "cnf",
    "ini",
    "properties",
    "env",
    "editorconfig",
    "service",
    "tf",
    "tfvars",
    "hcl",
    "nix",
    "cmake",
    "mk",
    "gradle",
    "dockerfile",
    // Source code.
    "c",
    "cc",
    "cpp",
    "cxx",
    "h",
    "hh",
    "hpp",
    "cs",
    "clj",
    "cljs",
    "coffee",
    "css",
    "scss",
    "less",
    "d",
    "dart",
    "diff",
    "patch",
    "el",
    "elm",
    "erl",
    "hrl",
    "ex",
    "exs",
    "f90",
    "fs",
    "go",
    "groovy",
    "hs",
    "java",
    "jl",
    "js",
    "cjs",
    "mjs",
    "jsx",
    "kt",
    "kts",
    "lisp",
    "lua",
    "m",
    "ml",
    "mli",
    "mm",
    "nim",
    "pas",
    "php",
    "pl",
    "pm",
    "ps1",
    "psm1",
    "py",
    "pyi",
    "r",
    "rb",
    "rs",
    "s",
    "asm",
    "scala",
    "scm",
    "sh",
    "bash",
    "zsh",
    "fish",
    "bat",
    "cmd",
    "sol",
    "svelte",
    "swift",
    "tcl",
    "ts",
    "tsx",
    "v",
    "vb",
    "vhd",
    "vim",
    "vue",
    "zig",
];

#[cfg(test)]
mod tests {
    use trove_domain::port::{ExtractError, TextExtractor};

    use super::PlainTextExtractor;

    fn text(name: &str, content: &[u8]) -> Result<String, ExtractError> {
        let extracted = PlainTextExtractor::new(100).extract(name, content)?;
        assert!(extracted.sections.len() <= 1);
        Ok(extracted.sections.into_iter().map(|section| section.text).collect())
    }

    #[test]
    fn the_extension_decides() {
        assert_eq!(text("a.txt", b"<p>*a*</p>").unwrap(), "<p>*a*</p>");
        assert_eq!(text("a.md", b"*a*").unwrap(), "a");
        assert_eq!(text("dir.v2/a.HTML", b"<p>*a*</p>").unwrap(), "*a*");
        for unknown in ["a.pdf", "a", "", ".txt", "a.", "dir.txt/a"] {
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
