//! `cargo xtask battery FOLDER`: runs the escape attempts in FOLDER, and work that must succeed, in sandboxes. `cargo
//! xtask battery --cve` tries published attacks instead, which are in `battery/cve`.
//!
//! The folder contains `run.py`, which lays bait, runs each probe behind a prefix, and prints a score. It is run as
//! an ordinary user and as root, first without any sandbox as a control: a probe that fails even then proves nothing.
//! The last lines are the score; anything less than the full score is a failure.

mod cve;

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use testkit::{Echo, Json, Program, Stop, Table, Workspace, no_more};

/// Users that start the sandbox, the options of `run.py`, and a name for the results.
const USERS: &[(&str, &[&str], &str)] = &[("an ordinary user", &[], "user"), ("root", &["--root"], "root")];

/// The Python of the system: that of a version manager may lie where the ordinary user cannot read.
const PYTHON: &str = "/usr/bin/python3";

/// Prefixes of the probes, their display names, and names for the results. `run.py` fills in the braces. The rules
/// for commands are off, because they would refuse some probes before the sandbox is tested. `--explain` opens no way
/// out.
const WAYS: &[(&str, &str, &str)] = &[
    ("exec --no-rules --workspace {workdir} --ro {toolchain} --", "", ""),
    ("exec --no-rules --explain --workspace {workdir} --ro {toolchain} --", ", looked at", "-explained"),
];

/// Requirements, and how to meet them.
const NEEDED: &[(&str, &str)] = &[
    (
        "/home/pbattery/.pb-battery-home",
        "useradd --create-home --uid 4711 pbattery && touch /home/pbattery/.pb-battery-home",
    ),
    ("/opt/pb-rust/bin/cargo", "cp --archive --link \"$(rustc --print sysroot)\" /opt/pb-rust"),
    (PYTHON, "apt-get install --yes python3"),
    ("/usr/bin/gcc", "apt-get install --yes gcc"),
];

/// Directory of the program and the results: both users can reach it, unlike the build directory.
const PLACE: &str = "/opt/stockade-battery";

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let Some((folder, rest)) = arguments.split_first() else {
        return Err(Stop::usage(
            "which folder? usage: cargo xtask battery FOLDER (it holds run.py), or --cve",
        ));
    };
    if folder == "--cve" {
        return cve::run(workspace, rest);
    }
    no_more(rest, "battery FOLDER")?;
    let battery = Path::new(folder).join("run.py");
    let battery =
        battery.canonicalize().map_err(|error| Stop::failed(format!("{}: {error}", battery.display())))?;
    check_machine()?;
    let program = install(workspace)?;
    let mut table = Table::new(&["started by", "kept in", "works"]);
    let mut is_full = true;
    for (who, options, name) in USERS {
        let control = Path::new(PLACE).join(format!("none-{name}.json"));
        if !control.is_file() {
            println!("control, with no sandbox, as {who}:");
            score(&battery, options, "", &["--json".as_ref(), control.as_os_str()])?;
        }
        for (arguments, how, suffix) in WAYS {
            println!("in the sandbox, as {who}{how}:");
            let wrap = format!("{} {arguments}", program.display());
            let results = Path::new(PLACE).join(format!("stockade-{name}{suffix}.json"));
            let files = ["--control".as_ref(), control.as_os_str(), "--json".as_ref(), results.as_os_str()];
            score(&battery, options, &wrap, &files)?;
            let totals = totals(&results)?;
            is_full &= totals.iter().all(|(reached, of)| reached == of && of != "0");
            let cells = totals.map(|(reached, of)| format!("{reached}/{of}"));
            table.row(std::iter::once(format!("{who}{how}")).chain(cells));
        }
    }
    println!("\n{table}");
    if is_full {
        Ok(())
    } else {
        Err(Stop::failed("something got out, or something does not work; see above"))
    }
}

/// Numbers of contained attempts and of successful work, each with its total.
fn totals(results: &Path) -> Result<[(String, String); 2], Stop> {
    let failed = || Stop::failed(format!("{}: no totals in it", results.display()));
    let text = std::fs::read_to_string(results).map_err(|_| failed())?;
    let all = Json::parse(&text).ok_or_else(failed)?;
    let number = |kind: &str, name: &str| match all.at("totals").at(kind).at(name) {
        Json::Number(number) => Ok(number.clone()),
        _ => Err(failed()),
    };
    Ok([
        (number("TOTAL", "blocked")?, number("TOTAL", "n")?),
        (number("benign", "works")?, number("benign", "n")?),
    ])
}

fn check_machine() -> Result<(), Stop> {
    let missing = NEEDED.iter().find(|(path, _)| !Path::new(path).exists());
    missing.map_or(Ok(()), |(path, command)| {
        Err(Stop::failed(format!("{path} is missing; as root, run: {command}")))
    })
}

/// Builds the command and puts it where both users reach it.
fn install(workspace: &Workspace) -> Result<PathBuf, Stop> {
    let failed = |error: &dyn std::fmt::Display| Stop::failed(format!("cannot install the command: {error}"));
    let arguments = ["install", "--quiet", "--force", "--debug", "--path", "crates/cli", "--root"];
    let build = workspace.cargo().args(arguments).arg(PLACE);
    println!("$ {build}");
    let output = build.run(Echo::Live).map_err(|error| failed(&error))?;
    if output.success { Ok(Path::new(PLACE).join("bin/stockade")) } else { Err(failed(&"it does not build")) }
}

fn score(battery: &Path, options: &[&str], wrap: &str, files: &[&OsStr]) -> Result<(), Stop> {
    let name = if wrap.is_empty() { "none" } else { "stockade" };
    let probes = Program::new(PYTHON).arg(battery).args(options);
    let probes =
        probes.args(["--name", name, "--wrap", wrap, "--cache"]).arg(Path::new(PLACE).join("probes"));
    // The ordinary user cannot reach the directories of a version manager.
    let probes =
        probes.args(files).env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    match probes.run(Echo::Live) {
        Ok(output) if output.success => Ok(()),
        Ok(_) => Err(Stop::failed("the battery did not run to its end")),
        Err(error) => Err(Stop::failed(format!("cannot run the battery: {error}"))),
    }
}
