//! Steps in a space that is known by its spec alone: one edit of a graph without its virtual ends.

use rand::seq::{IndexedRandom, IteratorRandom};
use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::{Mutate, distinct, with_op};
use crate::canon::canonical;
use crate::dag::{Dag, Op};
use crate::enumerate::SpecSpace;
use crate::key::GraphKey;
use crate::validity::Validity;

/// Beyond this many edits, neighbours are a sample of them.
const MAX_EDITS: usize = 4096;
/// Edits drawn for one mutation before all are listed.
const TRIES: usize = 64;

/// A kind of edit. Kinds have equal chances in a mutation: there are many more ways to add a node than to remove one.
#[derive(Clone, Copy)]
enum Kind {
    /// Another operation.
    Relabel,
    /// An edge more or less.
    Flip,
    /// An edge the other way round, or from another node.
    Turn,
    /// A node between two others, in the middle of an edge, or at an end.
    Insert,
    /// A node less, its predecessors joined with its successors or not.
    Remove,
}

const KINDS: [Kind; 5] = [Kind::Relabel, Kind::Flip, Kind::Turn, Kind::Insert, Kind::Remove];

/// One edit of a graph.
#[derive(Clone, Copy, Debug)]
enum Edit {
    /// The node gets the operation.
    Op(usize, Op),
    /// An edge to take away, an edge to add.
    Edges(Option<(usize, usize)>, Option<(usize, usize)>),
    /// Operation, predecessor and successor of a new node.
    Insert(Op, Option<usize>, Option<usize>),
    /// Operation of a new node in the middle of an edge.
    Split(Op, (usize, usize)),
    /// A node, and whether its neighbours are joined.
    Remove(usize, bool),
}

impl Mutate for SpecSpace {
    /// Another operation; an edge added, removed, turned around or moved to another source; a node inserted or removed: what of these
    /// the spec allows. Nodes that a removal cuts off from a real input or output go, too. Of more than 4,096 edits a sample is taken,
    /// the same for isomorphic graphs, so that a graph of a thousand nodes has neighbours as well.
    fn neighbours(&self, dag: &Dag) -> Vec<Dag> {
        assert!(self.spec.is_valid(dag), "{dag} is no graph of '{}'", self.spec.name);
        let dag = canonical(dag);
        let Ok(bare) = self.spec.strip_ends(&dag) else { return Vec::new() };
        let ops = self.inner_ops();
        let edits = KINDS.into_iter().flat_map(|kind| self.edits(kind, &bare, &ops));
        let mut rng = ChaCha8Rng::seed_from_u64(GraphKey::of(&dag).seed());
        let edits = edits.sample(&mut rng, MAX_EDITS);
        distinct(&dag, edits.iter().filter_map(|edit| self.apply(&bare, edit)))
    }

    /// A random edit of a random kind, so not every neighbour has the same probability.
    fn mutate(&self, dag: &Dag, rng: &mut dyn Rng) -> Dag {
        assert!(self.spec.is_valid(dag), "{dag} is no graph of '{}'", self.spec.name);
        let (key, dag) = (GraphKey::of(dag), canonical(dag));
        if let Ok(bare) = self.spec.strip_ends(&dag) {
            let ops = self.inner_ops();
            for _ in 0..TRIES {
                let kind = *KINDS.choose(rng).expect("kinds");
                let edited = self.draw(kind, &bare, &ops, rng).and_then(|edit| self.apply(&bare, &edit));
                if let Some(edited) = edited.map(|dag| GraphKey::of(&dag)).filter(|edited| *edited != key) {
                    return edited.canonical();
                }
            }
        }
        let neighbours = self.neighbours(&dag);
        neighbours.choose(rng).cloned().expect("a space of one graph has nothing to mutate to")
    }
}

impl SpecSpace {
    /// Operations of nodes that are no ends.
    fn inner_ops(&self) -> Vec<Op> {
        let roles = [self.spec.input, self.spec.output, self.spec.start];
        (0..self.spec.n_ops() as Op).filter(|&op| !roles.contains(&Some(op))).collect()
    }

