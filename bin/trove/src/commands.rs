//! One module for each verb of the command line.

pub mod adopt_database;
pub mod check_config;
pub mod eval;
pub mod index;
pub mod key;
pub mod model;
pub mod openapi;
pub mod serve;

use std::io::{self, Write};

use anyhow::Context;

/// Writes a result to standard output. A reader that went away (`trove … | head`) is no failure.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}

/// Writes a result as JSON, with a line feed.
pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&format!("{value:#}\n"))
}
