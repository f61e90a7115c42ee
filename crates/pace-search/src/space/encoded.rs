//! [`Encoded`]: a space of graphs with an encoder, for a search that proposes graphs and not vectors.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use faer::{Mat, MatRef};
use pace_graph::{Dag, GraphKey};
use rand::Rng;

use super::{Criterion, Embedded, Encode, Space, Taken};
use crate::Matrix;
use crate::candidate::Candidate;
use crate::error::Error;

/// The number of random graphs among which a proposal chooses.
const N_DRAWN: usize = 1000;
/// The number of vectors that are kept. More cost more memory than they save time.
const N_KEPT: usize = 200_000;

/// Any space, with the vectors that an encoder gives its graphs.
///
/// Nothing has to be encoded beforehand, so the space may be too large to list, and nothing has to be decoded. The encoder
/// need not be learnt: one-hot features are an encoder, too. Use it with
/// [`Reach::Edits`](crate::strategy::Reach::Edits); a proposal without edits chooses among random graphs.
///
/// The vectors of isomorphic graphs are taken to be equal, and are computed once.
pub struct Encoded<'a> {
    space: &'a dyn Space,
    encoder: &'a dyn Encode,
    kept: Mutex<HashMap<GraphKey, Vec<f64>>>,
}

impl<'a> Encoded<'a> {
    /// A space and an encoder of its graphs.
    pub fn new(space: &'a dyn Space, encoder: &'a dyn Encode) -> Encoded<'a> {
        Encoded { space, encoder, kept: Mutex::default() }
    }

    /// The vectors of graphs. Those that were not asked for before are encoded in one batch.
    fn encode(&self, dags: &[&Dag]) -> Vec<Vec<f64>> {
        let keys: Vec<GraphKey> = dags.iter().map(|dag| GraphKey::of(dag)).collect();
        let mut found: Vec<Option<Vec<f64>>> = {
            let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            keys.iter().map(|key| kept.get(key).cloned()).collect()
        };
        let mut missing: HashMap<&GraphKey, usize> = HashMap::new();
        let mut new: Vec<Dag> = Vec::new();
        for index in (0..dags.len()).filter(|&index| found[index].is_none()) {
            missing.entry(&keys[index]).or_insert_with(|| {
                new.push(dags[index].clone());
                new.len() - 1
            });
        }
        if !new.is_empty() {
            let vectors = self.encoder.encode(&new);
            assert_eq!(vectors.nrows(), new.len(), "an encoder gives each graph a vector");
            let vector = |row: usize| vectors.row(row).iter().copied().collect::<Vec<f64>>();
            for (key, found) in keys.iter().zip(&mut found).filter(|(_, found)| found.is_none()) {
                *found = Some(vector(missing[key]));
            }
            let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            if kept.len() + new.len() > N_KEPT {
                kept.clear();
            }
            kept.extend(missing.into_iter().map(|(key, row)| (key.clone(), vector(row))));
        }
        found.into_iter().map(|vector| vector.expect("every graph was encoded")).collect()
    }
}

impl Space for Encoded<'_> {
    fn sample(&self, n: usize, taken: &Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        self.space.sample(n, taken, rng)
    }

    fn admit(&self, dag: Dag) -> Option<Candidate> {
        self.space.admit(dag)
    }
}

impl Embedded for Encoded<'_> {
    fn vectors(&self, candidates: &[&Candidate]) -> Result<Matrix, Error> {
        let rows = self.encode(&candidates.iter().map(|candidate| &candidate.dag).collect::<Vec<_>>());
        let width = rows.first().map_or(0, Vec::len);
        Ok(Mat::from_fn(rows.len(), width, |row, column| rows[row][column]))
    }

    fn propose(
        &self,
        n: usize,
        taken: &Taken<'_>,
        _near: MatRef<'_, f64>,
        criterion: &mut dyn Criterion,
        rng: &mut dyn Rng,
    ) -> Result<Vec<Candidate>, Error> {
        crate::space::choose(n, self.space.sample(N_DRAWN.max(n), taken, rng), self, criterion)
    }

    /// Nearness in an open space takes edits: see [`Reach::Edits`](crate::strategy::Reach::Edits).
    fn nearest(&self, _of: &Candidate, _n: usize, _taken: &Taken<'_>) -> Result<Vec<Candidate>, Error> {
        Ok(Vec::new())
    }
}
