//! The laws of every encoder. A new encoder is held to them by one call of [`check_encoder`].

use burn::module::Module;
use burn::tensor::{Device, Tensor, TensorData};
use pace_graph::Dag;
use pace_graph::enumerate::Sampler;
use pace_model::encoder::{DagEncoder, EncodeParts};
use pace_model::layers::Init;
use pace_model::store::{load_safetensors, to_safetensors};
use pace_model::{DagBatch, DagTable, Layout, Order, Padding};
use rand::RngExt;

use crate::setting::{NAS101, distance, gradients, renumber, renumber_topologically, rng, sample, test_device, values};

/// Which renumberings of a graph leave its encoding alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Invariance {
    /// All, as the paper has it.
    Any,
    /// Topological ones; others cannot be stored.
    Topological,
    /// Not even those: by design of what was published.
    Broken,
}

/// What is asked of an encoder.
#[derive(Clone, Copy, Debug)]
pub struct Laws {
    pub invariance: Invariance,
    /// Whether padding leaves encodings alone.
    pub padding: bool,
}

impl Laws {
    /// Those the paper promises.
    pub const ALL: Laws = Laws { invariance: Invariance::Any, padding: true };
}

/// Checks an encoder on graphs of `space`; `init` makes it from a seed.
pub fn check_encoder<E: DagEncoder>(init: impl Fn(u64, &Device) -> E, space: &dyn Sampler, laws: Laws) {
    let device = test_device();
    let encoder = init(1, &device);
    let dags = sample(space, 24, 7);
    shapes(&encoder, &dags, &device);
    parts(&encoder, &dags, &device);
    sharing(&encoder, &init(1, &device.clone().autodiff()), &dags, &device);
    if laws.padding {
        padding(&encoder, &dags, &device);
    }
    batch_independence(&encoder, &dags, &device);
    relabelling(&encoder, &dags, laws.invariance, &device);
    passes(&encoder, &dags, &device);
    gradient_reaches_everything(&init(1, &device.clone().autodiff()), &dags, &device.clone().autodiff());
    save_and_load(&encoder, init(2, &device), &dags, &device);
}

/// Encodings of graphs, one list each.
fn encode<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) -> Vec<Vec<f32>> {
    let table = DagTable::new(dags, encoder.layout());
    let graph = encoder.encode(&table.whole(device)).graph;
    values(graph).chunks(encoder.d_graph()).map(<[f32]>::to_vec).collect()
}

/// Vectors of the real nodes of every graph under a layout, one list each.
fn nodes<E: DagEncoder>(encoder: &E, dags: &[Dag], layout: &Layout, device: &Device) -> Vec<Vec<f32>> {
    let batch = DagTable::new(dags, layout).whole(device);
    let ([_, n], d) = (batch.dims(), encoder.d_node());
    let vectors = values(encoder.encode(&batch).nodes);
    let real = |(graph, &length): (usize, &usize)| vectors[graph * n * d..(graph * n + length) * d].to_vec();
    batch.lengths.iter().enumerate().map(real).collect()
}

fn shapes<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) {
    let batch = DagTable::new(dags, encoder.layout()).whole(device);
    let [b, n] = batch.dims();
    let encoding = encoder.encode(&batch);
    assert_eq!(encoding.nodes.dims(), [b * n, encoder.d_node()]);
    assert_eq!(encoding.graph.dims(), [b, encoder.d_graph()]);
    let alone = distance(&values(encoder.encode_graphs(&batch)), &values(encoding.graph.clone()));
    assert!(alone < 1e-4, "graphs encoded alone are {alone} from those encoded with their nodes");
    assert!(values(encoding.nodes).iter().chain(&values(encoding.graph)).all(|value| value.is_finite()));
}

