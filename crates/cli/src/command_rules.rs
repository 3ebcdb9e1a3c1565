//! The rules for commands that a command works with: the built-in ones and those of files.

use std::path::{Path, PathBuf};

use stockade_guard::policy::{
    CommandDefaults, CommandPolicy, CommandRuleFile, CommandRuleFileError, CommandRuleFormat, Effect, Layer,
    MAX_COMMAND_RULE_FILE_BYTES,
};
use stockade_guard::{FileOptions, Source, read_text};

use crate::failure::Failure;
use crate::render::escape::escape_path;

/// Reads files of rules, on top of the built-in ones. Before a file's name may stand whose rules they are:
/// `project:rules.toml`.
pub(crate) fn load(files: &[PathBuf]) -> Result<CommandPolicy, Failure> {
    let read = |file: &PathBuf| {
        let (layer, path) = layer_of(file);
        Ok((layer, path.clone(), read(&path, layer)?))
    };
    let files = files.iter().map(read).collect::<Result<Vec<_>, Failure>>()?;
    let layers = files.iter().map(|(layer, _, file)| file.layer(*layer)).collect();
    let defaults = defaults(files.iter().map(|(layer, _, file)| (*layer, file.defaults())));
    CommandPolicy::compile(layers, defaults).map_err(|error| {
        // Only what a file alone cannot know is left: two files with a rule of the same id.
        let owner =
            files.iter().rev().find(|(.., file)| file.rules().iter().any(|rule| rule.id == error.rule));
        owner.map_or_else(|| Failure::usage(&error), |(_, path, file)| wrong(path, &file.locate(&error)))
    })
}

/// Reads one file of rules, and runs its examples and tests.
pub(crate) fn read(path: &Path, layer: Layer) -> Result<CommandRuleFile, Failure> {
    let Some(format) = path.to_str().and_then(CommandRuleFormat::of_name) else {
        let message = format_args!("{}: not the name of a rule file", escape_path(path));
        return Err(Failure::usage(message).with_help("the name must end in .toml, .yaml, .yml or .json"));
    };
    // A little more than allowed, so that the file is refused for what it is: too large.
    let options = FileOptions { max_file_bytes: MAX_COMMAND_RULE_FILE_BYTES + 1, ..FileOptions::default() };
    let file = read_text(&Source::Path(path.to_path_buf()), &options)
        .map_err(|gap| Failure::usage(format_args!("{}: {gap}", escape_path(path))))?;
    CommandRuleFile::parse(&file.text, format, layer).map_err(|error| wrong(path, &error))
}

/// Splits `project:rules.toml`. Rules are the user's where nothing is said.
pub(crate) fn layer_of(file: &Path) -> (Layer, PathBuf) {
    let named = [("admin:", Layer::Admin), ("user:", Layer::User), ("project:", Layer::Project)];
    let text = file.to_str().unwrap_or_default();
    let split = named.into_iter().find_map(|(name, layer)| Some((layer, text.strip_prefix(name)?.into())));
    split.unwrap_or_else(|| (Layer::User, file.to_path_buf()))
}

/// Of several files the strictest defaults hold, and a project cannot make the built-in ones milder.
fn defaults(files: impl Iterator<Item = (Layer, Option<CommandDefaults>)>) -> CommandDefaults {
    let usual = CommandDefaults::default();
    let strictest = |one: CommandDefaults, other: CommandDefaults| CommandDefaults {
        unmatched: one.unmatched.max(other.unmatched),
        unanalysable: one.unanalysable.max(other.unanalysable),
    };
    let written = files.filter_map(|(layer, defaults)| {
        defaults.map(|defaults| if layer == Layer::Project { strictest(defaults, usual) } else { defaults })
    });
    written.reduce(strictest).unwrap_or(usual)
}

fn wrong(path: &Path, error: &CommandRuleFileError) -> Failure {
    let CommandRuleFileError { line, column, problem, .. } = error;
    Failure::usage(format_args!("{}:{line}:{column}: {problem}", escape_path(path)))
        .with_help("'stockade policy --help' shows how rules look")
}

/// The word for what becomes of a command.
pub(crate) const fn word(effect: Effect) -> &'static str {
    match effect {
        Effect::Allow => "allowed",
        Effect::Sandbox => "sandbox",
        Effect::Ask => "ask",
        Effect::Deny => "refused",
    }
}
