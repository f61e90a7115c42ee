//! D-VAE and DAGNN on abstract syntax trees: recursions along the edges and against them, level by level over the whole batch.
//!
//! As in [`Dvae`](crate::encoder::Dvae) and [`Dagnn`](crate::encoder::Dagnn), but nodes come as vectors of type, attribute and depth instead of one-hot
//! operations, and edges between neighbouring tokens join those of the tree, as in DAGNN's own experiment on OGBG-CODE2. Both kinds
//! lead to a later node of the walk, so the graph stays acyclic.
//!
//! ```text
//! vector = W [ mean over nodes without successors of h^0 ; .. ; h^(L-1) of these ; g^0 of the root ; .. ; g^(L-1) of the root ] + b
//! ```
//!
//! h runs along the edges, g against them. The authors of DAGNN take the maximum of the last nodes instead of their mean.

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::{Device, Tensor};
use serde::{Deserialize, Serialize};

use crate::ast::{AstBatch, AstLayout, Attends, Packing};
use crate::batch::{Stream, ints};
use crate::encoder::GraphEncoder;
use crate::kernel::WalkBuilder;
use crate::layers::{AstLabels, Relation};
use crate::layers::{Hearing, Init, Recursion, RecursionConfig, Segments, Visits, probability};

/// Configuration of [`AstRecursion`].
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AstRecursionConfig {
    /// Width of a state, D.
    pub d_hidden: usize,
    /// How many recursions are stacked, L.
    pub n_layers: usize,
    /// How a node hears those before it.
    pub hearing: Hearing,
    /// Whether there are recursions against the edges.
    pub bidirectional: bool,
    /// Whether tokens hear the token before them.
    pub next_token: bool,
    /// Deeper nodes count as this deep.
    pub max_depth: usize,
    /// Dropout in training, on the states that are read; from 0 to below 1.
    #[serde(deserialize_with = "probability")]
    pub dropout: f64,
}

impl AstRecursionConfig {
    /// D-VAE, as wide as PACE for trees.
    pub fn dvae() -> AstRecursionConfig {
        AstRecursionConfig {
            d_hidden: 256,
            n_layers: 1,
            hearing: Hearing::GatedStates,
            bidirectional: true,
            next_token: true,
            max_depth: 20,
            dropout: 0.1,
        }
    }

    /// DAGNN, two layers.
    pub fn dagnn() -> AstRecursionConfig {
        AstRecursionConfig { n_layers: 2, hearing: Hearing::AttendedStates, ..AstRecursionConfig::dvae() }
    }

    /// The layout for trees with `n_types` node types and `n_attributes` attributes.
    pub fn layout(&self, n_types: usize, n_attributes: usize) -> AstLayout {
        // A recursion does not ask where in the walk a node stands.
        AstLayout {
            n_types,
            n_attributes,
            max_depth: self.max_depth,
            n_positions: 1,
            packing: Packing::Packed,
            attends: Attends::Descendants,
        }
    }

    /// Initialises for trees with `n_types` node types and `n_attributes` attributes.
    pub fn init(&self, n_types: usize, n_attributes: usize, seed: u64, device: &Device) -> AstRecursion {
        let (mut init, layout, d) = (Init::new(seed, device), self.layout(n_types, n_attributes), self.d_hidden);
        let labels = AstLabels::new(&layout, d, &mut init);
        let config = RecursionConfig { d_hidden: d, n_layers: self.n_layers, hearing: self.hearing, vertex_ids: false };
        let mut recursion = || Recursion::over_vectors(&config, d, &mut init);
        let (along, against) = (recursion(), self.bidirectional.then(&mut recursion));
        let n_states = self.n_layers * if self.bidirectional { 2 } else { 1 };
        AstRecursion { labels, along, against, join: init.linear(n_states * d, d, true), config: *self, layout }
    }
}

