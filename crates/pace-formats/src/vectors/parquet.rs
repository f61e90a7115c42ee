//! [`ParquetFile`]: vectors with their names and targets, as pandas, DuckDB and Spark read them.

use std::io::Write;
use std::sync::Arc;

use parquet::basic::Encoding;
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, FloatType};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;

use crate::error::Error;

/// About this many numbers are collected before they are written as a row group.
const GROUP_NUMBERS: usize = 1 << 22;

/// The names of the elements of a list are those that the format recommends.
const SCHEMA: &str = "message vectors {
    required binary id (STRING);
    optional double target;
    required group vector (LIST) { repeated group list { required float element; } }
}";

/// A Parquet file whose rows are written as they come: `id`, `target` (which may be null) and `vector`, a list of floats.
///
/// ```
/// use pace_formats::ParquetFile;
/// let mut file = ParquetFile::new(Vec::new())?;
/// file.write("resnet", Some(0.93), &[0.1, 0.2])?;
/// file.write("vgg", None, &[0.3, 0.4])?;
/// assert!(file.finish()?.starts_with(b"PAR1"));
/// # Ok::<(), pace_formats::Error>(())
/// ```
pub struct ParquetFile<W: Write + Send> {
    file: SerializedFileWriter<W>,
    ids: Vec<ByteArray>,
    targets: Vec<Option<f64>>,
    lengths: Vec<usize>,
    values: Vec<f32>,
}

impl<W: Write + Send> ParquetFile<W> {
    /// A file without rows.
    ///
    /// # Errors
    /// The writer's.
    pub fn new(writer: W) -> Result<ParquetFile<W>, Error> {
        let schema = Arc::new(parse_message_type(SCHEMA).map_err(failed)?);
        // Neither a dictionary nor the smallest and largest number says anything about coordinates.
        let properties = WriterProperties::builder()
            .set_dictionary_enabled(false)
            .set_encoding(Encoding::PLAIN)
            .set_statistics_enabled(EnabledStatistics::None)
            .build();
        let file = SerializedFileWriter::new(writer, schema, Arc::new(properties)).map_err(failed)?;
        Ok(ParquetFile { file, ids: Vec::new(), targets: Vec::new(), lengths: Vec::new(), values: Vec::new() })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// The writer's.
    pub fn write(&mut self, id: &str, target: Option<f64>, vector: &[f32]) -> Result<(), Error> {
        self.ids.push(ByteArray::from(id));
        self.targets.push(target);
        self.lengths.push(vector.len());
        self.values.extend_from_slice(vector);
        // Rows of nothing cost memory, too.
        if self.values.len() + self.ids.len() >= GROUP_NUMBERS { self.flush() } else { Ok(()) }
    }

    /// Writes what is left and the footer, and returns the writer.
    ///
    /// # Errors
    /// The writer's.
    pub fn finish(mut self) -> Result<W, Error> {
        self.flush()?;
        self.file.into_inner().map_err(failed)
    }

    /// Writes the rows collected so far as a row group.
    fn flush(&mut self) -> Result<(), Error> {
        if self.ids.is_empty() {
            return Ok(());
        }
        let mut group = self.file.next_row_group().map_err(failed)?;
        column::<ByteArrayType, W>(&mut group, &self.ids, None, None).map_err(failed)?;
        let defined: Vec<i16> = self.targets.iter().map(|target| i16::from(target.is_some())).collect();
        let targets: Vec<f64> = self.targets.iter().flatten().copied().collect();
        column::<DoubleType, W>(&mut group, &targets, Some(&defined), None).map_err(failed)?;
        // The first number of a list begins a row. A list of nothing has one entry, that no number stands for.
        let (mut defined, mut repeated) = (Vec::new(), Vec::new());
        for &length in &self.lengths {
            defined.extend(std::iter::repeat_n(i16::from(length > 0), length.max(1)));
            repeated.push(0);
            repeated.extend(std::iter::repeat_n(1, length.saturating_sub(1)));
        }
        column::<FloatType, W>(&mut group, &self.values, Some(&defined), Some(&repeated)).map_err(failed)?;
        group.close().map_err(failed)?;
        self.ids.clear();
        self.targets.clear();
        self.lengths.clear();
        self.values.clear();
        Ok(())
    }
}

/// Writes the next column of a row group.
fn column<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &[T::T],
    defined: Option<&[i16]>,
    repeated: Option<&[i16]>,
) -> Result<(), ParquetError> {
    let next = group.next_column()?;
    let mut column = next.ok_or_else(|| ParquetError::General("the schema has too few columns".to_owned()))?;
    column.typed::<T>().write_batch(values, defined, repeated)?;
    column.close()
}

fn failed(error: ParquetError) -> Error {
    Error::Write { source: std::io::Error::other(error) }
}
