//! `stockade changes`: reviews changes in overlay workspaces, and applies, discards or undoes them.

#![expect(clippy::disallowed_methods, reason = "reads the current directory, and writes to standard error")]

mod text;

use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::path::PathBuf;

use clap::Subcommand;
use stockade_guard::audit::{AuditEvent, Recorded, field};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::review::{
    ChangeState, FileChange, LayerState, MAX_LAYER_AGE, MAX_LAYERS, ResumedLayer, ReviewError, ReviewLayer,
};

use crate::args::{Form, Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use stockade_state::changes::{self, ChangeDecision, DecidedChanges, MAX_DIFFED_FILE, Reviews};
use stockade_state::trail;

const EXAMPLES: &str = "\
Examples:
  stockade exec --review -- npm audit fix   run a command and hold its changes
  stockade changes list                     list commands with changes, and their state
  stockade changes diff                     show the latest changes line by line
  stockade changes apply                    apply them to the workspace
  stockade changes apply src/lib.rs         apply one file or directory of them
  stockade changes undo                     revert applied changes
  stockade changes discard ID               delete pending changes";

fn more() -> String {
    let days = MAX_LAYER_AGE.as_secs() / (24 * 3600);
    format!(
        "\
Exit codes:
  0  done, or nothing to do
  1  a change was not applied or not undone: you changed the file in the meantime, or it is never applied
  2  the command line is wrong, or the id is unknown
  3  the changes could not be read, or the operation was interrupted

Without an ID, the latest suitable command of the workspace around the current directory is selected. Paths are relative to the workspace,
or absolute. Nothing is applied before the command and all of its processes have ended. Your own changes in the meantime are never
overwritten; on a conflict, nothing of the same repository is applied. Files that other programs obey, such as git hooks, are never
applied, and neither are sockets and devices. Replaced and deleted files are kept, so that changes can be undone. The changes of
{MAX_LAYERS} commands are kept for {days} days."
    )
}

#[derive(Debug, clap::Args)]
#[command(help_template = HELP, before_help = EXAMPLES, after_help = more())]
pub(crate) struct ChangesArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List commands with changes, newest first
    List {
        #[command(flatten)]
        form: Form,
    },
    /// List the changed paths of a command
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Show the changes of a command line by line
    Diff {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Apply pending changes to the workspace
    Apply {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Undo changes that were applied to the workspace
    Undo {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Delete pending changes without applying them
    Discard {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Debug, clap::Args)]
struct Which {
    /// Id from the list or a prefix of it, then files and directories; either may be missing
    ///
    /// Without an ID, the latest suitable command of the workspace around the current directory is selected; without files and
    /// directories, all its changes. A changed file comes before an ID that begins with its name.
    #[arg(value_name = "ID|PATH")]
    words: Vec<PathBuf>,
}

/// The changes of a command, and the paths among them that the arguments name; without paths, all.
struct Selected {
    layer: ReviewLayer,
    paths: Vec<PathBuf>,
}

impl Which {
    /// Selects a layer by its ID, or `latest`. A changed path comes before the start of an ID: a command can choose the names of
    /// its files, and applying all changes instead of one file would be worse than the other way round.
    fn select(
        &self,
        reviews: &Reviews,
        latest: impl Fn() -> Result<ReviewLayer, ReviewError>,
    ) -> Result<Selected, ReviewError> {
        let Some((first, rest)) = self.words.split_first() else {
            return Ok(Selected { layer: latest()?, paths: Vec::new() });
        };
        let word = first.to_string_lossy().into_owned();
        let (named, latest) = (reviews.layer(&word), latest());
        let is_path = |layer: &ReviewLayer| changes::meant(layer, std::slice::from_ref(first)).is_ok();
        match (named, latest) {
            (Ok(named), Ok(layer)) if is_path(&layer) && named.id() == word => {
                Err(ReviewError::Ambiguous(word))
            }
            (_, Ok(layer)) if is_path(&layer) => Ok(Selected { layer, paths: self.words.clone() }),
            (Ok(layer), _) => Ok(Selected { layer, paths: rest.to_vec() }),
            (Err(ReviewError::Unknown(_)), Ok(layer)) => {
                Err(ReviewError::NeitherIdNorPath { word, id: layer.id().to_owned() })
            }
            (Err(unknown), _) => Err(unknown),
        }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ChangesArgs) -> Result<Exit, Failure> {
    let reviews = Reviews::open(None)?;
    tell(&reviews.resumed);
    let (printed, exit) = match &args.what {
        What::List { form } => (list(&reviews.layers()?, form.format()), Exit::Clean),
        What::Show { which, form } => (shown(&reviews, which, form.format())?, Exit::Clean),
        What::Diff { which, form } => (diff(&reviews, which, form.format())?, Exit::Clean),
        What::Apply { which, form } => decided(&reviews, which, form.format(), ChangeDecision::Applied)?,
        What::Undo { which, form } => decided(&reviews, which, form.format(), ChangeDecision::Undone)?,
        What::Discard { which, form } => decided(&reviews, which, form.format(), ChangeDecision::Discarded)?,
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

/// Reports operations that an earlier run left unfinished and that were completed now.
fn tell(resumed: &[ResumedLayer]) {
    let text: String = resumed.iter().map(text::resumed).collect();
    // A failure to write to standard error cannot be reported anywhere.
    io::stderr().write_all(text.as_bytes()).ok();
}

impl From<ReviewError> for Failure {
    fn from(error: ReviewError) -> Self {
        let failure = match error {
            ReviewError::Unknown(_)
            | ReviewError::Nothing
            | ReviewError::NothingHere { .. }
            | ReviewError::Ambiguous(_)
            | ReviewError::NeitherIdNorPath { .. }
            | ReviewError::NoSuchPath(_) => Self::usage(&error),
            _ => Self::incomplete(&error),
        };
        match error.help() {
            Some(help) => failure.with_help(help),
            None => failure,
        }
    }
}

fn list(layers: &[ReviewLayer], format: Format) -> String {
    match format {
        Format::Json => changes::list_json(layers),
        Format::Text if layers.is_empty() => "no changes\n".to_owned(),
        Format::Text => layers.iter().map(text::layer).collect(),
    }
}

const OPEN: &[LayerState] = &[LayerState::Waiting, LayerState::Interrupted];
const ANY: &[LayerState] = &[
    LayerState::Waiting,
    LayerState::Interrupted,
    LayerState::Applied,
    LayerState::Settled,
    LayerState::Running,
];

/// Returns the latest layer in a suitable state.
fn latest(reviews: &Reviews, fits: &[LayerState]) -> Result<ReviewLayer, ReviewError> {
    last(reviews, |layer| fits.contains(&layer.state()))
}

/// Returns the latest layer of the innermost workspace around the current directory, and never of another workspace.
fn last(reviews: &Reviews, fits: impl Fn(&ReviewLayer) -> bool) -> Result<ReviewLayer, ReviewError> {
    let folder = std::env::current_dir().unwrap_or_default();
    let mut fitting: Vec<ReviewLayer> = reviews.layers()?.into_iter().filter(fits).collect();
    let is_around = |layer: &ReviewLayer| folder.starts_with(layer.workspace());
    let depth = |layer: &ReviewLayer| layer.workspace().components().count();
    let innermost = fitting.iter().filter(|layer| is_around(layer)).map(depth).max();
    match fitting.iter().position(|layer| is_around(layer) && Some(depth(layer)) == innermost) {
        Some(at) => Ok(fitting.swap_remove(at)),
        None if fitting.is_empty() => Err(ReviewError::Nothing),
        None => {
            let newest = fitting.first();
            let elsewhere = newest.map(|layer| (layer.id().to_owned(), layer.workspace().to_path_buf()));
            Err(ReviewError::NothingHere { folder, elsewhere })
        }
    }
}

/// Whether a part of the layer was applied.
fn undoable(reviews: &Reviews) -> Result<ReviewLayer, ReviewError> {
    last(reviews, |layer| {
        let changes = layer.changes().unwrap_or_default();
        changes.iter().any(|change| change.state == ChangeState::Applied)
    })
}

/// Returns the selected changes, with their layer.
fn meant(reviews: &Reviews, which: &Which) -> Result<(ReviewLayer, Vec<FileChange>), ReviewError> {
    let selected = which.select(reviews, || latest(reviews, OPEN).or_else(|_| latest(reviews, ANY)))?;
    let changes = changes::meant(&selected.layer, &selected.paths)?;
    Ok((selected.layer, changes))
}

fn shown(reviews: &Reviews, which: &Which, format: Format) -> Result<String, Failure> {
    let (layer, changes) = meant(reviews, which)?;
    Ok(match format {
        Format::Json => changes::show_json(&layer, &changes),
        Format::Text => {
            let rows = changes.iter().map(|change| text::change(change, layer.leads_to(change)));
            text::layer(&layer) + &rows.collect::<String>()
        }
    })
}

fn diff(reviews: &Reviews, which: &Which, format: Format) -> Result<String, Failure> {
    let (layer, changes) = meant(reviews, which)?;
    let mut diffs = Vec::new();
    for change in &changes {
        let (before, after) = layer.contents(change, MAX_DIFFED_FILE)?;
        diffs.push(changes::diff(change, &before, &after));
    }
    Ok(match format {
        Format::Json => changes::diff_json(&layer, &changes, &diffs),
        Format::Text => diffs.concat(),
    })
}

fn decided(
    reviews: &Reviews,
    which: &Which,
    format: Format,
    decision: ChangeDecision,
) -> Result<(String, Exit), Failure> {
    let Selected { layer, paths } = which.select(reviews, || match decision {
        ChangeDecision::Undone => undoable(reviews),
        ChangeDecision::Applied | ChangeDecision::Discarded => latest(reviews, OPEN),
    })?;
    let decided = reviews.decide(&layer, decision, &paths, record)?;
    let printed = match format {
        Format::Json => changes::decided_json(&layer, decision, &decided),
        Format::Text => text::decided(&layer, decision, &decided),
    };
    let is_all = match decided {
        DecidedChanges::Merged(merged) => merged.conflicts.is_empty() && merged.refused.is_empty(),
        DecidedChanges::Discarded(_) => true,
    };
    Ok((printed, if is_all { Exit::Clean } else { Exit::Found }))
}

fn configuration() -> Result<Config, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    Config::load(&ConfigSources::of_process(&folder)).map_err(|error| super::config::failure(&error))
}

/// Records the user's decision before it is carried out.
fn record(event: AuditEvent) -> Result<(), Failure> {
    let unrecorded = |error| {
        Failure::incomplete(format_args!("the decision cannot be recorded, so nothing was done: {error}"))
    };
    let trail = trail::open(&configuration()?).map_err(unrecorded)?;
    let by = rustix::process::getuid().as_raw();
    match trail.record(event.with(field::BY, u64::from(by))).map_err(unrecorded)? {
        // With `audit.onUnrecorded = "warn"`, unrecorded decisions are carried out anyway.
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}
