//! [`BayesianOptimisation`]: learn from what was answered, ask what promises most.

use faer::Mat;
use pace_graph::enumerate::Mutate;
use rand::Rng;
use serde::{Deserialize, Serialize};

use super::belief::Belief;
use super::phase::Phase;
use super::reach::{Reach, choose, edited};
use super::warp::Warp;
use super::{Strategy, round_rng};
use crate::Matrix;
use crate::acquisition::AcquisitionConfig;
use crate::candidate::{Candidate, Origin};
use crate::error::Error;
use crate::history::{Entry, History};
use crate::space::{Criterion, Embedded, Taken};
use crate::surrogate::SurrogateConfig;

/// So many of the best vectors are shown to the space, to look around them.
const N_NEAR: usize = 10;
/// Rounds without improvement before the published loops start over.
const PUBLISHED_PATIENCE: usize = 20;

/// Whose loop it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Protocol {
    /// Nothing is asked twice, batches spread out, a restart keeps what was learnt, and the budget holds.
    Ours,
    /// The loop of the published NAS-Bench-101 results, with its slips: the acquisition is asked about everything, so
    /// queries repeat; scores are not standardised; a restart, after 20 rounds without improvement, forgets all samples;
    /// local search runs after a round is answered, skips the best samples whose score the round has shown, and takes
    /// only the first random queries for visited, so the neighbour of a sample is mostly itself; and the loop runs 1 query
    /// (2 with local search) past its budget.
    Published,
    /// The same of NAS-Bench-301, where local search compares a run time with the number of queries and stops after one
    /// neighbour, and takes nothing for visited.
    PublishedNas301,
}

/// How to learn and to choose.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BayesianOptimisationConfig {
    /// Random queries to begin with; may be 0 where scores are known beforehand.
    pub initial: usize,
    /// What is learnt.
    pub surrogate: SurrogateConfig,
    /// What becomes of the scores before that.
    pub warp: Warp,
    /// What is chosen by.
    pub acquisition: AcquisitionConfig,
    /// What is chosen among; published loops always look at the whole space.
    pub reach: Reach,
    /// Spread batches out by imagining the outcomes of what is chosen already.
    pub fantasies: bool,
    /// DNGO-LS: each round also asks for untried neighbours of the best so far.
    pub local_search: bool,
    /// For how many.
    pub n_neighbours: usize,
    /// Of how many, in turn.
    pub n_centres: usize,
    /// The neighbour that the acquisition wants most among so many nearest ones; 1 is the paper's, the nearest of all. Under
    /// [`Reach::Edits`] neighbours are the graphs one edit away, all of them.
    pub neighbourhood: usize,
    /// Ask `initial` random queries again after so many rounds without improvement.
    pub patience: Option<usize>,
    /// Whose loop.
    pub protocol: Protocol,
}

impl BayesianOptimisationConfig {
    /// The loop of DNGO without local search: 16 random queries, then rounds.
    pub fn new(surrogate: SurrogateConfig, acquisition: AcquisitionConfig) -> BayesianOptimisationConfig {
        BayesianOptimisationConfig {
            initial: 16,
            surrogate,
            warp: Warp::Standardise,
            acquisition,
            reach: Reach::Space,
            fantasies: true,
            local_search: false,
            n_neighbours: 5,
            n_centres: 5,
            neighbourhood: 1,
            patience: None,
            protocol: Protocol::Ours,
        }
    }

    fn is_published(&self) -> bool {
        self.protocol != Protocol::Ours
    }
}

/// Bayesian optimisation over an embedded space.
///
/// Each round fits a new surrogate to the vectors and scores of all answered queries and asks for the `n` best by the
/// acquisition. Failed queries are left out of the fit and not asked again; queries without an answer are imagined to
/// come out as expected.
pub struct BayesianOptimisation<'a> {
    config: BayesianOptimisationConfig,
    space: &'a dyn Embedded,
    seed: u64,
    /// What [`Reach::Edits`] goes by.
    edits: Option<&'a dyn Mutate>,
    /// Vectors [N, D] and scores from before the search.
    known: Option<(Matrix, Vec<f64>)>,
}

