//! `cargo xtask fuzz [CRATE [TARGET] [SECONDS]]`: libFuzzer on the stable toolchain.
//!
//! Each crate's `fuzz/` is a package in the layout of cargo-fuzz, and cargo-fuzz can run it; but that needs a nightly
//! compiler, and all it does for us is to pass the flags of `fuzz/build.rs`. Together they are the workspace in `fuzz/` at
//! the root, so that what they share is built once. Inputs come from `fuzz/seeds/<target>/`
//! (committed), new ones go to `fuzz/corpus/<target>/`, crashes to `fuzz/artifacts/<target>/` (both ignored by git).

mod build;
mod canary;
mod session;

use std::path::Path;

use crate::checks::Check;
use crate::runner::run_live;
use testkit::{Program, Stop, Workspace, nearest, no_more};

pub(crate) use build::host;
use session::{Extent, Session};

const GROUP: &str = "fuzz";

/// The workspace of all targets.
pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

const USAGE: &str = "fuzz [CRATE [TARGET] [SECONDS]], or fuzz CRATE TARGET --replay FILE";

/// How many inputs `nightly` tries with each target, ten times over, and `ci` a fifth of it. A number and not a time, so that the same
/// inputs are tried whatever else the machine does: some five seconds' worth.
const RUNS: u64 = 50_000;

/// `ci` tries one input of so many. The ordinary tests replay every seed.
const CI_SHARE: u64 = 5;

/// How much longer a night is.
const NIGHTLY_TIMES: u64 = 10;

/// The targets whose inputs take longer, or next to nothing.
const RUNS_OF: &[(&str, u64)] = &[
    ("finds_all_of_a_users_rule", 150),
    ("finds_all", 2_000),
    ("restrictions_only_restrict", 2_500),
    ("skill", 7_000),
    ("denying_is_wider_than_allowing", 7_000),
    ("configuration", 7_000),
    ("danger_cannot_be_wrapped", 7_000),
    ("facts_hold", 9_000),
    ("reports_hold", 9_000),
    ("sanitizes", 9_000),
    ("redaction", 9_000),
    ("decisions_only_get_stricter", 12_000),
    ("skill_head", 12_000),
    ("audit_verify", 14_000),
    ("the_jail_holds", 15_000),
    ("extraction", 15_000),
    ("budget", 20_000),
    ("shell_hazards_stay_found", 20_000),
    ("rule_files_reload", 22_000),
    ("positions", 22_000),
    ("net_target", 140_000),
    ("names", 160_000),
    ("proxy_request", 180_000),
    ("audit_record", 200_000),
    ("document_toml", 200_000),
    ("git_settings", 250_000),
    ("requests", 250_000),
    ("document_json", 300_000),
    ("audit_note", 600_000),
    ("limit_trace", 800_000),
    ("limit_script", 800_000),
    ("git_index", 1_500_000),
];

/// How long a person's session takes, unless they say otherwise.
const DEFAULT_SECONDS: u64 = 60;

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let Some((name, rest)) = arguments.split_first() else {
        list(workspace);
        return Ok(());
    };
    let folder = folder_of(workspace, name)?;
    if let [target, flag, file] = rest
        && flag == "--replay"
    {
        return replay(workspace, &folder, known_target(workspace, &folder, target)?, Path::new(file));
    }

    let (target, seconds) = target_and_seconds(rest)?;
    let targets = match target {
        Some(target) => vec![known_target(workspace, &folder, target)?.to_owned()],
        None => targets(workspace, &folder),
    };
    if let Some(reason) = crate::setup::lacking(GROUP) {
        return Err(Stop::failed(reason));
    }
    let mut checks = vec![build::check(workspace, Some(&package_of(&folder)))];
    for target in targets {
        checks.push(Session::new(workspace, &folder, &target, Extent::Seconds(seconds)).check());
    }
    run_live(&checks)
}

/// Returns the checks of continuous integration.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    sessions(workspace, |runs| runs / CI_SHARE)
}

/// Returns the checks of `nightly`.
pub(crate) fn long_checks(workspace: &Workspace) -> Vec<Check> {
    sessions(workspace, |runs| runs * NIGHTLY_TIMES)
}

/// That the fuzzer works at all, then every target of every crate. Everything is built first, since a build takes every core,
/// and then one target a core is fuzzed.
fn sessions(workspace: &Workspace, extent: impl Fn(u64) -> u64) -> Vec<Check> {
    let mut checks = vec![build::check(workspace, None), canary::check(workspace)];
    for folder in crate_folders(workspace) {
        for target in targets(workspace, &folder) {
            let session = Session::new(workspace, &folder, &target, Extent::Runs(extent(runs_of(&target))));
            checks.push(session.check().side_by_side());
        }
    }
    checks
}

fn runs_of(target: &str) -> u64 {
    RUNS_OF.iter().find(|(name, _)| *name == target).map_or(RUNS, |&(_, runs)| runs)
}

