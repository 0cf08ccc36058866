//! Pages: where they lead, and what of them is content.

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::Encoding;
use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use url::Url;

/// Most links of one page that are followed.
const LINKS_MAX: usize = 5_000;

/// Elements that may be left out by what their attributes say. Others have ends that may be left
/// out, or hold whole pages.
const BOXES: [&[u8]; 9] =
    [b"div", b"section", b"header", b"ul", b"ol", b"dl", b"form", b"table", b"details"];
/// Roles of what stands around the content.
const ROLES: [&str; 5] = ["navigation", "banner", "contentinfo", "complementary", "search"];
/// Classes of what stands around the content.
const CLASSES: [&str; 2] = ["sidebar", "footer"];
/// The same in documentation made by Mintlify.
const MINTLIFY: [&str; 2] = ["sticky", "hidden"];

/// What was found on a page.
#[derive(Debug, Default)]
pub(super) struct Page {
    /// Links, as they are written.
    links: Vec<String>,
    base: Option<String>,
    /// Title and content, without what stands around it.
    pub(super) content: Vec<u8>,
}

impl Page {
    /// Addresses that the page at `address` leads to.
    pub(super) fn links<'p>(&'p self, address: &'p Url) -> impl Iterator<Item = Url> + 'p {
        let base = self.base.as_deref().and_then(|base| address.join(base.trim()).ok());
        let base = base.filter(|base| matches!(base.scheme(), "http" | "https"));
        self.links.iter().filter_map(move |link| {
            let link = link.trim();
            let follows = !link.is_empty()
                && !link.contains('\\')
                && (!link.starts_with('#') || link.starts_with("#!"));
            follows.then(|| base.as_ref().unwrap_or(address).join(link).ok()).flatten()
        })
    }
}

/// Turns a page into characters if its bytes are not already UTF-8 and the server names their
/// charset; whoever reads them finds out otherwise.
pub(super) fn decoded<'b>(body: &'b [u8], content_type: &str) -> Cow<'b, [u8]> {
    let marked = |text: &str| [b"\xef\xbb\xbf", text.as_bytes()].concat();
    if let Some((encoding, length)) = Encoding::for_bom(body) {
        return Cow::Owned(marked(&encoding.decode_without_bom_handling(&body[length..]).0));
    }
    if std::str::from_utf8(body).is_ok() {
        return Cow::Borrowed(body);
    }
    let label = content_type.split(';').find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches(['"', '\'']))
    });
    let encoding = label.and_then(|label| Encoding::for_label_no_replacement(label.as_bytes()));
    let Some(encoding) = encoding else { return Cow::Borrowed(body) };
    // The mark overrules what the page declares.
    Cow::Owned(marked(&encoding.decode_without_bom_handling(body).0))
}

/// Looks through a page, in whatever charset that has the tags of ASCII.
pub(super) fn scan(html: &[u8], mintlify: bool) -> Page {
    let mut scan = Scan { mintlify, ..Scan::default() };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, span: Span<usize>| {
        scan.event(&event, span);
        None::<()>
    });
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter).for_each(drop);
    scan.finish(html)
}

/// An element whose end is looked for.
#[derive(Debug)]
struct Element {
    name: Vec<u8>,
    start: usize,
    /// How many of its name are open.
    open: usize,
}

#[derive(Debug, Default)]
struct Scan {
    mintlify: bool,
    links: Vec<String>,
    base: Option<String>,
    tag: Vec<u8>,
    tag_start: usize,
    attribute: Vec<u8>,
    is_furniture: bool,
    is_main: bool,
    furniture: Option<Element>,
    main: Option<Element>,
    title: Option<Element>,
    dropped: Vec<Range<usize>>,
    main_range: Option<Range<usize>>,
    title_range: Option<Range<usize>>,
    head_end: Option<usize>,
}

