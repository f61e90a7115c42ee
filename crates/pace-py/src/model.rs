//! [`PyModel`]: a trained model in its folder, and [`train`].

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2};
use pace_graph::{Named, Vectors};
use pace_kit::model::{Lesson, LossArg, Objective, PlanArgs, train_in};
use pace_kit::{GraphTable, Model, Watch};
use pace_model::decoder::{Choice, DecodeOptions, Mode};
use pace_train::Event;
use pace_train::collective::Alone;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::dataset::PyDataset;
use crate::error::value;
use crate::pool::{compute, compute_until};
use crate::spec::PySpec;

/// A trained model: a folder that `pace train` or `PaceEncoder` wrote.
#[pyclass(name = "Model", module = "pace_dag", frozen)]
pub struct PyModel(Model);

/// What messages call the graphs of Python.
const SOURCE: &str = "the dataset";

#[pymethods]
impl PyModel {
    /// Loads a folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<PyModel> {
        Ok(PyModel(compute(py, move || Model::load(&path))?))
    }

    /// What its graphs look like.
    #[getter]
    fn spec(&self) -> PySpec {
        PySpec(self.0.spec().clone())
    }

    /// What it was trained for: vae, mlm or supervised.
    #[getter]
    fn objective(&self) -> String {
        self.0.objective().to_string()
    }

    /// How many numbers a vector has.
    #[getter]
    fn width(&self) -> PyResult<usize> {
        self.0.width().map_err(value)
    }

    /// The vectors of graphs [N, D]; isomorphic graphs have the same one.
    fn encode<'py>(&self, py: Python<'py>, graphs: &PyDataset) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let (table, n) = (Arc::clone(&graphs.table), graphs.table.len());
        let width = self.0.width().map_err(value)?;
        let values = compute(py, || {
            let dags = table.dags(self.0.spec(), SOURCE)?;
            let mut values = Vec::with_capacity(dags.len() * width);
            self.0.embed_dags(&dags, |shard| {
                values.extend_from_slice(shard);
                Ok(())
            })?;
            Ok(values)
        })?;
        values.into_pyarray(py).reshape([n, width])
    }

    /// Graphs from vectors, valid by the spec: the likeliest, or with a temperature at random. Only of a vae.
    #[pyo3(signature = (vectors, *, temperature=None, seed=1))]
    fn decode(
        &self,
        py: Python<'_>,
        vectors: PyReadonlyArray2<'_, f32>,
        temperature: Option<f64>,
        seed: u64,
    ) -> PyResult<PyDataset> {
        let vectors = vectors.as_array();
        if vectors.is_empty() {
            return Ok(PyDataset::new(GraphTable::default()));
        }
        if temperature.is_some_and(|temperature| !(temperature > 0.0 && temperature.is_finite())) {
            return Err(PyValueError::new_err("the temperature must be above 0"));
        }
        let vectors = Vectors::new(vectors.iter().copied().collect(), vectors.ncols());
        let choice = temperature.map_or(Choice::Greedy, |temperature| Choice::Sample { seed, temperature });
        let options = DecodeOptions { mode: Mode::Constrained, choice, first: 0 };
        let table = compute(py, || {
            let dags = self.0.decode(&vectors, &options)?;
            let named: Vec<Named> = dags.iter().map(|dag| Named::of(self.0.spec(), dag)).collect::<Result<_, _>>()?;
            Ok(named.iter().collect::<GraphTable>())
        })?;
        Ok(PyDataset::new(table))
    }

    /// What a supervised model predicts: scores, or after a training by ranks numbers whose order counts.
    fn predict<'py>(&self, py: Python<'py>, graphs: &PyDataset) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let table = Arc::clone(&graphs.table);
        let predicted = compute(py, || self.0.predict(&table.dags(self.0.spec(), SOURCE)?))?;
        Ok(predicted.into_pyarray(py))
    }

    /// The same model with its initial weights: what training has to beat.
    #[pyo3(signature = (seed=1))]
    fn untrained(&self, seed: u64) -> PyResult<PyModel> {
        Ok(PyModel(self.0.untrained(seed).map_err(value)?))
    }

    /// Seconds that the encoding takes without anything of Python's, for benches.
    fn _encode_seconds(&self, py: Python<'_>, graphs: &PyDataset) -> PyResult<f64> {
        let table = Arc::clone(&graphs.table);
        compute(py, || {
            let dags = table.dags(self.0.spec(), SOURCE)?;
            let start = Instant::now();
            self.0.embed_dags(&dags, |_| Ok(()))?;
            Ok(start.elapsed().as_secs_f64())
        })
    }

    fn __repr__(&self) -> String {
        format!("Model({} of {} graphs, {} operations)", self.0.objective(), self.0.spec().name, self.0.spec().n_ops())
    }
}

