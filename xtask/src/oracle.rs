//! `cargo xtask oracle [COUNT [SEED]]`: runs generated commands in real shells, and checks that the crate `shell`
//! predicted every program. The runner of the same name in `testkit` does it, for one shell at a time. The runner `option-oracle`
//! generates commands for everything that the built-in rules allow, and checks that none that is allowed does harm.

use testkit::{Stop, Workspace, no_more};

use crate::checks::{Check, Verdict};
use crate::runner::run_live;
use crate::runners::verdict_of;
use crate::setup;

const GROUP: &str = "oracle";
const USAGE: &str = "oracle [COUNT [SEED]]";

/// Default number of commands.
const DEFAULT_COUNT: usize = 20_000;

/// How many commands `ci` tries, always the same ones.
const CI_COUNT: usize = 400;

/// How many commands with options there are for one command of a shell.
const OPTIONS_FOR_ONE: usize = 5;

/// The shells that are asked. `ash` is that of busybox.
const SHELLS: &[&str] = &["bash", "zsh", "sh", "ash"];

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let mut words = arguments.iter();
    let mut number = |default: usize| match words.next() {
        Some(word) => word.parse().map_err(|_| {
            Stop::usage(format!("`{word}` is not a number of commands or a seed; usage: cargo xtask {USAGE}"))
        }),
        None => Ok(default),
    };
    let (count, seed) = (number(DEFAULT_COUNT)?, number(1)?);
    no_more(words.as_slice(), USAGE)?;
    run_live(&of_count(workspace, count, seed))
}

/// Returns the checks of continuous integration.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    of_count(workspace, CI_COUNT, 1)
}

/// Returns the checks of `nightly`.
pub(crate) fn long_checks(workspace: &Workspace) -> Vec<Check> {
    of_count(workspace, DEFAULT_COUNT, 1)
}

/// Builds the runner and the examples that it uses, and asks every shell about `count` commands.
fn of_count(workspace: &Workspace, count: usize, seed: usize) -> Vec<Check> {
    let build = Check::program(GROUP, "build", workspace.build_examples());
    let asked = SHELLS.iter().map(|shell| ask(workspace, shell, count, seed));
    std::iter::once(build).chain(asked).chain([try_options(workspace, count, seed)]).collect()
}

/// Several times as many commands as of a shell, because most are not allowed, and are not run then.
fn try_options(workspace: &Workspace, count: usize, seed: usize) -> Check {
    let count = count * OPTIONS_FOR_ONE;
    let runner = workspace.testkit().args(["option-oracle", &count.to_string(), &seed.to_string()]);
    let name = format!("what allowed commands do, of {count} generated from seed {seed}");
    Check::new(GROUP, name, move |_| {
        setup::lacking(GROUP).map_or_else(|| verdict_of(&runner), Verdict::cannot)
    })
}

fn ask(workspace: &Workspace, shell: &str, count: usize, seed: usize) -> Check {
    let runner = workspace.testkit().args(["oracle", shell, &count.to_string(), &seed.to_string()]);
    Check::new(GROUP, format!("what {shell} runs for {count} commands, from seed {seed}"), move |_| {
        // Checked only now: an earlier check may have installed it.
        setup::lacking(GROUP).map_or_else(|| verdict_of(&runner), Verdict::cannot)
    })
}
