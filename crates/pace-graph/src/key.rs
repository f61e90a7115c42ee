//! [`GraphKey`]: the isomorphism class of a graph, as a key of maps and sets.

use std::fmt;

use crate::dag::Dag;
use crate::dag2seq::{Sequence, dag2seq, seq2dag};
use crate::split_mix::{GOLDEN, split_mix};

/// The isomorphism class of a graph: two graphs have equal keys iff they are isomorphic.
///
/// Ask for this wherever graphs are counted, looked up or compared under any numbering of their nodes. It is the canonical
/// [`Sequence`] in as few bytes as are simple: one per node, edge and in-degree as long as these numbers are below 128. A
/// NAS-Bench-101 cell takes about 25 bytes, where its [`Dag`] takes hundreds. The order of keys is arbitrary but fixed.
///
/// Keys are equal within one [`CANON_ID`](crate::CANON_ID): write graphs to files, not keys.
///
/// ```
/// use pace_graph::{Dag, GraphKey, canonical};
/// let one: Dag = "0 2 3 1 : 0>1 0>2 1>3 2>3".parse()?;
/// let renumbered: Dag = "1 3 0 2 : 2>3 2>1 3>0 1>0".parse()?;
/// let other: Dag = "0 2 3 1 : 0>1 1>2 2>3".parse()?;
/// assert_eq!(GraphKey::of(&one), GraphKey::of(&renumbered));
/// assert_ne!(GraphKey::of(&one), GraphKey::of(&other));
/// assert_eq!(GraphKey::of(&renumbered).canonical(), canonical(&one));
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GraphKey(Box<[u8]>);

impl GraphKey {
    /// The class of `dag`. Costs what [`dag2seq`] costs.
    pub fn of(dag: &Dag) -> GraphKey {
        GraphKey::pack(&dag2seq(dag))
    }

    /// The canonical form of the graphs in this class.
    pub fn canonical(&self) -> Dag {
        seq2dag(&self.sequence())
    }

    /// The canonical sequence of the graphs in this class.
    pub fn sequence(&self) -> Sequence {
        let mut bytes = &*self.0;
        let mut sequence = Sequence::with_capacity(self.0.len() / 2, self.0.len());
        while !bytes.is_empty() {
            let (op, n_predecessors) = (unpack(&mut bytes), unpack(&mut bytes));
            sequence.push(op as u16, (0..n_predecessors).map(|_| unpack(&mut bytes)));
        }
        sequence
    }

    /// A number that is the same on every machine and in every run, unlike that of `Hash`: a seed for what is drawn about a class.
    pub fn seed(&self) -> u64 {
        self.0.iter().fold(GOLDEN, |hash, &byte| split_mix(hash ^ u64::from(byte)).wrapping_add(GOLDEN))
    }

    /// Per position the operation, the number of predecessors, and these.
    fn pack(canonical: &Sequence) -> GraphKey {
        let mut bytes = Vec::with_capacity(2 * canonical.len() + canonical.n_edges());
        for item in canonical.items() {
            let head = [u32::from(item.op), item.predecessors.len() as u32];
            head.iter().chain(item.predecessors).for_each(|&number| pack(number, &mut bytes));
        }
        GraphKey(bytes.into_boxed_slice())
    }
}

impl From<&Dag> for GraphKey {
    fn from(dag: &Dag) -> GraphKey {
        GraphKey::of(dag)
    }
}

impl fmt::Debug for GraphKey {
    /// The canonical form as text.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "GraphKey({})", self.canonical())
    }
}

/// Seven bits per byte, lowest first; the highest bit says that more follow (LEB128).
fn pack(mut number: u32, bytes: &mut Vec<u8>) {
    while number > 0x7f {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn unpack(bytes: &mut &[u8]) -> u32 {
    let mut number = 0;
    for shift in (0..32).step_by(7) {
        let (&byte, rest) = bytes.split_first().expect("a key is whole");
        *bytes = rest;
        number |= u32::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use super::{pack, unpack};

    #[test]
    fn numbers_of_any_size_come_back() {
        let numbers = [0, 1, 127, 128, 300, 16_383, 16_384, 65_535, 1 << 28, u32::MAX];
        let mut bytes = Vec::new();
        numbers.iter().for_each(|&number| pack(number, &mut bytes));
        let mut rest = &bytes[..];
        assert_eq!(numbers.map(|_| unpack(&mut rest)), numbers);
        assert!(rest.is_empty());
    }
}
