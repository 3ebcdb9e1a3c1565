//! `cargo xtask oracle [COUNT [SEED]]`: runs generated commands in real shells, and checks that the crate `shell`
//! predicted every program. The runner of the same name in `testkit` does it, for one shell at a time.

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

/// The shells that are asked.
const SHELLS: &[&str] = &["bash", "zsh", "sh"];

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
    std::iter::once(build).chain(asked).collect()
}

fn ask(workspace: &Workspace, shell: &str, count: usize, seed: usize) -> Check {
    let runner = workspace.testkit().args(["oracle", shell, &count.to_string(), &seed.to_string()]);
    Check::new(GROUP, format!("what {shell} runs for {count} commands, from seed {seed}"), move |_| {
        // Checked only now: an earlier check may have installed it.
        setup::lacking(GROUP).map_or_else(|| verdict_of(&runner), Verdict::cannot)
    })
}
