//! DAGNN: encoders and decoder under the laws, and against the recursion node by node.

use pace_graph::DagSpec;
use pace_graph::enumerate::{Enas, Sampler};
use pace_model::Order;
use pace_model::decoder::DvaeDecoderConfig;
use pace_model::encoder::{DagnnBnConfig, DagnnConfig, EncoderSettings, Purpose};
use pace_model::layers::Hearing;

use crate::dvae::{any_graphs, check_constrained, check_encodings, check_likelihood, check_training, topological};
use crate::laws::{Invariance, Laws, check_encoder, check_separation};
use crate::setting::{NAS101, sample, test_device};

#[test]
fn dagnn_keeps_the_laws_but_depends_on_positions() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        let config = DagnnConfig::preset(purpose);
        let broken = Laws { invariance: Invariance::Broken, ..Laws::ALL };
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, broken);
        let config = DagnnConfig { order: Order::Canonical, ..config };
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, Laws::ALL);
    }
}

#[test]
fn dagnn_bn_keeps_the_laws() {
    for purpose in [Purpose::Vae, Purpose::Mlm] {
        let config = DagnnBnConfig::preset(purpose);
        check_encoder(|seed, device| config.init(&NAS101.spec(), seed, device), &*NAS101, Laws::ALL);
    }
}

#[test]
fn encodings_are_those_of_the_recursion() {
    let device = test_device();
    let (any, dags) = any_graphs(4);
    let cases =
        [(&any, dags), (&DagSpec::na(), topological(&Enas::default(), 20)), (&NAS101.spec(), sample(&*NAS101, 20, 3))];
    for (spec, dags) in &cases {
        for hearing in [Hearing::AttendedStates, Hearing::GatedStates] {
            for (n_layers, bidirectional, vertex_ids) in
                [(1, false, true), (2, false, true), (2, true, true), (3, true, false), (2, false, false)]
            {
                let order = if vertex_ids { Order::Stored } else { Order::Canonical };
                let preset = DagnnConfig::preset(if bidirectional { Purpose::Mlm } else { Purpose::Vae });
                let config = DagnnConfig { d_hidden: 9, n_layers, hearing, bidirectional, vertex_ids, order, ..preset };
                check_encodings(&config.init(spec, 3, &device), hearing, n_layers, false, dags);
            }
        }
    }
}

#[test]
fn likelihoods_are_those_of_the_recursion_and_of_the_steps() {
    for config in [DvaeDecoderConfig::dagnn(), DvaeDecoderConfig::dagnn_bn()] {
        check_likelihood(&config.of_width(8));
    }
}

#[test]
fn constrained_graphs_are_valid() {
    check_constrained(&DvaeDecoderConfig::dagnn().of_width(16));
    check_constrained(&DvaeDecoderConfig::dagnn_bn().of_width(16));
}

#[test]
fn vaes_train() {
    let dagnn = DagnnConfig { d_hidden: 16, ..DagnnConfig::preset(Purpose::Vae) };
    check_training(dagnn.clone(), DvaeDecoderConfig::dagnn().of_width(16));
    let bn = DagnnBnConfig(DagnnConfig { d_hidden: 16, ..DagnnBnConfig::preset(Purpose::Vae).0 });
    check_training(bn, DvaeDecoderConfig::dagnn_bn().of_width(16));
}

#[test]
fn different_cells_have_different_vectors() {
    check_separation(|seed, device| {
        DagnnConfig { order: Order::Canonical, ..DagnnConfig::preset(Purpose::Mlm) }.init(&NAS101.spec(), seed, device)
    });
}
