//! Citations in an answer: markers that a model writes become links to what it was shown.
//!
//! A model is shown documents with numbers, and writes `[1]` or `[1, 2]` behind what it has from
//! them. It writes token by token, so that a marker may come in pieces: [`CitationWriter`] holds
//! back what may become one. A number that no document has is taken out, so nothing is cited that
//! was not shown.

use std::collections::{BTreeMap, BTreeSet};

use crate::id::DocumentId;

/// Numbers of one marker at most, and digits of one number: what is longer is text.
const NUMBERS_MAX: usize = 64;
const DIGITS_MAX: usize = 6;

/// Longest first line of a code block; what is longer begins none.
const INFO_CHARS_MAX: usize = 200;

/// What a code block is marked with that names no language.
const PLAIN: &str = "plaintext";

/// A document that a model was shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Citable {
    /// The document.
    pub id: DocumentId,
    /// Where it is found.
    pub link: Option<String>,
}

/// What becomes of markers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CitationStyle {
    /// They become links.
    Links,
    /// They are taken out.
    None,
}

/// A piece of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswerPiece {
    /// A document is cited for the first time; the link is in the text that follows.
    Citation {
        /// The number that it is cited by.
        number: u32,
        /// The document.
        document: DocumentId,
    },
    /// Text, never empty.
    Text(String),
}

/// Turns the text of a model into an answer, as it comes.
#[derive(Debug)]
pub struct CitationWriter {
    style: CitationStyle,
    documents: BTreeMap<u32, Citable>,
    /// What was cited, by the number that it was cited by first.
    cited: BTreeMap<u32, DocumentId>,
    seen: BTreeSet<DocumentId>,
    /// What may become something else with what follows.
    held: String,
    /// A blank that goes when a marker and the end of a phrase follow.
    blank: Option<char>,
    /// Whether markers were taken out behind the blank, or behind the text.
    removed: bool,
    /// Backticks of the code block that is open.
    fence: Option<usize>,
    /// Whether the present line is blank so far.
    line_is_blank: bool,
    before: Before,
    text: String,
    pieces: Vec<AnswerPiece>,
}

/// What the answer so far ends with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Before {
    Space,
    Link,
    Other,
}

/// What a text may begin with.
enum Found<T> {
    /// It does, over so many bytes.
    Yes(usize, T),
    No,
    /// Only more text can tell.
    Perhaps,
}

impl CitationWriter {
    /// A writer that knows no documents yet.
    #[must_use]
    pub fn new(style: CitationStyle) -> Self {
        Self {
            style,
            documents: BTreeMap::new(),
            cited: BTreeMap::new(),
            seen: BTreeSet::new(),
            held: String::new(),
            blank: None,
            removed: false,
            fence: None,
            line_is_blank: true,
            before: Before::Space,
            text: String::new(),
            pieces: Vec::new(),
        }
    }

    /// From now on the number means the document.
    pub fn show(&mut self, number: u32, document: Citable) {
        self.documents.insert(number, document);
    }

    /// What was cited so far, by the number that it was cited by first.
    #[must_use]
    pub fn cited(&self) -> &BTreeMap<u32, DocumentId> {
        &self.cited
    }

    /// What the next part of the text adds to the answer.
    pub fn write(&mut self, text: &str) -> Vec<AnswerPiece> {
        self.held.push_str(text);
        self.advance(false);
        self.taken()
    }

    /// What the end of the text adds to the answer: what was held back, as it is.
    pub fn finish(&mut self) -> Vec<AnswerPiece> {
        self.advance(true);
        if let Some(blank) = self.blank.take() {
            self.text.push(blank);
        }
        self.taken()
    }

