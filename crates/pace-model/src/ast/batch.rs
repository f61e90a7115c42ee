//! [`AstBatch`]: the tensors of a batch of trees.

use std::sync::{Arc, OnceLock};

use burn::tensor::{Device, Int, Tensor};

use super::table::Node;
use super::{AstLayout, Attends, Packing};
use crate::batch::{GraphBatch, Pass, floats, ints};
use crate::kernel::PairLists;
use crate::layers::{EdgeList, Relation};

/// Pairs of a query and a key in a batch: the lists count them in 32 bits.
pub(super) const MAX_PAIRS: usize = u32::MAX as usize;

/// A batch of B trees in R rows, one per node or padded position.
#[derive(Clone, Debug)]
pub struct AstBatch {
    /// Nodes of each tree.
    pub lengths: Vec<usize>,
    /// Node types, `[R]`.
    pub types: Tensor<1, Int>,
    /// Attributes, `[R]`.
    pub attributes: Tensor<1, Int>,
    /// Depths, clipped, `[R]`.
    pub depths: Tensor<1, Int>,
    /// Positions in the depth-first walk, clipped, `[R]`.
    pub positions: Tensor<1, Int>,
    /// Positions of the parents, clipped; P for the root, `[R]`.
    pub parents: Tensor<1, Int>,
    /// The mask: every node attends to itself and those that [`AstLayout::attends`] says.
    pub attention: AstAttention,
    /// Numbers to be predicted, `[B]`.
    pub targets: Option<Tensor<1>>,
    /// Tokens to be predicted, [B, positions].
    pub tokens: Option<Tensor<2, Int>>,
    /// Evaluation or training.
    pub pass: Pass,
    links: Arc<Links>,
}

/// Who is connected with whom, in rows.
#[derive(Debug)]
struct Links {
    n_rows: usize,
    device: Device,
    /// `(parent, child)`.
    tree: Vec<(usize, usize)>,
    /// `(token, next token)`.
    tokens: Vec<(usize, usize)>,
    /// By [`Relation`], made when they are first asked for.
    messages: [OnceLock<EdgeList>; 4],
}

impl Links {
    fn new(trees: &[&[Node]], stride: impl Fn(&[Node]) -> usize, n_rows: usize, device: &Device) -> Links {
        let (mut tree_edges, mut tokens, mut first) = (Vec::new(), Vec::new(), 0);
        for tree in trees {
            let parents = tree.iter().enumerate().filter_map(|(place, node)| Some((node.parent? as usize, place)));
            tree_edges.extend(parents.map(|(parent, child)| (first + parent, first + child)));
            let mut before = None;
            for (place, _) in tree.iter().enumerate().filter(|(_, node)| node.is_token) {
                tokens.extend(before.map(|before| (first + before, first + place)));
                before = Some(place);
            }
            first += stride(tree);
        }
        Links { n_rows, device: device.clone(), tree: tree_edges, tokens, messages: Default::default() }
    }
}

/// The mask of a batch, by its [`Packing`].
#[derive(Clone, Debug)]
pub enum AstAttention {
    /// Padded: added to the scores, [B, N, N], query before key. Padding sees itself.
    Dense(Tensor<3>),
    /// Packed: the keys of each row.
    Sparse(PairLists),
}

impl AstBatch {
    pub(super) fn new(trees: &[&[Node]], layout: &AstLayout, device: &Device) -> AstBatch {
        let lengths: Vec<usize> = trees.iter().map(|tree| tree.len()).collect();
        let longest = lengths.iter().copied().max().unwrap_or(0);
        let mut rows = Rows::default();
        for tree in trees {
            tree.iter().enumerate().for_each(|(place, node)| rows.push(place, node, layout));
            if layout.packing == Packing::Padded {
                (tree.len()..longest).for_each(|_| rows.pad(layout));
            }
        }
        let attention = match layout.packing {
            Packing::Padded => AstAttention::Dense(dense(trees, longest, layout.attends, device)),
            Packing::Packed => AstAttention::Sparse(sparse(trees, layout.attends, device)),
        };
        let r = rows.types.len();
        let stride = |tree: &[Node]| if layout.packing == Packing::Padded { longest } else { tree.len() };
        AstBatch {
            links: Arc::new(Links::new(trees, stride, r, device)),
            types: ints(rows.types, [r], device),
            attributes: ints(rows.attributes, [r], device),
            depths: ints(rows.depths, [r], device),
            positions: ints(rows.positions, [r], device),
            parents: ints(rows.parents, [r], device),
            lengths,
            attention,
            targets: None,
            tokens: None,
            pass: Pass::Eval,
        }
    }

    pub(super) fn with_labels(
        self,
        targets: Option<Vec<f32>>,
        tokens: Option<Vec<i32>>,
        n_positions: usize,
        device: &Device,
    ) -> AstBatch {
        let b = self.lengths.len();
        let targets = targets.map(|targets| floats(targets, [b], device));
        let tokens = tokens.map(|tokens| ints(tokens, [b, n_positions], device));
        AstBatch { targets, tokens, ..self }
    }

    /// Who hears whom by a relation.
    pub fn messages(&self, relation: Relation) -> &EdgeList {
        let links = &*self.links;
        let edges = || EdgeList::new(self.pairs(relation).collect(), links.n_rows, &links.device);
        links.messages[relation as usize].get_or_init(edges)
    }

