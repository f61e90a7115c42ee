//! gzip and xz around a file.

use std::io::{BufRead, Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use pace_graph::dataset::{DatasetFormat, Na, decompressed};

use super::dataset::na_seeds;
use crate::FILE;
use crate::law::named;

/// A bomb is stopped here; programs read files as long as they are.
const MAX_BYTES: u64 = 1 << 22;
/// `xz -0` of the line `[[1], [4, 0], [5, 0, 1]], 0.7302`, because we have no writer of xz.
const XZ: &str = include_str!("line.xz.hex");

/// A file as it is, as gzip and as xz.
pub fn seeds() -> Vec<Vec<u8>> {
    let plain = na_seeds().swap_remove(0);
    let gzip = |level| {
        let mut encoder = GzEncoder::new(Vec::new(), level);
        encoder.write_all(&plain).expect("to memory");
        encoder.finish().expect("to memory")
    };
    let digits: Vec<u32> = XZ.chars().filter_map(|digit| digit.to_digit(16)).collect();
    let xz = digits.chunks_exact(2).map(|pair| (pair[0] << 4 | pair[1]) as u8).collect();
    vec![gzip(Compression::best()), gzip(Compression::none()), xz, plain]
}

/// Damaged data is an error of the reader that meets it.
pub fn read(input: &[u8]) {
    let Ok(reader) = decompressed(input) else { return };
    let mut reader = std::io::BufReader::new(reader.take(MAX_BYTES));
    let reader: &mut dyn BufRead = &mut reader;
    named(Na { burn_in: 0 }.read(reader, FILE, &mut |_| {}));
}
