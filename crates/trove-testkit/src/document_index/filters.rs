//! What a search can be narrowed to.

use trove_domain::port::DocumentIndex;
use trove_domain::source::DocumentSource;

use super::{expect_found, update, write};
use crate::builders::{DocumentBuilder, document, query};

fn note(index: &dyn DocumentIndex, id: &str) -> DocumentBuilder {
    document(id).text("meeting notes").near(index.capabilities().dimensions, 10.0)
}

/// Any of the sources.
pub async fn sources_are_alternatives(index: &dyn DocumentIndex) {
    use DocumentSource::{File, GoogleDrive, Slack, Web};
    write(
        index,
        [
            note(index, "file").source(File),
            note(index, "slack").source(Slack),
            note(index, "web").source(Web),
        ],
    )
    .await;
    expect_found(index, query("meeting").sources(&[Web, File]), &["file", "web"]).await;
    expect_found(index, query("meeting").sources(&[GoogleDrive]), &[]).await;
}

/// In any of the sets.
pub async fn document_sets_are_alternatives(index: &dyn DocumentIndex) {
    write(
        index,
        [
            note(index, "both").sets(&[1, 2]),
            note(index, "none"),
            note(index, "one").sets(&[1]),
            note(index, "twelve").sets(&[12]),
        ],
    )
    .await;
    expect_found(index, query("meeting").sets(&[1]), &["both", "one"]).await;
    expect_found(index, query("meeting").sets(&[2, 12]), &["both", "twelve"]).await;
    expect_found(index, query("meeting").sets(&[3]), &[]).await;
}

/// Carrying all of the tags, of one key too.
pub async fn all_tags_are_required(index: &dyn DocumentIndex) {
    write(
        index,
        [
            note(index, "a").metadata("team", &["red"]).metadata("year", &["2024"]),
            note(index, "b").metadata("team", &["red", "blue"]),
        ],
    )
    .await;
    expect_found(index, query("meeting").tag("team", "red"), &["a", "b"]).await;
    expect_found(index, query("meeting").tag("team", "red").tag("year", "2024"), &["a"]).await;
    expect_found(index, query("meeting").tag("team", "red").tag("team", "blue"), &["b"]).await;
    expect_found(index, query("meeting").tag("team", "blue").tag("year", "2024"), &[]).await;
}

/// Case, blanks and the border between key and value count.
pub async fn a_tag_matches_key_and_value_exactly(index: &dyn DocumentIndex) {
    write(index, [note(index, "a").metadata("Owner", &["Ann Lee"]).metadata("x:y", &["z"])]).await;
    expect_found(index, query("meeting").tag("Owner", "Ann Lee"), &["a"]).await;
    expect_found(index, query("meeting").tag("x:y", "z"), &["a"]).await;
    for (key, value) in [
        ("owner", "Ann Lee"),
        ("Owner", "ann lee"),
        ("Owner", "Ann"),
        ("Owner", "Ann Lee "),
        ("x", "y:z"),
        ("x:yz", ""),
        ("Ann Lee", "Owner"),
    ] {
        expect_found(index, query("meeting").tag(key, value), &[]).await;
    }
}

/// Values of any length are told apart by all of their bytes.
pub async fn an_overlong_tag_matches_exactly(index: &dyn DocumentIndex) {
    let long = "ü".repeat(40_000);
    write(index, [note(index, "a").metadata("key", &[&format!("{long}a")])]).await;
    expect_found(index, query("meeting").tag("key", &format!("{long}a")), &["a"]).await;
    expect_found(index, query("meeting").tag("key", &format!("{long}b")), &[]).await;
    expect_found(index, query("meeting").tag("key", &long), &[]).await;
}

/// Both ends belong to the span; an open end is no restriction.
pub async fn time_ranges_include_their_ends(index: &dyn DocumentIndex) {
    write(
        index,
        [
            note(index, "a").updated_at(100).created_at(10),
            note(index, "b").updated_at(200).created_at(20),
            note(index, "c").updated_at(300).created_at(30),
        ],
    )
    .await;
    expect_found(index, query("meeting").updated(Some(100), Some(200)), &["a", "b"]).await;
    expect_found(index, query("meeting").updated(Some(101), Some(299)), &["b"]).await;
    expect_found(index, query("meeting").updated(Some(200), None), &["b", "c"]).await;
    expect_found(index, query("meeting").updated(None, Some(100)), &["a"]).await;
    expect_found(index, query("meeting").updated(Some(201), Some(200)), &[]).await;
    expect_found(index, query("meeting").created(Some(20), Some(20)), &["b"]).await;
    expect_found(index, query("meeting").created(None, Some(20)).updated(Some(200), None), &["b"])
        .await;
}

