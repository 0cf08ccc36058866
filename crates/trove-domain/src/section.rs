//! Adjacent chunks of one document, merged for display.

use std::collections::HashMap;

use crate::hit::ScoredChunk;
use crate::id::DocumentId;

/// A run of adjacent chunks of one document.
#[derive(Clone, Debug, PartialEq)]
pub struct RankedSection {
    /// The chunks, by rising ordinal and without gaps; never empty.
    pub chunks: Vec<ScoredChunk>,
    /// Position in `chunks` of the best-ranked one: its link, blurb and score stand for the
    /// section.
    pub center: usize,
}

impl RankedSection {
    /// The best-ranked chunk.
    #[must_use]
    pub fn center(&self) -> &ScoredChunk {
        &self.chunks[self.center]
    }

    /// The text of all chunks in document order, joined by a line feed.
    #[must_use]
    pub fn text(&self) -> String {
        let texts: Vec<&str> = self.chunks.iter().map(|hit| hit.chunk.text.as_str()).collect();
        texts.join("\n")
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> &DocumentId {
        &self.center().chunk.id.document
    }
}

/// Merges ranked chunks into sections.
///
/// Chunks of one document whose ordinals differ by exactly 1 belong to one section. Sections come
/// in the order of their best-ranked chunk. A chunk must occur at most once.
/// O(n log n).
#[must_use]
pub fn merge_adjacent(hits: Vec<ScoredChunk>) -> Vec<RankedSection> {
    let mut by_document: HashMap<DocumentId, Vec<(usize, ScoredChunk)>> = HashMap::new();
    for (rank, hit) in hits.into_iter().enumerate() {
        by_document.entry(hit.chunk.id.document.clone()).or_default().push((rank, hit));
    }
    let mut sections: Vec<(usize, RankedSection)> = Vec::new();
    for mut ranked in by_document.into_values() {
        ranked.sort_unstable_by_key(|(_, hit)| hit.chunk.id.ordinal);
        let runs = ranked.chunk_by(|(_, a), (_, b)| a.chunk.id.ordinal + 1 == b.chunk.id.ordinal);
        for run in runs {
            let center = run
                .iter()
                .enumerate()
                .min_by_key(|(_, (rank, _))| *rank)
                .map_or(0, |(position, _)| position);
            let chunks = run.iter().map(|(_, hit)| hit.clone()).collect();
            sections.push((run[center].0, RankedSection { chunks, center }));
        }
    }
    sections.sort_unstable_by_key(|(rank, _)| *rank);
    sections.into_iter().map(|(_, section)| section).collect()
}

/// Unites sections of one document whose ordinals overlap or follow one another.
///
/// A united section stands where the first of its parts stood, whose center it keeps. The parts
/// must be of one version of the document.
/// O(n log n) for n chunks in a few dozen sections.
#[must_use]
pub fn merge_touching(sections: Vec<RankedSection>) -> Vec<RankedSection> {
    let mut united: Vec<RankedSection> = Vec::with_capacity(sections.len());
    for section in sections {
        // A section may close the gap between several earlier ones.
        let mut touching: Vec<usize> =
            (0..united.len()).filter(|place| touch(&united[*place], &section)).collect();
        let Some(first) = (!touching.is_empty()).then(|| touching.remove(0)) else {
            united.push(section);
            continue;
        };
        let parts: Vec<RankedSection> =
            touching.into_iter().rev().map(|place| united.remove(place)).chain([section]).collect();
        let into = &mut united[first];
        let center = into.center().chunk.id.ordinal;
        for part in parts {
            for hit in part.chunks {
                let place = into
                    .chunks
                    .binary_search_by_key(&hit.chunk.id.ordinal, |known| known.chunk.id.ordinal);
                if let Err(place) = place {
                    into.chunks.insert(place, hit);
                }
            }
        }
        let center = into.chunks.iter().position(|hit| hit.chunk.id.ordinal == center);
        into.center = center.unwrap_or(0);
    }
    united
}

fn touch(a: &RankedSection, b: &RankedSection) -> bool {
    let ends = |section: &RankedSection| {
        let ordinal = |hit: Option<&ScoredChunk>| hit.map_or(0, |hit| hit.chunk.id.ordinal);
        (ordinal(section.chunks.first()), ordinal(section.chunks.last()))
    };
    let ((first_a, last_a), (first_b, last_b)) = (ends(a), ends(b));
    a.document() == b.document()
        && first_a <= last_b.saturating_add(1)
        && first_b <= last_a.saturating_add(1)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::{RankedSection, merge_adjacent, merge_touching};
    use crate::access::DocumentAccess;
    use crate::chunk::ChunkId;
    use crate::document::DocumentAttributes;
    use crate::hit::{IndexedChunk, ScoredChunk};
    use crate::id::DocumentId;
    use crate::source::DocumentSource;

    fn hit(document: &str, ordinal: u32) -> ScoredChunk {
        let attributes = Arc::new(DocumentAttributes {
            semantic_identifier: document.to_owned(),
            source: DocumentSource::Web,
            access: DocumentAccess::public(),
            document_sets: BTreeSet::new(),
            hidden: false,
            boost: 0,
            metadata: BTreeMap::new(),
            updated_at: None,
            created_at: None,
            primary_owners: Vec::new(),
            secondary_owners: Vec::new(),
        });
        ScoredChunk {
            chunk: IndexedChunk {
                id: ChunkId { document: DocumentId::new(document).unwrap(), ordinal },
                title: None,
                text: format!("{document}{ordinal}"),
                blurb: String::new(),
                link: None,
                attributes,
            },
            score: 1.0,
        }
    }

    /// `A1 A2*` per section, sections joined by ` | `; the star marks the center.
    fn render(ranked: &[(&str, u32)]) -> String {
        let hits = ranked.iter().map(|(document, ordinal)| hit(document, *ordinal)).collect();
        text(&merge_adjacent(hits))
    }

    fn text(sections: &[RankedSection]) -> String {
        let sections: Vec<String> = sections
            .iter()
            .map(|section| {
                let chunks: Vec<String> = section
                    .chunks
                    .iter()
                    .enumerate()
                    .map(|(position, hit)| {
                        let star = if position == section.center { "*" } else { "" };
                        format!("{}{star}", hit.chunk.text)
                    })
                    .collect();
                chunks.join(" ")
            })
            .collect();
        sections.join(" | ")
    }

    #[test]
    fn adjacent_chunks_merge_at_the_place_of_the_best() {
        assert_eq!(render(&[("A", 2), ("B", 0), ("A", 1), ("A", 5)]), "A1 A2* | B0* | A5*");
        assert_eq!(render(&[("A", 5), ("B", 0), ("A", 1), ("A", 2)]), "A5* | B0* | A1* A2");
        assert_eq!(render(&[("A", 1), ("A", 3)]), "A1* | A3*");
        assert_eq!(render(&[]), "");
    }

    /// A section of the chunks `first` to `last`, the center of which is the last.
    fn section(document: &str, first: u32, last: u32) -> RankedSection {
        let chunks: Vec<_> = (first..=last).map(|ordinal| hit(document, ordinal)).collect();
        RankedSection { center: chunks.len() - 1, chunks }
    }

    #[test]
    fn sections_that_touch_are_united_at_the_place_of_the_first() {
        let united = |sections: &[(&str, u32, u32)]| {
            text(&merge_touching(sections.iter().map(|&(d, a, b)| section(d, a, b)).collect()))
        };
        assert_eq!(united(&[("A", 3, 4), ("B", 0, 0), ("A", 1, 2)]), "A1 A2 A3 A4* | B0*");
        assert_eq!(united(&[("A", 1, 3), ("A", 2, 5)]), "A1 A2 A3* A4 A5");
        assert_eq!(united(&[("A", 1, 1), ("A", 3, 3)]), "A1* | A3*");
        assert_eq!(united(&[("A", 1, 1), ("A", 3, 3), ("A", 2, 2)]), "A1* A2 A3");
        assert_eq!(united(&[("A", 0, 5), ("A", 2, 3)]), "A0 A1 A2 A3 A4 A5*");
        assert_eq!(united(&[("A", 1, 1), ("B", 2, 2)]), "A1* | B2*");
    }

    proptest! {
        #[test]
        fn united_sections_never_touch_and_lose_nothing(
            parts in proptest::collection::vec((0u8..2, 0u32..12, 0u32..4), 0..10)
        ) {
            let sections: Vec<_> =
                parts.iter().map(|(d, a, n)| section(&d.to_string(), *a, a + n)).collect();
            let ids = |sections: &[RankedSection]| -> BTreeSet<String> {
                sections.iter().flat_map(|s| &s.chunks).map(|h| h.chunk.text.clone()).collect()
            };
            let united = merge_touching(sections.clone());
            prop_assert_eq!(ids(&united), ids(&sections));
            prop_assert_eq!(
                united.iter().map(|s| s.chunks.len()).sum::<usize>(),
                ids(&united).len()
            );
            for (place, a) in united.iter().enumerate() {
                prop_assert!(united[place + 1..].iter().all(|b| !super::touch(a, b)));
                let ordinals: Vec<_> = a.chunks.iter().map(|hit| hit.chunk.id.ordinal).collect();
                prop_assert!(ordinals.windows(2).all(|w| w[0] + 1 == w[1]));
            }
        }

        #[test]
        fn sections_never_touch_and_lose_nothing(
            ranked in proptest::collection::hash_set((0u8..3, 0u32..12), 0..24)
        ) {
            let hits: Vec<_> = ranked
                .iter()
                .map(|(document, ordinal)| hit(&document.to_string(), *ordinal))
                .collect();
            let count = hits.len();
            let sections = merge_adjacent(hits);
            prop_assert_eq!(sections.iter().map(|s| s.chunks.len()).sum::<usize>(), count);
            for (position, a) in sections.iter().enumerate() {
                for b in &sections[position + 1..] {
                    if a.document() == b.document() {
                        let end = |s: &super::RankedSection| s.chunks.last().unwrap().chunk.id.ordinal;
                        let start = |s: &super::RankedSection| s.chunks[0].chunk.id.ordinal;
                        prop_assert!(end(a) + 1 < start(b) || end(b) + 1 < start(a));
                    }
                }
            }
        }
    }
}
