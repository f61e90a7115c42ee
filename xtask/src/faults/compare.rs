//! Whether two folders hold the same results.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

/// Files that say when and how fast something was done, or that only a process in progress needs.
const NOT_COMPARED: [&str; 2] = ["events.jsonl", "report.html"];

/// Errs with the first file that differs. Times, rates and checkpoints are not compared.
pub fn same(calm: &Path, other: &Path) -> Result<()> {
    let (one, two) = (content(calm)?, content(other)?);
    if one.is_empty() {
        bail!("{} holds nothing to compare", calm.display());
    }
    if let Some(name) = one.keys().find(|&name| !two.contains_key(name)) {
        bail!("{} is missing in {}", name, other.display());
    }
    if let Some(name) = two.keys().find(|&name| !one.contains_key(name)) {
        bail!("{} is left over in {}", name, other.display());
    }
    match one.iter().find(|(name, bytes)| two[*name] != **bytes) {
        Some((name, _)) => bail!("{name} differs between {} and {}", calm.display(), other.display()),
        None => Ok(()),
    }
}

/// What a folder holds, by name; JSON without what depends on the clock.
fn content(dir: &Path) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut files = BTreeMap::new();
    for entry in fs::read_dir(dir).with_context(|| format!("could not read {}", dir.display()))? {
        let (path, name) = entry.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned()))?;
        if NOT_COMPARED.contains(&name.as_str()) || name.starts_with("checkpoint") {
            continue;
        }
        if path.is_dir() {
            let inside = content(&path)?;
            files.extend(inside.into_iter().map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
            continue;
        }
        let bytes = fs::read(&path).with_context(|| format!("could not read {}", path.display()))?;
        let bytes = match path.extension().and_then(|extension| extension.to_str()) {
            Some("json") => timeless(&bytes).with_context(|| format!("{} is no JSON", path.display()))?,
            // Blanks may stand for half a line of a process that was killed.
            Some("jsonl") => lines(&bytes),
            _ => bytes,
        };
        files.insert(name, bytes);
    }
    Ok(files)
}

fn timeless(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut value: Value = serde_json::from_slice(bytes)?;
    strip(&mut value);
    Ok(serde_json::to_vec(&value)?)
}

fn strip(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("seconds") && !name.ends_with("_per_s"));
            fields.values_mut().for_each(strip);
        }
        Value::Array(items) => items.iter_mut().for_each(strip),
        _ => {}
    }
}

fn lines(bytes: &[u8]) -> Vec<u8> {
    let lines = bytes.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).filter(|line| !line.is_empty());
    lines.collect::<Vec<_>>().join(&b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::test_dir;

    #[test]
    fn times_are_not_compared_and_everything_else_is() {
        let (one, two) = (test_dir("compare-one"), test_dir("compare-two"));
        let write = |dir: &Path, name: &str, text: &str| fs::write(dir.join(name), text).unwrap();
        assert!(same(&one, &two).is_err(), "nothing is not something");
        write(&one, "results.json", r#"{"seconds": {"a": 1}, "metrics": {"x_per_s": 3, "rmse": 0.5}}"#);
        write(&two, "results.json", r#"{"metrics": {"rmse": 0.5, "x_per_s": 4}, "seconds": {"a": 2}}"#);
        write(&one, "a.jsonl", "{\"tell\":1}\n");
        write(&two, "a.jsonl", "     {\"tell\":1}\n\n");
        same(&one, &two).unwrap();
        write(&two, "a.jsonl", "{\"tell\":2}\n");
        assert!(same(&one, &two).unwrap_err().to_string().contains("a.jsonl differs"));
        write(&two, "a.jsonl", "{\"tell\":1}\n");
        write(&two, "a.part", "");
        assert!(same(&one, &two).unwrap_err().to_string().contains("a.part is left over"));
        assert!(same(&two, &one).unwrap_err().to_string().contains("a.part is missing"));
    }
}
