//! The proven optimum against trying everything.

use pace_search::oracle::{Bic, MAX_VARIABLES, Optimum, Oracle};

use crate::oracle_bic::random_rows;

#[test]
fn four_variables_by_brute_force() {
    for seed in 0..20 {
        let bic = Bic::new(&random_rows(4, 60, seed)).unwrap();
        let mut n_networks = 0;
        let mut best = f64::NEG_INFINITY;
        for code in 0..1u32 << 12 {
            // Three bits for the possible parents of each variable, its own bit left out.
            let parents: Vec<u32> = (0..4)
                .map(|variable| {
                    let bits = code >> (3 * variable) & 7;
                    let below = (1 << variable) - 1;
                    bits & below | (bits & !below) << 1
                })
                .collect();
            if let Ok(dag) = bic.network(&parents) {
                n_networks += 1;
                best = best.max(bic.evaluate(&[dag]).unwrap()[0]);
            }
        }
        assert_eq!(n_networks, 543, "labelled DAGs on 4 nodes");
        let optimum = Optimum::find(&bic);
        assert!((optimum.score - best).abs() < 1e-9, "{} is not {best}", optimum.score);
        assert_eq!(bic.parents(&optimum.dag).unwrap(), optimum.parents);
    }
}

#[test]
fn the_largest_table_is_still_quick() {
    let start = std::time::Instant::now();
    let bic = Bic::new(&random_rows(MAX_VARIABLES, 1000, 5)).unwrap();
    let counted = start.elapsed();
    let optimum = Optimum::find(&bic);
    println!("{MAX_VARIABLES} variables: counted in {counted:?}, solved in {:?}", start.elapsed() - counted);
    assert!(optimum.score >= bic.score(&[0; MAX_VARIABLES]));
}
