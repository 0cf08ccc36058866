//! HTML: the text that a reader sees, without the furniture of the page.
//!
//! The document is tokenised as the standard says and never built into a tree. The standard's tree
//! construction looks through the open elements for most tags, which takes 3.7 s for 50 000 nested
//! elements and four times that for twice as many; what a tree would tell beyond
//! [`elements::OpenElements`] concerns styling, not text.

mod elements;
pub(crate) mod facts;

use std::convert::Infallible;

use encoding_rs::Encoding;
use html5gum::emitters::callback::{Callback, CallbackEmitter, CallbackEvent};
use html5gum::{Span, State, Tokenizer};

use self::elements::{Break, Container, OpenElements, Role, break_of};
use crate::charset;
use crate::text::Extract;
use crate::writer::{self, Full, TextWriter};

/// How tags are closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Syntax {
    /// The slash in `<a/>` means nothing.
    Html,
    /// The slash in `<a/>` closes the element.
    Xml,
}

/// What becomes of navigation, footers and asides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Furniture {
    Drop,
    Keep,
}

/// Text and title of a document.
pub(crate) fn extract(html: &str, syntax: Syntax, max_chars: usize) -> Result<Extract, Full> {
    let run = |furniture| {
        let mut writer = TextWriter::new(max_chars);
        let title = walk(html, syntax, furniture, &mut writer);
        writer.finish().map(|text| Extract { title, text })
    };
    let extract = run(Furniture::Drop)?;
    // A page that is nothing but furniture, or whose author forgot to close it.
    if extract.text.is_empty() { run(Furniture::Keep) } else { Ok(extract) }
}

/// Writes the text of a piece of HTML inside another format, and tells the title that it contains.
/// Elements that are left open end with
/// the piece.
pub(crate) fn write_fragment(html: &str, writer: &mut TextWriter) -> Option<String> {
    walk(html, Syntax::Html, Furniture::Keep, writer)
}

/// The charset that the document declares in a `meta` element or as XML.
pub(crate) fn declared_charset(content: &[u8]) -> Option<&'static Encoding> {
    if let Some(encoding) = charset::declared_by_xml(content) {
        return Some(encoding);
    }
    let head = String::from_utf8_lossy(&content[..content.len().min(charset::DECLARATION_BYTES)]);
    let (mut in_meta, mut in_charset) = (false, false);
    let emitter = CallbackEmitter::new(move |event: CallbackEvent<'_>, _: Span<()>| {
        match event {
            CallbackEvent::OpenStartTag { name } => in_meta = name == b"meta",
            CallbackEvent::AttributeName { name } => in_charset = name == b"charset",
            CallbackEvent::AttributeValue { value } if in_meta && in_charset => {
                return charset::named(value);
            }
            CallbackEvent::AttributeValue { value } if in_meta => {
                return charset::value_of(value, b"charset");
            }
            _ => {}
        }
        None
    });
    tokenize(&head, emitter).next().map(|Ok(encoding)| encoding)
}

type Tokens<'h, C, T> = Tokenizer<html5gum::StringReader<'h>, CallbackEmitter<C, T>>;

fn tokenize<C: Callback<T, ()>, T>(
    html: &str,
    mut emitter: CallbackEmitter<C, T>,
) -> Tokens<'_, C, T> {
    emitter.naively_switch_states(true);
    Tokenizer::new_with_emitter(html, emitter)
}

fn walk(
    html: &str,
    syntax: Syntax,
    furniture: Furniture,
    writer: &mut TextWriter,
) -> Option<String> {
    let mut walker = Walker {
        writer,
        syntax,
        furniture,
        open: OpenElements::new(),
        dropping: 0,
        preformatted: 0,
        started: None,
        title: None,
        title_text: String::new(),
        heading: None,
        heading_from: None,
    };
    let emitter = CallbackEmitter::new(&mut walker);
    let mut tokens = tokenize(html, emitter);
    while let Some(token) = tokens.next() {
        let signal: Result<Signal, Infallible> = token;
        match signal {
            Ok(Signal::Full) => break,
            // The tokeniser took it for the beginning of a script or the like.
            Ok(Signal::Closed) => tokens.set_state(State::Data),
        }
    }
    walker.finish()
}

/// What the walker tells the loop that drives the tokeniser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Signal {
    /// There is no room for more text.
    Full,
    /// The element that just started has no content.
    Closed,
}

/// Turns tags and characters into text.
struct Walker<'w> {
    writer: &'w mut TextWriter,
    syntax: Syntax,
    furniture: Furniture,
    open: OpenElements,
    /// Number of open elements whose text is dropped.
    dropping: usize,
    /// Number of open elements that keep blanks.
    preformatted: usize,
    /// The container whose start tag is being read.
    started: Option<Container>,
    title: Option<String>,
    title_text: String,
    /// First heading of level 1.
    heading: Option<String>,
    /// Where it begins in the text, while it is open.
    heading_from: Option<usize>,
}

