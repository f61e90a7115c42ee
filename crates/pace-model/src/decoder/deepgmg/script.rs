//! [`Script`]: the decisions of teacher forcing, all graphs of a batch in step.
//!
//! The k-th round is the k-th decision of every graph that has one, whatever node that decision is about. Graphs of equal size
//! take about as many decisions, so hardly a round is short, and no graph waits for another.

use burn::tensor::{Device, Int, Tensor};

use super::NEVER;
use crate::batch::{DagBatch, floats, ints};
use crate::layers::{EdgeList, Segments};

/// One round: A graphs of R nodes so far.
pub(super) struct Round {
    /// Where the rows stand among the rows of the round before, followed by its new nodes, `[R]`.
    pub inputs: Tensor<1, Int>,
    /// The edges so far, in both directions.
    pub edges: EdgeList,
    /// How many predecessors each row has so far.
    pub along: Vec<usize>,
    /// Which rows belong to which graph, R to A.
    pub graphs: Segments,
    /// The graphs that get a node now; `None` if there are none.
    pub grown: Option<Grown>,
}

/// O of the graphs get a node.
pub(super) struct Grown {
    /// Their rows.
    pub rows: Tensor<1, Int>,
    /// Which of these belong to which of them.
    pub graphs: Segments,
    /// The operations of the new nodes, `[O]`.
    pub ops: Tensor<1, Int>,
}

/// Q decisions of one kind. Rows and states are numbered through all rounds.
pub(super) struct Decisions<D> {
    /// What each asks about.
    about: D,
    /// The graph of each.
    graphs: Segments,
}

impl<D> Decisions<D> {
    /// Sums over the decisions of each graph. Shapes: `[Q]` -> `[B]`.
    pub fn by_graph(&self, nll: Tensor<1>) -> Tensor<1> {
        let [decisions] = nll.dims();
        self.graphs.sum(nll.reshape([decisions, 1])).squeeze_dim(1)
    }
}

impl<D> std::ops::Deref for Decisions<D> {
    type Target = D;

    fn deref(&self) -> &D {
        &self.about
    }
}

/// Which operation the next node has.
pub(super) struct Ops {
    /// `[Q]`.
    pub states: Tensor<1, Int>,
    /// `[Q]`.
    pub truth: Tensor<1, Int>,
}

/// Whether the new node gets another edge.
pub(super) struct Another {
    /// `[Q]`.
    pub states: Tensor<1, Int>,
    /// The rows of the new nodes, `[Q]`.
    pub nodes: Tensor<1, Int>,
    /// 1 or 0, `[Q]`.
    pub truth: Tensor<1>,
}

/// Which source the edge has.
pub(super) struct Picks {
    /// The rows of the sources, K for each decision, `[Q*K]`.
    pub sources: Tensor<1, Int>,
    /// 0 for sources that can be picked, [Q, K].
    pub barred: Tensor<2>,
    /// `[Q]`.
    pub truth: Tensor<1, Int>,
}

/// All rounds, and what is decided in them.
pub(super) struct Script {
    pub rounds: Vec<Round>,
    pub ops: Decisions<Ops>,
    /// `None` if no graph has two real nodes.
    pub another: Option<Decisions<Another>>,
    /// `None` if there is no edge between real nodes.
    pub picks: Option<Decisions<Picks>>,
}

/// A decision of one graph.
#[derive(Clone, Copy)]
struct Decision {
    /// The position it is about.
    node: usize,
    /// How many edges the node has so far; `None` if its operation is asked for.
    picked: Option<usize>,
}

impl Decision {
    /// Positions that exist.
    fn n_rows(self) -> usize {
        self.node + usize::from(self.picked.is_some())
    }
}

/// What is known about one graph.
struct Graph {
    /// Predecessors of each position, the newest first, the start symbol among them.
    sources: Vec<Vec<usize>>,
    decisions: Vec<Decision>,
}

