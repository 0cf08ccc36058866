//! `trove eval`

use std::fs;

use serde_json::Value;

use crate::child::{refused, run, trove};

const CORPUS: &str = r#"{"_id": "d1", "title": "Herons", "text": "A heron stands in the water."}
{"_id": "d2", "title": "Storks", "text": "A stork clatters on the roof."}
{"_id": "d3", "title": "", "text": "Roofs are made of tiles; the roof of a barn, of straw."}
"#;
const QUERIES: &str = r#"{"_id": "q1", "text": "heron"}
{"_id": "q2", "text": "stork on a roof"}
{"_id": "q3", "text": "nobody judged this"}
"#;
const QRELS: &str = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t2\nq2\td3\t1\nq4\td1\t0\n";

fn collection() -> tempfile::TempDir {
    let temp = tempfile::tempdir().unwrap();
    for (name, text) in [("corpus.jsonl", CORPUS), ("queries.jsonl", QUERIES), ("qrels.tsv", QRELS)]
    {
        fs::write(temp.path().join(name), text).unwrap();
    }
    temp
}

#[tokio::test]
async fn a_collection_is_measured_and_what_needs_a_model_is_absent_without_one() {
    let temp = collection();
    let mut command = trove(&["eval", "--json"]);
    command.arg(temp.path());
    let output = run(command).await;
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{error}");
    let figures: Value = serde_json::from_slice(&output.stdout).unwrap();
    for figure in ["ndcg_at_10", "recall_at_100", "mrr_at_10"] {
        assert_eq!(figures["lexical"][figure], 1.0, "{figures}");
    }
    assert!(figures["dense"].is_null() && figures["hybrid"].is_null(), "{figures}");

    let mut command = trove(&["eval"]);
    command.arg(temp.path());
    let table = String::from_utf8(run(command).await.stdout).unwrap();
    assert!(table.contains("3 documents, 2 queries"), "{table}");
    assert!(table.contains("lexical     1.0000       1.0000    1.0000"), "{table}");
    assert!(table.contains("trove model pull"), "{table}");
}

#[tokio::test]
async fn other_judgments_can_be_used() {
    let temp = collection();
    let other = temp.path().join("other.tsv");
    fs::write(&other, "query-id\tcorpus-id\tscore\nq1\td3\t1\n").unwrap();
    let mut command = trove(&["eval", "--json", "--qrels"]);
    command.arg(&other).arg(temp.path());
    let figures: Value = serde_json::from_slice(&run(command).await.stdout).unwrap();
    assert_eq!(figures["lexical"]["recall_at_100"], 0.0);
}

#[tokio::test]
async fn the_figures_of_every_query_are_there_when_asked_for() {
    let temp = collection();
    let mut command = trove(&["eval", "--json", "--per-query"]);
    command.arg(temp.path());
    let figures: Value = serde_json::from_slice(&run(command).await.stdout).unwrap();
    assert_eq!(figures["queries"]["q2"]["lexical"]["ndcg_at_10"], 1.0, "{figures}");
    assert_eq!(figures["queries"].as_object().unwrap().len(), 2, "{figures}");

    let mut command = trove(&["eval", "--json"]);
    command.arg(temp.path());
    let figures: Value = serde_json::from_slice(&run(command).await.stdout).unwrap();
    assert!(figures.get("queries").is_none(), "{figures}");
}

#[tokio::test]
async fn a_malformed_collection_is_refused_with_file_and_line() {
    let temp = collection();
    fs::write(temp.path().join("queries.jsonl"), format!("{QUERIES}nonsense\n")).unwrap();
    let mut command = trove(&["eval"]);
    command.arg(temp.path());
    let error = refused(command, 1).await;
    assert!(error.contains("queries.jsonl:4"), "{error}");
}
