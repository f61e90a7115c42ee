//! [`PySearch`]: ask for graphs, tell their scores.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pace_graph::{Dag, GraphKey, Named};
use pace_kit::search::Method;
use pace_kit::{Graphs, SearchSpace};
use pace_search::strategy::StrategyConfig;
use pace_search::{Candidate, Header, Journal, Known, Origin, Outcome};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use serde_json::json;

use crate::dag::PyDag;
use crate::dataset::PyDataset;
use crate::error::value;
use crate::model::PyModel;
use crate::pool::compute;
use crate::spec::PySpec;

/// A search for graphs with high scores: ask, score, tell. With a path every step is in a file, and a killed search resumes.
///
/// >>> from pace_dag import DagSpec, Search
/// >>> cells = DagSpec.named("nas101").sample(50)
/// >>> search = Search(cells, strategy="evolution")
/// >>> for query, cell in search.ask(4):
/// ...     _ = search.tell(query, -len(cell))
/// >>> len(search.best(1))
/// 1
#[pyclass(name = "Search", module = "pace_dag", frozen)]
pub struct PySearch {
    space: SearchSpace,
    strategy: StrategyConfig,
    spec: pace_graph::DagSpec,
    seed: u64,
    journal: Mutex<Journal>,
    raised: Raised,
}

#[pymethods]
impl PySearch {
    #[new]
    #[pyo3(signature = (examples, *, spec=None, path=None, strategy="bayes", model=None, candidates=None, allow=None, known=true, seed=1))]
    #[allow(clippy::too_many_arguments)]
    fn new(
        py: Python<'_>,
        examples: &PyDataset,
        spec: Option<PySpec>,
        path: Option<PathBuf>,
        strategy: &str,
        model: Option<&PyModel>,
        candidates: Option<&PyDataset>,
        allow: Option<Py<PyAny>>,
        known: bool,
        seed: u64,
    ) -> PyResult<PySearch> {
        let method = Method::NAMED.iter().find(|(name, _)| *name == strategy).map(|(_, method)| *method);
        let method = method.ok_or_else(|| {
            PyValueError::new_err(format!("strategy is '{strategy}'; choose bayes, evolution, local or random"))
        })?;
        let model = model.map(PyModel::model);
        let spec = spec.map(|spec| spec.0).or_else(|| model.as_ref().map(|model| model.spec().clone()));
        let named = examples.table.all_named();
        let graphs = compute(py, move || Ok(Graphs::of("the examples", named, spec)?.0))?;
        let (rows, scores) = if known { graphs.scored() } else { Default::default() };
        let known: Vec<(Dag, f64)> = rows.iter().map(|&row| graphs.dags[row].clone()).zip(scores).collect();
        let strategy = method.config(known.len(), candidates.is_some());
        let settings = json!({
            "version": env!("CARGO_PKG_VERSION"), "strategy": strategy, "spec": graphs.spec, "graphs": graphs.dags.len(),
            "known": known.len(), "listed": candidates.is_some(),
        });
        let header = Header::new(strategy.name(), seed, settings);
        let journal = match &path {
            Some(path) => Journal::open(path, header).map_err(value)?,
            None => Journal::in_memory(header),
        };
        let mut space =
            SearchSpace::new(graphs.spec.clone(), &graphs.dags).with_model(model).with_known(Known::new(known));
        let raised = Raised::default();
        if let Some(allow) = allow {
            let (spec, raised) = (graphs.spec.clone(), Arc::clone(&raised));
            space = space.with_rule(Box::new(move |dag: &Dag| is_allowed(&allow, &spec, dag, &raised)));
        }
        if let Some(candidates) = candidates {
            let dags = candidates.table.dags(&graphs.spec, "the candidates").map_err(value)?;
            let among = compute(py, move || space.among(dags));
            check(&raised)?;
            space = among?;
        }
        Ok(PySearch { space, strategy, spec: graphs.spec, seed, journal: Mutex::new(journal), raised })
    }

    /// Up to `n` pairs of a query's number and a graph: those that nobody has answered yet come first.
    #[pyo3(signature = (n=1))]
    fn ask(&self, py: Python<'_>, n: usize) -> PyResult<Vec<(usize, PyDag)>> {
        let asked = compute(py, || {
            let mut journal = locked(&self.journal);
            journal.poll()?;
            let missing = n.saturating_sub(journal.history().pending().count());
            if missing > 0 {
                let new = self.space.with_strategy(&self.strategy, self.seed, |strategy| {
                    Ok(strategy.propose(journal.history(), missing)?)
                })?;
                journal.ask(new)?;
            }
            let pending = journal.history().pending().take(n);
            pending
                .map(|entry| Ok((entry.id, Named::of(&self.spec, &entry.candidate.dag)?)))
                .collect::<anyhow::Result<Vec<_>>>()
        });
        check(&self.raised)?;
        Ok(asked?.into_iter().map(|(id, named)| (id, PyDag(named))).collect())
    }

