//! A slow server on the loopback interface, for `fetch`.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use sha2::{Digest, Sha256};

/// Size of the file: a second at the speed of this server.
const N_BYTES: usize = 4 << 20;
const PIECE: usize = 64 << 10;
const PAUSE: Duration = Duration::from_millis(15);

/// Serves one file until this process ends; returns the manifest that names it.
pub fn serve(folder: &Path) -> Result<PathBuf> {
    std::fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
    let body: Vec<u8> = (0..N_BYTES).map(|index| (index * 31 + index / 977) as u8).collect();
    let sha256: String = Sha256::digest(&body).iter().map(|byte| format!("{byte:02x}")).collect();
    let listener = TcpListener::bind("127.0.0.1:0").context("could not listen on the loopback interface")?;
    let url = format!("http://{}/file.bin", listener.local_addr()?);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let body = body.clone();
            // Whoever hung up was killed, which is the point.
            std::thread::spawn(move || answer(stream, &body).ok());
        }
    });
    let file = json!({"path": "file.bin", "url": url, "bytes": N_BYTES, "sha256": sha256});
    let dataset = json!({"id": "local", "title": "a file", "licence": "none", "files": [file]});
    let path = folder.join("manifest.json");
    std::fs::write(&path, json!({"datasets": [dataset]}).to_string())
        .with_context(|| format!("could not write {}", path.display()))?;
    Ok(path)
}

fn answer(mut stream: TcpStream, body: &[u8]) -> std::io::Result<()> {
    let head = BufReader::new(stream.try_clone()?).lines().map_while(Result::ok);
    let head: Vec<String> = head.take_while(|line| !line.is_empty()).collect();
    let range = head.iter().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let start = value.strip_prefix("bytes=")?.strip_suffix('-')?;
        name.eq_ignore_ascii_case("range").then(|| start.parse::<usize>().ok()).flatten()
    });
    let (start, total) = (range.unwrap_or(0).min(body.len()), body.len());
    let status = match range {
        None => "200 OK".to_owned(),
        Some(_) => format!("206 Partial Content\r\nContent-Range: bytes {start}-{}/{total}", total - 1),
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", total - start)?;
    for piece in body[start..].chunks(PIECE) {
        stream.write_all(piece)?;
        std::thread::sleep(PAUSE);
    }
    Ok(())
}
