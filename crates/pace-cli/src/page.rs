//! The page of a run: what its folder says, drawn.

use std::path::Path;

use anyhow::{Context, Result};
use pace_graph::Dag;
use pace_kit::{Graphs, Model};
use pace_report::{LatentMap, Line, MapConfig, MapData, Neighbour, Report, Similar, line_chart, nearest};
use pace_search::{Journal, Outcome};
use serde::Deserialize;
use serde_json::Value;

use crate::search::Study;

/// What the page of a run is called in its folder.
pub const FILE: &str = "report.html";
/// Graphs of a search that are drawn.
const DRAWN: usize = 12;
/// Graphs whose neighbours are drawn, and neighbours of each.
const SIMILAR: (usize, usize) = (3, 4);
/// Larger graphs are not drawn beside others: they would fill the page.
const DRAWN_NODES: usize = 60;

/// What a page needs of `results.json`.
#[derive(Deserialize)]
struct Results {
    title: String,
    dataset: String,
    encoder: String,
    seed: u64,
    threads: usize,
    config: Value,
    data_note: String,
    table: Vec<Value>,
    metrics: Value,
    seconds: std::collections::BTreeMap<String, f64>,
}

/// The page of a training or a search that is done.
///
/// # Errors
/// If the folder holds no finished run.
pub fn of_run(dir: &Path) -> Result<Report> {
    let path = dir.join("results.json");
    let text = std::fs::read_to_string(&path)
        .with_context(|| format!("{} holds no finished run; let it finish first", dir.display()))?;
    let results: Results = serde_json::from_str(&text).with_context(|| format!("{} is damaged", path.display()))?;
    let mut page = Report::new(&results.title);
    numbers(&mut page, &results);
    losses(&mut page, dir);
    if Study::journal(dir).exists() {
        study(&mut page, dir)?;
    }
    page.heading("Where this comes from");
    let version = results.config["version"].as_str().unwrap_or("unknown").to_owned();
    let mut entries = vec![
        ("graphs", results.data_note.clone()),
        ("source", results.dataset.clone()),
        ("encoder", results.encoder.clone()),
        ("seed", results.seed.to_string()),
        ("threads", results.threads.to_string()),
        ("version of pace", version),
    ];
    entries.retain(|(_, value)| !value.is_empty());
    page.provenance(&entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect::<Vec<_>>());
    if !results.seconds.is_empty() {
        page.seconds(&results.seconds.into_iter().collect::<Vec<_>>());
    }
    Ok(page)
}

/// The numbers of the run.
fn numbers(page: &mut Report, results: &Results) {
    let mut rows = vec![["", "value"].map(str::to_owned).to_vec()];
    for spec in &results.table {
        let (id, title) = (spec["id"].as_str().unwrap_or_default(), spec["title"].as_str().unwrap_or_default());
        let decimals = spec["decimals"].as_u64().unwrap_or(4).min(12) as usize;
        if let Some(mean) = results.metrics[id]["mean"].as_f64() {
            rows.push(vec![title.to_owned(), format!("{mean:.decimals$}")]);
        }
    }
    if rows.len() > 1 {
        page.heading("Numbers");
        page.table(&rows);
    }
}

/// The loss by pass, as the log of the run has it.
fn losses(page: &mut Report, dir: &Path) {
    let log = std::fs::read_to_string(dir.join("events.jsonl")).unwrap_or_default();
    // A resumed run says some passes twice; the last word counts.
    let mut by_epoch = std::collections::BTreeMap::new();
    for event in log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        if let (Some(epoch), Some(loss)) = (event["epoch"].as_u64(), event["loss"].as_f64()) {
            by_epoch.insert(epoch, loss);
        }
    }
    if by_epoch.len() > 1 {
        page.heading("Training");
        let points = by_epoch.into_iter().map(|(epoch, loss)| (epoch as f64, loss)).collect();
        page.plot(line_chart("loss by pass", &[Line { name: "loss".to_owned(), points, ..Line::default() }]));
    }
}

