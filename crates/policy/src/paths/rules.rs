//! A path policy, compiled.

use std::path::Path;

use super::config::{Answer, PathPolicy};
use super::facts::{ResolvedPath, names};
use super::globs::{AllowGlobs, DenyGlobs, GlobError};
use super::jail::Workspace;

/// What a path policy says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Denied { glob: String },
    Allowed { glob: String },
    Default(Answer),
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
        let denied = names(located, found).find_map(|name| self.deny.hit(&workspace.locate(name)));
        if let Some(glob) = denied {
            return Said::Denied { glob: glob.to_owned() };
        }
        match self.allowing(workspace, located, found) {
            Some(glob) => Said::Allowed { glob: glob.to_owned() },
            None => Said::Default(self.written.default),
        }
    }

    fn allowing(&self, workspace: &Workspace, located: &Path, found: &ResolvedPath) -> Option<&str> {
        let glob = self.allow.hit(&workspace.locate(located))?;
        if found.real == located { Some(glob) } else { self.allow.hit(&workspace.locate(&found.real)) }
    }
}
