//! Training, embedding and evaluation of DAG encoders, and the record of a run.
//!
//! The principal function is [`fit`]: it minimises an [`Objective`](pace_model::objective::Objective) over the batches of a
//! [`Source`], such as a table of graphs, and resumes from a [`Checkpoint`] to the same bits. Then
//!
//! - [`fit_collective`] does the same by several processes, e.g. of an MPI world, to the same bits whatever their number;
//! - [`embed`] turns a dataset into vectors, shard by shard;
//! - [`evaluate`] measures how well a variational autoencoder reconstructs and generates graphs;
//! - [`record`] keeps what a run did: configuration, events, results.
//!
//! ```
//! use pace_graph::DagSpec;
//! use pace_graph::enumerate::{Enas, Sampler};
//! use pace_model::objective::VaeConfig;
//! use pace_model::{DagTable, device::device};
//! use pace_train::{FitConfig, fit};
//! use rand::SeedableRng;
//!
//! let (spec, mut rng) = (DagSpec::na(), rand_chacha::ChaCha8Rng::seed_from_u64(0));
//! let dags: Vec<_> = (0..64).map(|_| Enas::default().sample(&mut rng)).collect();
//! let config = VaeConfig::paper();
//! let table = DagTable::new(&dags, &config.layout(&spec));
//! let device = device("")?.autodiff();
//! let (model, config) = (config.init(&spec, 1, &device), FitConfig { epochs: 2, ..FitConfig::vae() });
//! let fitted = fit(model, &table, &config, &[device], None, |_| {})?;
//! assert!(fitted.epochs[1].loss < fitted.epochs[0].loss);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Random numbers depend on the seed, the epoch and the step alone, so a checkpoint holds no state of a generator.

mod adam;
mod checkpoint;
pub mod collective;
pub mod embed;
mod error;
pub mod evaluate;
mod fit;
mod gradient;
mod optimiser;
pub mod record;
mod schedule;
mod shards;
mod snapshot;
mod source;
mod team;

pub use adam::Adam;
pub use checkpoint::Checkpoint;
pub use error::Error;
pub use fit::{Epoch, Event, FitConfig, Fitted, Reduction, Verdict, fit, fit_collective, fit_watched};
pub use optimiser::OptimiserConfig;
pub use schedule::{Schedule, ScheduleState};
pub use source::{Pairs, Source};
pub use team::together;
