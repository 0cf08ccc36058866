//! What is found, in which order, and what a hit shows.

use std::collections::BTreeSet;

use trove_domain::chunk::{Chunk, ChunkId};
use trove_domain::document::DocumentAttributes;
use trove_domain::hit::ScoredChunk;
use trove_domain::id::DocumentSetId;
use trove_domain::port::{DocumentIndex, DocumentIndexError};
use trove_domain::source::DocumentSource;

use super::{found, found_in_any_order, search, update, write};
use crate::builders::{DocumentBuilder, document, instant, query, readable_by};

fn rich_attributes(name: &str) -> DocumentAttributes {
    let tagged = document("x").metadata("team", &["red"]).metadata("list", &["b", "a", "b"]);
    DocumentAttributes {
        semantic_identifier: name.to_owned(),
        source: DocumentSource::GoogleDrive,
        access: readable_by(&["group:7", "user_email:a@example.com"]),
        document_sets: BTreeSet::from([DocumentSetId(3), DocumentSetId(5)]),
        hidden: false,
        boost: -2,
        metadata: tagged.build().attributes.metadata,
        updated_at: Some(instant(1_700_000_000)),
        created_at: Some(instant(1_600_000_000)),
        primary_owners: vec!["Ann Lee".to_owned()],
        secondary_owners: vec!["b@example.com".to_owned(), "Çelik".to_owned()],
    }
}

/// Nothing of what a result shows needs another look-up.
pub async fn a_hit_carries_all_that_was_written(index: &dyn DocumentIndex) {
    let mut written = document("https://example.com/ä?b=1#c").title("The Title").build();
    written.attributes = rich_attributes("name");
    written.chunks = (0..3)
        .map(|ordinal| Chunk {
            ordinal,
            text: format!("zebra\n  number {ordinal} 🦓"),
            blurb: format!("blurb {ordinal}"),
            link: (ordinal != 1).then(|| format!("https://example.com/{ordinal}")),
            vector: None,
        })
        .collect();
    index.replace(vec![written.clone()]).await.unwrap();

    let hits = search(index, query("zebra").within(&["group:7"])).await;

    assert_eq!(hits.len(), 3);
    for (ordinal, hit) in (0u32..).zip(&hits) {
        let (chunk, from) =
            (&hit.chunk, &written.chunks[usize::try_from(hit.chunk.id.ordinal).unwrap()]);
        assert_eq!(chunk.id, ChunkId { document: written.id.clone(), ordinal });
        assert_eq!(chunk.title, written.title);
        assert_eq!((&chunk.text, &chunk.blurb, &chunk.link), (&from.text, &from.blurb, &from.link));
        assert_eq!(*chunk.attributes, written.attributes);
    }
}

/// A hit shows the attributes of the latest update, the text of the latest replace.
pub async fn a_hit_carries_updated_attributes(index: &dyn DocumentIndex) {
    write(index, [document("a").title("title").texts(&["zebra one", "zebra two"])]).await;
    let mut changed = document("a");
    changed.0.attributes = rich_attributes("new name");
    update(index, changed).await;

    let hits = search(index, query("zebra").within(&["group:7"])).await;

    assert_eq!(hits.len(), 2);
    for hit in hits {
        assert_eq!(*hit.chunk.attributes, rich_attributes("new name"));
        assert_eq!(hit.chunk.title.as_deref(), Some("title"));
        assert!(hit.chunk.text.starts_with("zebra "));
    }
}

/// The title is searched with every chunk, and shown with none.
pub async fn words_of_the_title_are_matched(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("a").title("Zebra handbook").texts(&["first part", "second part"]),
            document("b").text("something else"),
        ],
    )
    .await;
    let hits = search(index, query("zebras")).await;
    assert_eq!(hits.len(), 2);
    assert!(hits.iter().all(|hit| !hit.chunk.text.contains("Zebra")));
}

