//! What is written is read back equal, in every format.

use pace_graph::dataset::{
    Bn, DartsArchs, DartsCell, DartsEdge, DartsGenotypes, DartsPairs, Dataset, DatasetFormat, Genotype, JsonLines, Na,
    Nas101Accuracy, Nas101Cell, Nas101Run, Nas101Table, Nas101TfRecord, Sample, bn_line, na_line, nas101_hash,
    write_json_lines, write_nas101_table, write_nas101_tfrecord,
};
use pace_graph::{Dag, DagSpec, Op};
use proptest::prelude::{Just, Strategy, any, prop, prop_assert, prop_assert_eq, proptest};

fn read(format: &dyn DatasetFormat, bytes: &[u8]) -> Dataset {
    format.read(&mut &*bytes, "my.file", &mut |_| {}).expect("what was written")
}

/// Any finite number, with many digits.
pub(crate) fn target() -> impl Strategy<Value = f64> {
    any::<f64>().prop_filter("finite", |value| value.is_finite())
}

/// Labels below `n_labels` and the bits of a lower triangle, as a graph over `n` nodes.
fn triangle(n: usize, n_labels: Op) -> impl Strategy<Value = (Vec<Op>, Vec<bool>)> {
    (prop::collection::vec(0..n_labels, n), prop::collection::vec(any::<bool>(), n * (n - 1) / 2))
}

fn edges_of(bits: &[bool], n: usize) -> Vec<(usize, usize)> {
    let pairs = (0..n).flat_map(|to| (0..to).map(move |from| (from, to)));
    pairs.zip(bits).filter(|(_, bit)| **bit).map(|(pair, _)| pair).collect()
}

/// A DAG of 1..=`max` nodes, numbered in a random way.
pub(crate) fn dag(max: usize, n_ops: Op) -> impl Strategy<Value = Dag> {
    (1..=max).prop_flat_map(move |n| {
        let order = Just((0..n).collect::<Vec<_>>()).prop_shuffle();
        (triangle(n, n_ops), order).prop_map(move |((ops, bits), order)| {
            Dag::new(ops, edges_of(&bits, n)).expect("a triangle is acyclic").relabel(&order)
        })
    })
}

/// An NA graph of 1..=12 layers.
pub(crate) fn na_dag() -> impl Strategy<Value = Dag> {
    (1..=12_usize).prop_flat_map(|n| {
        triangle(n, 6).prop_map(move |(ops, bits)| {
            let ops: Vec<Op> = [0].into_iter().chain(ops.iter().map(|op| op + 2)).chain([1]).collect();
            let chain = (0..=n).map(|node| (node, node + 1));
            let skips = edges_of(&bits, n).into_iter().map(|(from, to)| (from, to + 1));
            Dag::new(ops, chain.chain(skips)).expect("acyclic")
        })
    })
}

/// A BN graph, its variables in random topological order.
pub(crate) fn bn_dag() -> impl Strategy<Value = Dag> {
    let variables = Just((0..8).collect::<Vec<Op>>()).prop_shuffle();
    (variables, prop::collection::vec(prop::bool::weighted(0.3), 28)).prop_map(|(variables, bits)| {
        let network = Dag::new(variables.iter().map(|variable| variable + 2).collect(), edges_of(&bits, 8));
        network.expect("acyclic").with_virtual_input(0).with_virtual_output(1)
    })
}

/// A NAS-Bench-101 cell numbered from input to output: what remains of random bits after pruning.
pub(crate) fn nas101_dag() -> impl Strategy<Value = Dag> {
    (2..=7_usize)
        .prop_flat_map(|n| (triangle(n, 3), Just(n)))
        .prop_map(|((ops, bits), n)| {
            let ops = (0..n).map(|node| match node {
                0 => 0,
                _ if node == n - 1 => 4,
                _ => ops[node] + 1,
            });
            Dag::new(ops.collect(), edges_of(&bits, n)).expect("acyclic")
        })
        .prop_filter("inside the space", |dag| DagSpec::nas101().is_valid(dag))
}

