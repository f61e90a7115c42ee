//! DAGs as SVG.

mod path;
mod sketch;

use std::fmt::Write;

use pace_graph::{Dag, DagSpec};

use crate::text::{Px, escape};
pub(crate) use sketch::{NODE_HEIGHT, OpStyle, Sketch};

/// How to draw a graph.
#[derive(Clone, Debug, PartialEq)]
pub struct DrawOptions {
    /// What is shown, for those who do not see it.
    pub caption: String,
    /// Nodes that stand out.
    pub highlight: Vec<usize>,
    /// How strong each edge is, from 0 to 1, in the order of [`Dag::edges`]; an edge without a weight is drawn in full.
    pub weights: Vec<f64>,
    /// Size of the drawing; 1 gives letters of 11 pixels.
    pub scale: f64,
    /// Larger graphs are not drawn; their size is said instead.
    pub max_nodes: usize,
}

impl Default for DrawOptions {
    fn default() -> DrawOptions {
        DrawOptions { caption: String::new(), highlight: Vec::new(), weights: Vec::new(), scale: 1.0, max_nodes: 3_000 }
    }
}

/// The scale of drawings that stand beside one another: letters of 9 to 10 pixels.
pub(crate) const BESIDE: f64 = 0.86;

/// Free space around a drawing.
const MARGIN: f64 = 4.0;

/// A graph as SVG: boxes with the names of operations, edges that go down.
///
/// Each operation has its own colour, the same in all drawings of a spec. Inputs, outputs and start symbols are grey, and paler still if
/// they are no part of the data. Isomorphic graphs look the same. Colours come from the page, or from
/// [`standalone`](crate::standalone) in a file.
///
/// ```
/// use pace_graph::DagSpec;
/// use pace_report::{DrawOptions, draw};
/// let spec = DagSpec::nas101();
/// let cell = spec.parse("input conv3x3-bn-relu output : 0>1 1>2 0>2")?;
/// let svg = draw(&cell, &spec, &DrawOptions::default());
/// assert!(svg.starts_with("<svg") && svg.contains("conv3x3-bn-relu"));
/// # Ok::<(), pace_graph::Error>(())
/// ```
pub fn draw(dag: &Dag, spec: &DagSpec, options: &DrawOptions) -> String {
    if dag.n_nodes() > options.max_nodes {
        let text = format!("{} nodes and {} edges: too many to draw", dag.n_nodes(), dag.n_edges());
        return format!("{}<text x=\"130\" y=\"24\">{text}</text></svg>", open(260.0, 40.0, options));
    }
    let sketch = Sketch::of(dag, spec);
    let mut svg = open(sketch.width + 2.0 * MARGIN, sketch.height + 2.0 * MARGIN, options);
    let _ = write!(svg, "<g transform=\"translate({MARGIN} {MARGIN})\">");
    edges(&mut svg, &sketch, &options.weights);
    for (node, (place, op)) in sketch.nodes.iter().zip(dag.ops()).enumerate() {
        let style = OpStyle::of(op, spec);
        let hot = if options.highlight.contains(&node) { " hot" } else { "" };
        let (class, width) = (&style.class, style.width);
        let _ = write!(svg, "<g class=\"{class}{hot}\" transform=\"translate({} {})\">", Px(place.x), Px(place.y));
        if style.label != style.name {
            let _ = write!(svg, "<title>{}</title>", escape(&style.name));
        }
        let (x, y) = (Px(-width / 2.0), Px(-NODE_HEIGHT / 2.0));
        let _ = write!(svg, "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{NODE_HEIGHT}\" rx=\"5\"/>", Px(width));
        let _ = write!(svg, "<text dy=\".35em\">{}</text></g>", escape(&style.label));
    }
    svg.push_str("</g></svg>");
    svg
}

/// The opening tag of a drawing.
fn open(width: f64, height: f64, options: &DrawOptions) -> String {
    let scale = if options.scale.is_finite() { options.scale.clamp(0.05, 20.0) } else { 1.0 };
    let label = match options.caption.as_str() {
        "" => "a directed acyclic graph".into(),
        caption => escape(caption),
    };
    format!(
        "<svg class=\"dag\" role=\"img\" aria-label=\"{label}\" viewBox=\"0 0 {} {}\" width=\"{}\" height=\"{}\">",
        Px(width),
        Px(height),
        Px(width * scale),
        Px(height * scale)
    )
}

/// All edges: in two paths if they are equally strong, else in two paths each.
fn edges(svg: &mut String, sketch: &Sketch, weights: &[f64]) {
    if weights.is_empty() {
        let (lines, heads) = (sketch.lines.concat(), sketch.heads.concat());
        let _ = write!(svg, "<path class=\"edge\" d=\"{lines}\"/><path class=\"head\" d=\"{heads}\"/>");
        return;
    }
    for (edge, (line, head)) in sketch.lines.iter().zip(&sketch.heads).enumerate() {
        // NaN is no strength at all.
        let weight = weights.get(edge).map_or(1.0, |&weight| if weight > 0.0 { weight.min(1.0) } else { 0.0 });
        let (opacity, width) = (0.15 + 0.85 * weight, Px(0.6 + 2.2 * weight));
        let _ = write!(svg, "<g opacity=\"{opacity:.2}\">");
        let _ = write!(svg, "<path class=\"edge\" style=\"stroke-width:{width}\" d=\"{line}\"/>");
        let _ = write!(svg, "<path class=\"head\" d=\"{head}\"/></g>");
    }
}
