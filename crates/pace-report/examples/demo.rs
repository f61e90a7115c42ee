//! Writes a page with everything on it: `cargo run -p pace-report --example demo -- out.html`.
//!
//! The graphs are random, and so is what is said about them. Some names are hostile, on purpose: `cargo xtask ci browser` looks whether
//! any of them comes to life.

use pace_graph::enumerate::{Darts, Enas, RandomAst, RandomDag, Sampler};
use pace_graph::structure::depths;
use pace_graph::{AddedEnds, Dag, DagSpec, Vectors};
use pace_report::{
    Bars, Dots, DrawOptions, LatentMap, Line, MapConfig, MapData, Neighbour, Report, Similar, band_line, bar_chart,
    draw, line_chart, nearest, scatter_chart,
};
use pace_search::Curve;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Names that would run if they were not escaped.
const HOSTILE: [&str; 3] = [
    "<img src=x onerror=\"window.hacked=1\">",
    "</script><script>window.hacked=1</script>",
    "</title></style></svg>'\"><svg onload=window.hacked=1>",
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let path = std::env::args().nth(1).ok_or("name the file to write, such as out.html")?;
    let rng = &mut ChaCha8Rng::seed_from_u64(7);
    let mut report = Report::new("A demonstration of reports");
    report.note("Nothing on this page was measured: graphs, scores and curves are random.");
    report.heading("Numbers");
    report.table(&numbers());
    report.heading("Training and search");
    charts(&mut report, rng);
    let cells: Vec<Dag> = (0..1500).map(|_| Darts.sample(rng)).collect();
    let (vectors, scores) = embedded(&cells, rng);
    report.heading("Latent map");
    let caption = "Cells of the DARTS space by their operations and depths.".to_owned();
    let config = MapConfig { caption, score: "accuracy in percent".to_owned(), ..MapConfig::default() };
    let data = MapData { vectors: &vectors, scores: &scores, dags: &cells };
    report.map(LatentMap::of(&data, &DagSpec::darts(), &config)?);
    report.heading("The best cells");
    best(&mut report, &cells, &scores);
    report.heading("Neighbours");
    neighbours(&mut report, &cells, &vectors);
    report.heading("Other kinds of graphs");
    kinds(&mut report, rng);
    report.heading("Names that mean harm");
    hostile(&mut report)?;
    report.heading("Where it comes from");
    let entry = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    report.provenance(&[
        entry("command", "cargo run -p pace-report --example demo -- out.html"),
        entry("version", env!("CARGO_PKG_VERSION")),
        entry("seed", "7"),
    ]);
    report.heading("Seconds per stage");
    report.seconds(
        &[("sampling", 0.4), ("training", 84.2), ("encoding", 3.1), ("search", 31.7)].map(|(a, b)| (a.to_owned(), b)),
    );
    std::fs::write(&path, report.html())?;
    Ok(())
}

/// A table as runs have it.
fn numbers() -> Vec<Vec<String>> {
    let rows = [
        ["metric", "better", "mean", "std", "n", "paper"],
        ["reconstruction accuracy of test graphs", "higher", "99.97", "0.02", "10", "99.97 (Table 1)"],
        ["validity of generated graphs", "higher", "98.62", "0.31", "10", "98.16 (Table 1)"],
        ["RMSE of the predicted accuracy", "lower", "0.702", "0.011", "10", "0.746 (Table 6)"],
        ["Pearson's r of the predicted accuracy", "higher", "0.731", "0.008", "10", "0.660 (Table 6)"],
    ];
    rows.map(|row| row.map(str::to_owned).to_vec()).to_vec()
}