pub(crate) fn cell() -> impl Strategy<Value = DartsCell> {
    let entry = |index: usize| (2..9_u16, 0..index / 2 + 2).prop_map(|(op, input)| DartsEdge { op, input });
    std::array::from_fn::<_, 8, _>(entry).prop_map(|edges| DartsCell::new(edges).expect("inputs come before"))
}

pub(crate) fn genotype() -> impl Strategy<Value = Genotype> {
    (cell(), cell()).prop_map(|(normal, reduce)| Genotype { normal, reduce })
}

fn run() -> impl Strategy<Value = Nas101Run> {
    let (epochs, unit) = (prop::sample::select(vec![4_u32, 12, 36, 108]), || 0.0..1.0_f64);
    (epochs, unit(), unit(), unit(), unit()).prop_map(|(epochs, time, train, validation, test)| Nas101Run {
        epochs,
        training_time: Some(time),
        train_accuracy: Some(train),
        validation_accuracy: Some(validation),
        test_accuracy: test,
    })
}

/// Cells with distinct hashes: the reader joins equal ones.
pub(crate) fn nas101_cells() -> impl Strategy<Value = Vec<Nas101Cell>> {
    let one = (nas101_dag(), prop::collection::vec(run(), 1..4), 0..i32::MAX as u32);
    prop::collection::vec(one, 1..6).prop_map(|cells| {
        let mut known = std::collections::HashSet::new();
        let cells = cells.into_iter().map(|(dag, runs, parameters)| Nas101Cell {
            hash: nas101_hash(&dag).expect("in the space"),
            dag,
            parameters,
            runs,
        });
        cells.filter(|cell| known.insert(cell.hash)).collect()
    })
}

