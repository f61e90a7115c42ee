//! GraphViz.

use std::fmt::Write;

use crate::strength::Strengths;
use crate::structure::Structure;

/// A structure as GraphViz, with its arcs as thick as they are sure if bootstrap strengths are given.
///
/// # Panics
/// If there is not a name for each variable.
pub fn write_dot(names: &[String], structure: &Structure, strengths: Option<&Strengths>) -> String {
    assert_eq!(names.len(), structure.n_variables(), "a name for each variable");
    let mut text = String::from("digraph network {\n");
    // Writing to a string cannot fail.
    for name in names {
        let _ = writeln!(text, "  {};", quoted(name));
    }
    for (from, to) in structure.arcs() {
        let _ = write!(text, "  {} -> {}", quoted(&names[usize::from(from)]), quoted(&names[usize::from(to)]));
        if let Some(strengths) = strengths {
            let strength = strengths.strength(from, to);
            let _ = write!(text, " [label=\"{strength:.2}\", penwidth={:.2}]", 0.3 + 2.7 * strength);
        }
        text.push_str(";\n");
    }
    text.push_str("}\n");
    text
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
