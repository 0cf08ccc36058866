//! Matrix products with a constant right-hand side.

use rten_gemm::{GemmExecutor, GemmInputA, GemmInputB, GemmOptions, PackedBMatrix};
use rten_tensor::NdTensorView;
use rten_tensor::prelude::*;

/// A weight matrix `[inputs, outputs]`, packed for the kernel that this machine runs.
pub(super) struct Dense {
    packed: PackedBMatrix<f32>,
}

impl Dense {
    /// Packs a matrix given as `[outputs, inputs]`, row-major, the way PyTorch stores it.
    pub(super) fn pack(weights: &[f32], outputs: usize, inputs: usize) -> Self {
        let by_output = NdTensorView::from_data([outputs, inputs], weights);
        Self { packed: GemmExecutor::<f32>::new().prepack_b(by_output.transposed()) }
    }

    /// `to = from * weights`, or `to += from * weights` when `accumulate`.
    ///
    /// `from` is `[rows, inputs]` and `to` is `[rows, outputs]`, both row-major.
    pub(super) fn product(&self, gemm: &GemmExecutor<f32>, from: &[f32], to: &mut [f32], accumulate: bool) {
        let inputs = self.packed.rows();
        let from = NdTensorView::from_data([from.len() / inputs, inputs], from);
        let options = GemmOptions { beta: if accumulate { 1.0 } else { 0.0 }, ..GemmOptions::default() };
        gemm.gemm(to, GemmInputA::Unpacked(from), GemmInputB::Packed(&self.packed), options)
            .expect("matrices of one layer fit each other and are packed for this executor");
    }
}
