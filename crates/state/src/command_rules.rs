//! The rules for commands that a command works with: the built-in ones, those of files, and those of an agent.
#![expect(clippy::disallowed_methods, reason = "asks in which folder it runs, for the configuration there")]

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use stockade_guard::AgentCommands;
use stockade_guard::admission::{FileOptions, Source, read_text};
use stockade_guard::command::Cause;
use stockade_guard::command::rules::{
    CommandRuleFile, CommandRuleFileError, CommandRuleFormat, MAX_COMMAND_RULE_FILE_BYTES,
};
use stockade_guard::command::{CommandDefaults, CommandPolicy, CommandRule, CommandRuleError, Layer};
use stockade_guard::config::{AgentConfig, Config, ConfigError, ConfigRule, ConfigSources};
use stockade_text::escape_path;

use crate::StateError;

/// Rules from wherever they are, ready to decide, and where each stands.
#[derive(Debug)]
pub struct RuleSources {
    /// What decides.
    pub policy: AgentCommands,
    /// The file and line of each rule.
    pub places: RulePlaces,
}

/// Reads files of rules, on top of the built-in ones. Before a file's name may stand whose rules they are:
/// `project:rules.toml`.
pub fn sources_of(files: &[PathBuf]) -> Result<RuleSources, StateError> {
    let files = read_all(files)?;
    let layers = files.iter().map(|(layer, _, file)| file.layer(*layer)).collect();
    let defaults = written(&files).reduce(strictest).unwrap_or_default();
    let policy = CommandPolicy::compile(layers, defaults).map_err(|error| clash(&files, &error))?;
    Ok(RuleSources { policy: policy.into(), places: RulePlaces(places_of(&files).collect()) })
}

/// Reads files of rules, on top of those that the configuration has for an agent.
pub fn sources_for(agent: &str, files: &[PathBuf]) -> Result<RuleSources, StateError> {
    sources_with(&configuration(Some(agent))?, agent, files)
}

/// The same, by a configuration that was read.
pub fn sources_with(config: &Config, agent: &str, files: &[PathBuf]) -> Result<RuleSources, StateError> {
    let files = read_all(files)?;
    let settings = of_agent(config, agent)?;
    let layers = files.iter().map(|(layer, _, file)| file.layer(*layer)).chain(settings.rules).collect();
    let defaults = written(&files).fold(settings.commands, strictest);
    let policy = AgentCommands::compile(layers, defaults).map_err(|error| clash(&files, &error))?;
    let place = |one: &ConfigRule| Some(((one.layer, one.rule.id.clone()), one.origin.place.clone()?));
    let places = config.rules(agent).filter_map(place).chain(places_of(&files));
    Ok(RuleSources { policy, places: RulePlaces(places.collect()) })
}

fn places_of(files: &Files) -> impl Iterator<Item = ((Layer, String), String)> {
    files.iter().flat_map(|(layer, path, file)| {
        let place = |rule: &CommandRule| match file.place_of(&rule.id) {
            Some(at) => format!("{}:{}:{}", path.display(), at.line, at.column),
            None => path.display().to_string(),
        };
        file.rules().iter().map(move |rule| ((*layer, rule.id.clone()), place(rule)))
    })
}

/// Reads the configuration that holds in this folder, also for an agent that is named.
pub fn configuration(agent: Option<&str>) -> Result<Config, StateError> {
    load(agent).map_err(|error| StateError::from(&error))
}

/// The same, with the error as it is.
pub fn load(agent: Option<&str>) -> Result<Config, ConfigError> {
    let folder = std::env::current_dir().unwrap_or_default();
    let agents = agent.into_iter().map(str::to_owned).collect();
    let sources = ConfigSources { agents, ..ConfigSources::of_process(&folder) };
    Config::load(&sources)
}

/// What a configuration says of an agent.
pub fn of_agent(config: &Config, agent: &str) -> Result<AgentConfig, StateError> {
    config.agent(agent).map_err(|error| StateError::input(&error).with_help(error.fix()))
}

