//! Downloads from a small server on the loopback interface.

mod mirror;
mod server;

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::download::{self, Outcome, Patience};
use super::manifest::{Manifest, RemoteFile};
use super::source::Source;
use crate::root::test_dir;
use server::{BODY, BODY_SHA256, Manner, ranges, serve};

/// Tests wait for nobody.
const PATIENCE: Patience =
    Patience { attempts: 8, pause: Duration::from_millis(20), silence: Duration::from_millis(500) };

/// Downloads from upstream alone.
fn download(file: &RemoteFile, target: &Path) -> anyhow::Result<Outcome> {
    download::download(file, &[Source::upstream(file)], target, PATIENCE)
}

fn remote(url: &str, sha256: Option<&str>) -> RemoteFile {
    let sha256 = sha256.map(str::to_owned);
    RemoteFile { path: "file.txt".to_owned(), url: format!("{url}/file.txt"), bytes: None, sha256, unpack_to: None }
}

fn target(name: &str) -> PathBuf {
    test_dir(name).join("sub/file.txt")
}

fn with_partial(name: &str, content: &[u8]) -> PathBuf {
    let target = target(name);
    std::fs::create_dir_all(target.parent().unwrap()).unwrap();
    std::fs::write(target.with_file_name("file.txt.part"), content).unwrap();
    target
}

#[test]
fn downloads_verifies_and_does_not_repeat_itself() {
    let (url, seen) = serve(Manner::Ranges);
    let target = target("fetch-plain");
    let file = remote(&url, Some(BODY_SHA256));
    assert_eq!(download(&file, &target).unwrap(), Outcome::Verified);
    assert_eq!(std::fs::read(&target).unwrap(), BODY);
    assert!(!target.with_file_name("file.txt.part").exists());
    assert_eq!(download(&file, &target).unwrap(), Outcome::AlreadyThere);
    assert_eq!(ranges(&seen), [None]);
}

#[test]
fn reports_the_digest_where_none_is_known() {
    let (url, _) = serve(Manner::Ranges);
    let outcome = download(&remote(&url, None), &target("fetch-unknown")).unwrap();
    assert_eq!(outcome, Outcome::Unverified { sha256: BODY_SHA256.to_owned() });
}

#[test]
fn resumes_after_what_is_there() {
    let (url, seen) = serve(Manner::Ranges);
    let target = with_partial("fetch-resume", &BODY[..7]);
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
    assert_eq!(std::fs::read(&target).unwrap(), BODY);
    assert_eq!(ranges(&seen), [Some("bytes=7-".to_owned())]);
}

#[test]
fn takes_up_a_broken_connection_by_itself() {
    let (url, seen) = serve(Manner::HangsUp);
    let target = target("fetch-broken");
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
    assert_eq!(ranges(&seen), [None, Some("bytes=10-".to_owned())]);
}

#[test]
fn takes_up_a_server_that_restarts_or_falls_silent() {
    for (manner, name) in [(Manner::Restarts, "fetch-restart"), (Manner::FallsSilent, "fetch-silent")] {
        let (url, seen) = serve(manner);
        let target = target(name);
        assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified, "{name}");
        assert_eq!(std::fs::read(&target).unwrap(), BODY);
        assert_eq!(ranges(&seen), [None, Some("bytes=10-".to_owned())], "{name}");
    }
}

#[test]
fn a_slow_server_may_take_its_time() {
    let (url, seen) = serve(Manner::Slow);
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target("fetch-slow")).unwrap(), Outcome::Verified);
    assert_eq!(ranges(&seen)[0], None);
}

#[test]
fn a_part_of_another_file_is_replaced() {
    let (url, seen) = serve(Manner::Ranges);
    let target = with_partial("fetch-foreign-part", b"another");
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
    assert_eq!(std::fs::read(&target).unwrap(), BODY);
    assert_eq!(ranges(&seen), [Some("bytes=7-".to_owned()), None]);
}

#[test]
fn a_folder_that_cannot_be_written_is_named() {
    let (url, seen) = serve(Manner::Ranges);
    let file = test_dir("fetch-unwritable").join("file");
    std::fs::write(&file, "no folder").unwrap();
    let message = format!("{:#}", download(&remote(&url, None), &file.join("na/file.txt")).unwrap_err());
    assert!(message.contains("could not make") && message.contains("check the path, the permissions"), "{message}");
    assert!(ranges(&seen).is_empty(), "nothing is asked for that cannot be kept");
}

#[test]
fn starts_over_where_ranges_are_ignored() {
    let (url, _) = serve(Manner::IgnoresRanges);
    let target = with_partial("fetch-ignored", b"0123456");
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
    assert_eq!(std::fs::read(&target).unwrap(), BODY);
}

