//! NAS-Bench-301: PACE pre-trained on DARTS cells, and a search for the best of them (Table 2 of the paper).
//!
//! `cargo xtask reproduce nas301` runs this. Stages: *sample* cells of the DARTS space; *train*: masked language modelling
//! on them; *embed* them; *search* and *noisy*: 100 queries by DNGO, DNGO-LS and the baselines, over several seeds, with the
//! oracle's noise off and on.

mod cells;
mod judge;
mod plan;

use anyhow::Result;
use clap::Parser;
use pace_graph::enumerate::{Darts, Sampler};
use pace_graph::{Dag, raw_features};
use pace_model::objective::metric_pairs;
use pace_search::oracle::{Noisy, Oracle};
use pace_search::space::{Embedded as Embeds, Encode, Encoded, Listed, Open, Pool, Space};
use pace_search::strategy::{Reach, Setting, StrategyConfig};
use pace_search::{Candidate, widen};
use pace_train::record::{MetricSpec, Stage};
use serde_json::json;

use crate::args::RunArgs;
use crate::metrics::{ENCODE_SPEED, GRAPHS_SEEN, PARAMETERS, TRAIN_SECONDS};
use crate::mlm::{
    Embedded, Method, MethodId, MlmArgs, MlmData, SearchRow, VectorsOf, pretrain_and_embed, record_searches,
    report_searches, search_all,
};
use crate::report::{Report, finish};
use crate::table;
use judge::judge;
use plan::plan;

pub use judge::published;

/// What the paper reports for PACE, in percent, on another surrogate, with noise.
const PAPER: &[(MethodId, f64)] = &[(MethodId::Dngo, 94.507), (MethodId::DngoLs, 94.547)];
/// What the searches are measured by.
const ACCURACY: SearchRow = SearchRow {
    spec: MetricSpec::new("best", "accuracy of the best cell").unit("%").higher(),
    suffix: "",
    paper: PAPER,
    source: "Table 2",
};
/// The same if noise guides.
const NOISY_ACCURACY: SearchRow = SearchRow {
    spec: MetricSpec::new("best", "accuracy of the best cell, noise on").unit("%").higher(),
    suffix: "_noisy",
    paper: PAPER,
    source: "Table 2",
};

/// The columns of a table of several encoders.
fn columns() -> &'static [MetricSpec] {
    const COLUMNS: &[MetricSpec] = &[
        MetricSpec::new("best_dngo", "accuracy, DNGO").unit("%").decimals(3).higher(),
        MetricSpec::new("best_dngo_ls", "accuracy, DNGO-LS").unit("%").decimals(3).higher(),
        MetricSpec::new("best_dngo_noisy", "accuracy, DNGO, noise on").unit("%").decimals(3).higher(),
        MetricSpec::new("best_dngo_ls_noisy", "accuracy, DNGO-LS, noise on").unit("%").decimals(3).higher(),
        TRAIN_SECONDS,
        ENCODE_SPEED,
        GRAPHS_SEEN,
        PARAMETERS,
    ];
    COLUMNS
}

/// Pre-trains PACE on DARTS cells and searches them by a surrogate of NAS-Bench-301
#[derive(Debug, Parser)]
pub struct Args {
    /// Those of every program.
    #[command(flatten)]
    pub run: RunArgs,
    /// Those of the model and the searches.
    #[command(flatten)]
    pub mlm: MlmArgs,
    /// Cells that are sampled, trained on and searched; the paper has 1,000,000
    #[arg(long, value_name = "N")]
    pub cells: Option<usize>,
}

