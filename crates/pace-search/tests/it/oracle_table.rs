//! Tables of scores, and the official protocol of NAS-Bench-101 through a small file.

use std::sync::{Arc, LazyLock};

use pace_graph::Dag;
use pace_graph::dataset::{
    Nas101Cell, Nas101Run, Nas101Table, Nas101TfRecord, nas101_hash, write_nas101_table, write_nas101_tfrecord,
};
use pace_graph::enumerate::Nas101Space;
use pace_search::oracle::{NAS101_BEST_TEST, Nas101Protocol, Oracle, Scores, Table};

static SPACE: LazyLock<Arc<Nas101Space>> = LazyLock::new(|| Arc::new(Nas101Space::enumerate()));

fn dag(text: &str) -> Dag {
    text.parse().unwrap()
}

/// Three runs each of 108 epochs, and one of 36 that must not count: (validation, test).
fn cells() -> Vec<Nas101Cell> {
    let rows = [
        ("0 2 2 4 : 0>1 1>2 2>3", [(0.95, 0.94), (0.94, 0.93), (0.96, 0.935)]),
        ("0 1 3 4 : 0>1 0>2 1>3 2>3", [(0.80, 0.97), (0.82, 0.97), (0.81, 0.97)]),
        ("0 3 4 : 0>1 1>2", [(0.70, 0.69), (0.71, 0.70), (0.72, 0.71)]),
    ];
    let run = |epochs, (validation, test)| Nas101Run {
        epochs,
        training_time: Some(1000.0),
        train_accuracy: Some(1.0),
        validation_accuracy: Some(validation),
        test_accuracy: test,
    };
    let cell = |(text, accuracies): (&str, [(f64, f64); 3])| {
        let runs = accuracies.map(|accuracy| run(108, accuracy)).into_iter().chain([run(36, (0.1, 0.1))]);
        let dag = dag(text);
        Nas101Cell { hash: nas101_hash(&dag).unwrap(), dag, parameters: 1000, runs: runs.collect() }
    };
    rows.map(cell).to_vec()
}

#[test]
fn official_protocol_is_guided_by_validation_and_judged_by_test() {
    let mut file = Vec::new();
    write_nas101_tfrecord(&cells(), &mut file).unwrap();
    let read = Nas101TfRecord { check_hashes: true, ..Nas101TfRecord::default() };
    let cells = read.read_cells(&mut &*file, "small.tfrecord", &mut |_| {}).unwrap();
    let protocol = Nas101Protocol::of(&cells);
    assert_eq!(protocol, Nas101Protocol::Official);
    let table = Table::nas101(&cells, SPACE.clone(), protocol).unwrap();
    assert_eq!((table.len(), table.best()), (3, NAS101_BEST_TEST));
    // Under any numbering.
    let pool = [dag("4 2 0 2 : 2>1 1>3 3>0"), dag("0 3 1 4 : 0>1 0>2 1>3 2>3"), dag("0 3 4 : 0>1 1>2")];
    let guides = table.evaluate(&pool).unwrap();
    for (found, wanted) in guides.iter().zip([0.95, 0.81, 0.71]) {
        assert!((found - wanted).abs() < 1e-12, "{guides:?}");
    }
    // The search ends at the best validation accuracy, although another cell tests better.
    let chosen = guides.iter().enumerate().max_by(|a, b| a.1.total_cmp(b.1)).unwrap().0;
    assert_eq!(chosen, 0);
    assert!((table.report(&pool[0]).unwrap() - 0.935).abs() < 1e-12);
    assert!((table.regret(&pool[0]).unwrap() - (0.943_175_752_957_662 - 0.935)).abs() < 1e-12);
    assert!(table.regret(&pool[1]).unwrap() < 0.0);
}

