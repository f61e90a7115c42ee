//! Compressed files: found under any of their names, recognised by content, and refused if damaged.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;
use pace_graph::Error;
use pace_graph::dataset::{DataDir, DatasetFormat, Na, decompressed};

const LINES: &str = "[[1], [4, 0], [5, 0, 1]], 0.7302\n[[1], [4, 1], [5, 0, 0]], 0.7102\n";

/// The two lines, compressed by xz 5 (`xz --check=crc64`).
const XZ: &str = concat!(
    "fd377a585a000004e6d6b446020021010c0000008f98419ce0004100275d002d96c22448050455dfd17e285ea97b01e35129",
    "e71cb695db1d5f89741ca17d80e3f073549f5c000000d14eca8b5a75c0f500014342518900631fb6f37d010000000004595a",
);

fn xz() -> Vec<u8> {
    (0..XZ.len()).step_by(2).map(|at| u8::from_str_radix(&XZ[at..at + 2], 16).expect("hex")).collect()
}

fn gzip() -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(LINES.as_bytes()).expect("memory");
    encoder.finish().expect("memory")
}

fn read(bytes: &[u8]) -> Result<usize, Error> {
    let mut reader = decompressed(bytes).map_err(|source| Error::Io { file: "my.file".to_owned(), source })?;
    Na { burn_in: 0 }.read(&mut *reader, "my.file", &mut |_| {}).map(|dataset| dataset.samples.len())
}

#[test]
fn content_decides_about_compression() {
    for bytes in [LINES.as_bytes().to_vec(), xz(), gzip()] {
        assert_eq!(read(&bytes).expect("two good lines"), 2);
    }
}

#[test]
fn truncated_at_every_byte() {
    for whole in [xz(), gzip()] {
        for cut in 6..whole.len() {
            let message = read(&whole[..cut]).expect_err("cut off").to_string();
            assert!(message.contains("my.file") && message.contains("fetch"), "cut at {cut}: {message}");
        }
    }
}

#[test]
fn damaged_at_every_byte() {
    // The magic numbers are left alone: without them it is another kind of file. So is what nothing protects: the time
    // stamp and the system of a gzip header.
    for (whole, first) in [(xz(), 6), (gzip(), 10)] {
        for at in first..whole.len() {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            let message = read(&bytes).expect_err("damaged").to_string();
            assert!(message.contains("my.file") && message.contains("fetch"), "damaged at {at}: {message}");
        }
    }
}

#[test]
fn files_are_found_under_any_of_their_names() {
    let root = std::env::temp_dir().join(format!("pace-graph-source-{}", std::process::id()));
    std::fs::create_dir_all(root.join("na")).expect("a folder for this test");
    let dir = DataDir::at(&root);
    for (name, bytes) in [("a.txt", LINES.as_bytes().to_vec()), ("b.txt.xz", xz()), ("c.txt.gz", gzip())] {
        std::fs::write(root.join("na").join(name), bytes).expect("a file for this test");
    }
    for file in ["a.txt", "b.txt", "c.txt"] {
        let dataset = dir.read(&Na { burn_in: 0 }, "na", file, &mut |_| {}).expect("two good lines");
        assert_eq!(dataset.samples.len(), 2);
    }
    let message = dir.open("na", "d.txt").map(drop).expect_err("no such file").to_string();
    for word in ["na/d.txt", "d.txt.xz", root.to_str().expect("a plain path"), "check that the path exists"] {
        assert!(message.contains(word), "'{word}' is not in: {message}");
    }
    let two = DataDir::among([root.join("absent"), root.clone()]);
    assert_eq!(two.find("na", "a.txt"), Some(root.join("na/a.txt")), "a folder that does not exist is passed over");
    std::fs::remove_dir_all(&root).expect("the folder of this test");
}
