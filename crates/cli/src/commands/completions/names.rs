//! What shells offer where a name is to be typed: rules, agents, keys of the configuration, harnesses.
//!
//! The names of one's own, of rule files and of agents in a configuration, are not among them: a script that is printed once
//! cannot know them.

use clap::Command;
use clap::builder::PossibleValuesParser;

use stockade_guard::config::{Config, KNOWN_AGENTS};
use stockade_guard::scanner::Scanner;

/// The commands that lead to an argument, the argument, and the names that it takes.
type NamedArgument = (&'static [&'static str], &'static str, fn() -> Vec<&'static str>);

/// Where names of a kind are typed: the commands that lead there, and the argument.
const NAMES: &[NamedArgument] = &[
    (&["rules", "show"], "id", rules),
    (&["config", "explain"], "key", keys),
    #[cfg(target_os = "linux")]
    (&["install"], "harness", harnesses),
    #[cfg(target_os = "linux")]
    (&["uninstall"], "harness", harnesses),
    #[cfg(target_os = "linux")]
    (&["hook"], "harness", harnesses),
];

/// What names of agents are called in the help.
const AGENT: [&str; 2] = ["agent", "agents"];

/// Returns a command that knows what may be typed. It is for completions alone: of those that are offered, not all that are taken.
pub(super) fn with_names(mut command: Command) -> Command {
    // Before that, commands within commands are not there.
    command.build();
    NAMES
        .iter()
        .fold(with_agents(command), |command, (path, argument, names)| at(command, path, argument, &names()))
}

fn at(command: Command, path: &[&str], argument: &str, names: &[&'static str]) -> Command {
    match path.split_first() {
        Some((first, rest)) => {
            let rest = rest.to_vec();
            command.mut_subcommand(*first, |inner| at(inner, &rest, argument, names))
        }
        None => offering(command, argument, names),
    }
}

fn offering(command: Command, argument: &str, names: &[&'static str]) -> Command {
    let offered = PossibleValuesParser::new(names.to_vec());
    command.mut_arg(argument, |argument| argument.value_parser(offered))
}

fn with_agents(command: Command) -> Command {
    let arguments: Vec<String> =
        command.get_arguments().map(|argument| argument.get_id().to_string()).collect();
    let command = arguments
        .iter()
        .filter(|id| AGENT.contains(&id.as_str()))
        .fold(command, |command, id| offering(command, id, KNOWN_AGENTS));
    let inner: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
    inner.iter().fold(command, |command, name| command.mut_subcommand(name, with_agents))
}

fn rules() -> Vec<&'static str> {
    kept(Scanner::builtin().rules().iter().map(|rule| rule.id.clone()))
}

/// The keys with a name in the place of `<id>`, which a shell would not take as it stands.
fn keys() -> Vec<&'static str> {
    let named = Config::keys().iter().map(|key| {
        key.path.replace("<id>", "default").replace("<tool>", "exec").replace("<rule>", "EXEC_PIPE_BASH")
    });
    kept(named.filter(|key| !key.contains('<')))
}

/// Names that a command line can hold, which wants them for as long as the program runs: it ends when they are printed.
fn kept(names: impl Iterator<Item = String>) -> Vec<&'static str> {
    names.map(|name| &*name.leak()).collect()
}

#[cfg(target_os = "linux")]
fn harnesses() -> Vec<&'static str> {
    stockade_harness::HARNESSES.iter().map(|harness| harness.name).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::Args;
    use clap::CommandFactory as _;

    #[test]
    fn every_name_that_is_offered_is_taken() {
        for (path, argument, names) in NAMES {
            for name in names() {
                let words = ["stockade"].into_iter().chain(path.iter().copied());
                let option = if path == &["hook"] { Some("--harness") } else { None };
                let words = words.chain(option).chain([name]);
                assert!(Args::command().try_get_matches_from(words).is_ok(), "{path:?} {argument} {name}");
            }
        }
        assert!(keys().iter().all(|key| Config::key(key).is_some()));
        assert!(keys().len() > Config::keys().len() / 2);
    }

    #[test]
    fn shells_get_what_their_kind_of_script_can_hold() {
        const ALL: &[&str] = &["NET_REVERSE_SHELL", "agents.default.maxSteps", "opencode"];
        for (shell, names) in [
            (clap_complete::Shell::Bash, ALL),
            (clap_complete::Shell::Zsh, ALL),
            // Those of clap offer fish the values of options alone.
            (clap_complete::Shell::Fish, &["opencode"]),
        ] {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut with_names(Args::command()), "stockade", &mut script);
            let script = String::from_utf8(script).unwrap();
            for name in names {
                assert!(script.contains(name), "{shell}: {name}");
            }
        }
    }
}