proptest! {
    #[test]
    fn na(dag in na_dag(), target in target(), order in any::<prop::sample::Index>()) {
        let line = na_line(&dag, target).unwrap();
        let found = read(&Na { burn_in: 0 }, format!("{line}\n").as_bytes());
        prop_assert_eq!(&found.samples, &[Sample::new(dag.clone(), target)]);
        // Renumbering does not change the line: the topological order is unique.
        let mut rotated: Vec<usize> = (0..dag.n_nodes()).collect();
        rotated.rotate_left(order.index(dag.n_nodes()));
        prop_assert_eq!(na_line(&dag.relabel(&rotated), target).unwrap(), line);
    }

    #[test]
    fn bn(dag in bn_dag(), target in target()) {
        let line = bn_line(&dag, target).unwrap();
        prop_assert_eq!(&read(&Bn::default(), format!("{line}\r\n").as_bytes()).samples, &[Sample::new(dag, target)]);
    }

    #[test]
    fn nas101_tfrecord(cells in nas101_cells()) {
        let mut bytes = Vec::new();
        write_nas101_tfrecord(&cells, &mut bytes).unwrap();
        let format = Nas101TfRecord { check_hashes: true, ..Nas101TfRecord::default() };
        prop_assert_eq!(&format.read_cells(&mut &*bytes, "my.file", &mut |_| {}).unwrap(), &cells);
        let dataset = read(&Nas101TfRecord { accuracy: Nas101Accuracy::Validation, epochs: 36, ..format }, &bytes);
        for (cell, sample) in cells.iter().zip(&dataset.samples) {
            prop_assert_eq!(cell.accuracy(Nas101Accuracy::Validation, 36), sample.target);
            prop_assert_eq!(sample.target.is_some(), cell.runs_at(36).count() > 0);
        }
    }

    #[test]
    fn nas101_table(mut cells in nas101_cells(), k in 0..=9984_u32) {
        for cell in &mut cells {
            let test_accuracy = f64::from(k) / 9984.0;
            cell.runs = vec![Nas101Run {
                epochs: 108, training_time: None, train_accuracy: None, validation_accuracy: None, test_accuracy,
            }];
        }
        let mut bytes = Vec::new();
        write_nas101_table(&cells, &mut bytes).unwrap();
        let found = Nas101Table { check_hashes: true }.read_cells(&mut &*bytes, "my.file", &mut |_| {}).unwrap();
        prop_assert_eq!(found, cells);
    }

    #[test]
    fn nas101_hash_ignores_the_numbering(dag in nas101_dag(), seed in any::<prop::sample::Index>()) {
        let mut order: Vec<usize> = (0..dag.n_nodes()).collect();
        order.rotate_left(seed.index(dag.n_nodes()));
        prop_assert_eq!(nas101_hash(&dag.relabel(&order)).unwrap(), nas101_hash(&dag).unwrap());
    }

    #[test]
    fn genotypes(genotypes in prop::collection::vec(genotype(), 1..4), target in target()) {
        for genotype in &genotypes {
            prop_assert_eq!(&genotype.to_string().parse::<Genotype>().unwrap(), genotype);
            prop_assert_eq!(&genotype.compact().parse::<Genotype>().unwrap(), genotype);
            prop_assert_eq!(DartsCell::from_dag(&genotype.normal.to_dag()).unwrap(), genotype.normal);
            prop_assert!(DagSpec::darts().is_valid(&genotype.normal.to_dag()));
        }
        let ids: Vec<_> = genotypes.iter().map(|genotype| Some(genotype.compact())).collect();
        let lines: String = genotypes.iter().map(|genotype| format!("{genotype}\t{target}\n")).collect();
        let pairs: String = genotypes.iter().map(|genotype| format!("\"{}\",{target},1\n", genotype.compact())).collect();
        let pairs = format!("arch,val_accuracy_nb301,yahpo_v1_pred_epoch98\n{pairs}");
        let archs: Vec<String> = genotypes.iter().enumerate().map(|(key, genotype)| {
            format!("\"{key}\": \"{}\"", genotype.compact().replace('[', "(").replace(']', ")"))
        }).collect();
        let lines = read(&DartsGenotypes::default(), lines.as_bytes());
        let pairs = read(&DartsPairs::default(), pairs.as_bytes());
        let archs = read(&DartsArchs::default(), format!("{{{}}}", archs.join(", ")).as_bytes());
        prop_assert_eq!(&lines.samples, &pairs.samples);
        for dataset in [&lines, &archs] {
            prop_assert_eq!(dataset.samples.iter().map(|sample| sample.id.clone()).collect::<Vec<_>>(), ids.clone());
        }
        prop_assert!(lines.samples.iter().all(|sample| sample.target == Some(target)));
    }

    #[test]
    fn renumbered_cells_stay_the_same_graph(cell in cell(), seed in any::<prop::sample::Index>()) {
        let mut order: Vec<usize> = (0..15).collect();
        order.rotate_left(seed.index(15));
        let found = DartsCell::from_dag(&cell.to_dag().relabel(&order)).unwrap();
        let graph = |cell: &DartsCell| cell.to_dag().graph().clone();
        prop_assert!(petgraph::algo::is_isomorphic_matching(&graph(&cell), &graph(&found), |a, b| a == b, |_, _| true));
    }

    #[test]
    fn json_lines(
        dags in prop::collection::vec(dag(12, 5), 1..6),
        target in prop::option::of(target()),
        id in prop::option::of(".*"),
        same_name in any::<bool>(),
    ) {
        // Two operations of one name force numbers.
        let names = ["a", "b", "c", if same_name { "a" } else { "d" }, "5"];
        let samples = dags.into_iter().map(|dag| Sample { dag, target, id: id.clone() }).collect();
        let spec = DagSpec::new("mine", names, 12);
        let dataset = Dataset { name: "other".to_owned(), spec, samples, note: "made up".to_owned() };
        let mut bytes = Vec::new();
        write_json_lines(&dataset, &mut bytes).unwrap();
        prop_assert_eq!(&read(&JsonLines::default(), &bytes), &dataset);
        // CR LF, blank lines and a last line without line break change nothing.
        let text = String::from_utf8(bytes).unwrap().replace('\n', "\r\n\r\n");
        prop_assert_eq!(&read(&JsonLines::default(), text.trim_end().as_bytes()), &dataset);
    }
}

