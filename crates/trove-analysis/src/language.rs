//! The languages whose words are known in more than one form.

use frostem::Algorithm;

macro_rules! languages {
    ($($name:ident $code:literal $script:ident $algorithm:expr,)*) => {
        /// A language whose function words are known, and mostly how its words are inflected.
        ///
        /// Others are written with the words of the default language of their script: their words
        /// are found in the form in which they are written.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Language {
            $($name,)*
        }

        impl Language {
            /// All of them.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The code of ISO 639-1.
            #[must_use]
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }

            /// The script that it is written in.
            pub(crate) fn script(self) -> Script {
                match self {
                    $(Self::$name => Script::$script,)*
                }
            }

            pub(crate) fn algorithm(self) -> Option<Algorithm> {
                match self {
                    $(Self::$name => $algorithm,)*
                }
            }

        }
    };
}

languages! {
    English "en" Latin Some(Algorithm::English),
    German "de" Latin Some(Algorithm::German),
    French "fr" Latin Some(Algorithm::French),
    Spanish "es" Latin Some(Algorithm::Spanish),
    Italian "it" Latin Some(Algorithm::Italian),
    Portuguese "pt" Latin Some(Algorithm::Portuguese),
    Dutch "nl" Latin Some(Algorithm::Dutch),
    Danish "da" Latin Some(Algorithm::Danish),
    Norwegian "no" Latin Some(Algorithm::Norwegian),
    Swedish "sv" Latin Some(Algorithm::Swedish),
    Finnish "fi" Latin Some(Algorithm::Finnish),
    Hungarian "hu" Latin Some(Algorithm::Hungarian),
    Romanian "ro" Latin Some(Algorithm::Romanian),
    Turkish "tr" Latin Some(Algorithm::Turkish),
    Polish "pl" Latin Some(Algorithm::Polish),
    Czech "cs" Latin Some(Algorithm::Czech),
    Catalan "ca" Latin Some(Algorithm::Catalan),
    Indonesian "id" Latin Some(Algorithm::Indonesian),
    Russian "ru" Cyrillic Some(Algorithm::Russian),
    Ukrainian "uk" Cyrillic None,
    Bulgarian "bg" Cyrillic None,
    Greek "el" Greek Some(Algorithm::Greek),
    Arabic "ar" Arabic Some(Algorithm::Arabic),
    Persian "fa" Arabic Some(Algorithm::Persian),
    Hindi "hi" Devanagari Some(Algorithm::Hindi),
    Nepali "ne" Devanagari Some(Algorithm::Nepali),
    Tamil "ta" Tamil Some(Algorithm::Tamil),
}

impl Language {
    /// How many there are.
    pub(crate) const COUNT: usize = Self::ALL.len();

    /// Its place in [`Self::ALL`].
    pub(crate) fn number(self) -> usize {
        Self::ALL.iter().position(|other| *other == self).unwrap_or(0)
    }

    /// The language with this code of ISO 639-1.
    #[must_use]
    pub fn from_code(code: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|language| language.code() == code)
    }

    /// Whether words of its script are taken for its own when nothing tells of another.
    pub(crate) fn is_default(self) -> bool {
        self.script().default_language() == Some(self)
    }

    /// Whether its stems depend on accents, which not everybody types.
    pub(crate) fn needs_accents(self) -> bool {
        matches!(
            self,
            Self::French
                | Self::Spanish
                | Self::Italian
                | Self::Portuguese
                | Self::Hungarian
                | Self::Romanian
                | Self::Turkish
                | Self::Polish
                | Self::Czech
                | Self::Catalan
        )
    }
}

/// Scripts as far as they tell languages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Script {
    Latin,
    Cyrillic,
    Greek,
    Arabic,
    Devanagari,
    Tamil,
    Other,
}

impl Script {
    /// The scripts of the known languages, those of most words first.
    pub(crate) const KNOWN: [Self; 6] =
        [Self::Latin, Self::Cyrillic, Self::Greek, Self::Arabic, Self::Devanagari, Self::Tamil];

    /// The scripts of more than one language.
    pub(crate) const SHARED: [Self; 4] =
        [Self::Latin, Self::Cyrillic, Self::Arabic, Self::Devanagari];

