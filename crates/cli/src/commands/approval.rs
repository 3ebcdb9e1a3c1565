//! What `stockade allow` and `stockade deny` have in common: the kind of the thing, and the output.
#![expect(clippy::disallowed_methods, reason = "looks for files and programs of a name, and resolves paths")]

mod last;

use std::fmt::Write as _;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use stockade_guard::command::shell::quote_argv;
use stockade_guard::egress::NetTarget;
use stockade_guard::policy::Access;
use stockade_harness::heartbeat;
use stockade_harness::tools::{ToolKind, is_tool_name, known};
use stockade_state::approvals::{
    AnswerUses, Approval, ApprovalChange, ApprovalKind, ApprovalScope, ApprovalSubject, ApprovedPath,
    allow_command_for, decide_command, decide_command_in, host_entry, place_of,
};
use stockade_state::learn::Need;
use stockade_text::{escape, escape_path};

use clap::Parser as _;

use super::policy::agent_or_all;
use crate::confirm::confirmed;
use crate::failure::Failure;

/// Arguments that name an agent and a thing.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(super) struct ApprovalArgs {
    /// Agent; '*' for all agents
    #[arg(value_name = "AGENT", value_parser = agent_or_all, required_unless_present = "last")]
    pub(super) agent: Option<String>,

    /// Command, tool, host or path
    #[arg(value_name = "WHAT", num_args = 1.., required_unless_present = "last", conflicts_with = "last",
        trailing_var_arg = true, allow_hyphen_values = true)]
    pub(super) what: Vec<String>,

    /// What the last question or refusal on record was about, of this agent or of all; asks for confirmation
    #[arg(long, conflicts_with_all = ["tool", "command", "host", "path", "write"])]
    pub(super) last: bool,

    /// Do not ask for confirmation of --last
    #[arg(long)]
    pub(super) yes: bool,

    /// Show the change without making it
    #[arg(long)]
    pub(super) dry_run: bool,

    /// Read WHAT as the name of a tool, even of one that is not known
    #[arg(long, conflicts_with_all = ["command", "host", "path", "write"])]
    pub(super) tool: bool,

    /// Read WHAT as a command, even if a tool or a host has that name
    #[arg(long, conflicts_with_all = ["host", "path", "write"])]
    pub(super) command: bool,

    /// Read WHAT as a host: a name, a URL, or an entry such as '*.example.com:8443'
    #[arg(long, conflicts_with_all = ["path", "write"])]
    pub(super) host: bool,

    /// Read WHAT as a file or directory to read
    #[arg(long)]
    pub(super) path: bool,

    /// Also to write; implies --path
    #[arg(long)]
    pub(super) write: bool,

    /// Only while the agent works in the workspace, or below it; otherwise in all projects
    #[arg(long)]
    pub(super) project: bool,

    /// Only in the session in which the agent's program called the hook last; it ends with the session
    #[arg(long, conflicts_with = "project")]
    pub(super) session: bool,

    /// Workspace of the agent, to which paths are relative
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(super) workspace: PathBuf,
}

/// A thing that is allowed or denied.
#[derive(Debug, PartialEq)]
enum Thing {
    Command(String),
    Subject(ApprovalSubject),
    /// A tool of the agent's own program, which is never refused.
    OwnTool(String),
}

/// Only the arguments, for those of a record.
#[derive(Debug, clap::Parser)]
struct RecordedArgs {
    #[command(flatten)]
    args: ApprovalArgs,
}

/// How long an approval lasts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ApprovalTime {
    /// The duration; by default until it is taken back.
    pub(super) time: Option<Duration>,
    /// Only for the next use of a command.
    pub(super) once: bool,
}

/// How long an approval for one use waits for it.
const ONCE: Duration = Duration::from_secs(3600);

impl ApprovalTime {
    const fn ends(self) -> bool {
        self.once || self.time.is_some()
    }

