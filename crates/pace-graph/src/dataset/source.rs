//! [`DataDir`]: where dataset files are, and how they are opened. The only place of this crate that touches files.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::PathBuf;

use flate2::bufread::MultiGzDecoder;
use lzma_rust2::XzReader;

use super::{Dataset, DatasetFormat, Progress};
use crate::error::Error;

/// No xz file may ask for more memory than this (KiB); `xz -9` asks for 65 MiB.
const XZ_MEMORY_KIB: u32 = 256 << 10;
const XZ_MAGIC: &[u8] = b"\xfd7zXZ\0";
const GZIP_MAGIC: &[u8] = b"\x1f\x8b";

/// The folders that are searched for `<id>/<file>`, first match first.
///
/// ```text
/// <data folder>/na/final_structures6.txt.xz      DataDir::open("na", "final_structures6.txt")
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    roots: Vec<PathBuf>,
}

impl DataDir {
    /// This folder and no other.
    pub fn at(root: impl Into<PathBuf>) -> DataDir {
        DataDir { roots: vec![root.into()] }
    }

    /// These folders, searched in this order. None of them has to exist.
    pub fn among(roots: impl IntoIterator<Item = PathBuf>) -> DataDir {
        DataDir { roots: roots.into_iter().collect() }
    }

    /// The path of `<id>/<file>`, or of its `.xz` or `.gz` form.
    pub fn find(&self, id: &str, file: &str) -> Option<PathBuf> {
        let forms = [file.to_owned(), format!("{file}.xz"), format!("{file}.gz")];
        let paths = self.roots.iter().flat_map(|root| forms.iter().map(move |form| root.join(id).join(form)));
        paths.into_iter().find(|path| path.is_file())
    }

    /// Opens `<id>/<file>`, decompressed if need be, whatever its name says.
    pub fn open(&self, id: &str, file: &str) -> Result<Box<dyn BufRead + Send>, Error> {
        let refused = |source| Error::Io { file: format!("{id}/{file}"), source };
        let path = self.find(id, file).ok_or_else(|| refused(self.not_found(file)))?;
        let opened = File::open(path).map_err(refused)?;
        decompressed(BufReader::with_capacity(1 << 16, opened)).map_err(refused)
    }

    /// Opens and reads `<id>/<file>`.
    pub fn read(
        &self,
        format: &dyn DatasetFormat,
        id: &str,
        file: &str,
        progress: &mut dyn FnMut(Progress),
    ) -> Result<Dataset, Error> {
        format.read(&mut *self.open(id, file)?, file, progress)
    }

    fn not_found(&self, file: &str) -> io::Error {
        let roots: Vec<String> = self.roots.iter().map(|root| root.display().to_string()).collect();
        let places = if roots.is_empty() {
            "no folder to search was given".to_owned()
        } else {
            format!("no {file}, {file}.xz or {file}.gz under {}", roots.join(" or "))
        };
        io::Error::new(io::ErrorKind::NotFound, places)
    }
}

/// The reader itself, or its decompressed content if it starts like an xz or gzip file.
pub fn decompressed<'a>(mut reader: impl BufRead + Send + 'a) -> io::Result<Box<dyn BufRead + Send + 'a>> {
    // The magic numbers are looked for in bytes taken out and put back in front: one `fill_buf` may hold fewer.
    let mut head = Vec::new();
    reader.by_ref().take(XZ_MAGIC.len() as u64).read_to_end(&mut head)?;
    let (is_xz, is_gzip) = (head.starts_with(XZ_MAGIC), head.starts_with(GZIP_MAGIC));
    let whole = io::Cursor::new(head).chain(reader);
    Ok(if is_xz {
        Box::new(BufReader::with_capacity(1 << 16, XzReader::new_mem_limit(whole, true, XZ_MEMORY_KIB)))
    } else if is_gzip {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(whole)))
    } else {
        Box::new(whole)
    })
}
