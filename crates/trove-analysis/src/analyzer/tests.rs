use proptest::prelude::*;

use super::{Analyzer, TERM_BYTES_MAX};
use crate::{Language, LanguageSet, Profile, QueryTerms};

fn indexed_in(profile: Profile, text: &str) -> Vec<String> {
    let mut analyzer = Analyzer::new(profile);
    let mut terms = analyzer.terms(text);
    let mut found = Vec::new();
    while terms.advance() {
        found.push(terms.term().to_owned());
    }
    found
}

fn indexed(text: &str) -> Vec<String> {
    indexed_in(Profile::default(), text)
}

fn asked_in(languages: LanguageSet, text: &str) -> Vec<Vec<String>> {
    let QueryTerms { content, function } = QueryTerms::among(text, languages);
    content.into_iter().chain(function).map(|term| term.alternatives).collect()
}

fn asked(text: &str) -> Vec<String> {
    asked_in(LanguageSet::EMPTY, text).into_iter().flatten().collect()
}

/// Terms with the words that they come from.
fn placed(text: &str) -> Vec<(String, &str)> {
    let mut analyzer = Analyzer::new(Profile::default());
    let mut terms = analyzer.terms(text);
    let mut found = Vec::new();
    while terms.advance() {
        found.push((terms.term().to_owned(), &text[terms.range()]));
    }
    found
}

#[test]
fn words_are_runs_of_letters_and_digits() {
    let check = |text: &str, words: &[&str]| {
        assert_eq!(indexed(text), words, "{text}");
    };
    check("", &[]);
    check(" -- !? ", &[]);
    check(
        "Don't snake_case x86_64, v3.14",
        &["don", "t", "snake", "case", "x86", "64", "v3", "14"],
    );
    check("Kubernetes™ → 2²", &["kubernet", "22"]);
    check("हिन्दी भाषा", &["हिन्द", "भाष"]);
    check("сла́вный Ёж", &["славн", "еж"]);
    check("๒๕๖๗", &["๒๕๖๗"]);
}

#[test]
fn scripts_without_spaces_give_characters_and_pairs() {
    let check = |text: &str, words: &[&str]| assert_eq!(indexed(text), words, "{text}");
    check("世", &["世"]);
    check("東京都", &["東", "東京", "京", "京都", "都"]);
    check("iPhone手机15", &["iphon", "手", "手机", "机", "15"]);
    check("サーバー", &["サ", "サー", "ー", "ーバ", "バ", "バー", "ー"]);
    check("회사는", &["회", "회사", "사", "사는", "는"]);
    check("ที่ดี", &["ที่", "ที่ดี", "ดี"]);
    check("中。国", &["中", "国"]);
    check("🇩🇪", &["🇩", "🇩🇪", "🇪"]);
}

#[test]
fn a_query_asks_for_pairs_where_there_are_any() {
    let check = |text: &str, words: &[&str]| assert_eq!(asked(text), words, "{text}");
    check("世", &["世"]);
    check("東京都", &["東京", "京都"]);
    check("iPhone手机15", &["iphon", "手机", "15"]);
    check("中 国", &["中", "国"]);
    check("ดี", &["ดี"]);
}

#[test]
fn each_pictograph_is_a_word() {
    assert_eq!(indexed("done🎉🎉✅ok"), ["done", "🎉", "🎉", "✅", "ok"]);
    assert_eq!(indexed("👩\u{200d}💻"), ["👩", "💻"]);
}

#[test]
fn overlong_words_are_cut_and_told_apart() {
    let word = "x".repeat(100);
    assert_eq!(indexed(&word).concat(), word);
    let (one, other) = (indexed(&format!("{word}y")), indexed(&format!("{word}z")));
    assert_eq!((one.len(), one[0].len()), (1, TERM_BYTES_MAX));
    assert_ne!(one, other);
    assert_eq!(one, indexed(&format!("{word}Y")));
    assert!(indexed(&"ш".repeat(500))[0].len() <= TERM_BYTES_MAX);
    assert!(indexed(&format!("中{}", "\u{0e31}".repeat(500)))[0].len() <= TERM_BYTES_MAX);
}

#[test]
fn a_term_knows_where_it_stands() {
    let check = |text: &str, expected: &[(&str, &str)]| {
        let placed = placed(text);
        let placed: Vec<(&str, &str)> = placed.iter().map(|(t, s)| (t.as_str(), *s)).collect();
        assert_eq!(placed, expected, "{text}");
    };
    check("«Müller’s INVOICES»", &[("muller", "Müller"), ("s", "s"), ("invoic", "INVOICES")]);
    check("x東京 y", &[("x", "x"), ("東", "東"), ("東京", "東京"), ("京", "京"), ("y", "y")]);
    check("ที่ดี", &[("ที่", "ที่"), ("ที่ดี", "ที่ดี"), ("ดี", "ดี")]);
    // The signs of one syllable are one character when they are composed.
    check("\u{1112}\u{1161}\u{11ab}", &[("한", "\u{1112}\u{1161}\u{11ab}")]);
    check("カﾞ", &[("ガ", "カﾞ")]);
}

proptest! {
    /// What is asked for in the words of a text is in the text, in whatever language it is written.
    #[test]
    fn a_text_finds_itself(
        text in "[a-zA-Z0-9 .,üßİς中国かガ한국ทีด่ක្မန်🎉🇩🇪éжщाकக்\u{300}\u{200d}]{0,60}",
        language in proptest::sample::select(Language::ALL),
    ) {
        let profile = Profile::from_iter([language]);
        let indexed = indexed_in(profile, &text);
        for terms in asked_in(profile.special_languages(), &text) {
            let found = terms.iter().any(|term| indexed.contains(term));
            // A function word of one language is asked for in others.
            let elsewhere = terms.iter().all(|term| !term.contains(':'));
            prop_assert!(found || elsewhere, "{:?} in {:?}", terms, indexed);
            prop_assert!(terms.iter().all(|term| !term.is_empty()));
        }
    }

    #[test]
    fn any_text_has_bounded_terms_at_rising_places(text in any::<String>()) {
        let mut analyzer = Analyzer::new(Profile::default());
        let mut terms = analyzer.terms(&text);
        let mut start = 0;
        while terms.advance() {
            let range = terms.range();
            prop_assert!(terms.term().len() <= TERM_BYTES_MAX);
            prop_assert!(start <= range.start && range.start < range.end);
            prop_assert!(text.get(range.clone()).is_some());
            start = range.start;
        }
    }
}
