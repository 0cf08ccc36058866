//! Which entries a query may see: the filter, evaluated before anything is ranked.

use tantivy::columnar::Column;
use tantivy::postings::Postings;
use tantivy::schema::IndexRecordOption;
use tantivy::{DocId, SegmentReader, TERMINATED, Term};

use super::schema::{CREATED_AT, Fields, UPDATED_AT};
use crate::tokens::TermFilter;

/// A set of entries of one segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EntrySet {
    words: Box<[u64]>,
}

impl EntrySet {
    fn empty(entries: DocId) -> Self {
        let words = usize::try_from(entries).unwrap_or(usize::MAX).div_ceil(64);
        Self { words: vec![0; words].into_boxed_slice() }
    }

    fn insert(&mut self, entry: DocId) {
        let (word, bit) = position(entry);
        if let Some(word) = self.words.get_mut(word) {
            *word |= bit;
        }
    }

    /// Whether `entry` is in the set.
    pub(crate) fn contains(&self, entry: DocId) -> bool {
        let (word, bit) = position(entry);
        self.words.get(word).is_some_and(|word| word & bit != 0)
    }

    fn intersect(&mut self, other: &Self) {
        for (word, other) in self.words.iter_mut().zip(&other.words) {
            *word &= other;
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(DocId) -> bool) {
        for (index, word) in self.words.iter_mut().enumerate() {
            let mut rest = *word;
            while rest != 0 {
                let bit = rest.trailing_zeros();
                rest &= rest - 1;
                let entry = u32::try_from(index * 64).unwrap_or(u32::MAX) + bit;
                if !keep(entry) {
                    *word &= !(1 << bit);
                }
            }
        }
    }
}

fn position(entry: DocId) -> (usize, u64) {
    (usize::try_from(entry >> 6).unwrap_or(usize::MAX), 1 << (entry & 63))
}

/// The entries of `segment` that pass `filter`, whether they are deleted or not: like the segment
/// itself the set never changes, so it can be kept.
pub(crate) fn allowed_entries(
    fields: &Fields,
    segment: &SegmentReader,
    filter: &TermFilter,
) -> tantivy::Result<EntrySet> {
    let index = segment.inverted_index(fields.terms)?;
    let mut allowed: Option<EntrySet> = None;
    for group in &filter.groups {
        let mut members = EntrySet::empty(segment.max_doc());
        for term in group {
            let term = Term::from_field_text(fields.terms, term);
            if let Some(mut postings) = index.read_postings(&term, IndexRecordOption::Basic)? {
                insert_all(&mut members, &mut postings);
            }
        }
        match &mut allowed {
            Some(allowed) => allowed.intersect(&members),
            None => allowed = Some(members),
        }
    }
    // There is always an access group; without one nothing would be allowed.
    let mut allowed = allowed.unwrap_or_else(|| EntrySet::empty(segment.max_doc()));
    for (column, span) in [(UPDATED_AT, filter.updated_at), (CREATED_AT, filter.created_at)] {
        if let Some(span) = span {
            let column: Column<i64> = segment.fast_fields().i64(column)?;
            allowed.retain(|entry| span.admits(column.first(entry)));
        }
    }
    Ok(allowed)
}

fn insert_all(members: &mut EntrySet, postings: &mut impl Postings) {
    let mut entry = postings.doc();
    while entry != TERMINATED {
        members.insert(entry);
        entry = postings.advance();
    }
}
