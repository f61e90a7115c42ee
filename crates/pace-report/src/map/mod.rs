//! Latent maps: vectors of graphs in the plane, coloured by score, with the graph of each point.
//!
//! `sample` chooses the points, `pca` and `tsne` give them two places each, `drawings` packs their graphs, `view` draws the dots.
//! `map.js` draws the graph of the point that is pointed at, tapped, or reached by the keyboard. Without it the map is a plain
//! scatter plot.

mod drawings;
mod pca;
mod sample;
mod tsne;
mod view;

use std::fmt::Write;

use pace_graph::{Dag, DagSpec, Vectors};

use crate::error::Error;
use crate::text::{escape, number};
use drawings::Drawings;
use pca::Pca;
use view::{ScoreScale, view};

/// The script of maps. The policy of the page names its hash, so it must go into the page as it is.
pub(crate) const SCRIPT: &str = include_str!("map.js");
/// The hash of [`SCRIPT`] as a policy writes it; a test checks it.
pub(crate) const SCRIPT_HASH: &str = "sha256-r96UrGJaTHntW2r8DxNdT3IdlwJ8CVUbW9PrX7MY0wY=";

/// What a map shows: a vector, a score and a graph per point.
#[derive(Clone, Copy, Debug)]
pub struct MapData<'a> {
    /// Where the points are.
    pub vectors: &'a Vectors,
    /// Their colours.
    pub scores: &'a [f64],
    /// What they stand for.
    pub dags: &'a [Dag],
}

/// How to show it.
#[derive(Clone, Debug, PartialEq)]
pub struct MapConfig {
    /// What is shown.
    pub caption: String,
    /// What the colours mean.
    pub score: String,
    /// Of more points, a sample is shown. t-SNE takes time by the square of their number.
    pub max_points: usize,
    /// Bytes for the graphs. What does not fit has a dot, but no drawing.
    pub max_bytes: usize,
    /// Whether to show t-SNE beside PCA.
    pub tsne: bool,
    /// Of the sample.
    pub seed: u64,
}

impl Default for MapConfig {
    fn default() -> MapConfig {
        let (caption, score) = (String::new(), "score".to_owned());
        MapConfig { caption, score, max_points: 1_000, max_bytes: 400_000, tsne: true, seed: 0 }
    }
}

/// A finished map.
#[derive(Clone, Debug)]
pub struct LatentMap {
    markup: String,
}

impl LatentMap {
    /// Makes a map. PCA takes O(n d^2) or less, t-SNE O(n^2).
    ///
    /// # Errors
    /// If vectors, scores and graphs differ in number, or no point can be shown.
    pub fn of(data: &MapData<'_>, spec: &DagSpec, config: &MapConfig) -> Result<LatentMap, Error> {
        let (n_vectors, n_scores, n_dags) = (data.vectors.len(), data.scores.len(), data.dags.len());
        if n_vectors != n_scores || n_vectors != n_dags {
            return Err(Error::Lengths { n_vectors, n_scores, n_dags });
        }
        let sample = sample::sample(data, config);
        if sample.points.is_empty() {
            return Err(Error::NoPoints);
        }
        let points = &sample.points;
        let scores: Vec<f64> = points.iter().map(|&point| data.scores[point]).collect();
        let scale = ScoreScale::of(&scores);
        let drawings = Drawings::of(data, points, spec, config);
        let pca = Pca::of(&data.vectors.select(points), tsne::MAX_WIDTH)?;
        let shares = pca.shares().map(|share| format!("{:.0} %", 100.0 * share));
        let title = format!("PCA: {} and {} of the variance", shares[0], shares[1]);
        let mut markup = "<figure class=\"map\"><div class=\"views\">".to_owned();
        markup.push_str(&view(&title, &pca.plane(), &scores, &scale, &drawings));
        if config.tsne && points.len() > 3 {
            let plane = tsne::tsne(&pca, config.seed);
            markup.push_str(&view("t-SNE: neighbours stay neighbours", &plane, &scores, &scale, &drawings));
        }
        markup.push_str(&scale.markup(&config.score));
        let hint = "Point at a dot or tap it to see its graph. With the keyboard: Tab to a map, then the arrow keys.";
        let _ = write!(markup, "<div class=\"shown\" aria-live=\"polite\"><p><small>{hint}</small></p></div></div>");
        let json = drawings.json(&scores, &config.score);
        let _ = write!(markup, "<script type=\"application/json\">{json}</script>");
        let (caption, notes) = (escape(&config.caption), sample.note + &drawings.note());
        let notes = escape(&notes);
        let _ = write!(markup, "<figcaption>{caption}<br><small>{notes}</small></figcaption></figure>");
        Ok(LatentMap { markup })
    }

    /// The map as part of a page that has the script.
    pub(crate) fn into_markup(self) -> String {
        self.markup
    }
}

/// A score as the reader sees it.
fn shown(score: f64) -> String {
    number(score)
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use sha2::{Digest, Sha256};

    #[test]
    fn the_policy_names_the_script() {
        let hash = format!("sha256-{}", STANDARD.encode(Sha256::digest(super::SCRIPT)));
        assert_eq!(super::SCRIPT_HASH, hash, "write this hash into map/mod.rs");
    }
}
