//! Splits against vectors computed with CPython 3.11.

use pace_graph::{python_shuffle, split_in_order, split_reference};

#[test]
fn na_split_is_that_of_cpython() {
    let split = split_reference(19_020, 0.9);
    assert_eq!((split.train.len(), split.test.len()), (17_118, 1_902));
    assert_eq!(split.train[..10], [5410, 2213, 4853, 10021, 10604, 1753, 10522, 9326, 5529, 5008]);
    assert_eq!(split.test[..5], [16798, 913, 7835, 761, 2743]);
}

#[test]
fn bn_split_is_that_of_cpython() {
    let split = split_reference(200_000, 0.9);
    assert_eq!((split.train.len(), split.test.len()), (180_000, 20_000));
    assert_eq!(split.train[..10], [171354, 109116, 116690, 196550, 90430, 84697, 18663, 141327, 168630, 71954]);
    assert_eq!(split.test[..5], [81584, 120664, 180678, 137489, 32332]);
}

#[test]
fn nas101_split_keeps_the_order() {
    let split = split_in_order(423_624, 0.95);
    assert_eq!((split.train.len(), split.test.len()), (402_442, 21_182));
    assert_eq!((split.train[0], split.test[0]), (0, 402_442));
}

#[test]
fn every_row_is_in_exactly_one_part() {
    for n in [0, 1, 2, 3, 10, 257] {
        let split = split_reference(n, 0.9);
        let mut rows: Vec<usize> = split.train.into_iter().chain(split.test).collect();
        rows.sort_unstable();
        assert_eq!(rows, (0..n).collect::<Vec<_>>());
    }
    // random.Random(7).shuffle(list(range(10)))
    assert_eq!(python_shuffle(10, 7), PYTHON_SEED_7);
}

const PYTHON_SEED_7: [usize; 10] = [8, 3, 1, 4, 7, 0, 9, 6, 2, 5];
