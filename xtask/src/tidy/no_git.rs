//! No code of this repository starts git in a repository that may be untrusted: git runs programs that the repository
//! names.

use super::problem::Problem;
use super::tree::{File, Tree, numbered};

/// How programs are started.
const STARTS: &[&str] = &["Command::new", "execve", "posix_spawn"];

/// How the name of git ends a text that is one.
const NAMES: &[&str] = &["\"git\"", "/git\""];

/// Returns the files that start programs and name git.
pub(super) fn check(tree: &Tree) -> Vec<Problem> {
    let starts = |file: &&File| STARTS.iter().any(|start| file.code_before_tests().contains(start));
    tree.rust().filter(|file| tree.is_product(file)).filter(starts).flat_map(problems_of).collect()
}

fn problems_of(file: &File) -> Vec<Problem> {
    let lines = file.code_before_tests().lines().count();
    let names = |(_, line): &(usize, &str)| NAMES.iter().any(|name| line.contains(name));
    let named = numbered(&file.text).take(lines).filter(names);
    let message = "this file starts programs and names git, which runs what an untrusted repository names; `find_git` of \
                   the crate `files` reads what there is to know without it";
    named.map(|(line, _)| Problem::new(&file.path, line, message)).collect()
}

#[cfg(test)]
mod tests {
    use super::super::problem::said;
    use super::*;

    #[test]
    fn files_that_start_programs_do_not_name_git() {
        for text in [
            "fn f() {\n    std::process::Command::new(\"git\").arg(\"status\");\n}\n",
            "fn f() {\n    run(\"/usr/bin/git\");\n}\nfn run(name: &str) { Command::new(name); }\n",
        ] {
            let said = said(check, &[("crates/guard/src/x.rs", text)]);
            assert!(
                matches!(said.as_slice(), [one] if one.starts_with("crates/guard/src/x.rs:2: ")),
                "{said:?}"
            );
        }
    }

    #[test]
    fn tests_and_tables_may_name_it() {
        let started = "fn f() { Command::new(\"git\"); }\n";
        for (path, text) in [
            ("crates/git/tests/it/git.rs", started.to_owned()),
            ("xtask/src/x.rs", started.to_owned()),
            ("crates/policy/src/x.rs", "const X: &str = \"git\";\n".to_owned()),
            ("crates/guard/src/x.rs", format!("#[cfg(test)]\nmod tests {{\n{started}}}\n")),
            ("crates/guard/src/y.rs", "fn f() { Command::new(\"docker\"); }\n".to_owned()),
        ] {
            assert_eq!(said(check, &[(path, &text)]), [""; 0], "{path}");
        }
    }
}
