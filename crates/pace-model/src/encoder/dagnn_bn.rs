//! DAGNN for Bayesian networks (Thost & Chen, 2021): [`Dagnn`] that does not see positions, on canonically ordered graphs.
//!
//! Vectors then do not depend on the order of the nodes.

use burn::tensor::Device;
use pace_graph::DagSpec;
use serde::{Deserialize, Serialize};

use super::dagnn::{Dagnn, DagnnConfig};
use super::{EncoderSettings, Purpose};
use crate::batch::{Layout, Order};

/// A configuration of [`Dagnn`] whose presets suit Bayesian networks.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DagnnBnConfig(pub DagnnConfig);

impl DagnnBnConfig {
    /// What the authors ran on BN: width 501, both directions, no dropout.
    pub fn as_published() -> DagnnBnConfig {
        DagnnBnConfig::of(DagnnConfig::as_published())
    }

    fn of(config: DagnnConfig) -> DagnnBnConfig {
        DagnnBnConfig(DagnnConfig { vertex_ids: false, order: Order::Canonical, ..config })
    }
}

impl EncoderSettings for DagnnBnConfig {
    type Encoder = Dagnn;

    fn preset(purpose: Purpose) -> DagnnBnConfig {
        DagnnBnConfig::of(DagnnConfig::preset(purpose))
    }

    fn layout(&self, spec: &DagSpec) -> Layout {
        self.0.layout(spec)
    }

    fn init(&self, spec: &DagSpec, seed: u64, device: &Device) -> Dagnn {
        self.0.init(spec, seed, device)
    }
}
