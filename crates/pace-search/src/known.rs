//! [`Known`]: graphs whose scores are known before a search.

use std::collections::HashSet;

use pace_graph::{Dag, GraphKey};

/// Graphs with their scores from before a search, such as those that a VAE was trained on. They cost no queries, every
/// strategy starts from them, and none asks for them.
#[derive(Clone, Debug, Default)]
pub struct Known {
    graphs: Vec<(Dag, f64)>,
    keys: HashSet<GraphKey>,
}

impl Known {
    /// These graphs. The order of equal scores is kept.
    pub fn new(mut graphs: Vec<(Dag, f64)>) -> Known {
        graphs.sort_by(|a, b| b.1.total_cmp(&a.1));
        let keys = graphs.iter().map(|(dag, _)| GraphKey::of(dag)).collect();
        Known { graphs, keys }
    }

    /// All of them, best first.
    pub fn graphs(&self) -> &[(Dag, f64)] {
        &self.graphs
    }

    /// The one with the highest score.
    pub fn best(&self) -> Option<&(Dag, f64)> {
        self.graphs.first()
    }

    /// Whether a graph of this isomorphism class is known.
    pub fn contains(&self, key: &GraphKey) -> bool {
        self.keys.contains(key)
    }
}
