//! Integration tests of pace-train, one binary.
