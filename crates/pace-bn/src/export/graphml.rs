//! GraphML.

use std::fmt::Write;

use crate::strength::Strengths;
use crate::structure::Structure;

/// A structure as GraphML, as networkx, igraph, Gephi and yEd read it: `name` of each node, `strength` of each arc if bootstrap
/// strengths are given.
///
/// # Panics
/// If there is not a name for each variable.
pub fn write_graphml(names: &[String], structure: &Structure, strengths: Option<&Strengths>) -> String {
    assert_eq!(names.len(), structure.n_variables(), "a name for each variable");
    let mut text = String::from(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n  \
         <key id=\"name\" for=\"node\" attr.name=\"name\" attr.type=\"string\"/>\n  \
         <key id=\"strength\" for=\"edge\" attr.name=\"strength\" attr.type=\"double\"/>\n  \
         <graph edgedefault=\"directed\">\n",
    );
    // Writing to a string cannot fail.
    for (number, name) in names.iter().enumerate() {
        let _ = writeln!(text, "    <node id=\"n{number}\"><data key=\"name\">{}</data></node>", escaped(name));
    }
    for (from, to) in structure.arcs() {
        let _ = write!(text, "    <edge source=\"n{from}\" target=\"n{to}\"");
        let _ = match strengths.map(|strengths| strengths.strength(from, to)) {
            Some(strength) => writeln!(text, "><data key=\"strength\">{strength}</data></edge>"),
            None => writeln!(text, "/>"),
        };
    }
    text.push_str("  </graph>\n</graphml>\n");
    text
}

/// Text as XML allows it; control characters, which it does not, become spaces.
fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            letter if letter.is_control() || letter == '\u{fffe}' || letter == '\u{ffff}' => safe.push(' '),
            letter => safe.push(letter),
        }
    }
    safe
}
