//! One transformer layer.

use std::ops::Range;

use rten_simd::SimdOp;

use super::attention::{self, Attention};
use super::dense::{Dense, Products};
use super::simd::{AddLayerNorm, BiasGelu};
use super::{HIDDEN, Precision};
use crate::weights::{Weights, WeightsError};

const INTERMEDIATE: usize = 1536;

/// Tokens that pass through the dense parts together. Their intermediate states (0.8 MB) then stay
/// in a core's second-level cache. A multiple of the six rows that a kernel works on.
const ROW_BLOCK: usize = 132;

/// The weights of one layer.
pub(super) struct Layer {
    /// Query, key and value side by side.
    qkv: Dense,
    query_bias: Vec<f32>,
    attention_output: Dense,
    attention_output_bias: Vec<f32>,
    attention_norm: LayerNorm,
    up: Dense,
    up_bias: Vec<f32>,
    down: Dense,
    down_bias: Vec<f32>,
    output_norm: LayerNorm,
}

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    products: Products,
    qkv: Vec<f32>,
    context: Vec<f32>,
    intermediate: Vec<f32>,
    attention: attention::Scratch,
}

impl Layer {
    /// Takes the tensors of layer `index`.
    ///
    /// Two biases are absorbed: that of the keys adds the same amount to all scores of a query,
    /// which softmax ignores; that of the values adds itself to every context, since softmax sums
    /// to one, so its image is added to the bias of the output. The query is scaled by the root
    /// of the head's width here instead of at every score.
    pub(super) fn take(
        weights: &mut Weights,
        index: usize,
        precision: Precision,
    ) -> Result<Self, WeightsError> {
        let mut take = |name: &str, shape: &[usize]| {
            weights.take(&format!("encoder.layer.{index}.{name}"), shape)
        };
        let square = &[HIDDEN, HIDDEN];

        let mut qkv = take("attention.self.query.weight", square)?;
        let mut query_bias = take("attention.self.query.bias", &[HIDDEN])?;
        for x in qkv.iter_mut().chain(&mut query_bias) {
            *x *= attention::SCORE_SCALE;
        }
        qkv.extend(take("attention.self.key.weight", square)?);
        qkv.extend(take("attention.self.value.weight", square)?);
        take("attention.self.key.bias", &[HIDDEN])?;
        let value_bias = take("attention.self.value.bias", &[HIDDEN])?;

        let output = take("attention.output.dense.weight", square)?;
        let mut attention_output_bias = take("attention.output.dense.bias", &[HIDDEN])?;
        for (bias, row) in attention_output_bias.iter_mut().zip(output.chunks_exact(HIDDEN)) {
            *bias += row.iter().zip(&value_bias).map(|(w, v)| w * v).sum::<f32>();
        }

        let up = take("intermediate.dense.weight", &[INTERMEDIATE, HIDDEN])?;
        let up_bias = take("intermediate.dense.bias", &[INTERMEDIATE])?;
        let down = take("output.dense.weight", &[HIDDEN, INTERMEDIATE])?;
        let down_bias = take("output.dense.bias", &[HIDDEN])?;
        let prefix = format!("encoder.layer.{index}");
        Ok(Self {
            qkv: Dense::pack(&qkv, 3 * HIDDEN, HIDDEN, precision),
            query_bias,
            attention_output: Dense::pack(&output, HIDDEN, HIDDEN, precision),
            attention_output_bias,
            attention_norm: LayerNorm::take(
                weights,
                &format!("{prefix}.attention.output.LayerNorm"),
            )?,
            up: Dense::pack(&up, INTERMEDIATE, HIDDEN, precision),
            up_bias,
            down: Dense::pack(&down, HIDDEN, INTERMEDIATE, precision),
            down_bias,
            output_norm: LayerNorm::take(weights, &format!("{prefix}.output.LayerNorm"))?,
        })
    }

    /// Replaces the states `[tokens, HIDDEN]` of some sequences by those of the next layer.
    pub(super) fn forward(
        &self,
        states: &mut [f32],
        sequences: &[Range<usize>],
        scratch: &mut Scratch,
        pause: &dyn Fn(),
    ) {
        let Scratch { products, qkv, context, intermediate, attention } = scratch;
        let tokens = states.len() / HIDDEN;
        // Every element is overwritten before it is read: what is there from earlier may stay.
        qkv.resize(tokens * 3 * HIDDEN, 0.0);
        context.resize(tokens * HIDDEN, 0.0);
        intermediate.resize(tokens.min(ROW_BLOCK) * INTERMEDIATE, 0.0);

        let blocks = states.chunks(ROW_BLOCK * HIDDEN).zip(qkv.chunks_mut(ROW_BLOCK * 3 * HIDDEN));
        for (states, qkv) in blocks {
            pause();
            self.qkv.product(products, states, qkv, false);
        }
        for tokens in sequences {
            pause();
            Attention {
                qkv: &qkv[tokens.start * 3 * HIDDEN..tokens.end * 3 * HIDDEN],
                query_bias: &self.query_bias,
                context: &mut context[tokens.start * HIDDEN..tokens.end * HIDDEN],
                scratch: attention,
            }
            .dispatch();
        }
        let blocks = states.chunks_mut(ROW_BLOCK * HIDDEN).zip(context.chunks(ROW_BLOCK * HIDDEN));
        for (states, context) in blocks {
            pause();
            self.attention_output.product(products, context, states, true);
            self.attention_norm.apply(states, Some(&self.attention_output_bias));

            let intermediate = &mut intermediate[..states.len() / HIDDEN * INTERMEDIATE];
            self.up.product(products, states, intermediate, false);
            BiasGelu { rows: intermediate, bias: &self.up_bias }.dispatch();
            self.down.product(products, intermediate, states, true);
            self.output_norm.apply(states, Some(&self.down_bias));
        }
    }
}

/// Gain and shift of a layer normalisation.
pub(super) struct LayerNorm {
    gain: Vec<f32>,
    shift: Vec<f32>,
}

impl LayerNorm {
    pub(super) fn take(weights: &mut Weights, prefix: &str) -> Result<Self, WeightsError> {
        Ok(Self {
            gain: weights.take(&format!("{prefix}.weight"), &[HIDDEN])?,
            shift: weights.take(&format!("{prefix}.bias"), &[HIDDEN])?,
        })
    }

    /// Normalises each row of `states`, after adding `bias` to it.
    pub(super) fn apply(&self, states: &mut [f32], bias: Option<&[f32]>) {
        AddLayerNorm { rows: states, bias, gain: &self.gain, shift: &self.shift }.dispatch();
    }
}
