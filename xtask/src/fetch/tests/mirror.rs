//! The mirror comes first, is held to the same checksums, and may lack what it likes.

use std::path::{Path, PathBuf};

use serde_json::json;

use super::server::{BODY, BODY_SHA256, Log, Manner, ranges, serve};
use super::{PATIENCE, remote, target};
use crate::fetch::download::{Outcome, download};
use crate::fetch::source::{Mirror, Source};
use crate::fetch::{Args, run};
use crate::root::test_dir;

/// Downloads from a mirror and an upstream of these manners.
fn both(name: &str, mirror: Manner, upstream: Manner) -> (anyhow::Result<Outcome>, Log, Log) {
    let ((first, asked_first), (second, asked_second)) = (serve(mirror), serve(upstream));
    let file = remote(&second, Some(BODY_SHA256));
    let mirror = Mirror::chosen(Some(&first), None).unwrap().unwrap();
    let sources = [mirror.source("na", &file), Source::upstream(&file)];
    (download(&file, &sources, &target(name), PATIENCE), asked_first, asked_second)
}

#[test]
fn a_mirror_that_has_the_file_is_enough() {
    let (outcome, mirror, upstream) = both("mirror-enough", Manner::Ranges, Manner::NotFound);
    assert_eq!(outcome.unwrap(), Outcome::Verified);
    assert_eq!(*mirror.lock().unwrap(), [("/na/file.txt".to_owned(), None)]);
    assert!(ranges(&upstream).is_empty());
}

#[test]
fn what_a_mirror_lacks_comes_from_upstream() {
    let (outcome, mirror, upstream) = both("mirror-lacks", Manner::NotFound, Manner::Ranges);
    assert_eq!(outcome.unwrap(), Outcome::Verified);
    assert_eq!((ranges(&mirror).len(), ranges(&upstream)), (1, vec![None]), "asked once, no retry");
}

#[test]
fn a_mirror_with_another_file_is_not_believed() {
    let (outcome, _, upstream) = both("mirror-lies", Manner::Lies, Manner::Ranges);
    assert_eq!(outcome.unwrap(), Outcome::Verified);
    assert_eq!(ranges(&upstream), [None], "nothing of the wrong file is continued");
    let (outcome, ..) = both("mirror-lies-alone", Manner::Lies, Manner::NotFound);
    assert!(format!("{:#}", outcome.unwrap_err()).contains("404"));
}

#[test]
fn upstream_continues_what_a_mirror_began() {
    let name = "mirror-began";
    let (url, seen) = serve(Manner::Ranges);
    let file = remote(&url, Some(BODY_SHA256));
    let sources = [Source::Http("http://127.0.0.1:1/nobody".to_owned()), Source::upstream(&file)];
    let target = super::with_partial(name, &BODY[..7]);
    assert_eq!(download(&file, &sources, &target, PATIENCE).unwrap(), Outcome::Verified);
    assert_eq!(ranges(&seen), [Some("bytes=7-".to_owned())]);
}

/// A folder that holds one file of the dataset `local`, a manifest that names it, and where the copy goes.
fn folder(name: &str, content: &[u8]) -> (PathBuf, Args) {
    let dir = test_dir(name);
    std::fs::create_dir_all(dir.join("mirror/local")).unwrap();
    std::fs::write(dir.join("mirror/local/file.txt"), content).unwrap();
    let (upstream, _) = serve(Manner::NotFound);
    let file = json!({"path": "file.txt", "url": format!("{upstream}/x"), "bytes": 20, "sha256": BODY_SHA256});
    let local = json!({"id": "local", "title": "", "licence": "", "files": [file]});
    let empty = json!({"id": "empty", "title": "", "licence": "", "files": []});
    std::fs::write(dir.join("manifest.json"), json!({"datasets": [local, empty]}).to_string()).unwrap();
    let args = Args {
        id: Some("local".to_owned()),
        mirror: Some(format!("file://{}", dir.join("mirror").display())),
        manifest: Some(dir.join("manifest.json")),
        into: Some(dir.join("data")),
    };
    (dir, args)
}

fn parts(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir.join("data/local")).into_iter().flatten().flatten();
    entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_folder_can_be_a_mirror() {
    let (dir, args) = folder("mirror-folder", BODY);
    run(&args).unwrap();
    assert_eq!(parts(&dir), ["file.txt"]);
    assert_eq!(std::fs::read(dir.join("data/local/file.txt")).unwrap(), BODY);
    // A part is continued, a longer one is none of this file.
    for part in [&BODY[..7], &[b'x'; 30]] {
        std::fs::rename(dir.join("data/local/file.txt"), dir.join("old")).unwrap();
        std::fs::write(dir.join("data/local/file.txt.part"), part).unwrap();
        run(&args).unwrap();
        assert_eq!(std::fs::read(dir.join("data/local/file.txt")).unwrap(), BODY);
    }
}

#[test]
fn a_folder_with_the_wrong_file_leaves_nothing_behind() {
    let (dir, args) = folder("mirror-folder-wrong", b"half of i");
    let message = format!("{:#}", run(&args).unwrap_err());
    assert!(message.contains("file.txt") && message.contains("404"), "{message}");
    assert!(!dir.join("data/local/file.txt").exists());
    assert!(std::fs::read(dir.join("data/local/file.txt.part")).unwrap().is_empty());
}

#[test]
fn a_dataset_without_files_says_where_to_look() {
    let (_, args) = folder("mirror-empty", BODY);
    let message = run(&Args { id: Some("empty".to_owned()), ..args }).unwrap_err().to_string();
    assert!(message.contains("lists no files of empty") && message.contains("README"), "{message}");
}
