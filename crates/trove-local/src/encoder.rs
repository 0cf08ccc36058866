//! The encoder of all-MiniLM-L6-v2: six BERT layers, pooling, unit length.
//!
//! Nothing is padded. The tokens of all sequences lie one after the other in a single matrix for
//! the dense layers, and only attention looks at where a sequence begins and ends.

mod attention;
mod dense;
mod layer;
mod pooling;
mod quantize;
mod simd;

use std::ops::Range;

use crate::weights::{Weights, WeightsError};
use layer::{Layer, LayerNorm};

pub(crate) use pooling::Pooling;

/// Width of a token's state, and of the vector of a text.
pub(crate) const HIDDEN: usize = 384;
/// Longest sequence in word pieces, `[CLS]` and `[SEP]` included.
pub(crate) const WINDOW: usize = 256;
const LAYERS: usize = 6;
const VOCABULARY: usize = 30_522;
const POSITIONS: usize = 512;

/// How the products with the weights are computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// In 32-bit floats, as the reference does: states agree to six digits.
    #[default]
    F32,
    /// In 8-bit integers, which processors with such dot products do several times as fast.
    /// Vectors deviate by about 0.005 in cosine distance.
    Int8,
}

/// The weights, packed for this machine's instruction set.
pub(crate) struct Encoder {
    word_embeddings: Vec<f32>,
    /// Position embeddings with the one token type added.
    position_embeddings: Vec<f32>,
    embedding_norm: LayerNorm,
    layers: Vec<Layer>,
}

/// Buffers of one thread, kept between calls.
#[derive(Default)]
pub(crate) struct Scratch {
    states: Vec<f32>,
    layer: layer::Scratch,
}

impl Encoder {
    /// Takes the encoder's tensors out of `weights`, under the names BERT gives them.
    pub(crate) fn new(weights: &mut Weights, precision: Precision) -> Result<Self, WeightsError> {
        let mut position_embeddings =
            weights.take("embeddings.position_embeddings.weight", &[POSITIONS, HIDDEN])?;
        position_embeddings.truncate(WINDOW * HIDDEN);
        position_embeddings.shrink_to_fit();
        let token_types = weights.take("embeddings.token_type_embeddings.weight", &[2, HIDDEN])?;
        for row in position_embeddings.chunks_exact_mut(HIDDEN) {
            add(row, &token_types[..HIDDEN]);
        }
        Ok(Self {
            word_embeddings: weights
                .take("embeddings.word_embeddings.weight", &[VOCABULARY, HIDDEN])?,
            position_embeddings,
            embedding_norm: LayerNorm::take(weights, "embeddings.LayerNorm")?,
            layers: (0..LAYERS)
                .map(|index| Layer::take(weights, index, precision))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Vectors of unit length, one for each sequence, in order.
    ///
    /// A sequence holds 1 to [`WINDOW`] ids of the vocabulary, special tokens included. `pause` is
    /// called every few milliseconds and may block.
    pub(crate) fn encode(
        &self,
        sequences: &[&[u32]],
        pooling: Pooling,
        scratch: &mut Scratch,
        pause: &dyn Fn(),
    ) -> Vec<Vec<f32>> {
        let ranges = token_ranges(sequences);
        let states = &mut scratch.states;
        states.clear();
        for ids in sequences {
            for (id, position) in ids.iter().zip(self.position_embeddings.chunks_exact(HIDDEN)) {
                let start = states.len();
                states.extend_from_slice(self.word_embedding(*id));
                add(&mut states[start..], position);
            }
        }
        self.embedding_norm.apply(states, None);
        for layer in &self.layers {
            layer.forward(states, &ranges, &mut scratch.layer, pause);
        }
        ranges
            .iter()
            .map(|tokens| pooling.vector(&states[tokens.start * HIDDEN..tokens.end * HIDDEN]))
            .collect()
    }

    fn word_embedding(&self, id: u32) -> &[f32] {
        let row = usize::try_from(id).unwrap_or(usize::MAX).min(VOCABULARY - 1);
        &self.word_embeddings[row * HIDDEN..][..HIDDEN]
    }
}

/// Where each sequence is in the concatenation of all.
fn token_ranges(sequences: &[&[u32]]) -> Vec<Range<usize>> {
    let mut end = 0;
    sequences
        .iter()
        .map(|ids| {
            let start = end;
            end += ids.len();
            start..end
        })
        .collect()
}

fn add(to: &mut [f32], from: &[f32]) {
    to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
}
