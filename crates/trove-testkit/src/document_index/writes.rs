//! Writing: what is durable and visible when, and that a document changes as a whole.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Poll;

use futures::future::join_all;
use futures::poll;
use trove_domain::port::{AttributeUpdate, DocumentIndex, DocumentIndexError, WriteOutcome};

use super::{expect_found, found, found_in_any_order, remove, search, update, write};
use crate::builders::{DocumentBuilder, attributes, document, document_id, query};

/// Nothing to do is done.
pub async fn an_empty_batch_is_fine(index: &dyn DocumentIndex) {
    assert_eq!(index.replace(Vec::new()).await.unwrap(), []);
    assert_eq!(index.update_attributes(Vec::new()).await.unwrap(), []);
    index.remove(&[]).await.unwrap();
}

/// The declared limit is usable.
pub async fn a_batch_at_the_limit_is_written(index: &dyn DocumentIndex) {
    let max = index.capabilities().batch_max;
    write(index, (0..max).map(|n| document(&format!("{n}")).text("zebra"))).await;
    assert_eq!(index.statistics().await.unwrap().documents, u64::try_from(max).unwrap());
}

/// The engine splits; an index does not guess.
pub async fn a_batch_beyond_the_limit_is_refused(index: &dyn DocumentIndex) {
    let max = index.capabilities().batch_max;
    let ids: Vec<String> = (0..=max).map(|n| n.to_string()).collect();
    let documents = ids.iter().map(|id| document(id).build()).collect();
    let refused = |error| {
        assert!(matches!(
            error,
            DocumentIndexError::BatchTooLarge { got, max: limit } if got == max + 1 && limit == max
        ));
    };
    refused(index.replace(documents).await.unwrap_err());
    let updates = ids.iter().map(|id| document(id).into_update()).collect();
    refused(index.update_attributes(updates).await.unwrap_err());
    assert_eq!(index.statistics().await.unwrap().documents, 0);
}

/// All or nothing: the check comes first.
pub async fn a_vector_of_another_length_is_refused_before_anything_is_written(
    index: &dyn DocumentIndex,
) {
    let Some(dimensions) = index.capabilities().dimensions else { return };
    let documents = vec![
        document("a").near(Some(dimensions), 0.0).build(),
        document("b").near(Some(dimensions + 1), 0.0).build(),
    ];
    let error = index.replace(documents).await.unwrap_err();
    assert!(matches!(
        error,
        DocumentIndexError::DimensionMismatch { got, want }
            if got == dimensions + 1 && want == dimensions
    ));
    assert_eq!(index.statistics().await.unwrap().documents, 0);
}

/// The same write again gives the same index.
pub async fn replace_is_idempotent(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    for _ in 0..3 {
        write(index, [document("a").texts(&["zebra one", "zebra two"]).near(dimensions, 5.0)])
            .await;
        let hits = search(index, query("zebra").near(dimensions, 0.0)).await;
        let ordinals: BTreeSet<u32> = hits.iter().map(|hit| hit.chunk.id.ordinal).collect();
        assert_eq!((hits.len(), ordinals), (2, BTreeSet::from([0, 1])));
    }
    assert_eq!(index.statistics().await.unwrap().chunks, 2);
}

/// Text, title, vectors and attributes.
pub async fn replace_changes_the_whole_document(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let old = document("a").title("old").texts(&["zebra", "lion"]).near(dimensions, 0.0);
    write(index, [old, document("b").text("other").near(dimensions, 30.0)]).await;
    write(
        index,
        [document("a")
            .revision(2)
            .title("new")
            .texts(&["horse", "tiger"])
            .near(dimensions, 90.0)
            .readable_by(&["group:1"])],
    )
    .await;
    for gone in ["zebra", "lion", "old"] {
        assert!(found(index, query(gone).unrestricted()).await.is_empty(), "{gone}");
    }
    assert!(found(index, query("horse")).await.is_empty());
    assert_eq!(found(index, query("horse new").within(&["group:1"])).await, ["a"]);
    if dimensions.is_some() {
        let nearest = query("").near(dimensions, 0.0).alpha(1.0).unrestricted();
        assert_eq!(found(index, nearest).await, ["b", "a"]);
    }
}

/// A shorter version leaves nothing of the longer one.
pub async fn replace_with_fewer_chunks_removes_the_surplus(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let long = ["zebra 0", "zebra 1", "zebra 2", "zebra 3"];
    write(index, [document("a").texts(&long).near(dimensions, 0.0)]).await;
    write(index, [document("a").revision(2).text("zebra").near(dimensions, 0.0)]).await;
    for alpha in [0.0, 0.5, 1.0] {
        let hits = search(index, query("zebra").near(dimensions, 0.0).alpha(alpha)).await;
        assert_eq!(hits.len(), 1, "alpha {alpha}");
        assert_eq!((hits[0].chunk.id.ordinal, hits[0].chunk.text.as_str()), (0, "zebra"));
    }
    assert_eq!(index.statistics().await.unwrap().chunks, 1);
}

