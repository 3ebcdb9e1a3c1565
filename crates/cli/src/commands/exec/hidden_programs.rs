//! Programs of a command that exist on this machine but not in its sandbox, to explain `command not found`.
//!
//! They are determined from the command, never from its output, which its author could use to inject advice.
#![expect(clippy::disallowed_methods, reason = "looks up programs in PATH")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stockade_guard::command::shell::{ReadOptions, Script, quote_argv};
use stockade_guard::exec::mounts::MountKind;
use stockade_guard::exec::provider::Provider;
use stockade_guard::exec::{End, Plan};
use stockade_text::escape_path;

/// Maximum number of reported programs.
const SHOWN: usize = 5;

/// A program that exists only outside of the sandbox.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HiddenProgram {
    pub(super) name: String,
    /// The directory to make visible: that of the program itself, with symlinks resolved.
    pub(super) folder: PathBuf,
}

impl HiddenProgram {
    /// Describes where the program is, and the command that makes it visible.
    pub(super) fn text(&self, agent: Option<&str>) -> String {
        let folder = escape_path(&self.folder);
        let Self { name, .. } = self;
        format!("{name} is in {folder}, which is not visible in the sandbox; to add it: {}", self.fix(agent))
    }

    /// Returns the command that makes it visible.
    pub(super) fn fix(&self, agent: Option<&str>) -> String {
        let folder = self.folder.to_string_lossy();
        match agent {
            None => quote_argv(["stockade", "exec", "--ro", &folder, "--", "…"]),
            Some(agent) => {
                let key = format!("agents.{agent}.skills.execSandbox.readOnlyAllowPaths");
                quote_argv(["stockade", "config", "add", &key, &folder])
            }
        }
    }
}

/// Returns the hidden programs of a command that ended with `not found`.
pub(super) fn find(plan: &Plan, end: End) -> Vec<HiddenProgram> {
    let is_missing = matches!(end, End::NotFound | End::Exited(127));
    let has_view = matches!(plan.provider, Provider::Native | Provider::Bwrap { .. } | Provider::Landlock);
    if !is_missing || !has_view {
        return Vec::new();
    }
    let names = programs(plan);
    names
        .into_iter()
        .filter(|name| !name.contains('/'))
        .filter_map(|name| hidden(plan, name))
        .take(SHOWN)
        .collect()
}

/// Returns the programs that the command runs, also within `bash -c`; nothing for one that its text does not tell.
pub(super) fn runs(plan: &Plan) -> Vec<Option<String>> {
    let words = std::iter::once(&plan.program).chain(&plan.arguments).map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    let text = quote_argv(words.iter().map(AsRef::as_ref));
    let options = ReadOptions::default();
    let actions = Script::read(&text, &options)
        .map_or_else(|_| Script::read_partly(&text, &options).actions().runs, |script| script.actions().runs);
    actions.iter().map(|run| run.program().map(str::to_owned)).collect()
}

/// Returns the names of these programs.
fn programs(plan: &Plan) -> BTreeSet<String> {
    runs(plan).into_iter().flatten().collect()
}

/// Returns the directory of a program in `PATH`, if the command can see none of its locations.
fn hidden(plan: &Plan, name: String) -> Option<HiddenProgram> {
    let path = std::env::var_os("PATH")?;
    let places = std::env::split_paths(&path).filter(|folder| folder.is_absolute());
    let places: Vec<PathBuf> =
        places.map(|folder| folder.join(&name)).filter(|program| program.is_file()).collect();
    let first = places.first()?;
    if places.iter().any(|place| unseen_folder(plan, place).is_none()) {
        return None;
    }
    let folder = unseen_folder(plan, first)?;
    Some(HiddenProgram { name, folder })
}

/// Returns the first invisible directory on the way to a program: its own, or that of its symlink's target.
fn unseen_folder(plan: &Plan, program: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(program).ok()?;
    let places = [program.to_path_buf(), real];
    let unseen = places.into_iter().find(|place| !is_seen(plan, place))?;
    unseen.parent().map(Path::to_path_buf)
}

/// Whether a path is visible in the sandbox: the nearest mount above it decides.
fn is_seen(plan: &Plan, path: &Path) -> bool {
    let around = plan.mounts.iter().filter(|mount| path.starts_with(&mount.target));
    let nearest = around.max_by_key(|mount| mount.target.as_os_str().len());
    nearest.is_some_and(|mount| matches!(mount.kind, MountKind::Bind { .. } | MountKind::Link { .. }))
}
