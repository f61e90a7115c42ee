//! Ordered colour refinement (1-WL): splits cells of look-alike nodes by their neighbours' colours.

use crate::split_mix::{GOLDEN, split_mix};

/// An ordered partition of the nodes, on borrowed buffers so that small graphs stay on the stack.
///
/// `order` lists the nodes cell by cell; the colour of a node is the index at which its cell starts.
pub(super) struct Cells<'a> {
    pub order: &'a mut [u32],
    pub colour: &'a mut [u32],
    pub signature: &'a mut [u64],
}

impl Cells<'_> {
    /// Sorts all nodes by `key` and makes a cell of every run of equal keys; returns how many cells there are.
    pub fn init(&mut self, key: impl Fn(usize) -> u64) -> usize {
        for (node, (order, signature)) in self.order.iter_mut().zip(self.signature.iter_mut()).enumerate() {
            *order = node as u32;
            *signature = key(node);
        }
        self.split(0, self.order.len())
    }

    /// Refines until stable or for `max_rounds`; returns how many cells there are.
    ///
    /// `neighbours` gives a node's signature under the current colours. It must depend on the multiset of the neighbours'
    /// colours only (a sum of hashes does): then the result is the same for isomorphic graphs, and a hash collision
    /// merely leaves two nodes in one cell, which the caller's search then tells apart.
    pub fn refine(
        &mut self,
        mut n_cells: usize,
        max_rounds: usize,
        neighbours: impl Fn(usize, &[u32]) -> u64,
    ) -> usize {
        for _ in 0..max_rounds {
            let before = n_cells;
            let mut start = 0;
            while start < self.order.len() && n_cells < self.order.len() {
                let end = self.cell_end(start);
                if end - start > 1 {
                    for &node in &self.order[start..end] {
                        self.signature[node as usize] = neighbours(node as usize, self.colour);
                    }
                    n_cells += self.split(start, end) - 1;
                }
                start = end;
            }
            if n_cells == before || n_cells == self.order.len() {
                break;
            }
        }
        n_cells
    }

    /// One past the last position of the cell that starts at `start`.
    pub fn cell_end(&self, start: usize) -> usize {
        let in_cell = |&&node: &&u32| self.colour[node as usize] == start as u32;
        start + self.order[start..].iter().take_while(in_cell).count()
    }

    /// Sorts `order[start..end]` by signature and gives every run its colour; returns the number of runs.
    fn split(&mut self, start: usize, end: usize) -> usize {
        let (cell, signature) = (&mut self.order[start..end], &self.signature);
        cell.sort_unstable_by_key(|&node| signature[node as usize]);
        let mut runs = 0;
        let (mut first, mut last) = (start as u32, None);
        for (offset, &node) in cell.iter().enumerate() {
            if last != Some(signature[node as usize]) {
                last = Some(signature[node as usize]);
                first = (start + offset) as u32;
                runs += 1;
            }
            self.colour[node as usize] = first;
        }
        runs
    }
}

/// A 64-bit hash of a colour, to be summed over neighbours.
pub(super) fn mix(colour: u32) -> u64 {
    split_mix((u64::from(colour) + 1).wrapping_mul(GOLDEN))
}
