//! Rules for commands where they are kept: a file of rules, or what the user's configuration has for an agent.
#![expect(
    clippy::disallowed_methods,
    reason = "asks in which folder it runs, and makes the folder of the configuration"
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
use stockade_text::{
    Format, TomlEditError, Value, escape_path, parse, push_tables, remove_table, with_causes,
};

use crate::StateError;
use crate::command_rules::{layer_of, sources_for};

/// The most bytes of a configuration, as its reader has it.
pub const MAX_CONFIG_BYTES: u64 = 256 << 10;

/// How often a document is read to find out which of the new rules it cannot have. What is not found out by then is refused.
const MAX_TRIES: usize = 64;

/// Where rules are kept that can be changed.
#[derive(Debug, Clone)]
pub enum SavedRules {
    /// In a file of rules, which says nothing else.
    File {
        /// Whose rules they are.
        layer: Layer,
        /// The file.
        path: PathBuf,
    },
    /// In the user's configuration, for this agent.
    Agent {
        /// The agent.
        agent: String,
        /// The file of the configuration.
        path: PathBuf,
    },
}

/// What becomes of the rules.
#[derive(Debug)]
pub enum SavedRuleChange {
    /// These are added, each under a name that is free.
    Add(Vec<CommandRule>),
    /// Those of these names are taken out.
    Remove(Vec<String>),
}

/// What came of a change.
#[derive(Debug, Default)]
pub struct ChangedRules {
    /// The rules that were added or taken out, as they are named.
    pub changed: Vec<CommandRule>,
    /// Rules that say what one does that is there, and its name.
    pub there: Vec<(CommandRule, String)>,
    /// Names of which there is no rule.
    pub unknown: Vec<String>,
    /// Rules that cannot be used, and why.
    pub refused: Vec<(CommandRule, CommandRuleFileProblem)>,
}

/// Why nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum SavedRulesError {
    /// The change is not possible, for the reason in this sentence.
    #[error("{0}")]
    Said(String),
    /// The file of rules cannot be read or written.
    #[error(transparent)]
    Store(#[from] RuleStoreError),
    /// The configuration file cannot be read or written.
    #[error(transparent)]
    File(#[from] KeptFileError),
}

impl From<SavedRulesError> for StateError {
    fn from(error: SavedRulesError) -> Self {
        Self::input(with_causes(&error))
    }
}

impl SavedRules {
    /// Rules of a file, before whose name may stand whose they are.
    pub fn of_file(named: &Path) -> Result<Self, StateError> {
        let (layer, path) = layer_of(named);
        if path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("toml")) {
            return Ok(Self::File { layer, path });
        }
        let message =
            format_args!("{}: rules are added to and taken out of files of TOML only", escape_path(&path));
        Err(StateError::input(message)
            .with_help("the name must end in .toml; write rules into other files by hand"))
    }

    /// Rules of the user's configuration for an agent.
    pub fn of_agent(agent: &str) -> Result<Self, StateError> {
        let Some(folder) = sources().user else {
            return Err(StateError::input(
                "there is no folder for the user's configuration: HOME is not set",
            ));
        };
        let others = ["yaml", "yml", "json"].map(|ending| folder.join(format!("config.{ending}")));
        if let Some(other) = others.into_iter().find(|path| path.symlink_metadata().is_ok()) {
            let message = format_args!(
                "{}: rules are added to and taken out of files of TOML only",
                escape_path(&other)
            );
            return Err(StateError::input(message)
                .with_help("write the rule into it by hand; --dry-run shows what to write, in TOML"));
        }
        Ok(Self::Agent { agent: agent.to_owned(), path: folder.join("config.toml") })
    }

    /// Returns the file that holds the rules.
    pub fn path(&self) -> &Path {
        match self {
            Self::File { path, .. } | Self::Agent { path, .. } => path,
        }
    }

    /// Says where the rules are, for a person.
    pub fn place(&self) -> String {
        match self {
            Self::File { path, .. } => escape_path(path),
            Self::Agent { agent, path } => format!("{}, for the agent `{agent}`", escape_path(path)),
        }
    }

    /// Returns what decides where these rules hold.
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

    /// Changes the rules, or finds out what would come of it. Rules that cannot be used are left out and told.
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

/// Adds rules together, and where they cannot be, each half by itself. Each try reads the whole document.
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
        let (text, done) = edited(agent, path, text.unwrap_or_default(), change)?;
        Ok::<_, SavedRulesError>((Some(text), done))
    };
    if !writes {
        return edit(file.read()?.as_deref()).map(|(_, done)| done);
    }
    if let Some(folder) = path.parent() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
        made.map_err(|error| SavedRulesError::Said(format!("{}: {error}", escape_path(folder))))?;
    }
    file.change(edit)?
}

