//! Attention within one sequence.
//!
//! The buffers are arrays of constant size, so that the inner loops have constant strides and no
//! checks of bounds.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched operation is compiled without its instructions"
)]
#![expect(clippy::needless_range_loop, reason = "the indices run over several arrays at once")]

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, Simd, SimdOp};

use super::simd::exp_of_negative;
use super::{HIDDEN, WINDOW};

const HEAD: usize = 32;
/// One over the square root of [`HEAD`].
pub(super) const SCORE_SCALE: f32 = 0.176_776_7;
const QKV: usize = 3 * HIDDEN;

/// Queries that are worked on together: two vectors of results for each fit in the registers.
const ROWS: usize = 6;

/// Buffers of one thread, for one head.
pub(super) struct Scratch {
    /// Transposed, so that a vector holds one element of many keys.
    keys: Box<[[f32; WINDOW]; HEAD]>,
    values: Box<[[f32; HEAD]; WINDOW]>,
    /// Of some queries.
    scores: Box<[[f32; WINDOW]; ROWS]>,
}

impl Default for Scratch {
    #[expect(clippy::large_stack_arrays, reason = "32 kB, on their way to the heap")]
    fn default() -> Self {
        Self {
            keys: Box::new([[0.0; WINDOW]; HEAD]),
            values: Box::new([[0.0; HEAD]; WINDOW]),
            scores: Box::new([[0.0; WINDOW]; ROWS]),
        }
    }
}

/// Multi-head attention over the tokens of one sequence.
pub(super) struct Attention<'a> {
    /// Query, key and value of each token, [`WINDOW`] at most. Queries are scaled, but lack their
    /// bias.
    pub(super) qkv: &'a [f32],
    pub(super) query_bias: &'a [f32],
    /// Receives the weighted values `[tokens, HIDDEN]`.
    pub(super) context: &'a mut [f32],
    pub(super) scratch: &'a mut Scratch,
}

impl SimdOp for Attention<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let Self { qkv, query_bias, context, scratch: Scratch { keys, values, scores } } = self;
        let tokens = (qkv.len() / QKV).min(WINDOW);
        for (index, bias) in query_bias.as_chunks::<HEAD>().0.iter().enumerate() {
            let first_element = index * HEAD;
            for (token, row) in qkv.chunks_exact(QKV).enumerate().take(tokens) {
                let key = &row[HIDDEN + first_element..][..HEAD];
                for (keys, x) in keys.iter_mut().zip(key) {
                    keys[token] = *x;
                }
                values[token].copy_from_slice(&row[2 * HIDDEN + first_element..][..HEAD]);
            }
            let head = Head { qkv, first_element, bias, keys, values, tokens };
            let mut first = 0;
            while first < tokens {
                first += match tokens - first {
                    1 => head.attend::<I, 1>(isa, first, scores, context),
                    2..ROWS => head.attend::<I, 2>(isa, first, scores, context),
                    _ => head.attend::<I, ROWS>(isa, first, scores, context),
                };
            }
        }
    }
}

/// One head of one sequence.
struct Head<'a> {
    qkv: &'a [f32],
    /// Of this head, within a token's query, key, value and context.
    first_element: usize,
    bias: &'a [f32; HEAD],
    /// What is beyond `tokens` is left over from another sequence.
    keys: &'a [[f32; WINDOW]; HEAD],
    values: &'a [[f32; HEAD]; WINDOW],
    tokens: usize,
}

