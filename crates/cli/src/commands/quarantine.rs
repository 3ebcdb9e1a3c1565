//! `stockade quarantine`: lists, restores and deletes files that commands left and that would run programs outside of the
//! sandbox.

use std::fmt::Write as _;
use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

use clap::Subcommand;
use serde::Serialize;
use stockade_guard::exec::quarantine::{
    MAX_AGE, MAX_GROUPS, QuarantineEntry, QuarantineError, QuarantineStore, QuarantinedKind,
};
use stockade_text::{escape, escape_path};

use crate::args::{Form, Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_text::to_printable_json;

const EXAMPLES: &str = "\
Examples:
  stockade quarantine list                     list quarantined files, and the commands that left them
  stockade quarantine restore 1ylw9v2k3x4a.1   restore one file
  stockade quarantine drop 1ylw9v2k3x4a        delete everything that one command left
  stockade quarantine drop --all               delete everything";

fn more() -> String {
    let days = MAX_AGE.as_secs() / (24 * 3600);
    format!(
        "\
Exit codes:
  0  done, or nothing to do
  1  a file was not restored or not deleted, and stays where it is
  2  the command line is wrong, or the id is unknown
  3  the quarantine could not be read

A file is restored to its original path if nothing else is there and no symlink is on the way. Inspect it first: whatever obeys a file of
that name will run it. Quarantined files are readable only by you. The files of {MAX_GROUPS} commands are kept, up to 4 GiB, for {days}
days. When the limit is reached, the oldest files are deleted, and the command that caused it reports that."
    )
}

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = more())]
pub(crate) struct QuarantineArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List quarantined files, oldest first
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Restore files to their original place
    Restore {
        /// Id from the list; the part before the dot selects everything that one command left
        #[arg(value_name = "ID", required = true, num_args = 1..)]
        ids: Vec<String>,

        #[command(flatten)]
        form: Form,
    },
    /// Delete quarantined files permanently
    Drop {
        /// Id from the list; the part before the dot selects everything that one command left
        #[arg(value_name = "ID", num_args = 1.., required_unless_present = "all", conflicts_with = "all")]
        ids: Vec<String>,

        /// Select everything
        #[arg(long)]
        all: bool,

        #[command(flatten)]
        form: Form,
    },
}

/// A quarantined file, for programs.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    id: &'a str,
    /// Seconds since 1970.
    taken: Option<u64>,
    workspace: Option<String>,
    path: Option<String>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    link_to: Option<String>,
    label: Option<&'a str>,
    command: Option<&'a str>,
    bytes: Option<u64>,
    place: String,
}

/// Result for one file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    id: String,
    /// Its original path, and its current one after it was restored.
    #[serde(skip_serializing_if = "Option::is_none")]
    path: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<&'static str>,
}

/// Runs the command.
pub(crate) fn run(args: &QuarantineArgs) -> Result<Exit, Failure> {
    let store = QuarantineStore::of_user().map_err(|error| unread(&error))?;
    let entries = store.as_ref().map_or_else(|| Ok(Vec::new()), QuarantineStore::entries);
    let entries = entries.map_err(|error| unread(&error))?;
    let (printed, exit) = match &args.what {
        What::List { form } => (list(&entries, form.format()), Exit::Clean),
        What::Restore { ids, form } => {
            let wanted = wanted(&entries, ids)?;
            each(store.as_ref(), &wanted, form.format(), "restored", QuarantineStore::restore)
        }
        What::Drop { ids, all, form } => {
            let wanted = if *all { entries.iter().collect() } else { wanted(&entries, ids)? };
            each(store.as_ref(), &wanted, form.format(), "dropped", QuarantineStore::discard)
        }
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

fn unread(error: &io::Error) -> Failure {
    Failure::incomplete(format_args!("cannot read the quarantine: {error}"))
}

/// Returns the entries with these ids. With an unknown id, nothing is done.
fn wanted<'e>(entries: &'e [QuarantineEntry], ids: &[String]) -> Result<Vec<&'e QuarantineEntry>, Failure> {
    let mut wanted: Vec<&QuarantineEntry> = Vec::new();
    for id in ids {
        let is_meant = |entry: &&QuarantineEntry| {
            entry.id == *id || entry.id.strip_prefix(id).is_some_and(|rest| rest.starts_with(['.', '/']))
        };
        let before = wanted.len();
        wanted.extend(entries.iter().filter(is_meant));
        if wanted.len() == before {
            let unknown = QuarantineError::Unknown(id.clone());
            return Err(Failure::usage(&unknown).with_help(unknown.help().unwrap_or_default()));
        }
    }
    Ok(wanted)
}

