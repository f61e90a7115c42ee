//! An ONNX model of gigabytes, made as it is read: its weights are never held.

use std::fs;
use std::io::{self, BufRead, Read};

use pace_checkout::say_skipped;
use pace_formats::{Format, GraphFormat, ReadOptions};

use crate::support::{graph, written};

/// Bytes, zeros, bytes: nothing of it is on the disk.
struct Generated {
    parts: [Vec<u8>; 2],
    n_zeros: u64,
    /// Which of the three is being read, and how far.
    part: usize,
    at: u64,
}

static ZEROS: [u8; 1 << 16] = [0; 1 << 16];

impl BufRead for Generated {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let lengths = [self.parts[0].len() as u64, self.n_zeros, self.parts[1].len() as u64];
        while self.part < 2 && self.at == lengths[self.part] {
            (self.part, self.at) = (self.part + 1, 0);
        }
        Ok(match self.part {
            1 => &ZEROS[..(self.n_zeros - self.at).min(ZEROS.len() as u64) as usize],
            part => &self.parts[part / 2][self.at as usize..],
        })
    }

    fn consume(&mut self, n_bytes: usize) {
        self.at += n_bytes as u64;
    }
}

impl Read for Generated {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let n_bytes = self.fill_buf()?.read(bytes)?;
        self.consume(n_bytes);
        Ok(n_bytes)
    }
}

fn varint(mut number: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
    bytes
}

/// The most memory that this process has ever held, as Linux counts it.
fn peak_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kib| kib << 10)
}

#[test]
fn weights_are_not_held() {
    const WEIGHTS: u64 = 16 << 30;
    // A graph with one initialiser: its name, then its `raw_data`, whose length stands before it.
    let mut tensor = [&[8 << 3 | 2, 1, b'w', 9 << 3 | 2], varint(WEIGHTS).as_slice()].concat();
    let tensor_bytes = tensor.len() as u64 + WEIGHTS;
    let mut before = [&[5 << 3 | 2], varint(tensor_bytes).as_slice()].concat();
    before.append(&mut tensor);
    let graph_bytes = before.len() as u64 + WEIGHTS;
    let before = [&[7 << 3 | 2], varint(graph_bytes).as_slice(), &before].concat();
    // Then a whole model behind it: protobuf merges the two.
    let after = written(Format::Onnx, &[graph("Conv Relu", &[(0, 1)])]);
    let mut reader = Generated { parts: [before, after], n_zeros: WEIGHTS, part: 0, at: 0 };
    let mut graphs = Vec::new();
    let options = ReadOptions { keep_constants: true, ..ReadOptions::default() };
    let mut sink = |graph| {
        graphs.push(graph);
        Ok(())
    };
    Format::Onnx.read(&mut reader, "huge.onnx", &options, &mut sink).unwrap();
    assert_eq!(graphs[0].ops, ["Initializer", "Conv", "Relu"]);
    assert_eq!(graphs[0].edges, [(1, 2)]);
    match peak_bytes() {
        // All other tests of this binary run beside this one.
        Some(peak) => assert!(peak < WEIGHTS / 16, "{peak} bytes"),
        None => say_skipped("no /proc/self/status, so the memory is not checked"),
    }
}
