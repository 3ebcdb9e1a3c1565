//! `stockade install`, `uninstall` and `status`: hooks that make a harness check tool calls.
#![expect(clippy::disallowed_methods, reason = "reads the home and the current directory")]

pub(super) mod observe;
mod server_trials;
mod servers;
mod toolchain;

use std::env;
use std::fmt::Write as _;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use serde::Serialize;
use stockade_guard::config::HookMode;
use stockade_text::{escape, escape_lines, escape_path};

use super::hook::{harness, names};
use super::nap::nap_words;
use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_harness::registration::{self, Refused, SettingsChange, SettingsFolders, SettingsScope};
use stockade_harness::state::{self, State};
use stockade_harness::{HARNESSES, Harness, HookRegistration, rewrite};
use stockade_state::nap;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade install claude              install the hook for Claude Code, in all directories
  stockade install codex --dry-run     show what would be written
  stockade install gemini --project    install in the settings of this project
  stockade install claude --observe    record what would be refused, and refuse only what no rule can allow
  stockade install claude --mcp        wrap its MCP servers in `stockade mcp wrap`
  stockade status                      check that installed hooks block a test call
  stockade uninstall claude            remove exactly what was installed";

const EXIT_CODES: &str = "\
Exit codes:
  0  done; with status: every agent in use blocks the test calls
  1  with status: an agent does not call the hook, or would run a call that must be blocked
  2  the command line or the settings are wrong; nothing was written

Settings files are replaced atomically; comments, order and other keys are preserved. `uninstall` restores a file byte for byte if it was
not changed in the meantime.";

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct InstallArgs {
    /// Agent to install the hook in
    #[arg(value_name = "HARNESS", value_parser = harness, help = format!("Agent to install the hook in: {}", names()))]
    harness: &'static Harness,

    /// Use your own settings (default)
    #[arg(long, conflicts_with = "project")]
    user: bool,

    /// Use the settings of the project in the current directory
    #[arg(long)]
    project: bool,

    /// Wrap the agent's MCP servers in `stockade mcp wrap` instead of installing hooks, or unwrap them
    #[arg(long)]
    mcp: bool,

    /// Record what the rules would refuse, ask about or run in the sandbox, and leave it to the agent's own permission prompts;
    /// installing without this option enforces again
    #[arg(long, conflicts_with = "mcp")]
    observe: bool,

    /// Show the changes without writing them
    #[arg(long)]
    dry_run: bool,

    /// Do not start programs and servers in the sandbox to see which work there
    #[arg(long)]
    no_try: bool,
}

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = EXIT_CODES)]
pub(crate) struct StatusArgs {
    /// Agent to check [default: all that are in use here]
    #[arg(value_name = "HARNESS", value_parser = harness)]
    harness: Option<&'static Harness>,

    /// Output format
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

/// Returns the directories of settings for this user.
pub(crate) fn places() -> Result<SettingsFolders, Failure> {
    let home = env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let home = home.ok_or_else(|| Failure::usage("cannot find your settings: HOME is not set"))?;
    let project = env::current_dir()
        .map_err(|error| Failure::incomplete(format_args!("cannot read the current directory: {error}")))?;
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
        return servers::install(harness, &places, scope(args), &program, (args.dry_run, !args.no_try));
    }
    let change = registration::install(harness, &places, scope(args), &program)?;
    let mut said = changed(harness, &change, args.dry_run, "already has the hooks")?;
    let mode = if args.observe { HookMode::Observe } else { HookMode::Enforce };
    said.push_str(&observe::set(harness, mode, args.dry_run)?);
    if !args.dry_run {
        said.push_str(&told(harness, &state::look(harness, &places)));
        if !args.no_try {
            said.push_str(&toolchain::tried(&program, harness.name));
        }
        said.push_str(&format!(
            "Approvals of the agent `{0}`: `stockade allow {0} WHAT`. More: `stockade docs`\n",
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
    if args.observe {
        return Err(Failure::usage("a hook that is not installed observes nothing")
            .with_help(format!("stockade install {} --observe", args.harness.name)));
    }
    let change = registration::uninstall(args.harness, &places, scope(args))?;
    let mut said = changed(args.harness, &change, args.dry_run, "has no hooks of stockade")?;
    // A hook that is installed later enforces.
    said.push_str(&observe::set(args.harness, HookMode::Enforce, args.dry_run)?);
    print(&said, Exit::Clean)
}

/// Makes a change or shows it, and returns the output.
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
        (None, _) => format!("created {path}\n"),
        _ => format!("changed {path}\n"),
    })
}

/// The status without a harness.
const NONE_FOUND: &str =
    "no settings of a supported agent found\n  = help: to protect one, name it: stockade install claude\n";

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
            let nap = nap::remaining().map(|left| left.as_secs());
            format!("{}\n", to_printable_json(&serde_json::json!({ "harnesses": rows, "napSeconds": nap })))
        }
        Format::Text if states.is_empty() => NONE_FOUND.to_owned(),
        Format::Text => states.iter().map(|(harness, state)| told(harness, state)).collect(),
    };
    let nap = nap::remaining().filter(|_| args.format == Format::Text).map(napping).unwrap_or_default();
    print(&format!("{nap}{text}"), exit)
}

/// Reports a nap, before everything else.
fn napping(left: Duration) -> String {
    format!("nap: no questions are asked for another {}; end it: stockade nap --end\n", nap_words(left))
}

/// The state of a harness, for programs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'s> {
    harness: &'s str,
    refuses: bool,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Seconds since it called its hook last.
    #[serde(skip_serializing_if = "Option::is_none")]
    seen_seconds_ago: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    why: Option<&'s str>,
    /// Whether it only records what rules alone would refuse.
    observes: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    fix: Option<&'s str>,
    /// Gaps of its hooks that no registration closes.
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
            observes: refuses && observe::observes(harness),
            fix,
            open: harness.open,
        }
    }
}

fn ago(seen: SystemTime) -> u64 {
    seen.elapsed().map_or(0, |since| since.as_secs())
}

/// The state of a harness as text.
fn told(harness: &Harness, state: &State) -> String {
    let title = harness.title;
    let mut out = match state {
        State::NotUsed => format!("--    {title}: no settings found\n"),
        State::NotRegistered => {
            format!(
                "warn  {title}: no hook, tools are used unchecked\n      fix: stockade install {}\n",
                harness.name
            )
        }
        State::Broken { why, fix } => format!("warn  {}\n      fix: {}\n", escape(why), escape(fix)),
        State::Refuses { file, seen } => {
            let seen = seen.map_or_else(
                || "it has not called the hook yet".to_owned(),
                |seen| format!("last call {} seconds ago", ago(seen)),
            );
            format!("ok    {title}: a test call through {} was blocked; {seen}\n", escape_path(file))
        }
    };
    if matches!(state, State::Refuses { .. }) {
        if observe::observes(harness) {
            writeln!(
                out,
                "      observes: of other calls, it refuses only what no rule can allow, and records the rest; enforce: stockade install {}",
                harness.name
            )
            .ok();
        }
        for open in harness.open {
            writeln!(out, "      known gap: {open}").ok();
        }
        if harness.tried.is_none() {
            writeln!(out, "      based on the documentation of {title}; not tested with the program").ok();
        }
    }
    out
}

/// Returns the change as removed and added lines.
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
