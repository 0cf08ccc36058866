//! Row-wise operations that go through memory once.

use rten_simd::ops::{BitOps, FloatOps, NumOps};
use rten_simd::{Isa, SimdOp, SimdUnaryOp};
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
