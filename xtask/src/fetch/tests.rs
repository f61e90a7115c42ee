//! Downloads from a small server on the loopback interface.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::download::{Outcome, download};
use super::manifest::{Manifest, RemoteFile};
use crate::root::test_dir;

const BODY: &[u8] = b"0123456789abcdefghij";
/// sha256 of [`BODY`], by coreutils.
const BODY_SHA256: &str = "6bc14bdc4517a7a682c6910de2e2946eb8e1ecd04090728fef6d092a7ceb62c5";

/// How the server treats a request.
#[derive(Clone, Copy, PartialEq)]
enum Manner {
    /// Honours ranges.
    Ranges,
    /// Sends everything whatever was asked.
    IgnoresRanges,
    /// Announces everything, sends half, hangs up; honours ranges, so the second request gets the rest.
    HangsUp,
    /// Has no such file.
    NotFound,
    /// Sends half, hangs up, and never says how much there is.
    Vague,
}

/// Serves [`BODY`] until the test ends; returns the address and the `Range` headers seen.
fn serve(manner: Manner) -> (String, Arc<Mutex<Vec<Option<String>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/file.txt", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
            let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
            let range = head.iter().find_map(|line| {
                let (name, value) = line.split_once(": ")?;
                name.eq_ignore_ascii_case("range").then(|| value.to_owned())
            });
            log.lock().unwrap().push(range.clone());
            let start: usize = match &range {
                Some(range) if manner != Manner::IgnoresRanges => range[6..].trim_end_matches('-').parse().unwrap(),
                _ => 0,
            };
            let rest = &BODY[start.min(BODY.len())..];
            let (status, range_line) = match (manner, start) {
                (Manner::NotFound, _) => ("404 Not Found", String::new()),
                (_, 0) => ("200 OK", String::new()),
                (_, start) if start >= BODY.len() => {
                    ("416 Range Not Satisfiable", format!("Content-Range: bytes */{}\r\n", BODY.len()))
                }
                (_, start) => ("206 Partial Content", format!("Content-Range: bytes {start}-19/20\r\n")),
            };
            let length = match manner {
                Manner::Vague => String::new(),
                _ => format!("Content-Length: {}\r\n", rest.len()),
            };
            let head = format!("HTTP/1.1 {status}\r\n{length}{range_line}Connection: close\r\n\r\n");
            let cut = matches!(manner, Manner::HangsUp | Manner::Vague) && start == 0;
            let sent = if cut { &rest[..10] } else { rest };
            let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(sent));
        }
    });
    (url, seen)
}

fn remote(url: &str, sha256: Option<&str>) -> RemoteFile {
    let sha256 = sha256.map(str::to_owned);
    RemoteFile { path: "file.txt".to_owned(), url: url.to_owned(), bytes: None, sha256, unpack_to: None }
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
    assert_eq!(*seen.lock().unwrap(), [None]);
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
    assert_eq!(*seen.lock().unwrap(), [Some("bytes=7-".to_owned())]);
}

#[test]
fn takes_up_a_broken_connection_by_itself() {
    let (url, seen) = serve(Manner::HangsUp);
    let target = target("fetch-broken");
    assert_eq!(download(&remote(&url, Some(BODY_SHA256)), &target).unwrap(), Outcome::Verified);
    assert_eq!(*seen.lock().unwrap(), [None, Some("bytes=10-".to_owned())]);
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
    let known_size = RemoteFile { bytes: Some(20), ..remote("http://127.0.0.1:1/nobody", Some(BODY_SHA256)) };
    let target = with_partial("fetch-whole-known", BODY);
    assert_eq!(download(&known_size, &target).unwrap(), Outcome::Verified);
}

#[test]
fn a_wrong_checksum_names_file_digests_and_remedy() {
    let (url, _) = serve(Manner::Ranges);
    let target = target("fetch-checksum");
    let wrong = "0".repeat(64);
    let message = format!("{:#}", download(&remote(&url, Some(&wrong)), &target).unwrap_err());
    for part in ["file.txt", &wrong, BODY_SHA256, "run the command again"] {
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
    assert_eq!((std::fs::read(&target).unwrap(), seen.lock().unwrap().as_slice()), (BODY.to_vec(), &[None][..]));
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
    let manifest = |path: &str| {
        format!(
            r#"{{"datasets": [{{"id": "x", "title": "", "licence": "", "files":
                [{{"path": "{path}", "url": "http://x", "bytes": null, "sha256": null}}]}}]}}"#
        )
    };
    assert!(Manifest::parse(&manifest("a/b.txt")).is_ok());
    for path in ["../b.txt", "/etc/b.txt", "", "a/../../b"] {
        assert!(Manifest::parse(&manifest(path)).is_err(), "{path}");
    }
}
