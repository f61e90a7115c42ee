//! [`PyDag`]: one graph, its operations by name.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use numpy::ndarray::Array2;
use numpy::{IntoPyArray, PyArray2};
use pace_graph::structure::{MaskRule, mask};
use pace_graph::{Dag, DagSpec, GraphKey, Named, dag2seq};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::value;

/// What `Dag` takes: operations and edges.
type Arguments = (Vec<String>, Vec<(usize, usize)>);

/// A directed acyclic graph whose nodes are operations, by name.
///
/// >>> from pace_dag import Dag
/// >>> cell = Dag(["in", "conv", "out"], [(0, 1), (1, 2)], target=0.93)
/// >>> cell.isomorphic(Dag(["out", "conv", "in"], [(2, 1), (1, 0)]))
/// True
#[pyclass(name = "Dag", module = "pace_dag", frozen, from_py_object)]
#[derive(Clone)]
pub struct PyDag(pub Named);

#[pymethods]
impl PyDag {
    #[new]
    #[pyo3(signature = (ops, edges, *, target=None, id=None))]
    fn new(ops: Vec<String>, edges: Vec<(usize, usize)>, target: Option<f64>, id: Option<String>) -> PyResult<PyDag> {
        Dag::new(vec![0; ops.len()], edges.iter().copied()).map_err(value)?;
        if target.is_some_and(|target| !target.is_finite()) {
            return Err(PyValueError::new_err("the target is not a finite number"));
        }
        Ok(PyDag(Named { ops, edges, target, id }))
    }

    /// The operation of each node.
    #[getter]
    fn ops(&self) -> Vec<String> {
        self.0.ops.clone()
    }

    /// Edges (from, to).
    #[getter]
    fn edges(&self) -> Vec<(usize, usize)> {
        self.0.edges.clone()
    }

    /// What is to be predicted, or None.
    #[getter]
    fn target(&self) -> Option<f64> {
        self.0.target
    }

    /// The name of the graph, or None.
    #[getter]
    fn id(&self) -> Option<String> {
        self.0.id.clone()
    }

    /// The same graph in its canonical numbering, which is topological: isomorphic graphs become equal.
    fn canonical(&self) -> PyResult<PyDag> {
        let (spec, dag) = self.coded()?;
        let canonical = GraphKey::of(&dag).canonical();
        let named = Named::of(&spec, &canonical).map_err(value)?;
        Ok(PyDag(Named { target: self.0.target, id: self.0.id.clone(), ..named }))
    }

    /// Whether the graphs are equal up to the numbering of nodes.
    fn isomorphic(&self, other: &PyDag) -> PyResult<bool> {
        let of = |graph: &PyDag| {
            let mut ops = graph.0.ops.clone();
            ops.sort_unstable();
            (ops, graph.0.edges.len())
        };
        // With the same operations both have the same dictionary.
        Ok(of(self) == of(other) && GraphKey::of(&self.coded()?.1) == GraphKey::of(&other.coded()?.1))
    }

    /// The sequence of the paper: for each position of the canonical order its operation and the positions of its predecessors.
    fn dag2seq(&self) -> PyResult<Vec<(String, Vec<u32>)>> {
        let (spec, dag) = self.coded()?;
        let sequence = dag2seq(&dag);
        Ok(sequence.items().map(|item| (spec.op_name(item.op), item.predecessors.to_vec())).collect())
    }

    /// Which positions of the canonical order each position attends to: itself and its ancestors.
    fn mask<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<bool>>> {
        let canonical = GraphKey::of(&self.coded()?.1).canonical();
        let n = canonical.n_nodes();
        let bools = mask(&canonical, MaskRule::PACE).to_bools();
        Ok(Array2::from_shape_vec((n, n), bools).map_err(value)?.into_pyarray(py))
    }

    fn __len__(&self) -> usize {
        self.0.ops.len()
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<PyDag>().is_ok_and(|other| parts(&self.0) == parts(&other.get().0))
    }

    fn __hash__(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let (ops, edges, target, id) = parts(&self.0);
        (ops, edges, target.map(f64::to_bits), id).hash(&mut hasher);
        hasher.finish()
    }

    fn __repr__(&self) -> String {
        let edges: Vec<String> = self.0.edges.iter().map(|(from, to)| format!("{from}>{to}")).collect();
        let id = self.0.id.as_ref().map_or_else(String::new, |id| format!(", id={id:?}"));
        let target = self.0.target.map_or_else(String::new, |target| format!(", target={target}"));
        format!("Dag({} : {}{target}{id})", self.0.ops.join(" "), edges.join(" "))
    }

    fn __getnewargs_ex__(&self) -> (Arguments, HashMap<&str, Py<PyAny>>) {
        let options = Python::attach(|py| {
            let target = self.0.target.into_pyobject(py).map(|value| value.into_any().unbind());
            let id = self.0.id.clone().into_pyobject(py).map(|value| value.into_any().unbind());
            [("target", target.ok()), ("id", id.ok())]
                .into_iter()
                .filter_map(|(key, value)| Some((key, value?)))
                .collect()
        });
        ((self.0.ops.clone(), self.0.edges.clone()), options)
    }
}

impl PyDag {
    /// The graph in the alphabetical dictionary of its own operations.
    fn coded(&self) -> PyResult<(DagSpec, Dag)> {
        let names: BTreeSet<&str> = self.0.ops.iter().map(String::as_str).collect();
        let spec = DagSpec::new("dag", names, usize::MAX);
        let dag = self.0.dag(&spec).map_err(value)?;
        Ok((spec, dag))
    }
}

type Parts<'a> = (&'a [String], Vec<(usize, usize)>, Option<f64>, Option<&'a str>);

/// What two equal graphs have in common: the order of edges plays no part.
fn parts(named: &Named) -> Parts<'_> {
    let mut edges = named.edges.clone();
    edges.sort_unstable();
    (&named.ops, edges, named.target, named.id.as_deref())
}