/// A late write of an old version does not undo a newer one.
pub async fn a_lower_revision_is_superseded_and_changes_nothing(index: &dyn DocumentIndex) {
    write(index, [document("a").revision(5).text("zebra")]).await;
    let old = document("a").revision(4).text("horse").readable_by(&[]);
    let outcomes = index.replace(vec![old.clone().build()]).await.unwrap();
    assert_eq!(outcomes, [WriteOutcome::Superseded]);
    let outcomes = index.update_attributes(vec![old.into_update()]).await.unwrap();
    assert_eq!(outcomes, [WriteOutcome::Superseded]);
    assert_eq!(found(index, query("zebra")).await, ["a"]);
    assert!(found(index, query("horse").unrestricted()).await.is_empty());
    // The same revision is written again, a higher one too.
    write(index, [document("a").revision(5).text("lion")]).await;
    update(index, document("a").revision(6)).await;
    let outcomes = index.replace(vec![document("a").revision(5).build()]).await.unwrap();
    assert_eq!(outcomes, [WriteOutcome::Superseded]);
    assert_eq!(found(index, query("lion")).await, ["a"]);
}

/// One outcome for each document, in its place.
pub async fn outcomes_come_in_input_order(index: &dyn DocumentIndex) {
    use WriteOutcome::{Absent, Superseded, Written};
    write(index, [document("a").revision(9), document("c").revision(9)]).await;
    let batch = [document("a"), document("b"), document("c").revision(10), document("d")];
    let documents = batch.clone().map(DocumentBuilder::build).to_vec();
    assert_eq!(index.replace(documents).await.unwrap(), [Superseded, Written, Written, Written]);
    let updates = [document("x"), document("a"), document("d").revision(2)];
    let updates = updates.map(DocumentBuilder::into_update).to_vec();
    assert_eq!(index.update_attributes(updates).await.unwrap(), [Absent, Superseded, Written]);
}

/// An update makes no document.
pub async fn updating_an_absent_document_is_absent(index: &dyn DocumentIndex) {
    let outcomes = index.update_attributes(vec![document("a").into_update()]).await.unwrap();
    assert_eq!(outcomes, [WriteOutcome::Absent]);
    assert_eq!(index.statistics().await.unwrap().documents, 0);
}

/// Only attributes change, whether the document was written long ago or just now.
pub async fn updated_attributes_keep_chunks_and_vectors(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    write(
        index,
        [
            document("a").title("title").texts(&["zebra", "lion"]).near(dimensions, 1.0),
            document("b").text("horse").near(dimensions, 30.0),
        ],
    )
    .await;
    for revision in 2..6 {
        update(index, document("a").revision(revision)).await;
        assert_eq!(found(index, query("zebra")).await, ["a"]);
        assert_eq!(found(index, query("title")).await, ["a"]);
        assert_eq!(search(index, query("title")).await.len(), 2);
        if dimensions.is_some() {
            let nearest = query("").near(dimensions, 0.0).alpha(1.0);
            assert_eq!(found(index, nearest.clone()).await, ["a", "b"]);
            assert_eq!(search(index, nearest).await.len(), 3);
        }
    }
    assert_eq!(index.statistics().await.unwrap().chunks, 3);
}

/// Gone is gone, for words and vectors.
pub async fn remove_is_immediate_and_ignores_absent_documents(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let zebra = |id: &str| document(id).texts(&["zebra", "zebra"]).near(dimensions, 1.0);
    write(index, [zebra("a"), zebra("b"), zebra("ab")]).await;
    remove(index, &["a", "nope", "a"]).await;
    expect_found(index, query("zebra"), &["ab", "b"]).await;
    remove(index, &["a"]).await;
    remove(index, &["b", "ab"]).await;
    expect_found(index, query("zebra"), &[]).await;
    assert_eq!(index.statistics().await.unwrap().chunks, 0);
}

