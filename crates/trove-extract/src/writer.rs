//! Where Markdown and HTML write their text: one place that knows about paragraphs.

use std::mem;

/// The budget of characters is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Writes paragraphs: text runs inside, one blank line between.
///
/// What separates two pieces of text is only remembered until the second one comes, so that
/// neither empty elements nor blanks in the markup leave traces.
#[derive(Debug)]
pub(crate) struct TextWriter {
    out: String,
    gap: Gap,
    /// The gap was set by a list item or table cell whose text is still to come: a paragraph that
    /// starts right here is that text and must not break away from it.
    held: bool,
    marker: Option<String>,
    /// Lists and tables that are open, outermost first.
    frames: Vec<Frame>,
    chars_left: usize,
    full: bool,
}

/// What is due before the next text, weakest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Gap {
    None,
    Space,
    Cell,
    Line,
    Paragraph,
}

/// A list or table: where its text begins, as offsets into the output.
#[derive(Debug)]
struct Frame {
    start: usize,
    row: usize,
}

impl TextWriter {
    pub(crate) fn new(max_chars: usize) -> Self {
        Self {
            out: String::new(),
            gap: Gap::None,
            held: false,
            marker: None,
            frames: Vec::new(),
            chars_left: max_chars,
            full: false,
        }
    }

    /// Running text: any blanks are one space.
    pub(crate) fn text(&mut self, text: &str) {
        for character in text.chars() {
            if character.is_whitespace() {
                self.gap = self.gap.max(Gap::Space);
            } else if is_visible(character) {
                self.flush();
                self.push(character);
            }
        }
    }

    /// Text whose blanks and line feeds mean something.
    pub(crate) fn preformatted(&mut self, text: &str) {
        for character in text.chars() {
            match character {
                // A line feed right after a gap would only widen it.
                '\n' if self.gap != Gap::None => {}
                '\n' | '\t' => {
                    self.flush();
                    self.push(character);
                }
                _ if is_visible(character) => {
                    self.flush();
                    self.push(character);
                }
                _ => {}
            }
        }
    }

    /// Ends a run of [`Self::preformatted`] text.
    pub(crate) fn end_preformatted(&mut self) {
        self.out.truncate(self.out.trim_end().len());
        self.gap = Gap::None;
        self.paragraph();
    }

    /// The next text is a paragraph of its own.
    pub(crate) fn paragraph(&mut self) {
        self.widen(Gap::Paragraph);
    }

    /// The next text starts on a line of its own.
    pub(crate) fn line(&mut self) {
        self.widen(Gap::Line);
    }

    /// A line break that an author wrote; two of them make a paragraph.
    pub(crate) fn hard_break(&mut self) {
        self.widen(if self.gap == Gap::Line { Gap::Paragraph } else { Gap::Line });
    }

    /// Opens a list or a table: a paragraph of its own, or lines that stay with the text of the item
    /// or cell it is in.
    pub(crate) fn open_frame(&mut self) {
        if !self.held {
            self.gap = if self.frames.is_empty() { Gap::Paragraph } else { Gap::Line };
        }
        let start = self.out.len();
        self.frames.push(Frame { start, row: start });
    }

    /// Closes what [`Self::open_frame`] opened.
    pub(crate) fn close_frame(&mut self) {
        self.frames.pop();
        // The last item turned out to be empty.
        self.held = false;
        self.marker = None;
        self.widen(if self.frames.is_empty() { Gap::Paragraph } else { Gap::Line });
    }

    /// Starts an item of a list, on a line of its own, behind `marker`.
    pub(crate) fn item(&mut self, marker: &str) {
        self.row();
        self.held = true;
        self.marker = Some(marker.to_owned());
    }

    /// Starts a row of a table, on a line of its own.
    pub(crate) fn row(&mut self) {
        let length = self.out.len();
        match self.frames.last_mut() {
            Some(frame) => {
                // The first row keeps its distance to what is before the table; later ones
                // follow closely whatever the cells before them ended with.
                if length > frame.start {
                    self.gap = Gap::Line;
                }
                frame.row = length;
            }
            None => self.gap = self.gap.max(Gap::Line),
        }
    }

    /// Starts a cell in the row.
    pub(crate) fn cell(&mut self) {
        if let Some(frame) = self.frames.last() {
            if self.out.len() > frame.row {
                self.gap = Gap::Cell;
            }
            self.held = true;
        } else {
            self.gap = self.gap.max(Gap::Space);
        }
    }

    /// Where the next text will be, for [`Self::since`].
    pub(crate) fn position(&self) -> usize {
        self.out.len()
    }

    /// The text that was written since [`Self::position`], in one line.
    pub(crate) fn since(&self, position: usize) -> String {
        // Trimmed preformatted text can leave a position behind the end.
        one_line(self.out.get(position..).unwrap_or_default())
    }

