//! The contract of the embedding model, on the real one.

use std::path::{Path, PathBuf};

use trove_local::{LocalEmbeddingModel, MiniLm, MiniLmOptions};

fn model_dir() -> PathBuf {
    #[expect(clippy::disallowed_methods, reason = "tests have no configuration")]
    let configured = std::env::var_os("TROVE_MODEL_DIR").map(PathBuf::from);
    configured.unwrap_or_else(|| {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/models/all-MiniLM-L6-v2")
    })
}

#[expect(clippy::unused_async, reason = "the suite starts every adapter alike")]
async fn model() -> Option<Box<LocalEmbeddingModel>> {
    let model = MiniLm::load(&model_dir(), MiniLmOptions::for_this_machine());
    let model = model.unwrap_or_else(|error| {
        panic!("this test needs the model; run `make model` to get it: {error}")
    });
    Some(Box::new(LocalEmbeddingModel::new(model)))
}

trove_testkit::embedding_model_contract!(model());

mod language_model {
    use trove_local::ExtractiveLanguageModel;

    trove_testkit::language_model_contract!(async {
        Some(Box::new(ExtractiveLanguageModel::new()))
    });
}
