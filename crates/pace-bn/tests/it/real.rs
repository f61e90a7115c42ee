//! The networks of the bnlearn repository.

use std::fs::File;
use std::io::Read;

use flate2::read::GzDecoder;
use pace_bn::{
    CandidateConfig, Candidates, CsvOptions, ExactConfig, Limits, Network, ScoreKind, Scorer, certify, parse_bif,
    read_csv, write_bif,
};
use pace_checkout::data_with;

use crate::support::rng;

fn bif(name: &str) -> Option<Network> {
    let file = format!("{name}.bif.gz");
    let dir = data_with(&[("bif", &file)])?;
    let mut text = String::new();
    GzDecoder::new(File::open(dir.find("bif", &file)?).unwrap()).read_to_string(&mut text).unwrap();
    Some(parse_bif(&text, &file).unwrap())
}

#[test]
fn published_networks_round_trip() {
    let known = [
        ("asia", 8, 8, 18),
        ("cancer", 5, 4, 10),
        ("sachs", 11, 17, 178),
        ("child", 20, 25, 230),
        ("alarm", 37, 46, 509),
    ];
    for (name, n_variables, n_arcs, n_parameters) in known {
        let Some(network) = bif(name) else { return };
        let found = (network.n_variables(), network.structure().n_arcs(), network.n_parameters());
        assert_eq!(found, (n_variables, n_arcs, n_parameters), "{name}");
        assert_eq!(parse_bif(&write_bif(&network), name).unwrap(), network);
    }
}

#[test]
fn the_optimum_is_proven_and_no_worse_than_the_truth() {
    for name in ["sachs", "child"] {
        let Some(network) = bif(name) else { return };
        let order: Vec<usize> = (0..network.n_variables()).collect();
        let text = network.sample(5000, &mut rng(3)).csv(&order);
        let table = read_csv(text.as_bytes(), name, &CsvOptions::default()).unwrap();
        let scorer = Scorer::new(&table, ScoreKind::Bic).unwrap();
        let candidates = Candidates::all(&scorer, &CandidateConfig::default()).unwrap();
        let found = certify(&candidates, None, &ExactConfig::default(), &Limits::default()).unwrap();
        assert!(found.is_proven() && found.is_complete);
        assert!(found.score >= scorer.structure(network.structure()), "{name}");
    }
}
