//! Theorem 3.1 on the whole space: every renumbered cell has the canonical form of the original.

use std::collections::BTreeMap;

use anyhow::{Result, ensure};
use pace_graph::enumerate::Nas101Space;
use pace_graph::structure::{MaskRule, mask};
use pace_graph::{Sequence, canonicalise, seq2dag};
use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::{IntoParallelIterator, ParallelIterator};

use crate::progress::steps_bar;

/// Renumbers cells at random and finds each again by its canonical form; returns how often each method was taken.
pub fn renumber(space: &Nas101Space, indices: &[usize], seed: u64) -> Result<BTreeMap<String, usize>> {
    let bar = steps_bar("renumber and look up", indices.len() as u64);
    let chunk = |chunk: &[usize]| -> Result<BTreeMap<String, usize>> {
        let mut methods = BTreeMap::new();
        for &index in chunk {
            // A generator per cell: the outcome does not depend on the number of threads.
            let mut rng = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(1 << 32).wrapping_add(index as u64));
            let cell = space.cell(index);
            let mut order: Vec<usize> = (0..cell.n_nodes()).collect();
            order.shuffle(&mut rng);
            let renumbered = cell.relabel(&order);
            let found = canonicalise(&renumbered);
            let form = seq2dag(&Sequence::in_order(&renumbered, &found.order));
            ensure!(form == cell, "cell {index} was not found again under the order {order:?}");
            ensure!(
                mask(&form, MaskRule::default()).keys(form.n_nodes() - 1).count() == form.n_nodes(),
                "cell {index}: the output must see every node"
            );
            *methods.entry(format!("{:?}", found.method)).or_insert(0) += 1;
        }
        bar.inc(chunk.len() as u64);
        Ok(methods)
    };
    let chunks: Vec<&[usize]> = indices.chunks(4096).collect();
    let counts = chunks.into_par_iter().map(chunk).try_reduce(BTreeMap::new, |mut all, part| {
        part.into_iter().for_each(|(method, count)| *all.entry(method).or_insert(0) += count);
        Ok(all)
    });
    bar.finish_and_clear();
    counts
}
