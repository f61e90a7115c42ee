//! [`Filter`]: which functions are taken.

use serde::{Deserialize, Serialize};

/// What a function must be in order to be taken. The default takes all.
///
/// ```
/// use pace_code::{Extractor, Filter};
/// let source = "def size(self):\n    '''The size.'''\n    return 1\n\ndef test_size():\n    pass\n";
/// let extractor = Extractor { filter: Filter::code_search_net(), ..Extractor::default() };
/// let names: Vec<String> = extractor.functions(source)?.into_iter().map(|function| function.name).collect();
/// assert_eq!(names, ["size"]);
/// # Ok::<(), pace_code::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Filter {
    /// Only functions with a docstring.
    pub has_docstring: bool,
    /// Only functions of at least so many lines, from `def` to the end of the body.
    pub min_lines: usize,
    /// No names such as `__init__`.
    pub no_dunder: bool,
    /// No names that contain `test`, in capitals or not.
    pub no_test: bool,
}

/// What a [`Filter`] looks at.
pub(crate) struct Facts<'a> {
    pub(crate) name: &'a str,
    pub(crate) n_lines: usize,
    pub(crate) has_docstring: bool,
}

impl Filter {
    /// The filter of CodeSearchNet (Husain et al., 2019), from which OGBG-CODE2 is made: documented functions of at least
    /// three lines, without special methods and tests.
    pub fn code_search_net() -> Filter {
        Filter { has_docstring: true, min_lines: 3, no_dunder: true, no_test: true }
    }

    pub(crate) fn takes(&self, facts: &Facts<'_>) -> bool {
        let is_dunder = facts.name.len() > 4 && facts.name.starts_with("__") && facts.name.ends_with("__");
        (facts.has_docstring || !self.has_docstring)
            && facts.n_lines >= self.min_lines
            && !(self.no_dunder && is_dunder)
            && !(self.no_test && facts.name.to_lowercase().contains("test"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_condition_alone() {
        let facts = |name, n_lines, has_docstring| Facts { name, n_lines, has_docstring };
        let good = facts("size", 3, true);
        let bad =
            [facts("size", 3, false), facts("size", 2, true), facts("__len__", 3, true), facts("runTest", 3, true)];
        assert!(Filter::code_search_net().takes(&good));
        for facts in &bad {
            assert!(!Filter::code_search_net().takes(facts), "{}", facts.name);
            assert!(Filter::default().takes(facts), "{}", facts.name);
        }
        assert!(Filter { no_dunder: true, ..Filter::default() }.takes(&facts("__", 1, false)));
    }
}