/// D-VAE or DAGNN on trees, by its [`Hearing`].
#[derive(Module, Debug)]
pub struct AstRecursion {
    labels: AstLabels,
    along: Recursion,
    against: Option<Recursion>,
    join: Linear,
    #[module(skip)]
    config: AstRecursionConfig,
    #[module(skip)]
    layout: AstLayout,
}

impl AstRecursion {
    /// How this encoder wants its trees.
    pub fn layout(&self) -> &AstLayout {
        &self.layout
    }

    /// Whom each row hears, in the order in which rows are computed.
    fn relations(&self, reversed: bool) -> impl Iterator<Item = Relation> {
        let [tree, tokens] = match reversed {
            false => [Relation::Parent, Relation::Previous],
            true => [Relation::Children, Relation::Next],
        };
        [Some(tree), self.config.next_token.then_some(tokens)].into_iter().flatten()
    }

    /// The states of all rows by layer, in one direction, and who was heard by nobody. Shapes: x [R, D] -> [R, D] each.
    fn walk(
        &self,
        recursion: &Recursion,
        x: &Tensor<2>,
        batch: &AstBatch,
        reversed: bool,
    ) -> (Vec<Tensor<2>>, Vec<bool>) {
        let [n_rows, _] = x.dims();
        let mut heard: Vec<Vec<u32>> = vec![Vec::new(); n_rows];
        let mut is_last = vec![true; n_rows];
        for relation in self.relations(reversed) {
            for (source, target) in batch.pairs(relation) {
                // A token may follow its own parent.
                if !heard[target].contains(&(source as u32)) {
                    heard[target].push(source as u32);
                }
                is_last[source] = false;
            }
        }
        // Rows are a walk from parents to children.
        let in_order = |step: usize| if reversed { n_rows - 1 - step } else { step };
        let mut walk = WalkBuilder::new(0);
        for row in (0..n_rows).map(in_order) {
            walk.push(heard[row].iter().map(|&source| in_order(source as usize) as u32));
        }
        let (lists, places) = walk.finish();
        let mut rows = vec![0; n_rows];
        places.iter().enumerate().for_each(|(step, &place)| rows[place as usize] = in_order(step) as i32);
        let mut back = vec![0; n_rows];
        rows.iter().enumerate().for_each(|(place, &row)| back[row as usize] = place as i32);
        let device = x.device();
        let ordered = x.clone().select(0, ints(rows, [n_rows], &device));
        let back = ints(back, [n_rows], &device);
        let states = recursion.forward_over(&ordered, &Visits::of_vectors(lists));
        (states.into_iter().map(|states| states.select(0, back.clone())).collect(), is_last)
    }
}

impl GraphEncoder for AstRecursion {
    type Batch = AstBatch;

    fn embed(&self, batch: &AstBatch) -> Tensor<2> {
        let (x, roots, b) = (self.labels.forward(batch), batch.roots(), batch.lengths.len());
        let device = x.device();
        let (along, is_last) = self.walk(&self.along, &x, batch, false);
        let last: Vec<u32> = (0..is_last.len() as u32).filter(|&row| is_last[row as usize]).collect();
        let tree_of = |row: u32| (roots.partition_point(|&root| root <= row) - 1) as u32;
        let segments = Segments::new(last.iter().map(|&row| tree_of(row)).collect(), b, &device);
        let picked = |rows: &[u32]| ints(rows.iter().map(|&row| row as i32).collect(), [rows.len()], &device);
        let (last, top) = (picked(&last), picked(&roots));
        let mut states: Vec<Tensor<2>> =
            along.into_iter().map(|states| segments.mean(states.select(0, last.clone()))).collect();
        if let Some(against) = &self.against {
            let (against, _) = self.walk(against, &x, batch, true);
            states.extend(against.into_iter().map(|states| states.select(0, top.clone())));
        }
        let dropout = batch.pass.dropout(self.config.dropout, Stream::EncoderEmbedding);
        self.join.forward(dropout.apply(0, Tensor::cat(states, 1)))
    }

    fn d_embedding(&self) -> usize {
        self.config.d_hidden
    }
}
