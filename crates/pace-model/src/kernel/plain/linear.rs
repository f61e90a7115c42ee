//! The linear map of some rows in stock operations.

use std::sync::Arc;

use burn::tensor::Tensor;
use burn::tensor::activation::relu;

use crate::batch::ints;
use crate::kernel::linear::LinearParams;

/// Twin of [`linear`](crate::kernel::linear).
pub fn linear_rows(x: Tensor<2>, rows: Option<Arc<[u32]>>, params: LinearParams) -> Tensor<2> {
    let device = x.device();
    let x = match rows {
        Some(rows) => x.select(0, ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &device)),
        None => x,
    };
    let y = x.matmul(params.weight);
    let y = match params.bias {
        Some(bias) => y + bias.unsqueeze(),
        None => y,
    };
    if params.relu { relu(y) } else { y }
}
