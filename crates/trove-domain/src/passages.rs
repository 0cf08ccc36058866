//! Passages and a question as one message to a language model.
//!
//! ```text
//! [1] First line of the first passage
//!   its second line
//! [2] The second passage
//!
//! Question: What is asked?
//! ```
//!
//! A passage begins with its number in brackets at the beginning of a line; its further lines are
//! indented by two blanks, so that no text of a document can pass for another passage or for the
//! question. The question is everything after the first line that begins with `Question: `. Models
//! that follow instructions cite a passage as `[1]`; those that do not can find the parts again.

use std::fmt::Write as _;

/// What the line of the question begins with.
const QUESTION: &str = "Question: ";
/// What further lines of a passage begin with.
const INDENT: &str = "  ";

/// A passage with the number that it is cited by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NumberedPassage {
    /// The number.
    pub number: u32,
    /// The text, of one line or more.
    pub text: String,
}

/// The message that asks `question` about `passages`.
#[must_use]
pub fn to_message(passages: &[NumberedPassage], question: &str) -> String {
    let mut message = String::new();
    for passage in passages {
        for (position, line) in passage.text.lines().enumerate() {
            // Writing to a string cannot fail.
            let _ = match position {
                0 => writeln!(message, "[{}] {line}", passage.number),
                _ => writeln!(message, "{INDENT}{line}"),
            };
        }
    }
    if !message.is_empty() {
        message.push('\n');
    }
    message.push_str(QUESTION);
    message.push_str(question);
    message
}

/// The parts of a message: its passages and its question. A message of another form is a question
/// without passages.
#[must_use]
pub fn from_message(message: &str) -> (Vec<NumberedPassage>, &str) {
    let Some((head, question)) = split(message) else { return (Vec::new(), message) };
    let mut passages: Vec<NumberedPassage> = Vec::new();
    for line in head.lines() {
        if let Some((number, first)) = beginning(line) {
            passages.push(NumberedPassage { number, text: first.to_owned() });
        } else if let (Some(rest), Some(last)) = (line.strip_prefix(INDENT), passages.last_mut()) {
            last.text.push('\n');
            last.text.push_str(rest);
        }
    }
    (passages, question)
}

/// What is before the question, and the question.
fn split(message: &str) -> Option<(&str, &str)> {
    if let Some(question) = message.strip_prefix(QUESTION) {
        return Some(("", question));
    }
    let at = message.find("\nQuestion: ")?;
    Some((&message[..at], &message[at + 1 + QUESTION.len()..]))
}

/// Number and text of a line that begins a passage.
fn beginning(line: &str) -> Option<(u32, &str)> {
    let (number, text) = line.strip_prefix('[')?.split_once("] ")?;
    let digits = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    Some((digits.then(|| number.parse().ok())??, text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{NumberedPassage, from_message, to_message};

    fn passage(number: u32, text: &str) -> NumberedPassage {
        NumberedPassage { number, text: text.to_owned() }
    }

    #[test]
    fn a_message_reads_as_documented() {
        let passages = [passage(1, "First\nits second line"), passage(2, "The second")];
        assert_eq!(
            to_message(&passages, "What?"),
            "[1] First\n  its second line\n[2] The second\n\nQuestion: What?"
        );
        assert_eq!(to_message(&[], "What?"), "Question: What?");
    }

    #[test]
    fn a_message_of_another_form_is_a_question() {
        assert_eq!(from_message("hello\n[1] you"), (Vec::new(), "hello\n[1] you"));
        assert_eq!(from_message(""), (Vec::new(), ""));
        assert_eq!(from_message("Question: a\nQuestion: b"), (Vec::new(), "a\nQuestion: b"));
    }

    proptest! {
        /// Whatever a document says, it is neither another passage nor the question.
        #[test]
        fn parts_are_found_again(
            texts in prop::collection::vec("([a-z\\[\\]0-9 ]|\\n|Question: |\\[2\\] ){1,40}", 0..5),
            question in "([a-z\\[\\] ]|\\n|Question: ){0,40}",
        ) {
            let passages: Vec<NumberedPassage> = texts
                .iter()
                .map(|text| text.lines().collect::<Vec<_>>().join("\n"))
                .filter(|text| text.lines().next().is_some())
                .zip(1..)
                .map(|(text, number)| NumberedPassage { number, text })
                .collect();
            let message = to_message(&passages, &question);
            let (found, asked) = from_message(&message);
            prop_assert_eq!(asked, &question);
            let trimmed = |passages: &[NumberedPassage]| -> Vec<(u32, String)> {
                passages.iter().map(|p| (p.number, p.text.trim_end().to_owned())).collect()
            };
            prop_assert_eq!(trimmed(&found), trimmed(&passages));
        }
    }
}