    /// Returns the time of a saved answer.
    fn of_command(self) -> Duration {
        self.time.unwrap_or(ONCE)
    }
}

/// Allows or denies what the arguments name, and returns the output.
pub(super) fn decide(args: &ApprovalArgs, kind: ApprovalKind, time: ApprovalTime) -> Result<String, Failure> {
    match (args.last, args.yes) {
        (true, _) => decide_last(args, kind, time),
        // `requires` of clap is not checked beside a conflict.
        (false, true) => Err(Failure::usage("--yes is only for --last")),
        (false, false) => decide_named(args, kind, time),
    }
}

/// Allows or denies what the last question or refusal was about, after it was shown and confirmed.
fn decide_last(args: &ApprovalArgs, kind: ApprovalKind, time: ApprovalTime) -> Result<String, Failure> {
    let last = last::find(args.agent.as_deref())?;
    let words = ["stockade".to_owned()].into_iter().chain(last.arguments);
    let read = RecordedArgs::try_parse_from(words);
    let mut named = read.map_err(|_| Failure::usage("the approval on record cannot be read"))?.args;
    (named.dry_run, named.project, named.session) = (true, args.project, args.session);
    let shown = decide_named(&named, kind, time)?;
    if args.dry_run {
        return Ok(format!("last: {}\n{shown}", last.told));
    }
    if !args.yes {
        let question = format!("last: {}\n{shown}{}? [y/N] ", last.told, title(kind));
        if !confirmed(&question, "use --yes to do it without asking, or --dry-run to see it")? {
            return Err(Failure::found("nothing was changed: not confirmed"));
        }
    }
    named.dry_run = false;
    Ok(format!("last: {}\n{}", last.told, decide_named(&named, kind, time)?))
}

const fn title(kind: ApprovalKind) -> &'static str {
    match kind {
        ApprovalKind::Allow => "Allow",
        ApprovalKind::Deny => "Deny",
    }
}

fn decide_named(args: &ApprovalArgs, kind: ApprovalKind, time: ApprovalTime) -> Result<String, Failure> {
    let agent = args.agent.as_deref().unwrap_or_default();
    let workspace = std::fs::canonicalize(&args.workspace)
        .map_err(|error| Failure::usage(format_args!("{}: {error}", escape_path(&args.workspace))))?;
    let scope = scope(args, agent, &workspace, time)?;
    let mut out = String::new();
    for thing in things(args, &workspace)? {
        let change = match thing {
            Thing::OwnTool(name) => {
                let name = escape(&name);
                writeln!(
                    out,
                    "nothing to change: {name} is a tool of the agent's own program, which is always allowed"
                )
                .ok();
                continue;
            }
            Thing::Command(command) if time.ends() => {
                let uses = (time.of_command(), if time.once { AnswerUses::Once } else { AnswerUses::Any });
                allow_command_for(agent, &command, &place_of(&workspace), uses, !args.dry_run)?
            }
            Thing::Command(command) if args.project || args.session => {
                decide_command_in(agent, kind, &command, &workspace, &scope, !args.dry_run)?
            }
            Thing::Subject(_) if time.once => {
                return Err(Failure::usage("only a command can be allowed once")
                    .with_help("allow it for a short time: --for 10m"));
            }
            Thing::Command(command) => {
                decide_command(agent, kind, &command, &place_of(&workspace), !args.dry_run)?
            }
            Thing::Subject(subject) => {
                let scope = scope.clone();
                Approval { agent: agent.to_owned(), kind, subject, scope }.apply(&workspace, !args.dry_run)?
            }
        };
        out.push_str(&told(&change, args.dry_run));
    }
    Ok(out)
}

