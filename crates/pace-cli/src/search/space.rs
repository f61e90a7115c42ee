//! [`SearchSpace`]: what is searched: all graphs of a spec, or the graphs of a table.

use anyhow::Result;
use pace_graph::enumerate::SpecSpace;
use pace_graph::{Dag, DagSpec, Vectors};
use pace_search::space::{Embedded, Encode, Encoded, Listed, Open, Pool, Space};
use pace_search::strategy::{Setting, Strategy, StrategyConfig};
use pace_search::{Known, Matrix, widen};

use crate::features::{plain, properties};
use crate::model::Model;

/// What is searched, by which vectors.
pub struct SearchSpace {
    /// Draws and edits graphs by their spec.
    pub open: SpecSpace,
    spec: DagSpec,
    /// The graphs that alone may be asked about.
    pub listed: Option<Vec<Dag>>,
    model: Option<Model>,
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
    /// All graphs of a spec, drawn like `examples`; with `listed`, only these.
    pub fn new(
        spec: DagSpec,
        examples: &[Dag],
        listed: Option<Vec<Dag>>,
        model: Option<Model>,
        known: Known,
    ) -> SearchSpace {
        SearchSpace { open: SpecSpace::like(spec.clone(), examples), spec, listed, model, known }
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
                let (open, vectoriser) = (Open::new(&self.open), Vectoriser(self));
                let encoded = Encoded::new(&open, &vectoriser);
                let mut strategy = config.init(setting(&encoded as &dyn Space, &encoded as &dyn Embedded), seed)?;
                search(&mut *strategy)
            }
        }
    }
}
