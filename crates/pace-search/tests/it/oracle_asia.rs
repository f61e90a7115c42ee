//! The Asia sampler and the stand-in for BN.

use pace_search::oracle::{Bic, Optimum, Oracle, embedded_bn, sample_asia};

#[test]
fn samples_have_the_published_frequencies() {
    let n_rows = 200_000;
    let rows = sample_asia(n_rows, 7);
    assert_eq!(rows.names(), ["A", "S", "T", "L", "B", "E", "X", "D"]);
    // Marginals of the network, worked out by hand from the tables.
    let marginals = [0.01, 0.5, 0.0104, 0.055, 0.45, 0.064_828, 0.110_290, 0.435_971];
    for (variable, wanted) in marginals.into_iter().enumerate() {
        let found = rows.column(variable).iter().filter(|&&level| level == 1).count() as f64 / n_rows as f64;
        assert!((found - wanted).abs() < 0.005, "{}: {found} is not {wanted}", rows.names()[variable]);
    }
    for row in 0..n_rows {
        assert_eq!(rows.column(5)[row], rows.column(2)[row] | rows.column(3)[row], "E is T or L");
    }
    assert_eq!(sample_asia(100, 3), sample_asia(100, 3));
    assert_ne!(sample_asia(100, 3), sample_asia(100, 4));
}

#[test]
fn much_data_bring_back_the_network() {
    let bic = Bic::new(&sample_asia(200_000, 1)).unwrap();
    let optimum = Optimum::find(&bic);
    let true_parents = [0, 0, 0b1, 0b10, 0b10, 0b1100, 0b10_0000, 0b11_0000];
    assert!((optimum.score - bic.score(&true_parents)).abs() < 1e-6, "{:?}", optimum.parents);
}

#[test]
fn stand_in_is_what_its_note_says() {
    let made = embedded_bn(500, 9).unwrap();
    let dataset = &made.dataset;
    assert_eq!(dataset.samples.len(), 500);
    assert_eq!((dataset.name.as_str(), &dataset.spec), ("bn", made.bic.spec()));
    for sample in &dataset.samples {
        dataset.spec.validate(&sample.dag).unwrap();
        let target = sample.target.unwrap();
        assert_eq!(made.bic.evaluate(std::slice::from_ref(&sample.dag)).unwrap(), [target]);
        assert!(target <= made.optimum.score);
    }
    println!("{}", dataset.note);
    assert!(dataset.note.contains("stand-in") && dataset.note.contains(&format!("{:.4}", made.optimum.score)));
    assert_eq!(embedded_bn(500, 9).unwrap().dataset, *dataset);
    let other = embedded_bn(500, 10).unwrap();
    assert_ne!(other.dataset.samples, dataset.samples);
    assert_eq!(other.optimum.score, made.optimum.score);
}
