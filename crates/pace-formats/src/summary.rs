//! [`Summary`]: what has been read, and what has been left aside.

use std::collections::BTreeMap;

use pace_graph::DagSpec;

/// Broken files that [`Summary::remarks`] names.
const MAX_SHOWN: usize = 3;

/// What has been read, and what has been left aside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Files read.
    pub files: usize,
    /// Files of a folder that have another extension.
    pub skipped_files: usize,
    /// Sources of a folder that hold no graph.
    pub empty_files: usize,
    /// Sources of a folder that cannot be read as what they are, with the reason of each; see [`Format::is_source`](crate::Format::is_source).
    pub broken_files: Vec<String>,
    /// Graphs handed on.
    pub rows: usize,
    /// Graphs that have a target.
    pub rows_with_target: usize,
    /// Where operations came from, with the number of graphs: a node attribute, or `None` for the name of the node.
    pub ops_from: BTreeMap<Option<String>, usize>,
    /// What was not used, with the number of graphs that have it, e.g. `node attribute 'shape'`.
    pub ignored: BTreeMap<String, usize>,
    /// The spec in the header of JSON lines, if there is one.
    pub spec: Option<DagSpec>,
    /// The name of the target that was looked for.
    pub target: String,
}

impl Summary {
    /// Whether no graph has the target that was looked for.
    pub fn lacks_target(&self) -> bool {
        self.rows > 0 && self.rows_with_target == 0
    }

    /// The summary in plain words, one sentence per fact.
    ///
    /// ```
    /// use pace_formats::{Format, GraphFormat, ReadOptions};
    /// let summary = Format::Dot.read(&mut &b"digraph { a -> b; size=3 }"[..], "my.dot", &ReadOptions::default(), &mut |_| Ok(()))?;
    /// assert_eq!(summary.remarks(), [
    ///     "1 graph from 1 file",
    ///     "no graph has the attribute 'target', so there are no targets",
    ///     "the name of a node is its operation in 1 graph: not all nodes have one of op, op_type, operation, type, label, name",
    ///     "ignored graph attribute 'size' in 1 graph",
    /// ]);
    /// # Ok::<(), pace_formats::Error>(())
    /// ```
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks = vec![format!("{} from {}", counted(self.rows, "graph"), counted(self.files, "file"))];
        if self.skipped_files > 0 {
            remarks.push(format!("skipped {} with other extensions", counted(self.skipped_files, "file")));
        }
        if self.empty_files > 0 {
            remarks.push(format!("{} without a graph", counted(self.empty_files, "file")));
        }
        if !self.broken_files.is_empty() {
            remarks.push(format!("skipped {} that cannot be read:", counted(self.broken_files.len(), "file")));
            remarks.extend(self.broken_files.iter().take(MAX_SHOWN).map(|reason| format!("  {reason}")));
        }
        if self.broken_files.len() > MAX_SHOWN {
            remarks.push(format!("  and {} more", self.broken_files.len() - MAX_SHOWN));
        }
        if self.lacks_target() {
            remarks.push(format!("no graph has the attribute '{}', so there are no targets", self.target));
        } else if self.rows_with_target < self.rows {
            remarks.push(format!("{} of {} have a target", self.rows_with_target, counted(self.rows, "graph")));
        }
        for (source, n) in &self.ops_from {
            remarks.push(match source {
                Some(attribute) => format!("operations are '{attribute}' in {}", counted(*n, "graph")),
                None => format!(
                    "the name of a node is its operation in {}: not all nodes have one of {}",
                    counted(*n, "graph"),
                    crate::OP_ATTRIBUTES.join(", ")
                ),
            });
        }
        remarks.extend(self.ignored.iter().map(|(what, n)| format!("ignored {what} in {}", counted(*n, "graph"))));
        remarks
    }

    /// Adds what another file had. The first spec stays.
    pub fn merge(&mut self, other: Summary) {
        self.files += other.files;
        self.skipped_files += other.skipped_files;
        self.empty_files += other.empty_files;
        self.broken_files.extend(other.broken_files);
        self.rows += other.rows;
        self.rows_with_target += other.rows_with_target;
        other.ops_from.into_iter().for_each(|(source, n)| *self.ops_from.entry(source).or_default() += n);
        other.ignored.into_iter().for_each(|(what, n)| *self.ignored.entry(what).or_default() += n);
        self.spec = self.spec.take().or(other.spec);
        self.target = other.target;
    }
}

fn counted(n: usize, word: &str) -> String {
    format!("{n} {word}{}", if n == 1 { "" } else { "s" })
}
