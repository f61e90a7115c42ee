//! The formats of graphs: one sibling per format, chosen by name or by extension.
//!
//! To add a format: one file here with a type that implements [`GraphFormat`], a variant of [`Format`] with its name, its
//! extensions and its arm in `chosen`, and its round trip in `tests/it`.

use std::fmt;
use std::io::{BufRead, Write};
use std::path::Path;
use std::str::FromStr;

use pace_graph::Named;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::options::ReadOptions;
use crate::summary::Summary;

mod bif;
mod dot;
mod graphml;
mod json_lines;
mod node_link;
mod onnx;
mod python;

pub use bif::Bif;
pub use dot::Dot;
pub use graphml::GraphMl;
pub use json_lines::JsonLines;
pub use node_link::NodeLink;
pub use onnx::Onnx;
pub use python::Python;

/// Receives graphs in file order. An error of its own ends the reading and comes back as it is, see [`Error::Sink`].
pub type Sink<'a> = &'a mut dyn FnMut(Named) -> Result<(), Error>;

/// How graphs are read from a file and written to one.
pub trait GraphFormat {
    /// Reads graph by graph: memory holds one of them. `file` is the name that messages use.
    ///
    /// Every graph that is handed on is a DAG. Bad input is an [`Error`] that names file, place, reason and remedy; never a
    /// panic, and never more memory than the graph has bytes times a constant.
    ///
    /// # Errors
    /// What is wrong with the file, or the sink's.
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error>;

    /// Writes graphs, such that [`GraphFormat::read`] gives the same.
    ///
    /// # Errors
    /// The writer's, a graph that is no DAG, or one that the format cannot hold.
    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error>;
}

/// The formats that our own commands know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Format {
    /// Our own: one JSON object per line.
    JsonLines,
    /// networkx' node-link JSON.
    NodeLink,
    /// GraphViz.
    Dot,
    /// GraphML.
    #[serde(rename = "graphml")]
    GraphMl,
    /// Neural networks in ONNX.
    Onnx,
    /// Bayesian networks in BIF.
    Bif,
    /// Functions in Python sources.
    Python,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 7] =
        [Format::JsonLines, Format::NodeLink, Format::Dot, Format::GraphMl, Format::Onnx, Format::Bif, Format::Python];

    /// Their names, in the order of [`Format::ALL`].
    pub const NAMES: [&str; 7] = ["json-lines", "node-link", "dot", "graphml", "onnx", "bif", "python"];

    /// The name, e.g. for an option of a command.
    pub fn name(self) -> &'static str {
        match self {
            Format::JsonLines => "json-lines",
            Format::NodeLink => "node-link",
            Format::Dot => "dot",
            Format::GraphMl => "graphml",
            Format::Onnx => "onnx",
            Format::Bif => "bif",
            Format::Python => "python",
        }
    }

    /// The extensions by which files of this format are known.
    pub fn extensions(self) -> &'static [&'static str] {
        match self {
            Format::JsonLines => &["jsonl", "ndjson"],
            Format::NodeLink => &["json"],
            Format::Dot => &["dot", "gv"],
            Format::GraphMl => &["graphml"],
            Format::Onnx => &["onnx"],
            Format::Bif => &["bif"],
            Format::Python => &["py"],
        }
    }

    /// Whether graphs can be written, too.
    pub fn is_written(self) -> bool {
        self != Format::Python
    }

    /// Whether one file holds many parts of something larger, each with a name of its own: of such a folder, files without a graph and
    /// files that nothing can be made of do not end the reading.
    pub fn is_source(self) -> bool {
        self == Format::Python
    }

    /// The format that the extension of a path says, with or without `.gz` or `.xz` behind it.
    ///
    /// ```
    /// use pace_formats::Format;
    /// assert_eq!(Format::of("nets/alarm.bif.gz".as_ref()), Some(Format::Bif));
    /// assert_eq!(Format::of("notes.txt".as_ref()), None);
    /// ```
    pub fn of(path: &Path) -> Option<Format> {
        let path = crate::path::without_compression(path);
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Format::ALL.into_iter().find(|format| format.extensions().contains(&extension.as_str()))
    }

    fn chosen(self) -> &'static dyn GraphFormat {
        match self {
            Format::JsonLines => &JsonLines,
            Format::NodeLink => &NodeLink,
            Format::Dot => &Dot,
            Format::GraphMl => &GraphMl,
            Format::Onnx => &Onnx,
            Format::Bif => &Bif,
            Format::Python => &Python,
        }
    }
}

impl GraphFormat for Format {
    fn read(
        &self,
        reader: &mut dyn BufRead,
        file: &str,
        options: &ReadOptions,
        sink: &mut dyn FnMut(Named) -> Result<(), Error>,
    ) -> Result<Summary, Error> {
        self.chosen().read(reader, file, options, sink)
    }

    fn write(&self, graphs: &mut dyn Iterator<Item = &Named>, writer: &mut dyn Write) -> Result<(), Error> {
        self.chosen().write(graphs, writer)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Format {
    type Err = Error;

    fn from_str(name: &str) -> Result<Format, Error> {
        let unknown = || Error::UnknownFormat { name: name.to_owned(), known: Format::NAMES.join(", ") };
        Format::ALL.into_iter().find(|format| format.name() == name).ok_or_else(unknown)
    }
}
