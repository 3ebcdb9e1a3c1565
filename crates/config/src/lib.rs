//! The configuration of stockade: its keys, the layers that set them, and how a project may narrow each.
//!
//! ```text
//! built in ← /etc/stockade ← user ← project ← STOCKADE_* ← options      managed wins over all
//! ```
//!
//! A layer replaces the values of the layers before it, with three exceptions. The file of a project only narrows, since it
//! comes with a repository that someone else wrote: each key defines how (`CONFIG.md`). A value in `/etc/stockade/managed.*`
//! wins over every other layer, as long as only root can write that file. And the rules for commands of all layers apply
//! together: those in `/etc/stockade` decide before the user's.
//!
//! Unknown keys and wrong values are refused with their place. A file that cannot be used is an error and never ignored.
//!
//! ```
//! use stockade_config::{Config, ConfigSources};
//!
//! let folder = tempfile::tempdir()?;
//! std::fs::create_dir(folder.path().join(".stockade"))?;
//! std::fs::write(folder.path().join(".stockade/config.toml"), "[agents.bot.budget]\nmaxTokens = 1000\n")?;
//! let config = Config::load(&ConfigSources { project: Some(folder.path().into()), ..ConfigSources::default() })?;
//!
//! let value = config.get("agents.bot.budget.maxTokens").ok_or("no such key")?;
//! assert_eq!((value.value.to_string().as_str(), value.origin.layer.name()), ("1000", "project"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![forbid(unsafe_code)]

mod agent;
mod chosen;
mod config;
mod error;
mod idle;
mod import;
mod keys;
mod kind;
mod known;
mod layer;
mod narrow;
mod other_tools;
mod rules;
mod scanner;
mod schema;
mod scoped;
mod settings;
mod sources;
mod wide;

pub use agent::{
    AgentConfig, AuditConfig, CriticalFindings, ExecConfig, HookMode, Isolation, LimitStoreConfig,
    SandboxNeed, SkillsConfig,
};
pub use chosen::{CONFIG_FILE_VARIABLE, choose_config_file, chosen_config_file};
pub use config::{Config, ConfigValue};
pub use error::{ConfigError, ConfigNotice, ConfigProblem};
pub use import::{ImportError, ImportedSetting, ImportedSettings, OtherProgram};
pub use keys::ConfigKey;
pub use known::{KNOWN_AGENTS, UnknownAgent};
pub use layer::{ConfigLayer, ConfigOrigin};
pub use rules::ConfigRule;
pub use schema::config_schema;
pub use sources::ConfigSources;
// What the settings of `ExecConfig` are, also where nothing is compiled that runs commands.
pub use stockade_exec_sandbox::{HomeView, OnUnavailable, SandboxBackend};

/// The README's example is run as a test.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
