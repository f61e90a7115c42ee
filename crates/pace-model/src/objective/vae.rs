//! [`Vae`]: the variational autoencoder over DAGs (section 3.3).

use burn::module::Module;
use burn::nn::Linear;
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor};
use pace_graph::{Dag, DagSpec};
use serde::{Deserialize, Serialize};

use super::{Loss, Objective};
use crate::Error;
use crate::batch::{DagBatch, Layout, Stream, check_spec};
use crate::decoder::{DagDecoder, DecodeOptions, DecoderConfig, DecoderSettings, PaceDecoderConfig};
use crate::encoder::{DagEncoder, EncodeParts, EncoderConfig, EncoderSettings, PaceConfig, Task, by_blocks};
use crate::layers::Init;

/// The configuration of a variational autoencoder of any encoder and decoder.
pub type AnyVaeConfig = VaeConfig<EncoderConfig, DecoderConfig>;

/// How the vector of a graph becomes mean and log-variance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LatentHead {
    /// A linear map of all positions: the paper.
    Dense,
    /// The same linear map of each position by itself: a block of the latent vector belongs to a node and its ancestors.
    /// The blocks have equal width, the latent width rounded down to a multiple of the positions. Wants a readout of all
    /// positions.
    PerNode,
}

/// Configuration of a variational autoencoder: PACE's, unless it says otherwise.
///
/// [`AnyVaeConfig`] leaves encoder and decoder to be chosen at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct VaeConfig<E = PaceConfig, D = PaceDecoderConfig> {
    /// Encoder.
    pub encoder: E,
    /// Decoder.
    pub decoder: D,
    /// Width of the latent space.
    pub d_latent: usize,
    /// Which part of a graph a part of the latent vector may see.
    pub latent: LatentHead,
    /// Cut the mean off below 0. With the KL divergence, which asks for small means, each axis then tends to stand for one
    /// choice in the graph (Whittington et al. 2023), and models with a length-scale per axis predict better from it.
    pub positive: bool,
    /// Weight of the KL divergence.
    pub beta: f64,
    /// Scale of the noise in the reparameterisation.
    pub noise: f64,
}

impl VaeConfig {
    /// The paper's model; beta and noise are those of all the compared VAEs' code.
    pub fn paper() -> VaeConfig {
        let (encoder, decoder) = (PaceConfig::vae(), PaceDecoderConfig::vae());
        VaeConfig {
            encoder,
            decoder,
            d_latent: 64,
            latent: LatentHead::Dense,
            positive: false,
            beta: 0.005,
            noise: 0.01,
        }
    }

    /// The same with operations and positions embedded in `width` dimensions each, in encoder and decoder.
    #[must_use]
    pub fn of_width(mut self, width: usize) -> VaeConfig {
        (self.decoder.embedding.d_op, self.decoder.embedding.d_position) = (width, width);
        VaeConfig { encoder: self.encoder.of_width(width), ..self }
    }

    /// The paper's model at the widths of the authors' code, with another map to the latent space: node by node, and not below 0.
    pub fn per_node() -> VaeConfig {
        VaeConfig { d_latent: 144, latent: LatentHead::PerNode, positive: true, ..VaeConfig::paper().of_width(32) }
    }

    /// The model of the authors' code on NA or BN.
    pub fn as_published(task: Task) -> VaeConfig {
        let (encoder, decoder) = (PaceConfig::as_published(task), PaceDecoderConfig::as_published(task));
        VaeConfig { encoder, decoder, ..VaeConfig::paper() }
    }

    /// The same with encoder and decoder to be chosen at run time.
    pub fn any(self) -> AnyVaeConfig {
        let VaeConfig { encoder, decoder, d_latent, latent, positive, beta, noise } = self;
        let (encoder, decoder) = (EncoderConfig::Pace(encoder), DecoderConfig::Pace(decoder));
        VaeConfig { encoder, decoder, d_latent, latent, positive, beta, noise }
    }
}

impl<E: EncoderSettings, D: DecoderSettings> VaeConfig<E, D> {
    /// The layout for graphs of `spec` (given without start symbol): the encoder's, with what the decoder wants besides.
    pub fn layout(&self, spec: &DagSpec) -> Layout {
        let layout = self.encoder.layout(spec);
        Layout { structure: layout.structure.and(self.decoder.structure()), ..layout }
    }

    /// The width of the latent space for graphs of `spec` (given without start symbol): `d_latent`, rounded down to a multiple
    /// of the positions by [`LatentHead::PerNode`].
    ///
    /// # Errors
    /// If [`VaeConfig::init`] would panic: no model takes the graphs, or the latent space has no room for them.
    pub fn width(&self, spec: &DagSpec, device: &Device) -> Result<usize, Error> {
        check_spec(spec)?;
        let encoder = self.encoder.init(spec, 0, device);
        self.decoder.check(encoder.layout())?;
        self.blocks(&encoder).map(|(_, width)| width)
    }

