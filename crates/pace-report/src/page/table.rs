//! Tables as HTML.

use std::fmt::Write;

use crate::text::{Px, escape};

/// A table in a box of its own, in which it scrolls if the screen is narrow; the first row is its head.
pub(super) fn table(rows: &[Vec<String>]) -> String {
    let Some((head, body)) = rows.split_first() else { return String::new() };
    let n_columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let numeric: Vec<bool> = (0..n_columns).map(|column| is_numeric(body, column)).collect();
    let class = |column: usize| if numeric[column] { " class=\"n\"" } else { "" };
    let mut html = "<div class=\"scroll\"><table><thead><tr>".to_owned();
    for (column, cell) in head.iter().enumerate() {
        let _ = write!(html, "<th scope=\"col\"{}>{}</th>", class(column), escape(cell));
    }
    html.push_str("</tr></thead><tbody>");
    for row in body {
        html.push_str("<tr>");
        for (column, cell) in row.iter().enumerate() {
            let _ = write!(html, "<td{}>{}</td>", class(column), escape(cell));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></div>");
    html
}

/// Whether all cells of a column look like numbers: they begin like one and are short, or say that there is none.
fn is_numeric(body: &[Vec<String>], column: usize) -> bool {
    let mut cells =
        body.iter().filter_map(|row| row.get(column)).map(|cell| cell.trim()).filter(|cell| !cell.is_empty());
    let begins = |cell: &str| {
        cell.trim_start_matches(['+', '-', '−', '±', '<', '>', '≤', '≥', '.', ' '])
            .starts_with(|c: char| c.is_ascii_digit())
    };
    let is_missing = |cell: &str| matches!(cell, "-" | "–" | "—" | "NaN" | "nan" | "inf" | "-inf" | "none");
    let mut has_number = false;
    cells.all(|cell| {
        let is_number = begins(cell) && cell.chars().count() <= 24 && cell.split_whitespace().count() <= 4;
        has_number |= is_number;
        is_number || is_missing(cell)
    }) && has_number
}

/// A table of stages and seconds, with a bar for the share of each.
pub(super) fn seconds(stages: &[(String, f64)]) -> String {
    let proper = |seconds: f64| if seconds.is_finite() { seconds.max(0.0) } else { 0.0 };
    let total: f64 = stages.iter().map(|stage| proper(stage.1)).sum();
    let mut html = "<div class=\"scroll\"><table class=\"seconds\"><thead><tr><th scope=\"col\">stage</th>\
                    <th scope=\"col\" class=\"n\">seconds</th><th scope=\"col\">share</th></tr></thead><tbody>"
        .to_owned();
    for (stage, seconds) in stages {
        let share = if total > 0.0 { 100.0 * proper(*seconds) / total } else { 0.0 };
        let _ = write!(html, "<tr><td>{}</td><td class=\"n\">{seconds:.1}</td><td>", escape(stage));
        let _ =
            write!(html, "<span class=\"share\" style=\"width:{}px\"></span> {share:.0} %</td></tr>", Px(1.2 * share));
    }
    let _ = write!(
        html,
        "<tr class=\"sum\"><td>together</td><td class=\"n\">{total:.1}</td><td></td></tr></tbody></table></div>"
    );
    html
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_numbers_are_aligned_right() {
        let rows = [["metric", "mean", "paper"], ["rmse", "0.12", "0.11 (Table 1)"], ["r", "-", ""]];
        let html = table(&rows.map(|row| row.map(str::to_owned).to_vec()));
        assert!(html.contains("<th scope=\"col\">metric</th><th scope=\"col\" class=\"n\">mean</th>"));
        assert!(html.contains("<td class=\"n\">0.11 (Table 1)</td>"));
    }

    #[test]
    fn ragged_rows_and_no_rows_are_no_trouble() {
        assert_eq!(table(&[]), "");
        assert!(table(&[vec![], vec!["1".to_owned()]]).contains("<td class=\"n\">1</td>"));
        assert!(seconds(&[("a".to_owned(), f64::NAN), ("b".to_owned(), 0.0)]).contains("0 %"));
    }
}