impl Head<'_> {
    /// Computes the context of `R` queries from `first` on; returns `R`.
    #[inline(always)]
    fn attend<I: Isa, const R: usize>(
        &self,
        isa: I,
        first: usize,
        scores: &mut [[f32; WINDOW]; ROWS],
        context: &mut [f32],
    ) -> usize {
        let mut queries = [[0.0; HEAD]; R];
        for (row, query) in queries.iter_mut().enumerate() {
            let from = &self.qkv[(first + row) * QKV + self.first_element..][..HEAD];
            for (to, (from, bias)) in query.iter_mut().zip(from.iter().zip(self.bias)) {
                *to = from + bias;
            }
        }
        self.scores(isa, &queries, scores);
        let padded = self.tokens.next_multiple_of(isa.f32().len());
        let mut scales = [0.0; R];
        for (row, scale) in scores.iter_mut().zip(&mut scales) {
            row[self.tokens..padded].fill(f32::MIN);
            *scale = 1.0 / exponentials(isa, &mut row[..padded]);
        }
        self.mix(isa, scores, &scales, &mut context[first * HIDDEN + self.first_element..]);
        R
    }

    /// `scores = queries * keys`.
    #[inline(always)]
    fn scores<I: Isa, const R: usize>(
        &self,
        isa: I,
        queries: &[[f32; HEAD]; R],
        scores: &mut [[f32; WINDOW]; ROWS],
    ) {
        let ops = isa.f32();
        let lanes = ops.len();
        for column in (0..self.tokens).step_by(2 * lanes) {
            let mut left = [ops.zero(); R];
            let mut right = [ops.zero(); R];
            for i in 0..HEAD {
                let (low, high) = self.keys[i][column..][..2 * lanes].split_at(lanes);
                let (low, high) = (ops.load(low), ops.load(high));
                for row in 0..R {
                    let query = ops.splat(queries[row][i]);
                    left[row] = ops.mul_add(query, low, left[row]);
                    right[row] = ops.mul_add(query, high, right[row]);
                }
            }
            for row in 0..R {
                let (low, high) = scores[row][column..][..2 * lanes].split_at_mut(lanes);
                ops.store(left[row], low);
                ops.store(right[row], high);
            }
        }
    }

    /// `context = weights * values`, each row scaled.
    #[inline(always)]
    fn mix<I: Isa, const R: usize>(
        &self,
        isa: I,
        weights: &[[f32; WINDOW]; ROWS],
        scales: &[f32; R],
        context: &mut [f32],
    ) {
        let ops = isa.f32();
        let lanes = ops.len();
        for column in (0..HEAD).step_by(2 * lanes) {
            let mut left = [ops.zero(); R];
            let mut right = [ops.zero(); R];
            for token in 0..self.tokens.min(WINDOW) {
                let (low, high) = self.values[token][column..][..2 * lanes].split_at(lanes);
                let (low, high) = (ops.load(low), ops.load(high));
                for row in 0..R {
                    let weight = ops.splat(weights[row][token]);
                    left[row] = ops.mul_add(weight, low, left[row]);
                    right[row] = ops.mul_add(weight, high, right[row]);
                }
            }
            for row in 0..R {
                let scale = ops.splat(scales[row]);
                let to = &mut context[row * HIDDEN + column..][..2 * lanes];
                let (low, high) = to.split_at_mut(lanes);
                ops.store(ops.mul(left[row], scale), low);
                ops.store(ops.mul(right[row], scale), high);
            }
        }
    }
}

/// Replaces scores by their exponentials, relative to the greatest, and returns the sum of these.
///
/// The length of `scores` is a multiple of the vector length.
#[inline(always)]
fn exponentials<I: Isa>(isa: I, scores: &mut [f32]) -> f32 {
    let ops = isa.f32();
    let lanes = ops.len();
    let mut greatest = ops.splat(f32::MIN);
    for x in scores.chunks_exact(lanes) {
        greatest = ops.max(greatest, ops.load(x));
    }
    // Not `f32::max`, which takes three instructions more to look for NaN.
    let greatest = greatest
        .to_array()
        .into_iter()
        .fold(f32::MIN, |greatest, x| if x > greatest { x } else { greatest });
    let greatest = ops.splat(greatest);
    let mut sum = ops.zero();
    for x in scores.chunks_exact_mut(lanes) {
        let y = exp_of_negative(isa, ops.sub(ops.load(x), greatest));
        sum = ops.add(sum, y);
        ops.store(y, x);
    }
    ops.sum(sum)
}
