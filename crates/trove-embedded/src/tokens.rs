//! Access, sources, sets and tags as terms, the same for both engines.
//!
//! A document carries one term for everything a query can ask of it. A query is a conjunction of
//! groups, and a document passes when it carries at least one term of each group. A hidden document
//! carries no access term at all, and every query has an access group, so it never passes.

use trove_analysis::fnv1a;
use trove_domain::access::{AccessScope, ScopeFilter};
use trove_domain::document::{DocumentAttributes, tags};
use trove_domain::id::DocumentId;
use trove_domain::query::{IndexQuery, TimeRange};

/// Carried by every document that is not hidden.
const VISIBLE: &str = "v";
/// Carried by every public document that is not hidden.
const PUBLIC: &str = "p";
/// Longest term in bytes: beyond it both engines get slow or refuse it.
const TERM_BYTES_MAX: usize = 512;

/// What a document has to carry, as groups of alternatives, and when it must have changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct TermFilter {
    /// One term of each group; the first is the access group. Terms are sorted within a group.
    pub groups: Vec<Vec<String>>,
    /// When it must have changed.
    pub updated_at: Option<Span>,
    /// When it must have been created.
    pub created_at: Option<Span>,
}

/// A span of time that a filter asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Span {
    /// Microseconds since 1970, inclusive.
    pub start: i64,
    /// Microseconds since 1970, inclusive.
    pub end: i64,
}

impl Span {
    fn of(range: &TimeRange) -> Option<Self> {
        (!range.is_unbounded()).then(|| Self {
            start: range.start.map_or(i64::MIN, |start| start.timestamp_micros()),
            end: range.end.map_or(i64::MAX, |end| end.timestamp_micros()),
        })
    }

    /// Whether a document of this date passes; one without never does.
    pub(crate) fn admits(self, micros: Option<i64>) -> bool {
        micros.is_some_and(|micros| self.start <= micros && micros <= self.end)
    }
}

impl TermFilter {
    /// The scope and the filters of a query.
    pub(crate) fn of(query: &IndexQuery) -> Self {
        let filters = &query.filters;
        let mut groups = vec![access_group(&query.scope)];
        if !filters.sources.is_empty() {
            groups.push(group(filters.sources.iter().map(|source| term("s:", source.as_str()))));
        }
        if !filters.document_sets.is_empty() {
            groups
                .push(group(filters.document_sets.iter().map(|set| term("d:", &set.to_string()))));
        }
        for tag in &filters.tags {
            groups.push(vec![tag_term(&tag.key, &tag.value)]);
        }
        if let Some(knowledge) = &filters.knowledge {
            let sets = knowledge.document_sets.iter().map(|set| term("d:", &set.to_string()));
            let documents = knowledge.documents.iter().map(|id| term("i:", id.as_str()));
            groups.push(group(sets.chain(documents)));
        }
        Self {
            groups,
            updated_at: Span::of(&filters.updated_at),
            created_at: Span::of(&filters.created_at),
        }
    }
}

/// The terms that the document `id` with `attributes` carries.
pub(crate) fn terms_of(id: &DocumentId, attributes: &DocumentAttributes) -> Vec<String> {
    let mut terms = vec![term("i:", id.as_str())];
    if !attributes.hidden {
        terms.push(VISIBLE.to_owned());
        if attributes.access.public {
            terms.push(PUBLIC.to_owned());
        }
        terms.extend(attributes.access.tags.iter().map(|tag| term("a:", tag.as_str())));
    }
    terms.push(term("s:", attributes.source.as_str()));
    terms.extend(attributes.document_sets.iter().map(|set| term("d:", &set.to_string())));
    terms.extend(tags(&attributes.metadata).map(|tag| tag_term(&tag.key, &tag.value)));
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Terms as numbers, for the engine that compares them one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct TermNumbers {
    /// Terms that the access group of a query can hold.
    pub access: Vec<i64>,
    /// All others.
    pub other: Vec<i64>,
}

impl TermNumbers {
    /// The numbers of what [`terms_of`] returns.
    pub(crate) fn of(terms: &[String]) -> Self {
        let (access, other) = terms
            .iter()
            .partition::<Vec<&String>, _>(|term| !term.contains(':') || term.starts_with("a:"));
        let numbers = |terms: Vec<&String>| terms.into_iter().map(|term| number_of(term)).collect();
        Self { access: numbers(access), other: numbers(other) }
    }
}

/// The number of a term. Two terms may share one, which costs a hit that is dropped later.
pub(crate) fn number_of(term: &str) -> i64 {
    i64::from_le_bytes(fnv1a(term.as_bytes()).to_le_bytes())
}

fn access_group(scope: &AccessScope) -> Vec<String> {
    match scope.filter() {
        ScopeFilter::None => vec![VISIBLE.to_owned()],
        ScopeFilter::PublicOr(tags) => group(
            std::iter::once(PUBLIC.to_owned())
                .chain(tags.iter().map(|tag| term("a:", tag.as_str()))),
        ),
    }
}

fn group(terms: impl Iterator<Item = String>) -> Vec<String> {
    let mut terms: Vec<String> = terms.collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

fn tag_term(key: &str, value: &str) -> String {
    term("t:", &format!("{key}\0{value}"))
}

/// `kind` tells the name spaces apart. An overlong value is cut and told apart by a hash of the
/// whole; should two collide, the check of the fetched hits drops the wrong one.
fn term(kind: &str, value: &str) -> String {
    if kind.len() + value.len() <= TERM_BYTES_MAX {
        return format!("{kind}{value}");
    }
    let mut end = TERM_BYTES_MAX - 40;
    while !value.is_char_boundary(end) {
        end -= 1;
    }
    format!("{kind}{}\0{:016x}", &value[..end], fnv1a(value.as_bytes()))
}
