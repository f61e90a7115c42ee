//! Latent maps.

use pace_graph::enumerate::{Enas, Sampler};
use pace_graph::{Dag, DagSpec, Vectors};
use pace_report::{Error, LatentMap, MapConfig, MapData, Report};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::markup;

struct Points {
    vectors: Vectors,
    scores: Vec<f64>,
    dags: Vec<Dag>,
}

fn points(n_points: usize) -> Points {
    let rng = &mut ChaCha8Rng::seed_from_u64(11);
    let dags = (0..n_points).map(|_| Enas::default().sample(rng)).collect();
    let vectors = Vectors::new((0..5 * n_points).map(|_| rng.random_range(-1.0..1.0)).collect(), 5);
    Points { vectors, scores: (0..n_points).map(|_| rng.random_range(0.0..1.0)).collect(), dags }
}

fn page(points: &Points, config: &MapConfig) -> Result<String, Error> {
    let data = MapData { vectors: &points.vectors, scores: &points.scores, dags: &points.dags };
    let mut report = Report::new("map");
    report.map(LatentMap::of(&data, &DagSpec::na(), config)?);
    Ok(report.html())
}

#[test]
fn every_point_has_a_dot_in_both_views() {
    let html = page(&points(60), &MapConfig::default()).unwrap();
    assert_eq!(html.matches("<circle").count(), 120);
    assert!(html.contains("60 points.") && html.contains("PCA: ") && html.contains("t-SNE"));
    assert_eq!(html, page(&points(60), &MapConfig::default()).unwrap(), "twice the same");
    markup::check_page(&html);
}

#[test]
fn samples_and_points_without_drawings_are_said() {
    let config = MapConfig { max_points: 50, max_bytes: 9_000, ..MapConfig::default() };
    let html = page(&points(80), &config).unwrap();
    assert!(html.contains("A random sample of 50 of 80 points, the best among them."));
    assert!(html.contains("large dots have a drawing"));
    assert!(html.matches("small").count() > 20);
    let json = html.split("application/json\">").nth(1).unwrap().split("</script>").next().unwrap();
    assert!(json.len() < 13_000, "{} bytes", json.len());
    let best = points(80).scores.into_iter().fold(0.0, f64::max);
    assert!(json.contains(&format!("[\"{}\",", format!("{best:.4}").trim_end_matches('0'))), "{best}");
}

#[test]
fn numbers_that_are_none_are_left_out() {
    let mut some = points(30);
    some.scores[3] = f64::NAN;
    let mut values = some.vectors.into_values();
    values[25] = f32::INFINITY;
    some.vectors = Vectors::new(values, 5);
    let html = page(&some, &MapConfig::default()).unwrap();
    assert!(html.contains("28 points. 2 points without a finite vector and score are left out."));
}

#[test]
fn data_that_does_not_fit_is_an_error() {
    let mut some = points(4);
    some.scores.pop();
    let message = page(&some, &MapConfig::default()).unwrap_err().to_string();
    assert_eq!(message, "4 vectors, but 3 scores and 4 graphs; give a map one of each per point");
    some.scores = vec![f64::NAN; 4];
    let message = page(&some, &MapConfig::default()).unwrap_err().to_string();
    assert_eq!(message, "no point has a finite vector and a finite score; a map needs at least one");
}

#[test]
fn few_points_and_equal_points_are_a_map() {
    for n_points in 1..6 {
        let mut some = points(n_points);
        page(&some, &MapConfig::default()).unwrap();
        some.vectors = Vectors::new(vec![2.5; 3 * n_points], 3);
        some.scores = vec![1.0; n_points];
        let html = page(&some, &MapConfig::default()).unwrap();
        assert!(!html.contains("NaN"), "{n_points}");
    }
}
