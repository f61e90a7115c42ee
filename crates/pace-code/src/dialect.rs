//! [`Dialect`]: which CPython names the nodes.

use serde::{Deserialize, Serialize};

/// The CPython whose `ast` module the trees imitate.
///
/// Both accept every syntax that the parser knows, up to Python 3.14: what a version lacks keeps the node types of the
/// version that brought it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Dialect {
    /// Python 3.9 to 3.11: every literal is a `Constant`; strings, numbers, `True`, `False` and `...` are attributed.
    #[default]
    Python311,
    /// Python 3.7, as OGBG-CODE2 has it: literals are `Str`, `Num`, `Bytes`, `NameConstant` and `Ellipsis`, and what stands
    /// in a subscript is a `Slice`, an `ExtSlice` or an `Index`. `True`, `False` and `...` are not attributed.
    Python37,
}
