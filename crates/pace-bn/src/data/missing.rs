//! What counts as a missing value.

/// Texts that stand for a missing value in the files of R, pandas and Weka.
const MISSING: [&str; 7] = ["", "NA", "N/A", "NaN", "nan", "null", "?"];

/// Whether a cell holds no value.
pub(super) fn is_missing(cell: &str) -> bool {
    MISSING.contains(&cell)
}
