//! Path rules, in the order that a profile needs.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use stockade_names::{SandboxView, Scope, names};

use super::table::{
    NEVER_READ, NEVER_READ_AT_HOME, PROGRAMS, READ, ROOT_LINKS, SHARED_BY_ALL, TOOLS_AT_HOME, WRITE,
};
use crate::binds::{forbidden, is_plain};
use crate::choices::HomeView;
use crate::host::{Entry, HostFacts};
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{MountAccess, SandboxSpec};

/// The effect of a rule. For the same path, denials come after permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Does {
    AllowRead,
    AllowWrite,
    DenyWrite,
    DenyAll,
}

/// A rule for a path and everything below it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) path: PathBuf,
    pub(super) does: Does,
    pub(super) reason: &'static str,
}

/// The visible paths of a command, and the directories with protected names.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// The rules, parents first, because the last matching rule decides.
    pub(super) rules: Vec<Rule>,
    /// Writable directories that other programs open.
    pub(super) guarded: Vec<PathBuf>,
}

impl View {
    pub(super) fn of(spec: &SandboxSpec, facts: &HostFacts) -> Result<Self, Refusal> {
        let mut rules: Vec<Rule> = READ.iter().map(|(path, why)| rule(path, Does::AllowRead, why)).collect();
        rules.extend(WRITE.iter().map(|(path, why)| rule(path, Does::AllowWrite, why)));
        rules.extend(
            NEVER_READ.iter().map(|path| rule(path, Does::DenyAll, "it contains secrets of the machine")),
        );
        rules.extend(at_home(spec, facts));
        let (named, guarded) = named(spec, facts)?;
        rules.extend(named);
        for path in spec.hidden.iter().map(|path| real(path, facts)) {
            rules.push(rule(path, Does::DenyAll, "it is hidden from the command"));
        }
        for path in spec.unwritable.iter().map(|path| real(path, facts)) {
            rules.push(rule(path, Does::DenyWrite, "it cannot be changed"));
        }
        // Paths outside of all visible directories need no rule.
        let seen: Vec<PathBuf> =
            rules.iter().filter(|rule| rule.does <= Does::AllowWrite).map(|rule| rule.path.clone()).collect();
        rules.retain(|rule| {
            rule.does <= Does::AllowWrite || seen.iter().any(|seen| rule.path.starts_with(seen))
        });
        rules.sort_by(|one, two| order(one).cmp(&order(two)));
        rules.dedup_by(|later, earlier| (&later.path, later.does) == (&earlier.path, earlier.does));
        Ok(Self { rules, guarded })
    }

    /// Whether a path is readable.
    pub(super) fn shows(&self, path: &Path) -> bool {
        let last = self.rules.iter().rfind(|rule| path.starts_with(&rule.path));
        is_plain(path) && last.is_some_and(|rule| rule.does != Does::DenyAll)
    }

    /// Returns the parent directories of visible paths, whose metadata must be readable for path lookups.
    pub(super) fn ancestors(&self) -> BTreeSet<&Path> {
        let allowed = self.rules.iter().filter(|rule| rule.does <= Does::AllowWrite);
        let links = ROOT_LINKS.iter().map(|(link, _)| Path::new(*link));
        allowed.flat_map(|rule| rule.path.ancestors().skip(1)).chain(links).collect()
    }
}

fn rule(path: impl Into<PathBuf>, does: Does, reason: &'static str) -> Rule {
    Rule { path: path.into(), does, reason }
}

/// The sort key: depth, then path, so that a profile does not depend on the order of the request.
fn order(rule: &Rule) -> (usize, &Path, Does) {
    (rule.path.components().count(), &rule.path, rule.does)
}

