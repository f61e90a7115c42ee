//! [`Cpdag`]: the equivalence class of a structure.

use super::dag::Structure;

/// How two variables are linked in a [`Cpdag`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// Not at all.
    None,
    /// An arc that every member of the class has.
    Arc,
    /// The arc of the other direction.
    Reverse,
    /// An edge: members of the class have either arc.
    Edge,
}

/// A completed partially directed acyclic graph: what all structures of one Markov equivalence class have in common
/// (Chickering 1995).
///
/// Two structures are equivalent if and only if their CPDAGs are equal; no data tells them apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpdag {
    n_variables: usize,
    /// Sorted pairs from, to.
    arcs: Vec<(u16, u16)>,
    /// Sorted pairs, the lesser first.
    edges: Vec<(u16, u16)>,
}

impl Cpdag {
    /// The class of a structure, by Chickering's labelling of arcs in topological order. O(arcs * parents).
    pub fn of(structure: &Structure) -> Cpdag {
        let n_variables = structure.n_variables();
        let order = structure.order();
        let mut place = vec![0; n_variables];
        order.iter().enumerate().for_each(|(at, &variable)| place[usize::from(variable)] = at);
        let at = |variable: u16| place[usize::from(variable)];
        // compelled[y][i]: what is known of the arc from the i-th parent of y.
        let mut compelled: Vec<Vec<Option<bool>>> =
            (0..n_variables).map(|y| vec![None; structure.parents(y as u16).len()]).collect();
        for &y in &order {
            let parents = structure.parents(y);
            // The parents from last to first in topological order: arcs in the order of Chickering's Order-Edges.
            let mut by_place: Vec<usize> = (0..parents.len()).collect();
            by_place.sort_by_key(|&index| std::cmp::Reverse(at(parents[index])));
            for index in by_place {
                if compelled[usize::from(y)][index].is_some() {
                    continue;
                }
                let x = parents[index];
                let mut is_done = false;
                for (&w, label) in structure.parents(x).iter().zip(compelled[usize::from(x)].clone()) {
                    if label != Some(true) {
                        continue;
                    }
                    match parents.binary_search(&w) {
                        Ok(of_w) => compelled[usize::from(y)][of_w] = Some(true),
                        Err(_) => {
                            compelled[usize::from(y)].fill(Some(true));
                            is_done = true;
                            break;
                        }
                    }
                }
                if is_done {
                    break;
                }
                let is_collider = parents.iter().any(|&z| z != x && !structure.has_arc(z, x));
                let unknown = compelled[usize::from(y)].iter_mut().filter(|label| label.is_none());
                unknown.for_each(|label| *label = Some(is_collider));
            }
        }
        let (mut arcs, mut edges) = (Vec::new(), Vec::new());
        for (y, labels) in compelled.iter().enumerate() {
            let y = y as u16;
            for (&x, label) in structure.parents(y).iter().zip(labels) {
                match label {
                    Some(true) => arcs.push((x, y)),
                    _ => edges.push((x.min(y), x.max(y))),
                }
            }
        }
        arcs.sort_unstable();
        edges.sort_unstable();
        Cpdag { n_variables, arcs, edges }
    }

    /// The number of variables.
    pub fn n_variables(&self) -> usize {
        self.n_variables
    }

    /// The arcs that all members have, sorted.
    pub fn arcs(&self) -> &[(u16, u16)] {
        &self.arcs
    }

    /// The pairs that members link in either direction, sorted, the lesser variable first.
    pub fn edges(&self) -> &[(u16, u16)] {
        &self.edges
    }

    /// How two variables are linked, seen from `a`.
    pub fn link(&self, a: u16, b: u16) -> Link {
        if self.arcs.binary_search(&(a, b)).is_ok() {
            Link::Arc
        } else if self.arcs.binary_search(&(b, a)).is_ok() {
            Link::Reverse
        } else if self.edges.binary_search(&(a.min(b), a.max(b))).is_ok() {
            Link::Edge
        } else {
            Link::None
        }
    }

    /// All linked pairs, the lesser variable first, sorted.
    pub fn pairs(&self) -> Vec<(u16, u16)> {
        let arcs = self.arcs.iter().map(|&(a, b)| (a.min(b), a.max(b)));
        let mut pairs: Vec<(u16, u16)> = arcs.chain(self.edges.iter().copied()).collect();
        pairs.sort_unstable();
        pairs
    }
}