#[test]
fn json_lines_without_spec_make_a_dictionary() {
    let names = r#"{"ops": ["z", "x"], "edges": [[0, 1]], "id": 7, "colour": "red"}
                   {"ops": ["y", "z"], "edges": [], "target": null}"#;
    let found = read(&JsonLines::default(), names.as_bytes());
    assert_eq!((found.spec.ops.join(" "), found.spec.max_nodes), ("x y z".to_owned(), 2));
    assert_eq!(found.samples[0].id.as_deref(), Some("7"));
    assert_eq!((found.samples[1].dag.to_string(), found.samples[1].target), ("1 2 :".to_owned(), None));
    assert_eq!(found.note, "2 graphs from my.file; ignored \"colour\" in 1 rows");
    let numbers = read(&JsonLines::default(), br#"{"ops": [3, 0], "edges": []}"#);
    assert_eq!(numbers.spec.ops, ["0", "1", "2", "3"]);
}

#[test]
fn writers_refuse_what_their_format_cannot_hold() {
    let dag = |text: &str| text.parse::<Dag>().expect("a graph");
    let message = na_line(&dag("0 2 3 1 : 0>1 0>2 1>3 2>3"), 0.5).expect_err("no path").to_string();
    assert!(message.contains("path through all nodes"), "{message}");
    assert!(na_line(&dag("0 1 : 0>1"), 0.5).is_err(), "no layers");
    assert!(na_line(&dag("0 2 1 : 0>1 1>2"), f64::NAN).is_err(), "not finite");
    let bn = dag("0 2 3 4 5 6 7 8 9 1 : 0>1 0>2 1>2 2>3 3>4 4>5 5>6 6>7 7>8 8>9");
    let message = bn_line(&bn, -1.0).expect_err("the input feeds a node with parents").to_string();
    assert!(message.contains("mend the edges"), "{message}");
}

#[test]
fn darts_graph_is_that_of_the_reference() {
    let text = "[[(0, 0), (1, 5), (1, 1), (0, 1), (1, 3), (0, 3), (1, 3), (3, 2)], \
                 [(1, 0), (0, 2), (1, 3), (0, 3), (3, 0), (0, 1), (2, 0), (3, 6)]]";
    let genotype: Genotype = text.parse().expect("a genotype");
    // Within each pair the second entry is the lower node; state 3 is node 7.
    let normal = "0 1 7 2 9 3 3 9 5 5 9 4 5 9 10 : 0>3 0>5 0>8 1>2 1>6 1>9 1>12 2>4 3>4 4>14 5>7 6>7 7>11 7>14 8>10 \
                  9>10 10>14 11>13 12>13 13>14";
    assert_eq!(genotype.normal.to_dag().to_string(), normal);
    let darts = "Genotype(normal=[('sep_conv_3x3', 0), ('sep_conv_3x3', 1), ('sep_conv_3x3', 0), ('sep_conv_3x3', 1), \
                 ('sep_conv_3x3', 1), ('skip_connect', 0), ('skip_connect', 0), ('dil_conv_3x3', 2)], \
                 normal_concat=range(2, 6), reduce=[('max_pool_3x3', 0), ('max_pool_3x3', 1), ('skip_connect', 2), \
                 ('max_pool_3x3', 1), ('max_pool_3x3', 0), ('skip_connect', 2), ('skip_connect', 2), \
                 ('max_pool_3x3', 1)], reduce_concat=range(2, 6))";
    let genotype: Genotype = darts.parse().expect("the published DARTS_V2");
    assert_eq!(genotype.to_string(), darts.replace("range(2, 6)", "[2, 3, 4, 5]"));
}
