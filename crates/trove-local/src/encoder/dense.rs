//! Matrix products with a constant right-hand side.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_simd::SimdOp;
use rten_tensor::NdTensorView;

use super::Precision;
use super::quantize::{Dequantize, Outputs, QuantizeRows, quantize_weights};

/// A weight matrix `[inputs, outputs]`, packed for the kernel that this machine runs.
pub(super) enum Dense {
    F32(PackedBMatrix<f32>),
    Int8 { weights: PackedBMatrix<i8>, outputs: Outputs },
}

/// What one thread needs for products.
#[derive(Default)]
pub(super) struct Products {
    f32: GemmExecutor<f32>,
    int8: GemmExecutor<u8, i8, i32>,
    rows: QuantizedRows,
    sums: Vec<i32>,
}

/// Rows of 8-bit integers: `x = scale * (q - zero)`.
#[derive(Default)]
pub(super) struct QuantizedRows {
    pub(super) values: Vec<u8>,
    pub(super) scales: Vec<f32>,
    pub(super) zeros: Vec<u8>,
}

impl Dense {
    /// Packs a matrix given as `[outputs, inputs]`, row-major, the way the file has it.
    pub(super) fn pack(
        weights: &[f32],
        outputs: usize,
        inputs: usize,
        precision: Precision,
    ) -> Self {
        match precision {
            Precision::F32 => {
                let by_output = NdTensorView::from_data([outputs, inputs], weights);
                Self::F32(GemmExecutor::<f32>::new().prepack_b(by_output.transposed()))
            }
            Precision::Int8 => {
                let gemm = GemmExecutor::<u8, i8, i32>::new();
                let (quantized, meaning) = quantize_weights(weights, inputs, gemm.may_saturate());
                let by_output = NdTensorView::from_data([outputs, inputs], quantized.as_slice());
                let weights = gemm.prepack_b(by_output.transposed());
                Self::Int8 { weights, outputs: meaning }
            }
        }
    }

    /// `to = from * weights`, or `to += from * weights` when `accumulate`.
    ///
    /// `from` is `[rows, inputs]` and `to` is `[rows, outputs]`, both row-major.
    pub(super) fn product(
        &self,
        products: &mut Products,
        from: &[f32],
        to: &mut [f32],
        accumulate: bool,
    ) {
        let done = match self {
            Self::F32(weights) => {
                let inputs = weights.rows();
                let from = NdTensorView::from_data([from.len() / inputs, inputs], from);
                let beta = if accumulate { 1.0 } else { 0.0 };
                products.f32.gemm(
                    to,
                    GemmInputA::Unpacked(from),
                    GemmInputB::Packed(weights),
                    GemmOptions { beta, ..GemmOptions::default() },
                )
            }
            Self::Int8 { weights, outputs } => {
                let Products { int8, rows, sums, .. } = products;
                let inputs = weights.rows();
                QuantizeRows { from, width: inputs, to: rows }.dispatch();
                sums.resize(to.len(), 0);
                let shape = [rows.scales.len(), inputs];
                let done = int8.gemm(
                    sums,
                    GemmInputA::Unpacked(NdTensorView::from_data(shape, rows.values.as_slice())),
                    GemmInputB::Packed(weights),
                    GemmOptions::default(),
                );
                Dequantize { sums, rows, outputs, to, accumulate }.dispatch();
                done
            }
        };
        done.expect("matrices of one layer fit each other and are packed for this executor");
    }
}
