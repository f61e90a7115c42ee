//! Files and folders.

use std::fs;
use std::path::Path;

use pace_code::{Counts, Error, Extractor, Filter};

fn write(root: &Path, path: &str, content: impl AsRef<[u8]>) {
    let path = root.join(path);
    fs::create_dir_all(path.parent().expect("below the root")).expect("a folder");
    fs::write(path, content).expect("a file");
}

/// Name of the function, or the message.
fn shown(sample: Result<pace_code::Sample, Error>) -> String {
    sample.map_or_else(|error| error.to_string(), |sample| sample.function.name)
}

#[test]
fn bad_files_are_errors_in_their_place() {
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "c/d/last.py", "def last(): pass\n");
    write(root, "a.py", "def first(): pass\ndef test_second(): pass\n");
    write(root, "b/empty.py", "");
    write(root, "b/latin.py", b"x = 1\ny = '\xe9'\n");
    write(root, "b/syntax.py", "def f(:\n");
    write(root, "b/constants.py", "x = 1\n");
    write(root, "b/data.txt", "def no(): pass\n");
    write(root, "b/script", "def no(): pass\n");
    fs::create_dir(root.join("folder.py")).expect("a folder");
    let extractor = Extractor { filter: Filter { no_test: true, ..Filter::default() }, ..Extractor::default() };
    let mut folder = extractor.folder(root).expect("a folder");
    let found: Vec<String> = folder.by_ref().map(shown).collect();
    let place = |name: &str| root.join(name).display().to_string();
    assert_eq!(found.len(), 5, "{found:?}");
    assert_eq!(found[0], "first");
    assert_eq!(found[1], format!("{}: the source holds no statement; leave it out", place("b/empty.py")));
    assert_eq!(found[2], format!("{}: line 2: not UTF-8; save the source as UTF-8", place("b/latin.py")));
    assert!(found[3].starts_with(&format!("{}: line 1: ", place("b/syntax.py"))), "{}", found[3]);
    assert_eq!(found[4], "last");
    assert_eq!(folder.counts(), Counts { n_sources: 6, n_functions: 2, n_refused: 1, n_errors: 3 });
    assert!(folder.next().is_none());
}

#[test]
fn more_files_than_a_block_come_in_order() {
    let root = tempfile::tempdir().expect("a folder");
    for file in 0..150 {
        write(root.path(), &format!("{file:03}.py"), format!("def f{file:03}(): pass\ndef g(): pass\n"));
    }
    let folder = Extractor::default().folder(root.path()).expect("a folder");
    let names: Vec<String> = folder.map(shown).step_by(2).collect();
    assert_eq!(names, (0..150).map(|file| format!("f{file:03}")).collect::<Vec<_>>());
}

#[test]
fn one_file_needs_no_ending() {
    let root = tempfile::tempdir().expect("a folder");
    write(root.path(), "script", "\u{feff}def f(): pass\n");
    let path = root.path().join("script");
    let names: Vec<String> = Extractor::default().folder(&path).expect("a file").map(shown).collect();
    assert_eq!(names, ["f"]);
    assert_eq!(Extractor::default().file(&path).expect("a file").len(), 1);
    let absent = root.path().join("absent.py");
    for error in [Extractor::default().folder(&absent).err(), Extractor::default().file(&absent).err()] {
        let message = error.expect("absent").to_string();
        assert!(message.starts_with(&format!("cannot read {}: ", absent.display())), "{message}");
    }
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_in_circles() {
    use std::os::unix::fs::symlink;
    let root = tempfile::tempdir().expect("a folder");
    let root = root.path();
    write(root, "a/real.py", "def f(): pass\n");
    symlink(root, root.join("a/loop")).expect("a link");
    symlink(root, root.join("a/loop.py")).expect("a link");
    symlink(root.join("a/real.py"), root.join("link.py")).expect("a link");
    symlink(root.join("nowhere.py"), root.join("broken.py")).expect("a link");
    let found: Vec<String> = Extractor::default().folder(root).expect("a folder").map(shown).collect();
    assert_eq!((found.len(), &*found[0], &*found[2]), (3, "f", "f"), "{found:?}");
    assert!(found[1].starts_with("cannot read ") && found[1].contains("broken.py"), "{}", found[1]);
}