/// Returns where and until when the arguments hold.
fn scope(
    args: &ApprovalArgs,
    agent: &str,
    workspace: &Path,
    time: ApprovalTime,
) -> Result<ApprovalScope, Failure> {
    let directory = Some(workspace).filter(|_| args.project);
    if !args.session {
        return Ok(ApprovalScope::new(directory, time.time));
    }
    if time.ends() {
        return Err(Failure::usage("--session has an end of its own").with_help("leave out --for and --once"));
    }
    match heartbeat::session_of(agent) {
        Some(session) => Ok(ApprovalScope::of_session(directory, &session)),
        None => Err(Failure::usage(format_args!("no session of {} has called the hook", escape(agent)))
            .with_help("allow it for a time: --for 1h")),
    }
}

fn told(change: &ApprovalChange, dry_run: bool) -> String {
    if let Some(why) = &change.is_there {
        return format!("nothing to change: {}\n", escape(why));
    }
    let mut out = String::new();
    for line in &change.told {
        match dry_run {
            true => writeln!(out, "would {line}"),
            false => writeln!(out, "{}", in_the_past(line)),
        }
        .ok();
    }
    writeln!(out, "  = {}", change.extent).ok();
    if !dry_run {
        writeln!(out, "  = take it back: stockade undo").ok();
    }
    out
}

/// Puts the first word of a change into the past tense.
pub(super) fn in_the_past(line: &str) -> String {
    let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
    let past = match verb {
        "add" => "added",
        "remove" => "removed",
        other => other,
    };
    format!("{past} {rest}")
}

/// Returns the things that the arguments name. Hosts that follow the name of a tool that loads web pages are several.
fn things(args: &ApprovalArgs, workspace: &Path) -> Result<Vec<Thing>, Failure> {
    let words: Vec<&str> = args.what.iter().map(String::as_str).collect();
    let is_path = args.path || args.write;
    Ok(match words.as_slice() {
        [one] if args.tool => vec![tool(one)?],
        _ if args.host => words.iter().map(|host| entry(host)).collect::<Result<_, _>>()?,
        _ if is_path => {
            words.iter().map(|path| file(path, args.write, workspace)).collect::<Result<_, _>>()?
        }
        _ if args.tool => return Err(Failure::usage("--tool takes one name")),
        _ if args.command => vec![Thing::Command(command(&words))],
        [one] if is_tool_name(one) => vec![tool(one)?],
        [first, hosts @ ..] if known(first).1 == ToolKind::Web => {
            hosts.iter().map(|host| entry(host)).collect::<Result<_, _>>()?
        }
        [one] if is_host(one, workspace) => vec![entry(one)?],
        [one] if is_directory(one, workspace) => vec![file(one, false, workspace)?],
        _ => vec![Thing::Command(command(&words))],
    })
}

/// Returns the command line. One word with spaces is a whole line, as refusals print it.
fn command(words: &[&str]) -> String {
    match words {
        [one] => (*one).to_owned(),
        words => quote_argv(words.iter().copied()),
    }
}

fn tool(word: &str) -> Result<Thing, Failure> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || "_-.:*/".contains(c);
    if word.is_empty() || !word.chars().all(is_name) {
        return Err(Failure::usage(format_args!("{} is not the name of a tool", escape(word)))
            .with_help("a name has letters, digits, `_` and `-`, such as mcp__github__search"));
    }
    Ok(match known(word) {
        (name, ToolKind::Own) => Thing::OwnTool(name.to_owned()),
        (_, ToolKind::Web) => {
            return Err(Failure::usage(format_args!("{word} is decided by the host of each page"))
                .with_help("name the host: stockade allow AGENT docs.rs"));
        }
        (name, _) => Thing::Subject(ApprovalSubject::Tool(name.to_owned())),
    })
}

/// Whether a word is a host: a URL, or a name with a dot that no file and no program has.
fn is_host(word: &str, workspace: &Path) -> bool {
    if ["https://", "http://"].iter().any(|scheme| word.starts_with(scheme)) {
        return true;
    }
    let name = word.strip_prefix("*.").unwrap_or(word);
    let name = name.split_once(':').map_or(name, |(name, _)| name);
    let is_name = |c: char| c.is_ascii_alphanumeric() || "-.".contains(c);
    let has_domain = name.contains('.') && name.chars().all(is_name) && !name.starts_with(['.', '-']);
    (has_domain || name == "localhost") && !is_there(word, workspace) && NetTarget::parse(name).is_ok()
}

