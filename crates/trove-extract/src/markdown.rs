//! Markdown (`CommonMark` with GitHub's extensions): the text without its marks.

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

use crate::text::Extract;
use crate::writer::{self, Full, TextWriter};
use crate::{front_matter, html, plain};

/// What stands in the document besides Markdown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// GitHub flavoured Markdown.
    Gfm,
    /// The same with `import` and `export` statements at the beginning.
    Mdx,
}

/// Deepest nesting of quotes and lists that is understood.
///
/// For every line that lazily continues a paragraph the parser walks all open containers, so that
/// 100 kB of `- - - …` and short lines take 25 s. With this bound it is linear.
const MAX_NESTING: usize = 100;

/// Text and title of a document.
pub(crate) fn extract(markdown: &str, dialect: Dialect, max_chars: usize) -> Result<Extract, Full> {
    let (title, mut body) = front_matter::split(markdown);
    if dialect == Dialect::Mdx {
        body = without_statements(body);
    }
    if body.lines().any(nests_too_deeply) {
        let plain = plain::extract(body, max_chars)?;
        return Ok(Extract { title, ..plain });
    }
    let mut renderer = Renderer::new(max_chars);
    for event in Parser::new_ext(body, options()) {
        renderer.event(event);
        if renderer.writer.is_full() {
            return Err(Full);
        }
    }
    let text = renderer.writer.finish()?;
    Ok(Extract { title: title.or(renderer.title), text })
}

fn options() -> Options {
    Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_GFM
}

/// Turns the parser's events into text.
struct Renderer {
    writer: TextWriter,
    title: Option<String>,
    /// Where the open heading begins in the text.
    heading_from: usize,
    /// Whether the text of a code block is coming.
    in_code: bool,
    /// The block of HTML that is being read; it comes line by line.
    html: String,
    /// Next number of each open list, outermost first; `None` for bullets.
    lists: Vec<Option<u64>>,
}

impl Renderer {
    fn new(max_chars: usize) -> Self {
        Self {
            writer: TextWriter::new(max_chars),
            title: None,
            heading_from: 0,
            in_code: false,
            html: String::new(),
            lists: Vec::new(),
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) if self.in_code => self.writer.preformatted(&text),
            Event::Text(text)
            | Event::Code(text)
            | Event::InlineMath(text)
            | Event::DisplayMath(text) => self.writer.text(&text),
            Event::Html(html) => self.html.push_str(&html),
            Event::InlineHtml(html) => self.write_html(&html),
            Event::SoftBreak => self.writer.text(" "),
            Event::HardBreak => self.writer.hard_break(),
            Event::Rule => self.writer.paragraph(),
            Event::TaskListMarker(done) => self.writer.text(if done { "[x] " } else { "[ ] " }),
            Event::FootnoteReference(_) => {}
        }
    }

    fn start(&mut self, tag: &Tag<'_>) {
        match tag {
            Tag::Paragraph
            | Tag::BlockQuote(_)
            | Tag::FootnoteDefinition(_)
            | Tag::DefinitionListTitle
            | Tag::DefinitionListDefinition => self.writer.paragraph(),
            Tag::Heading { .. } => {
                self.writer.paragraph();
                self.heading_from = self.writer.position();
            }
            Tag::CodeBlock(_) => {
                self.writer.paragraph();
                self.in_code = true;
            }
            Tag::HtmlBlock => self.html.clear(),
            Tag::List(first) => {
                self.writer.open_frame();
                self.lists.push(*first);
            }
            Tag::Item => match self.lists.last_mut() {
                Some(Some(number)) => {
                    self.writer.item(&format!("{number}. "));
                    *number = number.saturating_add(1);
                }
                Some(None) | None => self.writer.item("- "),
            },
            Tag::Table(_) => self.writer.open_frame(),
            Tag::TableHead | Tag::TableRow => self.writer.row(),
            Tag::TableCell => self.writer.cell(),
            Tag::DefinitionList
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
            | Tag::MetadataBlock(_) => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph
            | TagEnd::BlockQuote(_)
            | TagEnd::FootnoteDefinition
            | TagEnd::DefinitionListTitle
            | TagEnd::DefinitionListDefinition => self.writer.paragraph(),
            TagEnd::Heading(_) => {
                self.writer.paragraph();
                if self.title.is_none() {
                    self.title = writer::title(&self.writer.since(self.heading_from));
                }
            }
            TagEnd::CodeBlock => {
                self.in_code = false;
                self.writer.end_preformatted();
            }
            TagEnd::HtmlBlock => {
                let html = std::mem::take(&mut self.html);
                self.writer.paragraph();
                self.write_html(&html);
                self.writer.paragraph();
            }
            TagEnd::List(_) => {
                self.lists.pop();
                self.writer.close_frame();
            }
            TagEnd::Table => self.writer.close_frame(),
            TagEnd::Item
            | TagEnd::TableHead
            | TagEnd::TableRow
            | TagEnd::TableCell
            | TagEnd::DefinitionList
            | TagEnd::Emphasis
            | TagEnd::Strong
            | TagEnd::Strikethrough
            | TagEnd::Superscript
            | TagEnd::Subscript
            | TagEnd::Link
            | TagEnd::Image
            | TagEnd::MetadataBlock(_) => {}
        }
    }

    fn write_html(&mut self, html: &str) {
        let heading = html::write_fragment(html, &mut self.writer);
        if self.title.is_none() {
            self.title = heading;
        }
    }
}

/// Whether `line` may be inside or open more containers than [`MAX_NESTING`]: counts the marks of
/// quotes, lists and footnotes before its text, and the indentation that lists need.
fn nests_too_deeply(line: &str) -> bool {
    let (mut marks, mut columns) = (0_usize, 0_usize);
    let mut rest = line.as_bytes();
    loop {
        if let Some(after) = rest.strip_prefix(b"\t") {
            columns += 4;
            rest = after;
        } else if let Some(after) = rest.strip_prefix(b" ") {
            columns += 1;
            rest = after;
        } else if let Some(after) = after_mark(rest) {
            marks += 1;
            rest = after;
        } else {
            break;
        }
    }
    // A mark and its blank are two columns, the narrowest indentation that continues an item.
    marks > 0 && marks + columns / 2 > MAX_NESTING
}

/// What follows the mark at the beginning of `text` that opens a quote, an item or a footnote.
fn after_mark(text: &[u8]) -> Option<&[u8]> {
    if let Some(after) = text.strip_prefix(b">") {
        return Some(after);
    }
    if let Some(label) = text.strip_prefix(b"[^") {
        let end = label.iter().position(|byte| *byte == b']')?;
        return label[end + 1..].strip_prefix(b":");
    }
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let marks: &[u8] = if digits > 0 { b".)" } else { b"-+*" };
    let (mark, after) = text[digits..].split_first()?;
    let is_item = marks.contains(mark) && matches!(after.first(), None | Some(b' ' | b'\t'));
    is_item.then_some(after)
}

/// The document without the statements of MDX before its text.
fn without_statements(text: &str) -> &str {
    let mut rest = text;
    // A statement goes on to the next empty line.
    let mut in_statement = false;
    loop {
        let end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        let line = &rest[..end];
        let starts = line.starts_with("import ") || line.starts_with("export ");
        in_statement = !line.trim().is_empty() && (in_statement || starts);
        if line.is_empty() || (!in_statement && !line.trim().is_empty()) {
            return rest;
        }
        rest = &rest[end..];
    }
}

#[cfg(test)]
mod tests;
