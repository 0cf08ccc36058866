//! What a directory is after the index was closed, killed or damaged.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

use std::error::Error;
use std::path::Path;

use tempfile::TempDir;
use trove_domain::port::{DocumentIndex, DocumentIndexError};
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig, IndexDirectoryError};
use trove_testkit::builders::{DocumentBuilder, QueryBuilder, document, document_id, query};

const DIMENSIONS: Option<usize> = Some(8);

fn open(
    directory: &Path,
    dimensions: Option<usize>,
) -> Result<EmbeddedDocumentIndex, DocumentIndexError> {
    EmbeddedDocumentIndex::open(directory, EmbeddedIndexConfig::with_dimensions(dimensions))
}

fn zebra(id: &str) -> DocumentBuilder {
    document(id).title("title").texts(&["zebra one", "zebra two"])
}

async fn write(index: &EmbeddedDocumentIndex, document: DocumentBuilder) {
    index.replace(vec![document.build()]).await.unwrap();
}

async fn found(index: &EmbeddedDocumentIndex, query: QueryBuilder) -> Vec<String> {
    let hits = index.search(&query.build()).await.unwrap();
    hits.iter().map(|hit| hit.chunk.id.to_string()).collect()
}

fn nearest() -> QueryBuilder {
    query("").near(DIMENSIONS, 0.0).alpha(1.0)
}

/// Why opening failed, as the directory's error.
fn refusal(directory: &Path, dimensions: Option<usize>) -> String {
    let error = open(directory, dimensions).err().unwrap();
    let source = error.source().unwrap();
    assert!(source.is::<IndexDirectoryError>());
    source.to_string()
}

#[tokio::test]
async fn everything_is_there_after_a_close_without_flush() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), DIMENSIONS).unwrap();
    write(&index, zebra("a").near(DIMENSIONS, 1.0)).await;
    write(&index, zebra("b").near(DIMENSIONS, 20.0)).await;
    write(&index, zebra("gone").near(DIMENSIONS, 0.0)).await;
    index.remove(&[(document_id("gone"), 1)]).await.unwrap();
    index.update_attributes(vec![document("b").sets(&[4]).into_update()]).await.unwrap();
    drop(index);

    let index = open(directory.path(), DIMENSIONS).unwrap();

    assert_eq!(found(&index, nearest()).await, ["a#0", "a#1", "b#0", "b#1"]);
    assert_eq!(found(&index, nearest().sets(&[4])).await, ["b#0", "b#1"]);
    assert_eq!(found(&index, query("zebra").sets(&[4])).await, ["b#0", "b#1"]);
    assert_eq!(index.statistics().await.unwrap().documents, 2);
    let outcomes = index.replace(vec![zebra("b").revision(0).build()]).await.unwrap();
    assert_eq!(outcomes, [trove_domain::port::WriteOutcome::Superseded]);
}

#[tokio::test]
async fn lost_vectors_are_restored_from_the_words() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), DIMENSIONS).unwrap();
    write(&index, zebra("a").near(DIMENSIONS, 1.0)).await;
    index.flush().await.unwrap();
    drop(index);
    std::fs::remove_dir_all(directory.path().join("dense")).unwrap();

    let index = open(directory.path(), DIMENSIONS).unwrap();

    assert_eq!(found(&index, nearest()).await, ["a#0", "a#1"]);
}

/// Whether they were flushed last or had been written to meanwhile.
#[tokio::test]
async fn lost_segments_of_vectors_are_restored_from_the_words() {
    for flushed in [true, false] {
        let directory = TempDir::new().unwrap();
        let index = open(directory.path(), DIMENSIONS).unwrap();
        write(&index, zebra("a").near(DIMENSIONS, 1.0)).await;
        index.flush().await.unwrap();
        if !flushed {
            write(&index, zebra("a").revision(2).near(DIMENSIONS, 1.0)).await;
        }
        drop(index);
        std::fs::remove_dir_all(directory.path().join("dense/segments")).unwrap();

        let index = open(directory.path(), DIMENSIONS).unwrap();

        assert_eq!(found(&index, nearest()).await, ["a#0", "a#1"], "{flushed}");
    }
}

#[tokio::test]
async fn unreadable_vectors_are_restored_from_the_words() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), DIMENSIONS).unwrap();
    write(&index, zebra("a").near(DIMENSIONS, 1.0)).await;
    index.flush().await.unwrap();
    drop(index);
    std::fs::write(directory.path().join("dense/edge_config.json"), "{").unwrap();

    let index = open(directory.path(), DIMENSIONS).unwrap();

    assert_eq!(found(&index, nearest()).await, ["a#0", "a#1"]);
}

#[tokio::test]
async fn an_index_without_vectors_takes_a_model_later() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), None).unwrap();
    write(&index, zebra("old")).await;
    drop(index);

    let index = open(directory.path(), DIMENSIONS).unwrap();
    assert_eq!(index.capabilities().dimensions, DIMENSIONS);
    assert!(found(&index, nearest()).await.is_empty());
    write(&index, zebra("new").near(DIMENSIONS, 1.0)).await;

    assert_eq!(found(&index, nearest()).await, ["new#0", "new#1"]);
    assert_eq!(found(&index, query("zebra")).await, ["new#0", "new#1", "old#0", "old#1"]);
}

