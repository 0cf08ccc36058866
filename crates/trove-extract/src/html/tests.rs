use super::{Syntax, declared_charset, extract};
use crate::text::Extract;

fn check(html: &str, expected: &str) -> Option<String> {
    let Extract { title, text } = extract(html, Syntax::Html, 10_000).unwrap();
    assert_eq!(text, expected, "{html:?}");
    title
}

#[test]
fn a_page_is_its_content() {
    let title = check(
        "<!DOCTYPE html><html><head><meta charset=utf-8><title> The\n Title </title>
         <style>p { color: red }</style><script>if (a < b) '</p>'</script></head>
         <body><nav><ul><li><a href=/>Home</a></ul></nav>
         <header>Site</header><main><h1>Heading<a class=headerlink href=#h>¶</a></h1>
         <h2><a href=#s>§</a>Sub</h2><p>First <b>para</b>graph<br>line two<p>Second &amp; last &mdash; &#x1F980;
         <aside>Advert</aside></main><noscript>No script</noscript>
         <template><p>Template</template><footer><p>Imprint</footer></body></html>",
        "Site\n\nHeading\n\nSub\n\nFirst paragraph\nline two\n\nSecond & last — 🦀",
    );
    assert_eq!(title.as_deref(), Some("The Title"));
}

#[test]
fn without_a_title_the_first_main_heading_is_it() {
    assert_eq!(check("<h2>b</h2><h1>A <i>c</i></h1>x", "b\n\nA c\n\nx").as_deref(), Some("A c"));
    assert_eq!(check("<title> </title><h1></h1><h1>A</h1>", "A").as_deref(), Some("A"));
    assert_eq!(check("<svg><title>icon</title></svg><p>x", "x"), None);
    assert_eq!(check("<h2>b</h2>", "b"), None);
}

#[test]
fn lists_and_tables_are_readable() {
    check(
        "<p>x<ul><li>a<li><p>b</p><ul><li>c</li></ul></li></ul><ol><li>d</ol>y",
        "x\n\n- a\n- b\n- c\n\n- d\n\ny",
    );
    check(
        "x<table><caption>cap</caption><thead><tr><th>Name</th><th>Age</th></tr></thead>
         <tbody><tr><td><p>Ann</p></td><td><p>7</p></td></tr>
         <tr><td></td><td>8</td></tr></tbody></table>y",
        "x\n\ncap\nName | Age\nAnn | 7\n8\n\ny",
    );
    check("<dl><dt>a<dd>b<dt>c<dd>d</dl>", "a\nb\nc\nd");
    check("<table><tr><td><p>a</p><p>b</p><ul><li>c</ul></table>", "a\n\nb\n- c");
}

#[test]
fn preformatted_text_keeps_its_lines() {
    check(
        "a<pre>\n<code>if x:\n    <span>y</span>()\n\n</code></pre>b",
        "a\n\nif x:\n    y()\n\nb",
    );
    check("<textarea>a</textarea><pre>a<br>b</pre>", "a\nb");
}

#[test]
fn wrong_nesting_is_understood() {
    check("<div><nav>menu</div>text", "text");
    check("<nav>menu</p></b></nav>text", "text");
    check("</div></table></ul>text</html>more", "textmore");
    check("<td>a<td>b<li>c<tr>d", "a b\n- c\nd");
    check("<b><p>a</b>b</p>c", "ab\n\nc");
    check("a < b && c <3 <", "a < b && c <3 <");
    check("text<script>never closed", "text");
    check("text<!-- never closed", "text");
    check("text<a href=\"never closed", "text");
}

#[test]
fn furniture_is_better_than_nothing() {
    check("<nav>menu<p>all there is", "menu\n\nall there is");
    check("<footer>imprint</footer>", "imprint");
    check("<script>x</script>", "");
}

#[test]
fn xhtml_closes_with_a_slash() {
    let xhtml = "<?xml version='1.0'?><html><head><title/><script src='a'/></head><p>a<br/>b";
    assert_eq!(extract(xhtml, Syntax::Xml, 100).unwrap().text, "a\nb");
    check("<script src='a'/>lost", "");
    check("<svg/>kept", "kept");
}

#[test]
fn the_charset_is_declared_in_meta() {
    let name = |html: &[u8]| declared_charset(html).map(encoding_rs::Encoding::name);
    assert_eq!(name(b"<meta charset='shift_jis'>"), Some("Shift_JIS"));
    assert_eq!(
        name(b"<META http-equiv=Content-Type content='text/html; CharSet = KOI8-R'>"),
        Some("KOI8-R")
    );
    assert_eq!(name(b"<?xml version='1.0' encoding=\"big5\"?>"), Some("Big5"));
    assert_eq!(name(b"<meta charset=utf-16>"), Some("UTF-8"));
    assert_eq!(name(b"<script charset=big5></script><!--<meta charset=big5>-->"), None);
    assert_eq!(name(b"<meta charset=nonsense><p content='charset=big5'>"), None);
    assert_eq!(name(b""), None);
}