impl Graph {
    fn new(edges: &[f32], n: usize, length: usize) -> Graph {
        let sources_of = |node: usize| (0..node).rev().filter(|source| edges[node * n + source] != 0.0).collect();
        let sources: Vec<Vec<usize>> = (0..length).map(sources_of).collect();
        let decisions = (1..length).flat_map(|node| {
            // The first real node has nothing to read.
            let n_asked = if node == 1 { 0 } else { 1 + real(&sources[node]).len() };
            std::iter::once(None).chain((0..n_asked).map(Some)).map(move |picked| Decision { node, picked })
        });
        Graph { decisions: decisions.collect(), sources }
    }

    /// The edges that exist at a decision.
    fn edges(&self, decision: Decision) -> impl Iterator<Item = (usize, usize)> {
        (1..decision.n_rows()).flat_map(move |target| {
            let sources = match decision.picked {
                Some(picked) if target == decision.node => &self.sources[target][..picked],
                _ => &self.sources[target],
            };
            sources.iter().map(move |&source| (source, target))
        })
    }
}

/// Sources without the start symbol.
fn real(sources: &[usize]) -> &[usize] {
    // It comes last, if at all.
    sources.strip_suffix(&[0]).unwrap_or(sources)
}

/// A decision about an operation.
struct OpAsked {
    graph: u32,
    state: i32,
    op: i32,
}

/// A decision about another edge of the node in row `node`.
struct EdgeAsked {
    graph: u32,
    state: i32,
    node: i32,
    yes: bool,
}

/// A decision about its source.
struct SourceAsked {
    graph: u32,
    /// The row of each, and whether it can be picked.
    sources: Vec<(i32, bool)>,
    picked: i32,
}

/// A script while it is written, round after round.
#[derive(Default)]
struct Writer {
    /// Of each graph: where its rows stand in the last round, its new node included.
    rows_of: Vec<Vec<i32>>,
    /// Rows and states of all rounds before.
    n_rows: usize,
    n_states: usize,
    ops: Vec<OpAsked>,
    edges: Vec<EdgeAsked>,
    sources: Vec<SourceAsked>,
}

impl Script {
    /// The decisions that make the graphs of a batch.
    pub fn new(batch: &DagBatch) -> Script {
        let ([b, n], device) = (batch.dims(), batch.device());
        let edges = batch.edges().into_data().convert::<f32>().try_to_vec::<f32>().expect("converted to f32");
        let graph = |(edges, &length): (&[f32], &usize)| Graph::new(edges, n, length);
        let graphs: Vec<Graph> = edges.chunks_exact(n * n).zip(&batch.lengths).map(graph).collect();
        let n_rounds = graphs.iter().map(|graph| graph.decisions.len()).max().unwrap_or(0);
        // At first there are the start symbols.
        let mut writer = Writer { rows_of: (0..b as i32).map(|graph| vec![graph]).collect(), ..Writer::default() };
        let rounds = (0..n_rounds).map(|number| writer.round(number, &graphs, batch)).collect();
        writer.finish(rounds, b, &device)
    }
}

