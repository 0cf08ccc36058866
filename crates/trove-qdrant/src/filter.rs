//! Access and filters: what chunks carry, and what a query asks of them.
//!
//! The server applies the conditions while it ranks. Before a hit is returned, the attributes of
//! its document are checked once more, which is exact where conditions are not.

use std::collections::BTreeSet;

use chrono::{DateTime, Utc};
use qdrant_client::qdrant::r#match::MatchValue;
use qdrant_client::qdrant::{
    Condition, FieldCondition, Filter, Match, Range, RepeatedIntegers, RepeatedStrings, Value,
};
use sha2::{Digest, Sha256};
use trove_domain::access::{AccessScope, ScopeFilter};
use trove_domain::document::{DocumentAttributes, tags};
use trove_domain::id::DocumentId;
use trove_domain::query::{IndexQuery, TimeRange};

use crate::payload::{Payload, field, list};

/// Carried by every document that is not hidden.
const VISIBLE: &str = "visible";
/// Carried by every public document that is not hidden.
const PUBLIC: &str = "public";
/// Longest keyword in bytes: beyond it an index of keywords wastes memory.
const KEYWORD_BYTES_MAX: usize = 512;

/// Adds what filters ask of a document with `attributes` to the payload of a chunk.
pub(crate) fn describe(attributes: &DocumentAttributes, payload: &mut Payload) {
    let mut access = Vec::new();
    // A hidden document carries nothing here, and every query asks for something.
    if !attributes.hidden {
        access.push(VISIBLE.to_owned());
        if attributes.access.public {
            access.push(PUBLIC.to_owned());
        }
        access.extend(attributes.access.tags.iter().map(|tag| access_keyword(tag.as_str())));
    }
    payload.insert(field::ACCESS.to_owned(), list(access));
    payload.insert(field::SOURCE.to_owned(), attributes.source.as_str().into());
    let sets = attributes.document_sets.iter().map(|set| i64::from(set.0));
    payload.insert(field::DOCUMENT_SETS.to_owned(), list(sets));
    let tags: BTreeSet<String> =
        tags(&attributes.metadata).map(|tag| tag_keyword(&tag.key, &tag.value)).collect();
    payload.insert(field::TAGS.to_owned(), list(tags));
    for (name, instant) in
        [(field::UPDATED_AT, attributes.updated_at), (field::CREATED_AT, attributes.created_at)]
    {
        if let Some(instant) = instant {
            payload.insert(name.to_owned(), Value::from(instant.timestamp_micros()));
        }
    }
}

/// The scope and the filters of a query.
pub(crate) fn of_query(query: &IndexQuery) -> Filter {
    let filters = &query.filters;
    let mut must = vec![access_condition(&query.scope)];
    if !filters.sources.is_empty() {
        let sources = filters.sources.iter().map(|source| source.as_str().to_owned());
        must.push(any_keyword(field::SOURCE, sources.collect()));
    }
    if !filters.document_sets.is_empty() {
        let integers = filters.document_sets.iter().map(|set| i64::from(set.0)).collect();
        must.push(matching(
            field::DOCUMENT_SETS,
            MatchValue::Integers(RepeatedIntegers { integers }),
        ));
    }
    for tag in &filters.tags {
        must.push(keyword(field::TAGS, tag_keyword(&tag.key, &tag.value)));
    }
    must.extend(within(field::UPDATED_AT, &filters.updated_at));
    must.extend(within(field::CREATED_AT, &filters.created_at));
    if let Some(knowledge) = &filters.knowledge {
        let integers = knowledge.document_sets.iter().map(|set| i64::from(set.0)).collect();
        let in_sets = MatchValue::Integers(RepeatedIntegers { integers });
        must.push(any_of([
            matching(field::DOCUMENT_SETS, in_sets),
            of_documents(knowledge.documents.iter()),
        ]));
    }
    Filter { must, ..Filter::default() }
}

