//! Things that must not be left in committed code.

use super::problem::Problem;
use super::tree::{File, Tree, has_word, numbered};

/// Words that must not occur in code, and why. clippy checks some of them too, but not in every configuration and not
/// in fuzz targets.
const IN_CODE: &[(&str, &str)] = &[
    ("todo!", "committed code is finished; finish it or leave it out"),
    ("unimplemented!", "committed code is finished; finish it or leave it out"),
    ("dbg!", "it prints on a user's terminal; take it out"),
    ("#[ignore]", "an ignored test needs a reason; write `#[ignore = \"…\"]`"),
    ("#[allow(", "it stays when it is no longer needed; write `#[expect(…, reason = \"…\")]`"),
    ("#![allow(", "it stays when it is no longer needed; write `#![expect(…, reason = \"…\")]`"),
];

/// Marks that must not occur in comments.
const IN_COMMENTS: &[(&str, &str)] = &[
    ("FIXME", "mend it, or write an issue"),
    ("TODO", "do it, or write an issue"),
    ("XXX", "describe the problem in a sentence, or fix it"),
    ("```ignore", "an example that is not run grows stale; write `no_run`, or `text` if it is not Rust"),
    ("```rust,ignore", "an example that is not run grows stale; write `no_run`, or `text` if it is not Rust"),
];

/// Returns the leftovers in the Rust sources.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    tree.rust().flat_map(problems_of).collect()
}

fn problems_of(file: &File) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (line, text) in numbered(&file.code) {
        let found = IN_CODE.iter().filter(|(mark, _)| text.contains(mark));
        problems.extend(found.map(|(mark, why)| problem(file, line, mark, why)));
    }
    for (line, text) in numbered(&file.comments) {
        let found = IN_COMMENTS.iter().filter(|(mark, _)| has_word(text, mark));
        problems.extend(found.map(|(mark, why)| problem(file, line, mark, why)));
    }
    problems.extend(bare_expectations(file));
    problems
}

fn problem(file: &File, line: usize, mark: &str, why: &str) -> Problem {
    Problem::new(&file.path, line, format!("`{mark}`: {why}"))
}

/// Relaxed lints without a reason. The attribute may span several lines.
fn bare_expectations(file: &File) -> Vec<Problem> {
    let starts = ["#[expect(", "#![expect("].iter().flat_map(|start| file.code.match_indices(start));
    let bare = starts.filter(|(at, _)| {
        let attribute = file.code.get(*at..).and_then(|rest| rest.split(")]").next()).unwrap_or_default();
        !has_word(attribute, "reason")
    });
    bare.map(|(at, mark)| {
        let line = file.code.get(..at).map_or(1, |before| before.matches('\n').count() + 1);
        problem(file, line, mark, "a relaxed lint needs a reason; add `reason = \"…\"`")
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn clean_code_with_such_words_in_strings() {
        let text = "/// Fills the XXXXXX of `mktemp`.\nconst T: &str = \"todo! dbg!(x) #[ignore] FIXME\";\n\
                    #[ignore = \"needs bwrap\"]\n#[expect(\n    clippy::x,\n    reason = \"y\"\n)]\nfn f() { x.expect(\"z\") }\n";
        assert_eq!(said(check, &[("a.rs", text)]), [""; 0]);
    }

    #[test]
    fn every_mark_is_found() {
        for text in
            ["fn f() { todo!() }", "dbg!(x)", "#[ignore]", "#[allow(x)]", "#![allow(x)]", "#[expect(x)]"]
        {
            assert_eq!(said(check, &[("a.rs", text)]).len(), 1, "{text}");
        }
        for text in ["// FIXME: later", "/* XXX */", "/// TODO", "/// ```ignore"] {
            assert_eq!(said(check, &[("a.rs", text)]).len(), 1, "{text}");
        }
        assert_eq!(
            said(check, &[("a.rs", "fn f() {\n    todo!()\n}\n")]),
            ["a.rs:2: `todo!`: committed code is finished; finish it or leave it out"]
        );
    }
}
