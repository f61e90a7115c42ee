//! [`PySpec`]: what the graphs of a space look like.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2, PyArrayMethods};
use pace_graph::enumerate::{Mutate, Sampler, SpecSpace};
use pace_graph::{DagSpec, GraphKey, Named};
use pace_kit::GraphTable;
use pace_kit::features::{plain, properties};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use crate::dag::PyDag;
use crate::dataset::PyDataset;
use crate::error::value;
use crate::pool::compute;

/// What the graphs of a space look like: operations, sizes, ends, a rule.
///
/// >>> from pace_dag import DagSpec
/// >>> spec = DagSpec.named("nas101")
/// >>> spec.ops
/// ['input', 'conv1x1-bn-relu', 'conv3x3-bn-relu', 'maxpool3x3', 'output']
/// >>> all(spec.is_valid(cell) for cell in spec.sample(10))
/// True
#[pyclass(name = "DagSpec", module = "pace_dag", frozen, from_py_object, eq)]
#[derive(Clone, PartialEq)]
pub struct PySpec(pub DagSpec);

/// Draws without a new graph before a space counts as exhausted.
const PATIENCE: usize = 10_000;

#[pymethods]
impl PySpec {
    /// From JSON, as `json` and `pace inspect --write-spec` give it.
    #[new]
    fn new(json: &str) -> PyResult<PySpec> {
        let spec: DagSpec = serde_json::from_str(json).map_err(|error| value(anyhow::anyhow!("no spec: {error}")))?;
        spec.check().map_err(value)?;
        Ok(PySpec(spec))
    }

    /// The spec of a space of the paper: nas101, na, bn or darts.
    #[staticmethod]
    fn named(name: &str) -> PyResult<PySpec> {
        Ok(PySpec(match name {
            "nas101" => DagSpec::nas101(),
            "na" => DagSpec::na(),
            "bn" => DagSpec::bn(),
            "darts" => DagSpec::darts(),
            _ => {
                return Err(PyValueError::new_err(format!(
                    "no space is called '{name}'; there are nas101, na, bn, darts"
                )));
            }
        }))
    }

    /// As JSON.
    fn json(&self) -> PyResult<String> {
        serde_json::to_string_pretty(&self.0).map_err(value)
    }

    /// The operations.
    #[getter]
    fn ops(&self) -> Vec<String> {
        self.0.ops.clone()
    }

    /// The most nodes a graph may have, virtual ends included.
    #[getter]
    fn max_nodes(&self) -> usize {
        self.0.max_nodes
    }

    /// Whether a graph obeys the spec.
    fn is_valid(&self, dag: &PyDag) -> bool {
        dag.0.dag(&self.0).is_ok()
    }

    /// Different random graphs; fewer if the space has no more.
    #[pyo3(signature = (n, *, seed=1))]
    fn sample(&self, n: usize, seed: u64) -> PyResult<PyDataset> {
        let (space, mut rng) = (SpecSpace::new(self.0.clone()), ChaCha8Rng::seed_from_u64(seed));
        let (mut seen, mut table, mut misses) = (std::collections::HashSet::new(), GraphTable::default(), 0);
        while table.len() < n && misses < PATIENCE {
            let dag = space.sample(&mut rng);
            misses += 1;
            if seen.insert(GraphKey::of(&dag)) {
                table.push(&Named::of(&self.0, &dag).map_err(value)?);
                misses = 0;
            }
        }
        Ok(PyDataset::new(table))
    }

    /// Graphs as numbers without training [N, D], what an encoder has to beat: "counts" are sizes, depths, paths and counts of operations, "plain"
    /// are operations and edges one-hot (of large graphs counts, too).
    #[pyo3(signature = (graphs, kind="counts"))]
    fn features<'py>(&self, py: Python<'py>, graphs: &PyDataset, kind: &str) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let of = match kind {
            "counts" => properties,
            "plain" => plain,
            _ => return Err(PyValueError::new_err(format!("no features are called '{kind}'; choose counts or plain"))),
        };
        let table = Arc::clone(&graphs.table);
        let vectors = compute(py, || Ok(of(&table.dags(&self.0, "the dataset")?, &self.0)))?;
        vectors.values().to_vec().into_pyarray(py).reshape([vectors.len(), vectors.width()])
    }

    /// All graphs of the space that are one edit away.
    fn neighbours(&self, dag: &PyDag) -> PyResult<Vec<PyDag>> {
        let dag = dag.0.dag(&self.0).map_err(value)?;
        let neighbours = SpecSpace::new(self.0.clone()).neighbours(&dag);
        neighbours.iter().map(|dag| Ok(PyDag(Named::of(&self.0, dag).map_err(value)?))).collect()
    }

    fn __repr__(&self) -> String {
        format!("DagSpec('{}', {} operations, up to {} nodes)", self.0.name, self.0.n_ops(), self.0.max_nodes)
    }

    fn __getnewargs__(&self) -> PyResult<(String,)> {
        Ok((self.json()?,))
    }
}
