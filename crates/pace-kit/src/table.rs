//! [`GraphTable`]: many graphs in few pieces of memory, as arrays of other programs have them.

use anyhow::{Result, bail};
use pace_graph::{Dag, DagSpec, Named, Op};
use rayon::iter::{IntoParallelIterator, ParallelIterator};
use std::collections::HashMap;
use std::ops::Range;

/// Graphs by name, columns side by side: operations are numbers of one dictionary, nodes and edges of all graphs stand behind each
/// other.
///
/// ```
/// use pace_graph::Named;
/// use pace_kit::GraphTable;
/// let graph = Named { ops: vec!["a".into(), "b".into()], edges: vec![(0, 1)], target: Some(0.5), id: None };
/// let mut table = GraphTable::default();
/// table.push(&graph);
/// assert_eq!(table.len(), 1);
/// assert_eq!(table.named(0), graph);
/// ```
#[derive(Clone, Debug, Default)]
pub struct GraphTable {
    names: Vec<String>,
    numbers: HashMap<String, u32>,
    ops: Vec<u32>,
    /// Where the nodes of each graph end.
    node_ends: Vec<usize>,
    edges: Vec<(u32, u32)>,
    edge_ends: Vec<usize>,
    targets: Vec<Option<f64>>,
    ids: Vec<Option<String>>,
}

impl GraphTable {
    /// Takes columns over: `node_ends` and `edge_ends` say where the nodes and edges of each graph end.
    ///
    /// # Errors
    /// Ends that decrease or do not fit, operations beyond the dictionary, edges beyond the graph, columns of different lengths.
    pub fn from_columns(
        names: Vec<String>,
        ops: Vec<u32>,
        node_ends: Vec<usize>,
        edges: Vec<(u32, u32)>,
        edge_ends: Vec<usize>,
    ) -> Result<GraphTable> {
        let n = node_ends.len();
        let numbers: HashMap<String, u32> = names.iter().cloned().zip(0..).collect();
        if numbers.len() < names.len() {
            bail!("an operation is twice in the list of names");
        }
        for (what, ends, total) in [("nodes", &node_ends, ops.len()), ("edges", &edge_ends, edges.len())] {
            if ends.len() != n
                || ends.windows(2).any(|pair| pair[0] > pair[1])
                || ends.last().copied().unwrap_or(0) != total
            {
                bail!("the offsets of the {what} must rise from 0 to {total}, one step per graph");
            }
        }
        if let Some(op) = ops.iter().find(|&&op| op as usize >= names.len()) {
            bail!("operation {op} is beyond the {} names", names.len());
        }
        let (targets, ids) = (vec![None; n], vec![None; n]);
        let table = GraphTable { names, numbers, ops, node_ends, edges, edge_ends, targets, ids };
        let is_bad = |row: usize| {
            let n_nodes = table.nodes(row).len() as u32;
            table.edges[table.edge_range(row)].iter().any(|&(from, to)| from >= n_nodes || to >= n_nodes)
        };
        match (0..n).find(|&row| is_bad(row)) {
            Some(row) => bail!("graph {}: an edge names a node beyond its {} nodes", row + 1, table.nodes(row).len()),
            None => Ok(table),
        }
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.node_ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.node_ends.is_empty()
    }

    /// Adds a graph.
    pub fn push(&mut self, graph: &Named) {
        for op in &graph.ops {
            let number = self.number(op);
            self.push_op(number);
        }
        graph.edges.iter().for_each(|&(from, to)| self.push_edge(from as u32, to as u32));
        self.end(graph.target, graph.id.clone());
    }

    /// The number of an operation, which is new in the dictionary if need be.
    pub fn number(&mut self, op: &str) -> u32 {
        if let Some(&number) = self.numbers.get(op) {
            return number;
        }
        let number = self.names.len() as u32;
        self.names.push(op.to_owned());
        self.numbers.insert(op.to_owned(), number);
        number
    }

    /// Adds a node to the graph that [`GraphTable::end`] ends.
    pub fn push_op(&mut self, number: u32) {
        self.ops.push(number);
    }

    /// Adds an edge to it.
    pub fn push_edge(&mut self, from: u32, to: u32) {
        self.edges.push((from, to));
    }

    /// Ends a graph.
    pub fn end(&mut self, target: Option<f64>, id: Option<String>) {
        self.node_ends.push(self.ops.len());
        self.edge_ends.push(self.edges.len());
        self.targets.push(target);
        self.ids.push(id);
    }

    /// Forgets what was pushed since the last graph ended.
    pub fn abandon(&mut self) {
        self.ops.truncate(self.node_ends.last().copied().unwrap_or(0));
        self.edges.truncate(self.edge_ends.last().copied().unwrap_or(0));
    }

