//! Virtual ends: an input before all sources and an output after all sinks, for graphs that have none of their own.
//!
//! PACE reads a graph out at its output node, which sees every node only if it is the single sink. The paper adds a virtual output to
//! graphs with several sinks (section 3.3); an input makes decoding begin at one node. [`DagSpec::added`] says which ends are no part of
//! the data: [`DagSpec::add_ends`] puts them there when a graph comes in, [`DagSpec::strip_ends`] takes them away when it goes out.

use serde::{Deserialize, Serialize};

use crate::dag::{Dag, Op};
use crate::error::Error;
use crate::spec::DagSpec;

/// Which ends of a graph are virtual.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedEnds {
    /// The input node feeds every node without predecessors, and nothing else.
    pub input: bool,
    /// The output node reads every node without successors, and nothing else.
    pub output: bool,
}

impl AddedEnds {
    /// How many there are.
    pub fn count(self) -> usize {
        usize::from(self.input) + usize::from(self.output)
    }
}

impl DagSpec {
    /// The operation of the virtual input, if the spec has one.
    pub fn added_input(&self) -> Option<Op> {
        self.input.filter(|_| self.added.input)
    }

    /// The operation of the virtual output, if the spec has one.
    pub fn added_output(&self) -> Option<Op> {
        self.output.filter(|_| self.added.output)
    }

    /// A graph of the data with the virtual ends of the spec: the input first, the output last.
    ///
    /// ```
    /// use pace_graph::{AddedEnds, DagSpec};
    /// let spec = DagSpec::new("mine", ["(input)", "(output)", "a", "b"], 5);
    /// let spec = DagSpec { input: Some(0), output: Some(1), added: AddedEnds { input: true, output: true }, ..spec };
    /// let bare = "2 3 3 : 0>1 0>2".parse()?;
    /// let whole = spec.add_ends(&bare);
    /// assert_eq!(whole.to_string(), "0 2 3 3 1 : 0>1 1>2 1>3 2>4 3>4");
    /// assert_eq!(spec.strip_ends(&whole)?, bare);
    /// # Ok::<(), pace_graph::Error>(())
    /// ```
    pub fn add_ends(&self, dag: &Dag) -> Dag {
        let fed = self.added_input().map(|input| dag.with_virtual_input(input));
        let dag = fed.as_ref().unwrap_or(dag);
        self.added_output().map_or_else(|| dag.clone(), |output| dag.with_virtual_output(output))
    }

    /// A graph without the virtual ends of the spec, its other nodes in their order.
    ///
    /// # Errors
    /// If nothing is left.
    pub fn strip_ends(&self, dag: &Dag) -> Result<Dag, Error> {
        let ends = [self.added_input(), self.added_output()];
        if ends == [None, None] {
            return Ok(dag.clone());
        }
        let kept: Vec<usize> = (0..dag.n_nodes()).filter(|&node| !ends.contains(&Some(dag.op(node)))).collect();
        let mut place = vec![usize::MAX; dag.n_nodes()];
        kept.iter().enumerate().for_each(|(index, &node)| place[node] = index);
        let edges = dag.edges().map(|(from, to)| (place[from], place[to]));
        let edges: Vec<_> = edges.filter(|&(from, to)| from != usize::MAX && to != usize::MAX).collect();
        Dag::new(kept.iter().map(|&node| dag.op(node)).collect(), edges)
    }
}
