//! Reads just enough of an ELF file to tell whether it is linked statically.
//!
//! A program that needs shared libraries names, in its segment `PT_INTERP`, the loader that finds them. Reading the file is
//! safer than `ldd`, which may run it.

use anyhow::{Context, Result, bail};

/// The segment that names the loader.
const PT_INTERP: u32 = 3;

/// The loader that a 64-bit little-endian program wants; `None` if it is static.
pub fn interpreter(bytes: &[u8]) -> Result<Option<String>> {
    // Magic number, then class 2 (64 bit) and encoding 1 (little-endian).
    if !bytes.starts_with(b"\x7fELF\x02\x01") {
        bail!("not a 64-bit little-endian ELF file");
    }
    let table = number(bytes, 32, 8)?;
    let (entry_size, n_entries) = (number(bytes, 54, 2)?, number(bytes, 56, 2)?);
    for index in 0..n_entries {
        let entry =
            index.checked_mul(entry_size).and_then(|skipped| table.checked_add(skipped)).context("no such entry")?;
        if number(bytes, entry, 4)? == u64::from(PT_INTERP) {
            let (start, length) =
                (number(bytes, entry.saturating_add(8), 8)?, number(bytes, entry.saturating_add(32), 8)?);
            let name = slice(bytes, start, length)?;
            return Ok(Some(String::from_utf8_lossy(name).trim_end_matches('\0').to_owned()));
        }
    }
    Ok(None)
}

/// The unsigned number of `length` bytes at `start`.
fn number(bytes: &[u8], start: u64, length: u64) -> Result<u64> {
    Ok(slice(bytes, start, length)?.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte)))
}

fn slice(bytes: &[u8], start: u64, length: u64) -> Result<&[u8]> {
    let end = start.checked_add(length).and_then(|end| usize::try_from(end).ok());
    end.and_then(|end| bytes.get(start as usize..end)).context("the file is cut off")
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// The head of a program that wants that loader, with one segment before it.
    pub fn program(loader: Option<&str>) -> Vec<u8> {
        let mut bytes = vec![0; 64 + 2 * 56];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = 2;
        bytes[64] = 1;
        if let Some(loader) = loader {
            let entry = 64 + 56;
            bytes[entry] = PT_INTERP as u8;
            bytes[entry + 8] = (64 + 2 * 56) as u8;
            bytes[entry + 32] = (loader.len() + 1) as u8;
            bytes.extend(loader.bytes().chain([0]));
        }
        bytes
    }

    #[test]
    fn the_loader_is_named() {
        assert_eq!(interpreter(&program(None)).unwrap(), None);
        assert_eq!(interpreter(&program(Some("/lib/ld.so"))).unwrap().as_deref(), Some("/lib/ld.so"));
    }

    #[test]
    fn what_is_cut_off_is_an_error() {
        let whole = program(Some("/lib/ld.so"));
        for length in 0..whole.len() {
            assert!(interpreter(&whole[..length]).is_err(), "{length}");
        }
        let mut far = whole;
        far[32..40].fill(0xff);
        assert!(interpreter(&far).is_err());
    }

    #[test]
    #[cfg(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64"))]
    fn this_test_is_linked_dynamically() {
        let bytes = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        assert!(interpreter(&bytes).unwrap().is_some_and(|loader| loader.contains("ld")));
    }
}
