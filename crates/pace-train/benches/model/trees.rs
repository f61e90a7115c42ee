//! Random syntax trees and the model that reads them: those of the PyTorch peer in number of types, attributes and tokens.

use burn::tensor::Device;
use pace_graph::dataset::Ast;
use pace_graph::enumerate::{RandomAst, Sampler};
use pace_graph::structure::depths;
use pace_model::ast::{AstLayout, AstTable};
use pace_model::encoder::{AstPace, AstPaceConfig};
use pace_model::objective::{HeadConfig, Supervised};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

const N_TYPES: u16 = 98;
const N_ATTRIBUTES: usize = 10_030;
/// Tokens to be predicted per tree, and the size of their vocabulary.
const N_TOKENS: [usize; 2] = [5, 5_002];

/// Trees in DFS order with tokens to be predicted.
pub struct Forest {
    asts: Vec<Ast>,
    tokens: Vec<Vec<usize>>,
}

impl Forest {
    /// Trees of these sizes, none deeper than `max_depth`; the same for the same sizes.
    pub fn new(sizes: impl Fn(&mut ChaCha8Rng) -> usize, count: usize, max_depth: usize) -> Forest {
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        let tree = |_| {
            let n_nodes = sizes(&mut rng);
            let dag = RandomAst { n_nodes, n_types: N_TYPES, max_depth }.sample(&mut rng);
            let attributes = (0..n_nodes).map(|_| rng.random_range(0..N_ATTRIBUTES as u32)).collect();
            let depths = depths(&dag).into_iter().map(|depth| depth as u32).collect();
            let dfs_order = (0..n_nodes as u32).collect();
            Ast { dag, attributes, is_attributed: vec![true; n_nodes], dfs_order, depths, label: Vec::new() }
        };
        let asts: Vec<Ast> = (0..count).map(tree).collect();
        let [positions, vocabulary] = N_TOKENS;
        let row = |_: &Ast| (0..positions).map(|_| rng.random_range(0..vocabulary)).collect();
        let tokens = asts.iter().map(row).collect();
        Forest { asts, tokens }
    }

    /// The trees.
    pub fn asts(&self) -> &[Ast] {
        &self.asts
    }

    /// How many trees.
    pub fn len(&self) -> usize {
        self.asts.len()
    }

    /// Some of the trees made ready, without their tokens.
    pub fn table(&self, trees: std::ops::Range<usize>, layout: AstLayout) -> AstTable {
        AstTable::new(&self.asts[trees], layout).expect("trees")
    }

    /// All trees made ready, with their tokens.
    pub fn labelled(&self, layout: AstLayout) -> AstTable {
        self.table(0..self.len(), layout).with_tokens(&self.tokens)
    }
}

/// 6 blocks of width 256 that distinguish so many positions in the tree, and the heads of the tokens.
pub fn model(n_positions: usize, device: &Device) -> Supervised<AstPace> {
    let config = AstPaceConfig { n_positions, ..AstPaceConfig::code2() };
    let encoder = config.init(usize::from(N_TYPES), N_ATTRIBUTES, 1, device);
    let [n_positions, n_tokens] = N_TOKENS;
    HeadConfig::Tokens { n_positions, n_tokens }.init(encoder, 2, device)
}
