//! What is compared: three systems, two sizes of each, and the models they are on each dataset.

use pace_graph::enumerate::{Darts, Enas, Nas101Space, Sampler, UniformBn};
use pace_graph::{Dag, DagSpec};
use pace_model::decoder::{DecoderConfig, DvaeDecoderConfig};
use pace_model::encoder::{
    DagnnBnConfig, DagnnConfig, DvaeBnConfig, DvaeConfig, EncoderConfig, EncoderSettings, PaceConfig, Purpose,
};
use pace_model::objective::{AnyMlmConfig, AnyVaeConfig, MlmConfig, VaeConfig};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

/// An encoder of the paper's Figure 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// All nodes at once.
    Pace,
    /// Level by level, the whole batch at once.
    Dvae,
    /// The same, in two layers, with attention.
    Dagnn,
}

impl System {
    /// PACE first: the others are compared with it.
    pub const ALL: [System; 3] = [System::Pace, System::Dvae, System::Dagnn];

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            System::Pace => "PACE",
            System::Dvae => "D-VAE",
            System::Dagnn => "DAGNN",
        }
    }
}

/// How large the models are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// All states are so wide; D-VAE and DAGNN look along the edges and against them.
    Equal(usize),
    /// As their authors ran them: PACE 64 wide, D-VAE and DAGNN 501 on NA and BN, 301 along the edges only on the others.
    Published,
}

impl Size {
    /// For ids.
    pub fn name(self) -> String {
        match self {
            Size::Equal(width) => width.to_string(),
            Size::Published => "published".to_owned(),
        }
    }
}

/// Where graphs come from, and what is trained on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Data {
    /// ENAS architectures, in a variational autoencoder.
    Na,
    /// Bayesian networks, in a variational autoencoder.
    Bn,
    /// NAS-Bench-101 cells, by masked language modelling.
    Nas101,
    /// DARTS cells, by masked language modelling.
    Nas301,
}

impl Data {
    /// In the order of the paper.
    pub const ALL: [Data; 4] = [Data::Na, Data::Bn, Data::Nas101, Data::Nas301];

    /// For ids.
    pub fn name(self) -> &'static str {
        match self {
            Data::Na => "na",
            Data::Bn => "bn",
            Data::Nas101 => "nas101",
            Data::Nas301 => "nas301",
        }
    }

    /// For people.
    pub fn title(self) -> &'static str {
        match self {
            Data::Na => "NA",
            Data::Bn => "BN",
            Data::Nas101 => "NAS101",
            Data::Nas301 => "NAS301",
        }
    }

    /// What the graphs look like.
    pub fn spec(self) -> DagSpec {
        match self {
            Data::Na => DagSpec::na(),
            Data::Bn => DagSpec::bn(),
            Data::Nas101 => DagSpec::nas101(),
            Data::Nas301 => DagSpec::darts(),
        }
    }

    /// Random graphs.
    pub fn sample(self, count: usize) -> Vec<Dag> {
        let sampler: Box<dyn Sampler> = match self {
            Data::Na => Box::new(Enas::default()),
            Data::Bn => Box::new(UniformBn::default()),
            Data::Nas101 => Box::new(Nas101Space::enumerate()),
            Data::Nas301 => Box::new(Darts),
        };
        let mut rng = ChaCha8Rng::seed_from_u64(0);
        (0..count).map(|_| sampler.sample(&mut rng)).collect()
    }

    fn purpose(self) -> Purpose {
        match self {
            Data::Na | Data::Bn => Purpose::Vae,
            Data::Nas101 | Data::Nas301 => Purpose::Mlm,
        }
    }

    /// Graphs per training step, as in the experiments.
    pub fn batch_size(self) -> usize {
        match self.purpose() {
            Purpose::Vae => 64,
            Purpose::Mlm => 256,
        }
    }

    /// The width of a state.
    fn width(self, system: System, size: Size) -> usize {
        match (size, system, self.purpose()) {
            (Size::Equal(width), ..) => width,
            (Size::Published, System::Pace, _) => 64,
            (Size::Published, _, Purpose::Vae) => 501,
            (Size::Published, _, Purpose::Mlm) => 301,
        }
    }

    /// The encoder of a system.
    pub fn encoder(self, system: System, size: Size) -> EncoderConfig {
        let (purpose, width) = (self.purpose(), self.width(system, size));
        let both_ways = matches!(size, Size::Equal(_)) || purpose == Purpose::Vae;
        match (system, self) {
            // Operations and positions stand side by side in one, and are added in the other.
            (System::Pace, _) => EncoderConfig::Pace(PaceConfig::preset(purpose).of_width(match purpose {
                Purpose::Vae => width / 2,
                Purpose::Mlm => width,
            })),
            (System::Dvae, Data::Bn) => {
                EncoderConfig::DvaeBn(DvaeBnConfig { d_hidden: width, ..DvaeBnConfig::preset(purpose) })
            }
            (System::Dvae, _) => EncoderConfig::Dvae(DvaeConfig {
                d_hidden: width,
                bidirectional: both_ways,
                ..DvaeConfig::preset(purpose)
            }),
            (System::Dagnn, Data::Bn) => {
                let mut config = DagnnBnConfig::preset(purpose);
                config.0.d_hidden = width;
                EncoderConfig::DagnnBn(config)
            }
            (System::Dagnn, _) => EncoderConfig::Dagnn(DagnnConfig {
                d_hidden: width,
                bidirectional: both_ways,
                ..DagnnConfig::preset(purpose)
            }),
        }
    }

    /// The model that is trained.
    pub fn model(self, system: System, size: Size) -> Model {
        let (encoder, width) = (self.encoder(system, size), self.width(system, size));
        match self.purpose() {
            Purpose::Mlm => Model::Mlm(AnyMlmConfig { encoder, ..MlmConfig::paper().any() }),
            Purpose::Vae => {
                let paper = VaeConfig::paper().of_width(width / 2).any();
                let recursive = match (system, self) {
                    (System::Pace, _) => None,
                    (System::Dvae, Data::Bn) => Some(DvaeDecoderConfig::dvae_bn()),
                    (System::Dvae, _) => Some(DvaeDecoderConfig::dvae()),
                    (System::Dagnn, Data::Bn) => Some(DvaeDecoderConfig::dagnn_bn()),
                    (System::Dagnn, _) => Some(DvaeDecoderConfig::dagnn()),
                };
                let decoder = recursive
                    .map_or_else(|| paper.decoder.clone(), |config| DecoderConfig::Dvae(config.of_width(width)));
                Model::Vae(AnyVaeConfig { encoder, decoder, ..paper })
            }
        }
    }
}

/// What is trained.
#[derive(Clone, Debug)]
pub enum Model {
    /// A variational autoencoder.
    Vae(AnyVaeConfig),
    /// A masked language model.
    Mlm(AnyMlmConfig),
}
