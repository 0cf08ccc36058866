//! Search inside another Rust program: the engine over the embedded store and index, no HTTP.
//!
//! ```text
//! cargo run -p trove --example embed_engine
//! ```

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use trove_domain::access::{Caller, Proof, Role};
use trove_domain::cc_pair::CcPair;
use trove_domain::document::{Document, Section};
use trove_domain::id::{DocumentId, UserId};
use trove_domain::query::QueryText;
use trove_domain::source::DocumentSource;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::ingestion::IngestOutcome;
use trove_engine::retrieval::SearchRequest;
use trove_engine::{Backends, Engine, EngineConfig, SystemIds};
use trove_store::{SqliteConfig, Store};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let directory = tempfile::tempdir()?;
    for line in search_two_documents(directory.path()).await? {
        println!("{line}");
    }
    Ok(())
}

/// Indexes two documents in `directory` and answers what a search for one of them finds.
///
/// The engine has no model here and searches by words; give `Backends::new` a
/// `trove_local::LocalEmbeddingModel`, and the index its dimensions, to search by meaning, too.
pub(crate) async fn search_two_documents(directory: &Path) -> anyhow::Result<Vec<String>> {
    let sqlite = SqliteConfig::new(directory.join("trove.db"));
    let store = Arc::new(Store::open_sqlite(sqlite, Arc::new(SystemIds)).await?);
    let index =
        EmbeddedDocumentIndex::open(&directory.join("index"), EmbeddedIndexConfig::default())?;
    let backends = Backends::new(&store, Arc::new(index), None);
    let engine = Engine::new(backends, EngineConfig::default());

    let document = |id: &str, name: &str, text: &str| -> anyhow::Result<Document> {
        let section = Section { text: text.to_owned(), link: None };
        Ok(Document::new(DocumentId::new(id)?, DocumentSource::File, name, vec![section]))
    };
    let documents = vec![
        document("leave", "Leave", "Everybody has thirty days of leave a year.")?,
        document("travel", "Travel", "Trains are booked by whoever takes them.")?,
    ];
    // The default pair makes its documents readable by everybody.
    for outcome in engine.ingest_batch(CcPair::DEFAULT, documents).await {
        if let IngestOutcome::Failed(error) = outcome {
            return Err(error).context("a document was not indexed");
        }
    }

    // Whoever your program says is asking; groups and keys of Trove's own users work, too.
    let reader = Caller {
        user: UserId(uuid::Uuid::nil()),
        email: "reader@example.com".to_owned(),
        role: Role::Basic,
        proof: Proof::Trusted,
    };
    let request = SearchRequest::new(QueryText::new("how many days of leave")?);
    let results = engine.search(&reader, request).await?;
    let lines = results.iter().map(|result| {
        let name = &result.section.center().chunk.attributes.semantic_identifier;
        format!("{}. {name}: {}", result.citation_id, result.section.text())
    });
    Ok(lines.collect())
}
