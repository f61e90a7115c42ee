//! The seam to Burn: tensors go in and out of the flex backend, with or without an autodiff graph.
//!
//! Burn's `#[backend_extension]` macro wants a fixed list of tensors and panics on a backend it was not told of. A stack has
//! as many parameters as it has blocks, and every other device has its plain twin. So this module takes primitives out and puts
//! them back by hand, with the conversions that the same `extension` feature offers.

use burn::backend::autodiff::checkpoint::strategy::NoCheckpointing;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, NodeGuard, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{Autodiff, AutodiffBackend, Flex, GradientCheckpointingStrategy, TensorMetadata};
use burn::tensor::{DType, Tensor, TensorData};

use crate::device::is_flex;

/// The primitive of the flex backend.
pub(crate) type Primitive = FloatTensor<Flex>;

/// Whether the fused path serves this tensor: f32 on flex, without gradient checkpointing.
pub(crate) fn serves<const D: usize>(tensor: &Tensor<D>) -> bool {
    let device = tensor.device();
    tensor.dtype() == DType::F32
        && is_flex(&device)
        && device.gradient_checkpointing_strategy() != Some(GradientCheckpointingStrategy::Balanced)
}

/// An input of an operation: its values, and its node in the autodiff graph if it has one.
pub(crate) struct Input {
    pub(crate) values: Primitive,
    node: Option<NodeGuard>,
}

impl Input {
    /// # Panics
    ///
    /// If the tensor is on another device than the one [`serves`] was asked about.
    pub(crate) fn new<const D: usize>(tensor: Tensor<D>) -> Self {
        let shape = tensor.shape();
        let (values, node) = if tensor.is_autodiff() {
            let tensor = tensor.try_into_primitive::<Autodiff<Flex>>();
            let (values, node) = tensor.unwrap_or_else(|error| panic!("input {shape:?}: {error:?}")).into_parts();
            (values, Some(node))
        } else {
            let values = tensor.try_into_primitive::<Flex>();
            (values.unwrap_or_else(|error| panic!("input {shape:?}: {error:?}")), None)
        };
        assert_eq!(values.dtype(), DType::F32, "the fused kernels compute in f32, one input {shape:?} is not");
        let values = if values.is_contiguous() { values } else { values.to_contiguous() };
        Self { values, node }
    }

    /// The values alone: for constants.
    pub(crate) fn constant<const D: usize>(tensor: Tensor<D>) -> Primitive {
        Self::new(tensor).values
    }
}

/// The values of a contiguous tensor.
pub(crate) fn values(tensor: &Primitive) -> &[f32] {
    tensor.as_slice().expect("inputs are made contiguous f32 on the way in")
}

/// A tensor of the flex backend from values.
pub(crate) fn primitive(values: Vec<f32>, shape: impl Into<burn::tensor::Shape>) -> Primitive {
    Primitive::from_data(TensorData::new(values, shape))
}

/// The gradient of an input. It gets the input's shape from [`run`].
pub(crate) fn gradient(values: Vec<f32>) -> Primitive {
    let len = values.len();
    primitive(values, [len])
}

/// An operation with a hand-written gradient.
pub(crate) trait Op: Clone + Send + Sync + std::fmt::Debug + 'static {
    /// The inputs by name.
    type Inputs<T>;

    /// What forward keeps for backward.
    type Kept: Send + Sync + 'static;

    /// Names the items of a list of inputs.
    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> Self::Inputs<T>;

    /// The list of which [`Op::named`] makes these inputs.
    fn listed<T>(inputs: Self::Inputs<T>) -> Vec<T>;

    /// The output, and what backward needs if `keep`.
    fn forward(&self, inputs: Self::Inputs<&Primitive>, keep: bool) -> (Primitive, Self::Kept);

    /// The [`gradient`] of every input, given that of the output.
    fn backward(&self, inputs: Self::Inputs<&Primitive>, kept: &Self::Kept, dy: &[f32]) -> Self::Inputs<Primitive>;
}

/// Runs an operation on its N inputs, and records it if one of them asks for a gradient.
pub(crate) fn run<const N: usize, O: Op>(op: O, inputs: O::Inputs<Input>) -> Tensor<2> {
    let inputs = O::listed(inputs);
    let forward = |values: &[Primitive], keep: bool| op.forward(op.named(&mut values.iter()), keep);
    if inputs.iter().all(|input| input.node.is_none()) {
        let values: Vec<_> = inputs.into_iter().map(|input| input.values).collect();
        return Tensor::from_primitive::<Flex>(forward(&values, false).0);
    }
    let (nodes, values): (Vec<_>, Vec<_>) =
        inputs.into_iter().map(|input| (guard(&input.values, input.node), input.values)).unzip();
    let nodes: [NodeGuard; N] =
        nodes.try_into().unwrap_or_else(|nodes: Vec<_>| unreachable!("{} inputs to an operation of {N}", nodes.len()));
    let step = Step(std::marker::PhantomData);
    let y = match Backward::<Flex, N>::prepare::<NoCheckpointing>(step, nodes).compute_bound().stateful() {
        OpsKind::Tracked(prep) => {
            let (y, kept) = forward(&values, true);
            let state = State(std::sync::Arc::new((op, values, kept)));
            prep.finish(state, y)
        }
        OpsKind::UnTracked(prep) => prep.finish(forward(&values, false).0),
    };
    Tensor::from_primitive::<Autodiff<Flex>>(y)
}

/// The node of an input, a new one outside any graph if it has none.
fn guard(values: &Primitive, node: Option<NodeGuard>) -> NodeGuard {
    node.unwrap_or_else(|| <Autodiff<Flex> as AutodiffBackend>::from_inner(values.clone()).into_parts().1)
}

/// The backward step of an [`Op`].
struct Step<O>(std::marker::PhantomData<fn() -> O>);

impl<O> std::fmt::Debug for Step<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(std::any::type_name::<O>())
    }
}

/// The operation, its inputs and what forward kept.
struct State<O: Op>(std::sync::Arc<(O, Vec<Primitive>, O::Kept)>);

impl<O: Op> Clone for State<O> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<O: Op> std::fmt::Debug for State<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.0.fmt(f)
    }
}

impl<O: Op, const N: usize> Backward<Flex, N> for Step<O> {
    type State = State<O>;

    fn backward(
        self,
        ops: Ops<Self::State, N>,
        grads: &mut Gradients,
        _checkpointer: &mut burn::backend::autodiff::checkpoint::base::Checkpointer,
    ) {
        let dy = grads.consume::<Flex>(&ops.node);
        let dy = if dy.is_contiguous() { dy } else { dy.to_contiguous() };
        let (op, inputs, kept) = &*ops.state.0;
        let input_grads = O::listed(op.backward(op.named(&mut inputs.iter()), kept, values(&dy)));
        for ((parent, input), grad) in ops.parents.into_iter().zip(inputs).zip(input_grads) {
            if let Some(parent) = parent {
                let shaped = grad.reshape(input.shape());
                // Whoever adds to a gradient does it in place if nobody else holds it.
                drop(grad);
                grads.register::<Flex>(parent.id, shaped);
            }
        }
    }
}
