//! Files that somebody made to break an extractor.

use std::time::{Duration, Instant};

use proptest::prelude::*;
use trove_domain::port::TextExtractor;
use trove_extract::InProcessExtractor;

fn extract(name: &str, content: &[u8]) -> Option<String> {
    let extracted = InProcessExtractor::default().extract(name, content).ok()?;
    Some(extracted.sections.into_iter().map(|section| section.text).collect())
}

fn time(name: &str, content: &str) -> Duration {
    let start = Instant::now();
    extract(name, content.as_bytes());
    start.elapsed()
}

/// Eight times the input may take twenty-four times as long; quadratic work takes 64 times as long.
/// Other work on the machine may spoil a run, but hardly three.
fn assert_linear(name: &str, what: &str, make: impl Fn(usize) -> String) {
    let (small, large) = (make(5_000), make(40_000));
    let mut measured = Vec::new();
    for _ in 0..3 {
        let (small_time, large_time) = (time(name, &small), time(name, &large));
        if large_time < small_time * 24 + Duration::from_millis(200) {
            return;
        }
        measured.push((small_time, large_time));
    }
    panic!("{name} {what}: {measured:?}");
}

#[test]
fn deep_html_is_read_to_the_ground() {
    let html = format!("{}deep", "<div>".repeat(100_000));
    assert_eq!(extract("a.html", html.as_bytes()).as_deref(), Some("deep"));
    let html = format!("{}deep{}", "<ul><li>".repeat(100_000), "</li></ul>".repeat(100_000));
    assert_eq!(extract("a.html", html.as_bytes()).as_deref(), Some("- deep"));
}

#[test]
fn html_takes_linear_time() {
    for (what, piece) in [
        ("open elements", "<div>"),
        ("open and closed elements", "<div><p></div><span>x"),
        ("end tags without beginnings", "<div></section>"),
        ("formatting", "<font size=1><p>"),
        ("nested tables", "<table><tr><td>x"),
        ("nested lists", "<ul><li>x"),
        ("foreign elements", "<svg><math>"),
        ("comments", "<!--"),
        ("bogus comments", "<!x"),
        ("script in script", "<script><!--<script></scr"),
        ("titles", "<title></titl"),
        ("preformatted", "<pre>\n\n "),
        ("references", "&notin&#x"),
        ("open brackets", "<"),
        ("attributes", "<a b='"),
    ] {
        assert_linear("a.html", what, |count| piece.repeat(count));
    }
    assert_linear("a.html", "attributes of one element", |count| {
        let names: Vec<String> = (0..count).map(|number| format!("a{number}")).collect();
        format!("<a {}>", names.join(" "))
    });
    assert_linear("a.html", "closing a deep tree", |count| {
        "<div>".repeat(count) + &"</div>".repeat(count)
    });
}

#[test]
fn markdown_takes_linear_time() {
    for (what, opening, then) in [
        ("lists and lazy lines", "- ", "a\n"),
        ("numbers and lazy lines", "1. ", "a\n"),
        ("quotes and lazy lines", ">", "a\n"),
        ("quoted lists and lazy lines", "> - ", "a\n"),
        ("footnotes and lazy lines", "[^a]:", "a\n"),
        ("lists and empty lines", "- ", "\n"),
        ("brackets", "[", "]"),
        ("links", "[a](", ")"),
        ("images", "![", "](b)"),
        ("emphasis", "*a_ ", "_*"),
        ("strong emphasis", "a**b_c*", ""),
        ("elements", "<a ", ">"),
        ("comments", "<!-- ", "\n\n"),
        ("blocks of elements", "<div>\n\n", ""),
        ("instructions", "a <? ", ""),
        ("tables", "|a", "\n|-"),
        ("references", "[a]: b\n", "[a]"),
        ("entities", "&", ";"),
        ("headings", "# a {", "}"),
        ("front matter", "---\n", "a: b\n"),
    ] {
        assert_linear("a.md", what, |count| {
            format!("{}x\n{}", opening.repeat(count), then.repeat(count))
        });
    }
    assert_linear("a.md", "indented lists and lazy lines", |count| {
        let depth = count.isqrt();
        let items: String = (0..depth).map(|level| "  ".repeat(level) + "- a\n").collect();
        items + &"a\n".repeat(count)
    });
    assert_linear("a.md", "runs of backticks", |count| {
        (1..count.isqrt()).map(|length| "`".repeat(length) + " ").collect()
    });
    assert_linear("a.mdx", "statements", |count| "import x\n\n".repeat(count));
}

#[test]
fn plain_text_takes_linear_time() {
    for (what, piece) in [
        ("letters", "a"),
        ("blanks", " "),
        ("empty lines", "\r\n"),
        ("carriage returns", "\r"),
        ("escapes", "\u{1b}["),
        ("commands", "\u{1b}]"),
        ("underlines", "=\n=\n"),
        ("charset", "é\u{1b}$B"),
    ] {
        assert_linear("a.txt", what, |count| piece.repeat(count));
        assert_linear("a.rst", what, |count| piece.repeat(count));
    }
}

/// Pieces that mean something to one of the parsers.
fn markup() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "<div>",
        "</div>",
        "<table>",
        "<tr>",
        "<td>",
        "</table>",
        "<ul>",
        "<li>",
        "</ul>",
        "<pre>",
        "</pre>",
        "<nav>",
        "</nav>",
        "<title>",
        "</title>",
        "<script>",
        "</script>",
        "<h1>",
        "</h1>",
        "<br/>",
        "<svg/>",
        "<!--",
        "-->",
        "&amp;",
        "&#0;",
        "<a b=\"",
        "\">",
        "# ",
        "- ",
        "1. ",
        "> ",
        "```\n",
        "    ",
        "|",
        "|-|\n",
        "*",
        "_",
        "`",
        "[",
        "](",
        ")",
        "[^a]",
        "[^a]: ",
        "\n",
        "\n\n",
        "---\n",
        "title: ",
        "+++\n",
        "===\n",
        " ",
        "\t",
        "\r",
        "\u{1b}[",
        "text",
        "ä",
        "世",
        "🦀",
        "\u{0}",
        "\u{ad}",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_answered(content in prop::collection::vec(any::<u8>(), 0..400)) {
        for name in ["a.txt", "a.rst", "a.md", "a.mdx", "a.html", "a.xhtml", "a.xml"] {
            extract(name, &content);
        }
    }

    #[test]
    fn any_markup_gives_tidy_text(content in markup()) {
        for name in ["a.txt", "a.rst", "a.md", "a.mdx", "a.html", "a.xhtml"] {
            let Some(text) = extract(name, content.as_bytes()) else { continue };
            prop_assert_eq!(text.trim_end(), text.as_str(), "{}", name);
            prop_assert!(!text.starts_with('\n'), "{}: {:?}", name, text);
            let is_odd = |c: char| c.is_control() && c != '\n' && c != '\t';
            prop_assert!(!text.contains(is_odd), "{}: {:?}", name, text);
        }
    }
}
