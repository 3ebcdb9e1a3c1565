//! A compiled configuration: where requests for access begin.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock};
use stockade_text::resolve_path;

use thiserror::Error;

use super::chain::{Chain, Policy};
use super::execute::Execute;
use super::tool_guard::ToolGuard;
use crate::paths::boundary::Boundary;
use crate::paths::config::SandboxConfig;
use crate::paths::facts::PathFacts;
use crate::paths::globs::GlobError;
use crate::paths::jail::Workspace;
use stockade_command::{AgentCommands, CommandPolicy};
use stockade_names::Access;

/// A compiled configuration, and the guards of the tools that work under it.
///
/// It belongs to one run: the answers that hold "for the session" live in its guards.
#[derive(Debug, Clone)]
pub struct Sandbox {
    boundary: Arc<Boundary>,
    chain: Chain,
    execute: Execute,
    guards: BTreeMap<String, ToolGuard>,
}

/// A configuration that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SandboxError {
    /// The workspace is not named by an absolute path.
    #[error("the workspace `{}` must be an absolute path", path.display())]
    RelativeWorkspace {
        /// What was given.
        path: PathBuf,
    },
    /// The configuration names another workspace than the caller found.
    #[error("the workspace is `{}` in the configuration, and `{}` in the request", configured.display(), found.display())]
    OtherWorkspace {
        /// In the configuration.
        configured: PathBuf,
        /// From the caller.
        found: PathBuf,
    },
    /// A glob cannot be used.
    #[error("cannot use {list}")]
    Glob {
        /// Which list it is in.
        list: &'static str,
        /// What is wrong with it.
        source: GlobError,
    },
}

impl Sandbox {
    /// Compiles a configuration for a workspace.
    ///
    /// # Errors
    /// When the workspace is not absolute or not the configured one, or a glob cannot be used.
    pub fn compile(config: &SandboxConfig, workspace: &Workspace) -> Result<Self, SandboxError> {
        check(config, workspace)?;
        let tidy = |path: &Path| resolve_path(Path::new("/"), path);
        let workspace =
            Workspace { cwd: tidy(&workspace.cwd), real: tidy(&workspace.real), case: workspace.case };
        let in_list = |list| move |source| SandboxError::Glob { list, source };
        let read =
            Policy::paths(Access::Read, &config.read, &workspace).map_err(in_list("the read policy"))?;
        let write =
            Policy::paths(Access::Write, &config.write, &workspace).map_err(in_list("the write policy"))?;
        let boundary = Boundary::compile(config, workspace).map_err(in_list("the forbidden globs"))?;
        Ok(Self {
            boundary: Arc::new(boundary),
            chain: Chain::new(vec![read, write]),
            execute: Execute { unmatched: config.execute, rules: builtin() },
            guards: BTreeMap::new(),
        })
    }

    /// Judges commands by these rules instead of the built-in ones alone. Guards that exist already go by them too.
    pub fn set_commands(&mut self, commands: Arc<AgentCommands>) {
        for guard in self.guards.values_mut() {
            guard.set_commands(Arc::clone(&commands));
        }
        self.execute.rules = commands;
    }

    /// Returns the workspace that paths are judged in.
    #[must_use]
    pub fn workspace(&self) -> &Workspace {
        &self.boundary.workspace
    }

    /// Returns the absolute path that a request names, by text alone: where the caller has to look before it can ask
    /// for a decision. Nothing when the request will be refused whatever is there.
    #[must_use]
    pub fn locate(&self, path: &Path) -> Option<PathBuf> {
        self.boundary.locate(path).ok()
    }

    /// Returns the absolute path that a request names, with every `..` and `/` in it that the request has: what the kernel
    /// would be asked for. A link before a `..` makes it another file than the one that [`Sandbox::locate`] returns, so the
    /// caller has to look at both. Nothing when the request will be refused whatever is there.
    #[must_use]
    pub fn as_named(&self, path: &Path) -> Option<PathBuf> {
        self.boundary.locate(path).ok().map(|_| self.workspace().cwd.join(path))
    }

    /// Whether paths with these facts are refused for where they lead, whatever any policy says.
    #[must_use]
    pub fn lies_outside(&self, facts: &PathFacts) -> bool {
        self.boundary.is_outside(facts)
    }

    /// Returns the guard of a tool. Each tool has its own: policies added to it and answers given for it hold for it
    /// alone.
    pub fn guard_for(&mut self, tool: &str) -> &mut ToolGuard {
        let Self { boundary, chain, execute, guards } = self;
        guards
            .entry(tool.to_owned())
            .or_insert_with(|| ToolGuard::new(tool, Arc::clone(boundary), chain.clone(), execute.clone()))
    }

    /// Returns the guards that exist so far.
    pub fn guards(&self) -> impl Iterator<Item = &ToolGuard> {
        self.guards.values()
    }
}

/// The built-in rules, compiled once.
fn builtin() -> Arc<AgentCommands> {
    static BUILTIN: LazyLock<Arc<AgentCommands>> =
        LazyLock::new(|| Arc::new(AgentCommands::from(CommandPolicy::builtin())));
    Arc::clone(&BUILTIN)
}

fn check(config: &SandboxConfig, workspace: &Workspace) -> Result<(), SandboxError> {
    for path in [&workspace.cwd, &workspace.real] {
        if !path.is_absolute() {
            return Err(SandboxError::RelativeWorkspace { path: path.clone() });
        }
    }
    match &config.cwd {
        Some(configured) if *configured != workspace.cwd => {
            Err(SandboxError::OtherWorkspace { configured: configured.clone(), found: workspace.cwd.clone() })
        }
        _ => Ok(()),
    }
}
