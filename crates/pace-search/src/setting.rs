//! [`Setting`]: the space of a search, and [`Edits`]: the graphs one edit away from a graph.

use pace_graph::Dag;
use pace_graph::enumerate::Mutate;
use rand::Rng;

use crate::candidate::Candidate;
use crate::error::Error;
use crate::known::Known;
use crate::space::{Embedded, Space};
use crate::taken::Taken;

/// The space of a search, with what strategies may need beyond it.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// The graphs that may be asked about.
    pub space: &'a dyn Space,
    /// The same space with vectors, for strategies that learn.
    pub embedded: Option<&'a dyn Embedded>,
    /// Small changes of graphs, for strategies that edit.
    pub mutate: Option<&'a dyn Mutate>,
    /// Scores from before the search, from which every strategy starts.
    pub known: Option<&'a Known>,
}

impl<'a> Setting<'a> {
    /// A space without anything else.
    pub fn new(space: &'a dyn Space) -> Setting<'a> {
        Setting { space, embedded: None, mutate: None, known: None }
    }

    /// The space with its edits; an error that names the strategy if there are none.
    pub(crate) fn edits(&self, strategy: &'static str) -> Result<Edits<'a>, Error> {
        let mutate = self.mutate.ok_or(Error::Unequipped { strategy, missing: "mutations of the space" })?;
        Ok(Edits { space: self.space, mutate, known: self.known })
    }

    /// The space with its vectors; an error that names the strategy if there are none.
    pub(crate) fn embedded(&self, strategy: &'static str) -> Result<&'a dyn Embedded, Error> {
        self.embedded.ok_or(Error::Unequipped { strategy, missing: "a space with vectors" })
    }
}

/// A space, and small changes of its graphs.
#[derive(Clone, Copy)]
pub(crate) struct Edits<'a> {
    /// The graphs that may be asked about.
    pub(crate) space: &'a dyn Space,
    /// The changes.
    pub(crate) mutate: &'a dyn Mutate,
    /// Scores from before the search.
    pub(crate) known: Option<&'a Known>,
}

impl<'a> Edits<'a> {
    /// Graphs with scores from before the search, best first.
    pub(crate) fn known(&self) -> &'a [(Dag, f64)] {
        self.known.map_or(&[], Known::graphs)
    }

    /// An edited graph as a candidate, marked as taken. `None` if it is outside the space or was taken before.
    pub(crate) fn fresh(&self, dag: Dag, taken: &mut Taken<'_>) -> Option<Candidate> {
        self.space.admit(dag).filter(|candidate| taken.insert(candidate))
    }

    /// Up to `n` random graphs two edits away from the given ones that are in the space and not taken, marked as taken.
    pub(crate) fn twice(&self, dags: &[&Dag], n: usize, taken: &mut Taken<'_>, rng: &mut dyn Rng) -> Vec<Candidate> {
        let n_centres = dags.len().max(1);
        let edited = (0..if dags.is_empty() { 0 } else { n }).map(|index| {
            let once = self.mutate.mutate(dags[index % n_centres], rng);
            self.mutate.mutate(&once, rng)
        });
        let edited: Vec<Dag> = edited.collect();
        edited.into_iter().filter_map(|dag| self.fresh(dag, taken)).collect()
    }

    /// The graphs one edit away from the given ones that are in the space and not taken, marked as taken.
    pub(crate) fn around<'d>(&self, dags: impl IntoIterator<Item = &'d Dag>, taken: &mut Taken<'_>) -> Vec<Candidate> {
        let edited = dags.into_iter().flat_map(|dag| self.mutate.neighbours(dag));
        edited.filter_map(|dag| self.fresh(dag, taken)).collect()
    }
}