/// Some nodes alone, and graph vectors under a map of all of them or of each block, are those of the whole encoding.
fn parts<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) {
    let batch = DagTable::new(dags, encoder.layout()).whole(device);
    let (encoding, d) = (encoder.encode(&batch), encoder.d_node());
    let all = values(encoding.nodes);
    let rows: Vec<u32> = (0..(all.len() / d) as u32).filter(|row| row % 7 < 2).collect();
    let expected: Vec<f32> = rows.iter().flat_map(|&row| all[row as usize * d..][..d].to_vec()).collect();
    assert!(distance(&values(encoder.encode_nodes(&batch, &rows)), &expected) < 1e-4, "some nodes");
    for width in [encoder.d_graph(), d] {
        let map = Init::new(3, device).linear(width, 5, true);
        let graphs = encoding.graph.clone().reshape([-1, width as i32]);
        let mapped = encoder.encode_through(&batch, &map);
        assert_eq!(mapped.dims(), [dags.len(), encoder.d_graph() / width * 5]);
        assert!(distance(&values(mapped), &values(map.forward(graphs))) < 1e-4, "a map of width {width}");
    }
}

/// What computes equal nodes once, where it does, gives what computes every node: the path of autodiff. In the order of the
/// graphs, with those side by side that begin alike, and after some of their nodes were hidden.
fn sharing<E: DagEncoder>(encoder: &E, differentiated: &E, dags: &[Dag], device: &Device) {
    let table = DagTable::new(&[dags, &dags[..5]].concat(), encoder.layout());
    let alike = table.alike(0..table.len());
    let mut sorted = alike.clone();
    sorted.sort_unstable();
    assert!(sorted.into_iter().eq(0..table.len()), "every graph once: {alike:?}");
    let check = |what: &str, batch: &dyn Fn(&Device) -> DagBatch| {
        let shared = values(encoder.encode(&batch(device)).nodes);
        let all = values(differentiated.encode(&batch(&device.clone().autodiff())).nodes);
        assert!(distance(&shared, &all) < 1e-4, "shared, {what}: {}", distance(&shared, &all));
    };
    check("as they come", &|device| table.whole(device));
    check("alike", &|device| table.batch(&alike, device));
    check("corrupted", &|device| {
        let batch = table.batch(&alike, device);
        let mut tokens = batch.host_tokens.clone();
        tokens.iter_mut().step_by(11).for_each(|token| *token = 0);
        batch.with_tokens(tokens)
    });
}

/// However long the batch is padded, nodes get the same vectors.
fn padding<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) {
    let layout = encoder.layout();
    let expected = nodes(encoder, dags, layout, device);
    let tight = Layout { padding: Padding::Longest, ..layout.clone() };
    let mut wide = Layout { padding: Padding::Full, ..layout.clone() };
    wide.spec.max_nodes += 3;
    for (found, expected) in nodes(encoder, dags, &wide, device).iter().zip(&expected) {
        assert!(distance(found, expected) < 1e-5, "padded wider: {}", distance(found, expected));
    }
    for (dag, expected) in dags.iter().zip(&expected) {
        let found = &nodes(encoder, std::slice::from_ref(dag), &tight, device)[0];
        assert!(distance(found, expected) < 1e-5, "not padded: {}", distance(found, expected));
    }
}

/// A graph's encoding does not depend on what else is in the batch, nor on its place in it.
fn batch_independence<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) {
    let together = encode(encoder, dags, device);
    for (dag, expected) in dags.iter().zip(&together).step_by(5) {
        let alone = &encode(encoder, std::slice::from_ref(dag), device)[0];
        assert!(distance(alone, expected) < 1e-5, "alone: {}", distance(alone, expected));
    }
    let reversed: Vec<Dag> = dags.iter().rev().cloned().collect();
    for (found, expected) in encode(encoder, &reversed, device).iter().rev().zip(&together) {
        assert!(distance(found, expected) < 1e-5, "reversed: {}", distance(found, expected));
    }
}