/// Values count, in every chunk and as they are now; keys do not, nor what is for filters only.
pub async fn words_of_metadata_are_matched(index: &dyn DocumentIndex) {
    let with = |animals: &[&str]| {
        let tagged = document("a").texts(&["first part", "second part"]);
        tagged.metadata("animals", animals).metadata("ignore_for_qa", &["giraffe"])
    };
    write(index, [with(&["zebra", "Grey heron"])]).await;
    assert_eq!(search(index, query("zebras")).await.len(), 2);
    assert_eq!(search(index, query("heron")).await.len(), 2);
    assert_eq!(found(index, query("animals giraffe")).await, Vec::<String>::new());
    update(index, with(&["okapi"]).revision(2)).await;
    assert_eq!(found(index, query("zebra")).await, Vec::<String>::new());
    let hits = search(index, query("okapi")).await;
    assert_eq!(hits.len(), 2);
    assert!(hits.iter().all(|hit| hit.chunk.text.ends_with("part")));
}

/// Words are alternatives, and each of them counts.
pub async fn a_chunk_with_more_of_the_words_is_better(index: &dyn DocumentIndex) {
    write(
        index,
        [
            document("one").text("zebra crossing at the station"),
            document("two").text("zebra with giraffe at the station"),
            document("zero").text("nothing of the kind"),
        ],
    )
    .await;
    assert_eq!(found(index, query("giraffe zebra")).await, ["two", "one"]);
}

/// Chunks that no word and no vector order agree on.
fn cross_ranked(dimensions: Option<usize>) -> [DocumentBuilder; 4] {
    [
        document("word-best").text("zebra zebra zebra").near(dimensions, 60.0),
        document("word-good").text("zebra and a few other things here").near(dimensions, 40.0),
        document("vector-best").text("striped horse").near(dimensions, 1.0),
        document("vector-good").text("animals of africa").near(dimensions, 20.0),
    ]
}

/// Vectors are ignored, and chunks without a word of the query are no hits.
pub async fn hybrid_at_alpha_zero_ranks_like_lexical(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    write(index, cross_ranked(dimensions)).await;
    let lexical = search(index, query("zebra")).await;
    let hybrid = search(index, query("zebra").near(dimensions, 0.0).alpha(0.0)).await;
    assert_eq!(lexical, hybrid);
    assert_eq!(found(index, query("zebra").alpha(0.0)).await, ["word-best", "word-good"]);
}

/// The nearest vectors in order, whatever the words.
pub async fn hybrid_at_alpha_one_ranks_by_vectors(index: &dyn DocumentIndex) {
    let Some(dimensions) = index.capabilities().dimensions else { return };
    write(index, cross_ranked(Some(dimensions))).await;
    for text in ["zebra", "", "no such word"] {
        let query = query(text).near(Some(dimensions), 0.0).alpha(1.0);
        assert_eq!(
            found(index, query).await,
            ["vector-best", "vector-good", "word-good", "word-best"],
        );
    }
}

/// A chunk that only one half knows is found; one that both know is better than its neighbours.
pub async fn between_them_both_halves_count(index: &dyn DocumentIndex) {
    let Some(dimensions) = index.capabilities().dimensions else { return };
    write(index, cross_ranked(Some(dimensions))).await;
    write(index, [document("both").text("zebra zebra").near(Some(dimensions), 5.0)]).await;
    let ids = found(index, query("zebra").near(Some(dimensions), 0.0).alpha(0.5)).await;
    assert_eq!(ids.first().map(String::as_str), Some("both"));
    assert_eq!(ids.len(), 5);
}

/// Whatever `alpha` says.
pub async fn without_a_vector_search_is_lexical(index: &dyn DocumentIndex) {
    write(index, cross_ranked(index.capabilities().dimensions)).await;
    let lexical = search(index, query("zebra").alpha(0.0)).await;
    for alpha in [0.5, 1.0] {
        assert_eq!(search(index, query("zebra").alpha(alpha)).await, lexical);
    }
}

