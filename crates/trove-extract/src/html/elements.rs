//! What the elements of HTML mean for its text, and which of them are open.

/// What an element does to the text in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// A paragraph or several.
    Block,
    /// The parts of a page around its content.
    Furniture,
    /// Nothing to read.
    Dropped,
    /// The document's title, which is not part of its text.
    Title,
    /// Blanks and line feeds are kept.
    Preformatted,
    /// Has items.
    List,
    /// Has rows and cells.
    Table,
}

/// The elements that have an inside we must know the end of.
///
/// Those whose end tag may be left out (`p`, `li`, `td` …) and inline elements are not among them:
/// for text only their beginnings and ends matter, as breaks. So misnesting, which is common there,
/// does no harm.
const CONTAINERS: [(&str, Role); 47] = [
    ("address", Role::Block),
    ("article", Role::Block),
    ("aside", Role::Furniture),
    ("blockquote", Role::Block),
    ("body", Role::Block),
    ("button", Role::Dropped),
    ("canvas", Role::Dropped),
    ("center", Role::Block),
    ("details", Role::Block),
    ("dialog", Role::Block),
    ("dir", Role::List),
    ("div", Role::Block),
    ("dl", Role::List),
    ("fieldset", Role::Block),
    ("figure", Role::Block),
    ("footer", Role::Furniture),
    ("form", Role::Block),
    ("head", Role::Block),
    ("header", Role::Block),
    ("hgroup", Role::Block),
    ("html", Role::Block),
    ("iframe", Role::Dropped),
    ("listing", Role::Preformatted),
    ("main", Role::Block),
    ("math", Role::Block),
    ("menu", Role::List),
    ("nav", Role::Furniture),
    ("noembed", Role::Dropped),
    ("noframes", Role::Dropped),
    ("noscript", Role::Dropped),
    ("object", Role::Block),
    ("ol", Role::List),
    ("plaintext", Role::Preformatted),
    ("pre", Role::Preformatted),
    ("script", Role::Dropped),
    ("search", Role::Block),
    ("section", Role::Block),
    ("select", Role::Dropped),
    ("style", Role::Dropped),
    ("svg", Role::Dropped),
    ("table", Role::Table),
    ("template", Role::Dropped),
    ("textarea", Role::Dropped),
    ("title", Role::Title),
    ("ul", Role::List),
    ("video", Role::Dropped),
    ("xmp", Role::Preformatted),
];

/// What a tag without an inside does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Break {
    None,
    /// Several of them make a paragraph.
    Hard,
    Line,
    Paragraph,
    Heading,
    Item,
    Row,
    Cell,
}

/// What the start tag does, and in most cases the end tag, too.
pub(super) fn break_of(name: &[u8]) -> Break {
    match name {
        b"br" => Break::Hard,
        b"dt" | b"dd" | b"option" => Break::Line,
        b"p" | b"hr" | b"figcaption" | b"summary" | b"caption" | b"legend" => Break::Paragraph,
        b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Break::Heading,
        b"li" => Break::Item,
        b"tr" => Break::Row,
        b"td" | b"th" => Break::Cell,
        _ => Break::None,
    }
}

/// One of the elements with an inside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Container(usize);

impl Container {
    pub(super) fn named(name: &[u8]) -> Option<Self> {
        CONTAINERS.binary_search_by(|(known, _)| known.as_bytes().cmp(name)).ok().map(Self)
    }

    pub(super) fn role(self) -> Role {
        CONTAINERS[self.0].1
    }
}

/// The containers that are open, outermost first.
///
/// The number of each kind is known, so that an end tag without its start tag costs nothing, and
/// every other end tag costs as much as the elements it closes: linear in all, however deep.
#[derive(Debug)]
pub(super) struct OpenElements {
    stack: Vec<Container>,
    counts: [usize; CONTAINERS.len()],
}

impl OpenElements {
    pub(super) fn new() -> Self {
        Self { stack: Vec::new(), counts: [0; CONTAINERS.len()] }
    }

    pub(super) fn open(&mut self, container: Container) {
        self.stack.push(container);
        self.counts[container.0] += 1;
    }

    pub(super) fn is_open(&self, container: Container) -> bool {
        self.counts[container.0] > 0
    }

    /// The innermost element.
    pub(super) fn last(&self) -> Option<Container> {
        self.stack.last().copied()
    }

    /// Closes the innermost element.
    pub(super) fn close_last(&mut self) -> Option<Container> {
        let closed = self.stack.pop()?;
        self.counts[closed.0] -= 1;
        Some(closed)
    }
}

#[cfg(test)]
mod tests {
    use super::{CONTAINERS, Container, OpenElements};

    #[test]
    fn containers_are_sorted_and_found() {
        assert!(CONTAINERS.is_sorted_by(|a, b| a.0 < b.0));
        for (name, role) in CONTAINERS {
            assert_eq!(Container::named(name.as_bytes()).map(Container::role), Some(role));
        }
        assert_eq!(Container::named(b"span"), None);
    }

    #[test]
    fn what_is_open_is_counted() {
        let div = Container::named(b"div").unwrap();
        let nav = Container::named(b"nav").unwrap();
        let mut open = OpenElements::new();
        open.open(div);
        open.open(nav);
        assert!(open.is_open(div) && open.is_open(nav));
        assert_eq!(open.close_last(), Some(nav));
        assert!(open.is_open(div) && !open.is_open(nav));
        assert_eq!(open.close_last(), Some(div));
        assert_eq!(open.close_last(), None);
    }
}
