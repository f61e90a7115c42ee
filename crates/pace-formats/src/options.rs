//! [`ReadOptions`]: which part of a file is the operation, the target and the name.

use serde::{Deserialize, Serialize};

/// The node attributes that are looked for if none is asked for, in this order.
pub const OP_ATTRIBUTES: [&str; 6] = ["op", "op_type", "operation", "type", "label", "name"];

/// Which part of a file is the operation, the target and the name of a graph.
///
/// ```
/// use pace_formats::ReadOptions;
/// let options = ReadOptions { op: Some("kind".into()), target: "accuracy".into(), ..ReadOptions::default() };
/// # assert!(!options.keep_constants);
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReadOptions {
    /// The node attribute that is the operation. Without one it is the first of [`OP_ATTRIBUTES`] that every node of the graph
    /// has, else the name of the node; [`Summary`](crate::Summary) says which.
    pub op: Option<String>,
    /// The graph attribute that is the target. Graphs may lack it.
    pub target: String,
    /// The graph attribute that is the name of the graph. Without one it is `id` or `name`, else what the format itself calls the
    /// graph.
    pub id: Option<String>,
    /// ONNX: initialisers, nodes of type `Constant`, and nodes that read nothing else are nodes, too.
    pub keep_constants: bool,
    /// ONNX: the inputs and outputs of the graph are nodes, too.
    pub keep_ends: bool,
}

impl Default for ReadOptions {
    fn default() -> ReadOptions {
        ReadOptions { op: None, target: "target".to_owned(), id: None, keep_constants: false, keep_ends: false }
    }
}
