//! Writes BIF.

use std::fmt::Write;

use crate::network::model::Network;

/// A network as BIF text; [`parse_bif`](crate::parse_bif) gives the same network back, to the last bit.
pub fn write_bif(network: &Network) -> String {
    let mut text =
        format!("network {} {{\n}}\n", word(if network.name().is_empty() { "unknown" } else { network.name() }));
    for (variable, name) in network.names().iter().enumerate() {
        let levels: Vec<String> = network.levels(variable).iter().map(|level| word(level)).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "variable {} {{\n  type discrete [ {} ] {{ {} }};\n}}",
            word(name),
            levels.len(),
            levels.join(", ")
        );
    }
    for (variable, name) in network.names().iter().enumerate() {
        block(network, variable, name, &mut text);
    }
    text
}

fn block(network: &Network, variable: usize, name: &str, text: &mut String) {
    let parents: Vec<usize> =
        network.structure().parents(variable as u16).iter().map(|&parent| parent.into()).collect();
    let names: Vec<String> = parents.iter().map(|&parent| word(&network.names()[parent])).collect();
    let bar = if names.is_empty() { String::new() } else { format!(" | {}", names.join(", ")) };
    let _ = writeln!(text, "probability ( {}{bar} ) {{", word(name));
    for (index, row) in network.cpt(variable).rows().enumerate() {
        let numbers: Vec<String> = row.iter().map(f64::to_string).collect();
        if parents.is_empty() {
            let _ = writeln!(text, "  table {};", numbers.join(", "));
            continue;
        }
        let mut left = index;
        let mut levels: Vec<String> = Vec::with_capacity(parents.len());
        for &parent in parents.iter().rev() {
            let known = network.levels(parent);
            levels.push(word(&known[left % known.len()]));
            left /= known.len();
        }
        levels.reverse();
        let _ = writeln!(text, "  ({}) {};", levels.join(", "), numbers.join(", "));
    }
    text.push_str("}\n");
}

/// A name as BIF has it, in quotes only if it needs them.
fn word(text: &str) -> String {
    let is_special = |letter: char| letter.is_whitespace() || "{}()[]|;,\"\\".contains(letter);
    let is_plain = !text.is_empty() && !text.contains(is_special) && !text.starts_with('/');
    if is_plain { text.to_owned() } else { format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")) }
}
