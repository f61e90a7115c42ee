//! [`Packed`]: queries, keys and values side by side.

/// Packed projections: qkv [B*N, 3D] in `q`, or q [B*N, D] and kv [B*M, 2D].
#[derive(Clone, Copy)]
pub(crate) struct Packed<T> {
    pub(crate) q: T,
    pub(crate) kv: Option<T>,
}

impl<T> Packed<T> {
    /// Takes one or two items of a list.
    pub(crate) fn take(list: &mut impl Iterator<Item = T>) -> Self {
        Self { q: list.next().expect("one projection at least"), kv: list.next() }
    }

    /// The list that [`Packed::take`] takes.
    pub(crate) fn list(self) -> Vec<T> {
        [self.q].into_iter().chain(self.kv).collect()
    }

    /// Applies `f` to every projection.
    pub(crate) fn map<U>(self, mut f: impl FnMut(T) -> U) -> Packed<U> {
        Packed { q: f(self.q), kv: self.kv.map(f) }
    }
}
