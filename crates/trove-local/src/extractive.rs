//! Answers without a language model: the sentences that fit the question best, word for word.

mod rank;

use async_trait::async_trait;
use futures_util::stream;
use trove_domain::llm::{FinishReason, LanguageModelInfo, LlmEvent, LlmRequest};
use trove_domain::passages::from_message;
use trove_domain::port::{LanguageModel, LanguageModelError, LlmStream};
use unicode_segmentation::UnicodeSegmentation;

use rank::{Quote, best_sentences};

/// Most sentences of an answer.
const QUOTES_MAX: usize = 3;
/// Longest quote in characters; a longer sentence is cut.
const QUOTE_CHARS_MAX: usize = 400;
/// Much more than anybody asks about.
const CONTEXT_TOKENS: usize = 1 << 20;

/// What an answer begins with: nobody should take it for the words of a model.
const INTRODUCTION: &str = "No language model is configured. These sentences of the passages fit \
                            the question best:\n";
const NOTHING: &str = "No language model is configured, and no sentence of the passages has the \
                       words of the question.";

/// The language model of a deployment that has none.
///
/// It reads the last message as [`trove_domain::passages`] writes it, and answers with up to three
/// sentences of the passages, each as a line `> sentence [1]` with the number of its passage. It
/// does not follow instructions and ignores the rest of the conversation. The same message always
/// gives the same answer; the cost is linear in its length. A token is a word or a punctuation mark.
#[derive(Debug)]
pub struct ExtractiveLanguageModel {
    info: LanguageModelInfo,
}

impl ExtractiveLanguageModel {
    /// Needs no files.
    #[must_use]
    pub fn new() -> Self {
        let info = LanguageModelInfo {
            provider: "built-in".to_owned(),
            model: "extractive".to_owned(),
            context_tokens: CONTEXT_TOKENS,
            follows_instructions: false,
        };
        Self { info }
    }
}

impl Default for ExtractiveLanguageModel {
    fn default() -> Self {
        Self::new()
    }
}

#[async_trait]
impl LanguageModel for ExtractiveLanguageModel {
    fn info(&self) -> &LanguageModelInfo {
        &self.info
    }

    async fn stream(&self, request: LlmRequest) -> Result<LlmStream, LanguageModelError> {
        let LlmRequest { mut messages, output_tokens_max, .. } = request;
        let message = messages.pop().map(|message| message.text).unwrap_or_default();
        let events = tokio::task::spawn_blocking(move || events(&message, output_tokens_max));
        let events = events.await.map_err(|error| LanguageModelError::Unavailable {
            provider: self.info.provider.clone(),
            detail: "the answer was not computed".to_owned(),
            source: Some(error.into()),
        })?;
        Ok(Box::pin(stream::iter(events.into_iter().map(Ok))))
    }
}

/// The answer to `message`, a sentence at a time, with no more than `tokens_max` tokens.
fn events(message: &str, tokens_max: u32) -> Vec<LlmEvent> {
    let (passages, question) = from_message(message);
    let quotes = best_sentences(&passages, question, QUOTES_MAX);
    let mut pieces = Vec::new();
    if quotes.is_empty() {
        pieces.push(NOTHING.to_owned());
    } else {
        pieces.push(INTRODUCTION.to_owned());
        pieces.extend(quotes.iter().map(quoted));
    }
    let mut tokens_left = usize::try_from(tokens_max).unwrap_or(usize::MAX);
    let mut events = Vec::new();
    let mut reason = FinishReason::Stop;
    for piece in pieces {
        let (kept, whole) = head(&piece, &mut tokens_left);
        if !kept.is_empty() {
            events.push(LlmEvent::Text(kept.to_owned()));
        }
        if !whole {
            reason = FinishReason::Length;
            break;
        }
    }
    events.push(LlmEvent::Finished { reason, usage: None });
    events
}

fn quoted(quote: &Quote<'_>) -> String {
    let mut sentence = quote.sentence.split_whitespace().collect::<Vec<_>>().join(" ");
    if let Some((end, _)) = sentence.char_indices().nth(QUOTE_CHARS_MAX) {
        sentence.truncate(end);
        sentence.push('…');
    }
    format!("\n> {sentence} [{}]\n", quote.number)
}

/// As much of `text` as `tokens_left` allow, and whether that is all.
fn head<'a>(text: &'a str, tokens_left: &mut usize) -> (&'a str, bool) {
    for (at, part) in text.split_word_bound_indices() {
        if part.trim().is_empty() {
            continue;
        }
        match tokens_left.checked_sub(1) {
            Some(left) => *tokens_left = left,
            None => return (text[..at].trim_end(), false),
        }
    }
    (text, true)
}

#[cfg(test)]
mod tests {
    use trove_domain::llm::{FinishReason, LlmEvent};
    use trove_domain::passages::{NumberedPassage, to_message};

    use super::events;

    fn answer(passages: &[&str], question: &str, tokens_max: u32) -> (String, FinishReason) {
        let passages: Vec<NumberedPassage> = (1..)
            .zip(passages)
            .map(|(number, text)| NumberedPassage { number, text: (*text).to_owned() })
            .collect();
        let (mut text, mut end) = (String::new(), None);
        for event in events(&to_message(&passages, question), tokens_max) {
            match event {
                LlmEvent::Text(piece) => text.push_str(&piece),
                LlmEvent::Finished { reason, .. } => end = Some(reason),
                LlmEvent::Reasoning(_) => panic!("it does not reason"),
            }
        }
        (text, end.unwrap())
    }

    #[test]
    fn sentences_are_quoted_with_their_number() {
        let passages = [
            "Expenses\nExpenses are paid within a month. Ask the desk for help.",
            "The canteen opens at noon. Holidays are listed in the calendar.",
        ];
        let (text, end) = answer(&passages, "When are expenses paid?", 500);
        assert_eq!(
            text,
            "No language model is configured. These sentences of the passages fit the question \
             best:\n\n> Expenses are paid within a month. [1]\n"
        );
        assert_eq!(end, FinishReason::Stop);
    }

    #[test]
    fn without_a_sentence_that_fits_it_says_so() {
        for passages in [&["Nothing of the kind."][..], &[]] {
            let (text, end) = answer(passages, "When are expenses paid?", 500);
            assert!(text.contains("no sentence"), "{text}");
            assert_eq!(end, FinishReason::Stop);
        }
    }

    #[test]
    fn an_answer_is_cut_between_words() {
        let (text, end) = answer(&["Expenses are paid."], "When are expenses paid?", 6);
        assert_eq!(
            (text.as_str(), end),
            ("No language model is configured.", FinishReason::Length)
        );
    }
}
