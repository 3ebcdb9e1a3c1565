//! Completed names: scanner rules, agents, configuration keys, harnesses.
//!
//! Names from the user's own rule files and configuration are not included: the completion script is generated once and
//! cannot know them.

use clap::Command;
use clap::builder::PossibleValuesParser;

use stockade_guard::config::{Config, KNOWN_AGENTS};
use stockade_guard::scanner::Scanner;

/// The subcommands of an argument, the argument, and its values.
type NamedArgument = (&'static [&'static str], &'static str, fn() -> Vec<&'static str>);

/// The arguments with names: their subcommands, and the id of the argument.
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

/// Value name of arguments that take an agent's id.
const AGENT: [&str; 2] = ["agent", "agents"];

/// Returns the command with value hints, only for completions: arguments may accept more values than are offered.
pub(super) fn with_names(mut command: Command) -> Command {
    // Subcommands are only built by this call.
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

/// Returns the keys with example names for placeholders, since `<id>` has a meaning in shells.
fn keys() -> Vec<&'static str> {
    let named = Config::keys().iter().map(|key| {
        key.path.replace("<id>", "default").replace("<tool>", "exec").replace("<rule>", "EXEC_PIPE_BASH")
    });
    kept(named.filter(|key| !key.contains('<')))
}

/// Leaks names, since clap requires static ones; the program ends right after printing them.
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
    fn every_completion_is_accepted() {
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
    fn completions_fit_the_scripts_of_each_shell() {
        const ALL: &[&str] = &["NET_REVERSE_SHELL", "agents.default.maxSteps", "opencode"];
        for (shell, names) in [
            (clap_complete::Shell::Bash, ALL),
            (clap_complete::Shell::Zsh, ALL),
            // For fish, clap completes only the values of options.
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
