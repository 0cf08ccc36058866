//! Who finds what.

use trove_domain::port::DocumentIndex;

use super::{expect_found, found, search, update, write};
use crate::builders::{DocumentBuilder, document, query};

fn report(index: &dyn DocumentIndex, id: &str) -> DocumentBuilder {
    document(id).text("annual report").near(index.capabilities().dimensions, 10.0)
}

/// A chunk outside the scope must not surface, whatever its score.
pub async fn search_hides_what_the_scope_hides(index: &dyn DocumentIndex) {
    write(
        index,
        [
            report(index, "open").readable_by(&["group:eng"]),
            report(index, "secret").readable_by(&["group:hr"]),
        ],
    )
    .await;
    expect_found(index, query("report").within(&["group:eng"]), &["open"]).await;
}

/// Public means readable by everybody, signed in or not.
pub async fn a_public_document_is_found_by_anyone(index: &dyn DocumentIndex) {
    write(index, [report(index, "open")]).await;
    expect_found(index, query("report"), &["open"]).await;
    expect_found(index, query("report").within(&["group:eng"]), &["open"]).await;
}

/// A restricted document without tags is readable by nobody.
pub async fn a_document_without_tags_is_found_by_nobody(index: &dyn DocumentIndex) {
    write(index, [report(index, "closed").readable_by(&[])]).await;
    expect_found(index, query("report").within(&["group:eng", ""]), &[]).await;
}

/// Maintenance sees everything that is not hidden.
pub async fn the_unrestricted_scope_finds_everything_that_is_not_hidden(index: &dyn DocumentIndex) {
    write(
        index,
        [
            report(index, "closed").readable_by(&[]),
            report(index, "hidden").hidden(),
            report(index, "open"),
        ],
    )
    .await;
    expect_found(index, query("report").unrestricted(), &["closed", "open"]).await;
}

/// Hidden documents never pass, not even for those who may read them.
pub async fn a_hidden_document_is_never_found(index: &dyn DocumentIndex) {
    write(index, [report(index, "hidden").readable_by(&["group:eng"]).hidden()]).await;
    expect_found(index, query("report").within(&["group:eng"]), &[]).await;
}

/// Filtering comes before ranking: many better, forbidden chunks do not push the allowed one out.
pub async fn a_forbidden_chunk_takes_no_place_among_the_hits(index: &dyn DocumentIndex) {
    let dimensions = index.capabilities().dimensions;
    let batch = index.capabilities().batch_max.min(100);
    for round in 0..3 {
        let better = (0..batch).map(|n| {
            document(&format!("secret-{round}-{n}"))
                .text("report report report")
                .near(dimensions, 0.0)
                .readable_by(&["group:hr"])
        });
        write(index, better).await;
    }
    write(
        index,
        [document("open")
            .text("a long text about other things that mentions a report once")
            .near(dimensions, 80.0)
            .readable_by(&["group:eng"])],
    )
    .await;
    expect_found(index, query("report").within(&["group:eng"]).limit(1), &["open"]).await;
}

/// A tag is one value: its parts and its neighbours are other tags.
pub async fn access_tags_are_compared_whole(index: &dyn DocumentIndex) {
    write(index, [report(index, "open").readable_by(&["group:12", "user_email:a b@example.com"])])
        .await;
    for other in ["group:1", "group:123", "group", "12", "user_email:a", "GROUP:12"] {
        expect_found(index, query("report").within(&[other]), &[]).await;
    }
    expect_found(index, query("report").within(&["group:12"]), &["open"]).await;
    expect_found(index, query("report").within(&["user_email:a b@example.com"]), &["open"]).await;
}

/// Granting needs no embedding and no waiting.
pub async fn granting_access_shows_a_document_at_once(index: &dyn DocumentIndex) {
    write(index, [report(index, "document").readable_by(&["group:hr"])]).await;
    update(index, report(index, "document").readable_by(&["group:hr", "group:eng"])).await;
    expect_found(index, query("report").within(&["group:eng"]), &["document"]).await;
    expect_found(index, query("report").within(&["group:hr"]), &["document"]).await;
    update(index, report(index, "document")).await;
    expect_found(index, query("report"), &["document"]).await;
}

/// Once the update resolves, nobody finds it by the old access.
pub async fn revoking_access_hides_a_document_at_once(index: &dyn DocumentIndex) {
    write(index, [report(index, "document").readable_by(&["group:hr", "group:eng"])]).await;
    for _ in 0..3 {
        update(index, report(index, "document").readable_by(&["group:hr"])).await;
        expect_found(index, query("report").within(&["group:eng"]), &[]).await;
        expect_found(index, query("report").within(&["group:hr"]), &["document"]).await;
        update(index, report(index, "document").readable_by(&["group:eng"])).await;
        expect_found(index, query("report").within(&["group:hr"]), &[]).await;
        expect_found(index, query("report").within(&["group:eng"]), &["document"]).await;
    }
}

/// Hiding is an attribute like any other.
pub async fn hiding_and_showing_take_effect_at_once(index: &dyn DocumentIndex) {
    write(index, [report(index, "document"), report(index, "other")]).await;
    update(index, report(index, "document").hidden()).await;
    expect_found(index, query("report"), &["other"]).await;
    let hits = search(index, query("report")).await;
    assert_eq!(hits.len(), 1);
    update(index, report(index, "document")).await;
    expect_found(index, query("report"), &["document", "other"]).await;
    assert_eq!(found(index, query("report").limit(1)).await.len(), 1);
}