    fn taken(&mut self) -> Vec<AnswerPiece> {
        self.flush();
        std::mem::take(&mut self.pieces)
    }

    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.pieces.push(AnswerPiece::Text(std::mem::take(&mut self.text)));
        }
    }

    fn advance(&mut self, is_end: bool) {
        let held = std::mem::take(&mut self.held);
        let mut rest = held.as_str();
        while let Some(first) = rest.chars().next() {
            let taken = if first == '`' && self.line_is_blank {
                self.fence(rest, is_end)
            } else if self.fence.is_none() && bracket(first).is_some() {
                self.marker(rest, is_end)
            } else {
                self.plain(first);
                Some(first.len_utf8())
            };
            let Some(taken) = taken else { break };
            rest = rest.get(taken..).unwrap_or_default();
        }
        self.held = rest.to_owned();
    }

    /// Writes a character of the text.
    fn plain(&mut self, c: char) {
        let is_over =
            c.is_whitespace() || matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '}');
        let blank = self.blank.take();
        if !(self.removed && is_over) {
            self.text.extend(blank);
        }
        self.removed = false;
        let may_go = self.style == CitationStyle::None && self.fence.is_none();
        if may_go && c.is_whitespace() {
            self.blank = Some(c);
        } else {
            self.text.push(c);
        }
        self.before = if c.is_whitespace() { Before::Space } else { Before::Other };
        self.line_is_blank = c == '\n' || (self.line_is_blank && c.is_whitespace());
    }

    fn verbatim(&mut self, text: &str) {
        for c in text.chars() {
            self.plain(c);
        }
    }

    /// What to do with backticks that begin a line; how many bytes that takes.
    fn fence(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        let run = rest.len() - rest.trim_start_matches('`').len();
        if run == rest.len() && !is_end {
            return None;
        }
        let (ticks, behind) = rest.split_at(run);
        if let Some(open) = self.fence {
            if run >= open {
                self.fence = None;
            }
            self.verbatim(ticks);
            return Some(run);
        }
        if run < 3 {
            self.verbatim(ticks);
            return Some(run);
        }
        let info = behind.split(['\n', '`']).next().unwrap_or_default();
        match behind[info.len()..].chars().next() {
            None if is_end || info.chars().count() > INFO_CHARS_MAX => {}
            None => return None,
            // Backticks on the same line: a piece of code in a line.
            Some('`') => {
                self.verbatim(ticks);
                return Some(run);
            }
            Some(_) => {
                self.verbatim(ticks);
                if info.trim().is_empty() {
                    self.verbatim(PLAIN);
                }
                self.fence = Some(run);
                self.verbatim(info);
                return Some(run + info.len());
            }
        }
        self.verbatim(ticks);
        Some(run)
    }

    /// What to do with a bracket; how many bytes that takes.
    fn marker(&mut self, rest: &str, is_end: bool) -> Option<usize> {
        match numbers(rest) {
            Found::Yes(length, numbers) => {
                self.cite(&numbers);
                Some(length)
            }
            Found::Perhaps if !is_end => None,
            Found::Perhaps | Found::No => {
                let first = rest.chars().next()?;
                self.plain(first);
                Some(first.len_utf8())
            }
        }
    }

    fn cite(&mut self, numbers: &[u32]) {
        if self.style == CitationStyle::None {
            self.removed = true;
            return;
        }
        let known: Vec<(u32, Citable)> = numbers
            .iter()
            .filter_map(|number| Some((*number, self.documents.get(number)?.clone())))
            .collect();
        if known.is_empty() {
            return;
        }
        self.flush();
        let mut links = Vec::with_capacity(known.len());
        for (number, document) in known {
            let target = document.link.as_deref().map(target).unwrap_or_default();
            links.push(format!("[[{number}]]({target})"));
            if self.seen.insert(document.id.clone()) {
                self.cited.insert(number, document.id.clone());
                self.pieces.push(AnswerPiece::Citation { number, document: document.id });
            }
        }
        if self.before == Before::Other {
            self.text.push(' ');
        }
        self.text.push_str(&links.join(" "));
        self.flush();
        self.before = Before::Link;
        self.line_is_blank = false;
    }
}

/// The bracket that closes one.
fn bracket(open: char) -> Option<char> {
    match open {
        '[' => Some(']'),
        '【' => Some('】'),
        '［' => Some('］'),
        _ => None,
    }
}

/// The numbers of the marker that the text begins with.
fn numbers(text: &str) -> Found<Vec<u32>> {
    let mut chars = text.char_indices().peekable();
    let Some((_, open)) = chars.next() else { return Found::Perhaps };
    let Some(close) = bracket(open) else { return Found::No };
    let is_double = match chars.peek() {
        None => return Found::Perhaps,
        Some((_, next)) => *next == open,
    };
    if is_double {
        chars.next();
    }
    let mut numbers = Vec::new();
    loop {
        let mut digits = String::new();
        while let Some((_, digit)) = chars.next_if(|(_, c)| c.is_ascii_digit()) {
            digits.push(digit);
        }
        let next = chars.next();
        let Some(number) = digits.parse().ok().filter(|_| digits.len() <= DIGITS_MAX) else {
            // No digit yet is no number yet.
            let may_come = next.is_none() && digits.is_empty();
            return if may_come { Found::Perhaps } else { Found::No };
        };
        numbers.push(number);
        match next {
            None => return Found::Perhaps,
            Some((at, c)) if c == close && !is_double => {
                return Found::Yes(at + c.len_utf8(), numbers);
            }
            Some((_, c)) if c == close => {
                return match chars.next() {
                    None => Found::Perhaps,
                    Some((at, c)) if c == close => Found::Yes(at + c.len_utf8(), numbers),
                    Some(_) => Found::No,
                };
            }
            Some((_, ',')) if !is_double && numbers.len() < NUMBERS_MAX => {
                chars.next_if(|(_, c)| *c == ' ');
            }
            Some(_) => return Found::No,
        }
    }
}

