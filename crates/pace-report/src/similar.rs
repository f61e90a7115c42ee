//! A graph beside its nearest neighbours.

use std::fmt::Write;

use pace_graph::{Dag, DagSpec, Vectors};

use crate::draw::{BESIDE, DrawOptions, draw};
use crate::text::{escape, number};

/// A graph that was found near another one.
#[derive(Clone, Debug)]
pub struct Neighbour {
    /// What to call it.
    pub caption: String,
    /// The graph.
    pub dag: Dag,
    /// How far it is.
    pub distance: f64,
}

/// A graph and its neighbours, the nearest first.
#[derive(Clone, Debug)]
pub struct Similar {
    /// What to call the graph.
    pub caption: String,
    /// The graph.
    pub dag: Dag,
    /// What is near it.
    pub neighbours: Vec<Neighbour>,
}

impl Similar {
    /// The row of drawings.
    pub(crate) fn markup(&self, spec: &DagSpec) -> String {
        let mut markup = "<div class=\"dags similar\">".to_owned();
        let mut add = |class: &str, caption: &str, dag: &Dag, distance: &str| {
            let options = DrawOptions { caption: caption.to_owned(), scale: BESIDE, ..DrawOptions::default() };
            let (svg, caption) = (draw(dag, spec, &options), escape(caption));
            let _ = write!(markup, "<figure class=\"{class}\"><div class=\"scroll\">{svg}</div>");
            let _ = write!(markup, "<figcaption>{caption}<br><small>{distance}</small></figcaption></figure>");
        };
        add("asked", &self.caption, &self.dag, "the graph itself");
        for neighbour in &self.neighbours {
            let distance = format!("at distance {}", number(neighbour.distance));
            add("found", &neighbour.caption, &neighbour.dag, &distance);
        }
        markup.push_str("</div>");
        markup
    }
}

/// The `count` rows nearest to row `row`, without itself: their numbers and Euclidean distances, the nearest first.
///
/// Of equal distances the lower row comes first. Rows at a distance that is no number are left out, and there are none near a
/// row that does not exist. O(n (d + log n)).
///
/// ```
/// use pace_graph::Vectors;
/// let vectors = Vectors::new(vec![0.0, 5.0, 1.0, 3.0], 1);
/// assert_eq!(pace_report::nearest(&vectors, 0, 2), [(2, 1.0), (3, 3.0)]);
/// ```
pub fn nearest(vectors: &Vectors, row: usize, count: usize) -> Vec<(usize, f64)> {
    if row >= vectors.len() {
        return Vec::new();
    }
    let query = vectors.row(row);
    let distance = |other: &[f32]| {
        let squares = query.iter().zip(other).map(|(&one, &other)| (f64::from(one) - f64::from(other)).powi(2));
        squares.sum::<f64>().sqrt()
    };
    let others = vectors.rows().enumerate().filter(|&(other, _)| other != row);
    let mut found: Vec<(usize, f64)> = others.map(|(other, vector)| (other, distance(vector))).collect();
    found.retain(|(_, distance)| !distance.is_nan());
    found.sort_by(|one, other| one.1.total_cmp(&other.1));
    found.truncate(count);
    found
}
