//! [`Store`]: potentials that have been counted, for all threads.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::points::Points;

/// Threads rarely meet in one of so many maps.
const SHARDS: usize = 64;

/// Potentials by set, of some of the sets.
type Shard = HashMap<Box<[u16]>, Points, BuildHasherDefault<Mix>>;

/// Potentials by set.
pub(super) struct Store {
    shards: Vec<Mutex<Shard>>,
}

impl Store {
    pub(super) fn new() -> Store {
        Store { shards: (0..SHARDS).map(|_| Mutex::default()).collect() }
    }

    pub(super) fn get(&self, set: &[u16]) -> Option<Points> {
        self.shard(set).get(set).copied()
    }

    pub(super) fn insert(&self, set: &[u16], potential: Points) {
        self.shard(set).insert(set.into(), potential);
    }

    /// How many sets have been counted.
    pub(super) fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().unwrap_or_else(PoisonError::into_inner).len()).sum()
    }

    fn shard(&self, set: &[u16]) -> MutexGuard<'_, Shard> {
        let mut hash = Mix::default();
        set.iter().for_each(|&variable| hash.write_u16(variable));
        let shard = &self.shards[(hash.0 >> 40) as usize % SHARDS];
        // A map is whole after every call, so a thread that panicked elsewhere leaves nothing to repair.
        shard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A hash of small numbers that takes a multiplication per number. Nobody chooses these keys to make them collide.
#[derive(Default)]
pub(crate) struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0 ^ self.0 >> 29
    }

    fn write(&mut self, bytes: &[u8]) {
        let (pairs, rest) = bytes.as_chunks::<2>();
        pairs.iter().for_each(|pair| self.write_u16(u16::from_le_bytes(*pair)));
        rest.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u16(&mut self, number: u16) {
        self.write_u64(number.into());
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(23) ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }
}
