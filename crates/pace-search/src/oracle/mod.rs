//! The oracle joint: how good a graph really is.
