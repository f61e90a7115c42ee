//! The surrogate joint: a cheap guess of the oracle, with its uncertainty.
