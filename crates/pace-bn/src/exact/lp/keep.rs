//! Makes a programme smaller.

use super::state::Simplex;

impl Simplex {
    /// Drops columns and cluster rows that are not kept, and goes on with what is left of the basis.
    ///
    /// Columns in the basis or at their upper bound are kept all the same; a row is kept unless its slack
    /// is in the basis. The result says which columns and which rows are left.
    pub(in crate::exact) fn keep(&mut self, columns: &[bool], clusters: &[bool]) -> [Vec<bool>; 2] {
        let n_columns = self.n_columns();
        let kept: Vec<bool> = (0..n_columns)
            .map(|column| columns[column] || self.place[column].is_some() || self.is_at_upper[column])
            .collect();
        let kept_rows: Vec<bool> =
            clusters.iter().enumerate().map(|(row, &keep)| keep || self.place[n_columns + row].is_none()).collect();
        let numbers = |kept: &[bool], start: usize| {
            let mut next = start;
            let number = |&keep: &bool| {
                next += usize::from(keep);
                keep.then_some(next - 1)
            };
            kept.iter().map(number).collect::<Vec<Option<usize>>>()
        };
        let new_columns = numbers(&kept, 0);
        let n_kept = kept.iter().filter(|keep| **keep).count();
        let new_rows = numbers(&kept_rows, 0);
        let all: Vec<Option<usize>> =
            new_columns.iter().copied().chain(new_rows.iter().map(|row| row.map(|row| row + n_kept))).collect();
        let is_kept = |column: usize| all[column].is_some();
        fn filtered<T: Copy>(values: &[T], is_kept: impl Fn(usize) -> bool) -> Vec<T> {
            values.iter().enumerate().filter(|(at, _)| is_kept(*at)).map(|(_, value)| *value).collect()
        }
        self.owner = filtered(&self.owner, is_kept);
        self.cost = filtered(&self.cost, is_kept);
        self.right = filtered(&self.right, |row| kept_rows[row]);
        self.upper = filtered(&self.upper, is_kept);
        self.is_at_upper = filtered(&self.is_at_upper, is_kept);
        self.is_active = filtered(&self.is_active, is_kept);
        self.reduced = filtered(&self.reduced, is_kept);
        let rows_of = std::mem::take(&mut self.rows_of).into_iter().enumerate().filter(|(column, _)| kept[*column]);
        self.rows_of = rows_of
            .map(|(_, rows)| rows.iter().filter_map(|&row| new_rows[row as usize].map(|row| row as u32)).collect())
            .collect();
        self.basis = self.basis.iter().filter_map(|&column| all[column]).collect();
        self.place = vec![None; self.upper.len()];
        self.basis.iter().enumerate().for_each(|(place, &column)| self.place[column] = Some(place));
        self.refactor();
        [kept, kept_rows]
    }
}
