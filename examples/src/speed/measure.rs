//! How fast a model trains and encodes.

use std::convert::Infallible;
use std::time::Instant;

use anyhow::Result;
use burn::module::Module;
use burn::tensor::{Device, Tensor};
use pace_graph::{Dag, DagSpec};
use pace_model::encoder::DagEncoder;
use pace_model::objective::Objective;
use pace_model::{DagBatch, DagTable, Layout};
use pace_train::embed::{SHARD_GRAPHS, embed_dags};
use pace_train::{FitConfig, OptimiserConfig, fit};
use serde::{Deserialize, Serialize};

use super::systems::Model;

/// Graphs of a first, short training, which also warms what later ones need.
const N_FIRST: usize = 256;

/// Graphs per second.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Rates {
    /// Forward, backward and Adam, by `fit`.
    pub train: f64,
    /// From graphs to vectors, by `embed_dags`: order, mask and tensors included.
    pub encode: f64,
    /// Parameters of the encoder.
    pub n_parameters: usize,
}

/// Trains for about so many seconds, and encodes for half of that.
///
/// # Errors
/// Those of the training.
pub fn rates(model: &Model, spec: &DagSpec, dags: &[Dag], batch_size: usize, seconds: f64) -> Result<Rates> {
    let device = pace_model::device::device("")?;
    let autodiff = device.clone().autodiff();
    match model {
        Model::Vae(config) => {
            let vae = config.init(spec, 1, &autodiff);
            let n_parameters = vae.encoder().num_params();
            let layout = config.layout(spec);
            let work = Work { layout: &layout, dags, batch_size, seconds, device: &device };
            work.measure(vae, n_parameters, |vae, batch| vae.embed(batch))
        }
        Model::Mlm(config) => {
            let mlm = config.init(spec, 1, &autodiff);
            let n_parameters = mlm.encoder().num_params();
            let layout = mlm.encoder().layout().clone();
            let work = Work { layout: &layout, dags, batch_size, seconds, device: &device };
            work.measure(mlm, n_parameters, |mlm, batch| mlm.embed(batch))
        }
    }
}

struct Work<'a> {
    layout: &'a Layout,
    dags: &'a [Dag],
    batch_size: usize,
    seconds: f64,
    device: &'a Device,
}

impl Work<'_> {
    fn measure<M: Objective<DagBatch> + Sync>(
        &self,
        model: M,
        n_parameters: usize,
        embed: impl Fn(&M, &DagBatch) -> Tensor<2> + Sync,
    ) -> Result<Rates> {
        let (model, first) = self.train(model, N_FIRST.min(self.dags.len()), 1)?;
        let n_wanted = (first * self.seconds) as usize;
        let n_graphs = n_wanted.clamp(2 * N_FIRST, self.dags.len());
        let (model, train) = self.train(model, n_graphs, n_wanted.div_ceil(n_graphs).max(1))?;
        let model = model.valid();
        let pass = |dags: &[Dag]| {
            let (start, mut n_numbers) = (Instant::now(), 0);
            let embed = |batch: &DagBatch| embed(&model, batch);
            let Ok(()) = embed_dags(dags, self.layout, SHARD_GRAPHS, self.device, embed, |rows: &[f32]| {
                n_numbers += rows.len();
                Ok::<(), Infallible>(())
            });
            assert!(n_numbers >= dags.len());
            start.elapsed().as_secs_f64()
        };
        pass(&self.dags[..N_FIRST.min(self.dags.len())]);
        let (start, mut n_passes) = (Instant::now(), 0);
        while n_passes == 0 || start.elapsed().as_secs_f64() < self.seconds / 2.0 {
            pass(self.dags);
            n_passes += 1;
        }
        let encode = (n_passes * self.dags.len()) as f64 / start.elapsed().as_secs_f64();
        Ok(Rates { train, encode, n_parameters })
    }

    /// Trains, and returns graphs per second.
    fn train<M: Objective<DagBatch> + Sync>(&self, model: M, n_graphs: usize, epochs: usize) -> Result<(M, f64)> {
        let table = DagTable::new(&self.dags[..n_graphs], self.layout);
        let optimiser = OptimiserConfig::adam(1e-4);
        let config = FitConfig { epochs, batch_size: self.batch_size, optimiser, ..FitConfig::vae() };
        let fitted = fit(model, &table, &config, &[self.device.clone().autodiff()], None, |_| {})?;
        Ok((fitted.model, fitted.graphs as f64 / fitted.seconds))
    }
}
