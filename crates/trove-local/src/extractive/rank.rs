//! Which sentences fit a question.

use std::collections::{BTreeSet, HashSet};

use trove_domain::passages::NumberedPassage;
use unicode_segmentation::UnicodeSegmentation;

/// Words of a question that count; more are no question.
const QUESTION_WORDS_MAX: usize = 64;
/// Sentences that are compared: the passages of an answer have some hundred.
const SENTENCES_MAX: usize = 5_000;
/// Characters that two forms of a word have in common at least, and may differ in at most.
const STEM_CHARS_MIN: usize = 4;
const ENDING_CHARS_MAX: usize = 3;
/// Part of the best score that another sentence needs to be worth quoting.
const SHARE_MIN: f64 = 0.5;
/// Weight that a passage loses against the one before: they come best first.
const RANK_DECAY: f64 = 0.97;

/// A sentence, and the passage that it is in.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Quote<'a> {
    pub(super) number: u32,
    pub(super) sentence: &'a str,
}

struct Candidate<'a> {
    quote: Quote<'a>,
    /// Positions of the question's words that it has.
    matched: Vec<usize>,
    passage: usize,
    words: usize,
}

/// The sentences of `passages` that fit `question` best, at most `count`, in the order in which
/// they stand there.
///
/// A sentence scores the sum of the weights of the question's words that it has, in any form; a
/// word weighs the more the fewer sentences have it (`ln(1 + n / n_with)`), and long sentences
/// weigh a little less. Ties go to the sentence that stands first.
pub(super) fn best_sentences<'a>(
    passages: &'a [NumberedPassage],
    question: &str,
    count: usize,
) -> Vec<Quote<'a>> {
    let forms = Forms::of(question);
    let mut candidates: Vec<Candidate<'a>> = Vec::new();
    let mut sentences: usize = 0;
    let all = passages.iter().enumerate().flat_map(|(position, passage)| {
        let lines = passage.text.lines();
        lines.flat_map(str::unicode_sentences).map(move |sentence| (position, passage, sentence))
    });
    for (position, passage, sentence) in all.take(SENTENCES_MAX) {
        let words = sentence.unicode_words().count();
        let matched = forms.found_in(sentence);
        sentences += 1;
        // A heading is no answer.
        if !matched.is_empty() && words > 2 {
            let quote = Quote { number: passage.number, sentence };
            candidates.push(Candidate { quote, matched, passage: position, words });
        }
    }
    let weights = weights(&candidates, forms.0.len(), sentences);
    let mut scored: Vec<(f64, Candidate<'a>)> =
        candidates.into_iter().map(|candidate| (score(&candidate, &weights), candidate)).collect();
    // Stable: equals stay in order.
    scored.sort_by(|a, b| b.0.total_cmp(&a.0));
    let least = scored.first().map_or(0.0, |(best, _)| best * SHARE_MIN);
    let mut seen = HashSet::new();
    scored.retain(|(score, candidate)| {
        *score >= least && seen.insert(candidate.quote.sentence.trim())
    });
    scored.truncate(count);
    let mut quotes: Vec<Candidate<'a>> = scored.into_iter().map(|(_, quote)| quote).collect();
    quotes.sort_by_key(|candidate| (candidate.passage, candidate.quote.sentence.as_ptr().addr()));
    quotes.into_iter().map(|candidate| candidate.quote).collect()
}

