//! One module for each verb of the command line.

pub mod adopt_database;
pub mod audit;
pub mod check_config;
pub mod connector;
pub mod eval;
pub mod extract;
pub mod index;
pub mod key;
pub mod model;
pub mod openapi;
pub mod secrets;
pub mod serve;
pub mod user;

use std::borrow::Cow;
use std::io::{self, Write};

use anyhow::Context;
use trove_engine::administration::is_printable;

/// Writes to standard output, and sees it through.
pub(crate) fn write_out(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush())
}

/// Writes a result to standard output. A reader that went away (`trove … | head`) is no failure.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    match write_out(text) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        written => written.context("standard output cannot be written"),
    }
}

/// Writes a result as JSON, with a line feed.
pub(crate) fn print_json(value: &serde_json::Value) -> anyhow::Result<()> {
    print(&format!("{value:#}\n"))
}

/// `text` as a terminal may show it: characters that would control it are escaped.
pub(crate) fn printable(text: &str) -> Cow<'_, str> {
    if text.chars().all(is_printable) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        if is_printable(c) {
            escaped.push(c);
        } else {
            escaped.extend(c.escape_debug());
        }
    }
    escaped.into()
}

/// Columns as wide as their widest cell, of what is printable.
pub(crate) fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let rows: Vec<[Cow<'_, str>; N]> =
        rows.iter().map(|row| std::array::from_fn(|column| printable(&row[column]))).collect();
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([head[column].len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded: Vec<String> =
            cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}")).collect();
        format!("{}\n", padded.join("  ").trim_end())
    };
    let body = rows.iter().map(|row| line(row.iter().map(|cell| &**cell).collect()));
    std::iter::once(line(head.to_vec())).chain(body).collect()
}

#[cfg(test)]
mod tests {
    use super::{printable, table};

    #[test]
    fn what_controls_a_terminal_is_escaped() {
        assert_eq!(printable("Zoë's \"日本\" e\u{301}"), "Zoë's \"日本\" e\u{301}");
        assert_eq!(printable("a\u{1b}[31m\nb\u{9b}\u{202e}"), "a\\u{1b}[31m\\nb\\u{9b}\\u{202e}");
        let rows = [["1".to_owned(), "a\nb".to_owned()], ["22".to_owned(), "c".to_owned()]];
        assert_eq!(table(["ID", "NAME"], &rows), "ID  NAME\n1   a\\nb\n22  c\n");
    }
}
