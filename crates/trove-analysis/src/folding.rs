//! What of a word's spelling does not matter.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::decompose_canonical;

/// Appends `source` without what makes no difference: case, compatibility forms (NFKC: full width,
/// ligatures), accents on Greek, vowel points and invisible characters. Latin letters keep their
/// accents, see [`fold_latin`].
pub(crate) fn fold(source: &str, into: &mut String) {
    if source.is_ascii() {
        let start = into.len();
        into.push_str(source);
        into[start..].make_ascii_lowercase();
        return;
    }
    for c in source.nfkc().flat_map(char::to_lowercase) {
        match c {
            'ς' => into.push('σ'),
            'ё' => into.push('е'),
            // Accents and breathings of Greek.
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => into.push(base_of(c)),
            // Accents that no letter took, vowel points of Hebrew and Arabic, a stretched line,
            // how to draw the sign before.
            '\u{300}'..='\u{36f}'
            | '\u{591}'..='\u{5c7}'
            | '\u{640}'
            | '\u{64b}'..='\u{65f}'
            | '\u{670}'
            | '\u{20d0}'..='\u{20ff}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{e0100}'..='\u{e01ef}'
            | '\u{1f3fb}'..='\u{1f3ff}' => {}
            _ if is_invisible(c) => {}
            _ => into.push(c),
        }
    }
}

/// Appends `word`, which is folded already, with ASCII letters in place of all Latin ones that have
/// any: accents go, ligatures and letters of their own are written out.
pub(crate) fn fold_latin(word: &str, into: &mut String) {
    for c in word.chars() {
        match c {
            _ if c.is_ascii() => into.push(c),
            'æ' | 'ǣ' | 'ǽ' => into.push_str("ae"),
            'œ' => into.push_str("oe"),
            'ß' => into.push_str("ss"),
            'þ' => into.push_str("th"),
            'ə' => into.push('a'),
            'ƀ' | 'ɓ' => into.push('b'),
            'ƈ' => into.push('c'),
            'đ' | 'ð' | 'ɖ' | 'ɗ' => into.push('d'),
            'ǝ' | 'ɛ' => into.push('e'),
            'ƒ' => into.push('f'),
            'ǥ' | 'ɠ' => into.push('g'),
            'ħ' => into.push('h'),
            'ı' | 'ɨ' => into.push('i'),
            'ƙ' => into.push('k'),
            'ł' | 'ƚ' => into.push('l'),
            'ŋ' | 'ɲ' => into.push('n'),
            'ø' | 'ǿ' | 'ɔ' | 'ɵ' => into.push('o'),
            'ƥ' => into.push('p'),
            'ĸ' => into.push('q'),
            'ŧ' | 'ƭ' => into.push('t'),
            'ʉ' => into.push('u'),
            'ʋ' => into.push('v'),
            'ƴ' => into.push('y'),
            'ƶ' => into.push('z'),
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => into.push(base_of(c)),
            _ => into.push(c),
        }
    }
}

/// The letter below the accents.
fn base_of(c: char) -> char {
    let mut base = None;
    decompose_canonical(c, |part| {
        base.get_or_insert(part);
    });
    base.unwrap_or(c)
}

/// Hyphens that show only at the end of a line, joiners, and the like.
pub(crate) fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200c}' | '\u{200d}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::{fold, fold_latin};

    fn folded(text: &str) -> String {
        let mut folded = String::new();
        fold(text, &mut folded);
        folded
    }

    #[test]
    fn spelling_that_makes_no_difference_is_dropped() {
        let check = |one: &str, other: &str| assert_eq!(folded(one), folded(other), "{one}");
        check("GRÜSSE mu\u{308}de", "grüsse MÜDE");
        check("İstanbul", "istanbul");
        check("ΟΔΟΣ Άλφα ἀρχή", "οδος αλφα αρχη");
        check("МОСКВА", "москва");
        check("ＡＢＣ１２３ ﬁle", "abc123 file");
        check("ｶﾞﾗｽ", "ガラス");
        check("한국", "한국");
        check("שָׁלוֹם مُحَمَّد", "שלום محمد");
        check("docu\u{ad}ment می\u{200c}خواهم", "document میخواهم");
        check("❤\u{fe0f} 👍🏽", "❤ 👍");
        check("1\u{fe0f}\u{20e3}", "1");
    }

    #[test]
    fn latin_letters_become_ascii() {
        let check = |text: &str, expected: &str| {
            let (mut word, mut ascii) = (String::new(), String::new());
            fold(text, &mut word);
            fold_latin(&word, &mut ascii);
            assert_eq!(ascii, expected, "{text}");
        };
        check("Ærøskøbing", "aeroskobing");
        check("Straße ẞ", "strasse ss");
        check("Łódź Đặng Ğüneş ışık", "lodz dang gunes isik");
        check("þórður Œuvre", "thordur oeuvre");
        check("İzmir fiancé(e) ǅ", "izmir fiance(e) dz");
        check("Москва ñandú 東京 αβγ", "москва nandu 東京 αβγ");
    }

    #[test]
    fn letters_that_differ_stay_different() {
        let check = |one: &str, other: &str| assert_ne!(folded(one), folded(other), "{one}");
        check("мой", "мои");
        check("ガラス", "カラス");
    }
}