#[tokio::test]
async fn vectors_survive_a_time_without_a_model() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), DIMENSIONS).unwrap();
    for (id, degrees) in [("a", 1.0), ("b", 2.0), ("c", 3.0)] {
        write(&index, zebra(id).near(DIMENSIONS, degrees)).await;
    }
    index.flush().await.unwrap();
    drop(index);

    let index = open(directory.path(), None).unwrap();
    assert_eq!(index.capabilities().dimensions, None);
    assert_eq!(found(&index, nearest().limit(1)).await, Vec::<String>::new());
    index.update_attributes(vec![document("a").sets(&[4]).into_update()]).await.unwrap();
    index.remove(&[(document_id("b"), 1)]).await.unwrap();
    write(&index, zebra("c").revision(2)).await;
    drop(index);

    let index = open(directory.path(), DIMENSIONS).unwrap();
    assert_eq!(found(&index, nearest()).await, ["a#0", "a#1"]);
    assert_eq!(found(&index, nearest().sets(&[4])).await, ["a#0", "a#1"]);
    assert_eq!(found(&index, query("zebra")).await.len(), 4);
}

#[tokio::test]
async fn vectors_of_another_length_are_refused() {
    let directory = TempDir::new().unwrap();
    drop(open(directory.path(), DIMENSIONS).unwrap());
    let error = open(directory.path(), Some(9)).err().unwrap();
    assert!(matches!(error, DocumentIndexError::DimensionMismatch { got: 9, want: 8 }));
    drop(open(directory.path(), None).unwrap());
    assert!(open(directory.path(), Some(9)).is_err());
    assert!(open(directory.path(), DIMENSIONS).is_ok());
}

#[tokio::test]
async fn a_directory_has_one_index_at_a_time() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), DIMENSIONS).unwrap();
    let error = open(directory.path(), DIMENSIONS).err().unwrap();
    assert!(matches!(error, DocumentIndexError::Unavailable { .. }));
    drop(index);
    assert!(open(directory.path(), DIMENSIONS).is_ok());
}

#[tokio::test]
async fn a_newer_format_is_refused_with_a_sentence() {
    let directory = TempDir::new().unwrap();
    drop(open(directory.path(), None).unwrap());
    let description = r#"{"format":99,"dimensions":null,"news":true}"#;
    std::fs::write(directory.path().join("trove-index.json"), description).unwrap();
    let refusal = refusal(directory.path(), None);
    assert!(refusal.contains("format 99"), "{refusal}");
    assert!(refusal.contains(&directory.path().display().to_string()), "{refusal}");
}

/// Terms of another analysis would silently match nothing.
#[tokio::test]
async fn an_index_of_another_analyzer_is_refused_with_the_remedy() {
    let directory = TempDir::new().unwrap();
    let index = open(directory.path(), None).unwrap();
    write(&index, zebra("a")).await;
    drop(index);
    let meta = directory.path().join("lexical/meta.json");
    let text = std::fs::read_to_string(&meta).unwrap();
    assert!(text.contains("\"trove-3\""), "{text}");
    std::fs::write(&meta, text.replace("\"trove-3\"", "\"trove-en-2\"")).unwrap();

    let refusal = refusal(directory.path(), None);

    let path = directory.path().display().to_string();
    assert!(refusal.starts_with(&format!("`{path}` was written by another release")), "{refusal}");
    assert!(refusal.ends_with("remove the directory and index the documents again"), "{refusal}");
    // The directory is as it was.
    std::fs::write(&meta, text).unwrap();
    let index = open(directory.path(), None).unwrap();
    assert_eq!(found(&index, query("zebra")).await, ["a#0", "a#1"]);
}

#[tokio::test]
async fn a_damaged_directory_is_refused_with_its_path() {
    let damages: [&dyn Fn(&Path); 4] = [
        &|directory| std::fs::write(directory.join("trove-index.json"), "{").unwrap(),
        &|directory| std::fs::remove_file(directory.join("lexical/meta.json")).unwrap(),
        &|directory| std::fs::write(directory.join("lexical/meta.json"), "{}").unwrap(),
        &|directory| {
            for entry in std::fs::read_dir(directory.join("lexical")).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "store") {
                    std::fs::remove_file(path).unwrap();
                }
            }
        },
    ];
    for (number, damage) in damages.into_iter().enumerate() {
        let directory = TempDir::new().unwrap();
        let index = open(directory.path(), None).unwrap();
        write(&index, zebra("a")).await;
        drop(index);
        damage(directory.path());
        let refusal = refusal(directory.path(), None);
        assert!(refusal.contains(&directory.path().display().to_string()), "{number}: {refusal}");
    }
}

/// Vectors of two models would be ranked against each other, and mean nothing.
#[tokio::test]
async fn vectors_of_another_model_are_refused() {
    let directory = TempDir::new().unwrap();
    let with = |model: Option<&str>| EmbeddedIndexConfig {
        model: model.map(str::to_owned),
        ..EmbeddedIndexConfig::with_dimensions(DIMENSIONS)
    };
    let open = |model| EmbeddedDocumentIndex::open(directory.path(), with(model));
    assert_eq!(EmbeddedDocumentIndex::dimensions_in(directory.path()).unwrap(), None);
    // Whoever does not say which model it is changes nothing, before and after.
    drop(open(None).unwrap());
    drop(open(Some("one")).unwrap());
    drop(open(None).unwrap());
    let error = open(Some("other")).err().unwrap();
    let text = error.source().unwrap().to_string();
    assert!(text.contains("model one") && text.contains("those of other"), "{text}");
    assert!(
        text.contains("or the release of Trove that made them, or remove the directory"),
        "{text}"
    );
    drop(open(Some("one")).unwrap());
    assert_eq!(EmbeddedDocumentIndex::dimensions_in(directory.path()).unwrap(), DIMENSIONS);
}