/// The best score by query, and the best graphs.
fn study(page: &mut Report, dir: &Path) -> Result<()> {
    let spec = Study::read(dir)?.spec;
    let journal = Journal::join(&Study::journal(dir))?;
    let entries = journal.history().entries();
    let scored = entries.iter().filter_map(|entry| match entry.outcome {
        Some(Outcome::Score(score)) => Some((score, entry.id, &entry.candidate.dag)),
        _ => None,
    });
    let mut scored: Vec<(f64, usize, &Dag)> = scored.collect();
    if scored.is_empty() {
        return Ok(());
    }
    let (mut best, mut values) = (f64::NEG_INFINITY, Vec::new());
    for (score, _, _) in &scored {
        best = best.max(*score);
        values.push(best);
    }
    page.heading("Search");
    let points = |values: &mut dyn Iterator<Item = f64>| {
        values.enumerate().map(|(index, value)| ((index + 1) as f64, value)).collect::<Vec<_>>()
    };
    let line = |name: &str, points| Line { name: name.to_owned(), points, ..Line::default() };
    page.plot(line_chart(
        "score by query",
        &[
            line("best so far", points(&mut values.iter().copied())),
            line("each query", points(&mut scored.iter().map(|(score, ..)| *score))),
        ],
    ));
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    page.heading("The best graphs");
    let drawn = scored.iter().filter(|(_, _, dag)| dag.n_nodes() <= DRAWN_NODES).take(DRAWN);
    page.dags(
        &spec,
        &drawn.map(|(score, id, dag)| (format!("{score:.5}, query {id}"), (*dag).clone())).collect::<Vec<_>>(),
    );
    Ok(())
}

/// Adds a map of graphs by the vectors of a model, and some graphs beside their neighbours.
///
/// # Errors
/// If there is no device, or nothing to show.
pub fn add_map(page: &mut Report, model: &Model, graphs: &Graphs) -> Result<()> {
    let vectors = model.vectors(&graphs.dags)?;
    let (rows, _) = graphs.scored();
    // Without scores the colour says how large a graph is.
    let (scores, what): (Vec<f64>, &str) = match rows.len() == graphs.dags.len() {
        true => (graphs.targets.iter().map(|target| target.unwrap_or(f64::NAN)).collect(), "score"),
        false => (graphs.dags.iter().map(|dag| dag.n_nodes() as f64).collect(), "nodes"),
    };
    page.heading("Map");
    let config = MapConfig { caption: graphs.source.clone(), score: what.to_owned(), ..MapConfig::default() };
    let data = MapData { vectors: &vectors, scores: &scores, dags: &graphs.dags };
    page.map(LatentMap::of(&data, &graphs.spec, &config)?);
    let small: Vec<usize> = (0..graphs.dags.len()).filter(|&row| graphs.dags[row].n_nodes() <= DRAWN_NODES).collect();
    if graphs.dags.len() > SIMILAR.1 && !small.is_empty() {
        page.heading("Neighbours");
        let vectors = vectors.standardised();
        for index in 0..SIMILAR.0.min(small.len()) {
            let row = small[index * small.len() / SIMILAR.0.min(small.len())];
            let neighbours = nearest(&vectors, row, SIMILAR.1).into_iter();
            let neighbours = neighbours.filter(|(near, _)| graphs.dags[*near].n_nodes() <= DRAWN_NODES);
            page.similar(
                &graphs.spec,
                &Similar {
                    caption: graphs.ids[row].clone(),
                    dag: graphs.dags[row].clone(),
                    neighbours: neighbours
                        .map(|(near, distance)| Neighbour {
                            caption: graphs.ids[near].clone(),
                            dag: graphs.dags[near].clone(),
                            distance,
                        })
                        .collect(),
                },
            );
        }
    }
    Ok(())
}

/// Writes the page of a run into its folder.
///
/// # Errors
/// If it cannot be written.
pub fn write(dir: &Path) -> Result<()> {
    let path = dir.join(FILE);
    let html = of_run(dir)?.html();
    pace_graph::disk::write_whole(&path, html.as_bytes()).with_context(|| format!("cannot write {}", path.display()))
}
