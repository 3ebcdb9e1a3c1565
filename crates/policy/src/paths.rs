//! Which paths may be touched: the part of a decision that no policy at run time can change, and the path policies.

use std::path::{Path, PathBuf};

use thiserror::Error;

pub(crate) mod config;
mod fold;
pub(crate) mod globs;
pub(crate) mod jail;
pub(crate) mod lexical;
pub(crate) mod presets;

use config::{AbsolutePaths, Answer, HardLinks, Jail, PathPolicy, SandboxConfig};
use globs::{AllowGlobs, DenyGlobs, GlobError};
use jail::Workspace;
use lexical::Malformed;

/// What a caller found out about a path on the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PathFacts {
    /// Where it really leads.
    Resolved(ResolvedPath),
    /// It cannot be told where it leads, so it is refused.
    Unresolvable(Trouble),
}

/// Where a path really leads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResolvedPath {
    /// The path without links. Where it does not exist, the real path of the longest part that does, with the rest
    /// behind it; the target of a dangling link counts as the path.
    pub real: PathBuf,
    /// The links that were followed, each by its own path without links above it.
    pub through: Vec<PathBuf>,
    /// What is there.
    pub target: Target,
}

/// What is at the end of a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// Nothing yet.
    Missing,
    /// A regular file.
    File(OtherNames),
    /// A folder.
    Folder,
    /// A device, a socket, a named pipe.
    Special,
}

/// The other names (hard links) of a regular file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OtherNames {
    /// It has only the one.
    None,
    /// It has these, and that is all of them.
    All(Vec<PathBuf>),
    /// It has these in the workspace, and more elsewhere.
    Some(Vec<PathBuf>),
    /// It has these and more that were not found, but not all of the workspace was looked through.
    Unfinished(Vec<PathBuf>),
}

/// Why it cannot be told where a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
#[non_exhaustive]
pub enum Trouble {
    /// It is no path.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// Its links go round in a circle, or there are too many of them.
    #[error("its links lead in a circle")]
    Loop,
    /// It goes through a link of `/proc` that leads wherever some process happens to be.
    #[error("it goes through a magic link of /proc")]
    MagicLink,
    /// A part of it that must be a folder is none.
    #[error("a part of it is no folder")]
    NotAFolder,
    /// A part of it may not be looked at.
    #[error("a part of it may not be read")]
    Unreadable,
    /// It was something else a moment ago.
    #[error("it changed while it was being judged")]
    Changed,
}

/// What is done to a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Access {
    /// Reading a file, listing a folder.
    Read,
    /// Writing, creating, deleting, renaming.
    Write,
}

/// What decided on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hit {
    Absolute,
    Trouble(Trouble),
    Outside,
    LinkedOutside,
    LinkedSomewhere,
    Special,
    Forbidden(String),
}

/// What a path policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Denied { glob: String },
    Allowed { glob: String },
    Default(Answer),
}

impl ResolvedPath {
    /// Returns the facts of a path without links, at which there is a file with one name.
    #[must_use]
    pub fn file(path: impl Into<PathBuf>) -> Self {
        Self { real: path.into(), through: Vec::new(), target: Target::File(OtherNames::None) }
    }
}

/// The part of a sandbox that nothing at run time can change.
#[derive(Debug, Clone)]
pub(crate) struct Boundary {
    pub(crate) workspace: Workspace,
    jail: Jail,
    absolute_paths: AbsolutePaths,
    hard_links: HardLinks,
    forbidden: DenyGlobs,
}

impl Boundary {
    pub(crate) fn compile(config: &SandboxConfig, workspace: Workspace) -> Result<Self, GlobError> {
        Ok(Self {
            jail: config.jail,
            absolute_paths: config.absolute_paths,
            hard_links: config.hard_links,
            forbidden: DenyGlobs::compile(&config.forbidden_globs, &workspace)?,
            workspace,
        })
    }

    /// The path that a request names, by text alone.
    pub(crate) fn locate(&self, path: &Path) -> Result<PathBuf, Hit> {
        let malformed = |reason| Hit::Trouble(Trouble::Malformed(reason));
        lexical::check(path).map_err(malformed)?;
        if self.absolute_paths == AbsolutePaths::Refused && path.is_absolute() {
            return Err(Hit::Absolute);
        }
        let located = lexical::resolve(&self.workspace.cwd, path);
        lexical::check(&located).map_err(malformed)?;
        Ok(located)
    }

