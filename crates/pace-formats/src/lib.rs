//! DAGs in other people's files, and vectors on their way out.
//!
//! What is read becomes [`pace_graph::Named`]: operations by name, edges, and a target and a name if there are any. From there
//! [`pace_graph::infer`] makes a spec, and [`Named::dag`](pace_graph::Named::dag) a graph for a model.
//!
//! 1. A [`Format`] reads or writes one kind of file: our JSON lines, networkx' node-link JSON, GraphViz, GraphML, ONNX, BIF, and functions in Python.
//!    [`Format::of`] knows it by its extension. Users implement [`GraphFormat`] for more.
//! 2. [`ReadOptions`] say which attribute of a node is its operation, and which of a graph its target.
//! 3. Graphs go to a sink, one by one. Each is a DAG; what is none is an [`Error`] that names file, place and node.
//! 4. A [`Summary`] says what was read and what was left aside. Nothing is dropped silently.
//! 5. [`read_path`] does this for a file, a folder or the standard input.
//! 6. [`ParquetFile`] writes vectors; [`read_npy`] and [`read_safetensors`] read them.
//!
//! ```
//! use pace_formats::{Format, GraphFormat, ReadOptions};
//!
//! let text = r#"digraph small { target=0.5; a [kind=conv]; b [kind=add]; a -> b }"#;
//! let options = ReadOptions { op: Some("kind".into()), ..ReadOptions::default() };
//! let mut graphs = Vec::new();
//! let summary = Format::Dot.read(&mut text.as_bytes(), "small.dot", &options, &mut |graph| {
//!     graphs.push(graph);
//!     Ok(())
//! })?;
//! assert_eq!((summary.rows, summary.rows_with_target), (1, 1));
//! assert_eq!(graphs[0].ops, ["conv", "add"]);
//! assert_eq!(graphs[0].id.as_deref(), Some("small"));
//!
//! // The same graph for networkx.
//! let mut json = Vec::new();
//! Format::NodeLink.write(&mut graphs.iter(), &mut json)?;
//! assert!(json.starts_with(br#"{"directed":true,"#));
//!
//! // What is no DAG is refused, by the names of the file.
//! let cycle = &b"digraph { a -> b -> a }"[..];
//! let refused = Format::Dot.read(&mut &*cycle, "bad.dot", &ReadOptions::default(), &mut |_| Ok(()));
//! assert_eq!(
//!     refused.unwrap_err().to_string(),
//!     "bad.dot, graph 1: the edges close a cycle through node 'b'; remove or turn around one of its edges",
//! );
//! # Ok::<(), pace_formats::Error>(())
//! ```
//!
//! Readers never panic, recurse without a bound, or allocate by a number that a file claims. Only [`read_path`] opens files.

mod check;
mod collector;
mod error;
mod format;
mod input;
mod json;
mod options;
mod path;
mod summary;
mod vectors;

pub use error::{Error, Place};
pub use format::{Bif, Dot, Format, GraphFormat, GraphMl, JsonLines, NodeLink, Onnx, Python, Sink};
pub use options::{OP_ATTRIBUTES, ReadOptions};
pub use path::{read_path, stem};
pub use summary::Summary;
pub use vectors::{ParquetFile, read_npy, read_safetensors};