/// A vector per cell: how often each operation occurs and how deep it lies, with a little noise; and a score.
fn embedded(cells: &[Dag], rng: &mut ChaCha8Rng) -> (Vectors, Vec<f64>) {
    const WIDTH: usize = 22;
    let mut scores = Vec::new();
    let mut rows = Vec::new();
    for cell in cells {
        let mut row = vec![0.0_f32; WIDTH];
        for (op, depth) in cell.ops().zip(depths(cell)) {
            row[usize::from(op)] += 1.0;
            row[11 + usize::from(op)] += 0.25 * depth as f32;
        }
        let sum = f64::from(row[5] + row[6] - 1.5 * row[2] - row[3] - 0.8 * row[4]);
        scores.push((92.5 + 0.35 * sum + rng.random_range(-0.2..0.2)).min(95.2));
        row.iter_mut().for_each(|value| *value += rng.random_range(-0.05..0.05));
        rows.push(row);
    }
    (Vectors::from_rows(rows, WIDTH), scores)
}

/// Charts of every kind.
fn charts(report: &mut Report, rng: &mut ChaCha8Rng) {
    let names = ["reconstruction", "KL divergence", "validation"];
    let loss = |(index, name): (usize, &&str)| {
        let level = |epoch: usize| 1.3 - 0.3 * index as f64 - (epoch as f64 / (6.0 + 3.0 * index as f64)).ln_1p() * 0.6;
        let points = (1..=100).map(|epoch| (epoch as f64, level(epoch))).collect();
        Line { name: (*name).to_owned(), points, band: Vec::new() }
    };
    report.plot(line_chart(
        "log10 of the loss per graph, by epoch",
        &names.iter().enumerate().map(loss).collect::<Vec<_>>(),
    ));
    let methods = [
        ("PACE + DNGO", 9.0),
        ("PACE + local search", 14.0),
        ("evolution", 32.0),
        ("local search", 26.0),
        ("random search", 70.0),
    ];
    let lines = methods.map(|(name, pace)| {
        let mut curve = || {
            let mut best = 91.0;
            let values = (0..150).map(|query| {
                let reached = 94.3 - 1.6 * (-(query as f64) / pace).exp() - rng.random_range(0.0..0.9);
                best = f64::max(best, reached);
                best
            });
            Curve { values: values.collect() }
        };
        band_line(name, &(0..12).map(|_| curve()).collect::<Vec<_>>(), 2)
    });
    report.plot(line_chart("best accuracy so far, mean and 95 % band of the mean, by query", &lines));
    let labels = ["PACE", "DAGNN", "D-VAE", "GCN", "GIN", "GraphRNN"].map(str::to_owned).to_vec();
    report.plot(bar_chart(
        "RMSE of the predicted accuracy",
        &Bars { labels, heights: vec![0.702, 0.738, 0.753, 0.832, 0.847, 0.93] },
    ));
    let labels = [
        "PACE without its mask of ancestors",
        "PACE without dag2seq",
        "PACE, all of it",
        "an encoder that was never trained",
    ];
    let bars = Bars { labels: labels.map(str::to_owned).to_vec(), heights: vec![0.61, 0.59, 0.73, 0.22] };
    report.plot(bar_chart("Pearson's r of the predicted accuracy", &bars));
    let group = |name: &str, slope: f64, rng: &mut ChaCha8Rng| {
        let mut point = || {
            let x = rng.random_range(90.0..95.0);
            (x, 92.5 + slope * (x - 92.5) + rng.random_range(-0.6..0.6))
        };
        Dots { name: name.to_owned(), points: (0..120).map(|_| point()).collect() }
    };
    let groups = [group("PACE", 0.9, rng), group("raw features", 0.4, rng)];
    report.plot(scatter_chart("predicted accuracy, by measured accuracy", &groups));
}

/// The cells with the highest scores.
fn best(report: &mut Report, cells: &[Dag], scores: &[f64]) {
    let mut order: Vec<usize> = (0..cells.len()).collect();
    order.sort_by(|&one, &other| scores[other].total_cmp(&scores[one]));
    let best = order.iter().take(4).map(|&cell| (format!("{:.2} %", scores[cell]), cells[cell].clone()));
    report.dags(&DagSpec::darts(), &best.collect::<Vec<_>>());
}

