//! Integration tests of pace-train, one binary.

mod adam;
mod checkpoint;
mod collective;
mod embed;
mod evaluate;
mod fit;
mod record;
mod setting;
