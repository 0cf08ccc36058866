//! Text out of files, by [`PlainTextExtractor`].
//!
//! Everything here is linear in the size of the file, and nothing recurses over its structure: a
//! file is untrusted, and both a tree of 100 000 nested elements and a parser that walks its open
//! elements for every tag turn a small file into a stopped server. That is why HTML is tokenised
//! (`html5gum`) and never built into a tree, and why Markdown that nests absurdly deep is read as
//! plain text.
//!
//! ```text
//! bytes ── charset ──> text ──┬─ plain ───────────────────> paragraphs
//!                             ├─ markdown ──┬─ writer ────> paragraphs
//!                             └─ html ──────┘
//! ```

mod charset;
mod extractor;
mod front_matter;
mod html;
mod markdown;
mod plain;
mod writer;

pub use extractor::{DEFAULT_MAX_CHARS, PlainTextExtractor};
