//! The runners: published attacks, a labelled corpus, real shells and test vectors, tried on the crates and the program of this
//! repository. `cargo xtask battery`, `corpus`, `oracle` and `conformance` start them.

#![forbid(unsafe_code)]
#![expect(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "runs programs and reports to a person"
)]

mod battery;
mod conformance;
mod corpus;
mod fed_jail;
mod option_oracle;
mod oracle;
mod own_folder;

use std::process::ExitCode;

use testkit::{Stop, Workspace};

/// A runner and its name.
type Runner = (&'static str, fn(&Workspace, &[String]) -> Result<(), Stop>);

const RUNNERS: &[Runner] = &[
    ("battery", battery::run),
    ("conformance", conformance::run),
    ("corpus", corpus::run),
    ("option-oracle", option_oracle::run),
    ("oracle", oracle::run),
];

fn main() -> ExitCode {
    if let Some(done) = oracle::run_if_jailed().or_else(option_oracle::run_if_jailed) {
        return done;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(stop) => {
            report(&stop);
            stop.exit_code()
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<(), Stop> {
    let named = arguments.split_first();
    let chosen = named.and_then(|(name, rest)| Some((RUNNERS.iter().find(|row| row.0 == name)?.1, rest)));
    let Some((run, rest)) = chosen else {
        let names: Vec<&str> = RUNNERS.iter().map(|row| row.0).collect();
        return Err(Stop::usage(format!("missing or unknown runner; the runners are {}", names.join(", "))));
    };
    run(&Workspace::load()?, rest)
}

/// Prints why a runner stopped. The prefix of a skip is that of tests, so that the report of `cargo xtask ci` finds the reason.
fn report(stop: &Stop) {
    match stop {
        Stop::Skipped(reason) => eprintln!("skipped: {reason}"),
        stop if stop.message().is_empty() => {}
        stop => eprintln!("testkit: {}", stop.message()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_runner_gets_the_list() {
        for arguments in [vec![], vec!["batery".to_owned()]] {
            let stop = dispatch(&arguments).unwrap_err();
            assert!(
                stop.message().ends_with("battery, conformance, corpus, option-oracle, oracle"),
                "{}",
                stop.message()
            );
            assert_eq!(stop.exit_code(), ExitCode::from(2));
        }
    }
}
