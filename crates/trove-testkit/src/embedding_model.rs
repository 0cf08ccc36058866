//! What every [`EmbeddingModel`] and its tokenizer do.

#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "a case fails by panicking")]

mod tokenizer;

use std::pin::pin;

use futures::future::poll_immediate;
use futures::{join, poll};
use trove_domain::port::EmbeddingModel;

pub use tokenizer::*;

/// Turns the suite into one test for each obligation.
///
/// `$start` is a future of an `Option`: something that dereferences to a model, or `None` when the
/// files or the service that it needs are not there.
#[macro_export]
macro_rules! embedding_model_contract {
    ($start:expr) => {
        $crate::contract_suite!(
            embedding_model,
            $start,
            [
                the_model_has_a_name_and_sizes,
                a_vector_has_the_dimensions_of_the_model,
                vectors_have_unit_length,
                an_empty_text_has_a_vector,
                an_empty_batch_gives_an_empty_list,
                every_kind_of_character_is_embedded,
                the_same_text_gives_the_same_vector_each_time,
                a_batch_changes_no_vector,
                a_large_batch_keeps_the_order_of_its_texts,
                text_beyond_the_window_is_ignored,
                different_texts_have_different_vectors,
                a_query_is_closest_to_the_passage_with_its_words,
                a_query_does_not_wait_for_passages,
                a_dropped_batch_changes_nothing,
                callers_at_the_same_time_get_their_own_vectors,
                // tokenizer
                spans_are_in_order,
                spans_lie_on_character_boundaries,
                spans_cover_every_word,
                blank_text_has_no_tokens,
                count_is_the_number_of_spans,
                text_beyond_the_window_has_spans_too,
                appending_text_changes_no_earlier_span,
                a_megabyte_takes_linear_time,
            ]
        );
    };
}

/// Elements of vectors of the same text differ by no more than this, whatever else was computed
/// at the same time.
const ROUNDING: f32 = 1e-4;

/// Texts in which a tokenizer, a batch or a kernel may stumble.
pub(crate) fn awkward_texts() -> Vec<String> {
    let mut texts: Vec<String> = [
        "",
        " ",
        "\n\n\t",
        "a",
        "The quick brown fox jumps over the lazy dog.",
        "Grüße aus Köln — naïve café, Ångström",
        "e\u{301}\u{302}\u{303} combining",
        "世界こんにちは안녕하세요",
        "中文没有空格分隔的文字",
        "مرحبا بالعالم שלום עולם",
        "हिन्दी ภาษาไทย",
        "🦀🚀 👩‍👩‍👧‍👦 🇩🇪",
        "\u{0}\u{1}\u{7f}\u{85} control \u{fffd}\u{fffe}",
        "\u{feff}mark \u{200b}zero\u{ad}width \u{202e}override",
        "\u{10ffff}\u{e000}",
        "[CLS] [SEP] [MASK] [PAD] [UNK] <s> </s>",
        "!!!???...,,,---___***",
        "https://example.com/a/b?c=d&e=f#g 127.0.0.1 1234567890",
        "fn main() { println!(\"{:?}\", x); }",
    ]
    .into_iter()
    .map(str::to_owned)
    .collect();
    texts.push("x".repeat(5_000));
    texts.push("word ".repeat(1_000));
    texts.push("世".repeat(2_000));
    texts.push("\u{301}".repeat(2_000));
    texts
}

async fn passage(model: &dyn EmbeddingModel, text: &str) -> Vec<f32> {
    let mut vectors = model.embed_passages(&[text.to_owned()]).await.unwrap();
    assert_eq!(vectors.len(), 1);
    vectors.remove(0)
}

