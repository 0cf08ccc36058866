//! From text to the terms that a search by words compares.
//!
//! * [`Profile`] tells the languages that a text is written in;
//! * [`Analyzer`] takes a text apart: its terms, which are words without what of their spelling
//!   does not matter, and where each of them stands;
//! * [`QueryTerms`] is what a query asks for, in all languages that texts may be written in;
//! * [`highlights`] says which words of a text a query asks for.
//!
//! Terms are stored in indexes. Changing what a text gives is a new format of every index that
//! holds terms, whose name is [`FORMAT`].

mod analyzer;
mod folding;
mod function_words;
mod hash;
mod highlights;
mod language;
mod profile;
mod query;
mod segmentation;
mod stems;

pub use analyzer::{Analyzer, TERM_BYTES_MAX, Terms, WordClass};
pub use hash::fnv1a;
pub use highlights::highlights;
pub use language::{Language, LanguageSet};
pub use profile::Profile;
pub use query::{QueryTerm, QueryTerms};

/// Names the terms that this release makes: an index with those of another one does not match the
/// terms of a query any more.
pub const FORMAT: &str = "trove-3";
