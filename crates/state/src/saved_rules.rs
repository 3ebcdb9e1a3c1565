//! Changes of saved rules for commands, in a rule file or in the user's configuration of an agent.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the current directory, and creates the configuration directory"
)]

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use stockade_files::{KeptFile, KeptFileError};
use stockade_guard::command::rules::{CommandRuleFileProblem, CustomRules, free_id};
use stockade_guard::command::{CommandDefaults, CommandPolicy, CommandRule, Layer};
use stockade_guard::config::{Config, ConfigLayer, ConfigSources};
use stockade_guard::{AgentCommands, RuleStore, RuleStoreError};
use stockade_text::{EditError, Editor, Format, Value, escape_path, parse, with_causes};

use crate::StateError;
use crate::command_rules::{layer_of, sources_for};

/// Maximum size of a config file in bytes, as its parser has it.
pub const MAX_CONFIG_BYTES: u64 = 256 << 10;

/// Maximum number of attempts to find out which new rules a document cannot contain. Rules that are not cleared by then are
/// refused.
const MAX_TRIES: usize = 64;

/// Location of saved rules.
#[derive(Debug, Clone)]
pub enum SavedRules {
    /// A file that contains only rules.
    File {
        /// The layer of its rules.
        layer: Layer,
        /// The file.
        path: PathBuf,
    },
    /// The user's configuration of this agent.
    Agent {
        /// The agent.
        agent: String,
        /// The config file.
        path: PathBuf,
    },
}

/// A change of saved rules.
#[derive(Debug)]
pub enum SavedRuleChange {
    /// Add these, each with a unique id.
    Add(Vec<CommandRule>),
    /// Remove the rules with these ids.
    Remove(Vec<String>),
}