#[test]
fn a_table_of_single_test_runs_judges_by_its_own_best() {
    let mut cells = cells();
    cells.iter_mut().for_each(|cell| {
        cell.runs.iter_mut().for_each(|run| run.test_accuracy = (run.test_accuracy * 9984.0).round() / 9984.0)
    });
    let mut file = Vec::new();
    write_nas101_table(&cells, &mut file).unwrap();
    let cells = Nas101Table::default().read_cells(&mut &*file, "small.csv", &mut |_| {}).unwrap();
    let protocol = Nas101Protocol::of(&cells);
    assert_eq!(protocol, Nas101Protocol::TestOnly);
    let table = Table::nas101(&cells, SPACE.clone(), protocol).unwrap();
    assert!((table.best() - 0.97).abs() < 1e-4);
    assert_eq!(table.regret(&cells[1].dag).unwrap(), 0.0);
    let index = SPACE.index_of(&cells[0].dag).unwrap();
    let scores = table.at(index).unwrap();
    assert_eq!(scores.guide, scores.report);
    assert_eq!(Some(scores), table.scores(&cells[0].dag));
    assert_eq!(table.at(SPACE.len()), None);
    assert_eq!(table.row(2), table.scores(&cells[2].dag).unwrap());
}

#[test]
fn graphs_and_rows_that_do_not_fit_are_errors() {
    let table = Table::nas101(&cells(), SPACE.clone(), Nas101Protocol::Official).unwrap();
    let unknown = [dag("0 3 4 : 0>1 1>2"), dag("0 1 4 : 0>1 1>2")];
    let message = table.evaluate(&unknown).unwrap_err().to_string();
    assert_eq!(message, "graph 1 is not among the 3 of the table; propose only graphs that are");

    let broken =
        |cells: &[Nas101Cell]| Table::nas101(cells, SPACE.clone(), Nas101Protocol::Official).unwrap_err().to_string();
    let mut twice = cells();
    twice.push(twice[0].clone());
    twice[3].dag = dag("4 2 0 2 : 2>1 1>3 3>0");
    assert!(broken(&twice).contains("row 3 of the table: it is the cell of row 0 again"), "{}", broken(&twice));
    let mut bare = cells();
    bare[1].runs.iter_mut().for_each(|run| run.validation_accuracy = None);
    assert!(broken(&bare).contains("row 1 of the table: it lacks an accuracy that Official wants"));
    assert_eq!(Nas101Protocol::of(&bare), Nas101Protocol::TestOnly);
    let mut foreign = cells();
    foreign[2].dag = dag("0 1 : 0>1");
    assert!(broken(&foreign).contains("row 2 of the table: it is no cell of the space"));
    assert!(broken(&[]).contains("0 labelled graphs"));
}

#[test]
fn tables_of_any_graphs_know_isomorphic_ones() {
    let scores = |guide, report| Scores { guide, report };
    let rows = [(dag("0 2 3 : 0>1 0>2"), scores(1.0, 2.0)), (dag("0 3 3 : 0>1 0>2"), scores(3.0, 5.0))];
    let table = Table::new(rows.clone(), None).unwrap();
    assert_eq!(table.evaluate(&[dag("3 0 2 : 1>0 1>2")]).unwrap(), [1.0]);
    assert_eq!((table.best(), table.regret(&rows[0].0).unwrap()), (5.0, 3.0));
    assert_eq!(Table::new(rows.clone(), Some(7.0)).unwrap().regret(&rows[0].0).unwrap(), 5.0);
    let again = rows.clone().into_iter().chain([(dag("3 0 2 : 1>0 1>2"), scores(0.0, 0.0))]);
    assert!(Table::new(again, None).unwrap_err().to_string().contains("row 2 of the table: it is the graph of row 0"));
    let wild = [(dag("0 :"), scores(f64::NAN, 0.0))];
    assert!(Table::new(wild, None).unwrap_err().to_string().contains("not finite"));
}

#[test]
fn a_whole_space_is_a_table_by_index() {
    let scores = (0..SPACE.len()).map(|index| Scores { guide: index as f64, report: -(index as f64) }).collect();
    let table = Table::whole_nas101(SPACE.clone(), scores).unwrap();
    assert_eq!((table.len(), table.best()), (423_624, 0.0));
    assert_eq!(table.evaluate(&[SPACE.cell(4711)]).unwrap(), [4711.0]);
    assert_eq!(table.regret(&SPACE.cell(12)).unwrap(), 12.0);
}
