//! A cache of guards. An entry is valid while its configuration is unchanged.
#![expect(clippy::disallowed_methods, reason = "reads the clock, by which a configuration ends")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use stockade_files::{FileVersions, real_path};
use stockade_policy::ToolCatalog;
use stockade_text::Timestamp;
use thiserror::Error;

use super::{Guard, GuardError, GuardOptions};
use stockade_config::{Config, ConfigError, ConfigSources};

/// Maximum number of cached guards: clients choose workspaces, and must not fill the memory.
const MAX_GUARDS: usize = 64;

/// Guards of agents in workspaces, compiled on first use and again when a file of their configuration changed, appeared or
/// disappeared.
#[derive(Debug, Default)]
pub struct GuardCache {
    guards: Mutex<BTreeMap<Key, CachedGuard>>,
}

/// The agent, its workspace, and the declared tools and servers.
type Key = (String, PathBuf, Vec<String>, Vec<String>);

#[derive(Debug)]
struct CachedGuard {
    guard: Guard,
    files: FileVersions,
    /// When its configuration ends by itself.
    ends: Option<Timestamp>,
}

/// Why there is no guard for an agent. The agent must then be denied everything.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum GuardCacheError {
    /// The configuration is invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// No guard can be created from the configuration.
    #[error(transparent)]
    Guard(#[from] GuardError),
}

impl GuardCache {
    /// Returns the guard of an agent in a workspace, with the configuration that applies there.
    ///
    /// # Errors
    /// When the current configuration is invalid, even if an earlier one was valid.
    pub fn get(&self, agent: &str, workspace: &Path) -> Result<Guard, GuardCacheError> {
        self.get_with(agent, workspace, &ToolCatalog::default())
    }

    /// Returns the guard with additional declared tools, so that their names in the configuration are not reported as mistakes.
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
        if let Some(cached) = guards.get(&key) {
            if cached.is_fresh(workspace) {
                return Ok(cached.guard.clone());
            }
            guards.remove(&key);
        }
        drop(guards);
        let cached = CachedGuard::open(agent, workspace, catalog)?;
        let guard = cached.guard.clone();
        let mut guards = self.guards.lock().unwrap_or_else(PoisonError::into_inner);
        if guards.len() >= MAX_GUARDS {
            // Any entry can be evicted, because it can be created again.
            guards.pop_first();
        }
        guards.insert(key, cached);
        Ok(guard)
    }
}

impl CachedGuard {
    /// Whether the configuration and the workspace are unchanged: a symlink may have another target by now.
    fn is_fresh(&self, workspace: &Path) -> bool {
        let real = real_path(workspace);
        real.is_ok_and(|real| real == self.guard.workspace())
            && self.ends.is_none_or(|ends| Timestamp::from(SystemTime::now()) < ends)
            && self.files.are_unchanged()
    }

    fn open(agent: &str, workspace: &Path, catalog: &ToolCatalog) -> Result<Self, GuardCacheError> {
        let sources =
            ConfigSources { agents: vec![agent.to_owned()], ..ConfigSources::of_process(workspace) };
        let options = GuardOptions {
            agent: agent.to_owned(),
            workspace: workspace.to_path_buf(),
            catalog: catalog.clone(),
            rules: Vec::new(),
        };
        let (config, files) = Config::load_with_versions(&sources)?;
        Ok(Self { guard: Guard::open(&config, options)?, files, ends: config.ends() })
    }
}
