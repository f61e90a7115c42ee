//! [`Decode`]: from vectors to graphs.

use std::collections::HashMap;

use faer::MatRef;
use pace_graph::{Dag, GraphKey};

/// A decoder from vectors to graphs. Closures implement it.
pub trait Decode: Sync {
    /// Decodes each row of x [N, D] several times; `None` for a draw that is not a valid graph. `seed` determines the draws.
    fn decode(&self, x: MatRef<'_, f64>, seed: u64) -> Vec<Vec<Option<Dag>>>;
}

impl<F: Fn(MatRef<'_, f64>, u64) -> Vec<Vec<Option<Dag>>> + Sync> Decode for F {
    fn decode(&self, x: MatRef<'_, f64>, seed: u64) -> Vec<Vec<Option<Dag>>> {
        self(x, seed)
    }
}

/// The first graph of the most frequent isomorphism class; of equally frequent ones the earliest.
pub(super) fn most_frequent(decodings: Vec<Option<Dag>>) -> Option<Dag> {
    let mut classes: HashMap<GraphKey, (usize, usize)> = HashMap::new();
    for (index, dag) in decodings.iter().enumerate() {
        if let Some(dag) = dag {
            classes.entry(GraphKey::of(dag)).or_insert((0, index)).0 += 1;
        }
    }
    let (_, first) = classes.into_values().max_by_key(|&(count, first)| (count, std::cmp::Reverse(first)))?;
    decodings.into_iter().nth(first).flatten()
}