    /// One graph.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn named(&self, row: usize) -> Named {
        Named {
            ops: self.nodes(row).iter().map(|&op| self.names[op as usize].clone()).collect(),
            edges: self.edges(row).collect(),
            target: self.targets[row],
            id: self.ids[row].clone(),
        }
    }

    /// All graphs.
    pub fn all_named(&self) -> Vec<Named> {
        (0..self.len()).map(|row| self.named(row)).collect()
    }

    /// The graphs of some rows.
    #[must_use]
    pub fn select(&self, rows: &[usize]) -> GraphTable {
        let mut table =
            GraphTable { names: self.names.clone(), numbers: self.numbers.clone(), ..GraphTable::default() };
        for &row in rows {
            table.ops.extend_from_slice(self.nodes(row));
            table.edges.extend_from_slice(&self.edges[self.edge_range(row)]);
            table.end(self.targets[row], self.ids[row].clone());
        }
        table
    }

    /// The scores.
    pub fn targets(&self) -> &[Option<f64>] {
        &self.targets
    }

    /// Sets the scores.
    ///
    /// # Errors
    /// If there are more or fewer than graphs.
    pub fn set_targets(&mut self, targets: Vec<Option<f64>>) -> Result<()> {
        if targets.len() != self.len() {
            bail!("{} targets for {} graphs", targets.len(), self.len());
        }
        self.targets = targets;
        Ok(())
    }

    /// The names of the graphs.
    pub fn ids(&self) -> &[Option<String>] {
        &self.ids
    }

    /// Sets the names of the graphs.
    ///
    /// # Errors
    /// If there are more or fewer than graphs.
    pub fn set_ids(&mut self, ids: Vec<Option<String>>) -> Result<()> {
        if ids.len() != self.len() {
            bail!("{} names for {} graphs", ids.len(), self.len());
        }
        self.ids = ids;
        Ok(())
    }

    /// The graphs in the dictionary of a spec, in parallel; as [`Named::dag`], without a text per node.
    ///
    /// # Errors
    /// The first graph that does not obey the spec.
    pub fn dags(&self, spec: &DagSpec, source: &str) -> Result<Vec<Dag>> {
        let added = [spec.added_input(), spec.added_output()];
        let known = |name: &String| spec.op(name).filter(|op| !added.contains(&Some(*op)));
        let numbers: Vec<Option<Op>> = self.names.iter().map(known).collect();
        let dag = |row: usize| {
            let ops: Option<Vec<Op>> = self.nodes(row).iter().map(|&op| numbers[op as usize]).collect();
            // The slow way finds the words for what is wrong.
            let slow = || self.named(row).dag(spec).map_err(|error| error.at(source, row + 1));
            let Some(Ok(bare)) = ops.map(|ops| Dag::new(ops, self.edges(row))) else { return slow() };
            let whole = if spec.added.count() > 0 { spec.add_ends(&bare) } else { bare };
            if spec.is_valid(&whole) { Ok(whole) } else { slow() }
        };
        Ok((0..self.len()).into_par_iter().map(dag).collect::<Result<Vec<Dag>, pace_graph::Error>>()?)
    }

    fn nodes(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.node_ends[row - 1] };
        &self.ops[start..self.node_ends[row]]
    }

    fn edge_range(&self, row: usize) -> Range<usize> {
        let start = if row == 0 { 0 } else { self.edge_ends[row - 1] };
        start..self.edge_ends[row]
    }

    fn edges(&self, row: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.edges[self.edge_range(row)].iter().map(|&(from, to)| (from as usize, to as usize))
    }
}

impl<'a> FromIterator<&'a Named> for GraphTable {
    fn from_iter<I: IntoIterator<Item = &'a Named>>(graphs: I) -> GraphTable {
        let mut table = GraphTable::default();
        graphs.into_iter().for_each(|graph| table.push(graph));
        table
    }
}

#[cfg(test)]
mod tests {
    use pace_graph::infer;

    use super::*;

    fn graphs() -> Vec<Named> {
        let graph = |ops: &str, edges: &[(usize, usize)], target| Named {
            ops: ops.split(' ').map(str::to_owned).collect(),
            edges: edges.to_vec(),
            target,
            id: target.map(|target| format!("g{target}")),
        };
        vec![
            graph("in relu out", &[(0, 1), (1, 2)], Some(1.0)),
            graph("out in", &[(1, 0)], None),
            graph("in add relu out", &[(0, 1), (0, 2), (2, 1), (1, 3)], Some(2.0)),
        ]
    }

    #[test]
    fn graphs_come_back_and_become_the_same_dags() {
        let graphs = graphs();
        let table: GraphTable = graphs.iter().collect();
        assert_eq!(table.all_named(), graphs);
        assert_eq!(table.select(&[2, 0]).all_named(), [graphs[2].clone(), graphs[0].clone()]);
        for graphs in [&graphs[..], &graphs[1..2]] {
            let spec = infer("mine", graphs).unwrap().spec;
            let table: GraphTable = graphs.iter().collect();
            assert_eq!(table.dags(&spec, "mine").unwrap(), crate::dags(graphs, &spec, "mine", 0).unwrap());
        }
        let small = infer("mine", &graphs[..2]).unwrap().spec;
        let (fast, slow) = (table.dags(&small, "mine"), crate::dags(&graphs, &small, "mine", 0));
        assert_eq!(fast.unwrap_err().to_string(), slow.unwrap_err().to_string());
    }

    #[test]
    fn columns_are_checked() {
        let names = || vec!["a".to_owned(), "b".to_owned()];
        let table = |ops: &[u32], nodes: &[usize], edges: &[(u32, u32)], ends: &[usize]| {
            GraphTable::from_columns(names(), ops.to_vec(), nodes.to_vec(), edges.to_vec(), ends.to_vec())
        };
        let good = table(&[0, 1, 1], &[2, 3], &[(0, 1)], &[1, 1]).unwrap();
        assert_eq!((good.named(0).ops.len(), good.named(1).ops.as_slice()), (2, &["b".to_owned()][..]));
        for (bad, word) in [
            (table(&[0, 1], &[1], &[], &[0]), "nodes"),
            (table(&[0, 1], &[2, 1], &[], &[0, 0]), "nodes"),
            (table(&[0, 1], &[2], &[(0, 1)], &[0]), "edges"),
            (table(&[0, 2], &[2], &[], &[0]), "operation 2"),
            (table(&[0, 1], &[2], &[(0, 2)], &[1]), "beyond its 2 nodes"),
        ] {
            let said = bad.unwrap_err().to_string();
            assert!(said.contains(word), "{said}");
        }
    }
}