    /// Whether a new node may have no predecessor, and no successor: not where the graph has a real end.
    fn may_hang(&self) -> (bool, bool) {
        let spec = &self.spec;
        (spec.input.is_none() || spec.added.input, spec.output.is_none() || spec.added.output)
    }

    fn has_room(&self, dag: &Dag) -> bool {
        dag.n_nodes() + self.spec.added.count() < self.spec.max_nodes
    }

    /// All edits of a kind, as they come.
    fn edits<'a>(&self, kind: Kind, dag: &'a Dag, ops: &'a [Op]) -> Box<dyn Iterator<Item = Edit> + 'a> {
        let n = dag.n_nodes();
        let inner = (0..n).filter(|&node| ops.contains(&dag.op(node)));
        match kind {
            Kind::Relabel => Box::new(inner.flat_map(move |node| {
                ops.iter().filter(move |&&op| op != dag.op(node)).map(move |&op| Edit::Op(node, op))
            })),
            Kind::Flip => {
                let pairs = (0..n).flat_map(move |from| (0..n).map(move |to| (from, to)));
                Box::new(pairs.filter(|(from, to)| from != to).map(|pair| flipped(dag, pair)))
            }
            Kind::Turn => {
                Box::new(dag.edges().flat_map(move |edge| (0..n).filter_map(move |source| turned(dag, edge, source))))
            }
            Kind::Insert if !self.has_room(dag) => Box::new(std::iter::empty()),
            Kind::Insert => {
                let (may_start, may_end) = self.may_hang();
                let ends = move |may: bool| (0..n).map(Some).chain(may.then_some(None));
                let pairs = ends(may_start).flat_map(move |from| ends(may_end).map(move |to| (from, to)));
                let pairs = pairs.filter(|(from, to)| from.is_none() || from != to);
                let inserts = pairs.flat_map(move |(from, to)| ops.iter().map(move |&op| Edit::Insert(op, from, to)));
                Box::new(
                    inserts.chain(dag.edges().flat_map(move |edge| ops.iter().map(move |&op| Edit::Split(op, edge)))),
                )
            }
            Kind::Remove => {
                Box::new(inner.flat_map(|node| [true, false].into_iter().map(move |join| Edit::Remove(node, join))))
            }
        }
    }

    /// One of these edits, without listing them.
    fn draw(&self, kind: Kind, dag: &Dag, ops: &[Op], rng: &mut dyn Rng) -> Option<Edit> {
        let n = dag.n_nodes();
        match kind {
            Kind::Relabel => {
                let node = rng.random_range(0..n);
                ops.contains(&dag.op(node)).then(|| ops.choose(rng).map(|&op| Edit::Op(node, op))).flatten()
            }
            Kind::Flip => {
                let (from, to) = (rng.random_range(0..n), rng.random_range(0..n));
                (from != to).then(|| flipped(dag, (from, to)))
            }
            Kind::Turn if dag.n_edges() == 0 => None,
            Kind::Turn => {
                let edge = dag.edges().nth(rng.random_range(0..dag.n_edges()))?;
                turned(dag, edge, rng.random_range(0..n))
            }
            Kind::Insert if !self.has_room(dag) => None,
            Kind::Insert if dag.n_edges() > 0 && rng.random() => {
                let edge = dag.edges().nth(rng.random_range(0..dag.n_edges()))?;
                ops.choose(rng).map(|&op| Edit::Split(op, edge))
            }
            Kind::Insert => {
                let (may_start, may_end) = self.may_hang();
                // The place after the last node stands for none.
                let mut end = |may: bool| Some(rng.random_range(0..n + usize::from(may))).filter(|&node| node < n);
                let (from, to) = (end(may_start), end(may_end));
                (from.is_none() || from != to).then(|| ops.choose(rng).map(|&op| Edit::Insert(op, from, to))).flatten()
            }
            Kind::Remove => {
                let node = rng.random_range(0..n);
                ops.contains(&dag.op(node)).then(|| Edit::Remove(node, rng.random()))
            }
        }
    }

