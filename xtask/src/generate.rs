//! `cargo xtask generate [--check] [CRATE]`: the generated files of one crate or all, written anew or only compared.
//!
//! A generated file is made by a test: one named `…_is_fresh` or `…_are_fresh`, which compares the file with what it
//! should be, and writes it instead where the environment variable `STOCKADE_BLESS` is 1. So the code that makes a
//! table sees the inside of its crate, and every run of the tests notices a stale file.

use crate::checks::Check;
use crate::runner::run_live;
use crate::tidy::tree::Tree;
use testkit::{Stop, Workspace, no_more};

const GROUP: &str = "generate";

/// What the tests that make files are called, by the end of their names.
const NAMES: [&str; 2] = ["_is_fresh", "_are_fresh"];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Compare,
    Write,
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let (mode, rest) = match arguments.split_first() {
        Some((first, rest)) if first == "--check" => (Mode::Compare, rest),
        _ => (Mode::Write, arguments),
    };
    let (name, rest) = rest.split_first().map_or((None, rest), |(name, rest)| (Some(name), rest));
    no_more(rest, "generate [--check] [CRATE]")?;
    run_live(&of_mode(workspace, mode, name)?)
}

fn of_mode(workspace: &Workspace, mode: Mode, name: Option<&String>) -> Result<Vec<Check>, Stop> {
    let tree = Tree::load(&workspace.root)?;
    // To compile every crate for the files of one takes minutes.
    let chosen = name.map(|name| workspace.find(name)).transpose()?;
    let makers = workspace.crates.iter().filter(|one| match chosen {
        Some(chosen) => one.package == chosen.package,
        None => has_maker(&tree, &one.folder),
    });
    Ok(makers
        .map(|one| {
            let test = workspace.cargo().args([
                "test",
                "--package",
                &one.package,
                "--all-features",
                "--tests",
                "--",
            ]);
            let test = match mode {
                Mode::Compare => test.args(NAMES).without_env("STOCKADE_BLESS"),
                Mode::Write => test.args(NAMES).env("STOCKADE_BLESS", "1"),
            };
            Check::program(GROUP, format!("files of {}", one.short()), test)
        })
        .collect())
}

/// Whether a crate has a test that makes a file.
pub(crate) fn has_maker(tree: &Tree, folder: &str) -> bool {
    tree.rust_under(folder).any(|file| NAMES.iter().any(|name| file.code.contains(&format!("{name}()"))))
}