fn inner_product(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn assert_same(a: &[f32], b: &[f32], what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let distance = a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(distance <= ROUNDING, "{what}: elements differ by {distance}");
}

fn assert_vector(model: &dyn EmbeddingModel, vector: &[f32], what: &str) {
    assert_eq!(vector.len(), model.info().dimensions, "{what}");
    assert!(vector.iter().all(|element| element.is_finite()), "{what}");
    let length = inner_product(vector, vector).sqrt();
    assert!((length - 1.0).abs() < 1e-3, "{what}: length {length}");
}

/// Indexes are named after it and made for it.
#[expect(clippy::unused_async, reason = "the cases of all suites have one shape")]
pub async fn the_model_has_a_name_and_sizes(model: &dyn EmbeddingModel) {
    let info = model.info();
    assert!(!info.name.trim().is_empty());
    assert!(info.dimensions > 0);
    // Room for special tokens and a word.
    assert!(info.window_tokens > 3);
}

/// Passages and queries live in one space.
pub async fn a_vector_has_the_dimensions_of_the_model(model: &dyn EmbeddingModel) {
    assert_eq!(passage(model, "text").await.len(), model.info().dimensions);
    assert_eq!(model.embed_query("text").await.unwrap().len(), model.info().dimensions);
}

/// The inner product is the cosine.
pub async fn vectors_have_unit_length(model: &dyn EmbeddingModel) {
    for text in ["a", "The quick brown fox", "1 2 3"] {
        assert_vector(model, &passage(model, text).await, text);
        assert_vector(model, &model.embed_query(text).await.unwrap(), text);
    }
}

/// A document may be only a title, and a query only punctuation.
pub async fn an_empty_text_has_a_vector(model: &dyn EmbeddingModel) {
    assert_vector(model, &passage(model, "").await, "passage");
    assert_vector(model, &model.embed_query("").await.unwrap(), "query");
}

/// Nothing to do is no error.
pub async fn an_empty_batch_gives_an_empty_list(model: &dyn EmbeddingModel) {
    assert!(model.embed_passages(&[]).await.unwrap().is_empty());
}

/// No text is too odd.
pub async fn every_kind_of_character_is_embedded(model: &dyn EmbeddingModel) {
    let texts = awkward_texts();
    let vectors = model.embed_passages(&texts).await.unwrap();
    assert_eq!(vectors.len(), texts.len());
    for (text, vector) in texts.iter().zip(&vectors) {
        assert_vector(model, vector, text);
        assert_vector(model, &model.embed_query(text).await.unwrap(), text);
    }
}

/// What is indexed twice is the same.
pub async fn the_same_text_gives_the_same_vector_each_time(model: &dyn EmbeddingModel) {
    let text = "Search finds what you wrote down.";
    assert_same(&passage(model, text).await, &passage(model, text).await, "passage");
    let (a, b) = join!(model.embed_query(text), model.embed_query(text));
    assert_same(&a.unwrap(), &b.unwrap(), "query");
}

/// Neither longer neighbours nor the place in the batch show in a vector.
pub async fn a_batch_changes_no_vector(model: &dyn EmbeddingModel) {
    let texts = awkward_texts();
    let mut backwards = texts.clone();
    backwards.reverse();
    let batch = model.embed_passages(&texts).await.unwrap();
    let mut reversed = model.embed_passages(&backwards).await.unwrap();
    reversed.reverse();
    for ((text, vector), reversed) in texts.iter().zip(&batch).zip(&reversed) {
        assert_same(vector, &passage(model, text).await, text);
        assert_same(vector, reversed, text);
    }
}

/// There is no upper bound on the number of texts.
pub async fn a_large_batch_keeps_the_order_of_its_texts(model: &dyn EmbeddingModel) {
    // Lengths go up and down, so that sorting by length would show.
    let texts: Vec<String> =
        (0..300).map(|n| format!("text {n}{}", " and more".repeat(n * 7 % 5))).collect();
    let vectors = model.embed_passages(&texts).await.unwrap();
    assert_eq!(vectors.len(), texts.len());
    for n in [0, 1, 37, 150, 298, 299] {
        assert_same(&vectors[n], &passage(model, &texts[n]).await, &texts[n]);
    }
}

/// The window is measured in tokens of the model's own tokenizer.
pub async fn text_beyond_the_window_is_ignored(model: &dyn EmbeddingModel) {
    // Each word is a token at least, so the window ends in them.
    let window = "garden ".repeat(model.info().window_tokens);
    let longer = format!("{window}{}", "quantum physics of black holes ".repeat(50));
    assert_same(&passage(model, &window).await, &passage(model, &longer).await, "passage");
    let query = model.embed_query(&window).await.unwrap();
    assert_same(&query, &model.embed_query(&longer).await.unwrap(), "query");
}

/// A model that says the same of everything keeps every other promise.
pub async fn different_texts_have_different_vectors(model: &dyn EmbeddingModel) {
    let texts = ["the invoice is overdue", "how to bake bread", "kernel panic at boot", "世界"];
    let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    let vectors = model.embed_passages(&texts).await.unwrap();
    for (position, a) in vectors.iter().enumerate() {
        for b in &vectors[position + 1..] {
            assert!(inner_product(a, b) < 0.99);
        }
    }
}

/// The least that search needs.
pub async fn a_query_is_closest_to_the_passage_with_its_words(model: &dyn EmbeddingModel) {
    let texts =
        ["the cat sleeps on the mat", "invoices are paid within a month", "reset a password"];
    let texts: Vec<String> = texts.into_iter().map(str::to_owned).collect();
    let vectors = model.embed_passages(&texts).await.unwrap();
    for (expected, query) in
        ["cat on the mat", "when are invoices paid", "password reset"].into_iter().enumerate()
    {
        let query = model.embed_query(query).await.unwrap();
        let scores: Vec<f32> = vectors.iter().map(|vector| inner_product(vector, &query)).collect();
        let best = (0..scores.len()).max_by(|a, b| scores[*a].total_cmp(&scores[*b]));
        assert_eq!(best, Some(expected), "{scores:?}");
    }
}

/// Search stays quick while a large folder is indexed.
pub async fn a_query_does_not_wait_for_passages(model: &dyn EmbeddingModel) {
    let texts = vec!["some longer text about nothing much ".repeat(30); 64];
    let alone = model.embed_query("a short question").await.unwrap();
    let mut bulk = pin!(model.embed_passages(&texts));
    let started = poll!(&mut bulk);
    let meanwhile = model.embed_query("a short question").await.unwrap();
    assert_same(&alone, &meanwhile, "query");
    // A model that does all its work at once has nothing to wait for.
    if started.is_pending() {
        let rest = poll!(&mut bulk);
        assert!(rest.is_pending(), "the query came after the passages");
        assert_eq!(bulk.await.unwrap().len(), texts.len());
    }
}

/// Whoever hangs up leaves the model as it was.
pub async fn a_dropped_batch_changes_nothing(model: &dyn EmbeddingModel) {
    let texts = vec!["some text that nobody waits for ".repeat(20); 32];
    let before = passage(model, "text").await;
    for _ in 0..5 {
        let _batch = poll_immediate(model.embed_passages(&texts)).await;
        let _query = poll_immediate(model.embed_query(&texts[0])).await;
    }
    assert_same(&before, &passage(model, "text").await, "passage");
    let other = model.embed_query("question").await.unwrap();
    assert_same(&other, &model.embed_query("question").await.unwrap(), "query");
}

/// Nobody gets what another one asked for.
pub async fn callers_at_the_same_time_get_their_own_vectors(model: &dyn EmbeddingModel) {
    let texts: Vec<String> = (0..8).map(|n| format!("caller {n} asks for this")).collect();
    let expected = model.embed_passages(&texts).await.unwrap();
    let calls = texts.iter().map(|text| async move {
        join!(passage(model, text), model.embed_query(text), passage(model, "something else"))
    });
    let answers = futures::future::join_all(calls).await;
    for ((text, expected), (passage, query, _)) in texts.iter().zip(&expected).zip(&answers) {
        assert_same(expected, passage, text);
        assert_vector(model, query.as_ref().unwrap(), text);
    }
}
