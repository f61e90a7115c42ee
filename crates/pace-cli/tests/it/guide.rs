//! The guides: every shell block of docs/guide runs as it stands, in an empty folder.

use std::path::{Path, PathBuf};
use std::process::Command;

/// What stands between "```sh" and "```", without the indentation of lists.
fn shell_blocks(text: &str) -> Vec<String> {
    let (mut blocks, mut open) = (Vec::new(), None::<(usize, String)>);
    for line in text.lines() {
        let bare = line.trim_start();
        match &mut open {
            None if bare == "```sh" => open = Some((line.len() - bare.len(), String::new())),
            None => {}
            Some(_) if bare == "```" => blocks.extend(open.take().map(|(_, block)| block)),
            Some((indent, block)) => {
                block.push_str(line.get(*indent..).unwrap_or(bare));
                block.push('\n');
            }
        }
    }
    blocks
}

fn run(guide: &Path) {
    let dir = tempfile::tempdir().unwrap();
    let blocks = shell_blocks(&std::fs::read_to_string(guide).unwrap());
    assert!(!blocks.is_empty(), "{} shows no command", guide.display());
    let pace = PathBuf::from(env!("CARGO_BIN_EXE_pace"));
    let path = format!("{}:{}", pace.parent().unwrap().display(), std::env::var("PATH").unwrap_or_default());
    for block in blocks {
        let output = Command::new("sh").args(["-e", "-c", &block]).env("PATH", &path).current_dir(dir.path()).output();
        let output = output.expect("a shell");
        let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}:\n{block}\n{said}", guide.display());
    }
}

#[test]
fn every_command_of_the_guides_works() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
    let mut guides: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    guides.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    guides.sort();
    assert!(guides.len() >= 4);
    guides.iter().for_each(|guide| run(guide));
}

#[test]
fn blocks_are_found_inside_lists() {
    let text = "1. Do\n\n   ```sh\n   a \\\n     b\n   ```\n```text\nno\n```\n```sh\nc\n```\n";
    assert_eq!(shell_blocks(text), ["a \\\n  b\n", "c\n"]);
}
