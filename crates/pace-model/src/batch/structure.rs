//! [`Structure`]: what an encoder wants to know about its graphs beyond what PACE reads.

use pace_graph::structure::{Laplacian, Paths};
use serde::{Deserialize, Serialize};

/// A request for structure. A table computes what its layout requests, and nothing else.
///
/// ```
/// use pace_graph::DagSpec;
/// use pace_graph::structure::Paths;
/// use pace_model::{DagTable, Layout, Structure, device::device};
///
/// let spec = DagSpec::na();
/// let structure = Structure::NONE.degrees(8).distances(Paths::Undirected, 5);
/// let layout = Layout { structure, ..Layout::plain(&spec) };
/// let dag = spec.parse("input conv3x3 max_pool3x3 output : 0>1 1>2 0>2 2>3")?;
/// let batch = DagTable::new(&[dag], &layout).whole(&device("")?);
/// assert_eq!(batch.distances().dims(), [1, 4, 4]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct Structure {
    /// In- and out-degrees, see [`DagBatch::degrees`](crate::DagBatch::degrees). Larger ones count as this.
    pub degrees: Option<u32>,
    /// Lengths of shortest paths, see [`DagBatch::distances`](crate::DagBatch::distances).
    pub distances: Option<Distances>,
    /// Eigenvectors of the Laplacian, see [`DagBatch::spectrum`](crate::DagBatch::spectrum).
    pub spectrum: Option<Eigenvectors>,
    /// Topological levels, see [`DagBatch::levels`](crate::DagBatch::levels).
    pub levels: bool,
    /// Lists of predecessors and successors, see [`DagBatch::edge_list`](crate::DagBatch::edge_list).
    pub edge_lists: bool,
    /// The subgraphs around the nodes, see [`DagBatch::rooted_features`](crate::DagBatch::rooted_features).
    pub rooted: Option<Rooted>,
}

/// Which distances are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Distances {
    /// Along the edges, or in both directions.
    pub paths: Paths,
    /// Nodes further apart count as unconnected.
    pub cap: u32,
}

/// Which eigenvectors are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Eigenvectors {
    /// Of which Laplacian.
    pub laplacian: Laplacian,
    /// How many, K: those of the smallest eigenvalues, the zeros included.
    pub count: usize,
}

/// Which subgraphs are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Rooted {
    /// Of the nodes up to so many hops from the root.
    pub height: u32,
    /// How many nodes they have at most, N: as many as a graph.
    pub n_nodes: usize,
}

impl Structure {
    /// Nothing.
    pub const NONE: Structure =
        Structure { degrees: None, distances: None, spectrum: None, levels: false, edge_lists: false, rooted: None };

    /// The same with degrees up to `cap`.
    pub fn degrees(self, cap: u32) -> Structure {
        Structure { degrees: Some(cap), ..self }
    }

    /// The same with distances up to `cap`.
    pub fn distances(self, paths: Paths, cap: u32) -> Structure {
        Structure { distances: Some(Distances { paths, cap }), ..self }
    }

    /// The same with the first `count` eigenvectors.
    pub fn spectrum(self, laplacian: Laplacian, count: usize) -> Structure {
        Structure { spectrum: Some(Eigenvectors { laplacian, count }), ..self }
    }

    /// The same with topological levels.
    pub fn levels(self) -> Structure {
        Structure { levels: true, ..self }
    }

    /// The same with lists of predecessors and successors.
    pub fn edge_lists(self) -> Structure {
        Structure { edge_lists: true, ..self }
    }

    /// The same with the subgraphs up to `height` hops around the nodes of graphs of at most `n_nodes`.
    pub fn rooted(self, height: u32, n_nodes: usize) -> Structure {
        Structure { rooted: Some(Rooted { height, n_nodes }), ..self }
    }

    /// What either of two requests wants: an encoder's and its decoder's.
    ///
    /// # Panics
    /// If both want the same thing in two ways.
    pub fn and(self, other: Structure) -> Structure {
        Structure {
            degrees: one_of("degrees", self.degrees, other.degrees),
            distances: one_of("distances", self.distances, other.distances),
            spectrum: one_of("spectrum", self.spectrum, other.spectrum),
            levels: self.levels || other.levels,
            edge_lists: self.edge_lists || other.edge_lists,
            rooted: one_of("rooted", self.rooted, other.rooted),
        }
    }

    /// Whether this request includes all of another.
    pub fn includes(&self, other: &Structure) -> bool {
        fn has<T: PartialEq>(own: &Option<T>, other: &Option<T>) -> bool {
            other.is_none() || own == other
        }
        has(&self.degrees, &other.degrees)
            && has(&self.distances, &other.distances)
            && has(&self.spectrum, &other.spectrum)
            && (self.levels || !other.levels)
            && (self.edge_lists || !other.edge_lists)
            && has(&self.rooted, &other.rooted)
    }
}

fn one_of<T: PartialEq + std::fmt::Debug>(field: &str, one: Option<T>, other: Option<T>) -> Option<T> {
    match (one, other) {
        (Some(one), Some(other)) => {
            assert!(one == other, "encoder and decoder want different {field}: {one:?} and {other:?}; make them equal");
            Some(one)
        }
        (one, other) => one.or(other),
    }
}
