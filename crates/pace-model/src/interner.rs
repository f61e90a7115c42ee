//! [`Interner`]: a number for each distinct list of numbers.

use pace_graph::{Csr, GOLDEN};

/// Numbers lists 0, 1, .. in the order in which they first come. O(length) per list, no allocation for one that is known.
#[derive(Debug)]
pub(crate) struct Interner {
    lists: Csr<u32>,
    /// Numbers of lists by hash, with linear probing.
    table: Vec<u32>,
}

/// An empty slot in the table.
const FREE: u32 = u32::MAX;

impl Interner {
    /// Room for at most `most` lists.
    pub(crate) fn new(most: usize) -> Interner {
        Interner { lists: Csr::default(), table: vec![FREE; (2 * most).next_power_of_two()] }
    }

    /// How many lists there are.
    pub(crate) fn len(&self) -> usize {
        self.lists.n_rows()
    }

    /// The number of a list; [`Interner::len`] as it was before the call if it is new.
    pub(crate) fn intern(&mut self, list: &[u32]) -> u32 {
        let mask = self.table.len() - 1;
        let mut slot = hash(list) as usize & mask;
        while self.table[slot] != FREE {
            let number = self.table[slot];
            if self.lists.row(number as usize) == list {
                return number;
            }
            slot = (slot + 1) & mask;
        }
        let number = self.len() as u32;
        assert!(self.len() < mask, "more lists than the {} announced", mask.div_ceil(2));
        self.table[slot] = number;
        self.lists.push_row(list.iter().copied());
        number
    }
}

fn hash(list: &[u32]) -> u64 {
    let hash = list
        .iter()
        .fold(list.len() as u64, |hash, &word| (hash ^ u64::from(word)).wrapping_mul(GOLDEN).rotate_left(31));
    // The low bits choose the slot.
    hash ^ (hash >> 32)
}

#[cfg(test)]
mod tests {
    use super::Interner;

    #[test]
    fn equal_lists_have_one_number() {
        let mut interner = Interner::new(4);
        let lists: [&[u32]; 6] = [&[1, 2], &[], &[2, 1], &[1, 2], &[1], &[]];
        assert_eq!(lists.map(|list| interner.intern(list)), [0, 1, 2, 0, 3, 1]);
        assert_eq!(interner.len(), 4);
    }

    #[test]
    #[should_panic(expected = "more lists than")]
    fn a_full_table_does_not_hang() {
        let mut interner = Interner::new(2);
        assert!((0..9).all(|word| interner.intern(&[word]) == word));
    }
}
