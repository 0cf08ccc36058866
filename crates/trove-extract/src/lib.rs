//! Text out of files, by [`InProcessExtractor`], or by [`IsolatedExtractor`] in processes of their
//! own.
//!
//! A file is untrusted. What is ours is linear in the size of the file and does not recurse over
//! its structure: both a tree of 100 000 nested elements and a parser that walks its open elements
//! for every tag turn a small file into a stopped server. That is why HTML is tokenised
//! (`html5gum`) and never built into a tree, and why Markdown that nests absurdly deep is read as
//! plain text. What others wrote is given counted bytes and bounded markup ([`Budget`]), and a
//! process that may fail.
//!
//! ```text
//! file ── detect ─┬─ text ──── charset ─┬─ plain, json, table, xml ─┐
//!                 │                     ├─ markdown ──┬─ writer ────┤
//!                 │                     └─ html ──────┘             │
//!                 ├─ archive ─┬─ office: xml ───────────── writer ──┤
//!                 │           ├─ epub: html                         ├─> found: sections and facts
//!                 │           └─ files: detect again                │
//!                 ├─ compound ─┬─ office: xls                       │
//!                 │            └─ msg                               │
//!                 ├─ pdf: layout ──────────────────────── writer ──┤
//!                 ├─ rtf ───────────────────────────────── writer ──┤
//!                 └─ mail: text, detect again ──────────────────────┘
//! ```

mod archive;
mod archive_files;
mod budget;
mod charset;
mod compound;
mod dates;
mod detect;
mod epub;
mod extensions;
mod extractor;
mod found;
mod front_matter;
mod html;
mod mail;
mod markdown;
mod msg;
mod office;
mod pdf;
mod plain;
mod rtf;
mod text;
mod unpack;
mod worker;
mod writer;
mod xml;

pub use budget::{Budget, DEFAULT_MAX_CHARS};
pub use extractor::InProcessExtractor;
pub use unpack::ZipUnpacker;
pub use worker::{IsolatedExtractor, WorkerProgram, serve as serve_worker};