impl Callback<Signal, ()> for &mut Walker<'_> {
    fn handle_event(&mut self, event: CallbackEvent<'_>, _: Span<()>) -> Option<Signal> {
        match event {
            CallbackEvent::OpenStartTag { name } => self.start(name),
            CallbackEvent::CloseStartTag { self_closing } => {
                if let Some(container) = self.started.take()
                    && self_closing
                    && self.closes_itself(container)
                {
                    self.close_last();
                    return Some(Signal::Closed);
                }
            }
            CallbackEvent::EndTag { name } => self.end(name),
            CallbackEvent::String { value } => self.text(&String::from_utf8_lossy(value)),
            CallbackEvent::AttributeName { .. }
            | CallbackEvent::AttributeValue { .. }
            | CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
        self.writer.is_full().then_some(Signal::Full)
    }
}

impl Walker<'_> {
    fn finish(mut self) -> Option<String> {
        while self.close_last() {}
        self.title.or(self.heading)
    }

    fn drops(&self, role: Role) -> bool {
        match role {
            Role::Dropped => true,
            Role::Furniture => self.furniture == Furniture::Drop,
            Role::Block | Role::Title | Role::Preformatted | Role::List | Role::Table => false,
        }
    }

    fn closes_itself(&self, container: Container) -> bool {
        // Foreign content has the syntax of XML in HTML as well.
        let foreign = [Container::named(b"svg"), Container::named(b"math")];
        self.syntax == Syntax::Xml || foreign.contains(&Some(container))
    }

    fn start(&mut self, name: &[u8]) {
        self.started = Container::named(name);
        if let Some(container) = self.started {
            self.open.open(container);
            let role = container.role();
            self.dropping += usize::from(self.drops(role));
            if self.dropping > 0 {
                return;
            }
            match role {
                Role::Block | Role::Furniture => self.writer.paragraph(),
                Role::List | Role::Table => self.writer.open_frame(),
                Role::Preformatted => {
                    self.writer.paragraph();
                    self.preformatted += 1;
                }
                Role::Title => self.title_text.clear(),
                Role::Dropped => {}
            }
            return;
        }
        if self.dropping > 0 {
            return;
        }
        match break_of(name) {
            Break::None => {}
            Break::Hard if self.preformatted > 0 => self.writer.preformatted("\n"),
            Break::Hard => self.writer.hard_break(),
            Break::Line => self.writer.line(),
            Break::Paragraph => self.writer.paragraph(),
            Break::Heading => {
                self.writer.paragraph();
                if name == b"h1" && self.heading.is_none() {
                    self.heading_from = Some(self.writer.position());
                }
            }
            Break::Item => self.writer.item("- "),
            Break::Row => self.writer.row(),
            Break::Cell => self.writer.cell(),
        }
    }

    fn end(&mut self, name: &[u8]) {
        if let Some(container) = Container::named(name) {
            // Closes what was left open inside, as the standard does.
            while self.open.is_open(container) {
                let innermost = self.open.last() == Some(container);
                self.close_last();
                if innermost {
                    break;
                }
            }
            return;
        }
        if self.dropping > 0 {
            return;
        }
        match break_of(name) {
            Break::Paragraph => self.writer.paragraph(),
            Break::Line | Break::Item | Break::Row => self.writer.line(),
            Break::Heading => {
                self.writer.paragraph();
                if let Some(from) = self.heading_from.take() {
                    self.heading = writer::title(&self.writer.since(from));
                }
            }
            Break::None | Break::Hard | Break::Cell => {}
        }
    }

    fn close_last(&mut self) -> bool {
        let Some(container) = self.open.close_last() else { return false };
        let role = container.role();
        if self.dropping > 0 {
            self.dropping -= usize::from(self.drops(role));
            return true;
        }
        match role {
            Role::Block | Role::Furniture => self.writer.paragraph(),
            Role::List | Role::Table => self.writer.close_frame(),
            Role::Preformatted => {
                self.preformatted -= 1;
                self.writer.end_preformatted();
            }
            Role::Title => {
                if self.title.is_none() {
                    self.title = writer::title(&self.title_text);
                }
            }
            Role::Dropped => {}
        }
        true
    }

    fn text(&mut self, text: &str) {
        if self.dropping > 0 {
            return;
        }
        if self.open.last().is_some_and(|container| container.role() == Role::Title) {
            self.title_text.push_str(text);
        } else if self.preformatted > 0 {
            self.writer.preformatted(text);
        // Documentation generators put a link with such a sign at each heading.
        } else if !matches!(text, "¶" | "§") {
            self.writer.text(text);
        }
    }
}

#[cfg(test)]
mod tests;
