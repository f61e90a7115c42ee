//! [`token`]: names that no two writers choose, so that a repeated write is known for what it is.

use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;

/// 128 bits in hexadecimal digits that nobody else draws. They name a write, and decide nothing in a search, so they need no seed.
pub(crate) fn token() -> String {
    // The system seeds each thread's first state at random. Another process, or a copy of this one after a fork, must differ too.
    let hash = |salt: u8| RandomState::new().hash_one((salt, std::process::id(), std::thread::current().id()));
    format!("{:016x}{:016x}", hash(0), hash(1))
}

#[cfg(test)]
mod tests {
    use super::token;

    #[test]
    fn tokens_differ() {
        let tokens: std::collections::HashSet<String> = (0..1000).map(|_| token()).collect();
        assert!(tokens.len() == 1000 && tokens.iter().all(|token| token.len() == 32));
    }
}
