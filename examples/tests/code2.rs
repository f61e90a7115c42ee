//! The program code2 on a folder of Python files: it learns names, says what it skipped, and resumes.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

const CODE2: &str = env!("CARGO_BIN_EXE_code2");
const FIELDS: [&str; 6] = ["size", "name", "owner", "colour", "weight", "parent"];

/// Packages whose functions are called after what they do, and files that are no Python.
fn write_packages(dir: &Path) {
    for package in 0..40 {
        let folder = dir.join(format!("package{package}"));
        std::fs::create_dir_all(&folder).unwrap();
        let mut source = String::new();
        for field in FIELDS {
            source += &format!("def get_{field}(self):\n    \"\"\"Returns it.\"\"\"\n    return self.{field}\n\n");
            source += &format!(
                "def set_{field}(self, value):\n    \"\"\"Changes it.\"\"\"\n    self.{field} = value + {package}\n\n"
            );
        }
        std::fs::write(folder.join("things.py"), source).unwrap();
    }
    let deep = format!("def sink(x):\n    \"\"\"Goes down.\"\"\"\n    return {}x\n", "-".repeat(3000));
    std::fs::write(dir.join("package0/deep.py"), deep).unwrap();
    std::fs::write(dir.join("package0/broken.py"), "def f(:\n").unwrap();
    std::fs::write(dir.join("package0/empty.py"), "").unwrap();
    std::fs::write(dir.join("package0/latin.py"), b"# caf\xe9\ndef f():\n    pass\n").unwrap();
}

fn code2(source: &Path, out: &Path, options: &[&str]) -> Command {
    let mut command = Command::new(CODE2);
    command.args([
        "--width",
        "32",
        "--layers",
        "2",
        "--batch",
        "8",
        "--lr",
        "0.005",
        "--threads",
        "2",
        "--save-every",
        "0",
    ]);
    command.args(["--epochs", "6", "--source"]).arg(source).arg("--out").arg(out).args(options);
    command.stderr(Stdio::null());
    command
}

fn results(out: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(out.join("results.json")).unwrap()).unwrap()
}