impl Writer {
    fn round(&mut self, number: usize, graphs: &[Graph], batch: &DagBatch) -> Round {
        let ([_, n], device) = (batch.dims(), batch.device());
        let (mut inputs, mut pairs, mut along) = (Vec::new(), Vec::new(), Vec::new());
        let (mut members, mut n_active) = (Vec::new(), 0);
        let (mut grown, mut grown_rows, mut grown_members, mut grown_ops) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (index, graph) in graphs.iter().enumerate() {
            let Some(&decision) = graph.decisions.get(number) else { continue };
            let (first, end) = (inputs.len(), inputs.len() + decision.n_rows());
            inputs.append(&mut self.rows_of[index]);
            self.rows_of[index] = (first..end).map(|row| row as i32).collect();
            along.resize(end, 0);
            for (source, target) in graph.edges(decision) {
                pairs.extend([(first + source, first + target), (first + target, first + source)]);
                along[first + target] += 1;
            }
            members.resize(end, n_active as u32);
            let state = (self.n_states + n_active) as i32;
            n_active += 1;
            let Some(picked) = decision.picked else {
                let op = i32::from(batch.host_tokens[index * n + decision.node]);
                self.ops.push(OpAsked { graph: index as u32, state, op });
                if number + 1 < graph.decisions.len() {
                    grown_rows.extend_from_slice(&self.rows_of[index]);
                    grown_members.resize(grown_rows.len(), grown.len() as u32);
                    grown_ops.push(op);
                    grown.push(index);
                }
                continue;
            };
            let sources = real(&graph.sources[decision.node]);
            let row = |position: usize| (self.n_rows + first + position) as i32;
            // If all are picked, there is nothing to decide.
            if picked + 1 < decision.node {
                let (node, yes) = (row(decision.node), picked < sources.len());
                self.edges.push(EdgeAsked { graph: index as u32, state, node, yes });
            }
            if let Some(&source) = sources.get(picked) {
                let asked = |other: usize| (row(other), !sources[..picked].contains(&other));
                let (sources, picked) = ((1..decision.node).map(asked).collect(), source as i32 - 1);
                self.sources.push(SourceAsked { graph: index as u32, sources, picked });
            }
        }
        // New nodes follow the rows.
        let n_rows = inputs.len();
        grown.iter().enumerate().for_each(|(place, &index)| self.rows_of[index].push((n_rows + place) as i32));
        self.n_rows += n_rows;
        self.n_states += n_active;
        Round {
            inputs: indices(inputs, &device),
            edges: EdgeList::new(pairs, n_rows, &device),
            along,
            graphs: Segments::new(members, n_active, &device),
            grown: (!grown.is_empty()).then(|| Grown {
                rows: indices(grown_rows, &device),
                graphs: Segments::new(grown_members, grown.len(), &device),
                ops: indices(grown_ops, &device),
            }),
        }
    }

    fn finish(self, rounds: Vec<Round>, b: usize, device: &Device) -> Script {
        let by = |graphs: Vec<u32>| Segments::new(graphs, b, device);
        let Writer { ops, edges, sources, .. } = self;
        let ops = Decisions {
            about: Ops {
                states: indices(ops.iter().map(|asked| asked.state).collect(), device),
                truth: indices(ops.iter().map(|asked| asked.op).collect(), device),
            },
            graphs: by(ops.iter().map(|asked| asked.graph).collect()),
        };
        let another = (!edges.is_empty()).then(|| {
            let truth = edges.iter().map(|asked| if asked.yes { 1.0 } else { 0.0 }).collect();
            let about = Another {
                states: indices(edges.iter().map(|asked| asked.state).collect(), device),
                nodes: indices(edges.iter().map(|asked| asked.node).collect(), device),
                truth: floats(truth, [edges.len()], device),
            };
            Decisions { about, graphs: by(edges.iter().map(|asked| asked.graph).collect()) }
        });
        let picks = (!sources.is_empty()).then(|| {
            let width = sources.iter().map(|asked| asked.sources.len()).max().unwrap_or(0);
            let (mut rows, mut barred) = (vec![0; sources.len() * width], vec![NEVER; sources.len() * width]);
            for (pick, asked) in sources.iter().enumerate() {
                for (place, &(row, free)) in asked.sources.iter().enumerate() {
                    rows[pick * width + place] = row;
                    barred[pick * width + place] = if free { 0.0 } else { NEVER };
                }
            }
            let about = Picks {
                sources: indices(rows, device),
                barred: floats(barred, [sources.len(), width], device),
                truth: indices(sources.iter().map(|asked| asked.picked).collect(), device),
            };
            Decisions { about, graphs: by(sources.iter().map(|asked| asked.graph).collect()) }
        });
        Script { rounds, ops, another, picks }
    }
}

fn indices(values: Vec<i32>, device: &Device) -> Tensor<1, Int> {
    let count = values.len();
    ints(values, [count], device)
}
