//! [`VarSet`]: a set of variables of one component.

/// The most variables of a component.
pub(super) const MAX_MEMBERS: usize = 64 * WORDS;
const WORDS: usize = 4;

/// A set of up to [`MAX_MEMBERS`] variables, a bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct VarSet([u64; WORDS]);

impl VarSet {
    pub(super) fn of(members: impl IntoIterator<Item = usize>) -> VarSet {
        let mut set = VarSet::default();
        members.into_iter().for_each(|member| set.insert(member));
        set
    }

    pub(super) fn insert(&mut self, member: usize) {
        self.0[member / 64] |= 1 << (member % 64);
    }

    pub(super) fn remove(&mut self, member: usize) {
        self.0[member / 64] &= !(1 << (member % 64));
    }

    pub(super) fn contains(&self, member: usize) -> bool {
        self.0[member / 64] >> (member % 64) & 1 == 1
    }

    pub(super) fn is_subset(&self, other: &VarSet) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & !other == 0)
    }

    /// How many members the sets share.
    pub(super) fn n_shared(&self, other: &VarSet) -> usize {
        self.0.iter().zip(other.0).map(|(own, other)| (own & other).count_ones() as usize).sum()
    }

    pub(super) fn is_disjoint(&self, other: &VarSet) -> bool {
        self.0.iter().zip(other.0).all(|(own, other)| own & other == 0)
    }

    pub(super) fn union(&self, other: &VarSet) -> VarSet {
        VarSet(std::array::from_fn(|word| self.0[word] | other.0[word]))
    }

    pub(super) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(super) fn word(&self, index: usize) -> u64 {
        self.0[index]
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().enumerate().flat_map(|(at, &word)| {
            let mut left = word;
            std::iter::from_fn(move || {
                (left != 0).then(|| {
                    let bit = left.trailing_zeros() as usize;
                    left &= left - 1;
                    at * 64 + bit
                })
            })
        })
    }
}
