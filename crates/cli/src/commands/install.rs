//! `stockade install`, `uninstall` and `status`: whether a harness asks before it uses a tool.
#![expect(clippy::disallowed_methods, reason = "asks where the home is, and in which folder it runs")]

mod servers;

use std::env;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::SystemTime;

use serde::Serialize;
use stockade_text::{escape, escape_lines, escape_path};

use super::hook::harness;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_harness::registration::{self, Refused, SettingsChange, SettingsFolders, SettingsScope};
use stockade_harness::state::{self, State};
use stockade_harness::{HARNESSES, Harness, HookRegistration, rewrite};
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade install claude              have Claude Code ask before it uses a tool, wherever you start it
  stockade install codex --dry-run     show what would be written
  stockade install gemini --project    register in the settings of this project
  stockade install claude --mcp        put `stockade mcp wrap` in front of its servers
  stockade status                      see which harnesses ask, by asking their hooks
  stockade uninstall claude            take exactly that out again";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; with status: every harness that is used here refuses what must be refused
  1  with status: one does not ask, or would use a tool that must not be used
  2  the command line is wrong, or the settings are such that nothing was written

Settings are replaced whole or not at all; comments, order and keys that are not ours stay as they are. After `uninstall`, a
file that nobody has touched since is what it was, byte for byte.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct InstallArgs {
    /// The program that runs the agent
    #[arg(value_name = "HARNESS", value_parser = harness)]
    harness: &'static Harness,

    /// In the settings of this user; this is the default
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// In the settings of the project in this folder
    #[arg(long)]
    project: bool,

    /// The servers of the Model Context Protocol instead of the hooks: put `stockade mcp wrap` in front of each, or take it away
    #[arg(long)]
    mcp: bool,

    /// Show what would be changed, and change nothing
    #[arg(long)]
    dry_run: bool,
}

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct StatusArgs {
    /// The program that runs the agent; all that are used here, if none is named
    #[arg(value_name = "HARNESS", value_parser = harness)]
    harness: Option<&'static Harness>,

    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// The folders that settings lie in, for whoever runs this.
pub(crate) fn places() -> Result<SettingsFolders, Failure> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home =
        home.ok_or_else(|| Failure::usage("HOME names no folder, so there are no settings of yours"))?;
    let project =
        env::current_dir().map_err(|error| Failure::incomplete(format_args!("this folder: {error}")))?;
    Ok(SettingsFolders { home, project, system: "/".into() })
}

impl From<Refused> for Failure {
    fn from(refused: Refused) -> Self {
        let failure = Self::usage(refused.why);
        if refused.fix.is_empty() { failure } else { failure.with_help(refused.fix) }
    }
}

const fn scope(args: &InstallArgs) -> SettingsScope {
    if args.project { SettingsScope::Project } else { SettingsScope::User }
}

/// Runs `stockade install`.
pub(crate) fn install(args: &InstallArgs) -> Result<Exit, Failure> {
    let (harness, places) = (args.harness, places()?);
    let program = rewrite::program().map_err(Failure::incomplete)?;
    if args.mcp {
        return servers::install(harness, &places, scope(args), &program, args.dry_run);
    }
    let change = registration::install(harness, &places, scope(args), &program)?;
    let mut said = changed(harness, &change, args.dry_run, "has the hooks already")?;
    if !args.dry_run {
        said.push_str(&told(harness, &state::look(harness, &places)));
        said.push_str(&format!(
            "what it decides by is the configuration of the agent `{0}`: `stockade config explain agents.{0}.toolPolicy.profile`. \
             Tools of the web and of servers are refused until `agents.{0}.toolPolicy.allow` names them\n",
            harness.name
        ));
    }
    print(&said, Exit::Clean)
}

/// Runs `stockade uninstall`.
pub(crate) fn uninstall(args: &InstallArgs) -> Result<Exit, Failure> {
    let places = places()?;
    if args.mcp {
        return servers::uninstall(args.harness, &places, scope(args), args.dry_run);
    }
    let change = registration::uninstall(args.harness, &places, scope(args))?;
    print(&changed(args.harness, &change, args.dry_run, "has no hooks of ours")?, Exit::Clean)
}

/// Makes a change, or shows it, and says so.
fn changed(
    harness: &Harness,
    change: &SettingsChange,
    is_dry: bool,
    nothing: &str,
) -> Result<String, Failure> {
    let path = escape_path(&change.path);
    if change.is_none() {
        return Ok(format!("{path} {nothing}\n"));
    }
    if is_dry {
        return Ok(difference(&path, change));
    }
    registration::apply(harness, change)?;
    Ok(match (&change.before, &change.after) {
        (_, None) => format!("removed {path}\n"),
        (None, _) => format!("made {path}\n"),
        _ => format!("changed {path}\n"),
    })
}

