//! [`PySurrogate`]: the sparse Gaussian process and DNGO, for scikit-learn's and BoTorch's wrappers; [`PyRankGp`] for predictors.

use faer::Mat;
use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pace_kit::predict::FittedGp;
use pace_search::strategy::BayesianOptimisationConfig;
use pace_search::surrogate::{SparseGpConfig, Surrogate, SurrogateConfig, SurrogateSettings};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::pool::compute;

/// A model of scores by vectors: fit once, then expectation and variance anywhere.
#[pyclass(name = "Surrogate", module = "pace_dag._core", frozen)]
pub struct PySurrogate {
    surrogate: Box<dyn Surrogate>,
    width: usize,
}

#[pymethods]
impl PySurrogate {
    /// Fits to vectors x [N, D] and scores y [N]; `kind` is sparse_gp or dngo.
    #[staticmethod]
    #[pyo3(signature = (kind, x, y, *, n_inducing=500, max_iterations=60, seed=1))]
    fn fit(
        py: Python<'_>,
        kind: &str,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        n_inducing: usize,
        max_iterations: usize,
        seed: u64,
    ) -> PyResult<PySurrogate> {
        let config = match kind {
            "sparse_gp" => {
                SurrogateConfig::SparseGp(SparseGpConfig { n_inducing, max_iterations, ..SparseGpConfig::default() })
            }
            "dngo" => BayesianOptimisationConfig::dngo().surrogate,
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no surrogate is called '{kind}'; there are sparse_gp and dngo"
                )));
            }
        };
        let (x, y) = (matrix(&x), y.as_array().to_vec());
        if x.nrows() != y.len() {
            return Err(PyValueError::new_err(format!("{} vectors and {} scores", x.nrows(), y.len())));
        }
        let width = x.ncols();
        let surrogate = compute(py, move || Ok(config.fit(x.as_ref(), &y, seed)?))?;
        Ok(PySurrogate { surrogate, width })
    }

    /// Expectation and variance (without noise) of each row, and the variance of the noise.
    #[allow(clippy::type_complexity)]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>, f64)> {
        let x = matrix(&x);
        if x.ncols() != self.width {
            return Err(PyValueError::new_err(format!("vectors of {} numbers, fitted to {}", x.ncols(), self.width)));
        }
        let posterior = compute(py, || Ok(self.surrogate.predict(x.as_ref())))?;
        Ok((posterior.mean.into_pyarray(py), posterior.variance.into_pyarray(py), posterior.noise))
    }

    /// Of each row: derivatives of expectation and variance by the vector. Only of a sparse GP.
    #[allow(clippy::type_complexity)]
    fn gradient<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(Bound<'py, PyArray2<f64>>, Bound<'py, PyArray2<f64>>)> {
        let (x, width) = (matrix(&x), self.width);
        let n = x.nrows();
        let (by_mean, by_variance) = compute(py, || {
            let (mut by_mean, mut by_variance) = (Vec::with_capacity(n * width), Vec::with_capacity(n * width));
            for row in 0..n {
                let vector: Vec<f64> = x.row(row).iter().copied().collect();
                let found = self.surrogate.gradient(&vector);
                let found = found.ok_or_else(|| anyhow::anyhow!("this surrogate has no derivative; use sparse_gp"))?;
                by_mean.extend(found.by_mean);
                by_variance.extend(found.by_variance);
            }
            Ok((by_mean, by_variance))
        })?;
        Ok((by_mean.into_pyarray(py).reshape([n, width])?, by_variance.into_pyarray(py).reshape([n, width])?))
    }
}

/// A Gaussian process on the ranks of scores, by vectors of several kinds side by side: one length-scale per kind, so that some hundred scores
/// are enough.
#[pyclass(name = "RankGP", module = "pace_dag._core", frozen)]
pub struct PyRankGp {
    gp: FittedGp,
    width: usize,
}

#[pymethods]
impl PyRankGp {
    /// Fits to vectors x [N, D], whose columns should have spread 1, and scores y [N]; `widths` says how many columns each kind has.
    #[staticmethod]
    #[pyo3(signature = (x, y, widths, *, seed=1))]
    fn fit(
        py: Python<'_>,
        x: PyReadonlyArray2<'_, f64>,
        y: PyReadonlyArray1<'_, f64>,
        widths: Vec<usize>,
        seed: u64,
    ) -> PyResult<PyRankGp> {
        let (x, y) = (matrix(&x), y.as_array().to_vec());
        if x.nrows() != y.len() {
            return Err(PyValueError::new_err(format!("{} vectors and {} scores", x.nrows(), y.len())));
        }
        let width = x.ncols();
        if widths.iter().sum::<usize>() != width || widths.contains(&0) {
            return Err(PyValueError::new_err(format!("widths {widths:?} for vectors of {width} numbers")));
        }
        let gp = compute(py, move || FittedGp::new(&x, widths, &y, seed))?;
        Ok(PyRankGp { gp, width })
    }

    /// Expected scores of rows, and their standard deviations without the noise of an observation.
    #[allow(clippy::type_complexity)]
    fn predict<'py>(
        &self,
        py: Python<'py>,
        x: PyReadonlyArray2<'_, f64>,
    ) -> PyResult<(Bound<'py, PyArray1<f64>>, Bound<'py, PyArray1<f64>>)> {
        let x = matrix(&x);
        if x.ncols() != self.width {
            return Err(PyValueError::new_err(format!("vectors of {} numbers, fitted to {}", x.ncols(), self.width)));
        }
        let found = compute(py, || Ok(self.gp.predict(&x)))?;
        let (mean, std): (Vec<f64>, Vec<f64>) = found.iter().map(|one| (one.mean, one.std.unwrap_or(f64::NAN))).unzip();
        Ok((mean.into_pyarray(py), std.into_pyarray(py)))
    }
}

fn matrix(x: &PyReadonlyArray2<'_, f64>) -> Mat<f64> {
    let x = x.as_array();
    Mat::from_fn(x.nrows(), x.ncols(), |row, column| x[[row, column]])
}
