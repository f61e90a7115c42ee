//! What a source must be before it is parsed.

use std::borrow::Cow;

use super::lines::line_at;
use crate::error::Error;

/// The largest source that is read, in bytes: far above what people write, far below what would hurt.
pub const MAX_SOURCE_BYTES: usize = 16 << 20;

/// The text of a file.
pub(crate) fn utf8(bytes: &[u8]) -> Result<&str, Error> {
    std::str::from_utf8(bytes).map_err(|error| {
        let n_breaks = bytes[..error.valid_up_to()].iter().filter(|&&byte| byte == b'\n').count();
        Error::NotUtf8 { line: n_breaks + 1 }
    })
}

/// The text with LF for every CR LF and CR, as CPython reads it, if it may be parsed at all.
pub(super) fn checked(source: &str) -> Result<Cow<'_, str>, Error> {
    if source.len() > MAX_SOURCE_BYTES {
        return Err(Error::TooLarge { n_bytes: source.len() as u64, max_bytes: MAX_SOURCE_BYTES as u64 });
    }
    if let Some(at) = source.find('\0') {
        return Err(Error::NullByte { line: line_at(source, at) });
    }
    Ok(match source.contains('\r') {
        true => Cow::Owned(source.replace("\r\n", "\n").replace('\r', "\n")),
        false => Cow::Borrowed(source),
    })
}
