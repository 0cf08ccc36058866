use super::{Dialect, extract, nests_too_deeply};
use crate::text::Extract;

fn check(markdown: &str, expected: &str) -> Option<String> {
    let Extract { title, text } = extract(markdown, Dialect::Gfm, 10_000).unwrap();
    assert_eq!(text, expected, "{markdown:?}");
    title
}

#[test]
fn marks_go_and_text_stays() {
    check(
        "Some *text* with **marks**, `code`, [a link](http://x \"t\"),\n![an image](y) and ~~more~~.",
        "Some text with marks, code, a link, an image and more.",
    );
    check("a  \nb\\\nc", "a\nb\nc");
    check("AT&amp;T &copy; &#x1F980;", "AT&T © 🦀");
    check("see[^1]\n\n[^1]: the note", "see\n\nthe note");
    check("[a][r] <http://x.y>\n\n[r]: http://r", "a http://x.y");
}

#[test]
fn headings_are_paragraphs_and_the_first_is_the_title() {
    let title = check("intro\n\n## The *Title* {#id}\ntext\n\nOther\n=====\nmore", {
        "intro\n\nThe Title\n\ntext\n\nOther\n\nmore"
    });
    assert_eq!(title.as_deref(), Some("The Title"));
    let title = check("<h1 align=center>A &amp; B</h1>\n\n# C", "A & B\n\nC");
    assert_eq!(title.as_deref(), Some("A & B"));
    assert_eq!(check("text", "text"), None);
}

#[test]
fn front_matter_is_dropped_but_for_its_title() {
    let title = check("---\ntitle: Front\ntags: [x]\n---\n# Heading\n", "Heading");
    assert_eq!(title.as_deref(), Some("Front"));
}

#[test]
fn code_is_kept_as_it_is() {
    check(
        "a\n\n```rust\nfn main() {\n\n    <b>&amp;\n}\n```\n\nb\n\n    indented\n      more\n",
        "a\n\nfn main() {\n\n    <b>&amp;\n}\n\nb\n\nindented\n  more",
    );
}

#[test]
fn lists_are_paragraphs_of_lines() {
    check(
        "before\n- a\n  - b\n    1. c\n    2. d\n- e\n\nafter\n\n3. x\n4. y\n",
        "before\n\n- a\n- b\n1. c\n2. d\n- e\n\nafter\n\n3. x\n4. y",
    );
    check("- a\n\n  more\n\n- b\n- [x] done\n- [ ] open", {
        "- a\n\nmore\n- b\n- [x] done\n- [ ] open"
    });
}

#[test]
fn tables_are_lines_of_cells() {
    check(
        "| Name | Age |\n|------|----:|\n| *Ann* | 7 |\n| Bob | |\n\nend",
        "Name | Age\nAnn | 7\nBob\n\nend",
    );
}

#[test]
fn html_is_reduced_to_its_text() {
    check(
        "<div class=\"note\">\n\n*Note* this<br>line<sup>2</sup>\n\n</div>\n\nend",
        "Note this\nline2\n\nend",
    );
    check("<!-- a comment -->\n<script>\nalert(1)\n</script>\n\ntext", "text");
    check("<details><summary>Sum</summary>\n\nbody\n\n</details>", "Sum\n\nbody");
    check("a Vec<T> of <script>s is text", "a Vec of s is text");
    check("<table><tr><td>a<td>b</table>", "a | b");
    check("<nav>\n\n[Home](/)\n\n</nav>", "Home");
}

#[test]
fn mdx_loses_its_statements() {
    let mdx =
        "---\ntitle: T\n---\nimport A from 'a'\nexport const b = {\n  c: 1,\n}\n\n<A>text</A>\n";
    let Extract { title, text } = extract(mdx, Dialect::Mdx, 1000).unwrap();
    assert_eq!((title.as_deref(), text.as_str()), (Some("T"), "text"));
    for (mdx, expected) in [("", ""), ("import x", ""), ("\n\nimportant", "important")] {
        assert_eq!(extract(mdx, Dialect::Mdx, 1000).unwrap().text, expected, "{mdx:?}");
    }
}

#[test]
fn absurd_nesting_is_read_as_plain_text() {
    let deep = |mark: &str| format!("{}*a*", mark.repeat(101));
    for mark in [">", "> ", "- ", "1. ", "12) ", "+\t", "> - ", "[^a]:", "  - "] {
        assert!(nests_too_deeply(&deep(mark)), "{mark}");
        check(&deep(mark), deep(mark).trim_end());
    }
    for line in [">".repeat(100), "-".repeat(300), " ".repeat(300) + "code", "*".repeat(300)] {
        assert!(!nests_too_deeply(&line), "{line}");
    }
    for line in ["1", "1.", "[^a", "[^a]", "-", "123456789012. a"] {
        assert!(!nests_too_deeply(line), "{line}");
    }
}
