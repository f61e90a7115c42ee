//! The pipeline of the VAE tables: train, embed, score, reconstruct, generate.

use std::fs::File;
use std::io::BufWriter;
use std::time::Duration;

use anyhow::{Context, Result};
use burn::module::Module;
use burn::tensor::Device;
use pace_graph::{Dag, DagSpec, Vectors, canonical_order};
use pace_model::decoder::{DecodeOptions, Decoder, Mode};
use pace_model::encoder::{Encoder, EncoderSettings};
use pace_model::objective::Vae;
use pace_model::store::Saved;
use pace_model::{DagTable, Order};
use pace_train::embed::{MatrixFile, SHARD_GRAPHS, embed_all};
use pace_train::evaluate::{Generation, Known, Reconstruction, generation, reconstruction, sample_prior};
use pace_train::record::Run;
use pace_train::{Checkpoint, Epoch, Event, FitConfig, fit};
use serde_json::json;

use crate::args::VaeArgs;
use crate::bo::{BoModel, BoOutcome, Judge, optimise};
use crate::progress::{fit_bar, steps_bar};
use crate::score::{Gp, Score, Scored, score};
use crate::vae_data::VaeData;
use crate::vae_plan::VaePlan;

type AnyVae = Vae<Encoder, Decoder>;

/// What is particular to a dataset.
#[derive(Clone, Copy, Debug)]
pub struct VaeTask {
    /// Short name.
    pub id: &'static str,
    /// A graph as numbers, without any encoder: the row to beat.
    pub raw_features: fn(&Dag) -> Vec<f32>,
}

/// Everything one encoder gave.
#[derive(Clone, Debug)]
pub struct EncoderOutcome {
    /// Its seed.
    pub seed: u64,
    /// Its training.
    pub epochs: Vec<Epoch>,
    /// Our surrogate, per seed.
    pub scores: Vec<Score>,
    /// The authors' surrogate, per seed.
    pub published_scores: Vec<Score>,
    /// Reconstruction under the rules of the dataset.
    pub reconstruction: Option<Reconstruction>,
    /// What is generated under the rules of the dataset.
    pub generation: Option<Generation>,
    /// The same with every graph from a vector of its own.
    pub fresh_generation: Option<Generation>,
    /// What is generated as the authors' code does it.
    pub published_generation: Option<Generation>,
}

/// All rows of the table.
#[derive(Clone, Debug)]
pub struct VaeOutcome {
    /// Raw features under our surrogate.
    pub raw: Vec<Score>,
    /// An untrained encoder under our surrogate.
    pub untrained: Vec<Score>,
    /// One entry per encoder.
    pub encoders: Vec<EncoderOutcome>,
    /// The search in the first encoder's latent space.
    pub search: Option<BoOutcome>,
    /// Training speed.
    pub train_graphs_per_s: f64,
    /// Embedding speed.
    pub encode_graphs_per_s: f64,
}

/// Runs all stages; those that are done are read back.
///
/// # Errors
/// Those of the stages, with the stage's name.
pub fn reproduce(
    task: &VaeTask,
    plan: &VaePlan,
    data: &VaeData,
    judge: Option<&Judge>,
    run: &mut Run,
    args: &VaeArgs,
) -> Result<VaeOutcome> {
    let device = pace_model::device::device("")?;
    let layout = plan.model.encoder.layout(&data.spec);
    let (train, test) =
        run.stage("layout", |_| anyhow::Ok((DagTable::new(&data.train, &layout), DagTable::new(&data.test, &layout))))?;
    let seed = plan.fit.seed;

    let raw = |dags: &[Dag]| {
        let rows: Vec<Vec<f32>> = dags.iter().map(task.raw_features).collect();
        let width = rows.first().map_or(1, Vec::len);
        Vectors::from_rows(rows, width)
    };
    let baseline = |name| Fits { name, gp: &plan.gp, n_seeds: plan.baseline_gp_seeds };
    let [raw] = scores(run, [baseline("raw")], data, (&raw(&data.train), &raw(&data.test)))?;
    let model = plan.model.init(&data.spec, seed, &device);
    let before = (&latents(&model, &train, &device), &latents(&model, &test, &device));
    let [untrained] = scores(run, [baseline("untrained")], data, before)?;

    let mut outcome = VaeOutcome {
        raw,
        untrained,
        encoders: Vec::new(),
        search: None,
        train_graphs_per_s: 0.0,
        encode_graphs_per_s: 0.0,
    };
    let (mut rates, mut encode_rates) = (Vec::new(), Vec::new());
    for index in 0..plan.encoder_seeds as u64 {
        let seed = seed + index;
        let model = train_encoder(plan, (&data.spec, &train), seed, args.train.save_every(), &device, run)?;
        rates.push(model.graphs_per_s);
        let (z_train, z_test) = run.stage(&format!("embed-{seed}"), |run| {
            let start = std::time::Instant::now();
            let (z_train, z_test) = (latents(&model.vae, &train, &device), latents(&model.vae, &test, &device));
            encode_rates.push((train.len() + test.len()) as f64 / start.elapsed().as_secs_f64());
            write_embeddings(run, index, &z_train, &z_test)?;
            anyhow::Ok((z_train, z_test))
        })?;
        let both = (&z_train, &z_test);
        let names = [format!("gp-published-{seed}"), format!("gp-{seed}")];
        // The published fit takes minutes: the first encoder speaks for all, as the authors' one did.
        let n_published = if index == 0 { plan.published_gp_seeds } else { 0 };
        let fits = [
            Fits { name: &names[0], gp: &plan.published_gp, n_seeds: n_published },
            Fits { name: &names[1], gp: &plan.gp, n_seeds: plan.gp_seeds },
        ];
        let [published, ours] = scores(run, fits, data, both)?;
        let mut encoder = EncoderOutcome {
            seed,
            epochs: model.epochs,
            scores: ours,
            published_scores: published,
            reconstruction: None,
            generation: None,
            fresh_generation: None,
            published_generation: None,
        };
        if !args.scores_only {
            generate(plan, data, &model.vae, (&z_train, &z_test), &device, run, &mut encoder)?;
        }
        outcome.encoders.push(encoder);
        // As in the paper, one encoder is searched.
        if let Some(judge) = judge.filter(|_| index == 0 && !args.scores_only && !args.no_search) {
            let (vae, spec, scores) = (&model.vae, &data.spec, data.train_scores.as_slice());
            let model = BoModel { vae, device: &device, spec, layout: &layout, latents: &z_train, scores };
            outcome.search = Some(optimise(&plan.bo, model, judge, run)?);
        }
    }
    outcome.train_graphs_per_s = mean(&rates);
    outcome.encode_graphs_per_s = mean(&encode_rates);
    Ok(outcome)
}

