//! What a sandbox is configured with, as it is written in a configuration.

use std::path::PathBuf;

use super::presets;

/// The rules for paths and commands. The default restricts nothing; [`SandboxConfig::standard`] is the one to start
/// from.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "Written"))]
pub struct SandboxConfig {
    /// The workspace: relative paths and globs start here. Left out, the caller supplies it.
    pub cwd: Option<PathBuf>,
    /// Whether paths may lead out of the workspace.
    pub jail: Jail,
    /// Whether a request may name an absolute path.
    pub absolute_paths: AbsolutePaths,
    /// What happens to files that have another name outside the workspace.
    pub hard_links: HardLinks,
    /// What happens to files that are dangerous by their name.
    pub names: DangerousNames,
    /// Paths that are never touched. Nothing overrides them: no allow glob, no answer, no added policy.
    pub forbidden_globs: Vec<String>,
    /// Who may read what.
    pub read: PathPolicy,
    /// Who may write what.
    pub write: PathPolicy,
    /// The answer for commands on which no policy decides.
    pub execute: Answer,
}

/// Whether paths may lead out of the workspace.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "bool"))]
pub enum Jail {
    /// A path that really lies elsewhere is refused, whatever its name.
    Confined,
    /// Anywhere on the disk.
    #[default]
    Off,
}

/// Whether a request may name an absolute path.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(from = "bool"))]
pub enum AbsolutePaths {
    /// An absolute path may be named.
    #[default]
    Accepted,
    /// One that lies in the workspace may be named: it is another spelling of a relative one.
    Inside,
    /// It must be relative to the workspace.
    Refused,
}

/// What happens to a file inside a jail that has further names outside of it: a hard link made on purpose
/// looks exactly like that.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum HardLinks {
    /// Such a file counts as lying outside.
    #[default]
    Refused,
    /// Such a file counts as lying where it was found. Package managers that link from a shared store need this.
    Accepted,
}

/// What happens to files that start programs, instruct agents, hold secrets or say who may log in, as their names tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum DangerousNames {
    /// They are asked about or refused, as [`CommandPolicy`](stockade_command::CommandPolicy) asks about and refuses commands
    /// that read or write them. An allow glob that means one such file and no other lets it be used.
    Guarded,
    /// They are files as any other.
    #[default]
    Free,
}

/// Who may do one kind of thing to which paths: deny globs, then allow globs, then the default.
///
/// Globs are relative to the workspace, or absolute. `*` is any part of a name and `?` one character of it, in any
/// script; `**` as a whole name is any folders; `{a,b}`, `[a-z]` and `[!a-z]` choose; a leading `!` turns a glob around.
///
/// A glob that denies reaches further than the same glob when it allows: it covers everything below, `x/**` covers `x`,
/// case never counts, and names count as equal that some file system takes for one.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PathPolicy {
    /// The answer when no glob matches.
    pub default: Answer,
    /// Globs of paths that are allowed.
    pub allow: Vec<String>,
    /// What is denied. Deny wins over allow.
    pub deny: Vec<String>,
}

/// A change to a [`PathPolicy`] at run time. What is there stays: a patch cannot take a deny glob away.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(default, deny_unknown_fields))]
pub struct PathPolicyPatch {
    /// The new default, if it changes.
    pub default: Option<Answer>,
    /// What is allowed as well.
    pub allow: Vec<String>,
    /// What is denied as well.
    pub deny: Vec<String>,
}

/// An answer, from the mildest to the strictest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize, serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Answer {
    /// The request is granted without a question.
    #[default]
    Allow,
    /// Ask a person first.
    Ask,
    /// The request is refused.
    Deny,
}

/// A ready-made configuration of the sandbox of paths.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize), serde(rename_all = "lowercase"))]
pub enum Preset {
    /// Jailed, relative paths only, the standard forbidden globs. Commands are asked for.
    Default,
    /// No path is restricted, and commands that no rule stops are allowed.
    Permissive,
    /// Jailed, absolute paths accepted, the standard forbidden globs, everything else in the workspace allowed.
    /// Commands are asked for.
    Daemon,
}

impl SandboxConfig {
    /// Returns the configuration most projects want: [`Preset::Default`].
    #[must_use]
    pub fn standard() -> Self {
        Self::from(Preset::Default)
    }
}

impl Default for SandboxConfig {
    fn default() -> Self {
        presets::permissive()
    }
}

impl From<Preset> for SandboxConfig {
    fn from(preset: Preset) -> Self {
        match preset {
            Preset::Default => presets::standard(),
            Preset::Permissive => presets::permissive(),
            Preset::Daemon => presets::daemon(),
        }
    }
}

impl Preset {
    /// Returns the preset of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "default" => Some(Self::Default),
            "permissive" => Some(Self::Permissive),
            "daemon" => Some(Self::Daemon),
            _ => None,
        }
    }
}

impl From<bool> for Jail {
    fn from(on: bool) -> Self {
        if on { Self::Confined } else { Self::Off }
    }
}

impl From<bool> for AbsolutePaths {
    fn from(allowed: bool) -> Self {
        if allowed { Self::Accepted } else { Self::Refused }
    }
}

/// The written form: a preset, and what differs from it.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
#[derive(Default)]
struct Written {
    preset: Option<Preset>,
    cwd: Option<PathBuf>,
    jail: Option<Jail>,
    allow_absolute_paths: Option<AbsolutePaths>,
    hard_links: Option<HardLinks>,
    names: Option<DangerousNames>,
    forbidden_globs: Option<Vec<String>>,
    read: Option<PathPolicy>,
    write: Option<PathPolicy>,
    execute: Option<Answer>,
}

#[cfg(feature = "serde")]
impl From<Written> for SandboxConfig {
    fn from(written: Written) -> Self {
        let base = Self::from(written.preset.unwrap_or(Preset::Permissive));
        Self {
            cwd: written.cwd.or(base.cwd),
            jail: written.jail.unwrap_or(base.jail),
            absolute_paths: written.allow_absolute_paths.unwrap_or(base.absolute_paths),
            hard_links: written.hard_links.unwrap_or(base.hard_links),
            names: written.names.unwrap_or(base.names),
            forbidden_globs: written.forbidden_globs.unwrap_or(base.forbidden_globs),
            read: written.read.unwrap_or(base.read),
            write: written.write.unwrap_or(base.write),
            execute: written.execute.unwrap_or(base.execute),
        }
    }
}
