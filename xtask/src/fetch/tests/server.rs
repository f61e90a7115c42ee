//! A small server on the loopback interface with the manners of real ones.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What the server has.
pub const BODY: &[u8] = b"0123456789abcdefghij";
/// sha256 of [`BODY`], by coreutils.
pub const BODY_SHA256: &str = "6bc14bdc4517a7a682c6910de2e2946eb8e1ecd04090728fef6d092a7ceb62c5";

/// How the server treats a request.
#[derive(Clone, Copy, PartialEq)]
pub enum Manner {
    /// Honours ranges.
    Ranges,
    /// Sends everything whatever was asked.
    IgnoresRanges,
    /// Announces everything, sends half, hangs up; honours ranges, so the second request gets the rest.
    HangsUp,
    /// The same, but does not even hang up: it falls silent.
    FallsSilent,
    /// Sends half, hangs up and is gone for a while; back at the same address, it honours ranges.
    Restarts,
    /// One byte now and then.
    Slow,
    /// As long as the real one, but another file.
    Lies,
    /// Has no such file.
    NotFound,
    /// Sends half, hangs up, and never says how much there is.
    Vague,
}

/// The paths and `Range` headers that a server saw.
pub type Log = Arc<Mutex<Vec<(String, Option<String>)>>>;

/// Serves [`BODY`] at every path until the test ends; returns the base address and what is asked for.
pub fn serve(manner: Manner) -> (String, Log) {
    let mut listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let seen = Log::default();
    let log = seen.clone();
    std::thread::spawn(move || {
        loop {
            let (mut stream, _) = listener.accept().unwrap();
            let (path, range) = request(&stream);
            log.lock().unwrap().push((path, range.clone()));
            let is_first = log.lock().unwrap().len() == 1;
            let done = answer(&mut stream, manner, range.as_deref());
            if manner == Manner::FallsSilent && is_first {
                // Kept open in a thread of its own.
                std::thread::spawn(move || (std::thread::sleep(Duration::from_secs(600)), stream));
            }
            if manner == Manner::Restarts && is_first {
                drop(listener);
                std::thread::sleep(Duration::from_millis(300));
                listener = TcpListener::bind(address).unwrap();
            }
            drop(done);
        }
    });
    (format!("http://{address}"), seen)
}

/// The `Range` headers of a log.
pub fn ranges(log: &Log) -> Vec<Option<String>> {
    log.lock().unwrap().iter().map(|(_, range)| range.clone()).collect()
}

fn request(stream: &TcpStream) -> (String, Option<String>) {
    let head = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
    let path = head.first().and_then(|line| line.split(' ').nth(1)).unwrap_or_default().to_owned();
    let range = head.iter().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        name.eq_ignore_ascii_case("range").then(|| value.to_owned())
    });
    (path, range)
}

fn answer(stream: &mut TcpStream, manner: Manner, range: Option<&str>) -> std::io::Result<()> {
    let start: usize = match range {
        Some(range) if manner != Manner::IgnoresRanges => range[6..].trim_end_matches('-').parse().unwrap(),
        _ => 0,
    };
    let body = if manner == Manner::Lies { BODY.to_ascii_uppercase() } else { BODY.to_vec() };
    let rest = &body[start.min(BODY.len())..];
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
    write!(stream, "HTTP/1.1 {status}\r\n{length}{range_line}Connection: close\r\n\r\n")?;
    let halves = [Manner::HangsUp, Manner::FallsSilent, Manner::Restarts, Manner::Vague];
    let sent = if halves.contains(&manner) && start == 0 { &rest[..10] } else { rest };
    let pieces = if manner == Manner::Slow { sent.chunks(1) } else { sent.chunks(BODY.len()) };
    for piece in pieces {
        stream.write_all(piece)?;
        if manner == Manner::Slow {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Ok(())
}
