//! Rules for commands from all sources: built in, rule files, and the configuration of an agent.
#![expect(clippy::disallowed_methods, reason = "reads the current directory, to find its configuration")]

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

/// Rules from all sources, compiled, with their origins.
#[derive(Debug)]
pub struct RuleSources {
    /// The compiled policy.
    pub policy: AgentCommands,
    /// The file and line of each rule.
    pub places: RulePlaces,
}

/// Reads rule files in addition to the built-in rules. A prefix of the file name sets the layer: `project:rules.toml`.
pub fn sources_of(files: &[PathBuf]) -> Result<RuleSources, StateError> {
    let files = read_all(files)?;
    let layers = files.iter().map(|(layer, _, file)| file.layer(*layer)).collect();
    let defaults = written(&files).reduce(strictest).unwrap_or_default();
    let policy = CommandPolicy::compile(layers, defaults).map_err(|error| clash(&files, &error))?;
    Ok(RuleSources { policy: policy.into(), places: RulePlaces(places_of(&files).collect()) })
}

/// Reads rule files in addition to the configured rules of an agent.
pub fn sources_for(agent: &str, files: &[PathBuf]) -> Result<RuleSources, StateError> {
    sources_with(&configuration(Some(agent))?, agent, files)
}

/// The same, with a loaded configuration.
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

/// Loads the configuration for the current directory, with an agent that will be looked up.
pub fn configuration(agent: Option<&str>) -> Result<Config, StateError> {
    load(agent).map_err(|error| StateError::from(&error))
}

/// The same, with the original error.
pub fn load(agent: Option<&str>) -> Result<Config, ConfigError> {
    let folder = std::env::current_dir().unwrap_or_default();
    let agents = agent.into_iter().map(str::to_owned).collect();
    let sources = ConfigSources { agents, ..ConfigSources::of_process(&folder) };
    Config::load(&sources)
}

/// Adds the configured rules of an agent.
pub fn of_agent(config: &Config, agent: &str) -> Result<AgentConfig, StateError> {
    config.agent(agent).map_err(|error| StateError::input(&error).with_help(error.fix()))
}

/// Origins of configured rules, by layer and id.
#[derive(Debug, Default)]
pub struct RulePlaces(HashMap<(Layer, String), String>);

impl RulePlaces {
    /// Returns the origin of the deciding rule, if it is known.
    pub fn of(&self, because: &Cause<'_>) -> Option<&str> {
        let (rule, layer) = because.rule()?;
        self.find(layer, &rule.id)
    }

    /// Returns the origin of a rule.
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

/// Reports duplicate ids in different files, which no single file can detect.
fn clash(files: &Files, error: &CommandRuleError) -> StateError {
    let owner = files.iter().rev().find(|(.., file)| file.rules().iter().any(|rule| rule.id == error.rule));
    owner.map_or_else(|| StateError::input(error), |(_, path, file)| wrong(path, &file.locate(error)))
}

/// Reads a rule file, and runs its examples and tests.
pub fn read(path: &Path, layer: Layer) -> Result<CommandRuleFile, StateError> {
    let Some(format) = path.to_str().and_then(CommandRuleFormat::of_name) else {
        let message = format_args!("{}: unknown extension of a rule file", escape_path(path));
        return Err(StateError::input(message).with_help("use the extension .toml, .yaml, .yml or .json"));
    };
    // One byte above the limit, so that a larger file is refused as too large.
    let options = FileOptions { max_file_bytes: MAX_COMMAND_RULE_FILE_BYTES + 1, ..FileOptions::default() };
    let file = read_text(&Source::Path(path.to_path_buf()), &options)
        .map_err(|gap| StateError::input(format_args!("{}: {gap}", escape_path(path))))?;
    CommandRuleFile::parse(&file.text, format, layer).map_err(|error| wrong(path, &error))
}

/// Splits `project:rules.toml`. Without a prefix, the rules are the user's.
pub fn layer_of(file: &Path) -> (Layer, PathBuf) {
    let named = [("admin:", Layer::Admin), ("user:", Layer::User), ("project:", Layer::Project)];
    let text = file.to_str().unwrap_or_default();
    let split = named.into_iter().find_map(|(name, layer)| Some((layer, text.strip_prefix(name)?.into())));
    split.unwrap_or_else(|| (Layer::User, file.to_path_buf()))
}

/// Combines the defaults of files. A project cannot make the built-in defaults less strict.
fn written(files: &Files) -> impl Iterator<Item = CommandDefaults> {
    files.iter().filter_map(|(layer, _, file)| match layer {
        Layer::Project => Some(strictest(file.defaults()?, CommandDefaults::default())),
        _ => file.defaults(),
    })
}

/// Of several defaults, the strictest applies.
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
        .with_help("run 'stockade policy --help' to see the format of rules")
}
