//! The table of the experiment: every number with its title and the paper's value.

use pace_train::record::MetricSpec;

use crate::metrics::{ENCODE_SPEED, GRAPHS_SEEN, PARAMETERS, TRAIN_SECONDS};
use crate::mlm::{MethodId, SearchRow};

/// What the searches are measured by.
pub const REGRET: SearchRow = SearchRow {
    spec: MetricSpec::new("regret", "test regret").unit("%").lower(),
    suffix: "",
    paper: &[(MethodId::Dngo, 0.391), (MethodId::DngoLs, 0.278)],
    source: "Table 2",
};
/// Rows of the table that are cells of the space.
pub const MATCHED_ROWS: MetricSpec =
    MetricSpec::new("matched_rows", "rows of the table matched with a cell of the space").decimals(0);
/// Theorem 3.1, cell by cell.
pub const RENUMBERED: MetricSpec =
    MetricSpec::new("renumbered_found", "cells renumbered at random and found again by their canonical form")
        .decimals(0);
/// Of the whole table.
pub const BEST_ACCURACY: MetricSpec =
    MetricSpec::new("best_test_accuracy", "best test accuracy in the table").unit("%");
/// Of the whole table.
pub const MEAN_ACCURACY: MetricSpec =
    MetricSpec::new("mean_test_accuracy", "mean test accuracy in the table").unit("%");
/// Speed of the canonical order.
pub const CANONICAL_SPEED: MetricSpec =
    MetricSpec::new("canonical_graphs_per_s", "canonical order and mask").unit("graphs/s").decimals(0).higher();
/// Isomorphism classes in all.
pub const CLASSES: MetricSpec = MetricSpec::new("classes", "isomorphism classes").decimals(0);

/// The columns of a table of several encoders.
pub fn columns() -> &'static [MetricSpec] {
    const COLUMNS: &[MetricSpec] = &[
        MetricSpec::new("regret_dngo", "test regret, DNGO").unit("%").lower(),
        MetricSpec::new("regret_dngo_ls", "test regret, DNGO-LS").unit("%").lower(),
        MetricSpec::new("kendall_100_gp", "Kendall's tau, 100 labels").higher(),
        MetricSpec::new("kendall_172_gp", "172").higher(),
        MetricSpec::new("kendall_424_gp", "424").higher(),
        MetricSpec::new("kendall_4236_gp", "4,236").higher(),
        TRAIN_SECONDS,
        ENCODE_SPEED,
        GRAPHS_SEEN,
        PARAMETERS,
    ];
    COLUMNS
}

/// Isomorphism classes with this many nodes.
pub fn classes_of(n_nodes: usize) -> MetricSpec {
    let (id, title) =
        (format!("classes_{n_nodes}_nodes").into(), format!("isomorphism classes, {n_nodes} nodes").into());
    MetricSpec { id, title, ..CLASSES }
}