/// Returns the text of a configuration after a change, which has been read as all layers together would be.
fn edited(
    agent: &str,
    path: &Path,
    text: &str,
    change: &SavedRuleChange,
) -> Result<(String, ChangedRules), SavedRulesError> {
    let said = |message: String| SavedRulesError::Said(format!("{}: {message}", escape_path(path)));
    let mut rules = user_rules(agent, path, None)?;
    let keys = ["agents", agent, "commands", "rules"];
    let mut text = text.to_owned();
    // Whatever a file of rules refuses, a configuration does.
    let mut known = CustomRules::default();
    known.add_all(&rules).map_err(|problem| said(problem.to_string()))?;
    let change = &freely_named(change, &rules, &ids_of(&text));
    let done = changed(&mut known, change).map_err(|problem| said(problem.to_string()))?;
    let edited = |error: TomlEditError| said(error.to_string());
    match change {
        SavedRuleChange::Add(_) => {
            let values: Vec<String> = done.changed.iter().map(CommandRule::to_toml_values).collect();
            text = push_tables(&text, &keys, &values).map_err(edited)?;
        }
        SavedRuleChange::Remove(_) => {
            for rule in &done.changed {
                let index = rules.iter().position(|one| one.id == rule.id).unwrap_or(usize::MAX);
                if index < rules.len() {
                    rules.remove(index);
                }
                text = remove_table(&text, &keys, index).map_err(edited)?;
            }
        }
    }
    if !done.changed.is_empty() && user_rules(agent, path, Some(&text))? != known.rules() {
        return Err(said("the rules would not be what they should be: change the file by hand".to_owned()));
    }
    Ok((text, done))
}

/// No two rules of a configuration share a name: those for one agent would be taken for those for all.
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

/// Returns the names of the rules of all agents.
fn ids_of(text: &str) -> HashSet<String> {
    let Ok(document) = parse(text, Format::Toml, text.len()) else { return HashSet::new() };
    let agents = document.value.get("agents").map(|agents| &agents.node.value);
    let Some(Value::Table(agents)) = agents else { return HashSet::new() };
    let lists = agents.iter().filter_map(|agent| agent.node.value.get("commands")?.node.value.get("rules"));
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

/// Returns the rules that the user's file has for an agent itself, in their order; by another text than it holds, if one is
/// given.
fn user_rules(agent: &str, path: &Path, text: Option<&str>) -> Result<Vec<CommandRule>, SavedRulesError> {
    let said = |message: String| SavedRulesError::Said(message);
    let sources = ConfigSources { agents: vec![agent.to_owned()], ..sources() };
    let config = match text {
        Some(text) => loaded_with(sources, path, text)?,
        None => Config::load(&sources).map_err(|error| said(error.to_string()))?,
    };
    if text.is_none() {
        config.agent(agent).map_err(|unknown| said(format!("{unknown}; {}", unknown.fix())))?;
    }
    // Those for all agents come first.
    let shared = if agent == "*" { 0 } else { config.rules("*").count() };
    let own = config.rules(agent).skip(shared).filter(|one| one.origin.layer == ConfigLayer::User);
    Ok(own.map(|one| one.rule.clone()).collect())
}

/// Reads all layers together, with this text in the place of the user's file.
pub fn config_with(path: &Path, text: &str) -> Result<Config, SavedRulesError> {
    loaded_with(sources(), path, text)
}

fn loaded_with(mut sources: ConfigSources, path: &Path, text: &str) -> Result<Config, SavedRulesError> {
    let said = |message: String| SavedRulesError::Said(message);
    // Held until the file is read.
    let folder = tempfile::tempdir().map_err(|error| said(error.to_string()))?;
    let tried = folder.path().join("config.toml");
    let file = KeptFile::new(&tried, MAX_CONFIG_BYTES);
    file.change(|_| Ok::<_, SavedRulesError>((Some(text.to_owned()), ())))??;
    sources.user = Some(folder.path().to_path_buf());
    Config::load(&sources).map_err(|error| {
        let error = error.to_string().replace(&tried.display().to_string(), &path.display().to_string());
        said(format!("with this change, {error}"))
    })
}

fn sources() -> ConfigSources {
    ConfigSources::of_process(&std::env::current_dir().unwrap_or_default())
}