    /// The score of a query, higher is better; None or NaN if it failed. Returns whether it was the first answer.
    #[pyo3(signature = (query, score))]
    fn tell(&self, py: Python<'_>, query: usize, score: Option<f64>) -> PyResult<bool> {
        let outcome = match score {
            Some(score) if score.is_finite() => Outcome::Score(score),
            Some(score) => Outcome::Failed(format!("the score is {score}")),
            None => Outcome::Failed("no score".to_owned()),
        };
        compute(py, || {
            let mut journal = locked(&self.journal);
            Ok(journal.tell(&[(query, outcome)])?.is_empty())
        })
    }

    /// The best graphs so far, with their scores.
    #[pyo3(signature = (n=1))]
    fn best(&self, py: Python<'_>, n: usize) -> PyResult<Vec<(f64, PyDag)>> {
        let best = compute(py, || {
            let mut journal = locked(&self.journal);
            journal.poll()?;
            let top = journal.history().top(n).into_iter();
            top.map(|(entry, score)| Ok((score, Named::of(&self.spec, &entry.candidate.dag)?)))
                .collect::<anyhow::Result<Vec<_>>>()
        })?;
        Ok(best.into_iter().map(|(score, named)| (score, PyDag(named))).collect())
    }

    /// All queries: number, graph, and the score, or None if it failed or nobody has answered.
    fn history(&self, py: Python<'_>) -> PyResult<Vec<(usize, PyDag, Option<f64>)>> {
        let entries = compute(py, || {
            let mut journal = locked(&self.journal);
            journal.poll()?;
            let entries = journal.history().entries().iter();
            let row = |entry: &pace_search::Entry| {
                Ok((entry.id, Named::of(&self.spec, &entry.candidate.dag)?, entry.score()))
            };
            entries.map(row).collect::<anyhow::Result<Vec<_>>>()
        })?;
        Ok(entries.into_iter().map(|(id, named, score)| (id, PyDag(named), score)).collect())
    }

    /// The graph to ask about after what others keep elsewhere: graphs that were asked, their scores, and which of them are done.
    fn _replay(&self, py: Python<'_>, asked: Vec<(PyDag, Option<f64>)>, done: Vec<bool>) -> PyResult<PyDag> {
        let next = compute(py, || {
            let mut journal = Journal::in_memory(Header::new("elsewhere", self.seed, json!(null)));
            let dags = asked.iter().map(|(dag, _)| Ok(dag.0.dag(&self.spec)?)).collect::<anyhow::Result<Vec<Dag>>>()?;
            // One at a time: a journal numbers its queries in the order of asking, and knows each graph once.
            for ((dag, (_, score)), done) in dags.into_iter().zip(&asked).zip(&done) {
                if journal.history().contains(&GraphKey::of(&dag)) {
                    continue;
                }
                journal.ask(vec![Candidate::new(dag, Origin::Random)])?;
                if *done {
                    let outcome = score.map_or_else(|| Outcome::Failed("no score".to_owned()), Outcome::of);
                    journal.tell(&[(journal.history().n_asked() - 1, outcome)])?;
                }
            }
            let found = self
                .space
                .with_strategy(&self.strategy, self.seed, |strategy| Ok(strategy.propose(journal.history(), 1)?))?;
            let next =
                found.first().ok_or_else(|| anyhow::anyhow!("the space has no graph that was not asked about"))?;
            Ok(Named::of(&self.spec, &next.dag)?)
        });
        check(&self.raised)?;
        Ok(PyDag(next?))
    }

    /// What the graphs look like.
    #[getter]
    fn spec(&self) -> PySpec {
        PySpec(self.spec.clone())
    }
}

/// What a rule in Python raised, until somebody can be told.
type Raised = Arc<Mutex<Option<PyErr>>>;

fn is_allowed(allow: &Py<PyAny>, spec: &pace_graph::DagSpec, dag: &Dag, raised: &Raised) -> bool {
    if locked(raised).is_some() {
        return false;
    }
    let Ok(named) = Named::of(spec, dag) else { return false };
    // The lock is not held meanwhile: Python may let another thread run, which wants it.
    let answer = Python::attach(|py| allow.call1(py, (PyDag(named),)).and_then(|answer| answer.is_truthy(py)));
    answer.unwrap_or_else(|error| {
        *locked(raised) = Some(error);
        false
    })
}

fn check(raised: &Raised) -> PyResult<()> {
    locked(raised).take().map_or(Ok(()), Err)
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
