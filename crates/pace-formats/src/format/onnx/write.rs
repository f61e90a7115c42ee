//! Models without weights: a node per operation, a tensor per node.

use pace_graph::Named;

/// The bytes of a model.
pub(super) fn model(graph: &Named) -> Vec<u8> {
    let mut inputs = vec![Vec::new(); graph.ops.len()];
    graph.edges.iter().for_each(|&(from, to)| inputs[to].push(from));
    let mut body = Vec::new();
    for (node, (op, inputs)) in graph.ops.iter().zip(inputs).enumerate() {
        let mut bytes = Vec::new();
        inputs.iter().for_each(|from| text(&mut bytes, 1, &format!("t{from}")));
        text(&mut bytes, 2, &format!("t{node}"));
        text(&mut bytes, 4, op);
        field(&mut body, 1, &bytes);
    }
    text(&mut body, 2, graph.id.as_deref().unwrap_or_default());

    let mut model = Vec::new();
    // The version of the format, then that of the operators.
    model.extend([1 << 3, 8]);
    field(&mut model, 8, &[2 << 3, 17]);
    field(&mut model, 7, &body);
    let target = graph.target.map(|target| ("target", target.to_string()));
    for (key, value) in graph.id.clone().map(|id| ("id", id)).into_iter().chain(target) {
        let mut entry = Vec::new();
        text(&mut entry, 1, key);
        text(&mut entry, 2, &value);
        field(&mut model, 14, &entry);
    }
    model
}

fn text(bytes: &mut Vec<u8>, number: u8, text: &str) {
    field(bytes, number, text.as_bytes());
}

/// A field of some length. Numbers up to 15 take one byte.
fn field(bytes: &mut Vec<u8>, number: u8, content: &[u8]) {
    bytes.push(number << 3 | 2);
    let mut length = content.len() as u64;
    while length >= 0x80 {
        bytes.push(length as u8 | 0x80);
        length >>= 7;
    }
    bytes.push(length as u8);
    bytes.extend_from_slice(content);
}