    /// How many blocks the latent vector has, and how wide it is.
    fn blocks(&self, encoder: &E::Encoder) -> Result<(usize, usize), Error> {
        let n_blocks = match self.latent {
            LatentHead::Dense => 1,
            LatentHead::PerNode => encoder.d_graph() / encoder.d_node(),
        };
        match self.d_latent / n_blocks * n_blocks {
            0 => Err(Error::NarrowLatent { d_latent: self.d_latent, n_positions: n_blocks }),
            width => Ok((n_blocks, width)),
        }
    }

    /// Initialises for graphs of `spec` (given without start symbol).
    ///
    /// # Panics
    /// If [`VaeConfig::width`] errs.
    pub fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Vae<E::Encoder, D::Decoder> {
        let encoder = self.encoder.init(spec, seed, device);
        let (n_blocks, d_latent) = self.blocks(&encoder).unwrap_or_else(|error| panic!("{error}"));
        // Seeds of the three parts differ, or they would start from the same draws.
        let decoder = self.decoder.init(d_latent, encoder.layout(), seed ^ 0x5eed_0001, device);
        let mut vae = Vae::new(encoder, decoder, d_latent, self.beta, self.noise, seed ^ 0x5eed_0002, device);
        vae.positive = self.positive;
        if n_blocks > 1 {
            let mut init = Init::new(seed ^ 0x5eed_0003, device);
            let (d_in, d_out) = (vae.encoder.d_graph() / n_blocks, d_latent / n_blocks);
            (vae.mu, vae.log_variance) = (init.linear(d_in, d_out, true), init.linear(d_in, d_out, true));
        }
        vae
    }
}

/// Encoder, two linear maps to mean and log-variance, and decoder:
///
/// ```text
/// mu = W_mu e + b,  log s^2 = W_s e + b,  z = mu + noise * eps * s,  eps ~ N(0, I)
/// loss = sum over graphs of  -log p(G | z) + beta * KL( N(mu, s^2) || N(0, I) )
/// ```
#[derive(Module, Debug)]
pub struct Vae<E: DagEncoder, D: DagDecoder> {
    encoder: E,
    mu: Linear,
    log_variance: Linear,
    decoder: D,
    positive: bool,
    beta: f64,
    noise: f64,
}

impl<E: DagEncoder, D: DagDecoder> Vae<E, D> {
    /// Joins an encoder and a decoder over a latent space.
    pub fn new(
        encoder: E,
        decoder: D,
        d_latent: usize,
        beta: f64,
        noise: f64,
        seed: u64,
        device: &Device,
    ) -> Vae<E, D> {
        let mut init = Init::new(seed, device);
        let mu = init.linear(encoder.d_graph(), d_latent, true);
        let log_variance = init.linear(encoder.d_graph(), d_latent, true);
        Vae { encoder, mu, log_variance, decoder, positive: false, beta, noise }
    }

    /// The encoder.
    pub fn encoder(&self) -> &E {
        &self.encoder
    }

    /// The decoder.
    pub fn decoder(&self) -> &D {
        &self.decoder
    }

    /// Mean and log-variance of the posterior. Shapes: batch [B, N] -> [B, Z], [B, Z].
    pub fn posterior(&self, batch: &DagBatch) -> (Tensor<2>, Tensor<2>) {
        let graph = self.encoder.encode_graphs(batch);
        (self.cut(by_blocks(&self.mu, graph.clone())), by_blocks(&self.log_variance, graph))
    }

    /// A graph for each latent vector, see [`DagDecoder::decode`]. Shapes: [B, Z] -> B graphs.
    pub fn decode(&self, z: Tensor<2>, options: &DecodeOptions) -> Vec<Dag> {
        self.decoder.decode(z, self.encoder.shared_embedding(), options)
    }

    /// The embedding of each graph: the posterior mean, [B, Z].
    pub fn embed(&self, batch: &DagBatch) -> Tensor<2> {
        self.cut(self.encoder.encode_through(batch, &self.mu))
    }

    /// Means, cut off below 0 if `positive` is set.
    fn cut(&self, mean: Tensor<2>) -> Tensor<2> {
        if self.positive { relu(mean) } else { mean }
    }
}

impl<E: DagEncoder, D: DagDecoder> Objective for Vae<E, D> {
    fn loss(&self, batch: &DagBatch) -> Loss {
        let (mu, log_variance) = self.posterior(batch);
        let eps = batch.pass.normal(mu.dims(), Stream::Latent, &batch.device());
        let z = match eps {
            Some(eps) => mu.clone() + eps * (log_variance.clone() * 0.5).exp() * self.noise,
            None => mu.clone(),
        };
        let reconstruction = self.decoder.nll(z, batch, self.encoder.shared_embedding()).sum();
        let kl = (mu.square() + log_variance.clone().exp() - log_variance - 1.0).sum() * 0.5;
        Loss {
            total: reconstruction.clone() + kl.clone() * self.beta,
            count: batch.lengths.len(),
            parts: vec![("reconstruction", reconstruction), ("kl", kl)],
        }
    }
}
