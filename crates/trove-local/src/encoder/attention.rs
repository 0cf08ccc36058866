//! Attention within one sequence.

use rten_simd::ops::{BitOps, NumOps};
use rten_simd::{Isa, SimdOp};
use rten_vecmath::Softmax;

use super::HIDDEN;

const HEAD: usize = 32;
/// One over the square root of [`HEAD`].
pub(super) const SCORE_SCALE: f32 = 0.176_776_7;
const QKV: usize = 3 * HIDDEN;

/// Queries that are worked on together: as many as registers hold two vectors of results for.
const ROWS: usize = 6;
/// Vectors of results for each query.
const VECTORS: usize = 2;

/// Buffers of one thread.
#[derive(Default)]
pub(super) struct Scratch {
    /// Keys of one head `[HEAD, padded keys]`.
    keys: Vec<f32>,
    /// Scores of some queries `[ROWS, padded keys]`.
    scores: Vec<f32>,
}

/// Multi-head attention over the tokens of one sequence.
pub(super) struct Attention<'a> {
    /// Query, key and value of each token. Queries are scaled, but lack their bias.
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
        let Self { qkv, query_bias, context, scratch } = self;
        let tokens = qkv.len() / QKV;
        let padded = tokens.next_multiple_of(VECTORS * isa.f32().len());
        scratch.keys.clear();
        scratch.keys.resize(HEAD * padded, 0.0);
        scratch.scores.resize(ROWS * padded, 0.0);

        for (head, bias) in query_bias.as_chunks::<HEAD>().0.iter().enumerate() {
            transpose_keys(qkv, head, &mut scratch.keys, padded);
            let values = &qkv[2 * HIDDEN + head * HEAD..];
            let mut first = 0;
            while first < tokens {
                let head = Head { qkv, head, bias, keys: &scratch.keys, padded, values, tokens };
                first += match tokens - first {
                    1 => head.attend::<I, 1>(isa, first, &mut scratch.scores, context),
                    2 | 3 => head.attend::<I, 2>(isa, first, &mut scratch.scores, context),
                    4 | 5 => head.attend::<I, 4>(isa, first, &mut scratch.scores, context),
                    _ => head.attend::<I, ROWS>(isa, first, &mut scratch.scores, context),
                };
            }
        }
    }
}

/// Writes the keys of `head` as `[HEAD, padded]`, so that a vector holds one element of many keys.
#[inline(always)]
fn transpose_keys(qkv: &[f32], head: usize, keys: &mut [f32], padded: usize) {
    for (token, row) in qkv.chunks_exact(QKV).enumerate() {
        let key = &row[HIDDEN + head * HEAD..][..HEAD];
        for (to, from) in keys[token..].iter_mut().step_by(padded).zip(key) {
            *to = *from;
        }
    }
}

/// One head of one sequence.
struct Head<'a> {
    qkv: &'a [f32],
    head: usize,
    bias: &'a [f32; HEAD],
    keys: &'a [f32],
    padded: usize,
    /// From the first token's value on; the next follows [`QKV`] later.
    values: &'a [f32],
    tokens: usize,
}

impl Head<'_> {
    /// Computes the context of `R` queries from `first` on; returns `R`.
    #[inline(always)]
    fn attend<I: Isa, const R: usize>(
        &self,
        isa: I,
        first: usize,
        scores: &mut [f32],
        context: &mut [f32],
    ) -> usize {
        let queries: [[f32; HEAD]; R] = std::array::from_fn(|row| {
            let query = &self.qkv[(first + row) * QKV + self.head * HEAD..][..HEAD];
            std::array::from_fn(|i| query[i] + self.bias[i])
        });
        self.scores(isa, &queries, scores);
        for row in scores.chunks_exact_mut(self.padded).take(R) {
            Softmax::new_mut(&mut row[..self.tokens]).eval(isa);
        }
        self.mix::<I, R>(isa, scores, &mut context[first * HIDDEN + self.head * HEAD..]);
        R
    }

    /// `scores = queries * keys`.
    #[inline(always)]
    fn scores<I: Isa, const R: usize>(&self, isa: I, queries: &[[f32; HEAD]; R], scores: &mut [f32]) {
        let ops = isa.f32();
        let lanes = ops.len();
        for column in (0..self.padded).step_by(VECTORS * lanes) {
            let mut sums = [[ops.zero(); VECTORS]; R];
            for i in 0..HEAD {
                let keys = ops.load_many::<VECTORS>(&self.keys[i * self.padded + column..]);
                for row in 0..R {
                    let query = ops.splat(queries[row][i]);
                    for vector in 0..VECTORS {
                        sums[row][vector] = ops.mul_add(query, keys[vector], sums[row][vector]);
                    }
                }
            }
            for (row, sums) in sums.iter().enumerate() {
                let to = &mut scores[row * self.padded + column..][..VECTORS * lanes];
                for (to, sum) in to.chunks_exact_mut(lanes).zip(sums) {
                    ops.store(*sum, to);
                }
            }
        }
    }

    /// `context = weights * values`.
    #[inline(always)]
    fn mix<I: Isa, const R: usize>(&self, isa: I, weights: &[f32], context: &mut [f32]) {
        let ops = isa.f32();
        let lanes = ops.len();
        let weights: [&[f32]; R] =
            std::array::from_fn(|row| &weights[row * self.padded..][..self.tokens]);
        for column in (0..HEAD).step_by(VECTORS * lanes) {
            let mut sums = [[ops.zero(); VECTORS]; R];
            for token in 0..self.tokens {
                let values = ops.load_many::<VECTORS>(&self.values[token * QKV + column..]);
                for row in 0..R {
                    let weight = ops.splat(weights[row][token]);
                    for vector in 0..VECTORS {
                        sums[row][vector] = ops.mul_add(weight, values[vector], sums[row][vector]);
                    }
                }
            }
            for (row, sums) in sums.iter().enumerate() {
                let to = &mut context[row * HIDDEN + column..][..VECTORS * lanes];
                for (to, sum) in to.chunks_exact_mut(lanes).zip(sums) {
                    ops.store(*sum, to);
                }
            }
        }
    }
}
