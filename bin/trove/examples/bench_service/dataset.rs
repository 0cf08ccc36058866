//! A data directory with many chunks and their vectors, through the engine.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use async_trait::async_trait;
use secrecy::SecretString;
use trove_domain::cc_pair::CcPair;
use trove_domain::document::{Document, Section};
use trove_domain::id::DocumentId;
use trove_domain::port::{
    DocumentIndex, EmbeddingError, EmbeddingModel, EmbeddingModelInfo, Tokenizer,
};
use trove_domain::source::DocumentSource;
use trove_embedded::{EmbeddedDocumentIndex, EmbeddedIndexConfig};
use trove_engine::administration::FIRST_ADMIN_EMAIL;
use trove_engine::ingestion::IngestOutcome;
use trove_engine::{Backends, Engine, EngineConfig, SystemIds};
use trove_store::{SqliteConfig, Store};

use crate::corpus::Corpus;

/// Of the real model, whose queries are compared with these vectors.
const DIMENSIONS: usize = 384;
const MODEL: &str = "all-MiniLM-L6-v2";
/// Groups of the administrator who searches: so many entries has the access filter.
const GROUPS: usize = 5;
const BATCH: usize = 64;

/// What was built.
pub(crate) struct Dataset {
    pub(crate) chunks: usize,
    pub(crate) key: SecretString,
}

/// Builds the directory.
pub(crate) async fn build(corpus: &Corpus, dir: &Path, chunks: usize) -> anyhow::Result<Dataset> {
    std::fs::create_dir_all(dir)?;
    let (engine, store, index) = open(dir).await?;
    let key = engine.bootstrap_admin().await?.context("the directory is not new")?;
    join_groups(&engine).await?;
    let numbers: Vec<usize> = (0..Corpus::documents_for(chunks)).collect();
    for batch in numbers.chunks(BATCH) {
        let documents: Result<Vec<Document>, _> =
            batch.iter().map(|number| document(*number, corpus.sections(*number))).collect();
        for outcome in engine.ingest_batch(CcPair::DEFAULT, documents?).await {
            if let IngestOutcome::Failed(error) = outcome {
                return Err(anyhow!(error).context("a document was not indexed"));
            }
        }
    }
    // What the service would do in the background, so that it does not while it is measured.
    index.optimize().await?;
    index.flush().await?;
    let statistics = index.statistics().await?;
    store.close().await;
    Ok(Dataset { chunks: usize::try_from(statistics.chunks)?, key })
}

/// How many chunks the directory holds. Nobody else may use it.
pub(crate) async fn chunks(dir: &Path) -> anyhow::Result<usize> {
    let index = EmbeddedDocumentIndex::open(&dir.join("index"), EmbeddedIndexConfig::default())?;
    Ok(usize::try_from(index.statistics().await?.chunks)?)
}

async fn open(dir: &Path) -> anyhow::Result<(Engine, Arc<Store>, Arc<EmbeddedDocumentIndex>)> {
    let sqlite = SqliteConfig::new(dir.join("trove.db"));
    let store = Arc::new(Store::open_sqlite(sqlite, Arc::new(SystemIds)).await?);
    let config = EmbeddedIndexConfig {
        // All at once, at the end.
        optimize_after: usize::MAX,
        ..EmbeddedIndexConfig::with_dimensions(Some(DIMENSIONS))
    };
    let index = Arc::new(EmbeddedDocumentIndex::open(&dir.join("index"), config)?);
    let backends = Backends::new(
        &store,
        Arc::<EmbeddedDocumentIndex>::clone(&index),
        Some(Arc::new(WordSums::new())),
    );
    Ok((Engine::new(backends, EngineConfig::default()), store, index))
}

async fn join_groups(engine: &Engine) -> anyhow::Result<()> {
    let backends = engine.backends();
    let admin = backends.users.get_by_email(FIRST_ADMIN_EMAIL).await?;
    let admin = admin.context("there is an administrator")?;
    for number in 0..GROUPS {
        let group = backends.groups.insert(&format!("group {number}")).await?;
        let group = group.context("the directory is not new")?;
        if !backends.groups.set_members(group.id, &[(admin.id, false)]).await? {
            bail!("the administrator cannot join a group");
        }
    }
    Ok(())
}

fn document(number: usize, sections: Vec<String>) -> anyhow::Result<Document> {
    let name = format!("document {number}");
    let id = DocumentId::new(format!("bench/{number}"))?;
    let sections = sections.into_iter().map(|text| Section { text, link: None }).collect();
    Ok(Document::new(id, DocumentSource::File, name, sections))
}

/// Embeds a text as the sum of a random vector for each of its words, so that texts with the same
/// words are near each other.
struct WordSums {
    info: EmbeddingModelInfo,
}

impl WordSums {
    fn new() -> Self {
        let name = MODEL.to_owned();
        Self { info: EmbeddingModelInfo { name, dimensions: DIMENSIONS, window_tokens: 256 } }
    }

    fn embed(text: &str) -> Vec<f32> {
        let mut sum = vec![0.0_f32; DIMENSIONS];
        for word in text.split_whitespace() {
            // FNV-1a for the word, xorshift for its vector.
            let hash =
                |state: u64, byte: u8| (state ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
            let mut state = word.bytes().fold(0xcbf2_9ce4_8422_2325, hash) | 1;
            for entry in &mut sum {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                let bits = u16::try_from(state >> 48).unwrap_or(0);
                *entry += f32::from(bits) / 65_536.0 - 0.5;
            }
        }
        let length = sum.iter().map(|entry| entry * entry).sum::<f32>().sqrt().max(f32::EPSILON);
        for entry in &mut sum {
            *entry /= length;
        }
        sum
    }
}

#[async_trait]
impl EmbeddingModel for WordSums {
    fn info(&self) -> &EmbeddingModelInfo {
        &self.info
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        self
    }

    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        Ok(texts.iter().map(|text| Self::embed(text)).collect())
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        Ok(Self::embed(text))
    }
}

impl Tokenizer for WordSums {
    fn spans(&self, text: &str) -> Vec<std::ops::Range<usize>> {
        let mut from = 0;
        text.split_whitespace()
            .filter_map(|word| {
                let start = from + text[from..].find(word)?;
                from = start + word.len();
                Some(start..from)
            })
            .collect()
    }
}
