//! [`SearchSpace`]: what is searched, all graphs of a spec or those of a list, and [`Method`], how.

use anyhow::{Result, bail};
use pace_graph::enumerate::SpecSpace;
use pace_graph::{Dag, DagSpec, Vectors};
use pace_search::space::{Allowed, Embedded, Encode, Encoded, Listed, Open, Pool, Space};
use pace_search::strategy::{
    BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Reach, Setting, Strategy, StrategyConfig,
};
use pace_search::{Known, Matrix, widen};

use crate::features::{plain, properties};
use crate::model::Model;

/// How to search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
pub enum Method {
    /// Bayesian optimisation: a model of the scores proposes
    Bayes,
    /// Regularised evolution
    Evolution,
    /// Local search with restarts
    Local,
    /// At random
    Random,
}

/// Scores that are enough to learn from without random queries first.
const ENOUGH: usize = 16;

impl Method {
    /// All, with their names.
    pub const NAMED: [(&'static str, Method); 4] = [
        ("bayes", Method::Bayes),
        ("evolution", Method::Evolution),
        ("local", Method::Local),
        ("random", Method::Random),
    ];

    /// Its settings, for so many graphs with known scores. Graphs of a list are rarely one edit apart, so a round looks at all of them.
    pub fn config(self, n_known: usize, is_listed: bool) -> StrategyConfig {
        match self {
            Method::Bayes => {
                let usual = BayesianOptimisationConfig::dngo();
                let initial = if n_known >= ENOUGH { 0 } else { usual.initial };
                let reach = if is_listed { Reach::Space } else { usual.reach };
                StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig { initial, reach, ..usual }))
            }
            Method::Evolution => StrategyConfig::Evolution(EvolutionConfig::default()),
            Method::Local => StrategyConfig::Local(LocalSearchConfig::default()),
            Method::Random => StrategyConfig::Random,
        }
    }
}

/// A rule that no spec can say.
pub type Rule = Box<dyn Fn(&Dag) -> bool + Send + Sync>;

/// What is searched, by which vectors.
pub struct SearchSpace {
    /// Draws and edits graphs by their spec.
    pub open: SpecSpace,
    spec: DagSpec,
    /// The graphs that alone may be asked about.
    pub listed: Option<Vec<Dag>>,
    model: Option<Model>,
    rule: Rule,
    /// Scores from before.
    pub known: Known,
}

/// The vectors of a search.
struct Vectoriser<'a>(&'a SearchSpace);

impl Encode for Vectoriser<'_> {
    fn encode(&self, dags: &[Dag]) -> Matrix {
        widen(&self.0.vectors(dags))
    }
}

impl SearchSpace {
    /// All graphs of a spec, drawn like `examples`.
    pub fn new(spec: DagSpec, examples: &[Dag]) -> SearchSpace {
        SearchSpace {
            open: SpecSpace::like(spec.clone(), examples),
            spec,
            listed: None,
            model: None,
            rule: Box::new(|_| true),
            known: Known::new(Vec::new()),
        }
    }

    /// By the vectors of a model, instead of operations and edges.
    #[must_use]
    pub fn with_model(self, model: Option<Model>) -> SearchSpace {
        SearchSpace { model, ..self }
    }

    /// Starting from scores that are there already.
    #[must_use]
    pub fn with_known(self, known: Known) -> SearchSpace {
        SearchSpace { known, ..self }
    }

    /// Only what a rule allows.
    #[must_use]
    pub fn with_rule(self, rule: Rule) -> SearchSpace {
        SearchSpace { rule, ..self }
    }

    /// Only these graphs, of which the rule must allow some.
    ///
    /// # Errors
    /// If it allows none.
    pub fn among(mut self, listed: Vec<Dag>) -> Result<SearchSpace> {
        let listed: Vec<Dag> = listed.into_iter().filter(|dag| (self.rule)(dag)).collect();
        if listed.is_empty() {
            bail!("the rule allows none of the graphs that are searched");
        }
        self.listed = Some(listed);
        Ok(self)
    }

    /// What a strategy learns from: the model's vectors, or operations and edges; and what can be counted.
    fn vectors(&self, dags: &[Dag]) -> Vectors {
        let counted = properties(dags, &self.spec);
        let first = match &self.model {
            Some(model) => model.vectors(dags).expect("the device was there when the model was loaded"),
            None => plain(dags, &self.spec),
        };
        let row = |row: usize| [first.row(row), counted.row(row)].concat();
        Vectors::from_rows((0..dags.len()).map(row).collect::<Vec<_>>(), first.width() + counted.width())
    }

    /// Runs `search` with a strategy of this space.
    ///
    /// # Errors
    /// Those of the strategy and of `search`.
    pub fn with_strategy<T>(
        &self,
        config: &StrategyConfig,
        seed: u64,
        search: impl FnOnce(&mut dyn Strategy) -> Result<T>,
    ) -> Result<T> {
        let known = (!self.known.graphs().is_empty()).then_some(&self.known);
        let setting = |space, embedded| Setting { space, embedded: Some(embedded), mutate: Some(&self.open), known };
        match &self.listed {
            Some(listed) => {
                let graphs = Listed::new(listed.clone());
                let pool = Pool::new(&graphs, self.vectors(listed))?;
                let mut strategy = config.init(setting(&pool as &dyn Space, &pool as &dyn Embedded), seed)?;
                search(&mut *strategy)
            }
            None => {
                let open = Open::new(&self.open);
                let (allowed, vectoriser) = (Allowed::new(&open, &*self.rule), Vectoriser(self));
                let encoded = Encoded::new(&allowed, &vectoriser);
                let mut strategy = config.init(setting(&encoded as &dyn Space, &encoded as &dyn Embedded), seed)?;
                search(&mut *strategy)
            }
        }
    }
}