impl<'a> BayesianOptimisation<'a> {
    /// A search of this space.
    pub fn new(
        config: BayesianOptimisationConfig,
        space: &'a dyn Embedded,
        seed: u64,
    ) -> Result<BayesianOptimisation<'a>, Error> {
        if config.patience == Some(0) {
            let range = "a restart after every round learns nothing, so it is at least 1";
            return Err(Error::BadSetting { name: "patience", value: "0".to_owned(), range });
        }
        Ok(BayesianOptimisation { config, space, seed, edits: None, known: None })
    }

    /// With the edits that [`Reach::Edits`] needs.
    pub fn with_edits(self, edits: &'a dyn Mutate) -> BayesianOptimisation<'a> {
        BayesianOptimisation { edits: Some(edits), ..self }
    }

    /// Also learns from scores that were known before, such as those of the graphs a VAE was trained on. They cost no
    /// queries.
    pub fn with_known(mut self, vectors: Matrix, scores: Vec<f64>) -> Result<BayesianOptimisation<'a>, Error> {
        if vectors.nrows() != scores.len() {
            return Err(Error::TargetCount { rows: vectors.nrows(), targets: scores.len() });
        }
        self.known = Some((vectors, scores));
        Ok(self)
    }

    fn best_known(&self) -> Option<f64> {
        let scores = self.known.iter().flat_map(|(_, scores)| scores);
        scores.copied().max_by(f64::total_cmp)
    }

    /// Vectors and scores to learn from.
    fn data(&self, entries: &[(&Entry, f64)]) -> Result<(Matrix, Vec<f64>), Error> {
        let candidates: Vec<&Candidate> = entries.iter().map(|(entry, _)| &entry.candidate).collect();
        let (x, y) = (self.space.vectors(&candidates)?, entries.iter().map(|&(_, score)| score));
        let Some((known, scores)) = &self.known else { return Ok((x, y.collect())) };
        let n_known = known.nrows();
        let both = Mat::from_fn(n_known + x.nrows(), known.ncols(), |row, column| {
            if row < n_known { known[(row, column)] } else { x[(row - n_known, column)] }
        });
        // A query worse than all that is known says "not here", and no more: taken at its word, one of them would leave the
        // differences at the top too small to learn.
        let floor = scores.iter().copied().fold(f64::INFINITY, f64::min);
        Ok((both, scores.iter().copied().chain(y.map(|score| score.max(floor))).collect()))
    }

    /// What the acquisition wants most, and the belief behind it, which has imagined the outcomes of all but the last.
    fn guided(
        &self,
        history: &History,
        n: usize,
        phase: Phase,
        taken: &Taken<'_>,
        rng: &mut dyn Rng,
    ) -> Result<(Vec<Candidate>, Option<Belief>), Error> {
        let published = self.config.is_published();
        let since = if published { phase.start } else { 0 };
        let scored: Vec<(&Entry, f64)> = history.scored().filter(|(entry, _)| entry.id >= since).collect();
        if scored.is_empty() && self.known.is_none() {
            return Ok((self.space.sample(n, taken, rng), None));
        }
        let (x, mut y) = self.data(&scored)?;
        let near = best_rows(&x, &y);
        if !published {
            self.config.warp.apply(&mut y);
        }
        let best = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let surrogate = self.config.surrogate.fit(x.as_ref(), &y, rng.next_u64(), &mut |_| {})?;
        let acquisition = self.config.acquisition.build(rng.next_u64());
        let fantasies = self.config.fantasies && !published;
        let mut belief = Belief { surrogate, acquisition, best, fantasies };
        let pending: Vec<&Candidate> = history.pending().map(|entry| &entry.candidate).collect();
        if !pending.is_empty() {
            for row in self.space.vectors(&pending)?.row_iter() {
                belief.imagine(&row.iter().copied().collect::<Vec<f64>>());
            }
        }
        let found = match self.config.reach {
            Reach::Edits { n_centres, n_random } if !published => {
                let mut taken = taken.clone();
                let centres = history.top(n_centres).into_iter().map(|(entry, _)| entry);
                let mut near = self.edited(centres, &mut taken)?;
                near.extend(self.space.sample(n_random, &taken, rng));
                choose(n, near, self.space, &mut belief)?
            }
            _ => self.space.propose(n, taken, near.as_ref(), &mut belief, rng)?,
        };
        if !found.is_empty() {
            return Ok((found, Some(belief)));
        }
        // Where everything promising is known, e.g. all good vectors decode to known graphs, anything new will do.
        let drawn = self.space.sample(n, taken, rng).into_iter();
        let drawn = drawn.map(|candidate| Candidate { origin: Origin::Acquisition, ..candidate }).collect();
        Ok((drawn, Some(belief)))
    }

    /// The untried graphs one edit away from some queries.
    fn edited<'e>(
        &self,
        of: impl IntoIterator<Item = &'e Entry>,
        taken: &mut Taken<'_>,
    ) -> Result<Vec<Candidate>, Error> {
        let missing = "mutations of the space";
        let edits = self.edits.ok_or(Error::Unequipped { strategy: "bayes", missing })?;
        Ok(edited(of.into_iter().map(|entry| &entry.candidate.dag), self.space, edits, taken))
    }

    /// The vector of one query.
    fn vector(&self, candidate: &Candidate) -> Result<Vec<f64>, Error> {
        Ok(self.space.vectors(&[candidate])?.row(0).iter().copied().collect())
    }

    /// Of the given queries in turn, the neighbour that is wanted most among its nearest untried ones, or those one edit away.
    fn neighbours(
        &self,
        of: &[(&Entry, f64)],
        mut taken: Taken<'_>,
        mut belief: Option<Belief>,
    ) -> Result<Vec<Candidate>, Error> {
        let mut found: Vec<Candidate> = Vec::new();
        for (entry, _) in of.iter().cycle().take(self.config.n_neighbours) {
            let mut near = match self.config.reach {
                Reach::Edits { .. } => self.edited([*entry], &mut taken.clone())?,
                Reach::Space => self.space.nearest(&entry.candidate, self.config.neighbourhood, &taken)?,
            };
            if near.is_empty() {
                continue;
            }
            let best = match &belief {
                Some(belief) if near.len() > 1 => {
                    let vectors = self.space.vectors(&near.iter().collect::<Vec<_>>())?;
                    let wanted = belief.score(vectors.as_ref());
                    // Ties go to the nearer one; what is no number is not wanted.
                    let order = |&a: &usize, &b: &usize| wanted[a].total_cmp(&wanted[b]).then(b.cmp(&a));
                    (0..near.len()).filter(|&row| !wanted[row].is_nan()).max_by(order).unwrap_or(0)
                }
                _ => 0,
            };
            let next = Candidate { origin: Origin::Neighbour, ..near.swap_remove(best) };
            if let Some(belief) = &mut belief {
                belief.imagine(&self.vector(&next)?);
            }
            taken.insert(&next);
            found.push(next);
        }
        Ok(found)
    }

    /// The nearest of each of the given queries, up to `n`, whether or not another of them has asked for it.
    fn nearest(&self, of: &[(&Entry, f64)], taken: &Taken<'_>, n: usize) -> Result<Vec<Candidate>, Error> {
        let mut found = Vec::new();
        for (entry, _) in of {
            found.extend(self.space.nearest(&entry.candidate, 1, taken)?);
        }
        found.truncate(n);
        Ok(found)
    }

    /// The half round that the published local search asks once the other half is answered.
    fn published_neighbours(&self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let entries = history.entries();
        let Some(last) = entries.last().filter(|last| last.candidate.origin == Origin::Acquisition) else {
            return Ok(Vec::new());
        };
        let shown: Vec<f64> =
            entries.iter().filter(|entry| entry.round == last.round).filter_map(Entry::score).collect();
        let mut top = history.top(self.config.n_centres);
        top.retain(|(_, score)| !shown.contains(score));
        let mut visited = Taken::default();
        if self.config.protocol == Protocol::Published {
            for entry in entries.iter().filter(|entry| entry.candidate.origin == Origin::Random) {
                visited.insert(&entry.candidate);
            }
        }
        let n = if self.config.protocol == Protocol::PublishedNas301 { 1 } else { n };
        self.nearest(&top, &visited, n)
    }
}

