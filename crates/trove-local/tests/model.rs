//! The real model against vectors of the reference implementation.
//!
//! `fixtures/reference_vectors.json` was computed in 64-bit floats with the reference's tokenizer:
//! for each text `vector`, the mean of its states `m`, and where it is longer than 24 word pieces
//! `passage`, the direction of `unit(m) + 0.2 * unit(m0)` with the mean `m0` of its first 25 states.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use serde::Deserialize;
use trove_domain::port::{EmbeddingModel, Tokenizer};
use trove_local::{LoadError, LocalEmbeddingModel, MiniLm, MiniLmOptions, Precision};

#[derive(Deserialize)]
struct Reference {
    text: String,
    vector: Vec<f32>,
    passage: Option<Vec<f32>>,
}

impl Reference {
    fn passage(&self) -> &[f32] {
        self.passage.as_ref().unwrap_or(&self.vector)
    }
}

static REFERENCES: LazyLock<Vec<Reference>> = LazyLock::new(|| {
    serde_json::from_str(include_str!("fixtures/reference_vectors.json")).expect("valid")
});

fn model_dir() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
    let configured = std::env::var_os("TROVE_MODEL_DIR").map(PathBuf::from);
    configured.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models/all-MiniLM-L6-v2")
    })
}

fn model() -> MiniLm {
    model_with(MiniLmOptions::for_this_machine())
}

fn model_with(options: MiniLmOptions) -> MiniLm {
    MiniLm::load(&model_dir(), options).unwrap_or_else(|err| {
        panic!("this test needs the model; run `make model` to get it: {err}")
    })
}

fn cosine_distance(a: &[f32], b: &[f32]) -> f32 {
    1.0 - a.iter().zip(b).map(|(a, b)| a * b).sum::<f32>()
}

#[track_caller]
fn assert_agree(text: &str, got: &[f32], want: &[f32]) {
    let distance = cosine_distance(got, want);
    assert!(distance.abs() < 1e-5, "{text:?} is off by {distance}");
}

#[test]
fn vectors_agree_with_the_reference() {
    let model = model();
    let texts: Vec<&str> = REFERENCES.iter().map(|reference| reference.text.as_str()).collect();
    let vectors = model.embed_batch(&texts);
    assert_eq!(vectors.len(), texts.len());
    assert_eq!(REFERENCES.iter().filter(|reference| reference.passage.is_some()).count(), 3);
    for (reference, vector) in REFERENCES.iter().zip(&vectors) {
        assert_agree(&reference.text, vector, reference.passage());
        assert_agree(&reference.text, &model.embed_query(&reference.text), &reference.vector);
        let length = vector.iter().map(|x| x * x).sum::<f32>();
        assert!((length - 1.0).abs() < 1e-5, "{length}");
    }
}

#[test]
fn integer_vectors_are_close_to_the_reference() {
    let precision = Precision::Int8;
    let model = model_with(MiniLmOptions { precision, ..MiniLmOptions::for_this_machine() });
    for reference in REFERENCES.iter() {
        let distance = cosine_distance(&model.embed_query(&reference.text), &reference.vector);
        assert!(distance < 0.01, "{:?} is off by {distance}", reference.text);
        let passage = model.embed_batch(&[&reference.text]).remove(0);
        let distance = cosine_distance(&passage, reference.passage());
        assert!(distance < 0.01, "{:?} is off by {distance}", reference.text);
    }
    // Of a long text in integers the opening counts as well.
    let long = REFERENCES.iter().find(|reference| reference.passage.is_some()).unwrap();
    assert_ne!(model.embed_batch(&[&long.text])[0], model.embed_query(&long.text));
    let model = LocalEmbeddingModel::new(model);
    assert_eq!(model.info().name, format!("{}-int8", LocalEmbeddingModel::VECTORS));
}

#[test]
fn what_is_beyond_the_window_does_not_count() {
    let model = model();
    let window = "word ".repeat(254);
    let vectors = model.embed_batch(&[&window, &window.repeat(200)]);
    assert_agree("long text", &vectors[1], &vectors[0]);
    assert!(model.embed_batch(&[]).is_empty());
}

#[test]
fn a_vector_does_not_depend_on_the_rest_of_the_batch() {
    let model = model();
    let texts: Vec<String> = (0..70).map(|n| "some words ".repeat(n)).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let together = model.embed_batch(&texts);
    for index in [0, 1, 2, 35, 69] {
        let alone = model.embed_batch(&[texts[index]]);
        assert_agree(texts[index], &alone[0], &together[index]);
    }
}

