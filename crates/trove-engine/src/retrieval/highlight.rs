//! Where the words of a query are in a text.

use std::ops::Range;

use trove_analysis::{QueryTerms, highlights};

/// Most fragments of one text.
const FRAGMENTS_MAX: usize = 4;
/// Characters from the first match of a fragment to where its last one may begin.
const FRAGMENT_CHARS: usize = 120;
/// Characters before the first match and after the last one.
const MARGIN_CHARS: usize = 40;

/// Marks the words of one or several queries.
#[derive(Clone, Debug, Default)]
pub struct Highlighter(Vec<QueryTerms>);

impl Highlighter {
    /// Marks words of any of `queries`.
    #[must_use]
    pub fn of(queries: &[String]) -> Self {
        Self(queries.iter().map(|query| QueryTerms::of(query)).collect())
    }

    /// Fragments of `text` that hold words of the queries, each wrapped in `<hi>` and `</hi>`; in
    /// the order of the text, at most four of about two hundred characters.
    #[must_use]
    pub fn highlights(&self, text: &str) -> Vec<String> {
        let mut matches: Vec<Range<usize>> =
            self.0.iter().flat_map(|query| highlights(query, text)).collect();
        matches.sort_unstable_by_key(|range| (range.start, range.end));
        matches.dedup_by(|next, kept| {
            let overlaps = next.start <= kept.end;
            if overlaps {
                kept.end = kept.end.max(next.end);
            }
            overlaps
        });
        let mut rest = matches.as_slice();
        let mut fragments = Vec::new();
        let mut shown_until = 0;
        while let Some(first) = rest.first()
            && fragments.len() < FRAGMENTS_MAX
        {
            let reach = forward(text, first.start, FRAGMENT_CHARS);
            let (inside, after) = rest.split_at(rest.partition_point(|range| range.start < reach));
            rest = after;
            let last = inside.last().unwrap_or(first);
            let start = word_start(text, back(text, first.start, MARGIN_CHARS), first.start);
            let start = start.max(shown_until);
            let end = word_end(text, last.end, forward(text, last.end, MARGIN_CHARS));
            let end = rest.first().map_or(end, |next| end.min(next.start));
            fragments.push(marked(text, start..end, inside));
            shown_until = end;
        }
        fragments
    }
}

fn marked(text: &str, fragment: Range<usize>, matches: &[Range<usize>]) -> String {
    let mut marked = String::with_capacity(fragment.len() + matches.len() * 9);
    let mut at = fragment.start;
    for range in matches {
        marked.push_str(&text[at..range.start]);
        marked.push_str("<hi>");
        marked.push_str(&text[range.clone()]);
        marked.push_str("</hi>");
        at = range.end;
    }
    marked.push_str(&text[at..fragment.end]);
    marked.trim().to_owned()
}

/// Where `chars` characters after `from` end.
fn forward(text: &str, from: usize, chars: usize) -> usize {
    text[from..].char_indices().nth(chars).map_or(text.len(), |(offset, _)| from + offset)
}

/// Where `chars` characters before `from` begin.
fn back(text: &str, from: usize, chars: usize) -> usize {
    text[..from].char_indices().rev().take(chars).last().map_or(from, |(at, _)| at)
}

/// The first position after a blank from `start` on; `start` itself at the beginning of the text or
/// when there is no blank before `before`.
fn word_start(text: &str, start: usize, before: usize) -> usize {
    if start == 0 {
        return 0;
    }
    let blank = text[start..before].char_indices().find(|(_, c)| c.is_whitespace());
    blank.map_or(start, |(offset, c)| start + offset + c.len_utf8())
}

/// The last position before a blank up to `end`; `end` itself at the end of the text or when there
/// is no blank after `after`.
fn word_end(text: &str, after: usize, end: usize) -> usize {
    if end == text.len() {
        return end;
    }
    text[after..end].rfind(char::is_whitespace).map_or(end, |offset| after + offset)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{FRAGMENTS_MAX, Highlighter};

    fn fragments(queries: &[&str], text: &str) -> Vec<String> {
        let queries: Vec<String> = queries.iter().map(|&query| query.to_owned()).collect();
        Highlighter::of(&queries).highlights(text)
    }

    #[test]
    fn words_are_marked_whatever_their_form() {
        let text = "Keys are rotated every ninety days.";
        assert_eq!(
            fragments(&["key rotation"], text),
            ["<hi>Keys</hi> are <hi>rotated</hi> every ninety days."]
        );
        assert_eq!(
            fragments(&["keys", "ninety KEY"], text),
            ["<hi>Keys</hi> are rotated every <hi>ninety</hi> days."]
        );
        assert!(fragments(&["absent"], text).is_empty());
        assert!(fragments(&[""], text).is_empty());
        assert!(fragments(&["key"], "").is_empty());
    }

    #[test]
    fn distant_words_are_fragments_of_their_own() {
        let filler = "lorem ipsum dolor sit amet ".repeat(20);
        let text = format!("{filler}a disk {filler}and disks {filler}");
        let found = fragments(&["disk"], &text);
        assert_eq!(found.len(), 2);
        assert!(found[0].contains("a <hi>disk</hi> lorem"), "{found:?}");
        assert!(found[1].contains("and <hi>disks</hi> lorem"), "{found:?}");
        assert!(found.iter().all(|fragment| fragment.chars().count() < 220), "{found:?}");
        let many = format!("disk {filler}").repeat(9);
        assert_eq!(fragments(&["disk"], &many).len(), FRAGMENTS_MAX);
    }

    proptest! {
        #[test]
        fn fragments_are_parts_of_the_text_in_its_order(
            words in proptest::collection::vec("(disk|über|中国|x{1,60}| |\n|🎉)", 0..60)
        ) {
            let text = words.join(" ");
            let mut rest = text.as_str();
            for fragment in fragments(&["disk", "über 中国"], &text) {
                let plain = fragment.replace("<hi>", "").replace("</hi>", "");
                let at = rest.find(&plain);
                prop_assert!(at.is_some(), "{} in {}", plain, rest);
                rest = &rest[at.unwrap_or(0) + plain.len()..];
            }
        }
    }
}
