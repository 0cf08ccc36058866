//! Tables in text: a row is a line, whatever separates and quotes the cells.

use csv::{ByteRecord, ReaderBuilder};
use trove_domain::port::ExtractError;

use super::Extract;
use crate::budget::Meter;
use crate::writer::{Full, TextWriter};

/// What may stand between two cells.
const SEPARATORS: [u8; 4] = [b',', b';', b'\t', b'|'];

/// Text of a table; without a separator it is found out.
pub(super) fn extract(
    text: &str,
    separator: Option<u8>,
    meter: &Meter,
) -> Result<Result<Extract, Full>, ExtractError> {
    let separator = separator.unwrap_or_else(|| separator_of(text));
    let mut rows = ReaderBuilder::new()
        .delimiter(separator)
        .has_headers(false)
        .flexible(true)
        .from_reader(text.as_bytes());
    let mut writer = TextWriter::new(meter.chars_left());
    writer.open_frame();
    let mut row = ByteRecord::new();
    // Nothing but reading can fail, and memory is always read.
    while rows.read_byte_record(&mut row).unwrap_or(false) {
        meter.take_event()?;
        writer.row();
        for cell in row.iter().filter(|cell| !cell.is_empty()) {
            writer.cell();
            writer.text(&String::from_utf8_lossy(cell));
        }
        if writer.is_full() {
            break;
        }
    }
    Ok(writer.finish().map(|text| Extract { title: None, text }))
}

/// Lines that the separator is found out from.
const LINES: usize = 10;

/// The separator of which there are most, outside quotes, in the line that has fewest of them.
fn separator_of(text: &str) -> u8 {
    let mut fewest = [usize::MAX; SEPARATORS.len()];
    let mut counts = [0; SEPARATORS.len()];
    let (mut quoted, mut lines, mut is_blank) = (false, 0, true);
    for byte in text.bytes().take(64 * 1024).chain([b'\n']) {
        match byte {
            b'"' => quoted = !quoted,
            b'\n' if !quoted && !is_blank => {
                for (fewest, count) in fewest.iter_mut().zip(std::mem::take(&mut counts)) {
                    *fewest = count.min(*fewest);
                }
                (lines, is_blank) = (lines + 1, true);
                if lines == LINES {
                    break;
                }
            }
            b'\r' | b'\n' => {}
            _ => {
                is_blank = false;
                let separator = SEPARATORS.iter().position(|separator| *separator == byte);
                if let Some(at) = separator.filter(|_| !quoted) {
                    counts[at] += 1;
                }
            }
        }
    }
    let counted = SEPARATORS.iter().zip(fewest).filter(|(_, count)| *count != usize::MAX);
    counted.rev().max_by_key(|(_, count)| *count).map_or(b',', |(separator, _)| *separator)
}

#[cfg(test)]
mod tests {
    use super::extract;
    use crate::budget::{Budget, Meter};

    fn check(table: &str, expected: &str) {
        let meter = Meter::new(Budget::default());
        assert_eq!(extract(table, None, &meter).unwrap().unwrap().text, expected, "{table:?}");
    }

    #[test]
    fn rows_are_lines() {
        check("a,b\r\n1,\"two\nlines\"\n", "a | b\n1 | two lines");
        check("a;b,c\n1;2\n", "a | b,c\n1 | 2");
        check("a\tb\n\n1\t\t2", "a | b\n1 | 2");
        check("\"a;b;c\",d", "a;b;c | d");
        check("one column\n", "one column");
        check("", "");
    }

    #[test]
    fn open_quotes_lose_nothing() {
        check("a,\"b\nc,d\n", "a | b c,d");
        check("a,b\"c\"\n", "a | b\"c\"");
    }
}