/// Whoever removes it does not know that it has come back.
pub async fn a_late_removal_leaves_a_later_revision(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let zebra = |revision| document("a").revision(revision).text("zebra").near(dimensions, 0.0);
    write(index, [zebra(7)]).await;
    index.remove(&[(document_id("a"), 6)]).await.unwrap();
    expect_found(index, query("zebra"), &["a"]).await;
    // Also when both are under way.
    let early = [(document_id("a"), 8)];
    let (replaced, removed) =
        futures::join!(index.replace(vec![zebra(9).build()]), index.remove(&early),);
    assert_eq!(replaced.unwrap(), [WriteOutcome::Written]);
    removed.unwrap();
    expect_found(index, query("zebra"), &["a"]).await;
    index.remove(&[(document_id("a"), 9)]).await.unwrap();
    expect_found(index, query("zebra"), &[]).await;
}

/// Removal forgets the revision.
pub async fn a_removed_document_can_come_back_with_any_revision(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    write(index, [document("a").revision(7).text("zebra").near(dimensions, 0.0)]).await;
    index.remove(&[(document_id("a"), 8)]).await.unwrap();
    write(index, [document("a").revision(1).text("zebra").near(dimensions, 0.0)]).await;
    expect_found(index, query("zebra"), &["a"]).await;
    assert_eq!(index.statistics().await.unwrap().chunks, 1);
}

/// A long document is one document.
pub async fn a_document_of_many_chunks_is_found_whole(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let texts: Vec<String> = (0..1500).map(|n| format!("zebra number {n}")).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    write(index, [document("a").texts(&texts).near(dimensions, 1.0)]).await;
    update(index, document("a").sets(&[1])).await;
    for alpha in [0.0, 1.0] {
        let query = query("zebra").near(dimensions, 0.0).alpha(alpha).sets(&[1]).limit(2000);
        let ordinals: BTreeSet<u32> =
            search(index, query).await.iter().map(|hit| hit.chunk.id.ordinal).collect();
        assert_eq!(ordinals, (0..1500).collect());
    }
}

/// Writers do not get in each other's way.
pub async fn concurrent_writers_of_different_documents_all_succeed(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let ids: Vec<String> = (0..100).map(|n| format!("{n:03}")).collect();
    let writes = ids.iter().map(|id| {
        let id = id.as_str();
        async move { write(index, [document(id).text("zebra").near(dimensions, 1.0)]).await }
    });
    join_all(writes).await;
    let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
    expect_found(index, query("zebra").limit(200), &ids).await;
}

/// Whoever comes last, the highest revision stays.
pub async fn concurrent_writers_of_one_document_leave_the_latest_revision(
    index: &dyn DocumentIndex,
) {
    let dimensions = index.capabilities().dimensions;
    // 7 is coprime with 40: each revision once, in a scattered order.
    let writes = (0..40i64).map(|n| {
        let revision = n * 7 % 40;
        let text = format!("zebra version{revision}");
        index.replace(vec![
            document("a").revision(revision).texts(&[&text, &text]).near(dimensions, 1.0).build(),
        ])
    });
    for outcome in join_all(writes).await {
        assert_ne!(outcome.unwrap(), [WriteOutcome::Absent]);
    }
    for alpha in [0.0, 1.0] {
        let hits = search(index, query("zebra").near(dimensions, 0.0).alpha(alpha)).await;
        let texts: Vec<&str> = hits.iter().map(|hit| hit.chunk.text.as_str()).collect();
        assert_eq!(texts, ["zebra version39"; 2]);
    }
    assert_eq!(index.statistics().await.unwrap().chunks, 2);
}

/// Replacing, updating and removing one document at a time leaves none of it or all of it.
pub async fn mixed_concurrent_writes_of_one_document_leave_one_version(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    for round in 0..5 {
        let whole = document("a").texts(&["zebra", "zebra"]).near(dimensions, 1.0);
        let id = [(document_id("a"), 1)];
        let replace = |set| index.replace(vec![whole.clone().sets(&[set]).build()]);
        let update = |set| index.update_attributes(vec![document("a").sets(&[set]).into_update()]);
        let (first, second, third, fourth, fifth) = futures::join!(
            replace(round),
            update(round + 1),
            index.remove(&id),
            replace(round + 2),
            update(round + 3),
        );
        first.unwrap();
        second.unwrap();
        third.unwrap();
        fourth.unwrap();
        fifth.unwrap();
        let chunks = index.statistics().await.unwrap().chunks;
        assert!([0, 2].contains(&chunks), "{chunks} chunks");
        for alpha in [0.0, 1.0] {
            let hits = search(index, query("zebra").near(dimensions, 0.0).alpha(alpha)).await;
            assert_eq!(u64::try_from(hits.len()).unwrap(), chunks);
            let sets: BTreeSet<_> =
                hits.iter().map(|hit| hit.chunk.attributes.document_sets.clone()).collect();
            assert!(sets.len() <= 1);
        }
    }
}