#[test]
fn spans_are_where_the_pieces_are() {
    let model = model();
    let pieces = model.tokenizer();
    let text = "Tokenizers café: 機械!";
    let spans: Vec<&str> = pieces.spans(text).into_iter().map(|span| &text[span]).collect();
    assert_eq!(spans, ["Token", "izer", "s", "café", ":", "機", "械", "!"]);
    assert_eq!(pieces.count(text), 8);

    let long = "word ".repeat(10_000);
    assert_eq!(pieces.spans(&long).len(), 10_000);
    assert_eq!(pieces.count(""), 0);
}

#[tokio::test]
async fn the_adapter_answers_passages_and_queries() {
    let model = LocalEmbeddingModel::new(model());
    let info = model.info();
    assert_eq!((info.dimensions, info.window_tokens), (384, 256));
    // Of another name than the vectors of the reference, for they must not be mixed.
    assert_eq!(info.name, LocalEmbeddingModel::VECTORS);
    assert_ne!(info.name, "all-MiniLM-L6-v2");
    let texts: Vec<String> = REFERENCES.iter().map(|reference| reference.text.clone()).collect();
    let vectors = model.embed_passages(&texts).await.unwrap();
    for (reference, vector) in REFERENCES.iter().zip(&vectors) {
        assert_agree(&reference.text, vector, reference.passage());
    }
    let query = model.embed_query(&texts[3]).await.unwrap();
    assert_agree(&texts[3], &query, &vectors[3]);
    assert!(model.embed_passages(&[]).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_dropped_future_gives_up_the_work() {
    let model = LocalEmbeddingModel::new(model());
    let many = vec!["word ".repeat(254); 640];
    let start = Instant::now();
    model.embed_passages(&many[..16]).await.unwrap();
    let sixteen = start.elapsed();

    let abandoned = tokio::time::timeout(sixteen / 4, model.embed_passages(&many));
    assert!(abandoned.await.is_err());
    // All would take forty times as long as sixteen; what is in work at the drop, once.
    let start = Instant::now();
    model.embed_passages(&["one".to_owned()]).await.unwrap();
    assert!(start.elapsed() < 10 * sixteen, "{:?} for one, {sixteen:?} for 16", start.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn queries_do_not_wait_for_passages() {
    let model = LocalEmbeddingModel::new(model());
    let many = vec!["word ".repeat(254); 200];
    let indexed = AtomicBool::new(false);
    let indexing = async {
        let _ = model.embed_passages(&many).await;
        indexed.store(true, Ordering::Relaxed);
    };
    let querying = async {
        for _ in 0..10 {
            model.embed_query("how do I reset my password").await.unwrap();
        }
        assert!(!indexed.load(Ordering::Relaxed), "ten queries took as long as 200 passages");
    };
    tokio::select! {
        () = indexing => panic!("ten queries took as long as 200 passages"),
        () = querying => {}
    }
}

/// A long document holds up nobody: batches take turns.
#[tokio::test]
async fn a_short_batch_does_not_wait_for_long_ones() {
    let model = LocalEmbeddingModel::new(model());
    let long = vec!["word ".repeat(254); 48];
    let (mut first, mut second) =
        (Box::pin(model.embed_passages(&long)), Box::pin(model.embed_passages(&long)));
    assert!(futures_util::poll!(&mut first).is_pending());
    assert!(futures_util::poll!(&mut second).is_pending());
    model.embed_passages(&["short".to_owned()]).await.unwrap();
    // In the order of arrival the first would long be done.
    assert!(futures_util::poll!(&mut first).is_pending());
    assert_eq!(first.await.unwrap().len(), 48);
    assert_eq!(second.await.unwrap().len(), 48);
}

#[test]
fn a_model_that_is_not_there_or_not_right_is_an_error_with_the_remedy() {
    let load = |dir: &Path| MiniLm::load(dir, MiniLmOptions::for_this_machine()).unwrap_err();
    let dir = tempfile::tempdir().unwrap();
    let err = load(dir.path());
    assert!(matches!(err, LoadError::Missing { .. }), "{err}");
    assert!(
        err.to_string().ends_with("tokenizer.json is missing; run `trove model pull` to get it")
    );

    std::fs::copy(model_dir().join("tokenizer.json"), dir.path().join("tokenizer.json")).unwrap();
    let weights = std::fs::read(model_dir().join("model.safetensors")).unwrap();
    let check = |contents: &[u8]| {
        std::fs::write(dir.path().join("model.safetensors"), contents).unwrap();
        let err = load(dir.path());
        assert!(err.to_string().contains("model.safetensors is damaged"), "{err}");
        assert!(err.to_string().contains("run `trove model pull`"), "{err}");
    };
    check(b"");
    check(b"not a model at all");
    check(&weights[..weights.len() / 2]);
    let mut bit_flipped = weights;
    let middle = bit_flipped.len() / 2;
    bit_flipped[middle] ^= 1;
    check(&bit_flipped);
}
