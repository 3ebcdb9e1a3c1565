//! The part of a decision about a path that no policy at run time can change: the jail, then the forbidden globs.

use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use stockade_text::resolve_path;

use super::config::{AbsolutePaths, DangerousNames, HardLinks, Jail, SandboxConfig};
use super::facts::{OtherNames, PathFacts, ResolveError, ResolvedPath, Target, names};
use super::globs::{DenyGlobs, GlobError};
use super::jail::{LocatedPath, Workspace};
use super::lexical::{self, InvalidPath};
use super::presets::STANDARD_FORBIDDEN_GLOBS;

/// What decided on a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hit {
    Absolute,
    Unresolvable(ResolveError),
    Outside,
    LinkedOutside,
    LinkedSomewhere,
    Special,
    Forbidden(String),
}

/// The part of a sandbox that nothing at run time can change.
#[derive(Debug, Clone)]
pub(crate) struct Boundary {
    pub(crate) workspace: Workspace,
    jail: Jail,
    absolute_paths: AbsolutePaths,
    hard_links: HardLinks,
    pub(crate) names: DangerousNames,
    forbidden: Forbidden,
}

/// The globs that nothing overrides.
#[derive(Debug, Clone)]
enum Forbidden {
    /// The standard ones, which are compiled for the first path and once for all: a decision about a command asks for none.
    Standard,
    Own(DenyGlobs),
}

static STANDARD: LazyLock<Result<DenyGlobs, GlobError>> = LazyLock::new(|| {
    // None of them is absolute, so that they mean the same in every workspace.
    DenyGlobs::compile(&STANDARD_FORBIDDEN_GLOBS, &Workspace::plain("/"))
});

impl Forbidden {
    fn compile(globs: &[String], workspace: &Workspace) -> Result<Self, GlobError> {
        match globs == STANDARD_FORBIDDEN_GLOBS.as_slice() {
            true => Ok(Self::Standard),
            false => DenyGlobs::compile(globs, workspace).map(Self::Own),
        }
    }

    /// Returns the glob that covers a place.
    fn hit(&self, located: &LocatedPath<'_>) -> Option<&str> {
        match self {
            Self::Own(globs) => globs.hit(located),
            // A test compiles them. If they could not be, no path would be certain to be permitted.
            Self::Standard => STANDARD.as_ref().map_or(Some("**"), |globs| globs.hit(located)),
        }
    }
}

impl Boundary {
    pub(crate) fn compile(config: &SandboxConfig, workspace: Workspace) -> Result<Self, GlobError> {
        Ok(Self {
            jail: config.jail,
            absolute_paths: config.absolute_paths,
            hard_links: config.hard_links,
            names: config.names,
            forbidden: Forbidden::compile(&config.forbidden_globs, &workspace)?,
            workspace,
        })
    }

    /// The path that a request names, by text alone.
    pub(crate) fn locate(&self, path: &Path) -> Result<PathBuf, Hit> {
        let malformed = |reason| Hit::Unresolvable(ResolveError::Invalid(reason));
        lexical::check(path).map_err(malformed)?;
        if path.as_os_str().is_empty() {
            return Err(malformed(InvalidPath::Empty));
        }
        let is_taken = match self.absolute_paths {
            AbsolutePaths::Accepted => true,
            AbsolutePaths::Inside => self.workspace.locate(path).inside.is_some(),
            AbsolutePaths::Refused => false,
        };
        if path.is_absolute() && !is_taken {
            return Err(Hit::Absolute);
        }
        let located = resolve_path(&self.workspace.cwd, path);
        lexical::check(&located).map_err(malformed)?;
        Ok(located)
    }

    /// Checks the limits that no answer can lift, in the order of the documents: the jail, then the forbidden globs.
    pub(crate) fn admit<'f>(&self, located: &Path, facts: &'f PathFacts) -> Result<&'f ResolvedPath, Hit> {
        let found = match facts {
            PathFacts::Resolved(found) => found,
            // Magic links live in /proc, which is no workspace: following one has left the jail already.
            PathFacts::Unresolvable(ResolveError::MagicLink) if self.jail == Jail::Confined => {
                return Err(Hit::Outside);
            }
            PathFacts::Unresolvable(error) => return Err(Hit::Unresolvable(*error)),
        };
        if self.jail == Jail::Confined {
            // Before the globs: what lies outside is refused as outside, whatever its name is.
            self.confine(found)?;
        }
        match names(located, found).find_map(|name| self.forbidden.hit(&self.workspace.locate(name))) {
            Some(glob) => Err(Hit::Forbidden(glob.to_owned())),
            None => Ok(found),
        }
    }

    pub(crate) fn is_outside(&self, facts: &PathFacts) -> bool {
        let leads_out = match facts {
            PathFacts::Resolved(found) => !self.workspace.contains(&found.real),
            PathFacts::Unresolvable(error) => *error == ResolveError::MagicLink,
        };
        self.jail == Jail::Confined && leads_out
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
        let glob = names.iter().find_map(|name| self.forbidden.hit(&self.workspace.locate(name)))?;
        Some(Hit::Forbidden(glob.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_globs_hold_in_every_workspace() {
        assert!(STANDARD.is_ok());
        assert!(!STANDARD_FORBIDDEN_GLOBS.iter().any(|glob| glob.trim_start_matches('!').starts_with('/')));
        for workspace in ["/", "/srv/ws", "/srv/.git"] {
            let workspace = Workspace::plain(workspace);
            let own = DenyGlobs::compile(&STANDARD_FORBIDDEN_GLOBS, &workspace).unwrap();
            let standard = Forbidden::compile(&STANDARD_FORBIDDEN_GLOBS, &workspace).unwrap();
            assert!(matches!(standard, Forbidden::Standard));
            for path in STANDARD_FORBIDDEN_GLOBS.iter().map(|glob| glob.replace("**", "a").replace('*', "b"))
            {
                for path in [Path::new("/srv/ws").join(&path), Path::new("/").join(&path)] {
                    let located = workspace.locate(&path);
                    assert_eq!(standard.hit(&located), own.hit(&located), "{}", path.display());
                }
            }
        }
    }
}
