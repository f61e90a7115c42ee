//! The latent space node by node: blocks belong to nodes, means are not below 0, and everything is trained.

use pace_graph::DagSpec;
use pace_graph::enumerate::Enas;
use pace_model::DagTable;
use pace_model::objective::{Objective, VaeConfig};

use crate::fit::{assert_all_graded, assert_learns, fit};
use crate::setting::{sample, test_device, values};

#[test]
fn a_block_sees_its_node_and_the_ancestors() {
    let (device, spec, config) = (test_device(), DagSpec::na(), VaeConfig::per_node());
    let vae = config.init(&spec, 1, &device);
    // These differ in the operation of the last layer only.
    let dags = ["input conv3x3 conv5x5 output : 0>1 1>2 2>3", "input conv3x3 max_pool3x3 output : 0>1 1>2 2>3"];
    let dags = dags.map(|text| spec.parse(text).unwrap());
    let z = values(vae.embed(&DagTable::new(&dags, &config.encoder.layout(&spec)).whole(&device)));
    let (one, other) = z.split_at(144);
    assert_eq!((z.len(), z.iter().filter(|&&value| value < 0.0).count()), (2 * 144, 0));
    assert!(z.iter().any(|&value| value > 0.0));
    let differs = |block: usize| (block * 16..(block + 1) * 16).any(|d| (one[d] - other[d]).abs() > 1e-6);
    // Start symbol, input and first layer come before the difference; the second layer and the output do not.
    let expected = [false, false, false, true, true];
    assert_eq!((0..5).map(differs).collect::<Vec<_>>(), expected);
}

#[test]
fn the_latent_width_is_a_multiple_of_the_positions() {
    let (device, config) = (test_device(), VaeConfig::per_node());
    for (spec, width) in [(DagSpec::na(), 144), (DagSpec::bn(), 143)] {
        let dags = match width {
            144 => sample(&Enas::default(), 3, 1),
            _ => sample(&pace_graph::enumerate::OrderedBn::default(), 3, 1),
        };
        let table = DagTable::new(&dags, &config.encoder.layout(&spec));
        assert_eq!(config.init(&spec, 1, &device).embed(&table.whole(&device)).dims(), [3, width]);
    }
}

#[test]
fn it_learns_and_reaches_every_parameter() {
    let (device, spec, config) = (test_device().autodiff(), DagSpec::na(), VaeConfig::per_node());
    let table = DagTable::new(&sample(&Enas::default(), 64, 1), &config.encoder.layout(&spec));
    let batch = table.whole(&device);
    let vae = config.init(&spec, 1, &device);
    assert_all_graded(&vae, vae.loss(&batch.clone().train(1)));
    assert_learns(&fit(vae, 60, 3e-3, |vae, seed| vae.loss(&batch.clone().train(seed))));
}