/// Runs `stockade status`.
pub(crate) fn status(args: &StatusArgs) -> Result<Exit, Failure> {
    let places = places()?;
    let one = args.harness.into_iter();
    let all = HARNESSES.iter().filter(|_| args.harness.is_none());
    let states: Vec<(&Harness, State)> = one
        .chain(all)
        .filter(|harness| {
            args.harness.is_some() || !matches!(harness.registered, HookRegistration::ByHand(_))
        })
        .map(|harness| (harness, state::look(harness, &places)))
        .filter(|(_, state)| args.harness.is_some() || *state != State::NotUsed)
        .collect();
    let is_well = |state: &State| matches!(state, State::Refuses { .. });
    let exit = if states.iter().all(|(_, state)| is_well(state)) { Exit::Clean } else { Exit::Found };
    let text: String = match args.format {
        Format::Json => {
            let rows: Vec<Row<'_>> = states.iter().map(|(harness, state)| Row::of(harness, state)).collect();
            format!("{}\n", to_printable_json(&serde_json::json!({ "harnesses": rows })))
        }
        Format::Text if states.is_empty() => "no settings of a harness that is known here\n".to_owned(),
        Format::Text => states.iter().map(|(harness, state)| told(harness, state)).collect(),
    };
    print(&text, exit)
}

/// What was found out about a harness, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'s> {
    harness: &'s str,
    refuses: bool,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// How many seconds ago it called its hook last.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_seconds_ago: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'s str>,
    /// What it does not close, whatever is registered.
    open: &'s [&'s str],
}

impl<'s> Row<'s> {
    fn of(harness: &'s Harness, state: &'s State) -> Self {
        let (word, file, seen, why, fix) = match state {
            State::NotUsed => ("not used", None, None, None, None),
            State::NotRegistered => ("not registered", None, None, None, None),
            State::Refuses { file, seen } => ("refuses", Some(escape_path(file)), *seen, None, None),
            State::Broken { why, fix } => ("broken", None, None, Some(why.as_str()), Some(fix.as_str())),
        };
        let seen_seconds_ago = seen.map(ago);
        let refuses = matches!(state, State::Refuses { .. });
        Self {
            harness: harness.name,
            refuses,
            state: word,
            file,
            seen_seconds_ago,
            why,
            fix,
            open: harness.open,
        }
    }
}

fn ago(seen: SystemTime) -> u64 {
    seen.elapsed().map_or(0, |since| since.as_secs())
}

/// What was found out about a harness, for people.
fn told(harness: &Harness, state: &State) -> String {
    let title = harness.title;
    let mut out = match state {
        State::NotUsed => format!("--    {title}: no settings of it here\n"),
        State::NotRegistered => {
            format!(
                "warn  {title}: it uses tools without asking\n      mend it: stockade install {}\n",
                harness.name
            )
        }
        State::Broken { why, fix } => format!("warn  {}\n      mend it: {}\n", escape(why), escape(fix)),
        State::Refuses { file, seen } => {
            let seen = seen.map_or_else(
                || "it has not been seen to call it yet".to_owned(),
                |seen| format!("it called it {} seconds ago", ago(seen)),
            );
            format!("ok    {title}: a denial was made through {}, and refused; {seen}\n", escape_path(file))
        }
    };
    if matches!(state, State::Refuses { .. }) {
        for open in harness.open {
            writeln!(out, "      what it leaves open: {open}").ok();
        }
        if harness.tried.is_none() {
            writeln!(out, "      this was never tried with {title} itself, only by its documentation").ok();
        }
    }
    out
}

/// What is changed, as lines that go and lines that come.
fn difference(path: &str, change: &SettingsChange) -> String {
    let (before, after) =
        (change.before.as_deref().unwrap_or_default(), change.after.as_deref().unwrap_or_default());
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (old.get(same..).unwrap_or_default(), new.get(same..).unwrap_or_default());
    let tail = old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new).count();
    let mut out = format!("--- {path}\n+++ {path}\n");
    let lines = |sign: char, lines: &[&str]| -> String {
        let kept = lines.get(..lines.len().saturating_sub(tail)).unwrap_or_default();
        kept.iter().map(|line| format!("{sign}{line}\n")).collect()
    };
    out.push_str(&lines('-', old_rest));
    out.push_str(&lines('+', new_rest));
    escape_lines(&out)
}

fn print(text: &str, exit: Exit) -> Result<Exit, Failure> {
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(text);
    output.finish(exit)
}
