//! Theorem 3.1 as tests: the sequence is lossless, and equal exactly for isomorphic DAGs.

use std::collections::BTreeSet;

use pace_graph::structure::{MaskRule, mask};
use pace_graph::{Dag, GraphKey, Hops, RootedLabels, Sequence, canonical, dag2seq, dag2seq_all, seq2dag};
use proptest::prelude::{ProptestConfig, prop_assert, prop_assert_eq, proptest};

use crate::graphs::{dag, isomorphic, renumbered};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn sequences_are_equal_iff_isomorphic(one in dag(4, 2), other in dag(4, 2)) {
        prop_assert_eq!(dag2seq(&one) == dag2seq(&other), isomorphic(&one, &other));
    }

    #[test]
    fn one_edge_more_or_less_changes_the_sequence((dag, order) in renumbered(dag(7, 3))) {
        let last = dag.n_edges().saturating_sub(1);
        let fewer = Dag::new(dag.ops().collect(), dag.edges().take(last).collect::<Vec<_>>()).expect("a subgraph");
        prop_assert_eq!(dag2seq(&dag.relabel(&order)) == dag2seq(&fewer), dag.n_edges() == 0);
    }

    #[test]
    fn sequences_invert_to_the_canonical_form((dag, order) in renumbered(dag(12, 4))) {
        let sequence = dag2seq(&dag.relabel(&order));
        prop_assert_eq!(&sequence, &dag2seq(&dag));
        prop_assert_eq!(seq2dag(&sequence), canonical(&dag));
        let backwards = sequence.items().all(|item| item.predecessors.iter().all(|&source| (source as usize) < item.index));
        prop_assert!(backwards);
        let json = serde_json::to_string(&sequence).expect("serialisable");
        prop_assert_eq!(serde_json::from_str::<Sequence>(&json).expect("own JSON"), sequence);
    }

    #[test]
    fn sequences_know_edges_and_masks((dag, order) in renumbered(dag(70, 4))) {
        let (sequence, form) = (dag2seq(&dag.relabel(&order)), canonical(&dag));
        prop_assert_eq!(&sequence, &Sequence::as_stored(&form));
        prop_assert_eq!(sequence.edges().collect::<BTreeSet<_>>(), form.edges().collect());
        let successors = sequence.successors();
        for node in 0..form.n_nodes() {
            prop_assert!(successors.row(node).iter().map(|&other| other as usize).eq(form.successors(node)));
        }
        for rule in MaskRule::ALL {
            prop_assert_eq!(sequence.mask(rule), mask(&form, rule));
        }
    }

    #[test]
    fn keys_are_isomorphism_classes((dag, order) in renumbered(dag(12, 4)), other in dag(12, 4)) {
        let key = GraphKey::of(&dag);
        prop_assert_eq!(&GraphKey::of(&dag.relabel(&order)), &key);
        prop_assert_eq!(GraphKey::of(&other) == key, canonical(&other) == canonical(&dag));
        prop_assert_eq!(key.canonical(), canonical(&dag));
        prop_assert_eq!(key.sequence(), dag2seq(&dag));
    }

    #[test]
    fn rooted_sequences_stay_injective_and_invariant((dag, order) in renumbered(dag(6, 2)), other in dag(6, 2)) {
        for hops in [Hops::Both, Hops::Predecessors] {
            for height in 0..3 {
                let mut labels = RootedLabels::new(height, hops);
                let rooted = labels.dag2seq(&dag);
                // Corollary: labels and predecessor sets together identify the class.
                prop_assert_eq!(&labels.dag2seq(&dag.relabel(&order)).0, &rooted.0);
                let structure = |(sequence, labels): (Sequence, Vec<u32>)| {
                    let sets: Vec<Vec<u32>> = sequence.items().map(|item| item.predecessors.to_vec()).collect();
                    (sets, labels)
                };
                let same = structure(labels.dag2seq(&other)) == structure(rooted);
                prop_assert!(!same || isomorphic(&dag, &other));
            }
        }
    }
}

/// Automorphic nodes may swap places between renumberings, but their labels are equal, so the label sequence is fixed.
#[test]
fn rooted_labels_do_not_depend_on_the_numbering() {
    let dag: Dag = "0 2 2 3 1 : 0>1 0>2 1>3 2>3 3>4 1>4 2>4".parse().expect("a DAG");
    let mut labels = RootedLabels::new(2, Hops::Both);
    let first = labels.dag2seq(&dag);
    for order in [[4, 3, 2, 1, 0], [2, 0, 1, 4, 3], [1, 2, 0, 3, 4]] {
        assert_eq!(labels.dag2seq(&dag.relabel(&order)), first);
    }
    assert_eq!(first.1[1], first.1[2], "the two look-alikes share a label");
}

#[test]
fn many_at_once_keep_their_order() {
    let dags: Vec<Dag> = (1..50).map(|n| Dag::new(vec![0; n], (1..n).map(|v| (0, v))).expect("a star")).collect();
    let lengths: Vec<usize> = dag2seq_all(&dags).iter().map(Sequence::len).collect();
    assert_eq!(lengths, (1..50).collect::<Vec<_>>());
}

#[test]
fn a_sequence_that_points_forward_is_refused() {
    let forward = r#"[{"op":0,"predecessors":[1]},{"op":1,"predecessors":[]}]"#;
    let error = serde_json::from_str::<Sequence>(forward).expect_err("points forward").to_string();
    assert!(error.contains("earlier positions"), "{error}");
}
