//! Forms of a word that count as the same.

use std::borrow::Cow;

use frostem::Stemmer;

use crate::folding::fold_latin;
use crate::language::Language;

/// Stems the words of one language to terms.
///
/// The term of a language that is not the default one of its script begins with the code of the
/// language: the same letters in another language are another word.
#[derive(Clone, Copy)]
pub(crate) struct Stems {
    stemmer: Option<Stemmer>,
    needs_accents: bool,
    /// What its terms begin with.
    prefix: Option<&'static str>,
    language: Option<Language>,
}

impl Stems {
    /// Of words that no language is known for.
    pub(crate) const NONE: Self =
        Self { stemmer: None, needs_accents: false, prefix: None, language: None };

    pub(crate) fn of(language: Language) -> Self {
        Self {
            stemmer: language.algorithm().map(Stemmer::new),
            needs_accents: language.needs_accents(),
            prefix: (!language.is_default()).then(|| language.code()),
            language: Some(language),
        }
    }

    /// Makes `word`, which is folded, the term by which a text is found; `buffer` is for scratch.
    pub(crate) fn term(&self, word: &mut String, buffer: &mut String) {
        if self.needs_accents {
            self.stem(word, buffer);
            to_ascii(word, buffer);
        } else {
            to_ascii(word, buffer);
            self.stem(word, buffer);
        }
        self.mark(word);
    }

    /// The same of a function word, which has one form.
    pub(crate) fn function_term(&self, word: &mut String, buffer: &mut String) {
        to_ascii(word, buffer);
        self.mark(word);
    }

    fn mark(&self, term: &mut String) {
        if let Some(prefix) = self.prefix {
            term.insert(0, ':');
            term.insert_str(0, prefix);
        }
    }

    /// The terms by which texts hold `word`, which is folded, each once. Several where accents
    /// matter for the stem: they may be left out in the text as well as in the query.
    pub(crate) fn alternatives(&self, word: &str) -> Vec<String> {
        let mut buffer = String::new();
        let mut terms: Vec<String> = Vec::with_capacity(1);
        let mut add = |form: &str| {
            let mut term = form.to_owned();
            self.term(&mut term, &mut buffer);
            if !terms.contains(&term) {
                terms.push(term);
            }
        };
        add(word);
        if self.needs_accents {
            let mut plain = String::new();
            fold_latin(word, &mut plain);
            add(&plain);
            if plain == word {
                for (ending, accented) in self.language.map_or(&[][..], accented_endings) {
                    if let Some(beginning) = plain.strip_suffix(ending)
                        && beginning.len() >= 2
                    {
                        add(&format!("{beginning}{accented}"));
                    }
                }
            }
        }
        terms
    }

    fn stem(&self, word: &mut String, buffer: &mut String) {
        let Some(stemmer) = &self.stemmer else { return };
        match stemmer.stem(word) {
            Cow::Owned(stem) if stem.is_empty() => {}
            Cow::Owned(stem) => *word = stem,
            Cow::Borrowed(stem) if stem.is_empty() || stem.len() == word.len() => {}
            Cow::Borrowed(stem) => {
                buffer.clear();
                buffer.push_str(stem);
                std::mem::swap(word, buffer);
            }
        }
    }
}

fn to_ascii(word: &mut String, buffer: &mut String) {
    if !word.is_ascii() {
        buffer.clear();
        fold_latin(word, buffer);
        std::mem::swap(word, buffer);
    }
}

