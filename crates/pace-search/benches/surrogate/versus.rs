//! Our half of the comparison with GPyTorch: the data for both sides, and a fit.

use std::error::Error;
use std::path::Path;
use std::time::Instant;

use pace_checkout::cpu_seconds;
use pace_search::Matrix;
use pace_search::surrogate::{Bound, SparseGpConfig, SurrogateSettings};
use serde_json::json;

use crate::data::Data;
use crate::score::Score;
use crate::{INDUCING, best};

/// Writes the data to `folder` as x, y, x_test and y_test, in double precision, for `numpy.load`.
pub fn dump(data: &Data, folder: &Path) -> Result<(), Box<dyn Error>> {
    std::fs::create_dir_all(folder)?;
    let vector = |y: &[f64]| Matrix::from_fn(y.len(), 1, |i, _| y[i]);
    let (y, y_test) = (vector(&data.y), vector(&data.y_test));
    for (name, matrix) in [("x", &data.x), ("y", &y), ("x_test", &data.x_test), ("y_test", &y_test)] {
        std::fs::write(folder.join(format!("{name}.npy")), npy(matrix))?;
    }
    Ok(())
}

/// NumPy's format, version 1.0: by columns, as our matrices are; one column becomes a vector.
fn npy(matrix: &Matrix) -> Vec<u8> {
    let shape = match matrix.shape() {
        (rows, 1) => format!("({rows},)"),
        (rows, columns) => format!("({rows}, {columns})"),
    };
    let header = format!("{{'descr': '<f8', 'fortran_order': True, 'shape': {shape}, }}");
    // Magic, version and length are 10 bytes; the numbers start at a multiple of 64.
    let padding = 63 - (10 + header.len()) % 64;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(((header.len() + padding + 1) as u16).to_le_bytes());
    bytes.extend(format!("{header}{}\n", " ".repeat(padding)).bytes());
    bytes.extend(matrix.col_iter().flat_map(|column| column.iter()).flat_map(|value| value.to_le_bytes()));
    bytes
}

/// One line of JSON: seconds of a fit that learns on `subset` rows, how well it then predicts the held-out ones, and the
/// seconds of one evaluation of bound and gradient on all rows at what it learnt.
pub fn fit(data: &Data, subset: usize, max_iterations: usize) -> Result<(), Box<dyn Error>> {
    let config = SparseGpConfig {
        n_inducing: INDUCING,
        subset: Some(subset),
        max_iterations,
        tolerance: 0.0,
        ..SparseGpConfig::default()
    };
    let (start, cpu_start) = (Instant::now(), cpu_seconds());
    let gp = config.fit(data.x.as_ref(), &data.y, 0)?;
    let (seconds, cpu_end) = (start.elapsed().as_secs_f64(), cpu_seconds());
    let Score { rmse, nlpd, .. } = Score::of(&gp, &data.x_test, &data.y_test);
    let hyper = gp.hyperparameters();
    let evaluate = || Bound::Vfe.evaluate(config.kernel, &hyper, data.x.as_ref(), &data.y, config.jitter);
    let line = json!({
        "rows": data.x.nrows(),
        "dims": data.x.ncols(),
        "inducing": INDUCING,
        "seconds": seconds,
        "cpu_seconds": cpu_start.zip(cpu_end).map(|(start, end)| end - start),
        "seconds_per_step": best(5, evaluate),
        "bound": gp.log_evidence() / data.y.len() as f64,
        "nlpd": nlpd,
        "rmse": rmse,
    });
    println!("{line}");
    Ok(())
}