fn crate_folders(workspace: &Workspace) -> Vec<String> {
    let folders = workspace.crates.iter().map(|one| format!("{}/fuzz", one.folder));
    folders.filter(|folder| workspace.has(&format!("{folder}/Cargo.toml"))).collect()
}

/// The package in a folder: `stockade-policy-fuzz` in `crates/policy/fuzz`.
fn package_of(folder: &str) -> String {
    format!("stockade-{}-fuzz", crate_of(folder))
}

/// The crate that a folder of targets belongs to: `policy`.
fn crate_of(folder: &str) -> &str {
    folder.trim_start_matches("crates/").trim_end_matches("/fuzz")
}

/// The targets of a package, by the names of their files.
fn targets(workspace: &Workspace, folder: &str) -> Vec<String> {
    let entries = std::fs::read_dir(workspace.root.join(folder).join("fuzz_targets"));
    let names = entries.into_iter().flatten().flatten().map(|entry| entry.file_name());
    let mut targets: Vec<String> =
        names.filter_map(|name| Some(name.to_str()?.strip_suffix(".rs")?.to_owned())).collect();
    targets.sort();
    targets
}

fn list(workspace: &Workspace) {
    for folder in crate_folders(workspace) {
        let name = crate_of(&folder);
        println!("cargo xtask fuzz {name}");
        for target in targets(workspace, &folder) {
            println!("cargo xtask fuzz {name} {target}");
        }
    }
    println!("\nEach takes a number of seconds as its last argument; {DEFAULT_SECONDS} otherwise.");
}

fn folder_of(workspace: &Workspace, name: &str) -> Result<String, Stop> {
    let folder = format!("{}/fuzz", workspace.find(name)?.folder);
    if crate_folders(workspace).contains(&folder) {
        return Ok(folder);
    }
    Err(Stop::usage(format!("{name} has no fuzz targets; `cargo xtask fuzz` lists those there are")))
}

fn known_target<'a>(workspace: &Workspace, folder: &str, target: &'a str) -> Result<&'a str, Stop> {
    let known = targets(workspace, folder);
    if known.iter().any(|name| name == target) {
        return Ok(target);
    }
    let hint = nearest(target, known.iter().map(String::as_str))
        .map_or_else(|| format!("there are: {}", known.join(", ")), |near| format!("did you mean `{near}`?"));
    Err(Stop::usage(format!("there is no fuzz target `{target}` in {folder}; {hint}")))
}

fn target_and_seconds(arguments: &[String]) -> Result<(Option<&str>, u64), Stop> {
    let (target, rest) = match arguments.split_first() {
        Some((first, rest)) if first.parse::<u64>().is_err() => (Some(first.as_str()), rest),
        _ => (None, arguments),
    };
    let Some((seconds, rest)) = rest.split_first() else { return Ok((target, DEFAULT_SECONDS)) };
    no_more(rest, USAGE)?;
    match seconds.parse() {
        Ok(seconds) => Ok((target, seconds)),
        Err(_) => {
            Err(Stop::usage(format!("`{seconds}` is not a number of seconds; usage: cargo xtask {USAGE}")))
        }
    }
}

/// Runs a target once on one file, to see a crash again.
fn replay(workspace: &Workspace, folder: &str, target: &str, file: &Path) -> Result<(), Stop> {
    let file = file.canonicalize().map_err(|error| Stop::failed(format!("{}: {error}", file.display())))?;
    let run = Program::new(build::binary(workspace, target))
        .arg(file)
        .folder(&workspace.root)
        .env("RUST_BACKTRACE", "0");
    run_live(&[
        build::check(workspace, Some(&package_of(folder))),
        Check::program(GROUP, format!("replay of {target}"), run),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<(Option<String>, u64), String> {
        let words: Vec<String> = words.iter().map(|&word| word.to_owned()).collect();
        target_and_seconds(&words)
            .map(|(target, seconds)| (target.map(str::to_owned), seconds))
            .map_err(|stop| stop.message().to_owned())
    }

    #[test]
    fn targets_with_a_number_of_runs_exist() {
        let workspace = Workspace::load().unwrap();
        let folders = crate_folders(&workspace);
        let known: Vec<String> = folders.iter().flat_map(|folder| targets(&workspace, folder)).collect();
        for (target, _) in RUNS_OF {
            assert!(known.iter().any(|name| name == target), "{target}");
        }
    }

    #[test]
    fn target_and_seconds_may_each_be_left_out() {
        assert_eq!(parse(&[]), Ok((None, 60)));
        assert_eq!(parse(&["5"]), Ok((None, 5)));
        assert_eq!(parse(&["scan"]), Ok((Some("scan".to_owned()), 60)));
        assert_eq!(parse(&["scan", "5"]), Ok((Some("scan".to_owned()), 5)));
        assert!(parse(&["scan", "long"]).unwrap_err().contains("`long` is not a number of seconds"));
        assert!(parse(&["scan", "5", "6"]).unwrap_err().contains("`6` means nothing here"));
    }
}