impl Strategy for BayesianOptimisation<'_> {
    fn propose(&mut self, history: &History, n: usize) -> Result<Vec<Candidate>, Error> {
        let (config, published) = (&self.config, self.config.is_published());
        let mut rng = round_rng(self.seed, history);
        let phase = Phase::of(history, self.best_known());
        let mut taken = Taken::by(history);
        if !phase.is_guided && phase.n_random < config.initial {
            return Ok(self.space.sample(config.initial - phase.n_random, &taken, &mut rng));
        }
        if published && config.local_search {
            let found = self.published_neighbours(history, n)?;
            if !found.is_empty() {
                return Ok(found);
            }
        }
        let patience = config.patience.or(published.then_some(PUBLISHED_PATIENCE));
        if patience.is_some_and(|patience| phase.n_stale >= patience) && config.initial > 0 {
            return Ok(self.space.sample(config.initial, &taken, &mut rng));
        }
        if published {
            return Ok(self.guided(history, n, phase, &Taken::default(), &mut rng)?.0);
        }
        let (mut found, mut belief) = self.guided(history, n, phase, &taken, &mut rng)?;
        if config.local_search {
            taken.extend(&found);
            if let (Some(belief), Some(last)) = (&mut belief, found.last()) {
                belief.imagine(&self.vector(last)?);
            }
            found.extend(self.neighbours(&history.top(config.n_centres), taken, belief)?);
        }
        Ok(found)
    }

    fn overrun(&self) -> usize {
        match self.config.protocol {
            Protocol::Ours => 0,
            _ => 1 + usize::from(self.config.local_search),
        }
    }
}

/// The vectors of the highest scores, best first.
fn best_rows(x: &Matrix, y: &[f64]) -> Matrix {
    let mut rows: Vec<usize> = (0..y.len()).collect();
    rows.sort_by(|&a, &b| y[b].total_cmp(&y[a]));
    rows.truncate(N_NEAR);
    Mat::from_fn(rows.len(), x.ncols(), |row, column| x[(rows[row], column)])
}
