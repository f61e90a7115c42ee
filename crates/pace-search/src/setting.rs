//! [`Setting`]: where a search takes place, and [`Edits`]: the graphs next to a graph.

use pace_graph::Dag;
use pace_graph::enumerate::Mutate;

use crate::candidate::Candidate;
use crate::error::Error;
use crate::space::{Embedded, Space};
use crate::taken::Taken;

/// Where a search takes place.
#[derive(Clone, Copy)]
pub struct Setting<'a> {
    /// What may be asked.
    pub space: &'a dyn Space,
    /// The same with vectors, for strategies that learn.
    pub embedded: Option<&'a dyn Embedded>,
    /// Small changes, for strategies that breed.
    pub mutate: Option<&'a dyn Mutate>,
}

impl<'a> Setting<'a> {
    /// The space with its edits; an error that names the strategy if there are none.
    pub(crate) fn edits(&self, strategy: &'static str) -> Result<Edits<'a>, Error> {
        let mutate = self.mutate.ok_or(Error::Unequipped { strategy, missing: "mutations of the space" })?;
        Ok(Edits { space: self.space, mutate })
    }

    /// The space with its vectors; an error that names the strategy if there are none.
    pub(crate) fn embedded(&self, strategy: &'static str) -> Result<&'a dyn Embedded, Error> {
        self.embedded.ok_or(Error::Unequipped { strategy, missing: "a space with vectors" })
    }
}

/// A space, and small changes that lead from one of its graphs to the next.
#[derive(Clone, Copy)]
pub(crate) struct Edits<'a> {
    /// Where the search takes place.
    pub(crate) space: &'a dyn Space,
    /// How graphs change.
    pub(crate) mutate: &'a dyn Mutate,
}

impl Edits<'_> {
    /// An edited graph as a candidate, which is taken now; `None` if it is outside the space or was taken before.
    pub(crate) fn fresh(&self, dag: Dag, taken: &mut Taken<'_>) -> Option<Candidate> {
        self.space.admit(dag).filter(|candidate| taken.insert(candidate))
    }

    /// The fresh graphs one edit away from the given ones, in order.
    pub(crate) fn around<'d>(&self, dags: impl IntoIterator<Item = &'d Dag>, taken: &mut Taken<'_>) -> Vec<Candidate> {
        let edited = dags.into_iter().flat_map(|dag| self.mutate.neighbours(dag));
        edited.filter_map(|dag| self.fresh(dag, taken)).collect()
    }
}
