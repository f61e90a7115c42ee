//! Colours, light and dark, for pages and for drawings in files of their own.
//!
//! Markup names colours by class; one style sheet says what they are. A page carries it once, a file its own copy.

/// Variables and classes of all drawings.
pub const DRAWING_CSS: &str = include_str!("drawing.css");

/// How many hues there are for operations, lines and groups.
pub const N_HUES: usize = 8;
/// How many steps the scale of scores has.
pub const N_STEPS: usize = 9;

/// The class of the `index`-th thing. After the last hue they begin again with another dash pattern.
pub fn hue(index: usize) -> String {
    match index / N_HUES % 3 {
        0 => format!("k{}", index % N_HUES),
        dash => format!("k{} dash{dash}", index % N_HUES),
    }
}

/// The step of a value on the scale from `low` to `high`, from 0 to `N_STEPS - 1`.
pub fn step(value: f64, low: f64, high: f64) -> usize {
    let share = if high > low { (value - low) / (high - low) } else { 0.5 };
    // A cast of NaN or of what is out of range saturates.
    ((share * N_STEPS as f64) as usize).min(N_STEPS - 1)
}

/// An SVG as a file: with its style sheet, and on a surface of its own, since it may be shown on any.
///
/// What is no SVG comes back as it is.
///
/// ```
/// let file = pace_report::standalone("<svg viewBox=\"0 0 9 9\"></svg>");
/// assert!(file.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 9 9\"><style>"));
/// ```
pub fn standalone(svg: &str) -> String {
    let Some((open, rest)) = svg.strip_prefix("<svg").and_then(|rest| rest.split_once('>')) else {
        return svg.to_owned();
    };
    let surface = "<rect class=\"surface\" width=\"100%\" height=\"100%\"/>";
    format!("<svg xmlns=\"http://www.w3.org/2000/svg\"{open}><style>{DRAWING_CSS}</style>{surface}{rest}")
}