    /// Everything that nobody can allow, in the order of the documents: the jail, then the forbidden globs.
    pub(crate) fn admit<'f>(&self, located: &Path, facts: &'f PathFacts) -> Result<&'f ResolvedPath, Hit> {
        let found = match facts {
            PathFacts::Resolved(found) => found,
            // Magic links live in /proc, which is no workspace: following one has left the jail already.
            PathFacts::Unresolvable(Trouble::MagicLink) if self.jail == Jail::Confined => {
                return Err(Hit::Outside);
            }
            PathFacts::Unresolvable(trouble) => return Err(Hit::Trouble(*trouble)),
        };
        if self.jail == Jail::Confined {
            self.confine(found)?;
        }
        match names(located, found).find_map(|name| self.forbidden.hit(&self.workspace.place(name))) {
            Some(glob) => Err(Hit::Forbidden(glob.to_owned())),
            None => Ok(found),
        }
    }

    fn confine(&self, found: &ResolvedPath) -> Result<(), Hit> {
        if !self.workspace.contains(&found.real) {
            return Err(Hit::Outside);
        }
        match &found.target {
            Target::Special => Err(Hit::Special),
            Target::File(names) if self.hard_links == HardLinks::Refused => match names {
                OtherNames::None => Ok(()),
                OtherNames::All(names) if names.iter().all(|name| self.workspace.contains(name)) => Ok(()),
                OtherNames::All(_) => Err(Hit::LinkedOutside),
                // A name that is forbidden says more than the names that are missing.
                OtherNames::Some(names) => Err(self.forbidden_among(names).unwrap_or(Hit::LinkedOutside)),
                OtherNames::Unfinished(names) => {
                    Err(self.forbidden_among(names).unwrap_or(Hit::LinkedSomewhere))
                }
            },
            Target::Missing | Target::Folder | Target::File(_) => Ok(()),
        }
    }

    fn forbidden_among(&self, names: &[PathBuf]) -> Option<Hit> {
        let glob = names.iter().find_map(|name| self.forbidden.hit(&self.workspace.place(name)))?;
        Some(Hit::Forbidden(glob.to_owned()))
    }
}

/// Every name by which a request may reach its target. A refusal of one is a refusal of all.
fn names<'n>(located: &'n Path, found: &'n ResolvedPath) -> impl Iterator<Item = &'n Path> {
    let others = match &found.target {
        Target::File(OtherNames::All(names) | OtherNames::Some(names) | OtherNames::Unfinished(names)) => {
            names.as_slice()
        }
        Target::File(OtherNames::None) | Target::Missing | Target::Folder | Target::Special => &[],
    };
    let real = (found.real != located).then_some(found.real.as_path());
    std::iter::once(located).chain(real).chain(found.through.iter().chain(others).map(PathBuf::as_path))
}

/// A compiled path policy.
#[derive(Debug, Clone)]
pub(crate) struct PathRules {
    written: PathPolicy,
    deny: DenyGlobs,
    allow: AllowGlobs,
}

impl PathRules {
    pub(crate) fn compile(policy: &PathPolicy, workspace: &Workspace) -> Result<Self, GlobError> {
        Ok(Self {
            written: policy.clone(),
            deny: DenyGlobs::compile(&policy.deny, workspace)?,
            allow: AllowGlobs::compile(&policy.allow, workspace)?,
        })
    }

    /// The policy as it was written.
    pub(crate) fn written(&self) -> &PathPolicy {
        &self.written
    }

    /// Deny, then allow, then the default. One denied name is enough to deny; to allow, both the path as it was
    /// named and the path it really is must be allowed.
    pub(crate) fn say(&self, workspace: &Workspace, located: &Path, found: &ResolvedPath) -> Said {
        let denied = names(located, found).find_map(|name| self.deny.hit(&workspace.place(name)));
        if let Some(glob) = denied {
            return Said::Denied { glob: glob.to_owned() };
        }
        match self.allowing(workspace, located, found) {
            Some(glob) => Said::Allowed { glob: glob.to_owned() },
            None => Said::Default(self.written.default),
        }
    }

    fn allowing(&self, workspace: &Workspace, located: &Path, found: &ResolvedPath) -> Option<&str> {
        let glob = self.allow.hit(&workspace.place(located))?;
        if found.real == located { Some(glob) } else { self.allow.hit(&workspace.place(&found.real)) }
    }
}
