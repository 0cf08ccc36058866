//! From letters and their places to words, lines and paragraphs.

use hayro_interpret::kurbo::{Affine, Point, Vec2};

use crate::writer::TextWriter;

/// Units of a font in its em.
const UNITS_PER_EM: f64 = 1000.0;

/// What follows is in ems.
///
/// A gap that is wider separates words.
const WORD_GAP: f64 = 0.15;
/// A letter that is so far above or below is on another line; indices are nearer.
const LINE_STEP: f64 = 0.5;
/// Lines that are farther from one another are different paragraphs.
const PARAGRAPH_STEP: f64 = 1.8;
/// A letter that is so far back is on another line, or is drawn over the last one.
const BACK: f64 = 1.0;

/// A line that is shorter than this part of the longest one ended before it was full.
const SHORT_LINE: f64 = 0.75;

/// A letter on a page.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    text: String,
    start: Point,
    end: Point,
    /// Direction of writing.
    along: Vec2,
    em: f64,
}

impl Glyph {
    pub(super) fn new(
        text: String,
        transform: Affine,
        advance: Option<f32>,
        vertical: bool,
    ) -> Self {
        let start = transform * Point::ZERO;
        let em = (transform * Point::new(0.0, UNITS_PER_EM) - start).hypot();
        let ahead =
            if vertical { Point::new(0.0, -UNITS_PER_EM) } else { Point::new(UNITS_PER_EM, 0.0) };
        let along = transform * ahead - start;
        let length = along.hypot();
        let width = if vertical { 1.0 } else { f64::from(advance.unwrap_or(500.0)) / UNITS_PER_EM };
        let direction = if length > 0.0 { along / length } else { Vec2::new(1.0, 0.0) };
        Self { text, start, end: start + along * width, along: direction, em }
    }

    fn is_sane(&self) -> bool {
        self.em.is_finite() && self.em > 0.0 && self.end.is_finite()
    }
}

/// What separates a letter from the one before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    None,
    Word,
    Line,
    Paragraph,
}

/// Writes letters as they come.
pub(super) struct Layout {
    writer: TextWriter,
    last: Option<Glyph>,
    /// The run before this one: bold letters are drawn twice by some programs.
    last_run: Option<(Point, String)>,
    /// How far right a line went at most.
    longest: f64,
    /// A hyphen that may belong to a word or only to the end of its line.
    hyphen: bool,
}

impl Layout {
    pub(super) fn new(writer: TextWriter) -> Self {
        Self { writer, last: None, last_run: None, longest: 0.0, hyphen: false }
    }

    /// Writes letters that were drawn together.
    pub(super) fn run(&mut self, glyphs: &[Glyph]) {
        if self.writer.is_full() {
            return;
        }
        let Some(first) = glyphs.first() else { return };
        let text: String = glyphs.iter().map(|glyph| glyph.text.as_str()).collect();
        let again = self.last_run.as_ref().is_some_and(|(at, last)| {
            *last == text && (first.start - *at).hypot() < first.em * 0.1
        });
        if !again {
            for glyph in glyphs {
                self.glyph(glyph);
            }
        }
        self.last_run = Some((first.start, text));
    }

    fn glyph(&mut self, glyph: &Glyph) {
        if !glyph.is_sane() {
            self.put(&glyph.text);
            return;
        }
        let gap = self.last.as_ref().map_or(Gap::None, |last| gap_between(last, glyph));
        match gap {
            Gap::None => self.keep_hyphen(),
            Gap::Word => {
                self.keep_hyphen();
                self.writer.text(" ");
            }
            Gap::Line => self.end_line(glyph),
            Gap::Paragraph => {
                self.keep_hyphen();
                self.writer.paragraph();
            }
        }
        self.longest = self.longest.max(glyph.end.x);
        self.put(&glyph.text);
        if !glyph.text.trim().is_empty() || self.last.is_none() {
            self.last = Some(glyph.clone());
        } else if let Some(last) = &mut self.last {
            // A blank widens the letter before it, so that it is not counted twice.
            last.end = glyph.end;
        }
    }

    fn end_line(&mut self, next: &Glyph) {
        let starts_small = next.text.starts_with(char::is_lowercase);
        if self.hyphen && starts_small {
            // The word goes on.
            self.hyphen = false;
            return;
        }
        self.keep_hyphen();
        let ended_early =
            self.last.as_ref().is_some_and(|last| last.end.x < self.longest * SHORT_LINE);
        if ended_early { self.writer.line() } else { self.writer.text(" ") }
    }

