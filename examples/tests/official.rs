//! With the official records of NAS-Bench-101, validation accuracy guides a search and test accuracy judges it.

use std::fs::File;
use std::io::BufWriter;
use std::process::{Command, Stdio};

use pace_graph::Dag;
use pace_graph::dataset::{Nas101Cell, Nas101Run, nas101_hash, write_nas101_tfrecord};
use pace_graph::enumerate::Nas101Space;
use serde_json::Value;

/// The best mean test accuracy of the official table.
const OFFICIAL_BEST: f64 = 0.943_175_752_957_662;

/// Three runs whose accuracies depend on the place in the space; what validates best does not test best.
fn cell(space: &Nas101Space, index: usize) -> Nas101Cell {
    let validation = 0.80 + 0.1 * (index * 37 % 101) as f64 / 101.0;
    let test = 0.78 + 0.1 * (index * 53 % 97) as f64 / 97.0;
    let run = |shift: f64| Nas101Run {
        epochs: 108,
        training_time: Some(1000.0),
        train_accuracy: Some(1.0),
        validation_accuracy: Some(validation + shift),
        test_accuracy: test - shift,
    };
    let dag = space.cell(index);
    let runs = [-0.01, 0.0, 0.01].map(run).to_vec();
    Nas101Cell { hash: nas101_hash(&dag).unwrap(), dag, parameters: 1000, runs }
}

#[test]
fn the_official_records_are_searched_by_the_official_protocol() {
    let space = Nas101Space::enumerate();
    // Cells of up to 5 nodes: a file of a few thousand rows.
    let n_cells = space.indices_of_size(5).end;
    let cells: Vec<Nas101Cell> = (0..n_cells).map(|index| cell(&space, index)).collect();
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("data/nas101");
    std::fs::create_dir_all(&folder).unwrap();
    let file = File::create(folder.join("nasbench_only108.tfrecord")).unwrap();
    write_nas101_tfrecord(&cells, &mut BufWriter::new(file)).unwrap();

    let out = dir.path().join("out");
    let status = Command::new(env!("CARGO_BIN_EXE_nas101"))
        .args(["--smoke", "--seeds", "2", "--methods", "random,dngo", "--data"])
        .arg(dir.path().join("data"))
        .arg("--out")
        .arg(&out)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    assert!(status.unwrap().success());

    let results: Value = serde_json::from_slice(&std::fs::read(out.join("results.json")).unwrap()).unwrap();
    assert_eq!(results["data"], "real");
    let note = results["data_note"].as_str().unwrap();
    assert!(note.contains("nasbench_only108.tfrecord") && note.contains("3 run(s) per cell"), "{note}");
    for method in ["random", "dngo"] {
        let regrets = [1, 2].map(|seed| {
            let journal = std::fs::read_to_string(out.join(format!("search-{method}-{seed}.jsonl"))).unwrap();
            let lines = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
            let (mut asked, mut best) = (Vec::new(), (f64::NEG_INFINITY, 0));
            for line in lines {
                if let Some(graph) = line["graph"].as_str() {
                    asked.push(space.index_of(&graph.parse::<Dag>().unwrap()).unwrap());
                } else if let (Some(id), Some(score)) = (line["tell"].as_u64(), line["score"].as_f64()) {
                    let index = asked[id as usize];
                    let validation = mean(&cells[index], |run| run.validation_accuracy.unwrap());
                    assert!((score - validation).abs() < 1e-9, "the search sees validation accuracies");
                    best = if score > best.0 { (score, index) } else { best };
                }
            }
            100.0 * (OFFICIAL_BEST - mean(&cells[best.1], |run| run.test_accuracy))
        });
        let reported = results["metrics"][format!("regret_{method}")]["mean"].as_f64().unwrap();
        let expected = (regrets[0] + regrets[1]) / 2.0;
        assert!((reported - expected).abs() < 1e-6, "{method}: {reported}, not {expected}");
    }
}

fn mean(cell: &Nas101Cell, accuracy: impl Fn(&Nas101Run) -> f64) -> f64 {
    cell.runs.iter().map(accuracy).sum::<f64>() / cell.runs.len() as f64
}
