//! The calls into nauty and Traces: the only unsafe code of this crate.
//!
//! Both libraries keep their work arrays in thread-local storage (feature `tls` of the bindings, on by default), so calls
//! from rayon threads are safe. Each thread that exits leaks its arrays: call from long-lived pools.
#![allow(unsafe_code)]

use std::ffi::c_int;
use std::ptr;

use nauty_Traces_sys as sys;

use super::GroupSize;
use super::refine::Cells;
use super::small::{MAX_NODES, bits};
use crate::csr::Csr;

/// Canonically orders the nodes inside the given cells by dense nauty; `row` is the undirected adjacency.
pub(super) fn dense(cells: &mut Cells<'_>, row: impl Fn(usize) -> u64) -> GroupSize {
    let n = cells.order.len();
    assert!(n <= MAX_NODES && sys::WORDSIZE as usize == MAX_NODES, "one machine word per row");
    let mut graph = [0 as sys::graph; MAX_NODES];
    let mut canonical = [0 as sys::graph; MAX_NODES];
    for (node, word) in graph.iter_mut().enumerate().take(n) {
        *word = bits(row(node)).fold(0, |word, other| word | sys::bit[other]);
    }
    let (mut lab, mut ptn, mut orbits) = ([0 as c_int; MAX_NODES], [0 as c_int; MAX_NODES], [0 as c_int; MAX_NODES]);
    write_partition(cells, &mut lab, &mut ptn);
    let mut options = sys::optionblk { getcanon: sys::TRUE, defaultptn: sys::FALSE, ..sys::optionblk::default() };
    let mut stats = sys::statsblk::default();
    // SAFETY: all arrays hold MAX_NODES >= n elements, m = 1 word holds n <= WORDSIZE vertices, lab is a permutation of
    // 0..n (write_partition copies cells.order), ptn ends in 0, and all pointers outlive the call, which keeps none.
    unsafe {
        sys::densenauty(
            graph.as_mut_ptr(),
            lab.as_mut_ptr(),
            ptn.as_mut_ptr(),
            orbits.as_mut_ptr(),
            &mut options,
            &mut stats,
            1,
            n as c_int,
            canonical.as_mut_ptr(),
        );
    }
    assert_eq!(stats.errstatus, 0, "nauty refused a graph of {n} nodes");
    read_labels(cells, &lab);
    GroupSize { mantissa: stats.grpsize1, exponent: stats.grpsize2 }
}

/// Canonically orders the nodes inside the given cells by Traces; `graph` has each edge in both rows.
pub(super) fn traces(cells: &mut Cells<'_>, graph: Csr<i32>) -> GroupSize {
    let n = cells.order.len();
    let count = c_int::try_from(n).expect("Traces numbers nodes by C ints");
    let (mut lab, mut ptn, mut orbits) = (vec![0; n], vec![0; n], vec![0; n]);
    write_partition(cells, &mut lab, &mut ptn);
    let mut degrees: Vec<c_int> = graph.rows().map(|row| row.len() as c_int).collect();
    let (offsets, mut targets) = graph.into_parts();
    let mut starts: Vec<usize> = offsets.into_iter().map(|offset| offset as usize).collect();
    let mut sparse = sys::sparsegraph {
        nde: targets.len(),
        v: starts.as_mut_ptr(),
        nv: count,
        d: degrees.as_mut_ptr(),
        e: targets.as_mut_ptr(),
        w: ptr::null_mut(),
        vlen: n,
        dlen: n,
        elen: targets.len(),
        wlen: 0,
    };
    let mut options =
        sys::TracesOptions { getcanon: sys::TRUE, defaultptn: sys::FALSE, ..sys::TracesOptions::default() };
    let mut stats = sys::TracesStats::default();
    // SAFETY: v, d and e describe n rows inside `targets` (each edge in both rows), lab is a permutation of 0..n, ptn ends
    // in 0, the unwanted canonical graph is null, which Traces allows, and all buffers outlive the call, which keeps none.
    unsafe {
        sys::Traces(
            &mut sparse,
            lab.as_mut_ptr(),
            ptn.as_mut_ptr(),
            orbits.as_mut_ptr(),
            &mut options,
            &mut stats,
            ptr::null_mut(),
        );
    }
    assert_eq!(stats.errstatus, 0, "Traces refused a graph of {n} nodes");
    read_labels(cells, &lab);
    GroupSize { mantissa: stats.grpsize1, exponent: stats.grpsize2 }
}

/// nauty's form of an ordered partition: the nodes cell by cell, and a 0 at the end of every cell.
fn write_partition(cells: &Cells<'_>, lab: &mut [c_int], ptn: &mut [c_int]) {
    let mut start = 0;
    while start < cells.order.len() {
        let end = cells.cell_end(start);
        for position in start..end {
            lab[position] = cells.order[position] as c_int;
            ptn[position] = c_int::from(position + 1 < end);
        }
        start = end;
    }
}

/// Takes the labelling over. The topological order depends on the order of the cells; the stable sort keeps it even if the
/// library did not.
fn read_labels(cells: &mut Cells<'_>, lab: &[c_int]) {
    for (node, &label) in cells.order.iter_mut().zip(lab) {
        *node = label as u32;
    }
    let colour = &cells.colour;
    cells.order.sort_by_key(|&node| colour[node as usize]);
}
