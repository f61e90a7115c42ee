//! The page of a learnt network: drawn, with what is known about it.

use anyhow::Result;
use pace_bn::{Link, Network, Strengths, Summary};
use pace_graph::{Dag, DagSpec};
use pace_report::{DrawOptions, Report, draw};

/// The page as HTML.
pub fn of(
    source: &str,
    summary: &Summary,
    network: &Network,
    strengths: Option<&Strengths>,
    seconds: f64,
) -> Result<String> {
    let mut page = Report::new(&format!("Bayesian network of {source}"));
    page.heading("Network");
    let names = network.names();
    let spec = DagSpec::new("network", names.iter().cloned(), names.len());
    let arcs: Vec<(usize, usize)> =
        network.structure().arcs().map(|(from, to)| (usize::from(from), usize::from(to))).collect();
    let ops = (0..names.len()).map(|variable| variable.try_into()).collect::<Result<Vec<_>, _>>()?;
    let dag = Dag::new(ops, arcs)?;
    let weights = strengths.map(|strengths| {
        let weight = |(from, to): (usize, usize)| strengths.strength(from as u16, to as u16);
        dag.edges().map(weight).collect()
    });
    let options = DrawOptions { weights: weights.unwrap_or_default(), ..DrawOptions::default() };
    let caption = match strengths {
        Some(_) => "an arrow is as strong as the share of bootstrap samples that link the two",
        None => "",
    };
    page.figure(caption, &draw(&dag, &spec, &options));
    page.heading("Numbers");
    page.table(&numbers(summary));
    page.heading("Arcs");
    page.note("Where the data cannot tell the direction, the arrow could as well point the other way.");
    page.table(&rows(network, strengths));
    page.heading("Where this comes from");
    let version = env!("CARGO_PKG_VERSION").to_owned();
    page.provenance(&[("data".to_owned(), source.to_owned()), ("version of pace".to_owned(), version)]);
    page.seconds(&[("search".to_owned(), seconds)]);
    Ok(page.html())
}

/// What is known about the network as a whole.
fn numbers(summary: &Summary) -> Vec<Vec<String>> {
    let proof = match (summary.upper_bound, summary.is_proven) {
        (Some(_), true) => "this one is the best".to_owned(),
        (Some(bound), false) => format!("{bound:.4}"),
        (None, _) => "not known".to_owned(),
    };
    [
        ("", "value".to_owned()),
        ("score", summary.score_name.clone()),
        ("its value", format!("{:.4}", summary.score)),
        ("no network exceeds", proof),
        ("variables", summary.variables.to_string()),
        ("rows", summary.rows.to_string()),
        ("arcs", summary.arcs.to_string()),
        ("free parameters", summary.parameters.to_string()),
        ("families scored", summary.families_scored.to_string()),
    ]
    .map(|(name, value)| vec![name.to_owned(), value])
    .to_vec()
}

/// Every arc, what the data say about its direction, and how sure it is.
fn rows(network: &Network, strengths: Option<&Strengths>) -> Vec<Vec<String>> {
    let mut rows = vec![["from", "to", "direction"].map(str::to_owned).to_vec()];
    if strengths.is_some() {
        rows[0].extend(["linked in", "this way in"].map(str::to_owned));
    }
    let class = network.cpdag();
    for (from, to) in network.structure().arcs() {
        let direction = if class.link(from, to) == Link::Edge { "open" } else { "told by the data" };
        let name = |variable: u16| network.names()[usize::from(variable)].clone();
        let mut row = vec![name(from), name(to), direction.to_owned()];
        if let Some(strengths) = strengths {
            row.push(format!("{:.2}", strengths.strength(from, to)));
            row.push(format!("{:.2}", strengths.direction(from, to)));
        }
        rows.push(row);
    }
    rows
}