/// Whether a file in the workspace or a program in `PATH` has this name.
fn is_there(word: &str, workspace: &Path) -> bool {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let mut programs = std::env::split_paths(&folders).map(|folder| folder.join(word));
    workspace.join(word).symlink_metadata().is_ok() || programs.any(|program| program.is_file())
}

/// Whether a word names an existing directory, which no command does.
fn is_directory(word: &str, workspace: &Path) -> bool {
    let is_spelled = ["/", "./", "../", "~/"].iter().any(|start| word.starts_with(start));
    is_spelled && !word.contains(' ') && absolute(word, workspace).is_dir()
}

fn entry(host: &str) -> Result<Thing, Failure> {
    Ok(Thing::Subject(ApprovalSubject::Host(host_entry(host)?)))
}

fn file(path: &str, writes: bool, workspace: &Path) -> Result<Thing, Failure> {
    let whole = absolute(path, workspace);
    let real = match std::fs::canonicalize(&whole) {
        // A file that is not there yet can be written.
        Err(error) if writes && error.kind() == ErrorKind::NotFound => real_above(&whole),
        other => other,
    };
    let real = real.map_err(|error| {
        Failure::usage(format_args!("{}: {error}", escape(path)))
            .with_help("name an existing file or directory")
    })?;
    let access = if writes { Access::Write } else { Access::Read };
    Ok(Thing::Subject(ApprovalSubject::Path(ApprovedPath { path: real, access })))
}

/// Resolves the parent of a path that does not exist.
fn real_above(path: &Path) -> io::Result<PathBuf> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok(std::fs::canonicalize(parent)?.join(name)),
        _ => Err(ErrorKind::NotFound.into()),
    }
}

/// Returns the absolute path; `~/` is the home directory, as in a shell.
fn absolute(path: &str, workspace: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => workspace.join(path),
    }
}

/// Returns what a printed `stockade allow` line would allow: the agent, its workspace if the line names one, and the things.
pub(super) fn needs_of(line: &str, here: &Path) -> Option<(String, PathBuf, Vec<Need>)> {
    let words = last::words(last::arguments(line)?)?;
    let read = RecordedArgs::try_parse_from(["stockade".to_owned()].into_iter().chain(words));
    let args = read.ok()?.args;
    let workspace = here.join(&args.workspace);
    let needs = things(&args, &workspace).ok()?.into_iter().filter_map(|thing| match thing {
        Thing::Command(command) => Some(Need::Command(command)),
        Thing::Subject(subject) => Some(Need::Subject(subject)),
        Thing::OwnTool(_) => None,
    });
    Some((args.agent?, workspace, needs.collect()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_word_is_recognised() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("docs.rs"), "").unwrap();
        std::fs::create_dir(folder.path().join("src")).unwrap();
        for (word, is_one) in [
            ("registry.npmjs.org", true),
            ("*.example.com:8443", true),
            ("https://x/", true),
            ("localhost:8080", true),
            ("docs.rs", false),
            ("npm", false),
            ("./x.sh", false),
            (".env", false),
            ("a b.c", false),
        ] {
            assert_eq!(is_host(word, folder.path()), is_one, "{word}");
        }
        for (word, is_one) in [("./src", true), ("src", false), ("./docs.rs", false), ("/", true)] {
            assert_eq!(is_directory(word, folder.path()), is_one, "{word}");
        }
        assert!(tool("WebFetch").is_err() && tool("a b").is_err() && tool("").is_err());
        assert_eq!(in_the_past("add x to y"), "added x to y");
    }
}
