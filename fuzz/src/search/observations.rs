//! Discrete data for the BIC.

use pace_search::oracle::{Bic, Observations, Optimum, Oracle};

use crate::FILE;
use crate::law::named;

/// With more variables the best network takes too long to find for a fuzzer.
const MAX_VARIABLES: usize = 6;

/// Tables with and without quotes.
pub fn seeds() -> Vec<Vec<u8>> {
    let plain = "rain,wet\nno,no\nyes,yes\nno,no\nyes,yes\nno,yes\n";
    let quoted = "\"A\",\"S\",\"T\"\n\"yes\",\"no\",\"no\"\n\"no\",\"no\",\"yes\"\n";
    let sampled: String = (0..20).map(|row| format!("{},{},{},{}\n", row % 2, row % 3, row / 7, row % 5 / 2)).collect();
    [plain.to_owned(), quoted.to_owned(), format!("a,b,c,d\n{sampled}")].map(String::into_bytes).to_vec()
}

/// The best network scores at least as much as the empty one, and its graph scores what it says.
pub fn read(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let Some(rows) = named(Observations::parse_csv(text, FILE)) else { return };
    for variable in 0..rows.n_variables() {
        assert_eq!(rows.column(variable).len(), rows.n_rows());
        assert_eq!(rows.levels(variable).len(), rows.n_levels(variable));
    }
    if rows.n_variables() > MAX_VARIABLES {
        return;
    }
    let bic = Bic::new(&rows).expect("few variables");
    let empty = bic.network(&vec![0; rows.n_variables()]).expect("no edges, no cycle");
    let score = bic.evaluate(&[empty]).expect("a network over the variables")[0];
    assert!(score.is_finite());
    let best = Optimum::find(&bic).score;
    assert!(best >= score - 1e-9 * score.abs(), "{best} is worse than {score}");
}
