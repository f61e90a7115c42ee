//! [`PyDataset`]: many graphs in few pieces of memory.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use numpy::{IntoPyArray, PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pace_formats::{Error as FormatError, Format, GraphFormat, ReadOptions, read_path};
use pace_graph::{GraphKey, Named, infer};
use pace_kit::GraphTable;
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PySlice;
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};

use crate::convert;
use crate::dag::PyDag;
use crate::error::value;
use crate::pool::{compute, compute_until};
use crate::spec::PySpec;

/// Many graphs, with targets and names.
///
/// >>> from pace_dag import Dag, Dataset
/// >>> graphs = Dataset([Dag(["a", "b"], [(0, 1)], target=0.5), Dag(["a"], [])])
/// >>> len(graphs), graphs[0].ops, graphs.targets
/// (2, ['a', 'b'], array([0.5, nan]))
#[pyclass(name = "Dataset", module = "pace_dag", frozen, from_py_object)]
#[derive(Clone)]
pub struct PyDataset {
    pub table: Arc<GraphTable>,
    remarks: Vec<String>,
}

impl PyDataset {
    pub fn new(table: GraphTable) -> PyDataset {
        PyDataset { table: Arc::new(table), remarks: Vec::new() }
    }
}

#[pymethods]
impl PyDataset {
    #[new]
    fn of(graphs: &Bound<'_, PyAny>) -> PyResult<PyDataset> {
        let mut table = GraphTable::default();
        for graph in graphs.try_iter()? {
            let graph = graph?;
            let dag = graph.cast::<PyDag>().map_err(|_| {
                PyTypeError::new_err("a Dataset is made of Dags; pace_dag.dataset() takes other graphs, too")
            })?;
            table.push(&dag.get().0);
        }
        Ok(PyDataset::new(table))
    }

    /// From arrays: `names` of operations, `ops` of all nodes as numbers of them, `edges` [E, 2] within each graph, and where the
    /// nodes and edges of each graph end.
    #[staticmethod]
    fn from_arrays(
        names: Vec<String>,
        ops: PyReadonlyArray1<'_, i64>,
        node_ends: PyReadonlyArray1<'_, i64>,
        edges: PyReadonlyArray2<'_, i64>,
        edge_ends: PyReadonlyArray1<'_, i64>,
    ) -> PyResult<PyDataset> {
        let small =
            |number: i64| u32::try_from(number).map_err(|_| PyValueError::new_err(format!("{number} is no index")));
        let end =
            |number: i64| usize::try_from(number).map_err(|_| PyValueError::new_err(format!("{number} is no offset")));
        let edges = edges.as_array();
        if edges.ncols() != 2 {
            return Err(PyValueError::new_err(format!("edges have {} columns instead of 2", edges.ncols())));
        }
        let table = GraphTable::from_columns(
            names,
            ops.as_array().iter().map(|&op| small(op)).collect::<PyResult<_>>()?,
            node_ends.as_array().iter().map(|&n| end(n)).collect::<PyResult<_>>()?,
            edges.rows().into_iter().map(|edge| Ok((small(edge[0])?, small(edge[1])?))).collect::<PyResult<_>>()?,
            edge_ends.as_array().iter().map(|&n| end(n)).collect::<PyResult<_>>()?,
        );
        Ok(PyDataset::new(table.map_err(value)?))
    }

    /// From networkx DiGraphs. `op` is the node attribute that is the operation: by default the first of op, op_type, operation, type,
    /// label, name that all nodes of a graph have, else the node itself. `target` and `id` are attributes of the graph.
    #[staticmethod]
    #[pyo3(signature = (graphs, *, op=None, target="target", id="name"))]
    fn from_networkx(graphs: &Bound<'_, PyAny>, op: Option<&str>, target: &str, id: &str) -> PyResult<PyDataset> {
        convert::from_networkx(graphs, op, target, id).map(PyDataset::new)
    }

