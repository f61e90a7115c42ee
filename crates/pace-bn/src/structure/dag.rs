//! [`Structure`]: the arcs of a Bayesian network.

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// A directed acyclic graph: the parents of each variable, sorted.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "Vec<Vec<u16>>", into = "Vec<Vec<u16>>")]
pub struct Structure {
    parents: Vec<Vec<u16>>,
}

impl Structure {
    /// No arcs.
    pub fn empty(n_variables: usize) -> Structure {
        Structure { parents: vec![Vec::new(); n_variables] }
    }

    /// A structure of these parents, in any order.
    ///
    /// # Errors
    /// If a parent is no variable, stands there twice, or the arcs form a cycle.
    pub fn new(mut parents: Vec<Vec<u16>>) -> Result<Structure, Error> {
        let n_variables = parents.len();
        for (variable, parents) in parents.iter_mut().enumerate() {
            parents.sort_unstable();
            let is_twice = parents.windows(2).any(|pair| pair[0] == pair[1]);
            let unknown = parents.iter().find(|&&parent| usize::from(parent) >= n_variables);
            if unknown.is_some() || is_twice {
                return Err(Error::Option {
                    option: "the parents of a variable",
                    value: format!("{parents:?} for variable {variable}"),
                    remedy: format!("give different numbers below {n_variables}"),
                });
            }
        }
        let structure = Structure { parents };
        match structure.topological() {
            Ok(_) => Ok(structure),
            Err(variable) => Err(Error::Cycle { name: variable.to_string() }),
        }
    }

    /// A structure from names: `arcs` lead from parent to child. Names are looked up in `names`, which are sorted.
    ///
    /// # Errors
    /// If a name is unknown or the arcs form a cycle. A double arc counts once.
    pub fn from_arcs<'a>(
        names: &[String],
        arcs: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Structure, Error> {
        let number = |name: &str| {
            names
                .binary_search_by(|known| known.as_str().cmp(name))
                .map_err(|_| Error::UnknownVariable { what: "the table".to_owned(), name: name.to_owned() })
        };
        let mut parents = vec![Vec::new(); names.len()];
        for (from, to) in arcs {
            let (from, to) = (number(from)?, number(to)?);
            parents[to].push(from as u16);
        }
        parents.iter_mut().for_each(|parents: &mut Vec<u16>| {
            parents.sort_unstable();
            parents.dedup();
        });
        let structure = Structure { parents };
        match structure.topological() {
            Ok(_) => Ok(structure),
            Err(variable) => Err(Error::Cycle { name: names[variable].clone() }),
        }
    }

    /// The parents are sorted, in range and without a cycle; that is the caller's knowledge.
    pub(crate) fn trusted(parents: Vec<Vec<u16>>) -> Structure {
        debug_assert!(Structure { parents: parents.clone() }.topological().is_ok(), "a cycle in {parents:?}");
        Structure { parents }
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.parents.len()
    }

    /// The number of arcs.
    pub fn n_arcs(&self) -> usize {
        self.parents.iter().map(Vec::len).sum()
    }

    /// The parents of a variable, sorted.
    pub fn parents(&self, variable: u16) -> &[u16] {
        &self.parents[usize::from(variable)]
    }

    /// Whether `from` is a parent of `to`.
    pub fn has_arc(&self, from: u16, to: u16) -> bool {
        self.parents(to).binary_search(&from).is_ok()
    }

    /// All arcs from parent to child, by child.
    pub fn arcs(&self) -> impl Iterator<Item = (u16, u16)> + '_ {
        let families = self.parents.iter().zip(0..);
        families.flat_map(|(parents, child)| parents.iter().map(move |&parent| (parent, child)))
    }

    /// An order in which parents precede children: the first by number of all that may come next.
    pub fn order(&self) -> Vec<u16> {
        // Construction has checked this.
        self.topological().unwrap_or_default()
    }

    /// The topological order, or a variable on a cycle. O(n^2 + arcs).
    fn topological(&self) -> Result<Vec<u16>, usize> {
        let n_variables = self.n_variables();
        let mut children = vec![Vec::new(); n_variables];
        let mut missing: Vec<usize> = self.parents.iter().map(Vec::len).collect();
        self.arcs().for_each(|(from, to)| children[usize::from(from)].push(to));
        let mut ready: std::collections::BTreeSet<usize> =
            (0..n_variables).filter(|&variable| missing[variable] == 0).collect();
        let mut order = Vec::with_capacity(n_variables);
        while let Some(variable) = ready.pop_first() {
            order.push(variable as u16);
            for &child in &children[variable] {
                let child = usize::from(child);
                missing[child] -= 1;
                if missing[child] == 0 {
                    ready.insert(child);
                }
            }
        }
        if order.len() == n_variables {
            return Ok(order);
        }
        // Every variable that is left has a parent that is left: walking up must run into a cycle.
        let left: Vec<bool> = missing.iter().map(|&missing| missing > 0).collect();
        let mut variable = left.iter().position(|&left| left).unwrap_or_default();
        for _ in 0..n_variables {
            let parent = self.parents[variable].iter().find(|&&parent| left[usize::from(parent)]);
            variable = parent.map_or(variable, |&parent| parent.into());
        }
        Err(variable)
    }
}

impl TryFrom<Vec<Vec<u16>>> for Structure {
    type Error = Error;
    fn try_from(parents: Vec<Vec<u16>>) -> Result<Structure, Error> {
        Structure::new(parents)
    }
}

impl From<Structure> for Vec<Vec<u16>> {
    fn from(structure: Structure) -> Vec<Vec<u16>> {
        structure.parents
    }
}
