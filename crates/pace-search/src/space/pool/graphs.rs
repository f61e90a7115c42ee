//! [`Graphs`]: the graphs of a pool.

use std::collections::HashMap;

use pace_graph::enumerate::Nas101Space;
use pace_graph::{Dag, GraphKey};
use rayon::iter::{IntoParallelRefIterator, ParallelIterator};

/// A list of graphs that can be searched by graph.
pub trait Graphs: Sync {
    /// How many graphs there are.
    fn n_graphs(&self) -> usize;

    /// The graph of a row.
    fn dag(&self, place: usize) -> Dag;

    /// The row of a graph under any numbering of its nodes; `None` if it is not in the list.
    fn place(&self, dag: &Dag) -> Option<usize>;
}

impl Graphs for Nas101Space {
    fn n_graphs(&self) -> usize {
        self.len()
    }

    fn dag(&self, place: usize) -> Dag {
        self.cell(place)
    }

    fn place(&self, dag: &Dag) -> Option<usize> {
        self.index_of(dag)
    }
}

/// A list of graphs with an index by isomorphism class.
#[derive(Clone, Debug)]
pub struct Listed {
    dags: Vec<Dag>,
    places: HashMap<GraphKey, usize>,
}

impl Listed {
    /// Indexes the list. Of isomorphic graphs the first is found.
    pub fn new(dags: Vec<Dag>) -> Listed {
        let keys: Vec<GraphKey> = dags.par_iter().map(GraphKey::of).collect();
        let mut places = HashMap::with_capacity(keys.len());
        for (place, key) in keys.into_iter().enumerate() {
            places.entry(key).or_insert(place);
        }
        Listed { dags, places }
    }

    /// The graphs, in order.
    pub fn dags(&self) -> &[Dag] {
        &self.dags
    }
}

impl Graphs for Listed {
    fn n_graphs(&self) -> usize {
        self.dags.len()
    }

    fn dag(&self, place: usize) -> Dag {
        self.dags[place].clone()
    }

    fn place(&self, dag: &Dag) -> Option<usize> {
        self.places.get(&GraphKey::of(dag)).copied()
    }
}
