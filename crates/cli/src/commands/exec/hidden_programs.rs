//! Programs of a command that this machine has and its sandbox does not show: what a shell means by `command not found`.
//!
//! Which programs those are is read from the command, and never from what it printed: the author of a command would write the advice.
#![expect(clippy::disallowed_methods, reason = "looks where programs are, and in which home this runs")]

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stockade_guard::command::shell::{ReadOptions, Script, quote_argv};
use stockade_guard::exec::mounts::MountKind;
use stockade_guard::exec::provider::Provider;
use stockade_guard::exec::{End, Plan};
use stockade_text::escape_path;

/// The most programs that are named.
const SHOWN: usize = 5;

/// A program that is there outside of the sandbox only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct HiddenProgram {
    pub(super) name: String,
    /// The folder that would have to be seen: that of the program itself, where links lead to it.
    pub(super) folder: PathBuf,
}

impl HiddenProgram {
    /// Where it is, and the command that shows it.
    pub(super) fn text(&self, agent: Option<&str>) -> String {
        let folder = escape_path(&self.folder);
        let Self { name, .. } = self;
        format!("{name} is in {folder}, which this sandbox does not show; show it: {}", self.fix(agent))
    }

    /// The command that shows it.
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

/// Returns the programs of a command that ended as if one were missing.
pub(super) fn find(plan: &Plan, end: End) -> Vec<HiddenProgram> {
    let is_missing = matches!(end, End::NotFound | End::Exited(127));
    let has_view = matches!(plan.provider, Provider::Native | Provider::Bwrap { .. } | Provider::Landlock);
    if !is_missing || !has_view {
        return Vec::new();
    }
    let names = programs(plan);
    names.into_iter().filter_map(|name| hidden(plan, name)).take(SHOWN).collect()
}

/// The plain names that the command runs, also within `bash -c`.
fn programs(plan: &Plan) -> BTreeSet<String> {
    let words = std::iter::once(&plan.program).chain(&plan.arguments).map(|word| word.to_string_lossy());
    let words: Vec<_> = words.collect();
    let text = quote_argv(words.iter().map(AsRef::as_ref));
    let options = ReadOptions::default();
    let actions = Script::read(&text, &options)
        .map_or_else(|_| Script::read_partly(&text, &options).actions().runs, |script| script.actions().runs);
    let names = actions.iter().filter_map(|run| run.program()).filter(|name| !name.contains('/'));
    names.map(str::to_owned).collect()
}

/// Where the search path has a program, if the command sees none of its places.
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

/// The first folder on the way to a program that the command does not see: its own, or that of what a link leads to.
fn unseen_folder(plan: &Plan, program: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(program).ok()?;
    let places = [program.to_path_buf(), real];
    let unseen = places.into_iter().find(|place| !is_seen(plan, place))?;
    unseen.parent().map(Path::to_path_buf)
}

/// Whether the command sees what lies there: the nearest mount around it decides.
fn is_seen(plan: &Plan, path: &Path) -> bool {
    let around = plan.mounts.iter().filter(|mount| path.starts_with(&mount.target));
    let nearest = around.max_by_key(|mount| mount.target.as_os_str().len());
    nearest.is_some_and(|mount| matches!(mount.kind, MountKind::Bind { .. } | MountKind::Link { .. }))
}
