//! The line format of D-VAE's NA and BN files: rows of a lower triangle, a comma, the target.
//!
//! ```text
//! [[1], [4, 0], [5, 0, 1]], 0.7302
//! ```
//!
//! Row i holds a label and then i bits; bit j is set if item j feeds row i.

use super::cursor::Cursor;
use super::{finite, parse_target};
use crate::error::Error;

/// One row: its label, and the numbers of the bits that are set, ascending.
pub(crate) struct Row {
    pub(crate) label: usize,
    pub(crate) bits: Vec<usize>,
}

/// Parses one line.
pub(crate) fn parse(line: &str) -> Result<(Vec<Row>, f64), Error> {
    let mut cursor = Cursor::new(line);
    let mut rows = Vec::new();
    cursor.expect("[", "before the rows")?;
    loop {
        rows.push(parse_row(&mut cursor, rows.len())?);
        if !cursor.either(",", "]", "after a row")? {
            break;
        }
    }
    cursor.expect(",", "between rows and target")?;
    Ok((rows, parse_target(cursor.rest())?))
}

fn parse_row(cursor: &mut Cursor<'_>, n_bits: usize) -> Result<Row, Error> {
    cursor.expect("[", "before a row")?;
    let mut row = Row { label: cursor.number("a label, a number from 0")?, bits: Vec::new() };
    for bit in 0..n_bits {
        cursor.expect(",", &format!("before bit {bit}: row {n_bits} of the triangle has a label and {n_bits} bits"))?;
        if cursor.either("1", "0", "as a bit")? {
            row.bits.push(bit);
        }
    }
    cursor.expect("]", &format!("after the label and {n_bits} bits of a row"))?;
    Ok(row)
}

/// Writes one line, without line break, exactly as the published files have it.
pub(crate) fn format(rows: &[Row], target: f64) -> Result<String, Error> {
    let rows = rows.iter().enumerate().map(|(index, row)| {
        let bits = (0..index).map(|bit| if row.bits.contains(&bit) { ", 1" } else { ", 0" });
        format!("[{}{}]", row.label, bits.collect::<String>())
    });
    Ok(format!("[{}], {}", rows.collect::<Vec<_>>().join(", "), finite(target)?))
}
