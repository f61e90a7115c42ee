//! The numbers of the Asia sample: the score of the true structure, and the certified optimum.

use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use pace_bn::{
    CandidateConfig, Candidates, CsvOptions, ExactConfig, Limits, ScoreKind, Scorer, Structure, Table, certify,
    parse_bif, read_csv,
};
use pace_checkout::data_with;

/// Names of the sample, and of `asia.bif`.
const NAMES: [(&str, &str); 8] = [
    ("A", "asia"),
    ("S", "smoke"),
    ("T", "tub"),
    ("L", "lung"),
    ("B", "bronc"),
    ("E", "either"),
    ("X", "xray"),
    ("D", "dysp"),
];

fn asia() -> Option<(Table, Structure)> {
    let dir = data_with(&[("asia", "asia_5000.csv"), ("bif", "asia.bif.gz")])?;
    let file = dir.find("asia", "asia_5000.csv")?;
    let table = read_csv(File::open(file).unwrap(), "asia_5000.csv", &CsvOptions::default()).unwrap();
    let mut text = String::new();
    GzDecoder::new(File::open(dir.find("bif", "asia.bif.gz")?).unwrap()).read_to_string(&mut text).unwrap();
    let network = parse_bif(&text, "asia.bif").unwrap();
    let short = |name: &str| NAMES.iter().find(|(_, long)| *long == name).unwrap().0;
    let arcs: Vec<(&str, &str)> = network
        .structure()
        .arcs()
        .map(|(from, to)| (short(&network.names()[usize::from(from)]), short(&network.names()[usize::from(to)])))
        .collect();
    let structure = Structure::from_arcs(table.names(), arcs).unwrap();
    Some((table, structure))
}

#[test]
fn the_true_structure_has_the_published_score() {
    let Some((table, structure)) = asia() else { return };
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    assert!((scorer.structure(&structure).nats() - -11_109.741872).abs() < 1e-6);
}

#[test]
fn the_optimum_is_certified_by_both_methods() {
    let Some((table, _)) = asia() else { return };
    let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
    for max_parents in [Some(3), None] {
        let config = CandidateConfig { max_parents, ..CandidateConfig::default() };
        let candidates = Candidates::all(&scorer, &config).unwrap();
        for max_subsets in [20, 0] {
            let config = ExactConfig { max_subsets, ..ExactConfig::default() };
            let certificate = certify(&candidates, None, &config, &Limits::default()).unwrap();
            assert!((certificate.score.nats() - -11_107.293309).abs() < 1e-6, "{certificate:?}");
            assert!(certificate.is_proven() && certificate.is_complete, "{certificate:?}");
            assert_eq!(scorer.structure(&certificate.structure), certificate.score);
        }
    }
}