fn weights(candidates: &[Candidate<'_>], words: usize, sentences: usize) -> Vec<f64> {
    let mut having = vec![0_u32; words];
    for matched in candidates.iter().flat_map(|candidate| &candidate.matched) {
        having[*matched] += 1;
    }
    let total = float(sentences);
    having.into_iter().map(|having| (1.0 + total / f64::from(having.max(1))).ln()).collect()
}

fn score(candidate: &Candidate<'_>, weights: &[f64]) -> f64 {
    let sum: f64 = candidate.matched.iter().map(|word| weights[*word]).sum();
    let rank = i32::try_from(candidate.passage).unwrap_or(i32::MAX);
    sum * RANK_DECAY.powi(rank) / (10.0 + float(candidate.words)).ln()
}

fn float(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// The words of a question, in lower case, without the function words of English unless there is
/// nothing else.
struct Forms(Vec<String>);

/// Words that say how something is asked, not what.
const FUNCTION_WORDS: &[&str] = &[
    "a", "an", "and", "are", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have",
    "how", "i", "in", "is", "it", "its", "me", "my", "of", "on", "or", "our", "should", "the",
    "this", "that", "to", "was", "we", "what", "when", "where", "which", "who", "why", "will",
    "with", "you", "your",
];

impl Forms {
    fn of(question: &str) -> Self {
        let mut seen = HashSet::new();
        let words: Vec<String> = question
            .unicode_words()
            .map(str::to_lowercase)
            .filter(|word| seen.insert(word.clone()))
            .take(QUESTION_WORDS_MAX)
            .collect();
        let content: Vec<String> =
            words.iter().filter(|word| !FUNCTION_WORDS.contains(&word.as_str())).cloned().collect();
        Self(if content.is_empty() { words } else { content })
    }

    /// Positions of the words that `sentence` has, ascending.
    fn found_in(&self, sentence: &str) -> Vec<usize> {
        let mut found = BTreeSet::new();
        for word in sentence.unicode_words() {
            let word = word.to_lowercase();
            let same = self.0.iter().enumerate().filter(|(_, own)| is_form(own, &word));
            found.extend(same.map(|(position, _)| position));
        }
        found.into_iter().collect()
    }
}

/// Whether two words are the same but for their endings.
fn is_form(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let rest = a.chars().count().max(b.chars().count()) - common;
    common >= STEM_CHARS_MIN && rest <= ENDING_CHARS_MAX
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use trove_domain::passages::NumberedPassage;

    use super::{best_sentences, is_form};

    fn passages(texts: &[&str]) -> Vec<NumberedPassage> {
        let numbered = (1..).zip(texts);
        numbered
            .map(|(number, text)| NumberedPassage { number, text: (*text).to_owned() })
            .collect()
    }

    fn best(texts: &[&str], question: &str) -> Vec<(u32, String)> {
        let passages = passages(texts);
        let quotes = best_sentences(&passages, question, 3);
        quotes.into_iter().map(|quote| (quote.number, quote.sentence.trim().to_owned())).collect()
    }

    #[test]
    fn rare_words_decide() {
        let texts = [
            "Travel is paid by the office. Travel by train is best. Travel needs a form.",
            "Travel abroad needs an insurance. Ask early about it.",
        ];
        let found = best(&texts, "Which insurance does travel need?");
        assert_eq!(found[0].1, "Travel needs a form.");
        assert_eq!(found[1], (2, "Travel abroad needs an insurance.".to_owned()));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn a_sentence_is_quoted_once() {
        let texts = ["Offices close at noon today.", "Offices close at noon today."];
        assert_eq!(best(&texts, "When do offices close?").len(), 1);
    }

    #[test]
    fn questions_of_function_words_have_words_too() {
        assert_eq!(best(&["This is what it is."], "What is it?").len(), 1);
        assert!(best(&["This is what it is."], "").is_empty());
    }

    #[test]
    fn words_have_forms() {
        for (a, b, same) in [
            ("paid", "paid", true),
            ("invoice", "invoices", true),
            ("train", "training", true),
            ("train", "trainings", false),
            ("the", "then", false),
            ("form", "format", true),
        ] {
            assert_eq!(is_form(a, b), same, "{a} {b}");
        }
    }

    proptest! {
        #[test]
        fn quotes_are_of_their_passages(
            texts in prop::collection::vec("[a-z世 .?!\n]{0,60}", 0..5),
            question in "[a-z世 ]{0,20}",
        ) {
            let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
            let passages = passages(&texts);
            let quotes = best_sentences(&passages, &question, 3);
            prop_assert!(quotes.len() <= 3);
            for quote in &quotes {
                let passage = passages.iter().find(|passage| passage.number == quote.number);
                prop_assert!(passage.unwrap().text.contains(quote.sentence));
            }
            prop_assert_eq!(&quotes, &best_sentences(&passages, &question, 3));
        }
    }
}