    fn put(&mut self, text: &str) {
        if self.writer.ends_in_letter() && matches!(text, "-" | "\u{2010}" | "\u{ad}") {
            self.hyphen = true;
        } else {
            self.writer.text(text);
        }
    }

    fn keep_hyphen(&mut self) {
        if std::mem::take(&mut self.hyphen) {
            self.writer.text("-");
        }
    }

    /// What was written.
    pub(super) fn finish(mut self) -> TextWriter {
        self.keep_hyphen();
        self.writer
    }
}

fn gap_between(last: &Glyph, next: &Glyph) -> Gap {
    let em = last.em.min(next.em);
    let step = next.start - last.end;
    let along = step.dot(last.along) / em;
    let across = step.cross(last.along).abs() / last.em.max(next.em);
    if across > PARAGRAPH_STEP || last.em.max(next.em) > em * 1.5 && across > LINE_STEP {
        Gap::Paragraph
    } else if across > LINE_STEP || along < -BACK {
        Gap::Line
    } else if along > WORD_GAP {
        Gap::Word
    } else {
        Gap::None
    }
}

#[cfg(test)]
mod tests {
    use hayro_interpret::kurbo::Affine;

    use super::{Glyph, Layout};
    use crate::writer::TextWriter;

    /// Words at places of a page, in letters of half an em and ten points.
    fn laid_out(words: &[(f64, f64, &str)]) -> String {
        let mut layout = Layout::new(TextWriter::new(1000));
        for (x, y, word) in words {
            let glyphs: Vec<Glyph> = word
                .chars()
                .enumerate()
                .map(|(at, character)| {
                    let at = f64::from(u32::try_from(at).unwrap());
                    let place = Affine::translate((x + 5.0 * at, *y)) * Affine::scale(0.01);
                    Glyph::new(character.to_string(), place, Some(500.0), false)
                })
                .collect();
            layout.run(&glyphs);
        }
        layout.finish().finish().unwrap()
    }

    #[test]
    fn gaps_make_words_and_lines() {
        assert_eq!(laid_out(&[(0.0, 100.0, "one"), (20.0, 100.0, "two")]), "one two");
        assert_eq!(laid_out(&[(0.0, 100.0, "on"), (10.0, 100.0, "e")]), "one");
        assert_eq!(
            laid_out(&[(0.0, 100.0, "a long line"), (0.0, 88.0, "goes on")]),
            "a long line goes on"
        );
        assert_eq!(
            laid_out(&[
                (0.0, 124.0, "a very long line"),
                (0.0, 112.0, "short"),
                (0.0, 100.0, "next")
            ]),
            "a very long line short\nnext"
        );
        assert_eq!(laid_out(&[(0.0, 100.0, "one"), (0.0, 70.0, "two")]), "one\n\ntwo");
    }

    #[test]
    fn words_that_were_divided_are_one() {
        assert_eq!(laid_out(&[(0.0, 100.0, "exam-"), (0.0, 88.0, "ple")]), "example");
        assert_eq!(laid_out(&[(0.0, 100.0, "well-known"), (0.0, 88.0, "x")]), "well-known x");
        assert_eq!(laid_out(&[(0.0, 100.0, "A-"), (0.0, 88.0, "B")]), "A- B");
        assert_eq!(laid_out(&[(0.0, 100.0, "end-")]), "end-");
    }

    #[test]
    fn what_is_drawn_twice_is_there_once() {
        assert_eq!(laid_out(&[(0.0, 100.0, "bold"), (0.2, 100.0, "bold")]), "bold");
        assert_eq!(laid_out(&[(0.0, 100.0, "ha"), (10.0, 100.0, "ha")]), "haha");
    }

    #[test]
    fn places_that_are_no_places_do_no_harm() {
        let glyph = |place| Glyph::new("a".to_owned(), place, None, true);
        let mut layout = Layout::new(TextWriter::new(1000));
        layout.run(&[
            glyph(Affine::scale(0.0)),
            glyph(Affine::scale(f64::NAN)),
            glyph(Affine::scale(f64::INFINITY)),
            glyph(Affine::scale(1e300)),
        ]);
        assert_eq!(layout.finish().finish().unwrap().replace(char::is_whitespace, ""), "aaaa");
    }
}
