//! What attention reads: rows of a matrix by index, each with its weights.

/// Says which row to read, and with which weights.
pub(crate) trait Place: Copy {
    /// The index of the row.
    fn row(self) -> usize;

    /// The index of the weights of term number `index`.
    fn weight(self, index: usize) -> usize;
}

impl Place for u32 {
    #[inline(always)]
    fn row(self) -> usize {
        self as usize
    }

    #[inline(always)]
    fn weight(self, index: usize) -> usize {
        index
    }
}

/// Some rows of a matrix, in the order of `places`.
#[derive(Clone, Copy)]
pub(crate) struct Gather<'a, P> {
    pub(crate) places: &'a [P],
    /// Its first row is row `origin`; `stride` is the distance between two rows.
    pub(crate) data: &'a [f32],
    pub(crate) stride: usize,
    pub(crate) origin: usize,
}

impl<'a, P: Place> Gather<'a, P> {
    /// The row at `places[index]`, `[D]`.
    #[inline(always)]
    pub(crate) fn row(&self, index: usize, d: usize) -> &'a [f32] {
        &self.data[(self.places[index].row() - self.origin) * self.stride..][..d]
    }
}

/// Rows with weights [.., H]; the first weights have index `first`.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'a, P> {
    pub(crate) rows: Gather<'a, P>,
    pub(crate) weights: &'a [f32],
    pub(crate) first: usize,
}

impl<'a, P: Place> Terms<'a, P> {
    /// The weights of term number `index`, `[H]`.
    #[inline(always)]
    pub(crate) fn weights(&self, index: usize, n_heads: usize) -> &'a [f32] {
        let number = self.rows.places[index].weight(index) - self.first;
        &self.weights[number * n_heads..][..n_heads]
    }

    /// [`Terms::weights`] for a constant number of heads.
    #[inline(always)]
    pub(crate) fn weight<const H: usize>(&self, index: usize) -> &'a [f32; H] {
        self.weights(index, H).first_chunk().expect("a weight per head")
    }
}
