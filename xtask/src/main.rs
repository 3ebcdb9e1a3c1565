//! The tasks of this repository, run as `cargo xtask <command>`. One file per command, which documents what it checks and why.

#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this program reads the repository, runs the tools and tells a person what happened"
)]

mod bench;
mod budgets;
mod check;
mod checks;
mod ci;
mod docs;
mod elsewhere;
mod features;
mod fuzz;
mod generate;
mod harnesses;
mod lint;
mod nightly;
mod oracle;
mod own_scan;
mod package;
mod release;
mod report;
mod runner;
mod runners;
mod sbom;
mod setup;
mod static_programs;
mod tally;
mod test;
mod tidy;

use std::process::ExitCode;

use testkit::{Stop, Table, Workspace, nearest};

/// One `cargo xtask <name>`.
struct Command {
    name: &'static str,
    arguments: &'static str,
    summary: &'static str,
    run: fn(&Workspace, &[String]) -> Result<(), Stop>,
}

/// In the order in which a newcomer meets them.
const COMMANDS: &[Command] = &[
    Command {
        name: "ci",
        arguments: "[--job JOB] [--without GROUP] [--install]",
        summary: "run every check; the same command runs in continuous integration",
        run: ci::run,
    },
    Command {
        name: "check",
        arguments: "[CRATE…]",
        summary: "check the format, clippy and the tests of what changed and what depends on it",
        run: check::run,
    },
    Command {
        name: "setup",
        arguments: "[--check] [--optional]",
        summary: "install the tools that the checks need and this machine lacks",
        run: setup::run,
    },
    Command {
        name: "test",
        arguments: "[CRATE]",
        summary: "run the tests and doc tests, with all features",
        run: test::run,
    },
    Command { name: "lint", arguments: "", summary: "check the format and run clippy", run: lint::run },
    Command {
        name: "tidy",
        arguments: "",
        summary: "check what the compiler cannot: arrows, unsafe, I/O, files",
        run: tidy::run,
    },
    Command {
        name: "features",
        arguments: "[CRATE]",
        summary: "lint each crate with each set of features alone",
        run: features::run,
    },
    Command {
        name: "elsewhere",
        arguments: "",
        summary: "check that the crates compile for other processors and systems",
        run: elsewhere::run,
    },
    Command {
        name: "package",
        arguments: "",
        summary: "check that each crate can be published",
        run: package::run,
    },
    Command {
        name: "sbom",
        arguments: "[PACKAGE]",
        summary: "print what a program is made of, in the format of CycloneDX",
        run: sbom::run,
    },
    Command {
        name: "docs",
        arguments: "",
        summary: "build the documentation, with warnings as errors",
        run: docs::run,
    },
    Command {
        name: "generate",
        arguments: "[--check] [CRATE]",
        summary: "write the generated files anew (or only compare them)",
        run: generate::run,
    },
    Command {
        name: "fuzz",
        arguments: "[CRATE [TARGET] [SECONDS]]",
        summary: "fuzz a crate; without arguments, list the targets",
        run: fuzz::run,
    },
    Command {
        name: "nightly",
        arguments: "",
        summary: "run the long checks: every feature set, packages, longer fuzzing and oracle",
        run: nightly::run,
    },
    Command {
        name: "bench",
        arguments: "[CRATE] [-- ARGS]",
        summary: "run the benches in release mode",
        run: bench::run,
    },
    Command {
        name: "budgets",
        arguments: "[NAME…] [--accept REASON]",
        summary: "count what commands cost, and compare it with the limits in budgets.toml",
        run: budgets::run,
    },
    Command {
        name: "oracle",
        arguments: "[COUNT [SEED]]",
        summary: "ask real shells what generated commands run, and whether it was foreseen",
        run: oracle::run,
    },
    Command {
        name: "conformance",
        arguments: "FOLDER",
        summary: "run the test vectors in FOLDER/vectors, one score a file",
        run: runners::conformance,
    },
    Command {
        name: "static",
        arguments: "[stockade|e2b|kubernetes]",
        summary: "build a program as one file without shared libraries or paths of this machine",
        run: static_programs::run,
    },
    Command {
        name: "release",
        arguments: "--dry-run [--binary FILE] | pack [--binary FILE] | index --key FILE",
        summary: "make what users install, and try each artefact in a clean root",
        run: release::run,
    },
    Command {
        name: "own-scan",
        arguments: "",
        summary: "scan this repository with its own program",
        run: own_scan::run,
    },
    Command {
        name: "corpus",
        arguments: "FOLDER [--evasions]",
        summary: "score the scanner on labelled skills, or on their attacks written anew",
        run: runners::corpus,
    },
    Command {
        name: "harnesses",
        arguments: "[HARNESS…]",
        summary: "run real harnesses with a model of ours, and see that what must not run does not",
        run: harnesses::run,
    },
    Command {
        name: "driven",
        arguments: "[CLI…]",
        summary: "drive real CLIs with a model of ours, and see that they work and that no key is within",
        run: harnesses::driven,
    },
    Command {
        name: "battery",
        arguments: "FOLDER | --cve",
        summary: "try to get out of the sandbox with the probes in FOLDER, or try published attacks",
        run: runners::battery,
    },
];

const EXAMPLES: &str = "\
Examples:
  cargo xtask ci                     everything, ending in a table of what ran
  cargo xtask check                  the inner loop: what changed, and what depends on it
  cargo xtask test scanner           the tests of one crate
  cargo xtask fuzz scanner 60        every fuzz target of a crate, a minute each
  cargo xtask generate scanner       after a change to the rules
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            if !stop.message().is_empty() {
                eprintln!("xtask: {}", stop.message());
            }
            stop.exit_code()
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Stop> {
    let Some((name, rest)) = arguments.split_first() else {
        print!("{}", help());
        return Ok(());
    };
    let asks_for_help = |word: &String| matches!(word.as_str(), "help" | "-h" | "--help");
    if asks_for_help(name) {
        print!("{}", help());
        return Ok(());
    }
    let Some(command) = COMMANDS.iter().find(|command| command.name == name) else {
        return Err(unknown_command(name));
    };
    if rest.first().is_some_and(asks_for_help) {
        println!("cargo xtask {} {}\n  {}", command.name, command.arguments, command.summary);
        return Ok(());
    }
    (command.run)(&Workspace::load()?, rest)
}

fn help() -> String {
    let mut rows = Table::new(&[]);
    for command in COMMANDS {
        rows.row([format!("  {} {}", command.name, command.arguments), command.summary.to_owned()]);
    }
    format!("The tasks of this repository.\n\nUsage: cargo xtask <command>\n\n{rows}\n{EXAMPLES}")
}

fn unknown_command(name: &str) -> Stop {
    let hint = match nearest(name, COMMANDS.iter().map(|command| command.name)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`cargo xtask` lists the commands".to_owned(),
    };
    Stop::usage(format!("there is no command `{name}`; {hint}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_command() {
        let help = help();
        for command in COMMANDS {
            assert!(help.contains(&format!("\n  {} ", command.name)), "{}", command.name);
        }
    }

    #[test]
    fn a_misspelled_command_gets_the_nearest_name() {
        let stop = dispatch(&["tset".to_owned()]).unwrap_err();
        assert_eq!(stop.message(), "there is no command `tset`; did you mean `test`?");
        assert_eq!(stop.exit_code(), ExitCode::from(2));
    }

    #[test]
    fn a_word_near_nothing_points_to_the_list() {
        let stop = dispatch(&["quicksilver".to_owned()]).unwrap_err();
        assert_eq!(stop.message(), "there is no command `quicksilver`; `cargo xtask` lists the commands");
    }
}