    /// Reads a file or a folder: JSON lines, node-link JSON, DOT, GraphML, ONNX, BIF, Python sources. `remarks` says what was left aside.
    #[staticmethod]
    #[pyo3(signature = (path, *, format=None, op=None, target="target", id=None, keep_constants=false, keep_ends=false, max_nodes=None))]
    #[allow(clippy::too_many_arguments)]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        format: Option<&str>,
        op: Option<String>,
        target: &str,
        id: Option<String>,
        keep_constants: bool,
        keep_ends: bool,
        max_nodes: Option<usize>,
    ) -> PyResult<PyDataset> {
        let format = format.map(str::parse::<Format>).transpose().map_err(value)?;
        let options = ReadOptions { op, target: target.to_owned(), id, keep_constants, keep_ends };
        compute_until(py, move |stop| {
            let mut table = GraphTable::default();
            let mut sink = |graph: Named| {
                if graph.ops.len() <= max_nodes.unwrap_or(usize::MAX) {
                    table.push(&graph);
                }
                match stop.load(Ordering::Relaxed) {
                    true => Err(FormatError::Sink("stopped".into())),
                    false => Ok(()),
                }
            };
            let mut remarks = read_path(&path, format, &options, &mut |_| {}, &mut sink)?.remarks();
            if let Some(most) = max_nodes {
                remarks.push(format!("graphs of more than {most} nodes are left out"));
            }
            Ok(PyDataset { table: Arc::new(table), remarks })
        })
    }

    /// Writes a file; its ending says the format.
    #[pyo3(signature = (path, *, format=None))]
    fn write(&self, py: Python<'_>, path: PathBuf, format: Option<&str>) -> PyResult<()> {
        let format = match format {
            Some(name) => name.parse::<Format>().map_err(value)?,
            None => Format::of(&path).ok_or_else(|| {
                PyValueError::new_err(format!(
                    "the ending of {} names no format; give one of {}",
                    path.display(),
                    Format::NAMES.join(", ")
                ))
            })?,
        };
        let table = Arc::clone(&self.table);
        compute(py, move || {
            let graphs = table.all_named();
            let mut bytes = Vec::new();
            format.write(&mut graphs.iter(), &mut bytes)?;
            Ok(pace_graph::disk::write_whole(&path, &bytes)?)
        })
    }

    /// What was read and what was left aside, in plain words.
    #[getter]
    fn remarks(&self) -> Vec<String> {
        self.remarks.clone()
    }

    /// The scores; NaN where a graph has none.
    #[getter]
    fn targets<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.table.targets().iter().map(|target| target.unwrap_or(f64::NAN)).collect::<Vec<f64>>().into_pyarray(py)
    }

    /// The names; None where a graph has none.
    #[getter]
    fn ids(&self) -> Vec<Option<String>> {
        self.table.ids().to_vec()
    }

    /// The same graphs with other scores; NaN is none.
    fn with_targets(&self, targets: PyReadonlyArray1<'_, f64>) -> PyResult<PyDataset> {
        let mut table = (*self.table).clone();
        let targets = targets.as_array().iter().map(|target| Some(*target).filter(|target| !target.is_nan())).collect();
        table.set_targets(targets).map_err(value)?;
        Ok(PyDataset::new(table))
    }

    /// The spec that all graphs obey, and in plain words what it was concluded from.
    #[pyo3(signature = (name="graphs"))]
    fn infer(&self, py: Python<'_>, name: &str) -> PyResult<(PySpec, Vec<String>)> {
        let table = Arc::clone(&self.table);
        let inferred = compute(py, move || Ok(infer(name, &table.all_named())?))?;
        Ok((PySpec(inferred.spec), inferred.remarks))
    }

    /// A number per graph, the same for isomorphic graphs: its class, counted in the order of appearance.
    fn classes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<i64>>> {
        let table = Arc::clone(&self.table);
        let classes = compute(py, move || {
            let spec = infer("graphs", &table.all_named())?.spec;
            let keys: Vec<GraphKey> = table.dags(&spec, "graphs")?.par_iter().map(GraphKey::of).collect();
            let mut first = std::collections::HashMap::new();
            let mut class = |key: GraphKey| {
                let next = first.len() as i64;
                *first.entry(key).or_insert(next)
            };
            Ok(keys.into_iter().map(&mut class).collect::<Vec<i64>>())
        })?;
        Ok(classes.into_pyarray(py))
    }

    /// The graphs of some rows.
    fn select(&self, rows: Vec<isize>) -> PyResult<PyDataset> {
        let rows = rows.into_iter().map(|row| self.row(row)).collect::<PyResult<Vec<usize>>>()?;
        Ok(PyDataset::new(self.table.select(&rows)))
    }

    fn __len__(&self) -> usize {
        self.table.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, at: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            let found = slice.indices(self.table.len() as isize)?;
            let rows: Vec<usize> =
                (0..found.slicelength).map(|step| (found.start + step as isize * found.step) as usize).collect();
            return Ok(Bound::new(py, PyDataset::new(self.table.select(&rows)))?.into_any());
        }
        if let Ok(row) = at.extract::<isize>() {
            return Ok(Bound::new(py, PyDag(self.table.named(self.row(row)?)))?.into_any());
        }
        let rows: Vec<isize> = at.extract()?;
        Ok(Bound::new(py, self.select(rows)?)?.into_any())
    }

    fn __repr__(&self) -> String {
        let n_scored = self.table.targets().iter().flatten().count();
        format!("Dataset({} graphs, {n_scored} with a target)", self.table.len())
    }

    fn __reduce__<'py>(slf: &Bound<'py, PyDataset>) -> PyResult<(Bound<'py, PyAny>, (Vec<PyDag>,))> {
        let graphs = slf.get().table.all_named().into_iter().map(PyDag).collect();
        Ok((slf.get_type().into_any(), (graphs,)))
    }
}

impl PyDataset {
    fn row(&self, row: isize) -> PyResult<usize> {
        let n = self.table.len() as isize;
        let place = if row < 0 { row + n } else { row };
        match (0..n).contains(&place) {
            true => Ok(place as usize),
            false => Err(PyIndexError::new_err(format!("row {row} of {n} graphs"))),
        }
    }
}
