//! Networks for other programs: GraphViz, GraphML and JSON. BIF is in [`write_bif`](crate::write_bif).

mod dot;
mod graphml;
mod json;

pub use dot::write_dot;
pub use graphml::write_graphml;
pub use json::{JsonArc, JsonNetwork, JsonVariable};