/// Returns rules for tools at home, and for credentials in visible directories.
fn at_home(spec: &SandboxSpec, facts: &HostFacts) -> Vec<Rule> {
    let home = real(&facts.home, facts);
    let mut rules = Vec::new();
    if spec.home == HomeView::Tools {
        let there = TOOLS_AT_HOME.iter().map(|(path, why)| (home.join(path), why));
        let there = there.filter(|(path, _)| facts.entry(path).is_some());
        rules.extend(there.map(|(path, why)| rule(path, Does::AllowRead, why)));
    }
    let secrets = names().filter(|name| {
        name.scope == Scope::Home && matches!(name.view(), SandboxView::Withheld | SandboxView::Masked)
    });
    // A name pattern is denied with its parent directory, because planning does not read directories.
    let secrets = secrets.flat_map(|name| name.paths).map(|path| {
        path.split_once('*')
            .map_or(*path, |(plain, _)| plain.rsplit_once('/').map_or(plain, |(folder, _)| folder))
    });
    for path in secrets.chain(NEVER_READ_AT_HOME.iter().copied()).filter(|path| !path.is_empty()) {
        rules.push(rule(home.join(path), Does::DenyAll, "it contains secrets or private files"));
    }
    rules
}

/// Returns rules for the paths of the request, and the directories with protected names.
fn named(spec: &SandboxSpec, facts: &HostFacts) -> Result<(Vec<Rule>, Vec<PathBuf>), Refusal> {
    let (mut rules, mut guarded) = (Vec::new(), Vec::new());
    let workspace = checked(&spec.workspace, spec.workspace_access, facts)?;
    rules.push(rule(&workspace, Does::AllowRead, "the workspace"));
    if spec.workspace_access == MountAccess::ReadWrite {
        rules.push(rule(&workspace, Does::AllowWrite, "the workspace"));
        guarded.push(workspace);
    }
    for shared in &spec.shared {
        let shared = checked(shared, MountAccess::ReadWrite, facts)?;
        rules.push(rule(&shared, Does::AllowRead, "shared with other commands"));
        rules.push(rule(&shared, Does::AllowWrite, "shared with other commands"));
        guarded.push(shared);
    }
    if let Some(spill) = &spec.spill {
        let spill = checked(spill, MountAccess::ReadWrite, facts)?;
        rules.push(rule(&spill, Does::AllowRead, "output that is too long to return in one piece"));
        rules.push(rule(&spill, Does::AllowWrite, "output that is too long to return in one piece"));
    }
    for path in &spec.read_only {
        let path = checked(path, MountAccess::ReadOnly, facts)?;
        rules.push(rule(&path, Does::AllowRead, "requested as readable"));
    }
    Ok((rules, guarded))
}

/// Returns the resolved path, if it may be shared.
fn checked(path: &Path, access: MountAccess, facts: &HostFacts) -> Result<PathBuf, Refusal> {
    let what = match access {
        MountAccess::ReadOnly => What::Read(path.to_path_buf()),
        MountAccess::ReadWrite => What::Write(path.to_path_buf()),
    };
    if !is_plain(path) {
        return Err(Refusal::new(what, SandboxRule::PlainPath, "use an absolute path without `..`"));
    }
    let real = real(path, facts);
    let against = [path, &real].into_iter().find_map(|path| forbidden(path, access, facts));
    let against = against.or_else(|| forbidden_on_macos(&real, access));
    match against {
        Some((rule, fix)) => Err(Refusal::new(what, rule, fix)),
        None => Ok(real),
    }
}

/// Returns the rule that forbids a path on macOS only, and a fix.
fn forbidden_on_macos(path: &Path, access: MountAccess) -> Option<(SandboxRule, String)> {
    if access == MountAccess::ReadOnly {
        return None;
    }
    let shared = SHARED_BY_ALL.iter().find(|folder| Path::new(folder).starts_with(path));
    let overlaps = |folder: &&&str| path.starts_with(folder) || Path::new(folder).starts_with(path);
    let folder = shared.or_else(|| PROGRAMS.iter().find(overlaps))?;
    Some((SandboxRule::NeverWritable(folder), "use a directory below your home".to_owned()))
}

/// Resolves a path, because the kernel evaluates resolved paths. A missing one is kept, except for the symlinks that every
/// Mac has.
pub(super) fn real(path: &Path, facts: &HostFacts) -> PathBuf {
    if let Some(Entry::Link { resolved: Some(real), .. }) = facts.entry(path) {
        return real.clone();
    }
    let below = |(link, to): &(&str, &str)| path.strip_prefix(link).ok().map(|rest| Path::new(to).join(rest));
    ROOT_LINKS.iter().find_map(below).unwrap_or_else(|| path.to_path_buf())
}
