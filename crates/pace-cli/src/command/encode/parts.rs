//! Encoding in parts: by several processes, and again only what is missing.
//!
//! A file of JSON lines is cut at lines into parts of about equally many bytes. Process r of R computes the parts r, r + R, ...; a
//! part whose file is there is done, for files appear whole. Rank 0 writes the index when all are done. The parts do not depend on
//! the number of processes, so another number may go on.

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use pace_formats::{Error as FormatError, Format, GraphFormat, JsonLines};
use pace_graph::disk::write_whole;
use pace_kit::Model;
use pace_train::collective::{Collective, wait};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::output::{Kind, Sink};
use super::{Args, Windows};
use crate::progress;
use crate::source::shown;
use crate::terminal::Terminal;

/// Bytes of a part, if nobody says how many there are ...
const PART_BYTES: u64 = 16 << 20;
/// ... of which there are at least so many, for as many processes.
const FEWEST: u64 = 16;
/// Compressed files cannot be entered in the middle; these are their first bytes.
const COMPRESSED: [&[u8]; 2] = [&[0x1f, 0x8b], &[0xfd, b'7', b'z', b'X', b'Z']];

/// What the parts are parts of: files of other graphs or of another model must not end up in one index.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Whole {
    graphs: String,
    bytes: u64,
    model: String,
    parts: u64,
}

/// Lines of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Part {
    /// Where its first line starts.
    start: u64,
    /// Where the next part starts.
    end: u64,
    /// Graphs before it.
    first: usize,
    /// Graphs in it.
    n_graphs: usize,
}

/// Runs the command.
///
/// # Errors
/// Those of the graphs and the files.
pub fn run(args: &Args, model: &Model, ranks: &dyn Collective, terminal: &Terminal) -> Result<()> {
    let (kind, path) = (Kind::of(&args.out)?, &args.source.path);
    let mut file = open(args)?;
    let bytes = file.get_ref().metadata()?.len();
    let n_parts = args.parts.map_or_else(|| bytes.div_ceil(PART_BYTES).max(FEWEST), u64::from);
    let whole = Whole { graphs: shown(path), bytes, model: pace_kit::model::fingerprint(&args.model)?, parts: n_parts };
    if ranks.rank() == 0 {
        claim(&args.out, &whole)?;
    }
    // Nobody writes a part before it is clear what of.
    wait(ranks);
    let (header, parts) = cut(&mut file, bytes, n_parts).with_context(|| format!("cannot read {}", path.display()))?;
    let width = model.width()?;
    let own: Vec<usize> = (ranks.rank()..parts.len()).step_by(ranks.size()).collect();
    let mut n_computed = 0;
    let bar = terminal.bar(progress::steps(format!("rank {}", ranks.rank()), own.len()));
    for number in own {
        let (part, out) = (&parts[number], part_path(&args.out, number, parts.len()));
        if !out.exists() {
            let each = |sink: &mut Sink<'_>| encode(args, model, &header, part, sink);
            kind.write(&out, (part.n_graphs, width), each)?;
            n_computed += 1;
        }
        bar.inc(1);
    }
    bar.finish_and_clear();
    wait(ranks);
    if ranks.rank() > 0 {
        return Ok(());
    }
    let name = |number| part_path(&args.out, number, parts.len()).file_name().map(|name| name.display().to_string());
    let rows: Vec<_> = parts
        .iter()
        .enumerate()
        .map(|(number, part)| json!({"file": name(number), "first": part.first, "graphs": part.n_graphs}))
        .collect();
    let n_graphs: usize = parts.iter().map(|part| part.n_graphs).sum();
    let result = json!({"graphs": n_graphs, "width": width, "parts": rows});
    let index = beside(&args.out, "index.json");
    write_whole(&index, serde_json::to_string_pretty(&result)?.as_bytes())
        .with_context(|| format!("cannot write {}", index.display()))?;
    let n_parts = parts.len();
    terminal
        .say(format!("this process computed {n_computed} of {n_parts} parts; the others were done, or are of others"));
    terminal.result(&result, || format!("{n_graphs} vectors in {n_parts} files, listed in {}", index.display()))
}

/// A file that can be cut.
fn open(args: &Args) -> Result<BufReader<File>> {
    let path = &args.source.path;
    let format = args.source.how.format.or_else(|| Format::of(path));
    if path.as_os_str() == "-" || path.is_dir() || format != Some(Format::JsonLines) {
        bail!("only one file of JSON lines can be cut into parts, not {}; `pace convert` makes one", shown(path));
    }
    if args.source.how.max_nodes.is_some() {
        bail!("parts are counted before they are read, so --max-nodes cannot leave graphs out; `pace convert` can");
    }
    let cannot = || format!("cannot read {}", path.display());
    let mut file = BufReader::with_capacity(1 << 18, File::open(path).with_context(cannot)?);
    let head = file.fill_buf().with_context(cannot)?;
    if COMPRESSED.iter().any(|magic| head.starts_with(magic)) {
        bail!("{} is compressed, and can only be read from its start; decompress it first", path.display());
    }
    Ok(file)
}

