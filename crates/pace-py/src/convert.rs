//! From networkx, dictionary by dictionary: the public views of networkx cost several times what they show.

use pace_formats::OP_ATTRIBUTES;
use pace_kit::GraphTable;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};

/// Reads networkx graphs.
pub fn from_networkx(graphs: &Bound<'_, PyAny>, op: Option<&str>, target: &str, id: &str) -> PyResult<GraphTable> {
    let mut table = GraphTable::default();
    for (row, graph) in graphs.try_iter()?.enumerate() {
        one(&graph?, (op, target, id), &mut table).map_err(|error| {
            let py = graphs.py();
            let named = PyValueError::new_err(format!("graph {}: {}", row + 1, error.value(py)));
            named.set_cause(py, Some(error));
            named
        })?;
    }
    Ok(table)
}

fn one(graph: &Bound<'_, PyAny>, (op, target, id): (Option<&str>, &str, &str), table: &mut GraphTable) -> PyResult<()> {
    let py = graph.py();
    let is_directed = graph
        .call_method0(intern!(py, "is_directed"))
        .map_err(|_| PyTypeError::new_err(format!("expected a networkx DiGraph, found {}", type_name(graph))))?;
    if !is_directed.is_truthy()? {
        return Err(PyValueError::new_err("the graph has no directions; use networkx.DiGraph"));
    }
    let nodes = graph.getattr(intern!(py, "_node"))?.cast_into::<PyDict>()?;
    let adjacent = graph.getattr(intern!(py, "_adj"))?.cast_into::<PyDict>()?;
    let attributes = attribute_lists(&nodes)?;
    let chosen = match op {
        Some(op) => Some(op),
        None => OP_ATTRIBUTES.into_iter().find(|key| attributes.iter().all(|of| of.contains(key).unwrap_or(false))),
    };
    let mut are_numbers = true;
    for (place, (node, attributes)) in nodes.keys().iter().zip(&attributes).enumerate() {
        let value = match chosen {
            None => node.clone(),
            Some(key) => attributes
                .get_item(key)?
                .ok_or_else(|| PyValueError::new_err(format!("node {node} has no attribute '{key}'")))?,
        };
        let number = match value.cast::<PyString>() {
            Ok(text) => table.number(text.to_str()?),
            Err(_) => table.number(value.str()?.to_str()?),
        };
        table.push_op(number);
        are_numbers = are_numbers && node.extract::<usize>().is_ok_and(|number| number == place);
    }
    let places = PyDict::new(py);
    if !are_numbers {
        for (place, node) in nodes.keys().iter().enumerate() {
            places.set_item(node, place)?;
        }
    }
    let place = |node: &Bound<'_, PyAny>| -> PyResult<u32> {
        if are_numbers {
            return node.extract();
        }
        places.get_item(node)?.ok_or_else(|| PyValueError::new_err("an edge names an unknown node"))?.extract()
    };
    let mut edges = Vec::new();
    for (from, to) in adjacent.iter() {
        let from = place(&from)?;
        for to in to.cast_into::<PyDict>()?.keys() {
            edges.push((from, place(&to)?));
        }
    }
    let graph_attributes = graph.getattr(intern!(py, "graph"))?.cast_into::<PyDict>()?;
    let target = match graph_attributes.get_item(target)? {
        Some(value) if !value.is_none() => Some(value.extract::<f64>()?).filter(|value| !value.is_nan()),
        _ => None,
    };
    let id = match graph_attributes.get_item(id)? {
        Some(value) if !value.is_none() && !value.str()?.to_str()?.is_empty() => Some(value.str()?.to_string()),
        _ => None,
    };
    edges.into_iter().for_each(|(from, to)| table.push_edge(from, to));
    table.end(target, id);
    Ok(())
}

fn attribute_lists<'py>(nodes: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyDict>>> {
    nodes.values().iter().map(|attributes| Ok(attributes.cast_into::<PyDict>()?)).collect()
}

fn type_name(object: &Bound<'_, PyAny>) -> String {
    object.get_type().name().map_or_else(|_| "something else".to_owned(), |name| name.to_string())
}
