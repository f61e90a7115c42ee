//! [`Sketch`]: the geometry of a drawing, before it is markup.

use pace_graph::{Dag, DagSpec, Op};

use super::path::{head, line};
use crate::layout::{Layout, Point, Spacing};
use crate::text::{ems, shorten};
use crate::theme::hue;

/// Height of a node.
pub(crate) const NODE_HEIGHT: f64 = 20.0;
/// Font size of a node's label, as in the style sheet.
const FONT_SIZE: f64 = 11.0;
/// Longer names are shortened.
const MAX_CHARS: usize = 17;

/// How the nodes of one operation look.
pub(crate) struct OpStyle {
    /// Its whole name.
    pub name: String,
    /// The name as far as it fits.
    pub label: String,
    /// The classes of its colour.
    pub class: String,
    /// Width of its nodes.
    pub width: f64,
}

impl OpStyle {
    /// The look of operation `op`. Roles are grey, the others take the hues in the order of the dictionary.
    pub fn of(op: Op, spec: &DagSpec) -> OpStyle {
        let roles = [spec.input, spec.output, spec.start];
        let class = if [spec.added_input(), spec.added_output()].contains(&Some(op)) {
            "end added".to_owned()
        } else if roles.contains(&Some(op)) {
            "end".to_owned()
        } else {
            let n_roles = roles.iter().flatten().filter(|&&role| role < op).count();
            hue(usize::from(op).saturating_sub(n_roles))
        };
        let name = spec.op_name(op);
        let label = shorten(&name, MAX_CHARS).into_owned();
        let width = (ems(&label) * FONT_SIZE + 10.0).max(26.0).round();
        OpStyle { name, label, class, width }
    }
}

/// Where boxes, lines and arrow heads of a graph go.
pub(crate) struct Sketch {
    /// The centre of each node.
    pub nodes: Vec<Point>,
    /// A path per edge, to be stroked.
    pub lines: Vec<String>,
    /// A path per edge, to be filled.
    pub heads: Vec<String>,
    /// Width of the drawing.
    pub width: f64,
    /// Height of the drawing.
    pub height: f64,
}

impl Sketch {
    /// Lays out a graph.
    pub fn of(dag: &Dag, spec: &DagSpec) -> Sketch {
        let spacing = Spacing { node_height: NODE_HEIGHT, ..Spacing::default() };
        let mut layout = Layout::of(dag, |node| OpStyle::of(dag.op(node), spec).width, &spacing);
        // Whole pixels are sharp, and short in a file.
        let points = layout.nodes.iter_mut().chain(layout.edges.iter_mut().flatten());
        points.for_each(|point| *point = Point { x: point.x.round(), y: point.y.round() });
        Sketch {
            lines: layout.edges.iter().map(|points| line(points, NODE_HEIGHT)).collect(),
            heads: layout.edges.iter().map(|points| head(points)).collect(),
            nodes: layout.nodes,
            width: layout.width.ceil(),
            height: layout.height.ceil(),
        }
    }
}
