//! A gated recurrent unit that walks along the edges of graphs, as one operation.
//!
//! In stock operations, every level of the walk is a handful of small ones, and its backward pass makes a gradient of all weights,
//! which costs more than the products themselves. Here a level is two rounds of work that threads share: its nodes hear
//! ([`loops::hear`]), then those that are heard tell. On the way back it is the other way round. The gradients
//! of the weights are one product each, over the tellers of all levels.

mod backward;
mod forward;
mod loops;

use std::sync::Arc;

use super::autodiff::{Op, Primitive, gradient, primitive, values};
use super::buffer::Buffer;
use crate::kernel::walk_lists::WalkLists;
use backward::Back;
use burn::backend::TensorMetadata;
use forward::Forward;

/// The inputs. Shapes: a [R, 3D] or a table of width 3D, hidden [D, 3D], bias `[3D]`, given [G, D].
#[derive(Clone, Copy, Debug)]
pub(crate) struct WalkView<T> {
    pub(crate) a: T,
    pub(crate) hidden: T,
    pub(crate) bias: T,
    /// `None` if nothing is given.
    pub(crate) given: Option<T>,
    /// `None` if nothing else is told.
    pub(crate) told: Option<ToldView<T>>,
}

/// How nodes tell. Shapes: weight [D, 2D] or [D, 1], addend a table as wide.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ToldView<T> {
    pub(crate) weight: T,
    pub(crate) addend: T,
}

impl<T> WalkView<T> {
    /// Applies `f` to every input.
    fn map<U>(self, mut f: impl FnMut(T) -> U) -> WalkView<U> {
        let WalkView { a, hidden, bias, given, told } = self;
        let (a, hidden, bias, given) = (f(a), f(hidden), f(bias), given.map(&mut f));
        let told = told.map(|told| ToldView { weight: f(told.weight), addend: f(told.addend) });
        WalkView { a, hidden, bias, given, told }
    }
}

/// [`walk`](crate::kernel::walk) as Burn sees it.
#[derive(Clone, Debug)]
pub(crate) struct WalkOp {
    pub(crate) lists: Arc<WalkLists>,
    /// The row of the table a that each row has; `None` if it is its own.
    pub(crate) rows: Option<Arc<[u32]>>,
    /// The row of the table of addends that each node that is heard has.
    pub(crate) told_rows: Arc<[u32]>,
    /// Whether messages are weighted by attention, else summed.
    pub(crate) attends: bool,
}

/// What forward keeps.
pub(crate) struct Kept {
    /// [s | r | z | c_n] of each row, [R, 4D].
    gates: Buffer,
    /// n of each row, [R, D].
    new: Buffer,
    /// m of each teller, [K, D].
    messages: Buffer,
    /// m W_h of each teller, [K, 3D].
    projected: Buffer,
    /// The weight of each edge, `[E]`; empty unless it attends.
    weights: Buffer,
    /// States, gates and maps of those that tell by gates: [K - G, D], [K - G, 2D]; else empty.
    states: Buffer,
    gated: Buffer,
}

impl Op for WalkOp {
    type Inputs<T> = WalkView<T>;
    type Kept = Kept;

    fn named<T>(&self, list: &mut impl Iterator<Item = T>) -> WalkView<T> {
        let mut next = || list.next().expect("an item for every field");
        let (a, hidden, bias) = (next(), next(), next());
        let given = (self.lists.n_given() > 0).then(&mut next);
        let told = list.next().zip(list.next()).map(|(weight, addend)| ToldView { weight, addend });
        WalkView { a, hidden, bias, given, told }
    }

    fn listed<T>(inputs: WalkView<T>) -> Vec<T> {
        let told = inputs.told.into_iter().flat_map(|told| [told.weight, told.addend]);
        [inputs.a, inputs.hidden, inputs.bias].into_iter().chain(inputs.given).chain(told).collect()
    }

    fn forward(&self, inputs: WalkView<&Primitive>, keep: bool) -> (Primitive, Kept) {
        let d = inputs.hidden.shape()[0];
        let (y, kept) = Forward { op: self, d, inputs: inputs.map(values), keep }.walk();
        (primitive(y, [self.lists.n_rows(), d]), kept)
    }

    fn backward(&self, inputs: WalkView<&Primitive>, kept: &Kept, dy: &[f32]) -> WalkView<Primitive> {
        let d = inputs.hidden.shape()[0];
        Back { op: self, d, inputs: inputs.map(values), kept }.walk(dy).map(gradient)
    }
}
