//! Time, randomness and embeddings under a test's control.

use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use chrono::{DateTime, TimeDelta, Utc};
use trove_domain::port::{
    Clock, EmbeddingError, EmbeddingModel, EmbeddingModelInfo, IdGenerator, Tokenizer,
};
use uuid::Uuid;

/// A clock that stands still until it is moved.
#[derive(Debug)]
pub struct FakeClock(Mutex<DateTime<Utc>>);

impl FakeClock {
    /// Stands at `now`.
    #[must_use]
    pub fn at(now: DateTime<Utc>) -> Self {
        Self(Mutex::new(now))
    }

    /// Moves forward (or back).
    pub fn advance(&self, by: TimeDelta) {
        let mut now = self.0.lock().expect("no test panics while it holds the clock");
        *now += by;
    }
}

impl Default for FakeClock {
    /// Stands at 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::at(DateTime::from_timestamp(1_767_225_600, 0).expect("a valid instant"))
    }
}

impl Clock for FakeClock {
    fn now(&self) -> DateTime<Utc> {
        *self.0.lock().expect("no test panics while it holds the clock")
    }
}

/// Counts up instead of drawing.
#[derive(Debug, Default)]
pub struct SequentialIds(AtomicU64);

impl IdGenerator for SequentialIds {
    fn uuid(&self) -> Uuid {
        let low = 0x8000_0000_0000_0001 + self.0.fetch_add(1, Ordering::Relaxed);
        Uuid::from_u64_pair(0x0190_0000_0000_7000, low)
    }

    fn fill_secret(&self, secret: &mut [u8]) {
        for chunk in secret.chunks_mut(8) {
            let next =
                (self.0.fetch_add(1, Ordering::Relaxed) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            chunk.copy_from_slice(&next.to_le_bytes()[..chunk.len()]);
        }
    }
}

/// Embeds a text as the normalised counts of its words, hashed into a few dimensions: texts that
/// share words are alike.
#[derive(Debug)]
pub struct HashingEmbedder {
    info: EmbeddingModelInfo,
    tokenizer: WhitespaceTokenizer,
}

impl HashingEmbedder {
    /// With vectors of `dimensions` elements.
    #[must_use]
    pub fn new(dimensions: usize) -> Self {
        Self {
            info: EmbeddingModelInfo {
                name: format!("hashing-{dimensions}"),
                dimensions,
                window_tokens: 256,
            },
            tokenizer: WhitespaceTokenizer,
        }
    }

    /// The vector of `text`.
    #[must_use]
    pub fn embed(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.0_f32; self.info.dimensions];
        // A constant part keeps the vector of an empty text off zero.
        vector[0] = 0.1;
        for word in text.split_whitespace().take(self.info.window_tokens) {
            let hash = word.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(byte.to_ascii_lowercase())).wrapping_mul(0x0100_0000_01b3)
            });
            let slots = u64::try_from(vector.len()).expect("a small number");
            let slot = usize::try_from(hash % slots).expect("below the number of slots");
            vector[slot] += 1.0;
        }
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        vector.iter().map(|x| x / norm).collect()
    }
}

#[async_trait]
impl EmbeddingModel for HashingEmbedder {
    fn info(&self) -> &EmbeddingModelInfo {
        &self.info
    }

    fn tokenizer(&self) -> &dyn Tokenizer {
        &self.tokenizer
    }

    async fn embed_passages(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, EmbeddingError> {
        Ok(texts.iter().map(|text| self.embed(text)).collect())
    }

    async fn embed_query(&self, text: &str) -> Result<Vec<f32>, EmbeddingError> {
        Ok(self.embed(text))
    }
}

/// One token per word.
#[derive(Clone, Copy, Debug)]
pub struct WhitespaceTokenizer;

impl Tokenizer for WhitespaceTokenizer {
    fn spans(&self, text: &str) -> Vec<Range<usize>> {
        let base = text.as_ptr().addr();
        text.split_whitespace()
            .map(|word| {
                let start = word.as_ptr().addr() - base;
                start..start + word.len()
            })
            .collect()
    }
}
