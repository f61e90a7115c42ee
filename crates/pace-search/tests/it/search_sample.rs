//! A small world to search: ENAS chains with one-hot vectors, and every strategy on them.

use pace_graph::enumerate::{Enas, Mutate, Sampler};
use pace_graph::{Dag, GraphKey, Vectors, canonical};
use pace_search::Error;
use pace_search::acquisition::{AcquisitionConfig, ExpectedImprovement};
use pace_search::oracle::{NaSurrogate, Oracle};
use pace_search::space::{Listed, Open, Pool};
use pace_search::strategy::{
    BayesianOptimisationConfig, EvolutionConfig, LocalSearchConfig, Reach, Setting, Strategy, StrategyConfig,
};
use pace_search::surrogate::{SparseGpConfig, SurrogateConfig};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N_LAYERS: usize = 6;
pub const N_DIMS: usize = 6 * N_LAYERS + 15;

/// Another operation, or a skip more or less.
pub struct Moves;

impl Moves {
    fn skips() -> impl Iterator<Item = (usize, usize)> {
        (2..=N_LAYERS).flat_map(|to| (0..to - 1).map(move |from| (from, to)))
    }

    fn toggle(dag: &Dag, skip: (usize, usize)) -> Dag {
        let mut edges: Vec<(usize, usize)> = dag.edges().filter(|&edge| edge != skip).collect();
        if edges.len() == dag.n_edges() {
            edges.push(skip);
        }
        Dag::new(dag.ops().collect(), edges).unwrap()
    }

    fn relabel(dag: &Dag, layer: usize, op: u16) -> Dag {
        let ops = dag.ops().enumerate().map(|(node, old)| if node == layer { op } else { old });
        Dag::new(ops.collect(), dag.edges().collect::<Vec<_>>()).unwrap()
    }
}

impl Mutate for Moves {
    fn mutate(&self, dag: &Dag, rng: &mut dyn Rng) -> Dag {
        let neighbours = self.neighbours(dag);
        neighbours[rng.random_range(0..neighbours.len())].clone()
    }

    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        // A chain has one topological order, so this changes only graphs of another numbering.
        let dag = &canonical(dag);
        let layers = (1..=N_LAYERS).flat_map(|layer| (2..8).map(move |op| (layer, op)));
        let others = layers.filter(|&(layer, op)| dag.op(layer) != op);
        let relabelled = others.map(|(layer, op)| Moves::relabel(dag, layer, op));
        relabelled.chain(Moves::skips().map(|skip| Moves::toggle(dag, skip))).collect()
    }
}

pub fn one_hot(dag: &Dag) -> Vec<f32> {
    let ops = (1..=N_LAYERS).flat_map(|layer| (2..8).map(move |op| (layer, op)));
    let ops = ops.map(|(layer, op)| f32::from(u8::from(dag.op(layer) == op)));
    ops.chain(Moves::skips().map(|(from, to)| f32::from(u8::from(dag.has_edge(from, to))))).collect()
}

/// `n` different chains.
pub fn chains(n: usize, seed: u64) -> Listed {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut seen = std::collections::HashSet::new();
    let draws = std::iter::repeat_with(|| Enas::default().sample(&mut rng));
    Listed::new(draws.filter(|dag| seen.insert(GraphKey::of(dag))).take(n).collect())
}

pub fn pool(chains: &Listed) -> Pool<'_> {
    Pool::new(chains, Vectors::from_rows(chains.dags().iter().map(one_hot), N_DIMS)).unwrap()
}

pub fn bayes() -> BayesianOptimisationConfig {
    let gp = SparseGpConfig { n_inducing: 30, max_iterations: 12, learn_inducing: false, ..SparseGpConfig::default() };
    BayesianOptimisationConfig {
        initial: 6,
        ..BayesianOptimisationConfig::new(
            SurrogateConfig::SparseGp(gp),
            AcquisitionConfig::ExpectedImprovement(ExpectedImprovement { xi: 0.0 }),
        )
    }
}

/// Every strategy that never repeats itself.
pub fn strategies() -> Vec<StrategyConfig> {
    vec![
        StrategyConfig::Random,
        StrategyConfig::Evolution(EvolutionConfig { population: 6, tournament: 3 }),
        StrategyConfig::Local(LocalSearchConfig { n_starts: 3, ..LocalSearchConfig::default() }),
        StrategyConfig::Local(LocalSearchConfig::hill_climbing()),
        StrategyConfig::Bayes(Box::new(bayes())),
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig {
            local_search: true,
            n_neighbours: 2,
            patience: Some(2),
            ..bayes()
        })),
        StrategyConfig::Bayes(Box::new(BayesianOptimisationConfig {
            local_search: true,
            reach: Reach::Edits { n_centres: 2, n_twice: 0, n_random: 3 },
            ..bayes()
        })),
    ]
}

/// The strategy in the space that suits it: breeding in the open, learning in the pool.
pub fn with_strategy<T>(
    config: &StrategyConfig,
    chains: &Listed,
    seed: u64,
    act: impl FnOnce(&mut dyn Strategy) -> T,
) -> T {
    let (pool, enas) = (pool(chains), Enas::default());
    let open = Open::new(&enas);
    let setting = match config {
        StrategyConfig::Evolution(_) | StrategyConfig::Local(_) => {
            Setting { space: &open, embedded: None, mutate: Some(&Moves), known: None }
        }
        _ => Setting { space: &pool, embedded: Some(&pool), mutate: Some(&Moves), known: None },
    };
    act(&mut *config.init(setting, seed).unwrap())
}

/// The NA stand-in, which fails on some graphs in three ways.
pub struct Fragile;

impl Fragile {
    /// 0 to 2: a failure of that kind.
    pub fn kind(dag: &Dag) -> u32 {
        let sum: u32 = dag.edges().map(|(from, to)| (7 * from + to) as u32).sum();
        (sum + dag.ops().map(u32::from).sum::<u32>()) % 12
    }
}

impl Oracle for Fragile {
    fn evaluate(&self, dags: &[Dag]) -> Result<Vec<f64>, Error> {
        match Fragile::kind(&dags[0]) {
            0 => Ok(vec![f64::NAN; dags.len()]),
            1 => Ok(vec![f64::INFINITY; dags.len()]),
            2 => {
                let reason = pace_graph::Error::NoNodes;
                Err(Error::Graph { graph: 0, reason })
            }
            _ => NaSurrogate::embedded().evaluate(dags),
        }
    }
}
