//! A file of vectors, written piece by piece, in the format that its ending names.

use std::io::Write;
use std::path::Path;

use anyhow::{Result, bail};
use pace_formats::ParquetFile;
use pace_graph::Named;
use pace_train::embed::MatrixFile;
use serde_json::json;

use crate::file::write_file;

/// Some graphs with their names and vectors.
pub struct Piece<'a> {
    /// The graphs.
    pub graphs: &'a [Named],
    /// Graphs before these.
    pub first: usize,
    /// Their vectors, row by row.
    pub vectors: &'a [f32],
}

impl Piece<'_> {
    fn ids(&self) -> impl Iterator<Item = String> {
        let number = |row: usize| (self.first + row + 1).to_string();
        self.graphs.iter().enumerate().map(move |(row, named)| named.id.clone().unwrap_or_else(|| number(row)))
    }

    /// A line of JSON per graph.
    pub fn write_lines(&self, out: &mut dyn Write) -> Result<()> {
        let width = self.vectors.len() / self.graphs.len();
        for ((id, named), vector) in self.ids().zip(self.graphs).zip(self.vectors.chunks(width)) {
            let line = match named.target {
                Some(target) => json!({"id": id, "target": target, "vector": vector}),
                None => json!({"id": id, "vector": vector}),
            };
            writeln!(out, "{line}")?;
        }
        Ok(())
    }
}

/// What takes pieces, one after another.
pub type Sink<'a> = dyn FnMut(Piece<'_>) -> Result<()> + 'a;

/// The formats of vectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// numpy's.
    Npy,
    /// One tensor, `embeddings`.
    Safetensors,
    /// With names and scores.
    Parquet,
    /// With names and scores, as text.
    Lines,
}

impl Kind {
    /// What the ending of a name says.
    ///
    /// # Errors
    /// Another ending.
    pub fn of(path: &Path) -> Result<Kind> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default().to_ascii_lowercase();
        Ok(match ending.as_str() {
            "npy" => Kind::Npy,
            "safetensors" => Kind::Safetensors,
            "parquet" => Kind::Parquet,
            "jsonl" => Kind::Lines,
            _ => bail!("the ending of {} is none of .npy, .safetensors, .parquet and .jsonl", path.display()),
        })
    }

    /// Whether the head of a file says how many rows follow.
    pub fn is_counted(self) -> bool {
        matches!(self, Kind::Npy | Kind::Safetensors)
    }

    /// Writes the file, whole or not at all. `pieces` calls its sink with all pieces in order; `n_rows` they have together, which
    /// counts only for formats that [are counted](Self::is_counted).
    ///
    /// # Errors
    /// Those of `pieces`, or of the disk.
    pub fn write(
        self,
        path: &Path,
        (n_rows, width): (usize, usize),
        pieces: impl FnOnce(&mut Sink<'_>) -> Result<()>,
    ) -> Result<()> {
        write_file(path, |out| match self {
            Kind::Npy | Kind::Safetensors => {
                let mut matrix = match self {
                    Kind::Npy => MatrixFile::npy(out, n_rows, width)?,
                    _ => MatrixFile::safetensors(out, "embeddings", n_rows, width)?,
                };
                pieces(&mut |piece| Ok(matrix.write(piece.vectors)?))?;
                Ok(matrix.finish().map(drop)?)
            }
            Kind::Parquet => {
                let mut parquet = ParquetFile::new(out)?;
                pieces(&mut |piece| {
                    for ((id, named), vector) in piece.ids().zip(piece.graphs).zip(piece.vectors.chunks(width)) {
                        parquet.write(&id, named.target, vector)?;
                    }
                    Ok(())
                })?;
                Ok(parquet.finish().map(drop)?)
            }
            Kind::Lines => pieces(&mut |piece| piece.write_lines(out)),
        })
    }
}