/// A link as it stands in parentheses: whatever would end it early, or the line, is escaped.
fn target(link: &str) -> String {
    let is_balanced = balanced(&format!("({link})")).is_some_and(|end| end == link.len() + 2);
    let mut target = String::with_capacity(link.len());
    for c in link.chars() {
        let breaks = c.is_whitespace() || c.is_control() || matches!(c, '<' | '>' | '\\');
        if breaks || (!is_balanced && matches!(c, '(' | ')')) {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                target.push_str(&format!("%{byte:02X}"));
            }
        } else {
            target.push(c);
        }
    }
    target
}

/// Bytes up to the end of the parentheses that a text begins with.
fn balanced(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        if depth == 0 {
            return (at > 0).then_some(at + 1);
        }
    }
    None
}

/// An answer without its citations, and without the blanks before them.
#[must_use]
pub fn without_citations(answer: &str) -> String {
    let mut left = String::with_capacity(answer.len());
    let mut rest = answer;
    while let Some(at) = rest.find("[[") {
        let (before, citation) = rest.split_at(at);
        let digits = citation.get(2..).unwrap_or_default();
        let count = digits.len() - digits.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Some(link) =
            digits[count..].strip_prefix("]]").filter(|link| count > 0 && link.starts_with('('))
        else {
            left.push_str(before);
            left.push('[');
            rest = &citation[1..];
            continue;
        };
        let Some(length) = balanced(link) else { break };
        left.push_str(before);
        left.truncate(left.trim_end().len());
        rest = &link[length..];
    }
    left.push_str(rest);
    left
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{AnswerPiece, Citable, CitationStyle, CitationWriter, without_citations};
    use crate::id::DocumentId;

    fn writer(style: CitationStyle) -> CitationWriter {
        let mut writer = CitationWriter::new(style);
        let documents = [
            (1, "d1", Some("http://x/1")),
            (2, "d2", Some("http://x/2")),
            (3, "d3", None),
            (4, "d1", Some("http://x/1")),
        ];
        for (number, id, link) in documents {
            let id = DocumentId::new(id).unwrap();
            writer.show(number, Citable { id, link: link.map(str::to_owned) });
        }
        writer
    }

    /// Text with `{n}` for each citation, from text that comes in parts.
    fn written<'t>(style: CitationStyle, parts: impl IntoIterator<Item = &'t str>) -> String {
        let mut writer = writer(style);
        let mut pieces = Vec::new();
        for part in parts {
            pieces.extend(writer.write(part));
        }
        pieces.extend(writer.finish());
        let shown = pieces.into_iter().map(|piece| match piece {
            AnswerPiece::Citation { number, .. } => format!("{{{number}}}"),
            AnswerPiece::Text(text) => text,
        });
        shown.collect()
    }

    /// The text as a whole, and cut at every place.
    fn assert_written(style: CitationStyle, text: &str, expected: &str) {
        assert_eq!(written(style, [text]), expected, "{text:?}");
        for (at, _) in text.char_indices() {
            let (first, second) = text.split_at(at);
            assert_eq!(written(style, [first, second]), expected, "{first:?} {second:?}");
        }
        let each: Vec<String> = text.chars().map(String::from).collect();
        assert_eq!(written(style, each.iter().map(String::as_str)), expected, "{text:?}");
    }

    #[test]
    fn the_vectors_of_links() {
        let vectors = [
            ("A [1].", "A {1}[[1]](http://x/1)."),
            ("A[1].", "A{1} [[1]](http://x/1)."),
            ("A [1][2] b", "A {1}[[1]](http://x/1){2}[[2]](http://x/2) b"),
            ("A [1, 2] b", "A {1}{2}[[1]](http://x/1) [[2]](http://x/2) b"),
            ("A [1,2] b", "A {1}{2}[[1]](http://x/1) [[2]](http://x/2) b"),
            ("A [9] b", "A  b"),
            ("A [1, 9] b", "A {1}[[1]](http://x/1) b"),
            ("A [3] b", "A {3}[[3]]() b"),
            ("A [1] b [1] c", "A {1}[[1]](http://x/1) b [[1]](http://x/1) c"),
            ("x [1] and [4] y", "x {1}[[1]](http://x/1) and [[4]](http://x/1) y"),
            ("A 【1】 b", "A {1}[[1]](http://x/1) b"),
            ("A ［1］ b", "A {1}[[1]](http://x/1) b"),
            ("A [[1]] b", "A {1}[[1]](http://x/1) b"),
            ("A [1", "A [1"),
            ("A [1,2,] b", "A [1,2,] b"),
            ("A [a] b", "A [a] b"),
            ("A [[1] b", "A [{1}[[1]](http://x/1) b"),
            ("[1] A", "{1}[[1]](http://x/1) A"),
            ("A [1234567] b", "A [1234567] b"),
        ];
        for (text, expected) in vectors {
            // A blank comes before a link that follows a bracket.
            let expected = expected.replace("[{1}[[1]]", "[{1} [[1]]");
            assert_written(CitationStyle::Links, text, &expected);
        }
    }

    #[test]
    fn the_vectors_of_removal() {
        let vectors = [
            ("A [1].", "A."),
            ("A [1] b", "A b"),
            ("A[1] b", "A b"),
            ("A [1, 2] b [9] c", "A b c"),
            ("A [1][2].", "A."),
            ("A [1] [2], b", "A, b"),
            ("A [1]b", "A b"),
            ("A [a] b  c ", "A [a] b  c "),
        ];
        for (text, expected) in vectors {
            assert_written(CitationStyle::None, text, expected);
        }
    }

    #[test]
    fn code_stays_and_gets_a_language() {
        let vectors = [
            ("a\n```rust\nx[1]\n```\nb [1]", "a\n```rust\nx[1]\n```\nb {1}[[1]](http://x/1)"),
            ("a\n```\nx[1]\n```\nb", "a\n```plaintext\nx[1]\n```\nb"),
            ("```\n  ```\n[1]", "```plaintext\n  ```\n{1}[[1]](http://x/1)"),
            ("````\n```\n[1]\n````\n[2]", "````plaintext\n```\n[1]\n````\n{2}[[2]](http://x/2)"),
            ("```x``` [1]", "```x``` {1}[[1]](http://x/1)"),
            ("a `b` [1]", "a `b` {1}[[1]](http://x/1)"),
            ("a\n```", "a\n```"),
        ];
        for (text, expected) in vectors {
            assert_written(CitationStyle::Links, text, expected);
        }
        assert_written(
            CitationStyle::None,
            "```\nx [1]\n```\na [1].",
            "```plaintext\nx [1]\n```\na.",
        );
    }

    #[test]
    fn what_would_end_a_link_is_escaped() {
        for (link, expected) in [
            ("http://x/a(b)c", "http://x/a(b)c"),
            ("http://x/) ![y](http://e/", "http://x/%29%20![y]%28http://e/"),
            ("http://x/a\nb", "http://x/a%0Ab"),
        ] {
            let mut writer = CitationWriter::new(CitationStyle::Links);
            let id = DocumentId::new("d").unwrap();
            writer.show(1, Citable { id, link: Some(link.to_owned()) });
            let pieces = writer.write("[1]");
            let text = AnswerPiece::Text(format!("[[1]]({expected})"));
            assert_eq!(pieces.last(), Some(&text));
        }
    }

    #[test]
    fn the_vectors_without_citations() {
        for (answer, expected) in [
            ("A [[1]](http://x/a(b)c) z", "A z"),
            ("A [[1]]() [[2]](u) z", "A z"),
            ("A [[a]](u) z", "A [[a]](u) z"),
            ("A [[1]](u( z [[2]](u)", "A [[1]](u( z [[2]](u)"),
            ("A [[1]] z", "A [[1]] z"),
        ] {
            assert_eq!(without_citations(answer), expected);
        }
    }

    proptest! {
        #[test]
        fn however_the_text_comes_the_answer_is_the_same(
            text in "(\\[1\\]|\\[\\[2\\]\\]|\\[1, 2\\]|\\[9\\]|【1】|[ab.,\\[\\]1 `\n]|```|```x\n){0,30}",
            cuts in proptest::collection::vec(0..400_usize, 0..12),
            links in proptest::bool::ANY,
        ) {
            let style = if links { CitationStyle::Links } else { CitationStyle::None };
            let mut cuts: Vec<usize> =
                cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
            cuts.extend([0, text.len()]);
            cuts.sort_unstable();
            let parts = cuts.windows(2).map(|pair| &text[pair[0]..pair[1]]);
            prop_assert_eq!(written(style, parts), written(style, [text.as_str()]));
        }

        #[test]
        fn every_number_that_stays_was_shown(text in "(\\[[0-9]{1,2}\\]| |a){0,20}") {
            let mut writer = writer(CitationStyle::Links);
            writer.write(&text);
            writer.finish();
            prop_assert!(writer.cited().keys().all(|number| (1..=4).contains(number)));
        }
    }
}