/// Chunks of any of `documents`.
pub(crate) fn of_documents<'a>(documents: impl Iterator<Item = &'a DocumentId>) -> Condition {
    any_keyword(field::DOCUMENT, documents.map(|id| id.as_str().to_owned()).collect())
}

/// Points that carry any of `values` in `name`.
pub(crate) fn any_keyword(name: &str, strings: Vec<String>) -> Condition {
    matching(name, MatchValue::Keywords(RepeatedStrings { strings }))
}

/// Points whose number in `name` lies below `end`.
pub(crate) fn below(name: &str, end: DateTime<Utc>) -> Condition {
    let range = Range { lt: Some(float(end.timestamp_micros())), ..Range::default() };
    FieldCondition { key: name.to_owned(), range: Some(range), ..FieldCondition::default() }.into()
}

fn access_condition(scope: &AccessScope) -> Condition {
    match scope.filter() {
        ScopeFilter::None => keyword(field::ACCESS, VISIBLE.to_owned()),
        ScopeFilter::PublicOr(tags) => {
            let tags = tags.iter().map(|tag| access_keyword(tag.as_str()));
            any_keyword(field::ACCESS, std::iter::once(PUBLIC.to_owned()).chain(tags).collect())
        }
    }
}

/// Points whose date in `name` lies in `range`: none without one.
fn within(name: &str, range: &TimeRange) -> Option<Condition> {
    if range.is_unbounded() {
        return None;
    }
    let micros = |end: Option<DateTime<Utc>>| end.map(|end| float(end.timestamp_micros()));
    let range = Range { gte: micros(range.start), lte: micros(range.end), ..Range::default() };
    let key = name.to_owned();
    Some(FieldCondition { key, range: Some(range), ..FieldCondition::default() }.into())
}

fn any_of(should: impl Into<Vec<Condition>>) -> Condition {
    Filter { should: should.into(), ..Filter::default() }.into()
}

fn keyword(name: &str, value: String) -> Condition {
    matching(name, MatchValue::Keyword(value))
}

fn matching(name: &str, value: MatchValue) -> Condition {
    FieldCondition {
        key: name.to_owned(),
        r#match: Some(Match { match_value: Some(value) }),
        ..FieldCondition::default()
    }
    .into()
}

fn access_keyword(tag: &str) -> String {
    bounded("tag:", tag)
}

fn tag_keyword(key: &str, value: &str) -> String {
    bounded("", &format!("{key}\0{value}"))
}

/// An overlong value is cut, and told from others that begin like it by a digest of the whole.
fn bounded(kind: &str, value: &str) -> String {
    if kind.len() + value.len() <= KEYWORD_BYTES_MAX {
        return format!("{kind}{value}");
    }
    let digest = Sha256::digest(value.as_bytes());
    let end = value.floor_char_boundary(KEYWORD_BYTES_MAX - 100);
    format!("{kind}{}\0{digest:x}", &value[..end])
}

#[expect(
    clippy::as_conversions,
    clippy::cast_precision_loss,
    reason = "microseconds are exact in 53 bits up to the year 2255; beyond, hits are checked again"
)]
fn float(micros: i64) -> f64 {
    micros as f64
}

#[cfg(test)]
mod tests {
    use super::{KEYWORD_BYTES_MAX, bounded, tag_keyword};

    #[test]
    fn overlong_values_are_cut_and_told_apart() {
        let long = "ü".repeat(40_000);
        let (one, other) = (bounded("tag:", &format!("{long}a")), bounded("tag:", &long));
        assert!(one.len() <= KEYWORD_BYTES_MAX && other.len() <= KEYWORD_BYTES_MAX);
        assert_ne!(one, other);
        assert_eq!(other, bounded("tag:", &long));
        assert_eq!(bounded("tag:", "group:1"), "tag:group:1");
    }

    #[test]
    fn key_and_value_of_a_tag_are_kept_apart() {
        assert_ne!(tag_keyword("x", "y:z"), tag_keyword("x:y", "z"));
        assert_ne!(tag_keyword("x", ""), tag_keyword("", "x"));
    }
}
