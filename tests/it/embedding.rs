//! The engine inside another program, as the example shows it.

#[path = "../../bin/trove/examples/embed_engine.rs"]
#[expect(dead_code, reason = "its `main` is for `cargo run --example`")]
mod embed_engine;

#[tokio::test]
async fn the_example_finds_what_it_indexed() {
    let directory = tempfile::tempdir().unwrap();
    let lines = embed_engine::search_two_documents(directory.path()).await.unwrap();
    assert_eq!(lines, ["1. Leave: Everybody has thirty days of leave a year."]);
}
