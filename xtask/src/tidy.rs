//! `cargo xtask tidy`: facts about the repository that the compiler cannot hold. Reads the sources as text.
//!
//! Each check is a function from the files to the problems it finds, with tests on good and bad input beside it. Nothing
//! is compiled, so it takes a second: whether generated files are fresh is left to tests, and this command checks that
//! there are such tests.

mod addresses;
mod arrows;
mod book;
mod cycles;
mod dependencies;
mod doors;
mod floors;
mod fuzz_targets;
mod generated;
mod idioms;
mod io;
mod items;
mod ledger;
mod leftovers;
mod lexer;
mod licences;
mod manifest;
mod manifests;
mod markdown;
mod names;
mod no_git;
mod parsers;
mod paths;
mod pinned;
mod problem;
mod required;
mod riddles;
mod roots;
mod sizes;
mod text;
pub(crate) mod tree;
mod unsafety;
mod uses;
mod workflows;

use crate::checks::{Check, Verdict};
use crate::runner::run_live;
use testkit::{Program, Stop, Workspace, no_more};

use problem::Problem;
use tree::Tree;

const GROUP: &str = "tidy";

/// A check of the files.
type CheckTree = fn(&Tree) -> Vec<Problem>;

/// What is checked, in words.
const CHECKS: &[(&str, CheckTree)] = &[
    ("arrows between crates", arrows::check),
    ("manifests inherit from the workspace", manifests::check),
    ("unsafe only where allowed", unsafety::check),
    ("I/O only where declared", io::check),
    ("nothing is left unfinished or unexplained", leftovers::check),
    ("fuzz targets are one line, with seeds", fuzz_targets::check),
    ("parsers of foreign bytes are fuzzed", parsers::check),
    ("generated files have a test", generated::check),
    ("files that must be there", required::check),
    ("tests that the ledger names", ledger::check),
    ("one address", addresses::check),
    ("actions are named by commit", workflows::check),
    ("links in Markdown", markdown::check),
    ("pages of the book", book::check),
    ("no paths of one machine", paths::check),
    ("Cargo takes the lock file", pinned::check),
    ("one door for own files", doors::check),
    ("blanks and line ends", text::blanks),
    ("nothing starts git", no_git::check),
    ("one name, one meaning", names::check),
    ("dependencies have a reason", dependencies::check),
    ("cycles of files", cycles::check),
    ("floors of exec-sandbox", floors::check),
    ("roots of libraries", roots::check),
    ("words that hide who acts", idioms::check),
    ("sizes of crates", sizes::check),
    ("documentation that explains", riddles::check),
];

/// What is worth a look, but no failure.
const WARNINGS: &[(&str, CheckTree)] = &[("long files", text::long_files)];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "tidy")?;
    run_live(&checks(workspace))
}

/// Returns the checks of this command.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let cargo = workspace.cargo();
    let deny_file = workspace.root.join("deny.toml");
    let licences = Check::new(GROUP, "licences and lock file", move |_| {
        licences::check(&cargo, &std::fs::read_to_string(&deny_file).unwrap_or_default())
    });
    vec![sources(workspace), licences, cargo_deny(workspace)]
}

/// Returns the check of the sources as text, which takes seconds.
pub(crate) fn sources(workspace: &Workspace) -> Check {
    let root = workspace.root.clone();
    Check::new(GROUP, "sources as text", move |_| match Tree::load(&root) {
        Ok(tree) => judge(&tree),
        Err(stop) => Verdict::failed(stop.message()),
    })
}

fn judge(tree: &Tree) -> Verdict {
    let mut problems = Vec::new();
    for (name, check) in CHECKS {
        problems.extend(check(tree).iter().map(|problem| format!("{problem}  [{name}]")));
    }
    for (_, check) in WARNINGS {
        check(tree).iter().for_each(|problem| println!("warning: {problem}"));
    }
    if problems.is_empty() {
        return Verdict::passed();
    }
    Verdict::failed(format!("{}\n{} problems", problems.join("\n"), problems.len()))
}

/// `cargo deny` where it is installed, with the advisories where their database is: `cargo deny fetch` gets it, and the checks need no
/// network.
fn cargo_deny(workspace: &Workspace) -> Check {
    let database = crate::static_programs::cargo_home().is_ok_and(|home| home.join("advisory-dbs").is_dir());
    let deny = workspace.cargo().args(["deny", "--offline", "check", "bans", "licenses", "sources"]);
    let deny = if database { deny.arg("advisories") } else { deny };
    let installed = Program::cargo().args(["deny", "--version"]);
    Check::new(GROUP, "cargo deny", move |echo| {
        if installed.succeeds() {
            return crate::checks::verdict_of(&deny, echo);
        }
        Verdict::cannot("cargo-deny is not installed; licences and origins were checked all the same")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_problem_says_where_and_which_check_found_it() {
        let Verdict::Failed { output, .. } = judge(&Tree::of(&[("a.rs", "fn f() { todo!() }\n")])) else {
            panic!("a leftover must fail")
        };
        assert!(output.contains("a.rs:1: `todo!`: "), "{output}");
        assert!(output.contains("[nothing is left unfinished or unexplained]"), "{output}");
    }
}