/// Where the rules of a configuration stand, by whose they are and by their names.
#[derive(Debug, Default)]
pub struct RulePlaces(HashMap<(Layer, String), String>);

impl RulePlaces {
    /// Returns where the rule stands that decided, if it is one of these.
    pub fn of(&self, because: &Cause<'_>) -> Option<&str> {
        let (rule, layer) = because.rule()?;
        self.find(layer, &rule.id)
    }

    /// Returns where a rule stands.
    pub fn find(&self, layer: Layer, id: &str) -> Option<&str> {
        self.0.get(&(layer, id.to_owned())).map(String::as_str)
    }
}

type Files = Vec<(Layer, PathBuf, CommandRuleFile)>;

fn read_all(files: &[PathBuf]) -> Result<Files, StateError> {
    let read = |file: &PathBuf| {
        let (layer, path) = layer_of(file);
        Ok((layer, path.clone(), read(&path, layer)?))
    };
    files.iter().map(read).collect()
}

/// Only what a file alone cannot know is left: two files with a rule of the same id.
fn clash(files: &Files, error: &CommandRuleError) -> StateError {
    let owner = files.iter().rev().find(|(.., file)| file.rules().iter().any(|rule| rule.id == error.rule));
    owner.map_or_else(|| StateError::input(error), |(_, path, file)| wrong(path, &file.locate(error)))
}

/// Reads one file of rules, and runs its examples and tests.
pub fn read(path: &Path, layer: Layer) -> Result<CommandRuleFile, StateError> {
    let Some(format) = path.to_str().and_then(CommandRuleFormat::of_name) else {
        let message = format_args!("{}: not the name of a rule file", escape_path(path));
        return Err(StateError::input(message).with_help("the name must end in .toml, .yaml, .yml or .json"));
    };
    // A little more than allowed, so that the file is refused for what it is: too large.
    let options = FileOptions { max_file_bytes: MAX_COMMAND_RULE_FILE_BYTES + 1, ..FileOptions::default() };
    let file = read_text(&Source::Path(path.to_path_buf()), &options)
        .map_err(|gap| StateError::input(format_args!("{}: {gap}", escape_path(path))))?;
    CommandRuleFile::parse(&file.text, format, layer).map_err(|error| wrong(path, &error))
}

/// Splits `project:rules.toml`. Rules are the user's where nothing is said.
pub fn layer_of(file: &Path) -> (Layer, PathBuf) {
    let named = [("admin:", Layer::Admin), ("user:", Layer::User), ("project:", Layer::Project)];
    let text = file.to_str().unwrap_or_default();
    let split = named.into_iter().find_map(|(name, layer)| Some((layer, text.strip_prefix(name)?.into())));
    split.unwrap_or_else(|| (Layer::User, file.to_path_buf()))
}

/// What files say of commands that no rule matches. A project cannot make the built-in defaults milder.
fn written(files: &Files) -> impl Iterator<Item = CommandDefaults> {
    files.iter().filter_map(|(layer, _, file)| match layer {
        Layer::Project => Some(strictest(file.defaults()?, CommandDefaults::default())),
        _ => file.defaults(),
    })
}

/// Of several defaults the strictest hold.
pub fn strictest(one: CommandDefaults, other: CommandDefaults) -> CommandDefaults {
    CommandDefaults {
        unmatched: one.unmatched.max(other.unmatched),
        unanalysable: one.unanalysable.max(other.unanalysable),
        substitutions: one.substitutions.max(other.substitutions),
    }
}

fn wrong(path: &Path, error: &CommandRuleFileError) -> StateError {
    let CommandRuleFileError { line, column, problem, .. } = error;
    StateError::input(format_args!("{}:{line}:{column}: {problem}", escape_path(path)))
        .with_help("'stockade policy --help' shows how rules look")
}
