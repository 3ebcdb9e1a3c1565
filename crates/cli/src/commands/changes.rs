//! `stockade changes`: what commands changed in their views of a workspace, and whether that is applied, discarded or undone.

#![expect(
    clippy::disallowed_methods,
    reason = "asks for the folder that a configuration is looked for around"
)]

pub(crate) mod document;
mod text;
pub(crate) mod unified;

use std::io;
use std::ops::ControlFlow;
use std::path::{Component, Path, PathBuf};

use clap::Subcommand;
use stockade_guard::audit::{AuditEvent, EventKind, Recorded};
use stockade_guard::config::{Config, ConfigSources};
use stockade_guard::exec::{
    ChangeSelection, FileChange, LayerState, MAX_LAYER_AGE, MAX_LAYERS, Merged, ReviewError, ReviewLayer,
    ReviewStore,
};

use crate::args::{Format, HELP};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::output::Output;
use crate::trail;

const EXAMPLES: &str = "\
Examples:
  stockade exec --review -- npm audit fix   run a command whose changes wait
  stockade changes list                     which commands changed something, and how far that has come
  stockade changes diff                     what the last of them changed, line by line
  stockade changes apply                    let the workspace be as the view is
  stockade changes apply ID src/lib.rs      take one file of it, or one folder
  stockade changes undo                     take back what was applied
  stockade changes discard ID               give it up";

