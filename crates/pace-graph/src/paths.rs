//! [`PathEncoding`]: which strings of operations lead from the input to the output.

use std::collections::BTreeSet;

use crate::dag::{Dag, Op};
use crate::spec::DagSpec;
use crate::structure::topological_order;

/// The path encoding of BANANAS (White, Neiswanger and Savani, 2021): a bit for every string of inner operations that is read along
/// some path from input to output. With k inner operations and strings of up to L there are `1 + k + k^2 + .. + k^L` bits.
///
/// Isomorphic graphs have the same encoding. Graphs with the same strings have it, too, so it loses something.
///
/// ```
/// use pace_graph::{DagSpec, PathEncoding};
/// let spec = DagSpec::nas101();
/// let paths = PathEncoding::new(&spec, 5).expect("cells have an input and an output");
/// let cell = spec.parse("input conv1x1-bn-relu maxpool3x3 output : 0>1 1>2 2>3 0>3")?;
/// let bits = paths.encode(&cell);
/// assert_eq!(bits.len(), 1 + 3 + 9 + 27 + 81 + 243);
/// // Straight to the output, and by convolution and pooling.
/// assert_eq!((bits[0], bits.iter().sum::<f32>()), (1.0, 2.0));
/// # Ok::<(), pace_graph::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathEncoding {
    input: Op,
    output: Op,
    /// The number of each operation among the inner ones.
    digits: Vec<Option<usize>>,
    n_inner: usize,
    max_length: usize,
}

impl PathEncoding {
    /// For graphs of `spec`, strings of up to `max_length` inner operations; longer ones are left out. `None` if the spec names no
    /// input or no output.
    pub fn new(spec: &DagSpec, max_length: usize) -> Option<PathEncoding> {
        let (input, output) = (spec.input?, spec.output?);
        let mut n_inner = 0;
        let digit = |op: usize| {
            let is_inner = ![Some(input), Some(output), spec.start].contains(&Some(op as Op));
            n_inner += usize::from(is_inner);
            is_inner.then(|| n_inner - 1)
        };
        let digits = (0..spec.n_ops()).map(digit).collect();
        Some(PathEncoding { input, output, digits, n_inner, max_length })
    }

    /// How many bits.
    pub fn width(&self) -> usize {
        self.first_of(self.max_length + 1)
    }

    /// The bits of a graph.
    pub fn encode(&self, dag: &Dag) -> Vec<f32> {
        let mut bits = vec![0.0; self.width()];
        // The strings of the paths to each node, as (length, number in base k).
        let mut strings: Vec<BTreeSet<(usize, usize)>> = vec![BTreeSet::new(); dag.n_nodes()];
        for node in topological_order(dag) {
            let mut own: BTreeSet<(usize, usize)> =
                dag.predecessors(node).flat_map(|before| strings[before].iter().copied()).collect();
            let op = dag.op(node);
            if op == self.input {
                own.insert((0, 0));
            } else if op == self.output {
                own.iter().for_each(|&(length, number)| bits[self.first_of(length) + number] = 1.0);
                own.clear();
            } else if let Some(digit) = self.digits.get(usize::from(op)).copied().flatten() {
                let longer = own.into_iter().filter(|(length, _)| *length < self.max_length);
                own = longer.map(|(length, number)| (length + 1, number * self.n_inner + digit)).collect();
            }
            strings[node] = own;
        }
        bits
    }

    /// The first bit of the strings of this length.
    fn first_of(&self, length: usize) -> usize {
        (0..length as u32).map(|length| self.n_inner.pow(length)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::PathEncoding;
    use crate::dag::Dag;
    use crate::spec::DagSpec;

    /// All strings by walking every path.
    fn slow(dag: &Dag, node: usize, string: &mut Vec<u16>, found: &mut Vec<Vec<u16>>) {
        for next in dag.successors(node) {
            if dag.op(next) == 4 {
                found.push(string.clone());
            } else {
                string.push(dag.op(next));
                slow(dag, next, string, found);
                string.pop();
            }
        }
    }

    #[test]
    fn bits_are_the_strings_of_all_paths() {
        let spec = DagSpec::nas101();
        let paths = PathEncoding::new(&spec, 5).unwrap();
        for text in [
            "0 1 2 3 1 2 4 : 0>1 1>2 2>3 3>4 4>5 5>6",
            "0 1 2 3 4 : 0>1 0>2 1>3 2>3 3>4 0>4",
            "0 1 1 4 : 0>1 0>2 1>3 2>3",
            "0 4 : 0>1",
        ] {
            let dag: Dag = text.parse().unwrap();
            let mut found = Vec::new();
            slow(&dag, 0, &mut Vec::new(), &mut found);
            found.sort();
            found.dedup();
            let bits = paths.encode(&dag);
            assert_eq!(bits.iter().sum::<f32>() as usize, found.len(), "{text}");
            for string in found {
                let number = string.iter().fold(0, |number, &op| number * 3 + usize::from(op) - 1);
                let first = (0..string.len() as u32).map(|length| 3usize.pow(length)).sum::<usize>();
                assert_eq!(bits[first + number], 1.0, "{text}: {string:?}");
            }
        }
        let short = PathEncoding::new(&spec, 1).unwrap();
        let bits = short.encode(&"0 1 2 4 : 0>1 1>2 2>3 0>3 1>3".parse().unwrap());
        assert_eq!(bits, [1.0, 1.0, 0.0, 0.0], "the longest path is left out");
        assert!(PathEncoding::new(&DagSpec::new("any", ["a"], 3), 2).is_none());
    }
}
