//! The guards that a server keeps, each for as long as its configuration stays the same.
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use stockade_files::{FileVersions, real_path};
use stockade_policy::ToolCatalog;
use thiserror::Error;

use super::{Guard, GuardError, GuardOptions};
use stockade_config::{Config, ConfigError, ConfigSources};

/// The most guards that are kept. Clients name workspaces, and must not fill the memory with them.
const MAX_GUARDS: usize = 64;

/// The guards of agents in workspaces, compiled when they are first asked for, and again when a file of their
/// configuration was changed, added or removed.
#[derive(Debug, Default)]
pub struct GuardCache {
    guards: Mutex<BTreeMap<Key, Kept>>,
}

/// The agent, its workspace, and the tools and servers that are said to be there.
type Key = (String, PathBuf, Vec<String>, Vec<String>);

#[derive(Debug)]
struct Kept {
    guard: Guard,
    files: FileVersions,
}

/// Why there is no guard for an agent. It must not do anything then.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GuardCacheError {
    /// The configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The configuration can be read, and no guard be made of it.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

impl GuardCache {
    /// Returns the guard of an agent in a workspace, by the configuration that a program of this user finds there.
    ///
    /// # Errors
    /// When the configuration cannot be used as it is now, whatever it was before.
    pub fn get(&self, agent: &str, workspace: &Path) -> Result<Guard, GuardCacheError> {
        self.get_with(agent, workspace, &ToolCatalog::default())
    }

    /// The same, where these tools are there besides the known ones, so that their names in the configuration are no slips.
    ///
    /// # Errors
    /// As [`GuardCache::get`].
    pub fn get_with(
        &self,
        agent: &str,
        workspace: &Path,
        catalog: &ToolCatalog,
    ) -> Result<Guard, GuardCacheError> {
        let (tools, servers) = (catalog.tools.clone(), catalog.mcp_servers.clone());
        let key = (agent.to_owned(), workspace.to_path_buf(), tools, servers);
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kept) = guards.get(&key) {
            if kept.is_fresh(workspace) {
                return Ok(kept.guard.clone());
            }
            guards.remove(&key);
        }
        drop(guards);
        let kept = Kept::open(agent, workspace, catalog)?;
        let guard = kept.guard.clone();
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        if guards.len() >= MAX_GUARDS {
            // Any will do: each can be made again.
            guards.pop_first();
        }
        guards.insert(key, kept);
        Ok(guard)
    }
}

impl Kept {
    /// Whether the configuration and the workspace are those that the guard was made for: a link may lead elsewhere by now.
    fn is_fresh(&self, workspace: &Path) -> bool {
        let real = real_path(workspace);
        real.is_ok_and(|real| real == self.guard.workspace()) && self.files.are_unchanged()
    }

    fn open(agent: &str, workspace: &Path, catalog: &ToolCatalog) -> Result<Self, GuardCacheError> {
        let sources =
            ConfigSources { agents: vec![agent.to_owned()], ..ConfigSources::of_process(workspace) };
        // Looked at before they are read: what is changed meanwhile is read again.
        let files = sources.files();
        let options = GuardOptions {
            agent: agent.to_owned(),
            workspace: workspace.to_path_buf(),
            catalog: catalog.clone(),
            rules: Vec::new(),
        };
        Ok(Self { guard: Guard::open(&Config::load(&sources)?, options)?, files })
    }
}
