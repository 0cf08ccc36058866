//! Between 32-bit floats and 8-bit integers.
//!
//! Weights have one scale per output and are symmetric. States have one scale and one zero per
//! token, taken from what is there, so nothing has to be calibrated.

#![expect(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched operation is compiled without its instructions"
)]

use rten_simd::ops::{BitOps, FloatOps, NarrowSaturate, NumOps, ToFloat};
use rten_simd::{Isa, Simd, SimdOp};

use super::dense::QuantizedRows;

/// What the integer weights of each output mean.
pub(super) struct Outputs {
    /// What one step is worth.
    scales: Vec<f32>,
    /// Sums of the integers: what a state's zero adds, once for each step of that zero.
    sums: Vec<i32>,
}

/// Makes weights `[outputs, inputs]` integers.
///
/// `halved` leaves one bit unused, for kernels that add two products in 16 bits.
pub(super) fn quantize_weights(weights: &[f32], inputs: usize, halved: bool) -> (Vec<i8>, Outputs) {
    let steps = if halved { 63.0 } else { 127.0 };
    let mut quantized = Vec::with_capacity(weights.len());
    let mut outputs = Outputs { scales: Vec::new(), sums: Vec::new() };
    for row in weights.chunks_exact(inputs) {
        let greatest = row.iter().fold(f32::MIN_POSITIVE, |max, x| max.max(x.abs()));
        let scale = greatest / steps;
        outputs.scales.push(scale);
        #[expect(
            clippy::as_conversions,
            clippy::cast_possible_truncation,
            reason = "the greatest becomes 127; there is no other conversion from floats"
        )]
        quantized.extend(row.iter().map(|x| (x / scale).round_ties_even() as i8));
        let row = &quantized[quantized.len() - inputs..];
        outputs.sums.push(row.iter().map(|q| i32::from(*q)).sum());
    }
    (quantized, outputs)
}

/// Replaces `to` by the rows of `from`, each spread over all 256 steps.
pub(super) struct QuantizeRows<'a> {
    pub(super) from: &'a [f32],
    /// Of a row; a multiple of 64.
    pub(super) width: usize,
    pub(super) to: &'a mut QuantizedRows,
}

impl SimdOp for QuantizeRows<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ops, ints, shorts, bytes) = (isa.f32(), isa.i32(), isa.i16(), isa.u8());
        let lanes = ops.len();
        let Self { from, width, to } = self;
        to.values.resize(from.len(), 0);
        to.scales.clear();
        to.zeros.clear();
        for (row, values) in from.chunks_exact(width).zip(to.values.chunks_exact_mut(width)) {
            // Zero is within the range, so it is exact.
            let (mut least, mut greatest) = (ops.zero(), ops.zero());
            for x in row.chunks_exact(lanes) {
                let x = ops.load(x);
                least = ops.min(least, x);
                greatest = ops.max(greatest, x);
            }
            let least = least.to_array().into_iter().fold(0.0, f32::min);
            let greatest = greatest.to_array().into_iter().fold(0.0, f32::max);
            let scale = ((greatest - least) / 255.0).max(f32::MIN_POSITIVE);
            let inverse = ops.splat(1.0 / scale);
            #[expect(
                clippy::as_conversions,
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "0 to 255; there is no other conversion from floats"
            )]
            let zero = (-least / scale).round_ties_even() as u8;
            to.scales.push(scale);
            to.zeros.push(zero);

            let zero = ints.splat(i32::from(zero));
            let steps = row.chunks_exact(4 * lanes).zip(values.chunks_exact_mut(4 * lanes));
            for (x, to) in steps {
                let quantized = |from: usize| {
                    let x = ops.mul(ops.load(&x[from * lanes..]), inverse);
                    ints.add(ops.to_int_round(x), zero)
                };
                let low = ints.narrow_saturate(quantized(0), quantized(1));
                let high = ints.narrow_saturate(quantized(2), quantized(3));
                bytes.store(shorts.narrow_saturate(low, high), to);
            }
        }
    }
}