    /// Who is heard by whom: pairs of rows.
    pub(crate) fn pairs(&self, relation: Relation) -> impl Iterator<Item = (usize, usize)> {
        let (edges, turned) = match relation {
            Relation::Parent => (&self.links.tree, false),
            Relation::Children => (&self.links.tree, true),
            Relation::Previous => (&self.links.tokens, false),
            Relation::Next => (&self.links.tokens, true),
        };
        edges.iter().map(move |&(from, to)| if turned { (to, from) } else { (from, to) })
    }

    /// How many rows there are, R.
    pub fn n_rows(&self) -> usize {
        self.links.n_rows
    }

    /// The rows of nodes, and to which tree each belongs; padding is left out.
    pub fn node_rows(&self) -> (Vec<u32>, Vec<u32>) {
        let trees = self.roots().into_iter().zip(&self.lengths).enumerate();
        let rows = trees.flat_map(|(tree, (root, &length))| (root..root + length as u32).map(move |row| (row, tree)));
        rows.map(|(row, tree)| (row, tree as u32)).unzip()
    }

    /// The row of each root, ascending.
    pub fn roots(&self) -> Vec<u32> {
        let mut end = 0;
        let root = |&length: &usize| {
            let root = end;
            end += match &self.attention {
                AstAttention::Dense(bias) => bias.dims()[1],
                AstAttention::Sparse(_) => length,
            } as u32;
            root
        };
        self.lengths.iter().map(root).collect()
    }

    /// The same batch as a training pass: dropout from `seed`.
    pub fn train(mut self, seed: u64) -> AstBatch {
        self.pass = Pass::Train { seed };
        self
    }
}

impl GraphBatch for AstBatch {
    fn n_graphs(&self) -> usize {
        self.lengths.len()
    }

    fn targets(&self) -> Option<&Tensor<1>> {
        self.targets.as_ref()
    }

    fn token_targets(&self) -> Option<&Tensor<2, Int>> {
        self.tokens.as_ref()
    }
}

/// The index tensors in host memory while they are filled.
#[derive(Default)]
struct Rows {
    types: Vec<i32>,
    attributes: Vec<i32>,
    depths: Vec<i32>,
    positions: Vec<i32>,
    parents: Vec<i32>,
}

impl Rows {
    fn push(&mut self, place: usize, node: &Node, layout: &AstLayout) {
        let clipped = |place: usize| place.min(layout.n_positions - 1);
        self.types.push(i32::from(node.op));
        self.attributes.push(node.attribute as i32);
        self.depths.push(i32::from(node.depth));
        self.positions.push(clipped(place) as i32);
        self.parents.push(node.parent.map_or(layout.n_positions, |parent| clipped(parent as usize)) as i32);
    }

    /// A row that nobody reads; any indices do.
    fn pad(&mut self, layout: &AstLayout) {
        self.push(0, &Node { op: 0, depth: 0, attribute: 0, parent: None, end: 0, is_token: false }, layout);
    }
}

/// How many pairs of a node and one that it attends to a tree of `n` nodes has, of which `n_below` are of a node and itself or a
/// descendant. As many are of a node and itself or an ancestor.
pub(super) fn n_pairs(attends: Attends, n: usize, n_below: usize) -> usize {
    match attends {
        Attends::Descendants | Attends::Ancestors => n_below,
        Attends::Relatives => 2 * n_below - n,
    }
}

/// Those that a node attends to, ascending. A subtree is an interval of the walk, and ancestors are found from parent to parent.
fn keys(tree: &[Node], place: usize, attends: Attends, found: &mut Vec<u32>) {
    let start = found.len();
    if attends != Attends::Descendants {
        let mut above = tree[place].parent;
        while let Some(ancestor) = above {
            found.push(ancestor);
            above = tree[ancestor as usize].parent;
        }
        found[start..].reverse();
    }
    let end = if attends == Attends::Ancestors { place as u32 + 1 } else { tree[place].end };
    found.extend(place as u32..end);
}

fn dense(trees: &[&[Node]], n: usize, attends: Attends, device: &Device) -> Tensor<3> {
    let mut bias = vec![f32::NEG_INFINITY; trees.len() * n * n];
    let mut allowed = Vec::new();
    for (matrix, tree) in bias.chunks_exact_mut((n * n).max(1)).zip(trees) {
        for (place, row) in matrix.chunks_exact_mut(n).enumerate() {
            allowed.clear();
            match place < tree.len() {
                true => keys(tree, place, attends, &mut allowed),
                // Padding sees itself.
                false => allowed.push(place as u32),
            }
            allowed.iter().for_each(|&key| row[key as usize] = 0.0);
        }
    }
    floats(bias, [trees.len(), n, n], device)
}

fn sparse(trees: &[&[Node]], attends: Attends, device: &Device) -> PairLists {
    let below = |tree: &[Node]| tree.iter().enumerate().map(|(place, node)| node.end as usize - place).sum::<usize>();
    let n_pairs: usize = trees.iter().map(|tree| n_pairs(attends, tree.len(), below(tree))).sum();
    assert!(n_pairs <= MAX_PAIRS, "a batch of {n_pairs} pairs, and it holds {MAX_PAIRS}; put fewer trees into it");
    let (mut offsets, mut found) = (vec![0], Vec::with_capacity(n_pairs));
    let mut first = 0;
    for tree in trees {
        for place in 0..tree.len() {
            let start = found.len();
            keys(tree, place, attends, &mut found);
            found[start..].iter_mut().for_each(|key| *key += first);
            offsets.push(found.len() as u32);
        }
        first += tree.len() as u32;
    }
    PairLists::new(offsets, found, device)
}
