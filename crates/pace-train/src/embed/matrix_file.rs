//! [`MatrixFile`]: a matrix of vectors in a file that NumPy or safetensors can read.

use std::io::{self, Write};

/// A matrix file whose rows are written as they come; its shape is known from the start.
#[derive(Debug)]
pub struct MatrixFile<W> {
    file: W,
    /// Numbers that are still to come.
    missing: usize,
}

impl<W: Write> MatrixFile<W> {
    /// NumPy's format, version 1.0, of 32-bit floats: `numpy.load` reads it.
    ///
    /// # Errors
    /// The writer's.
    pub fn npy(mut file: W, n_rows: usize, n_columns: usize) -> io::Result<MatrixFile<W>> {
        let shape = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({n_rows}, {n_columns}), }}");
        // Magic, version and length are 10 bytes; the numbers start at a multiple of 64.
        let padding = 63 - (10 + shape.len()) % 64;
        let header = format!("{shape}{}\n", " ".repeat(padding));
        file.write_all(b"\x93NUMPY\x01\x00")?;
        file.write_all(&(header.len() as u16).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        Ok(MatrixFile { file, missing: n_rows * n_columns })
    }

    /// The safetensors format with one tensor called `name`. The header comes first, so the matrix can be streamed; the
    /// `safetensors` crate does not offer that.
    ///
    /// # Errors
    /// The writer's.
    pub fn safetensors(mut file: W, name: &str, n_rows: usize, n_columns: usize) -> io::Result<MatrixFile<W>> {
        let tensor = serde_json::json!({
            "dtype": "F32", "shape": [n_rows, n_columns], "data_offsets": [0, 4 * n_rows * n_columns]
        });
        let mut header = serde_json::json!({ name: tensor }).to_string();
        // The numbers start at a multiple of 8, as the format asks.
        header.push_str(&" ".repeat((8 - header.len() % 8) % 8));
        file.write_all(&(header.len() as u64).to_le_bytes())?;
        file.write_all(header.as_bytes())?;
        Ok(MatrixFile { file, missing: n_rows * n_columns })
    }

    /// Writes the next rows.
    ///
    /// # Errors
    /// The writer's, or more rows than were announced.
    pub fn write(&mut self, shard: &[f32]) -> io::Result<()> {
        let too_many = || io::Error::new(io::ErrorKind::InvalidInput, "more rows than the header says");
        self.missing = self.missing.checked_sub(shard.len()).ok_or_else(too_many)?;
        let bytes: Vec<u8> = shard.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.file.write_all(&bytes)
    }

    /// Ends the file and returns the writer.
    ///
    /// # Errors
    /// The writer's, or fewer rows than were announced.
    pub fn finish(mut self) -> io::Result<W> {
        if self.missing > 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "fewer rows than the header says"));
        }
        self.file.flush()?;
        Ok(self.file)
    }
}
