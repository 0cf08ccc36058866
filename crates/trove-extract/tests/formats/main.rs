//! Formats with an inside, by files that are made here.

#![expect(clippy::unwrap_used, reason = "a file that cannot be made fails the test")]

mod archive;
mod damage;
mod documents;
mod hostile;
mod make;

use trove_domain::port::{ExtractError, ExtractedText, TextExtractor};
use trove_extract::{Budget, InProcessExtractor};

/// What the default budget allows.
fn read(name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
    InProcessExtractor::default().extract(name, content)
}

/// What `budget` allows.
fn read_within(budget: Budget, name: &str, content: &[u8]) -> Result<ExtractedText, ExtractError> {
    InProcessExtractor::new(budget).extract(name, content)
}

/// The texts of all sections.
fn texts(text: &ExtractedText) -> Vec<&str> {
    text.sections.iter().map(|section| section.text.as_str()).collect()
}
