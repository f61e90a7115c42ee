//! Errors on their way to Python: the sentences stay.

use pace_kit::sentence;
use pyo3::PyErr;
use pyo3::exceptions::{PyOSError, PyValueError};

/// A `ValueError`, or an `OSError` if the system refused something.
pub fn value(error: impl Into<anyhow::Error>) -> PyErr {
    let error = error.into();
    // An error of Python's own, raised inside of what we called, comes back as it was.
    if let Some(raised) = error.downcast_ref::<PyErr>() {
        return pyo3::Python::attach(|py| raised.clone_ref(py));
    }
    let said = sentence(&error);
    match error.chain().any(|cause| cause.is::<std::io::Error>()) {
        true => PyOSError::new_err(said),
        false => PyValueError::new_err(said),
    }
}