/// Isomorphic graphs have the same encoding (Theorem 3.1), as far as the model promises it.
fn relabelling<E: DagEncoder>(encoder: &E, dags: &[Dag], invariance: Invariance, device: &Device) {
    assert_eq!(invariance == Invariance::Any, encoder.layout().order == Order::Canonical);
    let expected = encode(encoder, dags, device);
    let mut rng = rng(11);
    let mut most = 0f32;
    for _ in 0..8 {
        let renumbered: Vec<Dag> = dags
            .iter()
            .map(|dag| match invariance {
                Invariance::Any => renumber(dag, &mut rng),
                Invariance::Topological | Invariance::Broken => renumber_topologically(dag, &mut rng),
            })
            .collect();
        for (found, expected) in encode(encoder, &renumbered, device).iter().zip(&expected) {
            most = most.max(distance(found, expected));
        }
    }
    match invariance {
        Invariance::Any | Invariance::Topological => assert!(most < 1e-5, "a renumbered graph is {most} away"),
        // Ten times what rounding may do. Positions in attention scores alone change little before training.
        Invariance::Broken => assert!(most > 1e-4, "invariant after all: {most}"),
    }
}

/// A training pass is a function of its seed, and evaluation of nothing.
fn passes<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) {
    let batch = DagTable::new(dags, encoder.layout()).whole(device);
    let run = |seed: Option<u64>| {
        let batch = batch.clone();
        values(encoder.encode(&if let Some(seed) = seed { batch.train(seed) } else { batch }).nodes)
    };
    assert_eq!(run(None), run(None));
    assert_eq!(run(Some(1)), run(Some(1)));
    assert!(distance(&run(Some(1)), &run(Some(2))) > 1e-3);
    assert!(distance(&run(Some(1)), &run(None)) > 1e-3);
}

fn gradient_reaches_everything<E: DagEncoder>(encoder: &E, dags: &[Dag], device: &Device) {
    let graph = encoder.encode(&DagTable::new(dags, encoder.layout()).whole(device)).graph;
    let mut rng = rng(3);
    let probe: Vec<f32> = (0..graph.dims().iter().product()).map(|_| rng.random_range(-1.0..1.0)).collect();
    let probe = Tensor::from_data(TensorData::new(probe, graph.dims()), device);
    let found = gradients(encoder, &(graph * probe).sum().backward());
    assert!(!found.is_empty());
    for (name, (_, gradient)) in found {
        let gradient = gradient.unwrap_or_else(|| panic!("no gradient for {name}"));
        assert!(gradient.iter().all(|value| value.is_finite()), "{name}");
        assert!(gradient.iter().any(|&value| value != 0.0), "the gradient of {name} is zero");
    }
}

fn save_and_load<E: DagEncoder>(encoder: &E, other: E, dags: &[Dag], device: &Device) {
    let expected = encode(encoder, dags, device);
    assert_ne!(encode(&other, dags, device), expected);
    let loaded = load_safetensors(other, &to_safetensors(encoder)).unwrap();
    assert_eq!(Module::num_params(&loaded), Module::num_params(encoder));
    assert_eq!(encode(&loaded, dags, device), expected);
}

/// Non-isomorphic cells have different encodings: 10,000 random pairs of NAS-Bench-101.
pub fn check_separation<E: DagEncoder>(init: impl Fn(u64, &Device) -> E) {
    const PAIRS: usize = 10_000;
    let device = test_device();
    let encoder = init(5, &device);
    let mut rng = rng(13);
    let indices: Vec<usize> = (0..2 * PAIRS).map(|_| rng.random_range(0..NAS101.len())).collect();
    let cells: Vec<Dag> = indices.iter().map(|&index| NAS101.cell(index)).collect();
    let table = DagTable::new(&cells, encoder.layout());
    let mut vectors = Vec::with_capacity(cells.len());
    for first in (0..cells.len()).step_by(2_000) {
        let batch = table.batch(&(first..first + 2_000).collect::<Vec<_>>(), &device);
        let graph = values(encoder.encode(&batch).graph);
        vectors.extend(graph.chunks(encoder.d_graph()).map(<[f32]>::to_vec));
    }
    let mut closest = f32::INFINITY;
    for pair in 0..PAIRS {
        let (one, other) = (2 * pair, 2 * pair + 1);
        if indices[one] != indices[other] {
            closest = closest.min(distance(&vectors[one], &vectors[other]));
        }
    }
    assert!(closest > 1e-6, "two different cells are {closest} apart");
}
