//! How well a variational autoencoder reconstructs graphs and generates new ones (Table 7 of the paper).

use std::collections::HashSet;

use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::{Dag, DagSpec, GraphKey, Vectors};
use pace_model::decoder::{Choice, DagDecoder, DecodeOptions};
use pace_model::encoder::DagEncoder;
use pace_model::objective::Vae;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rayon::prelude::{IntoParallelRefIterator, ParallelIterator};
use serde::{Deserialize, Serialize};

/// Latent vectors decoded at a time.
const BATCH: usize = 1024;

/// Standard normal vectors, stretched and shifted to mean and standard deviation of `latents`, column by column: the prior
/// as the authors sample it.
pub fn sample_prior(latents: &Vectors, n_rows: usize, seed: u64) -> Vectors {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let draw = |&(mean, std): &(f64, f64)| {
        let normal: f64 = StandardNormal.sample(&mut rng);
        (mean + std * normal) as f32
    };
    let moments = latents.moments();
    Vectors::new(moments.iter().cycle().take(n_rows * moments.len()).map(draw).collect(), moments.len())
}

/// Decodes all vectors, in batches; `progress` gets the number that are done.
pub fn decode<E: DagEncoder, D: DagDecoder>(
    vae: &Vae<E, D>,
    latents: &Vectors,
    options: &DecodeOptions,
    device: &Device,
    mut progress: impl FnMut(usize),
) -> Vec<Dag> {
    let mut dags = Vec::with_capacity(latents.len());
    for shard in latents.values().chunks(BATCH * latents.width()) {
        let shape = [shard.len() / latents.width(), latents.width()];
        let z = Tensor::from_data(TensorData::new(shard.to_vec(), shape), device);
        dags.extend(vae.decode(z, &options.starting_at(dags.len() as u64)));
        progress(dags.len());
    }
    dags
}

/// How often a graph is decoded from its own latent vector, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Reconstruction {
    /// Up to isomorphism.
    pub isomorphic: f64,
    /// With equal operations and predecessors at every index: the published rule.
    pub indexed: f64,
    /// The greedy decoding, up to isomorphism.
    pub greedy: f64,
}

/// Decodes the latent vector of every graph `n_samples` times at random and once greedily.
///
/// `dags` are numbered by [`Layout::numbered`](pace_model::Layout::numbered), so that the published rule can compare index by
/// index.
pub fn reconstruction<E: DagEncoder, D: DagDecoder>(
    vae: &Vae<E, D>,
    latents: &Vectors,
    dags: &[Dag],
    n_samples: usize,
    options: &DecodeOptions,
    device: &Device,
    progress: impl FnMut(usize),
) -> Reconstruction {
    assert_eq!(latents.len(), dags.len(), "one latent vector per graph");
    let count = |decoded: &[Dag], times: usize| -> (f64, f64) {
        let pairs: Vec<(&Dag, &Dag)> =
            dags.iter().flat_map(|dag| std::iter::repeat_n(dag, times)).zip(decoded).collect();
        let hits: Vec<(bool, bool)> = pairs
            .par_iter()
            .map(|&(dag, decoded)| (dag == decoded, dag == decoded || isomorphic(dag, decoded)))
            .collect();
        let share =
            |hit: fn(&(bool, bool)) -> bool| hits.iter().filter(|hits| hit(hits)).count() as f64 / hits.len() as f64;
        (share(|hits| hits.0), share(|hits| hits.1))
    };
    let sampled = decode(vae, &latents.repeated(n_samples), options, device, progress);
    let (indexed, isomorphic) = count(&sampled, n_samples);
    let greedy = decode(vae, latents, &DecodeOptions { choice: Choice::Greedy, ..*options }, device, |_| {});
    Reconstruction { isomorphic, indexed, greedy: count(&greedy, 1).1 }
}

fn isomorphic(one: &Dag, other: &Dag) -> bool {
    // Cheap numbers first: most wrong decodings differ in them.
    one.n_nodes() == other.n_nodes() && one.n_edges() == other.n_edges() && GraphKey::of(one) == GraphKey::of(other)
}

/// What is decoded from the prior, as fractions.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Generation {
    /// Valid under the rules of the dataset, of all.
    pub valid: f64,
    /// Isomorphism classes, per valid graph.
    pub unique: f64,
    /// Different strings by the published rule, per valid graph.
    pub unique_published: f64,
    /// Not isomorphic to a training graph, of the valid ones.
    pub novel: f64,
}

/// Isomorphism classes of the training graphs, to tell which graphs are novel.
#[derive(Clone, Debug)]
pub struct Known(HashSet<GraphKey>);

impl Known {
    /// Collects the classes of `dags`.
    pub fn new(dags: &[Dag]) -> Known {
        Known(dags.par_iter().map(GraphKey::of).collect())
    }
}

/// The published protocol: `n_latents` vectors of the prior, each decoded `n_decodings` times.
pub fn generation<E: DagEncoder, D: DagDecoder>(
    vae: &Vae<E, D>,
    prior: &Vectors,
    n_decodings: usize,
    options: &DecodeOptions,
    (spec, known): (&DagSpec, &Known),
    device: &Device,
    progress: impl FnMut(usize),
) -> Generation {
    let decoded = decode(vae, &prior.repeated(n_decodings), options, device, progress);
    let valid: Vec<&Dag> = decoded.par_iter().filter(|dag| spec.is_valid(dag)).collect();
    let keys: Vec<GraphKey> = valid.par_iter().map(|dag| GraphKey::of(dag)).collect();
    let novel = keys.iter().filter(|key| !known.0.contains(*key)).count();
    let strings: HashSet<Vec<u16>> = valid.iter().map(|dag| published_string(dag)).collect();
    let n_valid = valid.len().max(1) as f64;
    Generation {
        valid: valid.len() as f64 / decoded.len().max(1) as f64,
        novel: novel as f64 / n_valid,
        unique: keys.into_iter().collect::<HashSet<GraphKey>>().len() as f64 / n_valid,
        unique_published: strings.len() as f64 / n_valid,
    }
}

/// Operations and in-edges of all nodes but the first and the last, in the order of decoding, without the edge from the
/// node before. NA graphs always have that edge; on BN the rule counts different graphs as one.
fn published_string(dag: &Dag) -> Vec<u16> {
    let mut string = Vec::new();
    for node in 1..dag.n_nodes().saturating_sub(1) {
        string.push(dag.op(node));
        string.extend((0..node - 1).map(|from| u16::from(dag.has_edge(from, node))));
    }
    string
}