struct Trained {
    vae: AnyVae,
    epochs: Vec<Epoch>,
    graphs_per_s: f64,
}

/// Trains one encoder, or goes on with its checkpoint.
fn train_encoder(
    plan: &VaePlan,
    (spec, table): (&DagSpec, &DagTable),
    seed: u64,
    save_every: Duration,
    device: &Device,
    run: &mut Run,
) -> Result<Trained> {
    let config = FitConfig { seed, ..plan.fit.clone() };
    let saved = Saved::new("pace-vae", plan.model.clone(), spec.clone());
    let checkpoint = Checkpoint::new(run.path(&format!("checkpoint-{seed}")), saved.to_json()).every(save_every);
    let (bar, mut draw) = fit_bar(&format!("train encoder {seed}"));
    let mut log = Ok(());
    let autodiff = device.clone().autodiff();
    let model = plan.model.init(spec, seed, &autodiff);
    let fitted = fit(model, table, &config, &[autodiff], Some(&checkpoint), |event| {
        draw(&event);
        if let Event::Epoch { epoch, outcome, seconds } = event {
            let line =
                json!({"encoder": seed, "epoch": epoch, "loss": outcome.loss, "lr": outcome.lr, "seconds": seconds});
            log = run.event(line);
        }
    });
    bar.finish_and_clear();
    log?;
    let fitted = fitted?;
    run.took(&format!("train-{seed}"), fitted.seconds)?;
    let vae = fitted.model.valid();
    run.write(&format!("encoder-{seed}.safetensors"), &saved.to_safetensors(&vae))?;
    if let Some(last) = fitted.epochs.last() {
        println!("encoder {seed}: {} epochs, loss {:.4}", fitted.epochs.len(), last.loss);
    }
    let graphs_per_s = fitted.graphs as f64 / fitted.seconds;
    Ok(Trained { vae, epochs: fitted.epochs, graphs_per_s })
}

fn latents(model: &AnyVae, table: &DagTable, device: &Device) -> Vectors {
    embed_all(table, SHARD_GRAPHS, device, |batch| model.embed(batch))
}

/// The first encoder's vectors, train before test, as safetensors and npy.
fn write_embeddings(run: &Run, index: u64, train: &Vectors, test: &Vectors) -> Result<()> {
    if index > 0 {
        return Ok(());
    }
    let (n_rows, width) = (train.len() + test.len(), train.width());
    let create = |name: &str| {
        let path = run.path(name);
        let file = File::create(&path).with_context(|| format!("cannot write {}", path.display()))?;
        anyhow::Ok(BufWriter::new(file))
    };
    let mut tensors = MatrixFile::safetensors(create("embeddings.safetensors")?, "embeddings", n_rows, width)?;
    let mut npy = MatrixFile::npy(create("embeddings.npy")?, n_rows, width)?;
    for part in [train, test] {
        tensors.write(part.values())?;
        npy.write(part.values())?;
    }
    tensors.finish()?;
    npy.finish()?;
    Ok(())
}

/// Fits of one kind of GP, by seeds from 1 on.
struct Fits<'a> {
    name: &'a str,
    gp: &'a Gp,
    n_seeds: usize,
}

