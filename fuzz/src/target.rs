//! [`Target`]: one reader under test.

/// One reader under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name on the command line.
    pub name: &'static str,
    /// Valid inputs to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
    /// Reads an input; panics if a law is broken.
    pub read: fn(&[u8]),
    /// Its part of all executions, relative to the other targets. Slow targets get less.
    pub share: u32,
    /// The longest input, in bytes.
    pub max_len: usize,
}

impl Target {
    /// A target with a usual share and usual lengths.
    pub const fn new(name: &'static str, seeds: fn() -> Vec<Vec<u8>>, read: fn(&[u8])) -> Target {
        Target { name, seeds, read, share: 20, max_len: 2048 }
    }

    /// The same with another share.
    #[must_use]
    pub const fn share(self, share: u32) -> Target {
        Target { share, ..self }
    }

    /// The same with longer or shorter inputs.
    #[must_use]
    pub const fn max_len(self, max_len: usize) -> Target {
        Target { max_len, ..self }
    }
}