/// Runs the experiment.
///
/// # Errors
/// Those of its stages.
pub fn run(args: &Args) -> Result<()> {
    if table::is_list(&args.mlm.encoder) {
        return table::run("nas301", "NAS-Bench-301", &args.mlm.encoder, &args.run, columns);
    }
    let plan = plan(args)?;
    let judge = judge(&args.run)?;
    println!("{}", judge.note);
    let config = json!({"plan": plan, "data": judge.note});
    let mut run = args.run.start("nas301", &args.mlm.encoder, config)?;
    run.data(judge.kind, judge.note.clone());

    let dags = run.stage(&Stage::new("sample"), |_| anyhow::Ok(cells::sample(plan.n_cells, args.run.seed)))?;
    println!("{} different cells of the DARTS space", dags.len());
    let pairs = match plan.mlm.model.masking.pair {
        // The authors pair by floating point operations within a window; of one cell they are close to the number of
        // convolutions, which any machine can count.
        Some(_) => metric_pairs(&dags.iter().map(cells::convolutions).collect::<Vec<f64>>(), 1, 1.0, args.run.seed),
        None => Vec::new(),
    };
    let spec = Darts.spec();
    let data = MlmData { spec: &spec, dags: &dags, pairs: &pairs };
    let embedded = pretrain_and_embed(&plan.mlm, data, args.mlm.train.save_every(), &mut run)?;
    let (speeds, mut page) = (embedded.speeds(), Report::new("NAS-Bench-301"));

    let Embedded { vectors, trained, untrained, .. } = embedded;
    let listed = Listed::new(dags);
    let pool = Pool::new(&listed, vectors)?;
    let open = Open::new(&Darts);
    let by_trained = |dags: &[Dag]| widen(&trained.vectors(dags));
    let by_untrained = |dags: &[Dag]| widen(&untrained.vectors(dags));
    let by_raw = |dags: &[Dag]| widen(&raw_features(dags, &spec));
    let [anywhere, anywhere_untrained, anywhere_raw] =
        [&by_trained as &dyn Encode, &by_untrained, &by_raw].map(|encoder| Encoded::new(&open, encoder));
    let setting = |method: &Method| {
        let embedded: Option<&dyn Embeds> = match method.id.vectors() {
            // Without edits a round chooses among the sampled cells, as in the paper.
            Some(VectorsOf::Trained) if !reaches_edits(&method.strategy) => Some(&pool),
            Some(VectorsOf::Trained) => Some(&anywhere),
            Some(VectorsOf::Untrained) => Some(&anywhere_untrained),
            Some(VectorsOf::Raw) => Some(&anywhere_raw),
            None => None,
        };
        let space: &dyn Space = if let Some(embedded) = embedded { embedded } else { &open };
        Setting { space, embedded, mutate: Some(&Darts), known: None }
    };
    // Even if noise guides, the cell that the search takes for its best is judged without it.
    let accuracy = |candidate: &Candidate| {
        judge.oracle.evaluate(std::slice::from_ref(&candidate.dag)).map_or(f64::NAN, |scores| scores[0])
    };
    let (search, noisy) = (Stage::new("search"), Stage::new("noisy"));
    for (stage, noise, row, heading) in
        [(search, 0.0, ACCURACY, "Search"), (noisy, judge.noise, NOISY_ACCURACY, "Search with a noisy oracle")]
    {
        let oracle = |seed: u64| -> Box<dyn Oracle + '_> { Box::new(Noisy::new(&*judge.oracle, noise, seed)) };
        let found = search_all(&plan.search, &stage, setting, oracle, &accuracy, &mut run)?;
        record_searches(&found, &row, &mut run);
        let text = "Accuracy of the best cell, %, judged without noise,";
        report_searches(&mut page, heading, text, 15, &found)?;
    }
    speeds.into_iter().for_each(|(spec, metric)| run.metric(&spec, metric));
    println!("report: {}", finish(page, run)?.display());
    Ok(())
}

/// Whether a strategy proposes edits, which lead anywhere in the space.
fn reaches_edits(strategy: &StrategyConfig) -> bool {
    matches!(strategy, StrategyConfig::Bayes(config) if matches!(config.reach, Reach::Edits { .. }))
}