/// The scores of latents by several kinds of GPs, all fits side by side; a list longest first keeps all threads busy longest.
fn scores<const K: usize>(
    run: &mut Run,
    fits: [Fits<'_>; K],
    data: &VaeData,
    (train, test): (&Vectors, &Vectors),
) -> Result<[Vec<Score>; K]> {
    let seeds = |fits: &Fits<'_>| 1..=fits.n_seeds as u64;
    let jobs: Vec<(&Fits<'_>, u64)> = fits.iter().flat_map(|fits| seeds(fits).map(move |seed| (fits, seed))).collect();
    let names: Vec<String> = jobs.iter().map(|(fits, seed)| format!("{}-{seed}", fits.name)).collect();
    let title = fits.iter().filter(|fits| fits.n_seeds > 0).map(|fits| format!("{} {}", fits.n_seeds, fits.name));
    // Each fit is a hundred steps of the bar, for their own steps take different times.
    let bar = steps_bar(format!("fits: {}", title.collect::<Vec<_>>().join(", ")), 100 * jobs.len() as u64);
    let found: Vec<Score> = run.each(&names, |index| {
        let (fits, seed) = jobs[index];
        let scored = Scored { train, train_scores: &data.train_scores, test, test_scores: &data.test_scores };
        let mut done = 0;
        score(scored, fits.gp, seed, &mut |progress| {
            let percent = (100 * progress.step / progress.n_steps.max(1)) as u64;
            bar.inc(percent - done);
            done = percent;
        })
    })?;
    bar.finish_and_clear();
    let mut found = found.into_iter();
    Ok(fits.map(|Fits { name, n_seeds, .. }| {
        let scores: Vec<Score> = found.by_ref().take(n_seeds).collect();
        if !scores.is_empty() {
            let column = |part: fn(&Score) -> f64| mean(&scores.iter().map(part).collect::<Vec<f64>>());
            println!("{name}: RMSE {:.4}, Pearson {:.4} ({n_seeds} fits)", column(|s| s.rmse), column(|s| s.pearson));
        }
        scores
    }))
}

/// Reconstruction and generation by one encoder.
fn generate(
    plan: &VaePlan,
    data: &VaeData,
    vae: &AnyVae,
    (z_train, z_test): (&Vectors, &Vectors),
    device: &Device,
    run: &mut Run,
    outcome: &mut EncoderOutcome,
) -> Result<()> {
    let seed = outcome.seed;
    let (n_graphs, n_samples) = plan.reconstruct;
    let z = z_test.head(n_graphs);
    let seen: Vec<Dag> = data.test.iter().take(n_graphs).map(|dag| as_seen(dag, plan, &data.spec)).collect();
    let found = run.once(&format!("reconstruct-{seed}"), |_| {
        let options = DecodeOptions::sample(Mode::Constrained, seed);
        let bar = steps_bar("reconstruct", (z.len() * n_samples) as u64);
        let found = reconstruction(vae, &z, &seen, n_samples, &options, device, |done| bar.set_position(done as u64));
        bar.finish_and_clear();
        anyhow::Ok(found)
    })?;
    println!("reconstruction: {:.3} % sampled, {:.3} % greedy", 100.0 * found.isomorphic, 100.0 * found.greedy);
    outcome.reconstruction = Some(found);
    let mut known = None;
    let (n_latents, n_decodings) = plan.generate;
    let n_all = n_latents * n_decodings;
    let protocols = [
        ("generate", Mode::Constrained, n_latents, n_decodings),
        ("generate-fresh", Mode::Constrained, n_all, 1),
        ("generate-published", Mode::Published, n_latents, n_decodings),
    ];
    for (name, mode, n_latents, n_decodings) in protocols {
        let found: Generation = run.once(&format!("{name}-{seed}"), |_| {
            let known = known.get_or_insert_with(|| Known::new(&data.train));
            let options = DecodeOptions::sample(mode, seed);
            let bar = steps_bar("generate", n_all as u64);
            let prior = sample_prior(z_train, n_latents, seed);
            let found = generation(vae, &prior, n_decodings, &options, (&data.spec, known), device, |done| {
                bar.set_position(done as u64);
            });
            bar.finish_and_clear();
            anyhow::Ok(found)
        })?;
        let Generation { valid, unique, novel, .. } = found;
        println!("{name}: {:.2} % valid, {:.2} % unique, {:.2} % novel", 100.0 * valid, 100.0 * unique, 100.0 * novel);
        match name {
            "generate" => outcome.generation = Some(found),
            "generate-fresh" => outcome.fresh_generation = Some(found),
            _ => outcome.published_generation = Some(found),
        }
    }
    Ok(())
}

/// The graph in the numbering the model learns to decode.
fn as_seen(dag: &Dag, plan: &VaePlan, spec: &DagSpec) -> Dag {
    match plan.model.encoder.layout(spec).order {
        Order::Stored => dag.clone(),
        Order::Canonical => {
            // The table orders graphs with their start symbol, which comes first and goes again.
            let order = canonical_order(&spec.with_start_symbol().add_start_symbol(dag));
            let rest: Vec<usize> = order.into_iter().filter(|&node| node > 0).map(|node| node - 1).collect();
            dag.relabel(&rest)
        }
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}
