//! The subgraph extension inside the model: labels that see a neighbourhood.

use burn::tensor::Device;
use pace_graph::enumerate::{Darts, Enas, RandomDag, Sampler, UniformBn};
use pace_graph::{Dag, DagSpec, Hops, RootedLabels, canonical_order};
use pace_model::encoder::{DagEncoder, Pace, PaceConfig};
use pace_model::layers::NodeLabel;
use pace_model::objective::MaskIds;
use pace_model::store::{load_safetensors, to_safetensors};
use pace_model::{DagTable, Layout, Structure};
use safetensors::SafeTensors;

use crate::laws::{Laws, check_encoder};
use crate::setting::{NAS101, distance, sample, test_device, values};

fn rooted(height: u32, config: PaceConfig) -> PaceConfig {
    PaceConfig { node_label: NodeLabel::Rooted { height }, ..config }
}

#[test]
fn the_laws_hold_with_subgraphs_as_labels() {
    for space in [&*NAS101 as &dyn Sampler, &Enas::default(), &UniformBn::default(), &Darts] {
        for (height, config) in [(1, PaceConfig::vae()), (2, PaceConfig::mlm())] {
            let (config, spec) = (rooted(height, config), space.spec());
            check_encoder(|seed: u64, device: &Device| -> Pace { config.init(&spec, seed, device) }, space, Laws::ALL);
        }
    }
}

/// Two nodes have the same features iff their rooted subgraphs are isomorphic, by the dictionary of pace-graph.
#[test]
fn features_tell_rooted_subgraphs_apart() {
    let spec = DagSpec::new("any", ["a", "b"], 7);
    let dags: Vec<Dag> =
        (2..=6).flat_map(|n_nodes| sample(&RandomDag { n_nodes, n_ops: 2, edge_probability: 0.4 }, 12, 5)).collect();
    for height in 0..3 {
        let structure = Structure::NONE.rooted(height, spec.max_nodes);
        let batch = DagTable::new(&dags, &Layout { structure, ..Layout::plain(&spec) }).whole(&test_device());
        let ([_, n], features) = (batch.dims(), batch.rooted_features());
        let ([_, width], features) = (features.dims(), values(features));
        let mut labels = RootedLabels::new(height as usize, Hops::Both);
        let mut seen: Vec<(u32, &[f32])> = Vec::new();
        for (graph, dag) in dags.iter().enumerate() {
            for (position, &node) in canonical_order(dag).iter().enumerate() {
                seen.push((labels.label(dag, node), &features[(graph * n + position) * width..][..width]));
            }
        }
        let mut n_equal = 0;
        for (index, (label, features)) in seen.iter().enumerate() {
            for (other_label, other) in &seen[..index] {
                assert_eq!(label == other_label, features == other, "height {height}");
                n_equal += usize::from(label == other_label);
            }
        }
        assert!(n_equal > 100 && labels.len() > 1, "{n_equal} equal pairs test nothing");
    }
}

/// With h = 0 a label is an operation: the weights of an embedding of operations give the same vectors.
#[test]
fn without_hops_it_is_the_embedding_of_operations() {
    let (device, spec, dags) = (test_device(), NAS101.spec(), sample(&*NAS101, 20, 3));
    let plain = PaceConfig::mlm().init(&spec, 1, &device);
    let config = rooted(0, PaceConfig::mlm());
    let ours = config.init(&spec, 2, &device);
    let saved = to_safetensors(&plain);
    let saved = SafeTensors::deserialize(&saved).unwrap();
    let own = to_safetensors(&ours);
    let own = SafeTensors::deserialize(&own).unwrap();
    let floats = |name: &str| -> Vec<f32> {
        let (words, _) = saved.tensor(name).unwrap().data().as_chunks::<4>();
        words.iter().map(|&word| f32::from_le_bytes(word)).collect()
    };
    // The row of operation o at node 0 of the subgraph is the row of o; everything else is 0 but the root's, which is 0, too.
    let (table, width) = (floats("embedding.weight"), own.tensor("rooted.label.weight").unwrap().shape().to_vec());
    let mut weight = vec![0.0f32; width[0] * width[1]];
    weight[..table.len()].copy_from_slice(&table);
    let bytes = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    let made: Vec<(String, Vec<usize>, Vec<u8>)> = own
        .iter()
        .map(|(name, view)| {
            let data = match name {
                "rooted.label.weight" => bytes(&weight),
                "rooted.label.bias" => bytes(&floats("embedding.bias")),
                _ => saved.tensor(&name.replace("rooted.position", "embedding.position")).unwrap().data().to_vec(),
            };
            (name.to_owned(), view.shape().to_vec(), data)
        })
        .collect();
    let views = made.iter().map(|(name, shape, data)| {
        (name.as_str(), safetensors::tensor::TensorView::new(safetensors::Dtype::F32, shape.clone(), data).unwrap())
    });
    let ours = load_safetensors(ours, &safetensors::serialize(views, None).unwrap()).unwrap();
    let encode = |encoder: &Pace| values(encoder.encode(&DagTable::new(&dags, encoder.layout()).whole(&device)).graph);
    assert!(distance(&encode(&ours), &encode(&plain)) < 1e-5);
}

/// Hiding an operation hides it from the labels of its neighbours, too, in either way of hiding.
#[test]
fn hidden_operations_are_in_no_label() {
    let (device, spec) = (test_device(), DagSpec::nas101());
    let layout = rooted(1, PaceConfig::mlm()).layout(&spec);
    let mask = MaskIds::own(&layout).mask;
    let features = |cell: &str| {
        let batch = DagTable::new(&[cell.parse().unwrap()], &layout).whole(&device);
        let hide = |&op: &u16| if (1..4).contains(&op) { mask } else { op };
        let tokens: Vec<u16> = batch.host_tokens.iter().map(hide).collect();
        let plain = values(batch.rooted_features());
        (
            plain,
            values(batch.with_tokens(tokens.clone()).rooted_features()),
            values(batch.laid_out_anew(&tokens, 1).0.rooted_features()),
        )
    };
    let (one, other) = (features("0 1 2 4 : 0>1 1>2 2>3"), features("0 3 3 4 : 0>1 1>2 2>3"));
    assert_ne!(one.0, other.0);
    assert_eq!((one.1, one.2), (other.1, other.2));
}
