//! The model as a whole.

use std::fs;
use std::num::NonZero;
use std::path::Path;
use std::sync::Arc;
use std::thread::available_parallelism;

use sha2::{Digest, Sha256};

use crate::encoder::{Encoder, Precision};
use crate::error::{GaveUp, LoadError};
use crate::model_files::{TOKENIZER, WEIGHTS, hex};
use crate::threads::{Bulk, Priority, Query};
use crate::weights::Weights;
use crate::word_pieces::WordPieces;

/// How many threads compute, and how exactly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MiniLmOptions {
    /// Threads for passages.
    pub bulk_threads: NonZero<usize>,
    /// Threads that share the work of one query.
    pub query_threads: NonZero<usize>,
    /// How exactly they compute.
    pub precision: Precision,
}

impl MiniLmOptions {
    /// 32-bit floats, as many threads for passages as the machine has cores, and one for queries:
    /// a second one gains less than a tenth on a short query, and loses when cores are busy.
    #[must_use]
    pub fn for_this_machine() -> Self {
        let one = NonZero::<usize>::MIN;
        Self {
            bulk_threads: available_parallelism().unwrap_or(one),
            query_threads: one,
            precision: Precision::F32,
        }
    }
}

/// The sentence encoder all-MiniLM-L6-v2, in memory and ready.
///
/// Takes about 110 MB, and 13 MB for each thread that has embedded passages. Dropping it waits for
/// the steps in work, up to half a second.
#[derive(Debug)]
pub struct MiniLm {
    pieces: Arc<WordPieces>,
    bulk: Bulk,
    query: Query,
    precision: Precision,
}

impl MiniLm {
    /// Names of the files that are read; whatever else is published beside them is not needed.
    pub const FILES: [&str; 2] = [WEIGHTS.name, TOKENIZER.name];

    /// Reads the model in `dir`, verifies it and starts its threads. Blocks for about 0.3 s.
    ///
    /// # Errors
    ///
    /// [`LoadError`] if a file is missing or is not the one this program was made for.
    pub fn load(dir: &Path, options: MiniLmOptions) -> Result<Self, LoadError> {
        let pieces = Arc::new(load_pieces(dir)?);
        let encoder = Arc::new(load_encoder(dir, options.precision)?);
        let priority = Arc::new(Priority::default());
        let bulk = Bulk::start(&encoder, Arc::clone(&pieces), &priority, options.bulk_threads)
            .map_err(LoadError::Threads)?;
        let query = Query::start(encoder, Arc::clone(&pieces), priority, options.query_threads)
            .map_err(LoadError::Threads)?;
        Ok(Self { pieces, bulk, query, precision: options.precision })
    }

    /// How exactly it computes.
    #[must_use]
    pub fn precision(&self) -> Precision {
        self.precision
    }

    /// The model's tokenizer.
    #[must_use]
    pub fn tokenizer(&self) -> &WordPieces {
        &self.pieces
    }

    /// Vectors of many passages, in order, on all threads for them. Blocks: not for async code.
    ///
    /// # Panics
    ///
    /// If the computation panicked, which it does for no text.
    #[must_use]
    pub fn embed_batch(&self, texts: &[&str]) -> Vec<Vec<f32>> {
        let texts = texts.iter().map(|text| (*text).to_owned()).collect();
        self.bulk.embed_blocking(texts).expect("the threads live as long as the model")
    }

    /// Vector of one query, that of the reference, ahead of all that [`embed_batch`](Self::embed_batch) is busy with.
    /// Blocks: not for async code.
    ///
    /// # Panics
    ///
    /// If the computation panicked, which it does for no text.
    #[must_use]
    pub fn embed_query(&self, text: &str) -> Vec<f32> {
        self.query.embed_blocking(text).expect("the threads live as long as the model")
    }

    pub(crate) async fn passages(&self, texts: Vec<String>) -> Result<Vec<Vec<f32>>, GaveUp> {
        self.bulk.embed(texts).await
    }

    pub(crate) async fn query(&self, text: &str) -> Result<Vec<f32>, GaveUp> {
        self.query.embed(text).await
    }
}

fn load_pieces(dir: &Path) -> Result<WordPieces, LoadError> {
    let path = dir.join(TOKENIZER.name);
    let json = fs::read(&path).map_err(|source| LoadError::read(path.clone(), source))?;
    let actual = hex(&Sha256::digest(&json));
    if actual != TOKENIZER.sha256 {
        return Err(LoadError::Corrupt { path, expected: TOKENIZER.sha256.to_owned(), actual });
    }
    WordPieces::from_json(&json).map_err(|source| LoadError::word_pieces(path, source))
}

fn load_encoder(dir: &Path, precision: Precision) -> Result<Encoder, LoadError> {
    let path = dir.join(WEIGHTS.name);
    let mut weights =
        Weights::read(&path).map_err(|source| LoadError::weights(path.clone(), source))?;
    if weights.sha256() != WEIGHTS.sha256 {
        let actual = weights.sha256().to_owned();
        return Err(LoadError::Corrupt { path, expected: WEIGHTS.sha256.to_owned(), actual });
    }
    Encoder::new(&mut weights, precision).map_err(|source| LoadError::weights(path, source))
}
