//! `trove eval DIR`: retrieval quality on a judged collection, through the real pipeline.
//!
//! The collection is indexed in a temporary data directory, or in a collection of its own on the
//! configured Qdrant server, and every query is asked at weight 0
//! (lexical), 1 (dense) and 0.5 (hybrid), deep enough to fill a hundred documents; a document
//! scores as its best chunk.

mod collection;
mod metrics;
mod report;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};
use tokio_util::sync::CancellationToken;
use trove_domain::access::AccessScope;
use trove_domain::cc_pair::CcPair;
use trove_domain::document::Document;
use trove_domain::port::{EmbeddingModel, IdGenerator};
use trove_domain::query::{HybridAlpha, IndexQuery, SearchFilters};
use trove_engine::ingestion::IngestOutcome;
use trove_engine::{Engine, SystemIds};

use super::{print, print_json};
use crate::cli::EvalArgs;
use crate::config::{Config, DatabaseSection};
use crate::failure::{Failure, INTERRUPTED, SUCCESS};
use crate::lifecycle::Lifecycle;
use crate::wiring::Deployment;
use collection::Collection;
use metrics::{Figures, mean};
use report::Report;

/// Chunks that a query retrieves: documents of several chunks must still fill a hundred places.
const CHUNKS_PER_QUERY: usize = 1000;
/// Documents that are indexed at a time.
const BATCH: usize = 64;

/// Measures and prints.
///
/// # Errors
///
/// When the collection cannot be read (with file and line), or the pipeline fails.
pub async fn run(config: &Config, args: EvalArgs) -> Result<u8, Failure> {
    let lifecycle = Lifecycle::start()?;
    let qrels: Option<PathBuf> = args.qrels.clone();
    let dir = args.dir.clone();
    let collection = tokio::task::spawn_blocking(move || Collection::read(&dir, qrels.as_deref()))
        .await
        .context("reading the collection failed")??;
    let scratch = tempfile::tempdir().context("a temporary directory cannot be made")?;
    let scratch_config = scratch_config(config, &scratch);
    let deployment = Deployment::open(&scratch_config).await?;
    deployment.model.announce();
    let measured = measure(&deployment, collection, lifecycle.stop()).await;
    deployment.close().await?;
    Deployment::destroy_index(&scratch_config).await?;
    let Some(report) = measured? else { return Ok(INTERRUPTED) };
    if args.json {
        print_json(&report.as_json(args.per_query))?;
    } else {
        print(&report.as_text())?;
    }
    Ok(SUCCESS)
}

/// The configured pipeline on a data directory and an index that are thrown away, with the
/// configured model.
fn scratch_config(config: &Config, scratch: &tempfile::TempDir) -> Config {
    let mut scratch_config = config.clone();
    scratch_config.embedding.model_dir = Some(config.model_dir());
    scratch_config.data_dir = scratch.path().to_owned();
    scratch_config.database = DatabaseSection { url: None, ..config.database.clone() };
    scratch_config.qdrant.collection = format!("trove-eval-{}", SystemIds.uuid().simple());
    scratch_config.retrieval.disable_vector_db = false;
    scratch_config
}

/// `None` when it was interrupted.
async fn measure(
    deployment: &Deployment,
    collection: Collection,
    stop: &CancellationToken,
) -> anyhow::Result<Option<Report>> {
    let engine = &deployment.engine;
    let model = deployment.model.port();
    let documents = collection.documents.len();
    for batch in batches(collection.documents) {
        if stop.is_cancelled() {
            return Ok(None);
        }
        index(engine, batch).await?;
    }
    engine.backends().index.flush().await.context("the index could not be flushed")?;

    let mut figures: [Vec<Figures>; 3] = [Vec::new(), Vec::new(), Vec::new()];
    let mut asked = Vec::new();
    for (query, grades) in collection.judgments.judged() {
        if stop.is_cancelled() {
            return Ok(None);
        }
        asked.push(query.to_owned());
        // A judged query that is not asked counts as unanswered.
        let text = collection.queries.get(query);
        let vector = match (&model, text) {
            (Some(model), Some(text)) => Some(model.embed_query(text).await?),
            _ => None,
        };
        let alphas = [HybridAlpha::LEXICAL, HybridAlpha::DENSE, HybridAlpha::BALANCED];
        for (alpha, figures) in alphas.into_iter().zip(&mut figures) {
            if model.is_none() && !alpha.is_lexical() {
                continue;
            }
            let ranked = match text {
                Some(text) => ask(engine, text, vector.clone(), alpha).await?,
                None => Vec::new(),
            };
            figures.push(Figures::of(&ranked, grades));
        }
    }
    let unasked =
        collection.judgments.judged().filter(|(id, _)| !collection.queries.contains_key(*id));
    let [lexical, dense, hybrid] = figures.each_ref().map(|figures| mean(figures));
    Ok(Some(Report {
        documents,
        queries: collection.judgments.judged().count(),
        unasked: unasked.count(),
        model: model.map(|model: Arc<dyn EmbeddingModel>| model.info().name.clone()),
        lexical,
        dense,
        hybrid,
        per_query: per_query(asked, &figures),
    }))
}

fn per_query(
    asked: Vec<String>,
    figures: &[Vec<Figures>; 3],
) -> Vec<(String, [Option<Figures>; 3])> {
    let of = |at: usize| figures.each_ref().map(|figures| figures.get(at).copied());
    asked.into_iter().enumerate().map(|(at, query)| (query, of(at))).collect()
}

fn batches(documents: Vec<Document>) -> impl Iterator<Item = Vec<Document>> {
    let mut documents = documents.into_iter();
    std::iter::from_fn(move || {
        let batch: Vec<Document> = documents.by_ref().take(BATCH).collect();
        (!batch.is_empty()).then_some(batch)
    })
}

async fn index(engine: &Engine, batch: Vec<Document>) -> anyhow::Result<()> {
    let ids: Vec<String> = batch.iter().map(|document| document.id.to_string()).collect();
    let outcomes = engine.ingest_batch(CcPair::DEFAULT, batch).await;
    for (id, outcome) in ids.into_iter().zip(outcomes) {
        if let IngestOutcome::Failed(error) = outcome {
            return Err(anyhow!(error).context(format!("document {id} was not indexed")));
        }
    }
    Ok(())
}

/// Document ids, best first: by score, and equal scores as trec_eval orders them.
async fn ask(
    engine: &Engine,
    text: &str,
    vector: Option<Vec<f32>>,
    alpha: HybridAlpha,
) -> anyhow::Result<Vec<String>> {
    if alpha.is_dense() && vector.is_none() {
        bail!("a dense search needs the embedding of its query");
    }
    let query = IndexQuery {
        text: text.to_owned(),
        vector: if alpha.is_lexical() { None } else { vector },
        alpha,
        scope: AccessScope::everything("evaluation of a collection that is nobody's"),
        filters: SearchFilters::default(),
        limit: CHUNKS_PER_QUERY,
    };
    let hits = engine.backends().index.search(&query).await?;
    let mut best: HashMap<String, f32> = HashMap::new();
    for hit in hits {
        let score = best.entry(hit.chunk.id.document.into_string()).or_insert(hit.score);
        *score = score.max(hit.score);
    }
    let mut ranked: Vec<(String, f32)> = best.into_iter().collect();
    ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(&a.0)));
    Ok(ranked.into_iter().map(|(id, _)| id).collect())
}