/// Endings that stemmers know with accents only, as they are typed without.
fn accented_endings(language: Language) -> &'static [(&'static str, &'static str)] {
    match language {
        Language::French => &[("e", "é"), ("ee", "ée"), ("es", "és"), ("ees", "ées")],
        Language::Spanish => &[("cion", "ción"), ("sion", "sión"), ("ia", "ía"), ("ias", "ías")],
        Language::Italian => &[("ita", "ità")],
        Language::Portuguese => &[
            ("cao", "ção"),
            ("coes", "ções"),
            ("sao", "são"),
            ("soes", "sões"),
            ("encia", "ência"),
            ("ancia", "ância"),
            ("avel", "ável"),
            ("ivel", "ível"),
        ],
        Language::Catalan => &[("cio", "ció"), ("sio", "sió")],
        Language::Romanian => &[("tie", "ție"), ("tii", "ții"), ("tia", "ția"), ("a", "ă")],
        Language::Hungarian => &[
            ("bol", "ból"),
            ("bol", "ből"),
            ("rol", "ról"),
            ("rol", "ről"),
            ("tol", "tól"),
            ("tol", "től"),
        ],
        Language::Turkish => &[("lari", "ları"), ("larin", "ların"), ("in", "ın"), ("i", "ı")],
        Language::Polish => &[("ow", "ów"), ("a", "ą"), ("e", "ę"), ("sc", "ść")],
        Language::Czech => &[("i", "í"), ("a", "á"), ("e", "é"), ("u", "ů"), ("y", "ý")],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Stems;
    use crate::folding::fold;
    use crate::language::Language;

    fn term(language: Language, word: &str) -> String {
        let (mut term, mut buffer) = (String::new(), String::new());
        fold(word, &mut term);
        Stems::of(language).term(&mut term, &mut buffer);
        term
    }

    fn finds(language: Language, asked: &str, written: &str) -> bool {
        let mut word = String::new();
        fold(asked, &mut word);
        Stems::of(language).alternatives(&word).contains(&term(language, written))
    }

    #[test]
    fn inflected_words_are_one_term() {
        use Language as L;
        for (language, one, other) in [
            (L::English, "invoices", "invoicing"),
            (L::German, "Rechnungen", "Rechnung"),
            (L::German, "Häuser", "haus"),
            (L::French, "factures", "facture"),
            (L::Spanish, "facturaciones", "facturación"),
            (L::Italian, "fatture", "fattura"),
            (L::Portuguese, "configurações", "configuração"),
            (L::Dutch, "rekeningen", "rekening"),
            (L::Danish, "regninger", "regning"),
            (L::Norwegian, "filer", "filene"),
            (L::Swedish, "fakturor", "fakturorna"),
            (L::Finnish, "tiedostossa", "tiedoston"),
            (L::Hungarian, "fájlok", "fájlból"),
            (L::Romanian, "facturile", "facturi"),
            (L::Turkish, "dosyaları", "dosya"),
            (L::Polish, "plików", "pliki"),
            (L::Czech, "souborů", "soubory"),
            (L::Catalan, "fitxers", "fitxer"),
            (L::Indonesian, "makanan", "makan"),
            (L::Russian, "файлов", "файлы"),
            (L::Greek, "αρχεία", "αρχείων"),
            (L::Arabic, "الملف", "ملف"),
            (L::Hindi, "फाइलें", "फाइल"),
        ] {
            assert_eq!(term(language, one), term(language, other), "{language:?} {one} {other}");
        }
    }

    #[test]
    fn accents_may_be_left_out() {
        use Language as L;
        for (language, asked, written) in [
            (L::Spanish, "facturacion", "facturaciones"),
            (L::Spanish, "facturación", "facturacion"),
            (L::Portuguese, "configuracao", "configurações"),
            (L::German, "Haeuser", "Haeuser"),
            (L::French, "envoye", "envoyées"),
            (L::Italian, "citta", "città"),
            (L::Turkish, "dosyalari", "dosyaları"),
            (L::Polish, "plikow", "plików"),
        ] {
            assert!(finds(language, asked, written), "{language:?} {asked} {written}");
        }
    }

    #[test]
    fn the_same_letters_in_another_language_are_another_word() {
        assert_eq!(term(Language::English, "die"), "die");
        assert_eq!(term(Language::German, "die"), "de:die");
        assert_eq!(term(Language::Russian, "файлы"), "файл");
        assert!(term(Language::Ukrainian, "файли").starts_with("uk:"));
    }

    proptest! {
        /// A text is found by its own words.
        #[test]
        fn a_word_finds_itself(
            word in "[a-zäöüßéèçñãőșłżěůığ]{1,20}",
            language in proptest::sample::select(Language::ALL),
        ) {
            prop_assert!(finds(language, &word, &word));
        }

        #[test]
        fn any_word_has_a_term(
            word in "\\PC{1,20}",
            language in proptest::sample::select(Language::ALL),
        ) {
            prop_assert!(finds(language, &word, &word));
        }
    }
}