/// Turns sums of products of integers back into floats.
///
/// The kernels can subtract zeros as well, but in rten-gemm 0.27 they use those of the first few
/// rows for all.
pub(super) struct Dequantize<'a> {
    pub(super) sums: &'a [i32],
    pub(super) rows: &'a QuantizedRows,
    pub(super) outputs: &'a Outputs,
    pub(super) to: &'a mut [f32],
    pub(super) accumulate: bool,
}

impl SimdOp for Dequantize<'_> {
    type Output = ();

    #[inline(always)]
    fn eval<I: Isa>(self, isa: I) {
        let (ops, ints) = (isa.f32(), isa.i32());
        let lanes = ops.len();
        let Outputs { scales, sums: weight_sums } = self.outputs;
        let rows = self.rows.scales.iter().zip(&self.rows.zeros);
        let sums = self.sums.chunks_exact(scales.len());
        let to = self.to.chunks_exact_mut(scales.len());
        for ((to, sums), (row_scale, zero)) in to.zip(sums).zip(rows) {
            let row_scale = ops.splat(*row_scale);
            let zero = ints.splat(-i32::from(*zero));
            let outputs = scales.chunks_exact(lanes).zip(weight_sums.chunks_exact(lanes));
            let columns = sums.chunks_exact(lanes).zip(outputs);
            for (to, (sum, (scale, weights))) in to.chunks_exact_mut(lanes).zip(columns) {
                let sum = ints.mul_add(zero, ints.load(weights), ints.load(sum));
                let x = ops.mul(ints.to_float(sum), row_scale);
                let before = if self.accumulate { ops.load(to) } else { ops.zero() };
                ops.store(ops.mul_add(x, ops.load(scale), before), to);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rten_simd::SimdOp;

    use super::{Dequantize, QuantizeRows, quantize_weights};
    use crate::encoder::dense::QuantizedRows;

    #[test]
    fn products_of_integers_are_close_to_those_of_floats() {
        const WIDTH: usize = 128;
        const OUTPUTS: usize = 64;
        let wave = |count: usize, step: f32, shift: f32| {
            std::iter::successors(Some(step), |x| Some(x + step))
                .map(|x| x.sin() + shift)
                .take(count)
                .collect::<Vec<f32>>()
        };
        // Rows with different zeros, the last of them constant.
        let mut from = wave(WIDTH, 0.1, 0.0);
        from.extend(wave(WIDTH, 0.3, 2.0));
        from.extend(wave(WIDTH, 0.7, -0.9));
        from.extend([0.0; WIDTH]);
        let weights = wave(OUTPUTS * WIDTH, 0.37, 0.1);
        let product = |row: &[f32], weights: &[f32]| -> f32 {
            row.iter().zip(weights).map(|(x, w)| x * w).sum()
        };

        for halved in [false, true] {
            let (quantized, outputs) = quantize_weights(&weights, WIDTH, halved);
            let mut rows = QuantizedRows::default();
            QuantizeRows { from: &from, width: WIDTH, to: &mut rows }.dispatch();
            let mut sums = Vec::new();
            for row in rows.values.chunks_exact(WIDTH) {
                for weights in quantized.chunks_exact(WIDTH) {
                    let products = row.iter().zip(weights);
                    sums.push(products.map(|(x, w)| i32::from(*x) * i32::from(*w)).sum());
                }
            }
            let mut got = vec![1.0; sums.len()];
            let (sums, rows, outputs) = (&sums, &rows, &outputs);
            Dequantize { sums, rows, outputs, to: &mut got, accumulate: true }.dispatch();
            for (row, got) in from.chunks_exact(WIDTH).zip(got.chunks_exact(OUTPUTS)) {
                for (weights, got) in weights.chunks_exact(WIDTH).zip(got) {
                    let want = 1.0 + product(row, weights);
                    assert!((got - want).abs() < 0.7, "{got} instead of {want}");
                }
            }
        }
    }
}
