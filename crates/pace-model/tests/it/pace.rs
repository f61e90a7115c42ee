//! The laws on PACE: its defaults, its ablations and what was published.

use burn::tensor::Device;
use pace_graph::enumerate::{Darts, Enas, OrderedBn, Sampler, UniformBn};
use pace_graph::{Dag, canonicalise};
use pace_model::encoder::{Pace, PaceConfig, Task};
use pace_model::layers::{PositionConfig, Readout};
use pace_model::{Attention, Label};
use rand::Rng;

use crate::laws::{Invariance, Laws, check_encoder, check_separation};
use crate::setting::NAS101;

fn check(config: PaceConfig, space: &dyn Sampler, laws: Laws) {
    check_encoder(init(config, space), space, laws);
}

fn init(config: PaceConfig, space: &dyn Sampler) -> impl Fn(u64, &Device) -> Pace {
    let spec = space.spec();
    move |seed, device| config.init(&spec, seed, device)
}

/// Cells that some renumbering maps to themselves: where a canonical order is easiest to get wrong.
struct SymmetricCells;

impl Sampler for SymmetricCells {
    fn spec(&self) -> pace_graph::DagSpec {
        NAS101.spec()
    }

    fn sample(&self, rng: &mut dyn Rng) -> Dag {
        loop {
            let cell = NAS101.sample(rng);
            if canonicalise(&cell).automorphisms.to_f64() > 1.5 {
                return cell;
            }
        }
    }
}

#[test]
fn vae_on_every_space() {
    for space in [&*NAS101 as &dyn Sampler, &SymmetricCells, &Enas::default(), &UniformBn::default(), &Darts] {
        check(PaceConfig::vae(), space, Laws::ALL);
    }
}

#[test]
fn mlm_on_every_space() {
    for space in [&*NAS101 as &dyn Sampler, &SymmetricCells, &Enas::default(), &OrderedBn::default(), &Darts] {
        check(PaceConfig::mlm(), space, Laws::ALL);
    }
}

#[test]
fn readouts() {
    for readout in [Readout::Mean, Readout::Output, Readout::Concat, Readout::LastPosition, Readout::ByOp] {
        check(PaceConfig { readout, ..PaceConfig::vae() }, &*NAS101, Laws::ALL);
    }
}

/// Without a mask, and without dag2seq, PACE is still a function of the graph, not of its numbering.
#[test]
fn ablations() {
    let vae = PaceConfig::vae();
    let position = |position| {
        let mut config = PaceConfig::vae();
        config.embedding.position = position;
        config
    };
    check(PaceConfig { attention: Attention::Open, ..vae }, &*NAS101, Laws::ALL);
    check(position(PositionConfig::Index), &*NAS101, Laws::ALL);
    check(position(PositionConfig::None), &*NAS101, Laws::ALL);
    let mut bag = PaceConfig { attention: Attention::Open, ..PaceConfig::mlm() };
    bag.embedding.position = PositionConfig::None;
    check(bag, &*NAS101, Laws::ALL);
}

/// NA has one topological order only, so that the published model, which does not canonicalise, is invariant on it; BN
/// because everything goes by operation there.
#[test]
fn published_vae() {
    let laws = Laws { invariance: Invariance::Topological, padding: true };
    check(PaceConfig::as_published(Task::Na), &Enas::default(), laws);
    check(PaceConfig::as_published(Task::Bn), &OrderedBn::default(), laws);
}

/// The published NA model on graphs with more than one topological order, and the published BN model without its labels.
#[test]
fn published_vae_depends_on_the_numbering() {
    let laws = Laws { invariance: Invariance::Broken, padding: true };
    check(PaceConfig::as_published(Task::Na), &*NAS101, laws);
    check(PaceConfig { label: Label::Position, ..PaceConfig::as_published(Task::Bn) }, &OrderedBn::default(), laws);
    check(PaceConfig { readout: Readout::Concat, ..PaceConfig::as_published(Task::Bn) }, &OrderedBn::default(), laws);
}

/// The published MLM model attends evenly to all positions where it has nothing to attend to, padding included.
#[test]
fn published_mlm() {
    let laws = Laws { invariance: Invariance::Topological, padding: false };
    check(PaceConfig::as_published(Task::Nas101), &*NAS101, laws);
    check(PaceConfig::as_published(Task::Nas301), &Darts, laws);
}

#[test]
fn different_cells_have_different_encodings() {
    check_separation(init(PaceConfig::vae(), &*NAS101));
    check_separation(init(PaceConfig::mlm(), &*NAS101));
}
