//! Layered drawings of DAGs: where each node and each edge goes.
//!
//! The method is that of Sugiyama, Tagawa and Toda (1981), in four steps with a file each:
//!
//! 1. `rank` gives each node a layer, so that edges go down;
//! 2. `layered` cuts an edge over several layers into pieces, with a virtual node on each layer between;
//! 3. `order` orders the nodes of each layer, so that few edges cross (`crossings` counts them);
//! 4. `place` gives each node an x, so that long edges are straight.
//!
//! Everything is computed on the canonical form of the graph. So isomorphic graphs look the same, under any numbering.

mod crossings;
mod layered;
mod order;
mod place;
mod rank;

use pace_graph::{Dag, canonical_order};

use layered::Layered;

/// Sizes that hold for a whole drawing. Widths of nodes are given node by node.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spacing {
    /// Height of every node.
    pub node_height: f64,
    /// Free height between two layers. There is more, up to twice that, where edges go far to the side.
    pub layer_gap: f64,
    /// Free width between two nodes of a layer.
    pub node_gap: f64,
    /// Free width between an edge and its neighbour in a layer.
    pub edge_gap: f64,
}

impl Default for Spacing {
    fn default() -> Spacing {
        Spacing { node_height: 20.0, layer_gap: 18.0, node_gap: 9.0, edge_gap: 8.0 }
    }
}

/// A point of a drawing; y grows downwards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// Where everything goes. All of it lies between 0 and `width`, and between 0 and `height`.
#[derive(Clone, Debug, PartialEq)]
pub struct Layout {
    /// The centre of each node, by the numbers of the graph.
    pub nodes: Vec<Point>,
    /// Each edge, in the order of [`Dag::edges`]: from the lower side of its first node to the upper side of its second.
    /// Points between are centres of layers, which the edge crosses vertically.
    pub edges: Vec<Vec<Point>>,
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
    /// How many pairs of edges cross, if edges were straight from layer to layer.
    pub n_crossings: usize,
}

impl Layout {
    /// Lays out `dag`, whose node `v` is `width(v)` wide. Nodes with the same operation should be equally wide.
    ///
    /// O(s (n + e) log e) for `n` nodes and `e` pieces of edges, and a bounded number `s` of sweeps. The number of virtual nodes is
    /// bounded, too: in a huge and dense graph the longest edges are drawn straight from end to end.
    ///
    /// ```
    /// use pace_report::layout::{Layout, Spacing};
    /// let diamond = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?;
    /// let layout = Layout::of(&diamond, |_| 40.0, &Spacing::default());
    /// assert_eq!((layout.nodes[0].x, layout.n_crossings), (layout.nodes[3].x, 0));
    /// assert!(layout.edges.iter().all(|edge| edge[0].y < edge[1].y));
    /// # Ok::<(), pace_graph::Error>(())
    /// ```
    pub fn of(dag: &Dag, width: impl Fn(usize) -> f64, spacing: &Spacing) -> Layout {
        let order = canonical_order(dag);
        let canonical = dag.relabel(&order);
        let widths: Vec<f64> = order.iter().map(|&node| width(node).max(0.0)).collect();
        let mut layered = Layered::of(&canonical, &rank::ranks(&canonical), &widths);
        let n_crossings = order::reduce(&mut layered);
        let xs = place::place(&layered, spacing);
        let tops = place::tops(&layered, &xs, spacing);
        Drawn { layered: &layered, xs: &xs, tops: &tops, spacing }.layout(dag, &order, &canonical, n_crossings)
    }
}

/// A graph whose coordinates are known, still by canonical numbers.
struct Drawn<'a> {
    layered: &'a Layered,
    xs: &'a [f64],
    tops: &'a [f64],
    spacing: &'a Spacing,
}

impl Drawn<'_> {
    /// The layout by the numbers of `dag`, node `order[i]` of which is node `i` of `canonical`.
    fn layout(&self, dag: &Dag, order: &[usize], canonical: &Dag, n_crossings: usize) -> Layout {
        let ends = |vertex: usize, side: f64| self.xs[vertex] + side * self.layered.width(vertex) / 2.0;
        let vertices = 0..self.xs.len();
        let left = vertices.clone().map(|vertex| ends(vertex, -1.0)).fold(f64::INFINITY, f64::min);
        let right = vertices.map(|vertex| ends(vertex, 1.0)).fold(f64::NEG_INFINITY, f64::max);
        let point = |vertex: usize, side: f64| Point {
            x: self.xs[vertex] - left,
            y: self.tops[self.layered.layer(vertex)] + self.spacing.node_height * (0.5 + side),
        };
        let mut numbers = vec![0; order.len()];
        order.iter().enumerate().for_each(|(number, &node)| numbers[node] = number);
        // Both lists of edges are sorted, each by its own numbers.
        let canonical_edges: Vec<(usize, usize)> = canonical.edges().collect();
        let route = |(from, to): (usize, usize)| {
            let (from, to) = (numbers[from], numbers[to]);
            let edge = canonical_edges.binary_search(&(from, to)).unwrap_or_default();
            let between = self.layered.chain(edge).map(|vertex| point(vertex, 0.0));
            std::iter::once(point(from, 0.5)).chain(between).chain([point(to, -0.5)]).collect()
        };
        Layout {
            nodes: numbers.iter().map(|&number| point(number, 0.0)).collect(),
            edges: dag.edges().map(route).collect(),
            width: right - left,
            height: self.tops.last().copied().unwrap_or(0.0) + self.spacing.node_height,
            n_crossings,
        }
    }
}
