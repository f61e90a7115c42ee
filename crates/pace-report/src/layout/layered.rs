//! [`Layered`]: a graph in layers, in which every edge goes to the next layer.

use std::ops::Range;

use pace_graph::Dag;

/// More virtual nodes than this are not made: nobody could follow the edges, and time and memory are bounded.
const MAX_VIRTUAL: usize = 60_000;

/// A graph in layers. Vertices `0..n` are the nodes, those after them are virtual.
pub struct Layered {
    /// The vertices of each layer, from left to right.
    pub layers: Vec<Vec<usize>>,
    /// The neighbours of each vertex in the layer above.
    pub above: Vec<Vec<usize>>,
    /// The neighbours of each vertex in the layer below.
    pub below: Vec<Vec<usize>>,
    /// The place of each vertex in its layer.
    pub places: Vec<usize>,
    ranks: Vec<usize>,
    widths: Vec<f64>,
    chains: Vec<Range<usize>>,
}

impl Layered {
    /// Cuts long edges into pieces. Short edges come first, should there be too many virtual nodes; an edge that gets none is ignored.
    pub fn of(dag: &Dag, ranks: &[usize], widths: &[f64]) -> Layered {
        let n_nodes = dag.n_nodes();
        let n_layers = ranks.iter().max().map_or(0, |&last| last + 1);
        let edges: Vec<(usize, usize)> = dag.edges().collect();
        let mut layered = Layered {
            layers: vec![Vec::new(); n_layers],
            above: vec![Vec::new(); n_nodes],
            below: vec![Vec::new(); n_nodes],
            places: vec![0; n_nodes],
            ranks: ranks.to_vec(),
            widths: widths.to_vec(),
            chains: vec![0..0; edges.len()],
        };
        let length = |&edge: &usize| ranks[edges[edge].1] - ranks[edges[edge].0];
        let mut by_length: Vec<usize> = (0..edges.len()).collect();
        by_length.sort_by_key(length);
        for edge in by_length {
            let first = layered.ranks.len();
            if first - n_nodes + length(&edge) <= MAX_VIRTUAL {
                layered.cut(edges[edge]);
                layered.chains[edge] = first..layered.ranks.len();
            }
        }
        for vertex in 0..layered.ranks.len() {
            let layer = &mut layered.layers[layered.ranks[vertex]];
            layered.places[vertex] = layer.len();
            layer.push(vertex);
        }
        layered
    }

    /// Adds an edge, piece by piece.
    fn cut(&mut self, (from, to): (usize, usize)) {
        let mut last = from;
        for rank in self.ranks[from] + 1..self.ranks[to] {
            let vertex = self.ranks.len();
            self.ranks.push(rank);
            self.places.push(0);
            self.above.push(Vec::new());
            self.below.push(Vec::new());
            self.join(last, vertex);
            last = vertex;
        }
        self.join(last, to);
    }

    fn join(&mut self, upper: usize, lower: usize) {
        self.below[upper].push(lower);
        self.above[lower].push(upper);
    }

    /// The layer of a vertex.
    pub fn layer(&self, vertex: usize) -> usize {
        self.ranks[vertex]
    }

    /// The width of a vertex; virtual ones have none.
    pub fn width(&self, vertex: usize) -> f64 {
        self.widths.get(vertex).copied().unwrap_or(0.0)
    }

    /// Whether a vertex is a bend of an edge rather than a node.
    pub fn is_virtual(&self, vertex: usize) -> bool {
        vertex >= self.widths.len()
    }

    /// The virtual nodes of an edge, from the top.
    pub fn chain(&self, edge: usize) -> Range<usize> {
        self.chains[edge].clone()
    }

    /// Puts the vertices of a layer in this order.
    pub fn set_layer(&mut self, layer: usize, vertices: Vec<usize>) {
        vertices.iter().enumerate().for_each(|(place, &vertex)| self.places[vertex] = place);
        self.layers[layer] = vertices;
    }
}
