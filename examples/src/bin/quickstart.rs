//! From text to sequence to mask, on one cell: `cargo run --release -p pace-examples --bin quickstart`.
//!
//! Give it a DAG of your own as an argument: operations, a colon, edges, e.g. `"0 2 3 1 : 0>1 0>2 1>3 2>3"`.

use anyhow::{Context, Result};
use pace_graph::structure::{MaskRule, mask};
use pace_graph::{Dag, canonicalise, dag2seq, seq2dag};

fn main() -> Result<()> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "0 4 2 2 3 : 0>2 0>3 2>4 3>4 4>1 0>1".to_owned());
    let dag: Dag = text.parse().with_context(|| format!("'{text}' is not a DAG"))?;
    let found = canonicalise(&dag);
    println!("graph            {dag}");
    println!("canonical order  {:?}, found by {:?}", found.order, found.method);
    println!("automorphisms    {}", found.automorphisms.to_f64());

    let sequence = dag2seq(&dag);
    println!("\nsequence (position: operation <- predecessors)");
    for item in sequence.items() {
        println!("  {}: {} <- {:?}", item.index, item.op, item.predecessors);
    }

    let canonical = seq2dag(&sequence);
    println!("\nback again       {canonical}");
    println!("attention mask (row = query, # = may attend)\n{:?}", mask(&canonical, MaskRule::default()));
    Ok(())
}
