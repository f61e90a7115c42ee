//! [`Drawings`]: the graphs of a map, small enough to be in the page.

use std::collections::HashMap;

use pace_graph::{DagSpec, GraphKey};
use serde_json::json;

use super::{MapConfig, MapData, shown};
use crate::draw::{NODE_HEIGHT, OpStyle, Sketch};

/// Larger graphs have no drawing in a map: nobody could read it there.
const MAX_NODES: usize = 300;

/// The graphs of a map.
pub(super) struct Drawings {
    /// The operations that occur.
    ops: Vec<OpStyle>,
    /// Each drawing once, as JSON.
    packed: Vec<String>,
    /// The drawing of each point; `None` if there was no room.
    of_point: Vec<Option<usize>>,
}

impl Drawings {
    /// Draws the graphs of `points`, which are sorted by score, until the bytes are used up: the best first, then evenly. Isomorphic
    /// graphs share a drawing.
    pub fn of(data: &MapData<'_>, points: &[usize], spec: &DagSpec, config: &MapConfig) -> Drawings {
        let mut drawings = Drawings { ops: Vec::new(), packed: Vec::new(), of_point: vec![None; points.len()] };
        let mut op_numbers = HashMap::new();
        let mut known: HashMap<GraphKey, usize> = HashMap::new();
        let mut n_bytes = 0;
        for point in by_importance(points.len()) {
            let dag = &data.dags[points[point]];
            if dag.n_nodes() > MAX_NODES {
                continue;
            }
            let key = GraphKey::of(dag);
            if let Some(&drawing) = known.get(&key) {
                drawings.of_point[point] = Some(drawing);
                continue;
            }
            // Each edge takes about 40 bytes, each node 12: no need to lay out what cannot fit.
            if n_bytes + 20 * (dag.n_nodes() + dag.n_edges()) > config.max_bytes {
                continue;
            }
            let sketch = Sketch::of(dag, spec);
            let mut number = |op| {
                *op_numbers.entry(op).or_insert_with(|| {
                    drawings.ops.push(OpStyle::of(op, spec));
                    drawings.ops.len() - 1
                })
            };
            let nodes = sketch.nodes.iter().zip(dag.ops());
            let nodes: Vec<_> = nodes.map(|(place, op)| (tenths(place.x), tenths(place.y), number(op))).collect();
            let (lines, heads) = (sketch.lines.concat(), sketch.heads.concat());
            // As the script reads it.
            let packed = (tenths(sketch.width), tenths(sketch.height), nodes, lines, heads);
            let packed = serde_json::to_string(&packed).unwrap_or_default();
            if n_bytes + packed.len() <= config.max_bytes && !packed.is_empty() {
                n_bytes += packed.len();
                known.insert(key, drawings.packed.len());
                drawings.of_point[point] = Some(drawings.packed.len());
                drawings.packed.push(packed);
            }
        }
        drawings
    }

    /// Whether a point has a drawing.
    pub fn has(&self, point: usize) -> bool {
        self.of_point[point].is_some()
    }

    /// Everything that the script reads. No character of it can end the element that it stands in.
    pub fn json(&self, scores: &[f64], score: &str) -> String {
        let ops: Vec<_> = self.ops.iter().map(|op| json!([op.label, op.name, op.class, op.width])).collect();
        let points: Vec<_> =
            scores.iter().zip(&self.of_point).map(|(&score, drawing)| json!([shown(score), drawing])).collect();
        let head = json!({ "score": score, "height": NODE_HEIGHT, "ops": ops, "points": points }).to_string();
        let head = head.strip_suffix('}').unwrap_or(&head);
        let json = format!("{head},\"drawings\":[{}]}}", self.packed.join(","));
        // These characters only occur in strings, where an escape means the same.
        json.replace('<', "\\u003c").replace('>', "\\u003e").replace('&', "\\u0026")
    }

    /// What has no drawing, as a sentence; empty if everything has one.
    pub fn note(&self) -> String {
        let n_drawn = self.of_point.iter().flatten().count();
        let n_points = self.of_point.len();
        if n_drawn == n_points {
            return String::new();
        }
        format!(
            " The {n_drawn} large dots have a drawing; those of the {} small ones would make the page too big.",
            n_points - n_drawn
        )
    }
}

/// The best tenth of the points, the last ones, then the others, evenly over all scores.
fn by_importance(n_points: usize) -> Vec<usize> {
    let n_best = n_points.div_ceil(10);
    let n_others = n_points - n_best;
    let best = (n_others..n_points).rev();
    let strides = [8, 4, 2, 1];
    let of_stride =
        |stride: usize| (0..n_others).step_by(stride).filter(move |point| stride == 8 || point % (2 * stride) != 0);
    best.chain(strides.into_iter().flat_map(of_stride)).collect()
}

/// Coordinates to a tenth of a pixel are short.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::by_importance;

    #[test]
    fn every_point_gets_its_turn_once() {
        for n_points in [0, 1, 2, 19, 100] {
            let mut order = by_importance(n_points);
            assert_eq!(order.first().copied(), n_points.checked_sub(1));
            order.sort();
            assert!(order.into_iter().eq(0..n_points));
        }
    }
}
