//! `pace_dag._core`: what Python cannot do fast. The rest of the package is Python, in `python/pace_dag`.
//!
//! A call that computes gives the interpreter back to other threads and uses a pool of threads that belongs to this process
//! (`pool.rs`), so that `fork` does no harm. The allocator is that of the system: mimalloc wants thread-local memory that a module which
//! is loaded late cannot have. Errors become `ValueError`s with the sentences of Rust's.

use pyo3::prelude::{Bound, PyModule, PyModuleMethods, PyResult, pymodule, wrap_pyfunction};

mod convert;
mod dag;
mod dataset;
mod error;
mod model;
mod pool;
mod search;
mod spec;
mod surrogate;

/// The module.
#[pymodule]
fn _core(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add("ENCODERS", pace_model::encoder::EncoderConfig::NAMES.to_vec())?;
    module.add("FORMATS", pace_formats::Format::NAMES.to_vec())?;
    module.add_class::<dag::PyDag>()?;
    module.add_class::<spec::PySpec>()?;
    module.add_class::<dataset::PyDataset>()?;
    module.add_class::<model::PyModel>()?;
    module.add_class::<surrogate::PySurrogate>()?;
    module.add_class::<surrogate::PyRankGp>()?;
    module.add_class::<search::PySearch>()?;
    module.add_function(wrap_pyfunction!(model::train, module)?)
}
