//! [`Graphs`]: graphs in the dictionary of one spec.

use anyhow::{Result, bail};
use pace_graph::{Dag, DagSpec, Error as GraphError, Named, infer};
use rayon::iter::{IndexedParallelIterator, IntoParallelRefIterator, ParallelIterator};

/// Names that a message lists.
const MAX_NAMED: usize = 12;

/// Graphs that obey a spec.
#[derive(Clone, Debug)]
pub struct Graphs {
    /// Where they came from.
    pub source: String,
    /// What they look like.
    pub spec: DagSpec,
    /// The graphs, with the virtual ends of the spec.
    pub dags: Vec<Dag>,
    /// The score of each, if it has one.
    pub targets: Vec<Option<f64>>,
    /// The name of each; its number, counted from 1, if it has none.
    pub ids: Vec<String>,
}

impl Graphs {
    /// Looks graphs up in the dictionary of a spec, or of one that is inferred from them. The remarks say how.
    ///
    /// # Errors
    /// No graphs, or the first that does not obey the spec.
    pub fn of(source: &str, all: Vec<Named>, spec: Option<DagSpec>) -> Result<(Graphs, Vec<String>)> {
        if all.is_empty() {
            bail!("{source} holds no graphs; give at least one");
        }
        let mut remarks = Vec::new();
        let spec = match spec {
            Some(spec) => spec,
            None => {
                let inferred = infer(source, &all)?;
                remarks.push(format!("spec inferred from {} graphs:", all.len()));
                remarks.extend(inferred.remarks.iter().map(|remark| format!("  {remark}")));
                inferred.spec
            }
        };
        let dags = dags(&all, &spec, source, 0)?;
        let targets = all.iter().map(|named| named.target).collect();
        let ids =
            all.into_iter().enumerate().map(|(row, named)| named.id.unwrap_or_else(|| (row + 1).to_string())).collect();
        Ok((Graphs { source: source.to_owned(), spec, dags, targets, ids }, remarks))
    }

    /// The position of a graph by its name, by its number counted from 1, or by a part of its name that no other has.
    ///
    /// # Errors
    /// If there is no such graph, or several; some names that are like it are in the message.
    pub fn position(&self, id: &str) -> Result<usize> {
        let by_number = || id.parse::<usize>().ok()?.checked_sub(1).filter(|&row| row < self.dags.len());
        if let Some(row) = self.ids.iter().position(|known| known == id).or_else(by_number) {
            return Ok(row);
        }
        // The file `light_vgg19.onnx` may hold a graph that calls itself `vgg19`.
        let (wanted, lower) = (id.to_lowercase(), |row: usize| self.ids[row].to_lowercase());
        let is_number = id.is_empty() || id.parse::<usize>().is_ok();
        let is_like = |row: &usize| !is_number && (lower(*row).contains(&wanted) || wanted.contains(&lower(*row)));
        let like: Vec<usize> = (0..self.ids.len()).filter(is_like).collect();
        let names = |rows: &[usize]| {
            let shown: Vec<&str> = rows.iter().take(MAX_NAMED).map(|&row| &*self.ids[row]).collect();
            let more = if rows.len() > MAX_NAMED { ", ..." } else { "" };
            format!("{}{more}", shown.join(", "))
        };
        match like[..] {
            [row] => Ok(row),
            [] => {
                let all: Vec<usize> = (0..self.ids.len()).collect();
                bail!("{} has no graph '{id}'; there are {}", self.source, names(&all))
            }
            _ => bail!("{} has several graphs like '{id}': {}; give the whole name of one", self.source, names(&like)),
        }
    }

    /// The graphs with a score, and the scores.
    pub fn scored(&self) -> (Vec<usize>, Vec<f64>) {
        self.targets.iter().enumerate().filter_map(|(row, target)| Some((row, (*target)?))).unzip()
    }

    /// [`Graphs::scored`], of which there must be some.
    ///
    /// # Errors
    /// If there are fewer than `least`.
    pub fn scored_at_least(&self, least: usize) -> Result<(Vec<usize>, Vec<f64>)> {
        let (rows, scores) = self.scored();
        if rows.len() < least {
            bail!(
                "{} of {} graphs in {} have a score, and this takes at least {least}; say with --target which field is the score",
                rows.len(),
                self.dags.len(),
                self.source
            );
        }
        Ok((rows, scores))
    }
}

/// Graphs in the dictionary of a spec. `first` graphs came before, for the row in messages.
///
/// # Errors
/// The first graph that does not obey the spec.
pub fn dags(all: &[Named], spec: &DagSpec, source: &str, first: usize) -> Result<Vec<Dag>> {
    let dag = |(row, named): (usize, &Named)| named.dag(spec).map_err(|error| error.at(source, first + row + 1));
    Ok(all.par_iter().enumerate().map(dag).collect::<Result<Vec<Dag>, GraphError>>()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn graphs_are_found_by_name_number_and_part_of_a_name() {
        let named = |id: &str| Named {
            ops: vec!["a".into(), "b".into()],
            edges: vec![(0, 1)],
            id: Some(id.into()),
            target: None,
        };
        let all = ["vgg19", "resnet50", "ResNet18", "2b"].map(named).to_vec();
        let (graphs, _) = Graphs::of("nets", all, None).unwrap();
        let rows = ["vgg19", "light_vgg19", "2", "Net50", "resnet18", "2b"].map(|id| graphs.position(id).unwrap());
        assert_eq!(rows, [0, 0, 1, 1, 2, 3]);
        let said = |id: &str| graphs.position(id).unwrap_err().to_string();
        assert_eq!(
            said("resnet"),
            "nets has several graphs like 'resnet': resnet50, ResNet18; give the whole name of one"
        );
        assert!(said("5").starts_with("nets has no graph '5'"));
        assert!(said("alexnet").starts_with("nets has no graph 'alexnet'; there are vgg19, resnet50"));
    }
}
