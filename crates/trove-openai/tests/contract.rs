//! The contracts of both ports, at a stub that behaves.
#![expect(clippy::unwrap_used, reason = "failing is panicking here")]

mod fixture;

use std::ops::Deref;
use std::sync::Arc;

use trove_domain::port::{EmbeddingModel, LanguageModel};
use trove_openai::{EmbeddingSettings, OpenAiEmbeddingModel, Timeouts};
use trove_testkit::model_server::ModelServer;

/// A model and the server behind it.
struct AtServer<M: ?Sized> {
    model: Arc<M>,
    _server: ModelServer,
}

impl<M: ?Sized> Deref for AtServer<M> {
    type Target = M;

    fn deref(&self) -> &M {
        &self.model
    }
}

async fn language_model() -> Option<AtServer<dyn LanguageModel>> {
    let server = ModelServer::simulated().await;
    Some(AtServer { model: fixture::model(&server), _server: server })
}

async fn embedding_model() -> Option<AtServer<dyn EmbeddingModel>> {
    let server = ModelServer::simulated().await;
    let settings = EmbeddingSettings {
        endpoint: fixture::endpoint(&server.url()),
        dimensions: None,
        window_tokens: 256,
        // Several requests for a batch of the suite.
        batch_texts_max: 8,
    };
    let transport = fixture::transport(Timeouts::default());
    let model = OpenAiEmbeddingModel::open(transport, settings, None).await.unwrap();
    Some(AtServer { model: Arc::new(model), _server: server })
}

mod language {
    trove_testkit::language_model_contract!(super::language_model());
}

mod embedding {
    trove_testkit::embedding_model_contract!(super::embedding_model());
}
