//! `trove openapi`

use anyhow::Context;

use super::print;
use crate::failure::{Failure, SUCCESS};

/// Prints the OpenAPI document as it is committed.
///
/// # Errors
///
/// When standard output cannot be written.
pub fn run() -> Result<u8, Failure> {
    let document = serde_json::to_string_pretty(&trove_http::openapi())
        .context("the OpenAPI document cannot be written as JSON")?;
    print(&format!("{document}\n"))?;
    Ok(SUCCESS)
}