/// Does an operation on each entry, and reports the results.
fn each(
    store: Option<&QuarantineStore>,
    wanted: &[&QuarantineEntry],
    format: Format,
    verb: &str,
    act: fn(&QuarantineStore, &str) -> Result<std::path::PathBuf, QuarantineError>,
) -> (String, Exit) {
    let done: Vec<Done> = wanted
        .iter()
        .filter_map(|entry| Some((entry, act(store?, &entry.id))))
        .map(|(entry, result)| match result {
            Ok(path) => Done { id: entry.id.clone(), path: Some(shown(&path)), error: None, help: None },
            Err(error) => {
                Done { id: entry.id.clone(), path: None, help: error.help(), error: Some(error.to_string()) }
            }
        })
        .collect();
    let exit = if done.iter().any(|one| one.error.is_some()) { Exit::Found } else { Exit::Clean };
    let printed = match format {
        Format::Json => format!("{}\n", to_printable_json(&done)),
        Format::Text => done.iter().fold(String::new(), |mut out, one| {
            match (&one.error, &one.path) {
                (Some(error), _) => writeln!(out, "{}: {}", escape(&one.id), escape(error)),
                (None, path) => {
                    writeln!(
                        out,
                        "{verb} {}: {}",
                        escape(&one.id),
                        escape(path.as_deref().unwrap_or_default())
                    )
                }
            }
            .ok();
            if let Some(help) = one.help {
                writeln!(out, "  help: {help}").ok();
            }
            out
        }),
    };
    (printed, exit)
}

fn shown(path: &Path) -> String {
    path.to_string_lossy().into_owned()
}

fn list(entries: &[QuarantineEntry], format: Format) -> String {
    match format {
        Format::Json => format!("{}\n", to_printable_json(&entries.iter().map(listed).collect::<Vec<_>>())),
        Format::Text if entries.is_empty() => "the quarantine is empty\n".to_owned(),
        Format::Text => entries.iter().map(described).collect(),
    }
}

fn listed(entry: &QuarantineEntry) -> Listed<'_> {
    let since =
        |time: SystemTime| time.duration_since(SystemTime::UNIX_EPOCH).unwrap_or(Duration::ZERO).as_secs();
    Listed {
        id: &entry.id,
        taken: entry.taken.map(since),
        workspace: entry.workspace.as_deref().map(shown),
        path: entry.path.as_deref().map(shown),
        kind: kind(&entry.kind),
        link_to: if let QuarantinedKind::Link(to) = &entry.kind { Some(shown(to)) } else { None },
        label: entry.label.as_deref(),
        command: entry.command.as_deref(),
        bytes: entry.size,
        place: shown(&entry.place),
    }
}

const fn kind(kind: &QuarantinedKind) -> &'static str {
    match kind {
        QuarantinedKind::File => "file",
        QuarantinedKind::Folder => "folder",
        QuarantinedKind::Link(_) => "link",
        QuarantinedKind::Gone => "gone",
        _ => "other",
    }
}

/// Formats an entry: its id, kind and original path; then its origin, and its current path.
fn described(entry: &QuarantineEntry) -> String {
    let was = match (&entry.workspace, &entry.path) {
        (Some(workspace), Some(path)) => escape_path(&workspace.join(path)),
        _ => "from an earlier version, which did not record its original path".to_owned(),
    };
    let mut text = format!("{}  {}  {was}\n", escape(&entry.id), kind(&entry.kind));
    if let QuarantinedKind::Link(to) = &entry.kind {
        writeln!(text, "    links to {}", escape_path(to)).ok();
    }
    if let Some(label) = &entry.label {
        writeln!(text, "    {label}").ok();
    }
    let ago = entry.taken.and_then(|taken| taken.elapsed().ok()).map(|ago| format!(", {} ago", about(ago)));
    match entry.command.as_deref().filter(|command| !command.is_empty()) {
        Some(command) => writeln!(text, "    left by {}{}", escape(command), ago.unwrap_or_default()),
        None => writeln!(text, "    left by an unknown command{}", ago.unwrap_or_default()),
    }
    .ok();
    writeln!(text, "    now {}", escape_path(&entry.place)).ok();
    text
}

/// Formats an age.
pub(super) fn about(time: Duration) -> String {
    let seconds = time.as_secs();
    let (number, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_formatted_for_people() {
        for (seconds, wanted) in [
            (0, "0 seconds"),
            (1, "1 second"),
            (59, "59 seconds"),
            (60, "1 minute"),
            (7200, "2 hours"),
            (86_399, "23 hours"),
            (172_800, "2 days"),
        ] {
            assert_eq!(about(Duration::from_secs(seconds)), wanted);
        }
    }
}