/// Every search sees all chunks of one version, for words and for vectors.
pub async fn searches_during_a_replace_see_one_version(index: &dyn DocumentIndex) {
    const CHUNKS: usize = 4;
    let dimensions = index.capabilities().dimensions;
    let version = |revision: i64| {
        let text = format!("zebra version{revision}");
        let texts = [text.as_str(); CHUNKS];
        document("a").revision(revision).title(&text).texts(&texts).near(dimensions, 1.0)
    };
    write(index, [version(0), document("b").text("giraffe").near(dimensions, 50.0)]).await;
    let writer = async {
        for revision in 1..20 {
            if revision % 4 == 0 {
                let renamed = AttributeUpdate {
                    id: document_id("a"),
                    revision,
                    attributes: attributes(&format!("name {revision}")),
                };
                index.update_attributes(vec![renamed]).await.unwrap();
            } else {
                write(index, [version(revision)]).await;
            }
        }
    };
    let reader = |alpha: f32| async move {
        let mut searches = 0;
        loop {
            let query = query("zebra").near(dimensions, 0.0).alpha(alpha).limit(100);
            let hits = search(index, query).await;
            let mut versions: BTreeMap<(String, String), usize> = BTreeMap::new();
            for hit in hits.iter().filter(|hit| hit.chunk.id.document.as_str() == "a") {
                let name = hit.chunk.attributes.semantic_identifier.clone();
                *versions.entry((hit.chunk.text.clone(), name)).or_default() += 1;
            }
            assert_eq!(versions.len(), 1, "alpha {alpha}: {versions:?}");
            assert_eq!(versions.values().copied().collect::<Vec<_>>(), [CHUNKS], "{versions:?}");
            searches += 1;
            if versions.keys().any(|(text, _)| text.ends_with("version19")) {
                return searches;
            }
        }
    };
    let ((), lexical, hybrid, dense) =
        futures::join!(writer, reader(0.0), reader(0.5), reader(1.0));
    assert!(lexical > 0 && hybrid > 0 && dense > 0);
}

/// A caller that goes away leaves each document wholly old or wholly new.
pub async fn a_dropped_replace_leaves_old_or_new(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let texts = |text: &'static str| [text; 5];
    let old = document("a").texts(&texts("zebra old")).near(dimensions, 1.0);
    write(index, [old]).await;
    for polls in 0..6 {
        let new = document("a").texts(&texts("zebra new")).near(dimensions, 1.0).build();
        {
            let mut replace = Box::pin(index.replace(vec![new]));
            for _ in 0..polls {
                if let Poll::Ready(outcome) = poll!(&mut replace) {
                    outcome.unwrap();
                    break;
                }
                tokio::task::yield_now().await;
            }
        }
        // Another write is a barrier: what came before it has happened or never will.
        write(index, [document("barrier").text("giraffe")]).await;
        for alpha in [0.0, 1.0] {
            let hits = search(index, query("zebra").near(dimensions, 0.0).alpha(alpha)).await;
            let texts: BTreeSet<&str> = hits.iter().map(|hit| hit.chunk.text.as_str()).collect();
            assert_eq!((hits.len(), texts.len()), (5, 1));
        }
    }
}

/// Replaced, updated and removed chunks are not counted.
pub async fn statistics_count_documents_and_chunks(index: &dyn DocumentIndex) {
    let count = || async {
        let statistics = index.statistics().await.unwrap();
        (statistics.documents, statistics.chunks)
    };
    assert_eq!(count().await, (0, 0));
    write(index, [document("a").texts(&["1", "2", "3"]), document("b").hidden()]).await;
    assert_eq!(count().await, (2, 4));
    write(index, [document("a").texts(&["1", "2"])]).await;
    update(index, document("b").sets(&[1])).await;
    assert_eq!(count().await, (2, 3));
    remove(index, &["a"]).await;
    assert_eq!(count().await, (1, 1));
}

/// A flush is for speed only, and can be asked for at any time.
pub async fn flush_changes_nothing(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    index.flush().await.unwrap();
    let zebra = |id: &str| document(id).text("zebra").near(dimensions, 1.0);
    write(index, [zebra("a")]).await;
    index.flush().await.unwrap();
    expect_found(index, query("zebra"), &["a"]).await;
    write(index, [zebra("b")]).await;
    update(index, zebra("a").hidden()).await;
    let (first, second) = futures::join!(index.flush(), index.flush());
    first.unwrap();
    second.unwrap();
    expect_found(index, query("zebra"), &["b"]).await;
    assert_eq!(found_in_any_order(index, query("zebra")).await, ["b"]);
}