/// Documents that were written without a model are part of the index all the same.
pub async fn chunks_without_vectors_are_found_by_words(index: &dyn DocumentIndex) {
    let Some(dimensions) = index.capabilities().dimensions else { return };
    write(
        index,
        [
            document("plain").text("zebra"),
            document("vector").text("horse").near(Some(dimensions), 1.0),
        ],
    )
    .await;
    let query = |alpha| query("zebra").near(Some(dimensions), 0.0).alpha(alpha);
    assert_eq!(found(index, query(0.0)).await, ["plain"]);
    assert_eq!(found_in_any_order(index, query(0.5)).await, ["plain", "vector"]);
    assert_eq!(found(index, query(1.0)).await, ["vector"]);
}

/// Another model made it; its answer would mean nothing.
pub async fn a_query_vector_of_another_length_is_refused(index: &dyn DocumentIndex) {
    let Some(dimensions) = index.capabilities().dimensions else { return };
    let query = query("zebra").near(Some(dimensions + 1), 0.0).build();
    let error = index.search(&query).await.unwrap_err();
    assert!(matches!(
        error,
        DocumentIndexError::DimensionMismatch { got, want }
            if got == dimensions + 1 && want == dimensions
    ));
}

/// Zero is a limit like any other.
pub async fn no_hits_are_returned_for_limit_zero(index: &dyn DocumentIndex) {
    write(index, [document("a").text("zebra")]).await;
    assert!(search(index, query("zebra").limit(0)).await.is_empty());
}

/// The limit counts chunks, and what is within it is the best.
pub async fn at_most_limit_hits_are_returned(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    write(
        index,
        (0..30).map(|n| {
            document(&format!("{n:02}"))
                .texts(&["zebra", "zebra one more"])
                .near(dimensions, f64::from(n))
        }),
    )
    .await;
    for alpha in [0.0, 0.5, 1.0] {
        let query = |limit| query("zebra").near(dimensions, 0.0).alpha(alpha).limit(limit);
        let all = search(index, query(1000)).await;
        assert_eq!(all.len(), 60);
        for limit in [1, 7, 59, 60, 61] {
            let some = search(index, query(limit)).await;
            assert_eq!(some, all[..limit.min(60)], "limit {limit}");
        }
    }
}

/// Equal scores are in the order of their chunk ids, at the cut too.
pub async fn hits_come_best_first_with_ties_by_chunk_id(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    // Written in another order than that of their ids, in several commits.
    for ids in [["d", "b"], ["a", "c"]] {
        write(index, ids.map(|id| document(id).texts(&["zebra", "zebra"]).near(dimensions, 10.0)))
            .await;
    }
    write(index, [document("z").text("zebra zebra zebra").near(dimensions, 0.0)]).await;
    let label = |hit: &ScoredChunk| hit.chunk.id.to_string();
    for alpha in [0.0, 0.5, 1.0] {
        let query = |limit| query("zebra").near(dimensions, 0.0).alpha(alpha).limit(limit);
        let hits = search(index, query(10)).await;
        assert!(hits.is_sorted_by(|a, b| a.score >= b.score));
        assert_eq!(
            hits.iter().map(label).collect::<Vec<_>>(),
            ["z#0", "a#0", "a#1", "b#0", "b#1", "c#0", "c#1", "d#0", "d#1"],
        );
        let cut = search(index, query(4)).await;
        assert_eq!(cut.iter().map(label).collect::<Vec<_>>(), ["z#0", "a#0", "a#1", "b#0"]);
    }
}

/// There is nothing to find, and that is no error.
pub async fn an_empty_index_finds_nothing(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    for alpha in [0.0, 0.5, 1.0] {
        assert!(search(index, query("zebra").near(dimensions, 0.0).alpha(alpha)).await.is_empty());
    }
}