#[test]
fn a_whole_partial_file_needs_only_its_name() {
    let (url, seen) = serve(Manner::Ranges);
    let target = with_partial("fetch-whole", BODY);
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
    assert_eq!(seen.lock().unwrap().len(), 1, "the size is unknown, so the server is asked once");
    let known_size = RemoteFile { bytes: Some(20), ..remote("http://127.0.0.1:1", Some(BODY_SHA256)) };
    let target = with_partial("fetch-whole-known", BODY);
    assert_eq!(download(&known_size, &target).unwrap(), Outcome::Verified);
}

#[test]
fn a_wrong_checksum_names_file_digests_and_remedy() {
    let (url, _) = serve(Manner::Ranges);
    let target = target("fetch-checksum");
    let wrong = "0".repeat(64);
    let message = format!("{:#}", download(&remote(&url, Some(&wrong)), &target).unwrap_err());
    for part in ["file.txt", &wrong, BODY_SHA256, "was removed", "run the command again"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!target.exists() && !target.with_file_name("file.txt.part").exists());
}

#[test]
fn a_wrong_size_is_refused() {
    let (url, _) = serve(Manner::Ranges);
    let file = RemoteFile { bytes: Some(25), ..remote(&url, None) };
    let message = format!("{:#}", download(&file, &target("fetch-size")).unwrap_err());
    assert!(message.contains("20 bytes, but the manifest says 25"), "{message}");
}

#[test]
fn a_missing_file_is_not_asked_for_again() {
    let (url, seen) = serve(Manner::NotFound);
    let message = format!("{:#}", download(&remote(&url, None), &target("fetch-404")).unwrap_err());
    assert!(message.contains("404") && message.contains("by other means"), "{message}");
    assert_eq!(seen.lock().unwrap().len(), 1);
}

#[test]
fn half_a_file_of_unknown_size_does_not_pass_for_the_whole() {
    let (url, _) = serve(Manner::Vague);
    let path = target("fetch-vague");
    let message = format!("{:#}", download(&remote(&url, None), &path).unwrap_err());
    assert!(message.contains("file.txt") && message.contains("add its bytes or sha256"), "{message}");
    assert!(!path.exists());
    // With either of them it is noticed.
    let sized = RemoteFile { bytes: Some(20), ..remote(&url, None) };
    assert!(download(&sized, &target("fetch-vague-size")).unwrap_err().to_string().contains("10 bytes"));
    assert!(download(&remote(&url, Some(BODY_SHA256)), &target("fetch-vague-sha")).is_err());
}

#[test]
fn a_part_that_nothing_can_verify_is_not_continued() {
    let (url, seen) = serve(Manner::Ranges);
    let target = with_partial("fetch-other-part", b"another");
    assert!(matches!(download(&remote(&url, None), &target).unwrap(), Outcome::Unverified { .. }));
    assert_eq!((std::fs::read(&target).unwrap(), ranges(&seen)), (BODY.to_vec(), vec![None]));
}

#[test]
fn one_process_at_a_time_downloads_a_file() {
    let (url, _) = serve(Manner::Ranges);
    let target = with_partial("fetch-locked", &BODY[..7]);
    let part = target.with_file_name("file.txt.part");
    let other = std::fs::File::open(&part).unwrap();
    other.lock().unwrap();
    let message = download(&remote(&url, Some(BODY_SHA256)), &target).unwrap_err().to_string();
    assert!(message.contains("another process") && message.contains("file.txt.part"), "{message}");
    drop(other);
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
}

#[test]
fn the_manifest_of_the_repository_is_sound() {
    let path = crate::root::workspace_root().join("datasets/manifest.json");
    let manifest = Manifest::read(&path).unwrap();
    for id in ["na", "bn", "nas101", "code2"] {
        assert!(!manifest.dataset(id).unwrap().files.is_empty());
    }
    let message = manifest.dataset("nope").unwrap_err().to_string();
    assert!(message.contains("na, bn, nas101, code2"), "{message}");
}

#[test]
fn a_manifest_cannot_write_elsewhere() {
    let manifest = |path: &str| with_file(path, "http://x");
    assert!(Manifest::parse(&manifest("a/b.txt")).is_ok());
    for path in ["../b.txt", "/etc/b.txt", "", "a/../../b"] {
        assert!(Manifest::parse(&manifest(path)).is_err(), "{path}");
    }
}

#[test]
fn a_manifest_with_an_empty_entry_is_refused() {
    for url in ["", "x.org/a", "file:///a"] {
        let message = Manifest::parse(&with_file("a.txt", url)).unwrap_err().to_string();
        assert!(message.contains("dataset x") && message.contains("a.txt is no http"), "{message}");
    }
}

/// A manifest with one file.
fn with_file(path: &str, url: &str) -> String {
    format!(
        r#"{{"datasets": [{{"id": "x", "title": "", "licence": "", "files":
            [{{"path": "{path}", "url": "{url}", "bytes": null, "sha256": null}}]}}]}}"#
    )
}