/// Result of a change.
#[derive(Debug, Default)]
pub struct ChangedRules {
    /// The added or removed rules, with their ids.
    pub changed: Vec<CommandRule>,
    /// Rules that are equal to an existing rule, with its id.
    pub there: Vec<(CommandRule, String)>,
    /// Unknown ids.
    pub unknown: Vec<String>,
    /// Invalid rules, with errors.
    pub refused: Vec<(CommandRule, CommandRuleFileProblem)>,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SavedRulesError {
    /// The change is impossible, for this reason.
    #[error("{0}")]
    Said(String),
    /// The rule file cannot be read or written.
    #[error(transparent)]
    Store(#[from] RuleStoreError),
    /// The config file cannot be read or written.
    #[error(transparent)]
    File(#[from] KeptFileError),
}

impl From<SavedRulesError> for StateError {
    fn from(error: SavedRulesError) -> Self {
        Self::input(with_causes(&error))
    }
}

impl SavedRules {
    /// Returns the location for a rule file, with an optional prefix for its layer.
    pub fn of_file(named: &Path) -> Result<Self, StateError> {
        let (layer, path) = layer_of(named);
        if Format::of_path(&path).is_some() {
            return Ok(Self::File { layer, path });
        }
        let message = format_args!("{}: unknown extension of a rule file", escape_path(&path));
        Err(StateError::input(message).with_help("use .toml, .yaml or .json"))
    }

    /// Returns the location for an agent in the user's configuration.
    pub fn of_agent(agent: &str) -> Result<Self, StateError> {
        Ok(Self::Agent { agent: agent.to_owned(), path: user_file()? })
    }

    /// Returns the file that contains the rules.
    pub fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Agent { path, .. } => path,
        }
    }

    /// Describes the location for users.
    pub fn place(&self) -> String {
        match self {
            Self::File { path, .. } => escape_path(path),
            Self::Agent { agent, path } => format!("{}, for the agent `{agent}`", escape_path(path)),
        }
    }

    /// Returns the policy in which these rules apply.
    pub fn policy(&self) -> Result<AgentCommands, StateError> {
        match self {
            Self::Agent { agent, .. } => sources_for(agent, &[]).map(|sources| sources.policy),
            Self::File { layer, path } => {
                let rules = RuleStore::of(path, *layer).load().map_err(SavedRulesError::from)?;
                let compiled = CommandPolicy::compile(vec![rules.layer()], CommandDefaults::default());
                compiled.map(AgentCommands::from).map_err(|error| StateError::input(&error))
            }
        }
    }

    /// Changes the rules, or returns what a change would do. Invalid rules are omitted and reported.
    pub fn apply(&self, change: &SavedRuleChange, writes: bool) -> Result<ChangedRules, SavedRulesError> {
        match self {
            Self::File { layer, path } => {
                let store = RuleStore::of(path, *layer);
                if writes {
                    return Ok(store.change(|rules| changed(rules, change))?);
                }
                let mut rules = store.load()?;
                changed(&mut rules, change).map_err(|problem| RuleStoreError::from(problem).into())
            }
            Self::Agent { agent, path } => in_configuration(agent, path, change, writes),
        }
    }
}

/// Changes the rules of a document.
pub fn changed(
    rules: &mut CustomRules,
    change: &SavedRuleChange,
) -> Result<ChangedRules, CommandRuleFileProblem> {
    let mut done = ChangedRules::default();
    match change {
        SavedRuleChange::Add(new) => {
            let mut taken: HashSet<String> = rules.rules().iter().map(|rule| rule.id.clone()).collect();
            let mut named: Vec<CommandRule> = Vec::new();
            for rule in new {
                let there = rules.rules().iter().chain(&named).find(|one| says_the_same(one, rule));
                if let Some(there) = there {
                    done.there.push((rule.clone(), there.id.clone()));
                    continue;
                }
                let id = free_id(&rule.id, |id| taken.contains(id));
                taken.insert(id.clone());
                named.push(CommandRule { id, ..rule.clone() });
            }
            let mut tries = MAX_TRIES;
            add(rules, &named, &mut tries, &mut done);
        }
        SavedRuleChange::Remove(ids) => {
            for id in ids {
                match rules.remove(id)? {
                    Some(rule) => done.changed.push(rule),
                    None => done.unknown.push(id.clone()),
                }
            }
        }
    }
    Ok(done)
}

/// Adds rules together, or if that fails, each half separately. Each attempt parses the whole document.
fn add(rules: &mut CustomRules, new: &[CommandRule], tries: &mut usize, done: &mut ChangedRules) {
    if new.is_empty() {
        return;
    }
    *tries = tries.saturating_sub(1);
    let (one, other) = new.split_at(new.len() / 2);
    match rules.add_all(new) {
        Ok(()) => done.changed.extend_from_slice(new),
        Err(problem) if other.len() == new.len() || *tries == 0 => {
            done.refused.extend(new.iter().map(|rule| (rule.clone(), problem.clone())));
        }
        Err(_) => {
            add(rules, one, tries, done);
            add(rules, other, tries, done);
        }
    }
}

/// Whether two rules have the same effect on the same commands.
fn says_the_same(one: &CommandRule, other: &CommandRule) -> bool {
    (&one.pattern, one.effect, one.priority, &one.guards, one.enabled)
        == (&other.pattern, other.effect, other.priority, &other.guards, other.enabled)
}

/// Changes the rules of an agent in the user's configuration.
fn in_configuration(
    agent: &str,
    path: &Path,
    change: &SavedRuleChange,
    writes: bool,
) -> Result<ChangedRules, SavedRulesError> {
    let file = KeptFile::new(path, MAX_CONFIG_BYTES);
    let edit = |text: Option<&str>| {
        let rules = user_rules(agent, path, None)?;
        let (text, done) = edited(agent, path, text.unwrap_or_default(), rules, change)?;
        Ok::<_, SavedRulesError>((Some(text), done))
    };
    if !writes {
        return edit(file.read()?.as_deref()).map(|(_, done)| done);
    }
    make_folder_of(path)?;
    file.change(edit)?
}

/// Returns the user's config file, which need not exist yet.
///
/// # Errors
/// When `HOME` is not set, and no file was chosen.
pub fn user_file() -> Result<PathBuf, StateError> {
    let sources = sources();
    if let Some(file) = sources.file {
        return Ok(file);
    }
    let Some(folder) = sources.user else {
        return Err(StateError::input("cannot find the directory of your configuration: HOME is not set"));
    };
    let mut files = Format::EXTENSIONS.iter().map(|(ending, _)| folder.join(format!("config.{ending}")));
    Ok(files.find(|path| path.symlink_metadata().is_ok()).unwrap_or_else(|| folder.join("config.toml")))
}

/// Returns the format of a config file.
#[must_use]
pub fn format_of(path: &Path) -> Format {
    Format::of_path(path).unwrap_or(Format::Toml)
}

/// Creates the directory of the user's configuration.
pub(crate) fn make_folder_of(path: &Path) -> Result<(), SavedRulesError> {
    let Some(folder) = path.parent() else { return Ok(()) };
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.map_err(|error| SavedRulesError::Said(format!("{}: {error}", escape_path(folder))))
}

/// Returns the text of a config file after a change, after all layers were parsed with it. `rules` are those that the text has
/// for the agent.
pub(crate) fn edited(
    agent: &str,
    path: &Path,
    text: &str,
    mut rules: Vec<CommandRule>,
    change: &SavedRuleChange,
) -> Result<(String, ChangedRules), SavedRulesError> {
    let said = |message: String| SavedRulesError::Said(format!("{}: {message}", escape_path(path)));
    let keys = ["agents", agent, "commands", "rules"];
    let mut text = text.to_owned();
    // Everything that a rule file refuses, a configuration refuses, too.
    let mut known = CustomRules::default();
    known.add_all(&rules).map_err(|problem| said(problem.to_string()))?;
    let change = &freely_named(change, &rules, &ids_of(&text, format_of(path)));
    let done = changed(&mut known, change).map_err(|problem| said(problem.to_string()))?;
    let edited = |error: EditError| said(error.to_string());
    match change {
        SavedRuleChange::Add(_) => {
            let values: Vec<String> = done.changed.iter().map(CommandRule::to_toml_values).collect();
            text = Editor::new(&text, format_of(path)).push_tables(&keys, &values).map_err(edited)?;
        }
        SavedRuleChange::Remove(_) => {
            for rule in &done.changed {
                let index = rules.iter().position(|one| one.id == rule.id).unwrap_or(usize::MAX);
                if index < rules.len() {
                    rules.remove(index);
                }
                text = Editor::new(&text, format_of(path)).remove_table(&keys, index).map_err(edited)?;
            }
        }
    }
    if !done.changed.is_empty() && user_rules(agent, path, Some(&text))? != known.rules() {
        return Err(said(
            "the changed file would have other rules than intended: edit it by hand".to_owned(),
        ));
    }
    Ok((text, done))
}

/// Refuses duplicate ids in a configuration, also between an agent and all agents.
fn freely_named(change: &SavedRuleChange, own: &[CommandRule], taken: &HashSet<String>) -> SavedRuleChange {
    let free = |rule: &CommandRule| {
        let is_there = own.iter().any(|one| says_the_same(one, rule));
        let id = free_id(&rule.id, |id| !is_there && taken.contains(id));
        CommandRule { id, ..rule.clone() }
    };
    match change {
        SavedRuleChange::Add(rules) => SavedRuleChange::Add(rules.iter().map(free).collect()),
        SavedRuleChange::Remove(ids) => SavedRuleChange::Remove(ids.clone()),
    }
}

/// Returns the ids of the rules of all agents, also of those that apply in some directories or for a time.
pub(crate) fn ids_of(text: &str, format: Format) -> HashSet<String> {
    let Ok(document) = parse(text, format, text.len().max(1)) else { return HashSet::new() };
    let scoped = match document.value.get("scoped").map(|scoped| &scoped.node.value) {
        Some(Value::List(tables)) => tables.as_slice(),
        _ => &[],
    };
    let tables = std::iter::once(&document).chain(scoped);
    let agents = tables.filter_map(|table| match &table.value.get("agents")?.node.value {
        Value::Table(agents) => Some(agents),
        _ => None,
    });
    let lists =
        agents.flatten().filter_map(|agent| agent.node.value.get("commands")?.node.value.get("rules"));
    let rules = lists.filter_map(|list| match &list.node.value {
        Value::List(rules) => Some(rules),
        _ => None,
    });
    let ids = rules.flatten().filter_map(|rule| match &rule.value.get("id")?.node.value {
        Value::Text(id) => Some(id.clone()),
        _ => None,
    });
    ids.collect()
}

/// Returns the rules of an agent itself in the user's file, in order; with `text`, as if the file had this content.
pub(crate) fn user_rules(
    agent: &str,
    path: &Path,
    text: Option<&str>,
) -> Result<Vec<CommandRule>, SavedRulesError> {
    let said = |message: String| SavedRulesError::Said(message);
    // Rules of a `[[scoped]]` table are not in the list that is edited.
    let sources = ConfigSources { agents: vec![agent.to_owned()], omits_scoped: true, ..sources() };
    let config = match text {
        Some(text) => loaded_with(sources, path, text)?,
        None => Config::load(&sources).map_err(|error| said(error.to_string()))?,
    };
    if text.is_none() {
        config.agent(agent).map_err(|unknown| said(format!("{unknown}; {}", unknown.fix())))?;
    }
    // The rules for all agents come first.
    let shared = if agent == "*" { 0 } else { config.rules("*").count() };
    let own = config
        .rules(agent)
        .skip(shared)
        .filter(|one| one.origin.layer == ConfigLayer::User && one.file.is_none());
    Ok(own.map(|one| one.rule.clone()).collect())
}

/// Loads all layers.
///
/// # Errors
/// When a layer is invalid.
#[cfg(target_os = "linux")]
pub(crate) fn config_on_disk() -> Result<Config, StateError> {
    Config::load(&sources()).map_err(|error| StateError::from(&error))
}

/// Loads all layers, with this text in place of the user's file.
pub fn config_with(path: &Path, text: &str) -> Result<Config, SavedRulesError> {
    loaded_with(sources(), path, text)
}

/// The same for an agent in another directory, and in a session of its harness.
#[cfg(target_os = "linux")]
pub(crate) fn config_in(
    directory: &Path,
    session: Option<&str>,
    path: &Path,
    text: &str,
) -> Result<Config, SavedRulesError> {
    let session = session.map(str::to_owned);
    loaded_with(ConfigSources { session, ..ConfigSources::of_process(directory) }, path, text)
}

fn loaded_with(mut sources: ConfigSources, path: &Path, text: &str) -> Result<Config, SavedRulesError> {
    let said = |message: String| SavedRulesError::Said(message);
    // The temporary directory must exist until its file is read.
    let folder = tempfile::tempdir().map_err(|error| said(error.to_string()))?;
    let tried = folder.path().join(path.file_name().unwrap_or("config.toml".as_ref()));
    let file = KeptFile::new(&tried, MAX_CONFIG_BYTES);
    file.change(|_| Ok::<_, SavedRulesError>((Some(text.to_owned()), ())))??;
    (sources.user, sources.file) = (None, Some(tried.clone()));
    Config::load(&sources).map_err(|error| {
        let error = error.to_string().replace(&tried.display().to_string(), &path.display().to_string());
        said(format!("with this change, {error}"))
    })
}

fn sources() -> ConfigSources {
    ConfigSources::of_process(&std::env::current_dir().unwrap_or_default())
}
