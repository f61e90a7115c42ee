//! Integration tests of pace-search, one binary.
