//! Fetching chunks around a hit.

use trove_domain::access::{AccessScope, AclTag};
use trove_domain::port::{ChunkRange, DocumentIndex};

use super::{update, write};
use crate::builders::{DocumentBuilder, document, document_id};

fn five(index: &dyn DocumentIndex, id: &str) -> DocumentBuilder {
    let texts = ["zero", "one", "two", "three", "four"];
    document(id).title("Numbers").texts(&texts).near(index.capabilities().dimensions, 10.0)
}

fn range(id: &str, first: u32, last: u32) -> ChunkRange {
    ChunkRange { document: document_id(id), first, last }
}

/// The texts of each range, joined by blanks.
async fn texts(
    index: &dyn DocumentIndex,
    scope: &AccessScope,
    ranges: &[ChunkRange],
) -> Vec<String> {
    let fetched = index.fetch(ranges, scope).await.unwrap();
    let text = |chunks: Vec<_>| {
        let texts: Vec<String> =
            chunks.into_iter().map(|c: trove_domain::hit::IndexedChunk| c.text).collect();
        texts.join(" ")
    };
    fetched.into_iter().map(text).collect()
}

/// Both ends are part of it, chunks come in document order, ranges as asked for.
pub async fn a_range_holds_the_chunks_between_its_ends(index: &dyn DocumentIndex) {
    write(index, [five(index, "a"), five(index, "b")]).await;
    let everyone = AccessScope::public_only();
    let ranges = [range("b", 1, 3), range("a", 0, 0), range("b", 4, 4), range("a", 2, 1)];
    let fetched = texts(index, &everyone, &ranges).await;
    assert_eq!(fetched, ["one two three", "zero", "four", ""]);
    let fetched = index.fetch(&ranges[..1], &everyone).await.unwrap();
    let chunk = &fetched[0][1];
    assert_eq!((chunk.id.document.as_str(), chunk.id.ordinal), ("b", 2));
    assert_eq!(chunk.title.as_deref(), Some("Numbers"));
    assert!(index.fetch(&[], &everyone).await.unwrap().is_empty());
}

/// Nothing is made up.
pub async fn a_range_beyond_the_document_holds_what_there_is(index: &dyn DocumentIndex) {
    write(index, [five(index, "a")]).await;
    let everyone = AccessScope::public_only();
    let ranges = [range("a", 3, 9), range("a", 5, u32::MAX), range("gone", 0, 9)];
    assert_eq!(texts(index, &everyone, &ranges).await, ["three four", "", ""]);
}

/// What a caller cannot find it cannot fetch.
pub async fn a_range_of_what_the_scope_hides_is_empty(index: &dyn DocumentIndex) {
    write(index, [five(index, "hidden").hidden(), five(index, "secret").readable_by(&["group:1"])])
        .await;
    let ranges = [range("hidden", 0, 9), range("secret", 0, 0)];
    assert_eq!(texts(index, &AccessScope::public_only(), &ranges).await, ["", ""]);
    let other = AccessScope::public_and([AclTag::from_stored("group:2")]);
    assert_eq!(texts(index, &other, &ranges).await, ["", ""]);
    let member = AccessScope::public_and([AclTag::from_stored("group:1")]);
    assert_eq!(texts(index, &member, &ranges).await, ["", "zero"]);
}

/// Content and access are those of the last write.
pub async fn ranges_see_the_latest_version(index: &dyn DocumentIndex) {
    let everyone = AccessScope::public_only();
    write(index, [five(index, "a")]).await;
    write(index, [document("a").texts(&["new", "newer"]).revision(2)]).await;
    assert_eq!(texts(index, &everyone, &[range("a", 0, 9)]).await, ["new newer"]);
    update(index, document("a").readable_by(&["group:1"]).revision(3)).await;
    assert_eq!(texts(index, &everyone, &[range("a", 0, 9)]).await, [""]);
}
