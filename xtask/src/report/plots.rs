//! The charts of a run, beside its page.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

/// Copies the charts of a run into the folder `pages/<page>`, in place of those that were there, and returns the lines of the
/// page that show them; nothing if the run drew none.
pub fn copy(run: &Path, pages: &Path, page: &str) -> Result<String> {
    let folder = pages.join(page);
    if folder.exists() {
        fs::remove_dir_all(&folder).with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    let plots = found(run)?;
    if plots.is_empty() {
        return Ok(String::new());
    }
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let mut text = "\n## Plots\n".to_owned();
    for (number, path) in plots {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        fs::copy(&path, folder.join(&name)).with_context(|| format!("cannot copy {}", path.display()))?;
        let words = name.trim_start_matches(&format!("plot-{number}-")).trim_end_matches(".svg").replace('-', " ");
        let _ = writeln!(text, "\n![{words}]({page}/{name})");
    }
    Ok(text)
}

/// The charts in the order in which they were drawn.
fn found(run: &Path) -> Result<Vec<(u32, PathBuf)>> {
    let mut plots = Vec::new();
    for entry in fs::read_dir(run).with_context(|| format!("cannot read {}", run.display()))? {
        let path = entry.with_context(|| format!("cannot read {}", run.display()))?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let number = name.strip_prefix("plot-").and_then(|rest| rest.split_once('-')?.0.parse().ok());
        if let Some(number) = number.filter(|_| name.ends_with(".svg")) {
            plots.push((number, path));
        }
    }
    plots.sort();
    Ok(plots)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    #[test]
    fn charts_are_shown_in_their_order_and_old_ones_go() {
        let (run, pages) = (test_dir("plots-run"), test_dir("plots-pages"));
        for name in ["plot-10-last.svg", "plot-2-rmse-by-epoch.svg", "plot-x.svg", "results.json"] {
            fs::write(run.join(name), "<svg/>").unwrap();
        }
        fs::create_dir_all(pages.join("na")).unwrap();
        fs::write(pages.join("na/plot-1-old.svg"), "<svg/>").unwrap();
        let text = copy(&run, &pages, "na").unwrap();
        let expected = "\n## Plots\n\n![rmse by epoch](na/plot-2-rmse-by-epoch.svg)\n\n![last](na/plot-10-last.svg)\n";
        assert_eq!(text, expected);
        assert!(pages.join("na/plot-10-last.svg").exists() && !pages.join("na/plot-1-old.svg").exists());
        assert_eq!(copy(&test_dir("plots-none"), &pages, "bn").unwrap(), "");
    }
}
