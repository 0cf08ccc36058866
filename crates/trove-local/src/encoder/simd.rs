//! Row-wise operations that go through memory once.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched operation is compiled without its instructions"
)]

use rten_simd::ops::{BitOps, FloatOps, IntOps, NumOps, ToFloat};
use rten_simd::{Isa, Simd, SimdOp, SimdUnaryOp};
use rten_vecmath::Gelu;

use super::HIDDEN;

/// As in the model's configuration.
const LAYER_NORM_EPSILON: f32 = 1e-12;

/// Adds `bias` to each row of [`HIDDEN`] elements and normalises it.
pub(super) struct AddLayerNorm<'a> {
    pub(super) rows: &'a mut [f32],
    pub(super) bias: Option<&'a [f32]>,
    pub(super) gain: &'a [f32],
    pub(super) shift: &'a [f32],
}

impl SimdOp for AddLayerNorm<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let lanes = ops.len();
        let width = ops.splat(1.0 / 384.0);
        for row in self.rows.chunks_exact_mut(HIDDEN) {
            let mut sum = ops.zero();
            if let Some(bias) = self.bias {
                for (x, bias) in row.chunks_exact_mut(lanes).zip(bias.chunks_exact(lanes)) {
                    let y = ops.add(ops.load(x), ops.load(bias));
                    sum = ops.add(sum, y);
                    ops.store(y, x);
                }
            } else {
                for x in row.chunks_exact(lanes) {
                    sum = ops.add(sum, ops.load(x));
                }
            }
            let mean = ops.mul(ops.splat(ops.sum(sum)), width);
            let mut squares = ops.zero();
            for x in row.chunks_exact(lanes) {
                let deviation = ops.sub(ops.load(x), mean);
                squares = ops.mul_add(deviation, deviation, squares);
            }
            let variance = ops.sum(squares) / 384.0;
            let scale = ops.splat(1.0 / (variance + LAYER_NORM_EPSILON).sqrt());
            let affine = self.gain.chunks_exact(lanes).zip(self.shift.chunks_exact(lanes));
            for (x, (gain, shift)) in row.chunks_exact_mut(lanes).zip(affine) {
                let deviation = ops.mul(ops.sub(ops.load(x), mean), scale);
                ops.store(ops.mul_add(deviation, ops.load(gain), ops.load(shift)), x);
            }
        }
    }
}

/// Adds `bias` to each row and applies the exact GELU.
pub(super) struct BiasGelu<'a> {
    pub(super) rows: &'a mut [f32],
    pub(super) bias: &'a [f32],
}

impl SimdOp for BiasGelu<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let ops = isa.f32();
        let lanes = ops.len();
        for row in self.rows.chunks_exact_mut(self.bias.len()) {
            for (x, bias) in row.chunks_exact_mut(lanes).zip(self.bias.chunks_exact(lanes)) {
                let y = ops.add(ops.load(x), ops.load(bias));
                ops.store(Gelu {}.eval(isa, y), x);
            }
        }
    }
}

/// The mean of the rows, scaled to unit length.
pub(super) struct MeanUnit<'a>(pub(super) &'a [f32]);

impl SimdOp for MeanUnit<'_> {
    type Output = Vec<f32>;

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) -> Vec<f32> {
        let ops = isa.f32();
        let lanes = ops.len();
        // The number of rows cancels out: the length is taken from the sum as well.
        let mut sum = vec![0.0; HIDDEN];
        for row in self.0.chunks_exact(HIDDEN) {
            for (sum, x) in sum.chunks_exact_mut(lanes).zip(row.chunks_exact(lanes)) {
                ops.store(ops.add(ops.load(sum), ops.load(x)), sum);
            }
        }
        let mut squares = ops.zero();
        for x in sum.chunks_exact(lanes) {
            squares = ops.mul_add(ops.load(x), ops.load(x), squares);
        }
        // As in the reference: a null vector stays one instead of becoming NaN.
        let scale = ops.splat(1.0 / ops.sum(squares).sqrt().max(1e-12));
        for x in sum.chunks_exact_mut(lanes) {
            ops.store(ops.mul(ops.load(x), scale), x);
        }
        sum
    }
}

/// `e^x` for `x <= 0`, with a relative error below 3e-7; below -87 it is `e^-87`, about 1e-38.
///
/// rten-vecmath has this as well, but not in public, and its softmax makes calls per vector that
/// are not inlined.
///
/// Source: Cephes `expf`: `e^x = 2^n e^r` with `n` the nearest integer to `x / ln 2` and a
/// polynomial for `e^r`, `|r| <= ln 2 / 2`.
#[inline(always)]
pub(super) fn exp_of_negative<I: Isa>(isa: I, x: I::F32) -> I::F32 {
    let ops = isa.f32();
    let x = ops.max(x, ops.splat(-87.0));
    let n = ops.to_int_round(ops.mul(x, ops.splat(std::f32::consts::LOG2_E)));
    let whole = isa.i32().to_float(n);
    // ln 2 in two parts, so that the difference is exact to the last bit.
    let r = ops.mul_add(whole, ops.splat(-0.693_359_4), x);
    let r = ops.mul_add(whole, ops.splat(2.121_944_4e-4), r);
    let mut y = ops.splat(1.987_569_2e-4);
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5, 1.0, 1.0] {
        y = ops.mul_add(y, r, ops.splat(coefficient));
    }
    // 2^n by writing the exponent's bits.
    let ints = isa.i32();
    let power = ints.shift_left::<23>(ints.add(n, ints.splat(127)));
    ops.mul(y, power.reinterpret_cast::<I::F32>())
}
