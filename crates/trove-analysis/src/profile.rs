//! Which language a text takes the words of each script from.

use std::collections::HashSet;

use crate::folding::{fold, fold_latin};
use crate::function_words;
use crate::language::{Language, LanguageSet, Script};
use crate::segmentation::{Kind, next_run};

/// Bytes from the beginning of a text that tell its language.
const SAMPLE_BYTES: usize = 1024;

/// Different function words of a language that a text needs to count as written in it.
const EVIDENCE_MIN: usize = 2;

/// Shortest function word that counts: single letters are all over formulas and code.
const EVIDENCE_BYTES_MIN: usize = 2;

/// Words of a script that a text has for each function word that counts, at most.
const WORDS_PER_EVIDENCE_MAX: usize = 25;

/// The language that a text takes the words of each script from: a Russian page about software has
/// Russian words in Cyrillic letters and English ones in Latin letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Profile {
    /// By place in [`Script::SHARED`].
    languages: [Language; Script::SHARED.len()],
}

impl Default for Profile {
    /// The default language of each script: English, Russian, Arabic, Hindi.
    fn default() -> Self {
        let of = |script: Script| script.default_language().unwrap_or(Language::English);
        Self { languages: Script::SHARED.map(of) }
    }
}

impl Profile {
    /// What the function words in the beginning of `text` tell. Where they tell too little, the
    /// default language of a script stands.
    #[must_use]
    pub fn detect(text: &str) -> Self {
        Self::detect_among(text, &[])
    }

    /// The same for a text that is known to be in one of `languages`: of a script that any of them
    /// uses no other counts, and the first of them stands where the text tells too little.
    #[must_use]
    pub fn detect_among(text: &str, languages: &[Language]) -> Self {
        let sample = &text[..text.floor_char_boundary(SAMPLE_BYTES)];
        let mut seen: HashSet<&str> = HashSet::new();
        let mut found = [0usize; Language::COUNT];
        let mut words = [0usize; Script::SHARED.len()];
        let (mut at, mut folded, mut ascii) = (0, String::new(), String::new());
        while let Some((kind, range)) = next_run(sample, at) {
            at = range.end;
            if kind != Kind::Spaced {
                continue;
            }
            folded.clear();
            fold(&sample[range], &mut folded);
            if let Some(script) = Script::of(&folded).shared() {
                words[script] += 1;
            }
            if folded.len() < EVIDENCE_BYTES_MIN {
                continue;
            }
            let word = if folded.is_ascii() {
                &folded
            } else {
                ascii.clear();
                fold_latin(&folded, &mut ascii);
                &ascii
            };
            if let Some((word, languages)) = function_words::find(word)
                && seen.insert(word)
            {
                for number in languages.numbers() {
                    found[number] += 1;
                }
            }
        }
        let found = |language: Language| found[language.number()];
        let mut profile = Self::default();
        let scripts = Script::SHARED.iter().zip(words);
        for ((script, words), chosen) in scripts.zip(&mut profile.languages) {
            let mut known = languages.iter().filter(|language| language.script() == *script);
            let any = match known.next() {
                Some(first) => {
                    *chosen = *first;
                    false
                }
                None => true,
            };
            let candidates = Language::ALL.iter().filter(|language| {
                language.script() == *script && (any || languages.contains(language))
            });
            for candidate in candidates {
                // At equal evidence the default stands, and after it the earlier in the list.
                let evidence = found(*candidate);
                if evidence >= EVIDENCE_MIN
                    && evidence * WORDS_PER_EVIDENCE_MAX >= words
                    && evidence > found(*chosen)
                {
                    *chosen = *candidate;
                }
            }
        }
        profile
    }

    /// The language of words of `script`; `None` when no language of it is known.
    pub(crate) fn language(&self, script: Script) -> Option<Language> {
        match script.shared() {
            Some(at) => Some(self.languages[at]),
            None => script.default_language(),
        }
    }

    /// The languages that are not the default ones of their scripts: those that a query must know
    /// of to find the text.
    #[must_use]
    pub fn special_languages(&self) -> LanguageSet {
        self.languages.iter().copied().filter(|language| !language.is_default()).collect()
    }
}

impl FromIterator<Language> for Profile {
    /// Of the languages of one script the last one counts; for scripts without any the default.
    fn from_iter<I: IntoIterator<Item = Language>>(languages: I) -> Self {
        let mut profile = Self::default();
        for language in languages {
            for (script, chosen) in Script::SHARED.iter().zip(&mut profile.languages) {
                if language.script() == *script {
                    *chosen = language;
                }
            }
        }
        profile
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Profile;
    use crate::language::Language;

    fn special(text: &str) -> Vec<&'static str> {
        Profile::detect(text).special_languages().iter().map(Language::code).collect()
    }

    #[test]
    fn function_words_tell_the_language() {
        for (text, expected) in [
            ("The invoice is sent to the customer before it is due.", vec![]),
            ("Die Rechnung wird vor dem Termin an den Kunden geschickt.", vec!["de"]),
            ("La facture est envoyée au client avant la date et par courrier.", vec!["fr"]),
            ("La factura se envía al cliente antes de la fecha, por correo.", vec!["es"]),
            ("A fatura é enviada ao cliente antes da data, não pelo correio.", vec!["pt"]),
            (
                "De factuur wordt voor de vervaldatum naar de klant gestuurd, niet per post.",
                vec!["nl"],
            ),
            ("Faktura jest wysyłana do klienta przed terminem, ale nie pocztą.", vec!["pl"]),
            ("Рахунок надсилають клієнту до терміну, але не поштою, якщо це можна.", vec!["uk"]),
            ("Счёт отправляют клиенту до срока, но не почтой.", vec![]),
            ("این فاکتور برای مشتری است و باید از شرکت ارسال شود.", vec!["fa"]),
            // Names, numbers and code tell nothing.
            ("Müller GmbH, Hauptstraße 5, 10115 Berlin", vec![]),
            ("die() if (was) { am: so }", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(special(text), expected, "{text}");
        }
    }

    #[test]
    fn only_languages_that_are_used_are_detected() {
        let among = |text: &str, languages: &[Language]| -> Vec<&str> {
            let profile = Profile::detect_among(text, languages);
            profile.special_languages().iter().map(Language::code).collect()
        };
        let german = "Die Rechnung wird vor dem Termin an den Kunden geschickt.";
        assert!(among(german, &[Language::English, Language::French]).is_empty());
        assert_eq!(among(german, &[Language::English, Language::German]), ["de"]);
        assert_eq!(among("Müller GmbH", &[Language::German, Language::English]), ["de"]);
        assert_eq!(among("The invoice is there.", &[Language::German, Language::English]).len(), 0);
        assert_eq!(among("Müller GmbH", &[Language::Ukrainian]), ["uk"]);
    }

    #[test]
    fn scripts_are_told_apart() {
        let text = "Die Rechnung wird vor dem Termin geschickt. Рахунок надсилають до терміну, \
                    але не поштою, якщо це можна.";
        assert_eq!(special(text), ["de", "uk"]);
    }

    #[test]
    fn a_profile_can_be_given() {
        let profile: Profile = [Language::German, Language::Ukrainian].into_iter().collect();
        assert_eq!(
            profile.special_languages().iter().collect::<Vec<_>>(),
            [Language::German, Language::Ukrainian]
        );
        assert_eq!(Profile::from_iter([Language::English]), Profile::default());
    }

    proptest! {
        #[test]
        fn any_text_has_a_profile(text in any::<String>()) {
            prop_assert_eq!(Profile::detect(&text), Profile::detect(&text));
        }
    }
}
