//! How quickly a change of access or of a document set reaches the index, in process, beside how
//! quickly the same documents were indexed.
//!
//! ```text
//! cargo run --release -p trove --example payload_updates -- 100000
//! ```

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, ensure};
use serde_json::json;
use trove_domain::cc_pair::AccessType;
use trove_domain::document::{Document, Section};
use trove_domain::id::{CcPairId, DocumentId};
use trove_domain::port::{AccessChange, NewCcPair};
use trove_domain::source::DocumentSource;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::ingestion::IngestOutcome;
use trove_engine::{Backends, Engine, EngineConfig, SystemIds};
use trove_store::{SqliteConfig, Store};

/// Documents that are ingested at a time.
const BATCH: usize = 128;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let count: usize = std::env::args().nth(1).map_or(Ok(100_000), |count| count.parse())?;
    let directory = tempfile::tempdir()?;
    let sqlite = SqliteConfig::new(directory.path().join("trove.db"));
    let store = Arc::new(Store::open_sqlite(sqlite, Arc::new(SystemIds)).await?);
    let config = EmbeddedIndexConfig::default();
    let index = EmbeddedDocumentIndex::open(&directory.path().join("index"), config)?;
    let engine = Engine::new(Backends::new(&store, Arc::new(index), None), EngineConfig::default());
    let pair = pair(&engine).await?;

    let began = Instant::now();
    for from in (0..count).step_by(BATCH) {
        let documents = (from..count.min(from + BATCH)).map(document).collect::<Result<_, _>>()?;
        for outcome in engine.ingest_batch(pair, documents).await {
            if let IngestOutcome::Failed(error) = outcome {
                return Err(error).context("a document was not indexed");
            }
        }
    }
    let indexed = rate(count, began);
    println!("| indexed | {indexed:.0} documents/s | |");

    for access_type in [AccessType::Private, AccessType::Public] {
        let began = Instant::now();
        let change = AccessChange { access_type, groups: [].into() };
        ensure!(engine.set_pair_access(pair, change).await?, "the pair is there");
        let marked = began.elapsed();
        let treated = engine.sync_documents().await?;
        ensure!(usize::try_from(treated)? == count, "{treated} of {count} documents");
        let updated = rate(count, began);
        println!(
            "| access is {} | {updated:.0} documents/s | {:.1} times as fast; marked in {marked:.1?} |",
            access_type.as_str(),
            updated / indexed
        );
    }
    Ok(())
}

async fn pair(engine: &Engine) -> anyhow::Result<CcPairId> {
    let pair = NewCcPair {
        name: "pair".to_owned(),
        source: DocumentSource::File,
        config: json!({}),
        access_type: AccessType::Public,
        groups: [].into(),
        creator: None,
        created_at: engine.backends().clock.now(),
    };
    Ok(engine.backends().cc_pairs.get_or_insert(pair).await?.id)
}

/// Some eighty words, all but a few of them in many documents.
fn document(number: usize) -> anyhow::Result<Document> {
    let words: Vec<String> =
        (0..80).map(|word| format!("word{}", (number * 31 + word * word * 7) % 5_000)).collect();
    let section = Section { text: words.join(" "), link: None };
    let id = DocumentId::new(format!("document-{number:06}"))?;
    Ok(Document::new(id, DocumentSource::File, format!("Document {number}"), vec![section]))
}

#[expect(
    clippy::cast_precision_loss,
    clippy::as_conversions,
    reason = "counts of documents are small"
)]
fn rate(count: usize, began: Instant) -> f64 {
    count as f64 / began.elapsed().as_secs_f64()
}
