//! Strongly connected components of the graph of possible parents.

use super::candidates::Candidates;

/// The components, each sorted, by their first variables. Variables of different components lie on no common cycle, whatever
/// families are chosen.
///
/// Kosaraju's algorithm without recursion: O(variables + possible arcs).
pub(super) fn components(candidates: &Candidates) -> Vec<Vec<u16>> {
    let n = candidates.n_variables();
    let mut parents: Vec<Vec<usize>> = vec![Vec::new(); n];
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (child, families) in candidates.variables().enumerate() {
        let mut possible: Vec<usize> =
            families.iter().flat_map(|family| family.parents.iter().map(|&parent| parent.into())).collect();
        possible.sort_unstable();
        possible.dedup();
        possible.iter().for_each(|&parent| children[parent].push(child));
        parents[child] = possible;
    }
    let mut seen = vec![false; n];
    let mut finished = Vec::with_capacity(n);
    (0..n).for_each(|start| visit(start, &children, &mut seen, &mut finished));
    let mut seen = vec![false; n];
    let mut found = Vec::new();
    for &start in finished.iter().rev() {
        let mut component = Vec::new();
        visit(start, &parents, &mut seen, &mut component);
        if !component.is_empty() {
            let mut members: Vec<u16> = component.into_iter().map(|variable| variable as u16).collect();
            members.sort_unstable();
            found.push(members);
        }
    }
    found.sort_unstable();
    found
}

/// Walks depth first from `start` to what has not been seen, and lists it in the order in which it is left.
fn visit(start: usize, next: &[Vec<usize>], seen: &mut [bool], left: &mut Vec<usize>) {
    if std::mem::replace(&mut seen[start], true) {
        return;
    }
    let mut path = vec![(start, 0)];
    while let Some((at, index)) = path.last_mut() {
        match next[*at].get(*index) {
            Some(&to) => {
                *index += 1;
                if !std::mem::replace(&mut seen[to], true) {
                    path.push((to, 0));
                }
            }
            None => {
                left.push(*at);
                path.pop();
            }
        }
    }
}
