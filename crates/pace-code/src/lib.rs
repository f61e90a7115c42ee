//! Python functions as DAGs: from source text to the syntax trees of OGBG-CODE2.
//!
//! The task of OGBG-CODE2 (Hu et al., OGB, 2020) is to predict the words of a function's name from its syntax tree. This crate
//! makes such trees from any Python source, node for node as CPython's `ast` module and OGB's recipe do:
//!
//! 1. an [`Extractor`] parses a source and takes its functions out, each as a [`Tree`] with its name masked. It reads text,
//!    files, folders and JSON lines; what is no Python is an [`Error`] that names file and line, and the rest goes on;
//! 2. a [`VocabularyBuilder`] counts types and attributes of the training functions;
//! 3. [`Vocabularies::encode`] turns a function into a [`pace_graph::dataset::Ast`], what the reader of the official
//!    dataset gives, too;
//! 4. [`sub_tokens`] makes the label from the name.
//!
//! ```
//! use pace_code::{Extractor, NodeKind, VocabularyBuilder};
//!
//! let source = "class Disk:\n    @property\n    def freeSpace(self):\n        return self.size - 1\n";
//! let functions = Extractor::default().functions(source)?;
//! let function = &functions[0];
//! assert_eq!(function.label(), ["free", "space"]);
//!
//! // Every object of CPython's tree is a node: contexts and operators, too.
//! let tree: Vec<String> = function.tree.nodes()
//!     .map(|node| format!("{} {}", node.kind, node.attribute.unwrap_or("-")))
//!     .collect();
//! assert_eq!(tree, [
//!     "Module -", "FunctionDef _mask_", "arguments -", "arg self", "Return -", "BinOp -", "Attribute size", "Name self",
//!     "Load -", "Load -", "Sub -", "Constant 1",
//! ]);
//! assert_eq!(function.tree.node(6).parent, Some(5));
//!
//! // Numbers for a model.
//! let mut builder = VocabularyBuilder::default();
//! functions.iter().for_each(|function| builder.add(function));
//! let vocabularies = builder.build(10_000);
//! let ast = vocabularies.encode(function);
//! assert_eq!(ast.dag.op(1), vocabularies.types.op(NodeKind::FunctionDef));
//! assert_eq!(ast.next_token_edges(), [(1, 3), (3, 6), (6, 7), (7, 11)]);
//! # Ok::<(), pace_code::Error>(())
//! ```
//!
//! **Limits.** A source has at most 16 MiB and about 50,000 levels of nesting; beyond that it is an error. CPython itself gives
//! up at 100 blocks or 200 brackets. Integers of more than 4,300 digits are errors, as CPython does not print them.
//!
//! **Known differences.** Half of a surrogate pair in a string (`'\ud800'`), which UTF-8 cannot hold, becomes U+FFFD. Sources
//! are UTF-8: encoding declarations are ignored. Syntax that is newer than 3.11 is accepted in every [`Dialect`].
//!
//! The parser is [ruff](https://docs.astral.sh/ruff/)'s. Only [`Extractor::file`] and [`Extractor::folder`] touch files.

mod dialect;
mod error;
mod extractor;
mod filter;
mod function;
mod input;
mod kind;
mod label;
mod literal;
mod parse;
mod tree;
mod vocabulary;
mod walk;

pub use dialect::Dialect;
pub use error::Error;
pub use extractor::Extractor;
pub use filter::Filter;
pub use function::Function;
pub use input::{Corpus, Counts, Folder, Origin, Part, Sample};
pub use kind::NodeKind;
pub use label::sub_tokens;
pub use parse::MAX_SOURCE_BYTES;
pub use tree::{Node, Tree};
pub use vocabulary::{AttributeVocabulary, NONE, TypeVocabulary, UNKNOWN, Vocabularies, VocabularyBuilder};