    /// Its place in [`Self::SHARED`].
    pub(crate) fn shared(self) -> Option<usize> {
        Self::SHARED.iter().position(|script| *script == self)
    }

    /// The script of a word: that of its first letter that tells.
    pub(crate) fn of(word: &str) -> Self {
        // Digits are in all scripts; what they stand among decides.
        word.chars().find_map(Self::of_letter).unwrap_or(Self::Latin)
    }

    fn of_letter(c: char) -> Option<Self> {
        match c {
            'a'..='z' | 'A'..='Z' => Some(Self::Latin),
            _ if !c.is_alphabetic() => None,
            '\u{c0}'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Some(Self::Latin),
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Self::Greek),
            '\u{400}'..='\u{52f}' => Some(Self::Cyrillic),
            '\u{600}'..='\u{6ff}' | '\u{750}'..='\u{77f}' => Some(Self::Arabic),
            '\u{900}'..='\u{97f}' => Some(Self::Devanagari),
            '\u{b80}'..='\u{bff}' => Some(Self::Tamil),
            _ => Some(Self::Other),
        }
    }

    /// What words of the script are taken for when nothing tells of another language.
    pub(crate) fn default_language(self) -> Option<Language> {
        match self {
            Self::Latin => Some(Language::English),
            Self::Cyrillic => Some(Language::Russian),
            Self::Greek => Some(Language::Greek),
            Self::Arabic => Some(Language::Arabic),
            Self::Devanagari => Some(Language::Hindi),
            Self::Tamil => Some(Language::Tamil),
            Self::Other => None,
        }
    }
}

/// A set of languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LanguageSet(u32);

impl LanguageSet {
    /// None of them.
    pub const EMPTY: Self = Self(0);

    /// All of them.
    #[must_use]
    pub fn all() -> Self {
        Language::ALL.iter().copied().collect()
    }

    /// Whether it has no members.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Whether `language` is a member.
    #[must_use]
    pub fn contains(self, language: Language) -> bool {
        self.0 & (1 << language.number()) != 0
    }

    /// Makes `language` a member.
    pub fn insert(&mut self, language: Language) {
        self.0 |= 1 << language.number();
    }

    /// The members of both.
    #[must_use]
    pub fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether they share a member.
    #[must_use]
    pub(crate) fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The places of its members in [`Language::ALL`].
    pub(crate) fn numbers(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let bit = rest.trailing_zeros();
            // The lowest bit goes; of zero nothing is left to take.
            rest &= rest.checked_sub(1)?;
            usize::try_from(bit).ok()
        })
    }

    /// Its members.
    pub fn iter(self) -> impl Iterator<Item = Language> {
        Language::ALL.iter().copied().filter(move |language| self.contains(*language))
    }
}

impl FromIterator<Language> for LanguageSet {
    fn from_iter<I: IntoIterator<Item = Language>>(languages: I) -> Self {
        let mut set = Self::EMPTY;
        for language in languages {
            set.insert(language);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::{Language, LanguageSet, Script};

    #[test]
    fn languages_are_known_by_their_codes() {
        for language in Language::ALL {
            assert_eq!(Language::from_code(language.code()), Some(*language));
            assert_eq!(LanguageSet::from_iter([*language]).iter().collect::<Vec<_>>(), [*language]);
        }
        assert_eq!(Language::from_code("xx"), None);
        assert_eq!(LanguageSet::all().iter().count(), Language::ALL.len());
        assert!(LanguageSet::EMPTY.is_empty());
    }

    #[test]
    fn a_word_tells_its_script() {
        for (word, script) in [
            ("word", Script::Latin),
            ("élan", Script::Latin),
            ("42", Script::Latin),
            ("3д", Script::Cyrillic),
            ("слово", Script::Cyrillic),
            ("λέξη", Script::Greek),
            ("كلمة", Script::Arabic),
            ("शब्द", Script::Devanagari),
            ("சொல்", Script::Tamil),
            ("מילה", Script::Other),
        ] {
            assert_eq!(Script::of(word), script, "{word}");
        }
    }
}