#[test]
fn encoders_learn_names_and_floors_do_not() {
    let dir = tempfile::tempdir().unwrap();
    let (source, out) = (dir.path().join("source"), dir.path().join("out"));
    write_packages(&source);
    let output = code2(&source, &out, &["--encoder", "all"]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{text}");
    assert!(text.contains("3 of 44 files or rows could not be read"), "{text}");
    assert!(text.contains("1 had more than 4000000 pairs of nodes"), "{text}");
    let table = results(&out);
    let f1 = |row: &str| table["encoders"][row]["metrics"]["f1"]["mean"].as_f64().unwrap();
    for encoder in ["pace", "pace_no_gnn", "pace_relatives", "dagnn", "dvae", "bag"] {
        assert!(f1(encoder) > 0.8, "{encoder}: {}", f1(encoder));
    }
    assert!(f1("frequent") < 0.6 && f1("untrained") < 0.6, "{} {}", f1("frequent"), f1("untrained"));
    let page = std::fs::read_to_string(out.join("pace-1/report.html")).unwrap();
    for part in ["true name", "Nearest neighbours", "F1 by size and depth", "things.py", "get "] {
        assert!(page.contains(part), "{part}");
    }
    let page = std::fs::read_to_string(out.join("report.html")).unwrap();
    assert!(page.contains("validation F1 by minutes of training") && page.contains("0.1779"), "the paper's number");
}

#[test]
fn a_killed_training_ends_with_the_same_numbers() {
    let dir = tempfile::tempdir().unwrap();
    let (source, alone, killed) = (dir.path().join("source"), dir.path().join("alone"), dir.path().join("killed"));
    write_packages(&source);
    assert!(code2(&source, &alone, &[]).stdout(Stdio::null()).status().unwrap().success());
    let mut child = code2(&source, &killed, &[]).stdout(Stdio::null()).spawn().unwrap();
    let (log, start) = (killed.join("events.jsonl"), Instant::now());
    while !std::fs::read_to_string(&log).is_ok_and(|text| text.contains("\"epoch\":2")) {
        assert!(start.elapsed() < Duration::from_secs(300), "no second epoch");
        std::thread::sleep(Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!killed.join("results.json").exists(), "it was too fast to be killed");
    assert!(code2(&source, &killed, &[]).stdout(Stdio::null()).status().unwrap().success());
    let numbers = |out: &Path| {
        let mut metrics = results(out)["metrics"].clone();
        metrics.as_object_mut().unwrap().retain(|name, _| !name.ends_with("_per_s") && !name.ends_with("_seconds"));
        metrics
    };
    assert_eq!(numbers(&alone), numbers(&killed));
}

#[test]
fn minutes_become_steps() {
    let dir = tempfile::tempdir().unwrap();
    let (source, out) = (dir.path().join("source"), dir.path().join("out"));
    write_packages(&source);
    let mut command = Command::new(CODE2);
    command.args(["--encoder", "bag", "--width", "16", "--minutes", "0.02", "--threads", "1", "--source"]);
    let status = command.arg(&source).arg("--out").arg(&out).stdout(Stdio::null()).status().unwrap();
    assert!(status.success());
    let seconds = results(&out)["metrics"]["train_cpu_seconds"]["mean"].as_f64().unwrap();
    // Other programs may hold the cores meanwhile.
    assert!((0.1..20.0).contains(&seconds), "{seconds}");
}

#[test]
fn what_cannot_work_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let says = |options: &[&str]| {
        let output = Command::new(CODE2).args(options).arg("--out").arg(dir.path().join("out")).output().unwrap();
        assert!(!output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    assert!(says(&["--source", "/nowhere"]).contains("cannot read /nowhere"));
    assert!(says(&["--encoder", "gin"]).contains("there are pace, dvae, dagnn, bag and all"));
    assert!(says(&["--attends", "ancestors"]).contains("--readout mean"));
    assert!(says(&["--width", "100"]).contains("no multiple of the 8 heads"));
    let empty = dir.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert!(says(&["--source", empty.to_str().unwrap()]).contains("too few to learn from"));
}

/// The folder that `cargo xtask fetch code2` leaves: sixty trees of four nodes whose names follow from their attributes.
#[test]
fn the_official_folder_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("data/code2/ogbg_code2");
    let write = |file: &str, text: String| {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    let n = 60;
    let lines = |line: &dyn Fn(usize) -> String| (0..n).map(line).collect::<String>();
    write("raw/num-node-list.csv", lines(&|_| "4\n".to_owned()));
    write("raw/num-edge-list.csv", lines(&|_| "3\n".to_owned()));
    write("raw/edge.csv", lines(&|_| "0,1\n1,2\n1,3\n".to_owned()));
    write("raw/node-feat.csv", lines(&|graph| format!("0,4\n1,3\n2,{}\n2,{}\n", graph % 2, graph % 3)));
    write("raw/node_is_attributed.csv", lines(&|_| "0\n1\n1\n1\n".to_owned()));
    write("raw/node_dfs_order.csv", lines(&|_| "0\n1\n2\n3\n".to_owned()));
    write("raw/node_depth.csv", lines(&|_| "0\n1\n2\n2\n".to_owned()));
    write("raw/graph-label.csv", lines(&|graph| ["get name\n", "put size\n"][graph % 2].to_owned()));
    write("mapping/typeidx2type.csv", "idx,type\n0,Module\n1,FunctionDef\n2,Name\n".to_owned());
    write("mapping/attridx2attr.csv", "idx,attr\n0,a\n1,b\n2,c\n3,_mask_\n4,__NONE__\n".to_owned());
    let numbers = |range: std::ops::Range<usize>| range.map(|graph| format!("{graph}\n")).collect::<String>();
    write("split/project/train.csv", numbers(0..40));
    write("split/project/valid.csv", numbers(40..50));
    write("split/project/test.csv", numbers(50..60));
    let out = dir.path().join("out");
    let mut command = Command::new(CODE2);
    command
        .args(["--full", "--width", "16", "--layers", "1", "--batch", "4", "--lr", "0.01", "--epochs", "20", "--data"]);
    let output = command.arg(dir.path().join("data")).arg("--out").arg(&out).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        text.contains("40 functions to train, 10 to validate, 10 to test; 3 node types, 5 attributes, 6 words"),
        "{text}"
    );
    assert_eq!(results(&out)["data"], "real");
    assert!(results(&out)["metrics"]["f1"]["mean"].as_f64().unwrap() > 0.95);
}
