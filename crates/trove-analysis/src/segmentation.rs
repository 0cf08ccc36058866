//! Where a word begins and ends, in any script.

use std::ops::Range;

use unicode_normalization::char::is_combining_mark;

use crate::folding::is_invisible;

/// What a character is to the words around it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A letter or digit of a script with spaces between its words.
    Spaced,
    /// A letter of any other.
    Unspaced,
    /// A word by itself.
    Pictograph,
    /// Belongs to the character before it.
    Mark,
    /// Stands between words.
    Other,
}

fn kind_of(c: char) -> Kind {
    if c.is_ascii() {
        return if c.is_ascii_alphanumeric() { Kind::Spaced } else { Kind::Other };
    }
    match c {
        // Signs of flags come in pairs.
        '\u{1f1e6}'..='\u{1f1ff}' => Kind::Unspaced,
        // Tones of skin.
        '\u{1f3fb}'..='\u{1f3ff}' => Kind::Mark,
        _ if c.is_alphabetic() && is_unspaced(c) => Kind::Unspaced,
        _ if c.is_alphanumeric() => Kind::Spaced,
        _ if is_invisible(c) || is_combining_mark(c) => Kind::Mark,
        '\u{231a}'
        | '\u{231b}'
        | '\u{23e9}'..='\u{23fa}'
        | '\u{2600}'..='\u{27bf}'
        | '\u{2b1b}'
        | '\u{2b1c}'
        | '\u{2b50}'
        | '\u{2b55}'
        | '\u{1f000}'..='\u{1faff}' => Kind::Pictograph,
        _ => Kind::Other,
    }
}

/// Blocks of scripts that are written without spaces, and Korean.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        // Thai, Lao
        '\u{0e00}'..='\u{0eff}'
        // Myanmar, Khmer, Tai Le, New Tai Lue, Tai Tham, Tai Viet
        | '\u{1000}'..='\u{109f}' | '\u{a9e0}'..='\u{a9ff}' | '\u{aa60}'..='\u{aadf}'
        | '\u{1780}'..='\u{17ff}' | '\u{1950}'..='\u{19df}' | '\u{1a20}'..='\u{1aaf}'
        // Hangul
        | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{ac00}'..='\u{d7ff}'
        // Kana, Bopomofo and what they share with Han; half-width forms
        | '\u{2e80}'..='\u{31ff}' | '\u{ff66}'..='\u{ffdc}' | '\u{1aff0}'..='\u{1b16f}'
        // Han
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
}

/// The first run of one kind in `text` from `start` on.
pub(crate) fn next_run(text: &str, start: usize) -> Option<(Kind, Range<usize>)> {
    let mut characters = text[start..].char_indices();
    let (kind, from) = characters.find_map(|(offset, c)| match kind_of(c) {
        Kind::Mark | Kind::Other => None,
        kind => Some((kind, start + offset)),
    })?;
    let end = characters
        .find(|(_, c)| match kind_of(*c) {
            Kind::Mark => false,
            // Each is a word of its own.
            Kind::Pictograph => true,
            other => other != kind,
        })
        .map_or(text.len(), |(offset, _)| start + offset);
    Some((kind, from..end))
}
