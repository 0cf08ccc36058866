//! Text without markup, or with markup that reads well.

use crate::text::Extract;
use crate::writer::{self, Full};

/// Text as it is, in lines.
pub(crate) fn extract(text: &str, max_chars: usize) -> Result<Extract, Full> {
    Ok(Extract { title: None, text: lines(text, max_chars)? })
}

/// reStructuredText as it is; its title is the first line that is underlined.
pub(crate) fn extract_restructured_text(text: &str, max_chars: usize) -> Result<Extract, Full> {
    let text = lines(text, max_chars)?;
    Ok(Extract { title: underlined(&text).and_then(writer::title), text })
}

/// Lines without what only a terminal understands and without blanks at their ends; runs of empty
/// lines become one.
fn lines(text: &str, max_chars: usize) -> Result<String, Full> {
    let mut out = String::with_capacity(text.len());
    let mut blank = false;
    // `\r\n` is one line end, a lone `\r` (old files, progress bars) as well.
    let lines = text.split('\n').flat_map(|line| {
        line.strip_suffix('\r').unwrap_or(line).split(['\r', '\u{b}', '\u{c}', '\u{2028}'])
    });
    for line in lines {
        let before = out.len();
        if before > 0 {
            out.push_str(if blank { "\n\n" } else { "\n" });
        }
        let start = out.len();
        push_printable(line, &mut out);
        out.truncate(start + out[start..].trim_end().len());
        if out.len() == start {
            out.truncate(before);
            blank = before > 0;
        } else {
            blank = false;
        }
    }
    if out.chars().count() > max_chars { Err(Full) } else { Ok(out) }
}

/// Where an escape sequence of a terminal (ECMA-48) stands.
#[derive(Clone, Copy)]
enum Escape {
    None,
    Started,
    /// `ESC [ … letter`: colours and movements.
    Control,
    /// `ESC ] … BEL` or `ESC ] … ESC \`: window titles and links.
    Command,
}

fn push_printable(line: &str, out: &mut String) {
    let mut escape = Escape::None;
    for character in line.chars() {
        escape = match (escape, character) {
            (_, '\u{1b}') => Escape::Started,
            (Escape::Started, '[') | (Escape::Control, '\u{20}'..='\u{3f}') => Escape::Control,
            (Escape::Started, ']') => Escape::Command,
            (Escape::Command, '\u{7}') | (Escape::Started | Escape::Control, _) => Escape::None,
            (Escape::Command, _) => Escape::Command,
            (Escape::None, _) => {
                if character == '\t' || writer::is_visible(character) {
                    out.push(character);
                }
                Escape::None
            }
        };
    }
}

/// The first line over (or between) a row of one punctuation mark that is at least as long.
fn underlined(text: &str) -> Option<&str> {
    let mut above = "";
    for line in text.lines() {
        let is_row = line.starts_with(|first: char| first.is_ascii_punctuation())
            && line.bytes().all(|byte| line.as_bytes().first() == Some(&byte));
        let is_title = above.starts_with(char::is_alphanumeric) || above.starts_with(' ');
        if is_row && is_title && line.len() >= 3 && line.chars().count() >= above.chars().count() {
            return Some(above.trim());
        }
        above = line;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{extract, extract_restructured_text};

    fn check(text: &str, expected: &str) {
        assert_eq!(extract(text, 1000).unwrap().text, expected, "{text:?}");
    }

    #[test]
    fn lines_are_tidied() {
        check("a \r\n  b\t\r\n", "a\n  b");
        check("\n\na\n \n\n\nb\n", "a\n\nb");
        check("10%\r20%\rdone", "10%\n20%\ndone");
        check("page\u{c}page", "page\npage");
        check("a\u{0}b\u{7}", "ab");
    }

    #[test]
    fn terminals_leave_no_traces() {
        check("\u{1b}[1;31merror\u{1b}[0m: no", "error: no");
        check("\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}!", "link!");
        check("\u{1b}", "");
        check("\u{1b}[", "");
        check("\u{1b}[31\nä", "ä");
    }

    #[test]
    fn the_title_is_underlined() {
        let title = |text| extract_restructured_text(text, 1000).unwrap().title;
        assert_eq!(title("====\n The\n====\n\ntext").as_deref(), Some("The"));
        assert_eq!(title(".. _ref:\n\nGrüße\n-----\n").as_deref(), Some("Grüße"));
        assert_eq!(title("a longer line\n---\n"), None);
        assert_eq!(title("text\n\n----\n"), None);
        assert_eq!(title(""), None);
    }
}
