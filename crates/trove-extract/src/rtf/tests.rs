use trove_domain::port::{ExtractError, ExtractedText, Resource};

use super::extract;
use crate::budget::{Budget, Meter};

fn read(rtf: &[u8]) -> Result<ExtractedText, ExtractError> {
    extract(rtf, &Meter::new(Budget::default()))
}

fn check(rtf: &str, expected: &str) {
    let sections = read(rtf.as_bytes()).unwrap().sections;
    let text: String = sections.into_iter().map(|section| section.text).collect();
    assert_eq!(text, expected, "{rtf}");
}

#[test]
fn words_and_paragraphs_are_read() {
    check("{\\rtf1\\ansi Hel{\\b lo} world\\par next\\line line}", "Hello world\n\nnext\nline");
    check("{\\rtf1 a\\~b \\{c\\} \\lquote d\\rquote}", "a b {c} ‘d’");
    check("{\\rtf1 a\\\nb}", "a\n\nb");
}

#[test]
fn characters_are_in_the_code_page_of_their_font() {
    check("{\\rtf1\\ansi\\ansicpg1252 Gr\\'fc\\'dfe}", "Grüße");
    check(
        "{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}{\\f1\\fcharset204 Arial Cyr;}}\\f1 \\'cf\\'f0\\'e8\\f0 \\'e4}",
        "Приä",
    );
    check("{\\rtf1{\\fonttbl{\\f0\\fcharset128 Mincho;}}\\f0 \\'90\\'a2\\'8a\\'45}", "世界");
}

#[test]
fn unicode_has_fallbacks_and_halves() {
    check("{\\rtf1\\uc1 \\u19990?\\u30028 ?!}", "世界!");
    check("{\\rtf1\\uc2 \\u19990\\'90\\'a2.}", "世.");
    check("{\\rtf1\\uc0 \\u-10178 \\u-8826 x}", "🦆x");
    check("{\\rtf1\\uc0 a\\u-10178 b\\u-8826 c}", "ab\u{fffd}c");
}

#[test]
fn tables_are_rows() {
    check(
        "{\\rtf1 a\\par\\trowd\\intbl b\\cell c\\cell\\row\\trowd d\\cell e\\cell\\row\\pard f\\par}",
        "a\n\nb | c\nd | e\nf",
    );
}

#[test]
fn what_is_not_shown_is_no_text() {
    check(
        "{\\rtf1{\\stylesheet{\\s0 Normal;}}{\\*\\generator X;}{\\pict 0123}{\\v hidden}\
         {\\header h}\\bin4 }}}}a}",
        "a",
    );
    check("{\\rtf1{\\object{\\*\\objdata 0105}{\\result shown}}}", "shown");
}

#[test]
fn facts_and_links_are_read() {
    let text = read(
        b"{\\rtf1{\\info{\\title A {\\b B}}{\\author Writer}{\\keywords x, y}\
          {\\creatim\\yr2024\\mo2\\dy29\\hr10\\min5}}\
          {\\field{\\*\\fldinst{HYPERLINK \"https://example.com/\"}}{\\fldrslt here}}}",
    )
    .unwrap();
    assert_eq!(text.title.as_deref(), Some("A B"));
    assert_eq!(text.about.authors, ["Writer"]);
    assert_eq!(text.about.properties["keywords"], ["x", "y"]);
    assert_eq!(text.about.created_at.unwrap().to_rfc3339(), "2024-02-29T10:05:00+00:00");
    assert_eq!(text.about.links, ["https://example.com/"]);
    assert_eq!(text.sections[0].text, "here");
}

#[test]
fn groups_are_not_nested_without_end() {
    let deep = "{".repeat(100_000);
    let error = ExtractError::OutOfBudget { resource: Resource::Depth, limit: 500 };
    assert_eq!(read(deep.as_bytes()), Err(error));
    check(&"}".repeat(1000), "");
}
