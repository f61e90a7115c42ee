//! Decoding: how well test graphs are reconstructed, and what the prior generates (Table 7 of the paper).

use anyhow::Result;
use burn::tensor::Device;
use pace_graph::{Dag, Vectors};
use pace_model::decoder::{DecodeOptions, Mode};
use pace_train::evaluate::{Generation, Known, Reconstruction, generation, reconstruction, sample_prior};
use pace_train::record::{Run, Stage};

use super::data::VaeData;
use super::pipeline::AnyVae;
use super::plan::VaePlan;
use crate::progress::steps_bar;

/// What one encoder decodes.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    /// Reconstruction under the rules of the dataset.
    pub reconstruction: Reconstruction,
    /// Reconstruction as the authors' code decodes.
    pub reconstruction_published: Reconstruction,
    /// What is generated under the rules of the dataset, several decodings per vector of the prior.
    pub several: Generation,
    /// The same with every graph from a vector of its own.
    pub fresh: Generation,
    /// What is generated as the authors' code does it.
    pub published: Generation,
}

/// The encoder that decodes: its seed, the model and its vectors of the training and test graphs.
#[derive(Clone, Copy)]
pub struct Coder<'a> {
    /// Its seed.
    pub seed: u64,
    /// The model.
    pub vae: &'a AnyVae,
    /// Where it computes.
    pub device: &'a Device,
    /// Vectors of the training graphs.
    pub train: &'a Vectors,
    /// Vectors of the test graphs.
    pub test: &'a Vectors,
}

/// Reconstructs test graphs and generates from the prior.
///
/// # Errors
/// If a file cannot be written.
pub fn decode(plan: &VaePlan, data: &VaeData, coder: Coder<'_>, run: &mut Run) -> Result<Decoded> {
    let (n_latents, n_decodings) = plan.generate;
    let stage = || Stage::new("generate");
    let mut known = None;
    let stage_of = Stage::new("reconstruct");
    let reconstruction = reconstruct(plan, data, coder, (stage_of.clone(), Mode::Constrained), run)?;
    let published = (stage_of.variant("published"), Mode::Published);
    let reconstruction_published = reconstruct(plan, data, coder, published, run)?;
    let mut generate = |stage: Stage, mode: Mode, n_latents: usize, n_decodings: usize| {
        let found: Generation = run.once(&stage.clone().seed(coder.seed), |_| {
            let known = known.get_or_insert_with(|| Known::new(&data.train));
            let options = DecodeOptions::sample(mode, coder.seed);
            let bar = steps_bar("generate", (n_latents * n_decodings) as u64);
            let prior = sample_prior(coder.train, n_latents, coder.seed);
            let rules = (&data.spec, &*known);
            let found = generation(coder.vae, &prior, n_decodings, &options, rules, coder.device, |done| {
                bar.set_position(done as u64);
            });
            bar.finish_and_clear();
            anyhow::Ok(found)
        })?;
        let [valid, unique, novel] = [found.valid, found.unique, found.novel].map(|share| 100.0 * share);
        println!("{stage}: {valid:.2} % valid, {unique:.2} % unique, {novel:.2} % novel");
        anyhow::Ok(found)
    };
    Ok(Decoded {
        reconstruction,
        reconstruction_published,
        several: generate(stage(), Mode::Constrained, n_latents, n_decodings)?,
        fresh: generate(stage().variant("fresh"), Mode::Constrained, n_latents * n_decodings, 1)?,
        published: generate(stage().variant("published"), Mode::Published, n_latents, n_decodings)?,
    })
}

fn reconstruct(
    plan: &VaePlan,
    data: &VaeData,
    coder: Coder<'_>,
    (stage, mode): (Stage, Mode),
    run: &mut Run,
) -> Result<Reconstruction> {
    let (n_graphs, n_samples) = plan.reconstruct;
    let z = coder.test.head(n_graphs);
    let layout = plan.model.layout(&data.spec);
    let seen: Vec<Dag> = data.test.iter().take(n_graphs).map(|dag| layout.numbered(dag)).collect();
    let found = run.once(&stage.clone().seed(coder.seed), |_| {
        let options = DecodeOptions::sample(mode, coder.seed);
        let bar = steps_bar("reconstruct", (z.len() * n_samples) as u64);
        let found = reconstruction(coder.vae, &z, &seen, n_samples, &options, coder.device, |done| {
            bar.set_position(done as u64);
        });
        bar.finish_and_clear();
        anyhow::Ok(found)
    })?;
    println!("{stage}: {:.3} % sampled, {:.3} % greedy", 100.0 * found.isomorphic, 100.0 * found.greedy);
    Ok(found)
}