/// What has no date is in no span, however wide.
pub async fn undated_documents_pass_no_time_filter(index: &dyn DocumentIndex) {
    write(index, [note(index, "dated").updated_at(100).created_at(100), note(index, "undated")])
        .await;
    expect_found(index, query("meeting"), &["dated", "undated"]).await;
    expect_found(index, query("meeting").updated(Some(0), None), &["dated"]).await;
    expect_found(index, query("meeting").updated(None, Some(1_000)), &["dated"]).await;
    expect_found(index, query("meeting").created(Some(0), None), &["dated"]).await;
    expect_found(index, query("meeting").created(None, Some(1_000)), &["dated"]).await;
    update(index, note(index, "undated").updated_at(50).revision(2)).await;
    expect_found(index, query("meeting").updated(Some(0), None), &["dated", "undated"]).await;
    expect_found(index, query("meeting").created(Some(0), None), &["dated"]).await;
    update(index, note(index, "dated").revision(2)).await;
    expect_found(index, query("meeting").updated(Some(0), None), &["undated"]).await;
}

/// Knowledge is what is in one of the sets or named, and narrows like every other filter.
pub async fn knowledge_is_sets_and_documents_together(index: &dyn DocumentIndex) {
    write(
        index,
        [
            note(index, "both").sets(&[1]),
            note(index, "in set").sets(&[1, 2]),
            note(index, "named"),
            note(index, "neither").sets(&[3]),
            note(index, "secret").readable_by(&["group:1"]),
        ],
    )
    .await;
    expect_found(index, query("meeting").knowing(&[1], &[]), &["both", "in set"]).await;
    expect_found(index, query("meeting").knowing(&[], &["named"]), &["named"]).await;
    let known = query("meeting").knowing(&[1], &["both", "named", "gone", "secret"]);
    expect_found(index, known.clone(), &["both", "in set", "named"]).await;
    expect_found(index, known.sets(&[2, 3]), &["in set"]).await;
    expect_found(index, query("meeting").knowing(&[], &[]), &[]).await;
}

/// Times are a line in both directions.
pub async fn instants_before_1970_and_far_ahead_are_compared(index: &dyn DocumentIndex) {
    // The years 1601 and 2200.
    let (early, late) = (-11_644_473_600, 7_258_118_400);
    write(
        index,
        [
            note(index, "early").updated_at(early),
            note(index, "epoch").updated_at(0),
            note(index, "late").updated_at(late),
        ],
    )
    .await;
    expect_found(index, query("meeting").updated(None, Some(-1)), &["early"]).await;
    expect_found(index, query("meeting").updated(Some(early), Some(0)), &["early", "epoch"]).await;
    expect_found(index, query("meeting").updated(Some(late), Some(late)), &["late"]).await;
}

/// Scope and every kind of filter have to pass.
pub async fn kinds_of_filters_are_combined(index: &dyn DocumentIndex) {
    let full = |id| {
        note(index, id)
            .readable_by(&["group:1"])
            .source(DocumentSource::Web)
            .sets(&[1])
            .metadata("team", &["red"])
            .updated_at(100)
    };
    write(
        index,
        [
            full("all"),
            full("other-access").readable_by(&["group:2"]),
            full("other-set").sets(&[2]),
            full("other-source").source(DocumentSource::File),
            full("other-tag").metadata("team", &["blue"]),
            full("other-time").updated_at(99),
        ],
    )
    .await;
    let narrow = query("meeting")
        .within(&["group:1"])
        .sources(&[DocumentSource::Web])
        .sets(&[1])
        .tag("team", "red")
        .updated(Some(100), None);
    expect_found(index, narrow, &["all"]).await;
}

/// Filters see the latest attributes.
pub async fn updated_attributes_are_filtered_by(index: &dyn DocumentIndex) {
    let old = || note(index, "a").sets(&[1]).metadata("team", &["red"]).updated_at(100);
    write(index, [old()]).await;
    update(
        index,
        note(index, "a")
            .source(DocumentSource::Slack)
            .sets(&[2])
            .metadata("team", &["blue"])
            .updated_at(200),
    )
    .await;
    expect_found(index, query("meeting").sets(&[1]), &[]).await;
    expect_found(index, query("meeting").tag("team", "red"), &[]).await;
    expect_found(index, query("meeting").updated(None, Some(199)), &[]).await;
    let narrow = query("meeting")
        .sources(&[DocumentSource::Slack])
        .sets(&[2])
        .tag("team", "blue")
        .updated(Some(200), Some(200));
    expect_found(index, narrow, &["a"]).await;
}