/// A cell and what is near it.
fn neighbours(report: &mut Report, cells: &[Dag], vectors: &Vectors) {
    let neighbour =
        |(row, distance): (usize, f64)| Neighbour { caption: format!("cell {row}"), dag: cells[row].clone(), distance };
    let neighbours = nearest(vectors, 0, 3).into_iter().map(neighbour).collect();
    report.similar(&DagSpec::darts(), &Similar { caption: "cell 0".to_owned(), dag: cells[0].clone(), neighbours });
}

/// Architectures, a Bayesian network with weights, a tree, a larger graph.
fn kinds(report: &mut Report, rng: &mut ChaCha8Rng) {
    let enas = Enas { n_layers: 6 };
    let architectures = (1..=6).map(|number| (format!("architecture {number}"), enas.sample(rng)));
    report.dags(&enas.spec(), &architectures.collect::<Vec<_>>());
    if let Ok(asia) = "2 4 3 5 6 7 8 9 : 0>1 2>3 2>4 1>5 3>5 5>6 5>7 4>7".parse::<Dag>() {
        let weights = vec![0.35, 0.9, 0.95, 1.0, 0.7, 0.8, 0.15, 0.5];
        let options = DrawOptions { weights, highlight: vec![5], scale: 1.3, ..DrawOptions::default() };
        let svg = draw(&asia, &DagSpec::bn(), &options);
        report.figure("A Bayesian network over the variables of Asia. Edges are as strong as they are certain.", &svg);
    }
    let tree = RandomAst { n_nodes: 45, n_types: 9, max_depth: 7 };
    report.figure("A tree of 45 nodes.", &draw(&tree.sample(rng), &tree.spec(), &DrawOptions::default()));
    let random = RandomDag { n_nodes: 28, n_ops: 12, edge_probability: 0.09 };
    report.figure("A random graph of 28 nodes.", &draw(&random.sample(rng), &random.spec(), &DrawOptions::default()));
}

/// The same calls with names that would be code.
fn hostile(report: &mut Report) -> Result<(), Box<dyn std::error::Error>> {
    let spec = DagSpec::new(HOSTILE[0], ["(input)", "(output)", HOSTILE[0], HOSTILE[1], HOSTILE[2], "λ → μ"], 9);
    let spec = DagSpec { input: Some(0), output: Some(1), added: AddedEnds { input: true, output: true }, ..spec };
    let dags: Vec<Dag> = ["2 3 4 5 : 0>1 0>2 1>3 2>3", "2 3 : 0>1", "4 4 2 : 0>2 1>2", "5 3 : 0>1"]
        .into_iter()
        .map(|text| text.parse().map(|dag| spec.add_ends(&dag)))
        .collect::<Result<_, _>>()?;
    let captions = HOSTILE.into_iter().chain(["A graph with virtual ends, which are pale."]).map(str::to_owned);
    report.dags(&spec, &captions.zip(dags.clone()).collect::<Vec<_>>());
    report.text(HOSTILE[1]);
    report.table(&[HOSTILE.map(str::to_owned).to_vec(), HOSTILE.map(str::to_owned).to_vec()]);
    let line = |(index, name): (usize, &str)| Line {
        name: name.to_owned(),
        points: vec![(0.0, index as f64), (1.0, 2.0)],
        band: Vec::new(),
    };
    report.plot(line_chart(HOSTILE[2], &HOSTILE.into_iter().enumerate().map(line).collect::<Vec<_>>()));
    let vectors = Vectors::new(vec![0.0, 1.0, 3.0, 2.0, 5.0, -1.0, 4.0, 4.0], 2);
    let config = MapConfig { caption: HOSTILE[1].to_owned(), score: HOSTILE[0].to_owned(), ..MapConfig::default() };
    let data = MapData { vectors: &vectors, scores: &[1.0, 2.0, 3.0, 4.0], dags: &dags };
    report.map(LatentMap::of(&data, &spec, &config)?);
    Ok(())
}
