//! From names of tensors to edges.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::message::{Model, Operator};
use crate::collector::{Described, Node};
use crate::error::{Error, shortened};
use crate::options::ReadOptions;

/// The attribute that has the domain before the type.
const WITH_DOMAIN: &str = "domain_op_type";

/// The graph of a model. A tensor that is read and that nobody makes is an error.
pub(super) fn described(model: Model, options: &ReadOptions) -> Result<Described, Error> {
    let mut graph = Described { name: model.name, ..Described::default() };
    graph.fields = model.metadata.into_iter().map(|(key, value)| (key, Some(value))).collect();
    // The node that makes each tensor; `None` if that is left out.
    let mut makers: HashMap<String, Option<usize>> = HashMap::new();
    let initialisers: HashSet<String> = model.initialisers.iter().cloned().collect();
    let inputs = model.inputs.into_iter().filter(|input| !initialisers.contains(input));
    let given = inputs.map(|name| (name, "Input", options.keep_ends));
    let given = given.chain(model.initialisers.into_iter().map(|name| (name, "Initializer", options.keep_constants)));
    for (name, op, is_kept) in given {
        let maker = is_kept.then(|| push(&mut graph, &end(&name, op), options));
        if makers.insert(name.clone(), maker).is_some() {
            return Err(made_twice(&name));
        }
    }
    let mut places = Vec::with_capacity(model.nodes.len());
    let mut constants = initialisers;
    for operator in &model.nodes {
        let is_constant = is_constant(operator, &constants);
        if is_constant {
            constants.extend(operator.outputs.iter().cloned());
        }
        let is_kept = options.keep_constants || !is_constant;
        let place = is_kept.then(|| push(&mut graph, operator, options));
        for output in operator.outputs.iter().filter(|output| !output.is_empty()) {
            if makers.insert(output.clone(), place).is_some() {
                return Err(made_twice(output));
            }
        }
        places.push(place);
    }
    for (operator, place) in model.nodes.iter().zip(places) {
        let Some(place) = place else { continue };
        let mut seen = BTreeSet::new();
        // An input without a name is one that has been left out.
        for input in operator.inputs.iter().filter(|input| !input.is_empty()) {
            let maker = makers.get(input).ok_or_else(|| unmade(input, &graph.nodes[place].name))?;
            graph.edges.extend(maker.filter(|&maker| seen.insert(maker)).map(|maker| (maker, place)));
        }
    }
    if options.keep_ends {
        for output in model.outputs {
            let maker = *makers.get(&output).ok_or_else(|| unmade(&output, "the output of the graph"))?;
            let place = push(&mut graph, &end(&output, "Output"), options);
            graph.edges.extend(maker.map(|maker| (maker, place)));
        }
    }
    Ok(graph)
}

/// Whether a node makes the same tensors whatever goes into the model: a constant, or something computed from constants alone, such as
/// the reshaped weights that some exporters write. Nodes are in topological order, as ONNX asks.
fn is_constant(operator: &Operator, constants: &HashSet<String>) -> bool {
    let is_standard = ["", "ai.onnx"].contains(&operator.domain.as_str());
    if is_standard && operator.op_type == "Constant" {
        return true;
    }
    let is_random = operator.op_type.starts_with("Random");
    let mut inputs = operator.inputs.iter().filter(|input| !input.is_empty()).peekable();
    is_standard && !is_random && inputs.peek().is_some() && inputs.all(|input| constants.contains(input))
}

fn push(graph: &mut Described, operator: &Operator, options: &ReadOptions) -> usize {
    let Operator { name, op_type, domain, .. } = operator;
    let with_domain = if domain.is_empty() { op_type.clone() } else { format!("{domain}::{op_type}") };
    let mut fields = vec![("op_type".to_owned(), Some(op_type.clone()))];
    let more = [("name", name), ("domain", domain)].into_iter().filter(|(_, value)| !value.is_empty());
    fields.extend(more.map(|(key, value)| (key.to_owned(), Some(value.clone()))));
    if options.op.as_deref() == Some(WITH_DOMAIN) {
        fields.push((WITH_DOMAIN.to_owned(), Some(with_domain)));
    }
    // Names are optional; the tensor that a node makes has one.
    let named = [Some(name), operator.outputs.first()].into_iter().flatten().find(|name| !name.is_empty());
    let name = named.unwrap_or(op_type).clone();
    graph.nodes.push(Node { name, fields, ..Node::default() });
    graph.nodes.len() - 1
}

/// An end or an initialiser as a node.
fn end(name: &str, op_type: &str) -> Operator {
    Operator { name: name.to_owned(), op_type: op_type.to_owned(), ..Operator::default() }
}

fn unmade(tensor: &str, reader: &str) -> Error {
    Error::DanglingEdge { from: shortened(tensor), to: shortened(reader), missing: shortened(tensor) }
}

fn made_twice(tensor: &str) -> Error {
    Error::expected("every tensor to be made once", format!("'{}' twice", shortened(tensor)))
}
