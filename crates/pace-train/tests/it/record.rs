//! The folder of a run: what was done stays done, and another run is kept out.

use pace_train::Error;
use pace_train::record::{DataKind, Metric, MetricSpec, Run, RunId, Stage};
use serde_json::{Value, json};
use tempfile::tempdir;

const RMSE: MetricSpec = MetricSpec::new("rmse", "RMSE of the GP").lower().paper(0.254, "Table 1");

fn gp(seed: u64) -> Stage {
    Stage::new("gp").seed(seed)
}

fn id(epochs: usize) -> RunId {
    RunId::new("na", "pace", 1, 2, json!({"epochs": epochs}))
}

fn results(dir: &std::path::Path) -> Value {
    serde_json::from_slice(&std::fs::read(dir.join("results.json")).unwrap()).unwrap()
}

#[test]
fn a_stage_is_done_once() {
    let dir = tempdir().unwrap();
    let mut calls = 0;
    for _ in 0..2 {
        let mut run = Run::start(dir.path(), id(3)).unwrap();
        assert_eq!(run.resumed(), calls > 0);
        let outcome: (f64, Vec<u8>) = run
            .once(&gp(1), |_| {
                calls += 1;
                Ok::<_, Error>((0.1 + 0.2, vec![1, 2]))
            })
            .unwrap();
        assert_eq!(outcome, (0.1 + 0.2, vec![1, 2]));
        run.metric(&RMSE, Metric::over(&[1.0, 3.0]));
        run.data(DataKind::Real, "made up");
        run.finish("NA").unwrap();
    }
    assert_eq!(calls, 1);
    let results = results(dir.path());
    assert_eq!(results["metrics"]["rmse"], json!({"mean": 2.0, "std": 1.0, "n": 2, "paper": 0.254}));
    let spec = json!({"id": "rmse", "title": "RMSE of the GP", "unit": "", "decimals": 4, "better": "lower",
        "paper": {"value": 0.254, "source": "Table 1"}});
    assert_eq!((&results["table"], &results["title"]), (&json!([spec]), &json!("NA")));
    assert_eq!(
        (&results["dataset"], &results["data"], &results["config"]["epochs"]),
        (&json!("na"), &json!("real"), &json!(3))
    );
    let stage = &results["stages"][0];
    assert_eq!((&stage["kind"], &stage["variant"], &stage["seeds"]), (&json!("gp"), &Value::Null, &json!([1])));
    assert!(stage["seconds"].is_number() && stage["seconds"] == results["seconds"][gp(1).to_string()]);
    let events = std::fs::read_to_string(dir.path().join("events.jsonl")).unwrap();
    let kept: Vec<Value> =
        events.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()["kept"].clone()).collect();
    assert_eq!(kept, [Value::Null, json!(false), Value::Null, json!(true)]);
}

#[test]
fn a_failed_stage_is_tried_again() {
    let dir = tempdir().unwrap();
    let mut run = Run::start(dir.path(), id(3)).unwrap();
    assert!(run.once(&gp(1), |_| Err::<u8, _>(Error::EmptyDataset)).is_err());
    assert_eq!(run.once(&gp(1), |_| Ok::<u8, Error>(7)).unwrap(), 7);
}

#[test]
fn another_run_is_kept_out() {
    let dir = tempdir().unwrap();
    Run::start(dir.path(), id(3)).unwrap().finish("NA").unwrap();
    let error = Run::start(dir.path(), id(4)).unwrap_err();
    assert!(error.to_string().contains("\"epochs\": 3"), "{error}");
    assert!(dir.path().join("results.json").exists(), "nothing is lost");
}

#[test]
fn results_say_whether_the_tree_was_ever_dirty() {
    let dir = tempdir().unwrap();
    for (tree, recorded) in [(false, false), (true, true), (false, true)] {
        let run = Run::start(dir.path(), RunId { dirty: Some(tree), ..id(3) }).unwrap();
        run.finish("NA").unwrap();
        assert_eq!(results(dir.path())["dirty"], json!(recorded));
    }
}

#[test]
fn parallel_stages_are_kept_one_by_one() {
    let dir = tempdir().unwrap();
    let stages: Vec<Stage> = (0..4).map(gp).collect();
    let mut run = Run::start(dir.path(), id(3)).unwrap();
    run.each(&stages[..2], |index| Ok::<_, Error>(10 * index)).unwrap();
    let stuck = |index: usize| if index == 2 { Err(Error::EmptyDataset) } else { Ok(10 * index) };
    assert!(run.each(&stages, stuck).is_err());
    drop(run);
    let mut run = Run::start(dir.path(), id(3)).unwrap();
    let calls = std::sync::Mutex::new(Vec::new());
    let outcomes: Vec<usize> = run
        .each(&stages, |index| {
            calls.lock().unwrap().push(index);
            Ok::<_, Error>(10 * index)
        })
        .unwrap();
    assert_eq!(outcomes, [0, 10, 20, 30]);
    let calls = calls.into_inner().unwrap();
    assert!(calls.contains(&2) && !calls.contains(&0) && !calls.contains(&1), "{calls:?}");
    run.finish("NA").unwrap();
    let seeds: Vec<Value> = (0..4).map(|index| results(dir.path())["stages"][index]["seeds"][0].clone()).collect();
    assert_eq!(seeds, [0, 1, 2, 3].map(Value::from));
}

#[test]
fn one_process_at_a_time_writes_a_run() {
    let dir = tempdir().unwrap();
    let run = Run::start(dir.path(), id(3)).unwrap();
    let holder = format!("in use by process {}", std::process::id());
    for error in [Run::start(dir.path(), id(3)).unwrap_err(), Run::clear(dir.path()).unwrap_err()] {
        assert!(error.to_string().contains(&holder), "{error}");
    }
    assert!(dir.path().join("config.json").exists(), "nothing was cleared");
    run.finish("NA").unwrap();
    assert!(!dir.path().join("lock").exists());
    Run::clear(dir.path()).unwrap();
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
    Run::start(dir.path(), id(4)).unwrap();
}

#[test]
fn half_a_line_in_the_log_does_not_spoil_the_next() {
    let dir = tempdir().unwrap();
    Run::start(dir.path(), id(3)).unwrap().finish("NA").unwrap();
    let path = dir.path().join("events.jsonl");
    let log = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{log}{{\"stage\":\"g")).unwrap();
    Run::start(dir.path(), id(3)).unwrap();
    let lines = std::fs::read_to_string(&path).unwrap();
    assert_eq!(lines.lines().last(), Some("{\"start\":\"again\"}"));
}