/// Writes down what the parts are parts of, or checks it.
fn claim(out: &Path, whole: &Whole) -> Result<()> {
    let path = beside(out, "parts.json");
    if let Ok(text) = std::fs::read(&path) {
        let found: Option<Whole> = serde_json::from_slice(&text).ok();
        if found.as_ref() != Some(whole) {
            bail!(
                "{} is about parts of other graphs, another model or another number of parts; delete it and the parts, or choose another --out",
                path.display()
            );
        }
        return Ok(());
    }
    let text = serde_json::to_string_pretty(whole)?;
    write_whole(&path, text.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}

/// The first line, if it is a spec, and the parts. One pass over the bytes.
fn cut(file: &mut BufReader<File>, bytes: u64, n_parts: u64) -> std::io::Result<(Vec<u8>, Vec<Part>)> {
    let (mut line, mut header, mut parts) = (Vec::new(), Vec::new(), vec![Part::default(); n_parts as usize]);
    let (mut at, mut n_graphs, mut number) = (0_u64, 0, 0);
    loop {
        line.clear();
        let n_bytes = file.read_until(b'\n', &mut line)? as u64;
        // A line belongs to the part in which it starts.
        while number < parts.len() && (n_bytes == 0 || at >= bytes * number as u64 / n_parts) {
            parts[number] = Part { start: at, end: bytes, first: n_graphs, n_graphs: 0 };
            number += 1;
        }
        if n_bytes == 0 {
            break;
        }
        if at == 0 && is_spec(&line) {
            header.clone_from(&line);
            parts[0].start = n_bytes;
        } else if line.iter().any(|byte| !byte.is_ascii_whitespace()) {
            n_graphs += 1;
        }
        at += n_bytes;
    }
    for number in 0..parts.len() {
        let (end, last) = parts.get(number + 1).map_or((bytes, n_graphs), |next| (next.start, next.first));
        (parts[number].end, parts[number].n_graphs) = (end.max(parts[number].start), last - parts[number].first);
    }
    Ok((header, parts))
}

fn is_spec(line: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Header {
        spec: Option<serde::de::IgnoredAny>,
    }
    serde_json::from_slice::<Header>(line).is_ok_and(|header| header.spec.is_some())
}

/// Encodes the graphs of one part; they are called what they are called in the whole file.
fn encode(args: &Args, model: &Model, header: &[u8], part: &Part, sink: &mut Sink<'_>) -> Result<()> {
    let path = &args.source.path;
    let mut file = File::open(path)?;
    file.seek(SeekFrom::Start(part.start))?;
    let name = format!("{} from byte {}", path.display(), part.start);
    let mut reader = BufReader::with_capacity(1 << 18, header.chain(file.take(part.end - part.start)));
    let mut windows = Windows::new(model, &name, part.first, sink);
    let stem = pace_formats::stem(Path::new(path.file_name().unwrap_or_default()));
    let mut row = part.first;
    let mut each = |mut named: pace_graph::Named| {
        row += 1;
        named.id = named.id.or_else(|| Some(if row == 1 { stem.clone() } else { format!("{stem}:{row}") }));
        windows.push(named).map_err(|error| FormatError::Sink(error.into()))
    };
    if part.n_graphs > 0 {
        JsonLines.read(&mut reader, &name, &args.source.how.options(), &mut each)?;
    }
    windows.finish()
}

/// `vectors-00002-of-00016.npy` for the second part of `vectors.npy`.
fn part_path(out: &Path, number: usize, n_parts: usize) -> PathBuf {
    let stem = out.file_stem().unwrap_or_default().display();
    let ending = out.extension().unwrap_or_default().display();
    out.with_file_name(format!("{stem}-{:05}-of-{n_parts:05}.{ending}", number + 1))
}

/// `vectors.index.json` beside `vectors.npy`.
fn beside(out: &Path, ending: &str) -> PathBuf {
    out.with_file_name(format!("{}.{ending}", out.file_stem().unwrap_or_default().display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts_of(text: &str, n_parts: u64) -> (Vec<u8>, Vec<Part>) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("graphs.jsonl");
        std::fs::write(&path, text).unwrap();
        cut(&mut BufReader::new(File::open(&path).unwrap()), text.len() as u64, n_parts).unwrap()
    }

    #[test]
    fn parts_hold_every_line_once() {
        let graphs: String = (0..50).map(|n| format!("{{\"ops\": [{}]}}\n", "1, ".repeat(n % 7))).collect();
        let header = "{\"spec\": {}}\n";
        for text in [graphs.clone(), format!("{header}{graphs}\n\n"), format!("{header}{}", graphs.trim_end())] {
            for n_parts in [1, 2, 3, 7, 16, 200] {
                let (found, parts) = parts_of(&text, n_parts);
                let start = if text.starts_with(header) { header } else { "" };
                assert_eq!(found, start.as_bytes());
                let read: String = parts.iter().map(|part| &text[part.start as usize..part.end as usize]).collect();
                assert_eq!(read, text[start.len()..], "{n_parts} parts");
                let mut first = 0;
                for part in &parts {
                    let lines = text[part.start as usize..part.end as usize].lines();
                    assert_eq!((part.first, part.n_graphs), (first, lines.filter(|line| !line.is_empty()).count()));
                    first += part.n_graphs;
                }
                assert_eq!(first, 50);
            }
        }
        assert_eq!(parts_of("", 3).1.iter().map(|part| part.n_graphs).sum::<usize>(), 0);
    }

    #[test]
    fn files_are_named_after_the_whole() {
        let out = Path::new("some/vectors.npy");
        assert_eq!(part_path(out, 1, 16), Path::new("some/vectors-00002-of-00016.npy"));
        assert_eq!(beside(out, "index.json"), Path::new("some/vectors.index.json"));
    }
}