fn more() -> String {
    let days = MAX_LAYER_AGE.as_secs() / (24 * 3600);
    format!(
        "\
Exit codes:
  0  it is done, or there is nothing
  1  something was not applied or not undone: you changed it meanwhile, or it is never applied
  2  the command line is wrong, or nothing is called so
  3  the changes could not be read, or something stopped it on the way

Without an ID, the last command is meant for which that makes sense. Paths begin in the workspace, or are whole. Nothing is
applied before the command and all that it started are gone. What you changed yourself meanwhile is never overwritten, and
nothing of the same repository is applied then. What other programs obey, such as hooks of git, is never applied, as little as
sockets and devices. What is replaced or deleted is kept, so that it can be undone. The changes of {MAX_LAYERS} commands are
kept for {days} days."
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
    /// List the commands that changed something, the newest first
    List {
        #[command(flatten)]
        form: Form,
    },
    /// Show what a command changed, path by path
    Show {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Show what a command changed, line by line
    Diff {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Put changes into the workspace
    Apply {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Take changes back that were applied
    Undo {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
    /// Give changes up that wait
    Discard {
        #[command(flatten)]
        which: Which,
        #[command(flatten)]
        form: Form,
    },
}

#[derive(Debug, clap::Args)]
struct Which {
    /// What the list calls it, or the beginning of that; the last command if nothing is said
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// Files and folders, if not all
    #[arg(value_name = "PATH", requires = "id")]
    paths: Vec<PathBuf>,
}

#[derive(Debug, clap::Args)]
struct Form {
    /// How to print
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    /// The same as --format json
    #[arg(long, conflicts_with = "format")]
    json: bool,
}

impl Form {
    const fn format(&self) -> Format {
        if self.json { Format::Json } else { self.format }
    }
}

/// Runs the command.
pub(crate) fn run(args: &ChangesArgs) -> Result<Exit, Failure> {
    let store = ReviewStore::of_user().map_err(unread)?;
    if let Some(store) = &store {
        // Whoever was killed left something half done. Where that stays so, it is said by what is asked for next.
        store.resume().ok();
    }
    let store = store.as_ref();
    let (printed, exit) = match &args.what {
        What::List { form } => {
            let layers =
                store.map_or_else(|| Ok(Vec::new()), ReviewStore::layers).map_err(|error| failure(&error))?;
            (list(&layers, form.format()), Exit::Clean)
        }
        What::Show { which, form } => (shown(store, which, form.format())?, Exit::Clean),
        What::Diff { which, form } => (diff(store, which, form.format())?, Exit::Clean),
        What::Apply { which, form } => merged(store, which, form.format(), "applied", ReviewStore::apply)?,
        What::Undo { which, form } => merged(store, which, form.format(), "undone", ReviewStore::undo)?,
        What::Discard { which, form } => (discarded(store, which, form.format())?, Exit::Clean),
    };
    let mut output = Output::new();
    let _: ControlFlow<()> = output.write(&printed);
    output.finish(exit)
}

fn unread(error: io::Error) -> Failure {
    failure(&ReviewError::Store(error))
}

fn failure(error: &ReviewError) -> Failure {
    let failure = match error {
        ReviewError::Unknown(_) | ReviewError::Nothing | ReviewError::NoSuchPath(_) => Failure::usage(error),
        _ => Failure::incomplete(error),
    };
    match error.help() {
        Some(help) => failure.with_help(help),
        None => failure,
    }
}

fn list(layers: &[ReviewLayer], format: Format) -> String {
    match format {
        Format::Json => document::list(layers),
        Format::Text if layers.is_empty() => "no command changed anything in a view\n".to_owned(),
        Format::Text => layers.iter().map(text::layer).collect(),
    }
}

/// The layer that is meant: of a name, or the last one that has come as far as this.
fn layer(store: Option<&ReviewStore>, which: &Which, fits: &[LayerState]) -> Result<ReviewLayer, Failure> {
    let Some(store) = store else { return Err(failure(&ReviewError::Nothing)) };
    if let Some(id) = &which.id {
        return store.layer(id).map_err(|error| failure(&error));
    }
    let mut layers = store.layers().map_err(|error| failure(&error))?.into_iter();
    layers.find(|layer| fits.contains(&layer.state())).ok_or_else(|| failure(&ReviewError::Nothing))
}

const OPEN: &[LayerState] = &[LayerState::Waiting, LayerState::Interrupted];
const ANY: &[LayerState] = &[
    LayerState::Waiting,
    LayerState::Interrupted,
    LayerState::Applied,
    LayerState::Settled,
    LayerState::Running,
];

/// The changes that are meant.
fn selection(layer: &ReviewLayer, which: &Which) -> Result<ChangeSelection, Failure> {
    if which.paths.is_empty() {
        return Ok(ChangeSelection::All);
    }
    let below = which.paths.iter().map(|path| below(layer.workspace(), path));
    Ok(ChangeSelection::Paths(below.collect::<Result<_, _>>()?))
}

/// A path as one below the workspace.
fn below(workspace: &Path, path: &Path) -> Result<PathBuf, Failure> {
    let below = path.strip_prefix(workspace).unwrap_or(path);
    let is_plain = |part: Component<'_>| matches!(part, Component::Normal(_) | Component::CurDir);
    if below.components().all(is_plain) {
        return Ok(below.components().filter(|part| matches!(part, Component::Normal(_))).collect());
    }
    let not_there = ReviewError::NoSuchPath(path.to_path_buf());
    Err(failure(&not_there))
}

fn is_meant(selection: &ChangeSelection, change: &FileChange) -> bool {
    match selection {
        ChangeSelection::All => true,
        ChangeSelection::Paths(paths) => paths.iter().any(|path| change.path.starts_with(path)),
    }
}

/// The changes that are meant, with their layer.
fn meant(store: Option<&ReviewStore>, which: &Which) -> Result<(ReviewLayer, Vec<FileChange>), Failure> {
    let layer = layer(store, which, OPEN).or_else(|_| layer(store, which, ANY))?;
    let selection = selection(&layer, which)?;
    let mut changes = layer.changes().map_err(|error| failure(&error))?;
    changes.retain(|change| is_meant(&selection, change));
    if changes.is_empty()
        && let ChangeSelection::Paths(paths) = selection
        && let Some(path) = paths.into_iter().next()
    {
        return Err(failure(&ReviewError::NoSuchPath(path)));
    }
    Ok((layer, changes))
}

fn shown(store: Option<&ReviewStore>, which: &Which, format: Format) -> Result<String, Failure> {
    let (layer, changes) = meant(store, which)?;
    Ok(match format {
        Format::Json => document::show(&layer, &changes),
        Format::Text => text::layer(&layer) + &changes.iter().map(text::change).collect::<String>(),
    })
}

fn diff(store: Option<&ReviewStore>, which: &Which, format: Format) -> Result<String, Failure> {
    let (layer, changes) = meant(store, which)?;
    let mut diffs = Vec::new();
    for change in &changes {
        let (before, after) = layer.contents(change, unified::MAX_FILE).map_err(|error| failure(&error))?;
        diffs.push(unified::diff(change, &before, &after));
    }
    Ok(match format {
        Format::Json => document::diff(&layer, &changes, &diffs),
        Format::Text => diffs.concat(),
    })
}

type Act = fn(&ReviewStore, &ReviewLayer, &ChangeSelection) -> Result<Merged, ReviewError>;

fn merged(
    store: Option<&ReviewStore>,
    which: &Which,
    format: Format,
    verb: &'static str,
    act: Act,
) -> Result<(String, Exit), Failure> {
    let fits = if verb == "undone" { &[LayerState::Applied, LayerState::Waiting][..] } else { OPEN };
    let layer = match verb {
        // One of which nothing was applied is passed over.
        "undone" if which.id.is_none() => undoable(store, fits)?,
        _ => layer(store, which, fits)?,
    };
    let Some(store) = store else { return Err(failure(&ReviewError::Nothing)) };
    let selection = selection(&layer, which)?;
    record(&layer, verb, which)?;
    let merged = act(store, &layer, &selection).map_err(|error| failure(&error))?;
    let is_all = merged.conflicts.is_empty() && merged.refused.is_empty();
    let printed = match format {
        Format::Json => document::merged(&layer, verb, &merged),
        Format::Text => text::merged(&layer, verb, &merged),
    };
    Ok((printed, if is_all { Exit::Clean } else { Exit::Found }))
}

fn undoable(store: Option<&ReviewStore>, fits: &[LayerState]) -> Result<ReviewLayer, Failure> {
    let layers =
        store.map_or_else(|| Ok(Vec::new()), ReviewStore::layers).map_err(|error| failure(&error))?;
    let has_some = |layer: &ReviewLayer| {
        let changes = layer.changes().unwrap_or_default();
        changes.iter().any(|change| change.state == stockade_guard::exec::ChangeState::Applied)
    };
    let mut fitting = layers.into_iter().filter(|layer| fits.contains(&layer.state()) && has_some(layer));
    fitting.next().ok_or_else(|| failure(&ReviewError::Nothing))
}

fn discarded(store: Option<&ReviewStore>, which: &Which, format: Format) -> Result<String, Failure> {
    let layer = layer(store, which, OPEN)?;
    let Some(store) = store else { return Err(failure(&ReviewError::Nothing)) };
    let selection = selection(&layer, which)?;
    record(&layer, "discarded", which)?;
    let count = store.discard(&layer, &selection).map_err(|error| failure(&error))?;
    Ok(match format {
        Format::Json => document::discarded(&layer, count),
        Format::Text => text::discarded(&layer, count),
    })
}

fn configuration() -> Result<Config, Failure> {
    let folder = std::env::current_dir().unwrap_or_default();
    Config::load(&ConfigSources::of_process(&folder)).map_err(|error| super::config::failure(&error))
}

/// Puts on record what a person decides, before it is done.
fn record(layer: &ReviewLayer, decision: &'static str, which: &Which) -> Result<(), Failure> {
    let unrecorded =
        |error| Failure::incomplete(format_args!("it is not on record, and was not done: {error}"));
    let trail = trail::open(&configuration()?).map_err(unrecorded)?;
    let paths: Vec<String> = which.paths.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    let by = rustix::process::getuid().as_raw();
    let event = AuditEvent::new(EventKind::ChangesDecided).with("changes", layer.id());
    let event = event.with("decision", decision).with("command", layer.command());
    let event = event.with("workspace", layer.workspace().to_string_lossy().into_owned());
    match trail.record(event.with("paths", paths).with("by", u64::from(by))).map_err(unrecorded)? {
        // Where it is lost, the configuration says to go on all the same.
        Recorded::Kept(_) | Recorded::Lost(_) => Ok(()),
    }
}