impl Scan {
    fn event(&mut self, event: &CallbackEvent<'_>, span: Span<usize>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                self.tag = name.to_vec();
                self.tag_start = span.start;
                self.is_main = *name == b"main";
                self.is_furniture = false;
            }
            CallbackEvent::AttributeName { name } => {
                self.attribute = name.to_vec();
                self.is_furniture |= *name == b"hidden";
            }
            CallbackEvent::AttributeValue { value } => self.value(value),
            CallbackEvent::CloseStartTag { .. } => self.open(),
            CallbackEvent::EndTag { name } => self.close(name, span.end),
            _ => {}
        }
    }

    fn value(&mut self, value: &[u8]) {
        match (self.tag.as_slice(), self.attribute.as_slice()) {
            (b"a" | b"area", b"href") if self.links.len() < LINKS_MAX => {
                self.links.push(String::from_utf8_lossy(value).into_owned());
            }
            (b"base", b"href") if self.base.is_none() => {
                self.base = Some(String::from_utf8_lossy(value).into_owned());
            }
            (_, b"role") => {
                let role = String::from_utf8_lossy(value).trim().to_ascii_lowercase();
                self.is_main |= role == "main";
                self.is_furniture |= ROLES.contains(&role.as_str());
            }
            (_, b"class") => {
                let classes = String::from_utf8_lossy(value).to_ascii_lowercase();
                self.is_furniture |= classes.split_ascii_whitespace().any(|class| {
                    CLASSES.contains(&class) || (self.mintlify && MINTLIFY.contains(&class))
                });
            }
            _ => {}
        }
    }

    fn open(&mut self) {
        for element in [&mut self.furniture, &mut self.main, &mut self.title].into_iter().flatten()
        {
            element.open += usize::from(element.name == self.tag);
        }
        let element = || Some(Element { name: self.tag.clone(), start: self.tag_start, open: 1 });
        let is_box = BOXES.contains(&self.tag.as_slice());
        if self.tag == b"body" && self.head_end.is_none() {
            self.head_end = Some(self.tag_start);
        }
        if self.furniture.is_none() && self.is_furniture && is_box {
            self.furniture = element();
        } else if self.is_main && self.main.is_none() && self.main_range.is_none() {
            self.main = element();
        } else if self.tag == b"title" && self.title.is_none() && self.title_range.is_none() {
            self.title = element();
        }
    }

    fn close(&mut self, name: &[u8], end: usize) {
        if let Some(range) = closed(&mut self.furniture, name, end) {
            self.dropped.push(range);
        }
        if let Some(range) = closed(&mut self.main, name, end) {
            self.main_range = Some(range);
        }
        if let Some(range) = closed(&mut self.title, name, end) {
            self.title_range = Some(range);
        }
    }

    fn finish(self, bytes: &[u8]) -> Page {
        let whole = 0..bytes.len();
        let main = self.main_range.unwrap_or(whole);
        let mut kept = Vec::with_capacity(main.len());
        // Where the rest is cut to the content, title and charset come along.
        if main.start > 0 {
            let head = self.head_end.filter(|end| *end <= main.start).map(|end| 0..end);
            let head = head.or(self.title_range).and_then(|range| bytes.get(range));
            kept.extend_from_slice(head.unwrap_or_default());
        }
        let mut at = main.start;
        for range in self.dropped {
            let (start, end) = (range.start.clamp(at, main.end), range.end.clamp(at, main.end));
            kept.extend_from_slice(bytes.get(at..start).unwrap_or_default());
            at = end;
        }
        kept.extend_from_slice(bytes.get(at..main.end).unwrap_or_default());
        Page { links: self.links, base: self.base, content: kept }
    }
}

/// The range of an element that ends here.
fn closed(element: &mut Option<Element>, name: &[u8], end: usize) -> Option<Range<usize>> {
    let open = element.as_mut().filter(|element| element.name == name)?;
    open.open -= 1;
    if open.open > 0 {
        return None;
    }
    element.take().map(|element| element.start..end)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use url::Url;

    use super::{decoded, scan};

    fn links(html: &str) -> Vec<String> {
        let address: Url = "https://e.com/a/b".parse().unwrap();
        scan(html.as_bytes(), true).links(&address).map(String::from).collect()
    }

    #[test]
    fn links_are_found_where_readers_find_them() {
        let html = "<a href=c>1</a><A HREF='/d?x=1&amp;y=2#z'>2</a><area href=//f.com/><a href='#e'>\
                    <a href='#!e'><a name=x><script>'<a href=no>'</script><!-- <a href=no> -->\
                    <a href=' mailto:a@e.com '><a href='\\\\e.com\\x'><link href=no>";
        assert_eq!(
            links(html),
            [
                "https://e.com/a/c",
                "https://e.com/d?x=1&y=2#z",
                "https://f.com/",
                "https://e.com/a/b#!e",
                "mailto:a@e.com",
            ]
        );
        assert_eq!(links("<base href='/x/'><a href=y>"), ["https://e.com/x/y"]);
        assert_eq!(links(&"<a href=x>".repeat(6_000)).len(), 5_000);
    }

    #[test]
    fn what_stands_around_the_content_is_left_out() {
        let cases = [
            ("<p>a</p><div class='Sidebar x'><div>b</div>c</div>d", "<p>a</p>d"),
            ("<div role=navigation>b</div>d", "d"),
            ("<div class=sticky>b</div>d", "d"),
            ("<div hidden>b</div>d", "d"),
            ("<body class=sidebar>d", "<body class=sidebar>d"),
            ("<div class=footer>never closed", "<div class=footer>never closed"),
            (
                "<title>T</title><header>h</header><main>m<div class=footer>f</div></main>x",
                "<title>T</title><main>m</main>",
            ),
            (
                "<meta charset=x><title>T</title><body class=y>h<main>m</main>x",
                "<meta charset=x><title>T</title><main>m</main>",
            ),
            ("ä\r\n<ul class=sidebar><li>ß</ul>ö", "ä\r\nö"),
        ];
        for (html, expected) in cases {
            assert_eq!(String::from_utf8(scan(html.as_bytes(), true).content).unwrap(), expected);
        }
        let kept = b"<div class=hidden>b</div>";
        assert_eq!(scan(kept, false).content, kept);
    }

    #[test]
    fn a_charset_that_the_server_names_counts_where_the_bytes_are_not_utf_8() {
        let check = |bytes: &[u8], content_type, expected: &str| {
            let text = decoded(bytes, content_type).into_owned();
            assert_eq!(String::from_utf8_lossy(&text).trim_start_matches('\u{feff}'), expected);
        };
        check(b"caf\xe9", "text/html; charset=\"ISO-8859-1\"", "café");
        check("café".as_bytes(), "text/html; charset=iso-8859-1", "café");
        check(b"\x83e", "text/html;CHARSET=shift_jis", "テ");
        check(b"caf\xe9", "text/html; charset=nonsense", "caf\u{fffd}");
    }

    proptest! {
        #[test]
        fn any_page_is_looked_through(html in "(<(/?)(div|main|title|a|p)( class=footer)?>|ä|\r\n|x|<!--|-->|&amp;){0,60}") {
            let page = scan(html.as_bytes(), true);
            prop_assert!(page.content.len() <= html.len() * 2);
        }
    }
}
