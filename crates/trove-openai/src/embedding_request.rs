//! One request for vectors, and its answer.

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput};
use bytes::Bytes;
use serde::Deserialize;

/// Vectors, as far as they are needed.
#[derive(Debug, Deserialize)]
struct Answer {
    data: Vec<Item>,
}

#[derive(Debug, Deserialize)]
struct Item {
    index: Option<usize>,
    embedding: Vec<f32>,
}

/// The body that asks `model` for a vector of each text.
pub(crate) fn body(
    model: &str,
    texts: &[String],
    dimensions: Option<u32>,
) -> Result<Bytes, serde_json::Error> {
    let request = CreateEmbeddingRequest {
        model: model.to_owned(),
        input: EmbeddingInput::StringArray(texts.to_vec()),
        dimensions,
        ..CreateEmbeddingRequest::default()
    };
    serde_json::to_vec(&request).map(Bytes::from)
}

/// The vectors of `count` texts in the order of the texts, each of unit length.
///
/// # Errors
///
/// What is wrong with the answer, to end a sentence with.
pub(crate) fn vectors(body: &[u8], count: usize) -> Result<Vec<Vec<f32>>, String> {
    let answer: Answer = serde_json::from_slice(body)
        .map_err(|error| format!("it is not a list of vectors: {error}"))?;
    if answer.data.len() != count {
        return Err(format!("it has {} vectors for {count} texts", answer.data.len()));
    }
    // Some servers leave the index out, or write 0 always; their order is that of the texts.
    let ordered = answer.data.iter().all(|item| item.index.unwrap_or(0) == 0);
    let mut vectors: Vec<Option<Vec<f32>>> = vec![None; count];
    for (position, item) in answer.data.into_iter().enumerate() {
        let index = if ordered { position } else { item.index.unwrap_or(position) };
        match vectors.get_mut(index) {
            Some(place @ None) => *place = Some(unit(item.embedding)?),
            _ => return Err(format!("index {index} is there twice, or for no text")),
        }
    }
    Ok(vectors.into_iter().flatten().collect())
}

/// `vector` with length 1.
fn unit(mut vector: Vec<f32>) -> Result<Vec<f32>, String> {
    let squares: f64 = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum();
    // The exponent of an `f64` has room for the square of any `f32`.
    if !squares.is_finite() || squares <= 0.0 {
        return Err("one of its vectors has no direction".to_owned());
    }
    let length = squares.sqrt();
    for x in &mut vector {
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "at most 1, and rounding is what is wanted"
        )]
        let scaled = (f64::from(*x) / length) as f32;
        *x = scaled;
    }
    Ok(vector)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::vectors;

    fn read(items: &serde_json::Value, count: usize) -> Result<Vec<Vec<f32>>, String> {
        vectors(json!({ "object": "list", "data": items }).to_string().as_bytes(), count)
    }

    #[test]
    fn vectors_are_in_the_order_of_their_index_and_of_unit_length() {
        let items = json!([
            { "index": 1, "embedding": [0, 2.0] },
            { "index": 0, "embedding": [3.0, 4] },
        ]);
        assert_eq!(read(&items, 2).unwrap(), [[0.6, 0.8], [0.0, 1.0]]);
        let items = json!([{ "embedding": [5] }, { "embedding": [-5] }]);
        assert_eq!(read(&items, 2).unwrap(), [[1.0], [-1.0]]);
        let items = json!([{ "index": 0, "embedding": [5] }, { "index": 0, "embedding": [-5] }]);
        assert_eq!(read(&items, 2).unwrap(), [[1.0], [-1.0]]);
    }

    #[test]
    fn an_answer_that_does_not_fit_is_refused() {
        for (items, words) in [
            (json!([{ "embedding": [1] }]), "1 vectors for 2"),
            (json!([{ "index": 1, "embedding": [1] }, { "index": 1, "embedding": [1] }]), "twice"),
            (
                json!([{ "index": 0, "embedding": [1] }, { "index": 9, "embedding": [1] }]),
                "no text",
            ),
            (json!([{ "embedding": [0, 0] }, { "embedding": [1] }]), "no direction"),
            (json!([{ "embedding": [] }, { "embedding": [1] }]), "no direction"),
            (json!([{ "embedding": ["x"] }, { "embedding": [1] }]), "not a list"),
            (json!(null), "not a list"),
        ] {
            let problem = read(&items, 2).unwrap_err();
            assert!(problem.contains(words), "{items}: {problem}");
        }
    }
}