    /// The edited graph with its ends; `None` if the spec does not allow it.
    fn apply(&self, dag: &Dag, edit: &Edit) -> Option<Dag> {
        let ops = || dag.ops().collect::<Vec<Op>>();
        let edited = match *edit {
            Edit::Op(node, op) => with_op(dag, node, op),
            Edit::Edges(gone, new) => {
                let left = Dag::new(ops(), dag.edges().filter(|&edge| Some(edge) != gone).chain(new)).ok()?;
                self.connected(left)?
            }
            Edit::Insert(op, from, to) => {
                let n = dag.n_nodes();
                let edges = from.map(|from| (from, n)).into_iter().chain(to.map(|to| (n, to)));
                Dag::new(ops().into_iter().chain([op]).collect(), dag.edges().chain(edges)).ok()?
            }
            Edit::Split(op, split) => {
                let n = dag.n_nodes();
                let edges = dag.edges().filter(|&edge| edge != split).chain([(split.0, n), (n, split.1)]);
                Dag::new(ops().into_iter().chain([op]).collect(), edges).ok()?
            }
            Edit::Remove(node, join) => self.connected(without(dag, node, join)?)?,
        };
        let whole = self.spec.add_ends(&edited);
        self.spec.is_valid(&whole).then_some(whole)
    }

    /// Without the nodes that no path leads to from a real input, or from which none leads to a real output, if the rule wants paths.
    fn connected(&self, dag: Dag) -> Option<Dag> {
        let wants_paths = matches!(self.spec.validity, Validity::Chain | Validity::InputToOutput);
        let real = |op: Option<Op>, added: bool| op.filter(|_| wants_paths && !added);
        let input = real(self.spec.input, self.spec.added.input);
        let output = real(self.spec.output, self.spec.added.output);
        let order = petgraph::algo::toposort(dag.graph(), None).expect("a DAG");
        let mut keep = vec![true; dag.n_nodes()];
        if let Some(input) = input {
            for node in order.iter().map(|node| node.index()) {
                keep[node] = dag.op(node) == input || dag.predecessors(node).any(|before| keep[before]);
            }
        }
        if let Some(output) = output {
            let mut leads = vec![false; dag.n_nodes()];
            for node in order.iter().rev().map(|node| node.index()) {
                leads[node] = dag.op(node) == output || dag.successors(node).any(|after| leads[after]);
                keep[node] &= leads[node];
            }
        }
        if keep.iter().all(|&kept| kept) { Some(dag) } else { kept_of(&dag, &keep) }
    }
}

/// The edge added, or taken away if it is there.
fn flipped(dag: &Dag, pair: (usize, usize)) -> Edit {
    if dag.has_edge(pair.0, pair.1) { Edit::Edges(Some(pair), None) } else { Edit::Edges(None, Some(pair)) }
}

/// The edge from another source, or the other way round if that is its own target.
fn turned(dag: &Dag, (from, to): (usize, usize), source: usize) -> Option<Edit> {
    let new = if source == to { (to, from) } else { (source, to) };
    (source != from && !dag.has_edge(new.0, new.1)).then_some(Edit::Edges(Some((from, to)), Some(new)))
}

/// Without a node; joined, its predecessors feed its successors.
fn without(dag: &Dag, node: usize, join: bool) -> Option<Dag> {
    let keep: Vec<bool> = (0..dag.n_nodes()).map(|other| other != node).collect();
    if !join {
        return kept_of(dag, &keep);
    }
    let bridges = dag.predecessors(node).flat_map(|from| dag.successors(node).map(move |to| (from, to)));
    let new: Vec<_> = bridges.filter(|&(from, to)| !dag.has_edge(from, to)).collect();
    kept_of(&Dag::new(dag.ops().collect(), dag.edges().chain(new)).ok()?, &keep)
}

fn kept_of(dag: &Dag, keep: &[bool]) -> Option<Dag> {
    let kept: Vec<usize> = (0..dag.n_nodes()).filter(|&node| keep[node]).collect();
    let mut place = vec![None; dag.n_nodes()];
    kept.iter().enumerate().for_each(|(index, &node)| place[node] = Some(index));
    let edges: Vec<_> = dag.edges().filter_map(|(from, to)| place[from].zip(place[to])).collect();
    Dag::new(kept.iter().map(|&node| dag.op(node)).collect(), edges).ok()
}
