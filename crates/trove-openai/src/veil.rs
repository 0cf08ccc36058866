//! Takes secrets out of an answer while it comes in.
//!
//! A server that repeats its request in its answer must not tell the key to whoever asked the
//! question. Unlike an error, an answer is made of ordinary words, some of which are in ordinary
//! headers: only long parts of long secrets are hidden.

use crate::mask::{Parts, STARS, View};

/// So many characters of a secret in a row are hidden; shorter secrets are left alone.
const PART: usize = 12;
/// So many characters at the end of what has come in, that a secret holds too, may be the beginning
/// of one, and are waited with.
const SUSPICIOUS: usize = 4;

/// What has been handed out of an answer, and what is waited with.
pub(crate) struct Veil {
    parts: Parts,
    /// The end of what has been handed out, and what has not.
    text: String,
    hidden: Vec<bool>,
    /// Bytes of `text` that have been handed out.
    done: usize,
    is_hiding: bool,
}

impl Veil {
    /// Hides the words of `secrets` that are long enough.
    pub(crate) fn over<'a>(secrets: impl IntoIterator<Item = &'a str>) -> Self {
        let words = secrets.into_iter().flat_map(str::split_whitespace);
        let parts = Parts::of_length(PART, words.filter(|word| word.len() >= PART));
        Self { parts, text: String::new(), hidden: Vec::new(), done: 0, is_hiding: false }
    }

    /// What can be handed out now that `piece` has come in.
    pub(crate) fn push(&mut self, piece: String) -> String {
        if self.parts.is_empty() {
            return piece;
        }
        self.text.push_str(&piece);
        self.hidden.resize(self.text.len(), false);
        let view = View::of(&self.text);
        self.parts.mark(&view, &mut self.hidden);
        let longest = (SUSPICIOUS..PART).rev();
        let mut starts = longest.filter_map(|length| self.text.len().checked_sub(length));
        let end = starts.find(|start| self.parts.hold(&view.bytes()[*start..]));
        self.hand_out(end.map_or(self.text.len(), |start| start.max(self.done)))
    }

    /// The rest.
    pub(crate) fn finish(&mut self) -> String {
        self.hand_out(self.text.len())
    }

    fn hand_out(&mut self, end: usize) -> String {
        let end = self.text.floor_char_boundary(end).max(self.done);
        let mut out = String::with_capacity(end - self.done);
        for (start, character) in self.text[self.done..end].char_indices() {
            let start = self.done + start;
            let hide = self.hidden[start..start + character.len_utf8()].contains(&true);
            match (hide, self.is_hiding) {
                (true, false) => out.push_str(STARS),
                (true, true) => {}
                (false, _) => out.push(character),
            }
            self.is_hiding = hide;
        }
        // A secret may have begun before what comes next.
        let keep = self.text.floor_char_boundary(end.saturating_sub(PART - 1));
        self.text.drain(..keep);
        self.hidden.drain(..keep);
        self.done = end - keep;
        out
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Veil;

    const KEY: &str = "sk-canary-0123456789abcdef";

    fn through(pieces: &[&str]) -> String {
        let mut veil = Veil::over([KEY, "short", "Bearer tok-9876543210zyx"]);
        let mut out: String = pieces.iter().map(|piece| veil.push((*piece).to_owned())).collect();
        out.push_str(&veil.finish());
        out
    }

    #[test]
    fn secrets_are_hidden_and_ordinary_words_are_not() {
        assert_eq!(through(&["the key is ", KEY, ", keep it"]), "the key is ********, keep it");
        assert_eq!(through(&["Bearer tok-9876543210zyx short"]), "Bearer ******** short");
        assert_eq!(through(&["sk-canary sings"]), "sk-canary sings");
        assert_eq!(through(&["SK-CANARY-0123456789ABCDEF"]), "********");
        let mut nothing = Veil::over(["ollama"]);
        assert_eq!(nothing.push("ollama".to_owned()), "ollama");
        assert_eq!(nothing.finish(), "");
    }

    #[test]
    fn what_cannot_be_a_secret_is_handed_out_at_once() {
        let mut veil = Veil::over([KEY]);
        assert_eq!(veil.push("an answer".to_owned()), "an answer");
        assert_eq!(veil.push(" sk-c".to_owned()), " ");
        assert_eq!(veil.push("old".to_owned()), "sk-cold");
        assert_eq!(veil.push("canary-01".to_owned()), "");
        assert_eq!(veil.finish(), "canary-01");
    }

    proptest! {
        /// However it is cut, no long part of a secret comes through, and the rest stays.
        #[test]
        fn cuts_make_no_difference(
            before in "[a-zé ]{0,12}",
            after in "[A-Z! ]{0,12}",
            cuts in proptest::collection::vec(any::<proptest::sample::Index>(), 0..12),
        ) {
            let text = format!("{before}<{KEY}>{after}");
            let mut places: Vec<usize> = cuts
                .iter()
                .map(|cut| text.floor_char_boundary(cut.index(text.len())))
                .chain([0, text.len()])
                .collect();
            places.sort_unstable();
            let pieces: Vec<&str> = places.windows(2).map(|cut| &text[cut[0]..cut[1]]).collect();
            let out = through(&pieces);
            // The first characters may be out before it is clear what they begin.
            let rest = out.strip_prefix(&format!("{before}<")).unwrap();
            let rest = rest.strip_suffix(&format!(">{after}")).unwrap();
            let shown = rest.strip_suffix("********").unwrap();
            prop_assert!(shown.len() < super::SUSPICIOUS && KEY.starts_with(shown), "{}", out);
        }
    }
}
