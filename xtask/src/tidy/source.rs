//! Rules about Rust source.
//!
//! Needles are written in two halves, so that this file does not break its own rules.

use super::Violation;

const MAX_LINES: usize = 500;
/// The only places with code that the compiler cannot check: the calls into nauty's C, and the fused kernels.
const UNCHECKED: [&str; 3] = [
    "crates/pace-graph/src/canon/nauty.rs",
    "crates/pace-model/src/kernel/fused/simd/arch.rs",
    "crates/pace-model/benches/kernel/products.rs",
];
const UNSAFE: &str = concat!("uns", "afe");
const PLACEHOLDERS: [&str; 3] = [concat!("todo", "!"), concat!("unimplemented", "!"), concat!("dbg", "!")];

/// Checks one Rust file.
pub fn check(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let n_lines = text.lines().count();
    if n_lines > MAX_LINES {
        violations.push(Violation::new(path, n_lines, format!("{n_lines} lines, the limit is {MAX_LINES}: split it")));
    }
    if path.ends_with("src/lib.rs") && !text.trim_start().starts_with("//!") {
        violations.push(Violation::new(path, 1, "a crate starts with `//!` documentation that says what it is for"));
    }
    let may_be_unchecked = UNCHECKED.iter().any(|place| path.starts_with(place));
    for (index, line) in text.lines().enumerate() {
        let code = without_comment(line);
        let mut complain = |message: String| violations.push(Violation::new(path, index + 1, message));
        if !may_be_unchecked && has_word(code, UNSAFE) {
            complain(format!("{UNSAFE} code belongs in {} only", UNCHECKED.join(" and ")));
        }
        for placeholder in PLACEHOLDERS.iter().filter(|name| has_word(code, name)) {
            complain(format!("{placeholder} is not for committed code"));
        }
    }
    violations.extend(glob_exports(path, text));
    violations
}

/// Finds public re-exports that end in a glob: readers could not tell what a crate offers.
fn glob_exports(path: &str, text: &str) -> Vec<Violation> {
    let mut violations = Vec::new();
    let mut statement: Option<(usize, String)> = None;
    for (index, line) in text.lines().enumerate() {
        let code = without_comment(line).trim();
        let is_export = code.starts_with("pub") && has_word(code, "use");
        let (start, mut so_far) = match statement.take() {
            Some(open) => open,
            None if is_export => (index + 1, String::new()),
            None => continue,
        };
        so_far.push_str(code);
        if !code.contains(';') {
            statement = Some((start, so_far));
        } else if so_far.replace(' ', "").contains(concat!("::", "*")) || so_far.contains("{*") || so_far.contains(",*")
        {
            violations.push(Violation::new(path, start, "name what is re-exported instead of a glob"));
        }
    }
    violations
}

/// The line without its comment. A `//` inside a string ends the line too early, which only makes the check milder.
fn without_comment(line: &str) -> &str {
    line.split("//").next().unwrap_or_default()
}

/// Whether `word` stands in `code` with no identifier character on either side.
fn has_word(code: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    code.match_indices(word).any(|(at, _)| {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        !before.ends_with(is_part) && (word.ends_with('!') || !after.starts_with(is_part))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(path, text).iter().map(|violation| violation.line).collect()
    }

    #[test]
    fn long_files() {
        assert!(check("a.rs", &"x\n".repeat(500)).is_empty());
        assert_eq!(lines("a.rs", &"x\n".repeat(501)), [501]);
    }

    #[test]
    fn unchecked_code_only_where_it_belongs() {
        let block = format!("fn f() {{\n    {UNSAFE} {{ g() }}\n}}");
        assert_eq!(lines("crates/pace-graph/src/dag.rs", &block), [2]);
        assert!(check("crates/pace-graph/src/canon/nauty.rs", &block).is_empty());
        assert!(check("crates/pace-model/src/kernel/fused/simd/arch.rs", &block).is_empty());
        let harmless = format!("#![deny({UNSAFE}_code)]\n// {UNSAFE} in a comment\nlet not_{UNSAFE} = 1;");
        assert!(check("a.rs", &harmless).is_empty());
    }

    #[test]
    fn placeholders() {
        for placeholder in PLACEHOLDERS {
            assert_eq!(lines("a.rs", &format!("fn f() {{ {placeholder}() }}")), [1]);
            assert!(check("a.rs", &format!("// {placeholder}() later")).is_empty());
        }
    }

    #[test]
    fn globs() {
        let glob = concat!("::", "*");
        assert_eq!(lines("a.rs", &format!("mod b;\npub use b{glob};")), [2]);
        assert_eq!(lines("a.rs", &format!("pub(crate) use b{glob};")), [1]);
        assert_eq!(lines("a.rs", &format!("pub use b::{{\n    c{glob},\n    d,\n}};")), [1]);
        assert!(check("a.rs", &format!("pub use b::{{\n    c,\n    d,\n}};\nuse e{glob};")).is_empty());
    }

    #[test]
    fn crate_documentation() {
        assert_eq!(lines("crates/x/src/lib.rs", "mod a;"), [1]);
        assert!(check("crates/x/src/lib.rs", "//! What it is.\nmod a;").is_empty());
    }
}
