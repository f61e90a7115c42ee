//! Files, folders and compressed files.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use pace_formats::{Error, Format, ReadOptions, Summary, read_path};
use pace_graph::Named;
use pace_graph::dataset::Progress;

use crate::support::{graph, written};

fn read(path: &Path, format: Option<Format>) -> Result<(Vec<Named>, Summary, Progress), Error> {
    let (mut graphs, mut last) = (Vec::new(), Progress::default());
    let mut progress = |now: Progress| {
        assert!(now.bytes >= last.bytes && now.rows >= last.rows);
        last = now;
    };
    let summary = read_path(path, format, &ReadOptions::default(), &mut progress, &mut |graph| {
        graphs.push(graph);
        Ok(())
    })?;
    Ok((graphs, summary, last))
}

#[test]
fn folders() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path();
    fs::create_dir_all(root.join("sub/deep")).unwrap();
    let nets = [graph("a b", &[(0, 1)]), graph("c", &[])];
    fs::write(root.join("sub/z.dot"), written(Format::Dot, &nets)).unwrap();
    fs::write(root.join("notes.txt"), "no graph").unwrap();
    let bif = written(Format::Bif, &nets[..1]);
    let mut packed = GzEncoder::new(File::create(root.join("sub/deep/a.bif.gz")).unwrap(), Compression::fast());
    packed.write_all(&bif).unwrap();
    packed.finish().unwrap();

    let (graphs, summary, progress) = read(root, None).unwrap();
    let ids: Vec<&str> = graphs.iter().filter_map(|graph| graph.id.as_deref()).collect();
    assert_eq!(ids, ["sub/deep/a", "sub/z", "sub/z:2"]);
    assert_eq!((summary.files, summary.skipped_files, summary.rows), (2, 1, 3));
    let n_bytes = bif.len() + written(Format::Dot, &nets).len();
    assert_eq!(progress, Progress { rows: 3, bytes: n_bytes as u64 }, "after decompression");

    let (graphs, summary, _) = read(root, Some(Format::Dot)).unwrap();
    assert_eq!((graphs.len(), summary.skipped_files), (2, 2));
    let (graphs, ..) = read(&root.join("sub/z.dot"), None).unwrap();
    assert_eq!(graphs[0].id.as_deref(), Some("z"));
    assert_eq!(
        read(root, Some(Format::Onnx)).unwrap_err().to_string(),
        format!("{}: no graphs; give a file with at least one", root.display())
    );
}

#[test]
fn files_that_cannot_be_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.net");
    let said = read(&path, None).unwrap_err().to_string();
    assert!(said.starts_with(&format!("cannot read {}: ", path.display())), "{said}");
    fs::write(&path, "digraph { a").unwrap();
    assert_eq!(
        read(&path, None).unwrap_err().to_string(),
        format!("unknown format '{}'; choose one of {}", path.display(), Format::NAMES.join(", "))
    );
    let said = read(&path, Some(Format::Dot)).unwrap_err().to_string();
    assert!(said.starts_with(&format!("{}, line 1: the file ends", path.display())), "{said}");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&written(Format::Dot, &[graph("a b", &[(0, 1)])])).unwrap();
    let packed = packed.finish().unwrap();
    fs::write(&path, &packed[..packed.len() - 9]).unwrap();
    let said = read(&path, Some(Format::Dot)).unwrap_err().to_string();
    assert!(said.contains("the file ends in the middle of compressed data"), "{said}");
    assert!(read(Path::new("-"), None).unwrap_err().to_string().starts_with("unknown format '-'"));
}

#[test]
fn progress_comes_while_reading() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.jsonl");
    let many: Vec<Named> = (0..60_000).map(|_| graph("conv conv add", &[(0, 1), (0, 2), (1, 2)])).collect();
    fs::write(&path, written(Format::JsonLines, &many)).unwrap();
    let mut n_calls = 0;
    let summary = read_path(&path, None, &ReadOptions::default(), &mut |_| n_calls += 1, &mut |_| Ok(())).unwrap();
    assert_eq!(summary.rows, 60_000);
    assert!(n_calls >= 3, "{n_calls} calls");
}