    /// Whether the last character is a letter and the next one follows it at once.
    pub(crate) fn ends_in_letter(&self) -> bool {
        self.gap == Gap::None && self.out.chars().next_back().is_some_and(char::is_alphabetic)
    }

    /// Whether the budget is used up; further text is ignored.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// All text.
    pub(crate) fn finish(mut self) -> Result<String, Full> {
        if self.full {
            return Err(Full);
        }
        self.out.truncate(self.out.trim_end().len());
        Ok(self.out)
    }

    fn widen(&mut self, gap: Gap) {
        if !self.held {
            self.gap = self.gap.max(gap);
        }
    }

    fn flush(&mut self) {
        let gap = mem::replace(&mut self.gap, Gap::None);
        self.held = false;
        let separator = match gap {
            _ if self.out.is_empty() => "",
            Gap::None => "",
            Gap::Space => " ",
            Gap::Cell => " | ",
            Gap::Line => "\n",
            Gap::Paragraph => "\n\n",
        };
        self.push_all(separator);
        if let Some(marker) = self.marker.take() {
            self.push_all(&marker);
        }
    }

    fn push_all(&mut self, text: &str) {
        text.chars().for_each(|character| self.push(character));
    }

    fn push(&mut self, character: char) {
        if let Some(left) = self.chars_left.checked_sub(1) {
            self.chars_left = left;
            self.out.push(character);
        } else {
            self.full = true;
        }
    }
}

/// Longest title in characters; more is a paragraph that somebody made a heading.
const MAX_TITLE_CHARS: usize = 300;

/// A title: one line of at most 300 characters; `None` when it is blank.
pub(crate) fn title(text: &str) -> Option<String> {
    let title: String = one_line(text).chars().take(MAX_TITLE_CHARS).collect();
    let title = title.trim_end();
    (!title.is_empty()).then(|| title.to_owned())
}

/// Whether a reader sees it or it separates words: neither a control character nor one of the
/// marks that only say where a word may or may not be divided, which would keep the word from
/// being found.
pub(crate) fn is_visible(character: char) -> bool {
    !character.is_control() && !matches!(character, '\u{ad}' | '\u{200b}' | '\u{2060}' | '\u{feff}')
}

fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.extend(word.chars().filter(|character| is_visible(*character)));
    }
    line
}

#[cfg(test)]
mod tests {
    use super::{Full, TextWriter, title};

    fn written(write: impl FnOnce(&mut TextWriter)) -> String {
        let mut writer = TextWriter::new(1000);
        write(&mut writer);
        writer.finish().unwrap()
    }

    #[test]
    fn the_widest_gap_wins_and_edges_have_none() {
        let text = written(|w| {
            w.paragraph();
            w.text(" a\n b ");
            w.line();
            w.paragraph();
            w.text(" c");
            w.paragraph();
        });
        assert_eq!(text, "a b\n\nc");
    }

    #[test]
    fn a_paragraph_in_a_cell_does_not_leave_its_row() {
        let text = written(|w| {
            w.text("before");
            w.paragraph();
            w.open_frame();
            for row in [["a", "b"], ["c", "d"]] {
                w.row();
                for cell in row {
                    w.cell();
                    w.paragraph();
                    w.text(cell);
                    w.paragraph();
                }
            }
            w.close_frame();
            w.paragraph();
            w.text("after");
        });
        assert_eq!(text, "before\n\na | b\nc | d\n\nafter");
    }

    #[test]
    fn two_paragraphs_in_a_cell_are_two() {
        let text = written(|w| {
            w.open_frame();
            w.row();
            w.cell();
            w.text("a");
            w.paragraph();
            w.text("b");
            w.cell();
            w.text("c");
            w.close_frame();
        });
        assert_eq!(text, "a\n\nb | c");
    }

    #[test]
    fn preformatted_text_keeps_its_blanks() {
        let text = written(|w| {
            w.text("a");
            w.paragraph();
            w.preformatted("\n  if x:\n\n    y\u{0}\n\n");
            w.end_preformatted();
            w.text("b");
        });
        assert_eq!(text, "a\n\n  if x:\n\n    y\n\nb");
    }

    #[test]
    fn the_budget_is_exact() {
        let mut writer = TextWriter::new(3);
        writer.text("a b");
        assert!(!writer.is_full());
        writer.text("c");
        assert!(writer.is_full());
        assert_eq!(writer.finish(), Err(Full));
    }

    #[test]
    fn a_title_is_one_short_line() {
        assert_eq!(title(" a \n b\u{ad}c "), Some("a bc".to_owned()));
        assert_eq!(title("\u{200b} \n"), None);
        assert_eq!(title(&"ä".repeat(400)), Some("ä".repeat(300)));
    }
}
