//! Documentation that explains nothing: of variants, types and constants, in fewer than four words.

use std::collections::BTreeMap;

use super::items::items;
use super::problem::Problem;
use super::tree::{File, Tree};

/// Minimum number of words of an explanation.
const MIN_WORDS: usize = 4;

/// Returns documentation of items that is too short to explain them.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust().filter(|file| tree.is_product(file)).flat_map(riddles).collect()
}

fn riddles(file: &File) -> Vec<Problem> {
    let lines: Vec<(&str, &str)> = file.text.lines().zip(file.code.lines()).collect();
    let worth = items(file).filter(|item| item.is_type() || item.is_constant());
    let declared: BTreeMap<usize, &str> = worth.map(|item| (item.line, item.name)).collect();
    let end = file.code_before_tests().lines().count();
    let mut problems = Vec::new();
    let mut documentation = String::new();
    let mut enums = Enums::default();
    for (index, (text, code)) in lines.into_iter().enumerate().take(end) {
        let trimmed = text.trim_start();
        if let Some(said) = trimmed.strip_prefix("///") {
            documentation.push_str(said);
            documentation.push(' ');
            continue;
        }
        let is_variant = enums.is_variant(code);
        enums.read(code);
        if code.trim_start().starts_with("#[") || (trimmed.is_empty() && code.trim().is_empty()) {
            continue;
        }
        let count =
            documentation.split_whitespace().filter(|word| word.chars().any(char::is_alphanumeric)).count();
        let name = declared.get(&(index + 1)).copied().or_else(|| is_variant.then(|| variant(code)));
        if let Some(name) = name
            && (1..MIN_WORDS).contains(&count)
        {
            let message =
                format!("\"{}\" does not explain `{name}`; say it in a sentence", documentation.trim());
            problems.push(Problem::new(&file.path, index + 1, message));
        }
        documentation.clear();
    }
    problems
}

fn variant(code: &str) -> &str {
    code.trim().split(['(', '{', ',', '=', ':']).next().unwrap_or_default().trim()
}

/// Tracks braces, to recognise the variants of an `enum`.
#[derive(Debug, Default)]
struct Enums {
    depth: usize,
    /// Brace depth of the variants of the open enum, if one is open.
    variants: Option<usize>,
}

impl Enums {
    /// Whether this line declares a variant, asked before it is read.
    fn is_variant(&self, code: &str) -> bool {
        let begins = code.trim_start().chars().next().is_some_and(char::is_uppercase);
        begins && self.variants == Some(self.depth)
    }

    fn read(&mut self, code: &str) {
        let opens_enum = code.split_whitespace().any(|word| word == "enum") && code.trim_end().ends_with('{');
        for c in code.chars() {
            match c {
                '{' | '(' | '[' => self.depth += 1,
                '}' | ')' | ']' => self.depth = self.depth.saturating_sub(1),
                _ => {}
            }
        }
        if opens_enum {
            self.variants = Some(self.depth);
        } else if self.variants.is_some_and(|depth| self.depth < depth) {
            self.variants = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    fn riddles_in(text: &str) -> Vec<String> {
        said(check, &[("crates/x/src/a.rs", text)])
    }

    #[test]
    fn documentation_that_explains_nothing() {
        let text = "/// What it may do.\npub enum May {\n    /// It may.\n    Yes,\n    /// It may not, for\n    /// reasons.\n    \
                    No { why: u8 },\n    /// Itself.\n    #[default]\n    Maybe(u8),\n}\n/// None.\nconst N: u8 = 0;\n";
        let said = riddles_in(text);
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].starts_with("crates/x/src/a.rs:4: \"It may.\" does not explain `Yes`"), "{said:?}");
        assert!(said[1].contains("`Maybe`") && said[2].contains("N"), "{said:?}");
    }

    #[test]
    fn fields_functions_and_tests_are_left_alone() {
        for text in [
            "/// A thing with four words.\nstruct S {\n    /// Name.\n    name: u8,\n}\n",
            "/// Runs.\nfn run() {}\n",
            "enum E {\n    /// One of all the things.\n    A {\n        /// Why.\n        why: u8,\n    },\n}\n",
            "#[cfg(test)]\nmod tests {\n    /// No.\n    const N: u8 = 0;\n}\n",
            "const N: u8 = 0;\n",
        ] {
            assert_eq!(riddles_in(text), [""; 0], "{text}");
        }
    }
}
