//! [`Bytes`]: a reader of numbers in a file of weights.

use crate::error::Error;

/// The bytes of a surrogate that were not read yet.
pub(crate) struct Bytes<'a> {
    rest: &'a [u8],
    surrogate: &'static str,
}

impl<'a> Bytes<'a> {
    /// The bytes after `magic`; an error if they do not start with it.
    pub(crate) fn after(bytes: &'a [u8], magic: &str, surrogate: &'static str) -> Result<Bytes<'a>, Error> {
        match bytes.strip_prefix(magic.as_bytes()) {
            Some(rest) => Ok(Bytes { rest, surrogate }),
            None => Err(Bytes { rest: bytes, surrogate }.wrong(format!("they do not start with {magic}"))),
        }
    }

    pub(crate) fn wrong(&self, reason: impl Into<String>) -> Error {
        Error::Weights { surrogate: self.surrogate, reason: reason.into() }
    }

    /// The next `n` bytes.
    pub(crate) fn take(&mut self, n: usize) -> Result<&'a [u8], Error> {
        let (bytes, tail) = self.rest.split_at_checked(n).ok_or_else(|| self.wrong("they are cut off"))?;
        self.rest = tail;
        Ok(bytes)
    }

    fn number<const N: usize>(&mut self) -> Result<[u8; N], Error> {
        self.take(N).map(|bytes| bytes.try_into().expect("as many as taken"))
    }

    pub(crate) fn u32(&mut self) -> Result<usize, Error> {
        self.number().map(|bytes| u32::from_le_bytes(bytes) as usize)
    }

    pub(crate) fn u64(&mut self) -> Result<usize, Error> {
        self.number().map(|bytes| u64::from_le_bytes(bytes) as usize)
    }

    pub(crate) fn f64(&mut self) -> Result<f64, Error> {
        self.number().map(f64::from_le_bytes)
    }

    pub(crate) fn f32s(&mut self, n: usize) -> Result<Vec<f32>, Error> {
        let bytes = self.take(n * size_of::<f32>())?;
        Ok(bytes.as_chunks().0.iter().map(|&four: &[u8; 4]| f32::from_le_bytes(four)).collect())
    }

    /// Errs unless exactly `wanted` bytes are left.
    pub(crate) fn expect_left(&self, wanted: usize) -> Result<(), Error> {
        match self.rest.len() == wanted {
            true => Ok(()),
            false => Err(self.wrong(format!("{} bytes of weights where {wanted} are due", self.rest.len()))),
        }
    }
}
