//! [`Distinct`]: the nodes of a batch, each different input once.

use burn::tensor::{Int, Tensor};

use super::layout::Attention;
use super::{DagBatch, ints};
use crate::interner::Interner;
use crate::kernel::Pasts;

/// U distinct inputs of an encoder, and which node has which.
#[derive(Clone, Debug)]
pub(crate) struct Distinct {
    /// Tokens of the distinct inputs, `[U]`.
    pub tokens: Tensor<1, Int>,
    /// Their features, [U, 2P].
    pub features: Tensor<2>,
    /// Which nodes will have equal vectors.
    pub pasts: Pasts,
}

impl DagBatch {
    /// The distinct inputs. `None` if attention is not masked, or if a node attends to later nodes.
    pub(crate) fn distinct(&self) -> Option<&Distinct> {
        // `get_or_init` could deadlock: while threads of a pool share this work, one of them may be handed a task that asks
        // the same batch, and would wait for itself.
        if self.distinct.get().is_none() {
            // An error means that another thread was faster, with the same.
            let _ = self.distinct.set(self.find_distinct());
        }
        self.distinct.get().and_then(Option::as_ref)
    }

    fn find_distinct(&self) -> Option<Distinct> {
        let Attention::Masked(_) = self.layout.attention else { return None };
        let beginnings: Vec<usize> = (0..self.rows.len()).map(|graph| self.begins_like_the_last(graph)).collect();
        let mut found = Interner::new(self.host_tokens.len());
        let (mut first, mut input) = (Vec::new(), Vec::new());
        let mut inputs: Vec<u32> = Vec::with_capacity(self.host_tokens.len());
        for (index, &token) in self.host_tokens.iter().enumerate() {
            if index % self.n < beginnings[index / self.n] {
                inputs.push(inputs[index - self.n]);
                continue;
            }
            input.clear();
            input.push(u32::from(token));
            match self.node(index) {
                Some((row, position)) => {
                    let labels = row.labels();
                    input.push(labels[position]);
                    input.extend(row.neighbours(position).iter().map(|&other| labels[other as usize]));
                    input[2..].sort_unstable();
                }
                None => input.push(self.layout.n_labels as u32 - 1),
            }
            let (count, number) = (found.len() as u32, found.intern(&input));
            if number == count {
                first.push(index);
            }
            inputs.push(number);
        }
        let looks_at = |index: usize, keys: &mut Vec<u32>| match self.node(index) {
            Some((row, position)) => {
                let mask = row.mask.as_ref().expect("computed, since attention is masked");
                keys.extend(mask.keys(position).map(|key| key as u32));
            }
            None => keys.push((index % self.n) as u32),
        };
        let tokens: Vec<i32> = first.iter().map(|&index| i32::from(self.host_tokens[index])).collect();
        let count = tokens.len();
        Some(Distinct {
            pasts: Pasts::with_beginnings(&inputs, self.n, &beginnings, looks_at)?,
            tokens: ints(tokens, [count], &self.device),
            features: self.dag2seq_features_of(first),
        })
    }

    /// How many nodes at the beginning of a graph have the same past as those of the graph before it.
    fn begins_like_the_last(&self, graph: usize) -> usize {
        let Some(last) = graph.checked_sub(1) else { return 0 };
        let alike = self.rows[graph].begins_like(&self.rows[last], &self.layout);
        let tokens = |graph: usize| &self.host_tokens[graph * self.n..][..alike];
        tokens(graph).iter().zip(tokens(last)).take_while(|(own, other)| own == other).count()
    }
}