impl PyModel {
    /// The model itself, for a search.
    pub fn model(&self) -> Model {
        self.0.clone()
    }
}

/// Tells Python how a training goes, and ends it at Ctrl-C.
struct Reporter<'a> {
    stop: &'a AtomicBool,
    callback: Option<Py<PyAny>>,
    n_graphs: usize,
    raised: Option<PyErr>,
}

impl Watch for Reporter<'_> {
    fn event(&mut self, event: &Event<'_>) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let Some(callback) = &self.callback else { return ControlFlow::Continue(()) };
        let told = Python::attach(|py| {
            match event {
                Event::Start { step, n_steps, graphs_per_step, .. } => {
                    self.n_graphs = step * graphs_per_step;
                    callback.call1(py, (self.n_graphs, n_steps * graphs_per_step, py.None()))?;
                }
                Event::Steps { graphs, loss, .. } => {
                    self.n_graphs += *graphs;
                    callback.call1(py, (self.n_graphs, py.None(), *loss))?;
                }
                _ => {}
            }
            Ok(())
        });
        match told {
            Ok(()) => ControlFlow::Continue(()),
            Err(error) => {
                self.raised = Some(error);
                ControlFlow::Break(())
            }
        }
    }

    fn say(&mut self, text: &str) {
        Python::attach(|py| {
            let logger = py.import("logging").and_then(|logging| logging.call_method1("getLogger", ("pace_dag",)));
            // A logger that cannot be had is no reason to stop.
            let _ = logger.and_then(|logger| logger.call_method1("info", (text,)));
        });
    }
}

/// Trains a model in a folder, or resumes the training of that folder. `callback(graphs, total or None, loss or None)` hears how it
/// goes. At Ctrl-C a checkpoint is written.
#[pyfunction]
#[pyo3(signature = (graphs, path, *, spec=None, objective="mlm", encoder="pace", decoder=None, loss="ranking", epochs=None, batch=None,
    lr=1e-3, latent=None, valid=0.1, seed=1, fresh=false, callback=None))]
#[allow(clippy::too_many_arguments)]
pub fn train(
    py: Python<'_>,
    graphs: &PyDataset,
    path: PathBuf,
    spec: Option<PySpec>,
    objective: &str,
    encoder: &str,
    decoder: Option<String>,
    loss: &str,
    epochs: Option<u32>,
    batch: Option<u32>,
    lr: f64,
    latent: Option<u32>,
    valid: f64,
    seed: u64,
    fresh: bool,
    callback: Option<Py<PyAny>>,
) -> PyResult<PyModel> {
    let objective = match objective {
        "vae" => Objective::Vae,
        "mlm" => Objective::Mlm,
        "supervised" => Objective::Supervised,
        _ => return Err(PyValueError::new_err(format!("objective is '{objective}'; choose vae, mlm or supervised"))),
    };
    let loss = match loss {
        "ranking" => LossArg::Ranking,
        "squared" => LossArg::Squared,
        _ => return Err(PyValueError::new_err(format!("loss is '{loss}'; choose ranking or squared"))),
    };
    let options = PlanArgs {
        objective,
        encoder: encoder.to_owned(),
        decoder,
        loss,
        epochs,
        batch,
        shards: None,
        lr,
        latent,
        valid,
        seed,
    };
    let table = Arc::clone(&graphs.table);
    let model = compute_until(py, move |stop| {
        let mut reporter = Reporter { stop, callback, n_graphs: 0, raised: None };
        let spec = match spec {
            Some(spec) => spec.0,
            None => pace_graph::infer("graphs", &table.all_named())?.spec,
        };
        let is_scored = |row: &usize| objective != Objective::Supervised || table.targets()[*row].is_some();
        let rows: Vec<usize> = (0..table.len()).filter(is_scored).collect();
        anyhow::ensure!(
            objective != Objective::Supervised || rows.len() >= 10,
            "{} of {} graphs have a target, and a supervised training takes at least 10",
            rows.len(),
            table.len()
        );
        let dags = table.select(&rows).dags(&spec, SOURCE)?;
        let scores: Vec<f64> = rows.iter().filter_map(|&row| table.targets()[row]).collect();
        let scores = if objective == Objective::Supervised { &scores[..] } else { &[] };
        let lesson = Lesson { source: "Python", spec: &spec, dags: &dags, scores, target: "target" };
        let trained = train_in(&path, &options, lesson, fresh, &Alone, &mut reporter);
        if let Some(raised) = reporter.raised {
            return Err(raised.into());
        }
        Ok(trained?.0)
    })?;
    Ok(PyModel(model))
}
