//! Which words of a text a query asks for.

use std::collections::HashSet;
use std::ops::Range;

use crate::analyzer::{Analyzer, WordClass};
use crate::profile::Profile;
use crate::query::{QueryTerm, QueryTerms};

/// Where `text` holds a word that `query` asks for, as byte ranges of `text`: at characters, in
/// rising order, apart from each other, none empty.
///
/// Words match as they do in a search, whatever their form, in the language of the text, which has
/// to be among those that the query was read in. Neighbouring characters of a script without
/// spaces are one range. Linear in the text.
#[must_use]
pub fn highlights(query: &QueryTerms, text: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    if query.is_empty() {
        return ranges;
    }
    let (content, function) = (terms_of(&query.content), terms_of(&query.function));
    let mut analyzer = Analyzer::new(Profile::detect(text));
    let mut terms = analyzer.terms(text);
    while terms.advance() {
        let asked = match terms.class() {
            WordClass::Content => &content,
            WordClass::Function => &function,
        };
        if !asked.contains(terms.term()) {
            continue;
        }
        let range = terms.range();
        match ranges.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => ranges.push(range),
        }
    }
    ranges
}

fn terms_of(words: &[QueryTerm]) -> HashSet<&str> {
    words.iter().flat_map(|word| &word.alternatives).map(String::as_str).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::highlights;
    use crate::query::QueryTerms;

    /// `text` with brackets around what `query` asks for.
    fn marked(query: &str, text: &str) -> String {
        let mut marked = text.to_owned();
        for range in highlights(&QueryTerms::of(query), text).into_iter().rev() {
            marked.insert(range.end, ']');
            marked.insert(range.start, '[');
        }
        marked
    }

    #[test]
    fn words_are_marked_whatever_their_form() {
        let check = |query: &str, marked_text: &str| {
            let text = marked_text.replace(['[', ']'], "");
            assert_eq!(marked(query, &text), marked_text, "{query}");
        };
        check("invoice archive", "All [INVOICES], [archived] invoicees.");
        check("what is the zebra", "the [zebra] is what it is");
        check("the who", "[The] band [Who], [the] band");
        check("muller", "Herr [Müller]’s, Frau [Mu\u{308}ller]-Lüdenscheidt");
        check("東京都", "私は[東京都]と[京都]に、東に");
        check("iphone", "[iPhone]手机");
        check("zebra", "");
        check("?!", "nothing?!");
        check("a-b", "x-[b] [B]");
        check("rechnung", "Die [Rechnungen] sind nicht bei der Post, aber die [Rechnung] ist da.");
    }

    proptest! {
        #[test]
        fn ranges_are_apart_and_at_characters(
            query in "[a-c 中国ガ한ที]{0,8}",
            text in "[a-c .中国ガ한ทีß\u{300}ﾞ]{0,40}",
        ) {
            let mut end = 0;
            for range in highlights(&QueryTerms::of(&query), &text) {
                prop_assert!(range.start >= end && range.end > range.start);
                prop_assert!(text.get(range.clone()).is_some());
                end = range.end;
            }
        }
    }
}
