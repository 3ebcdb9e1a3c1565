//! Where values come from: one layer after the other, each read whole.
#![expect(clippy::disallowed_methods, reason = "looks which files of a configuration there are")]

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value as Json;
use stockade_command::CommandRule;
use stockade_files::{TrustedFileError, Writers, read_trusted};
use stockade_text::{Format, Node, TableEntry, TextPosition, Value, nearest, parse};

use crate::error::Problem;
use crate::keys::{ConfigKey, KEYS, is_open, stands_for};
use crate::kind::Kind;
use crate::other_tools::of_other_tools;
use crate::rules::{self, MAX_OF_PROJECT};

/// The most bytes of a file of configuration.
const MAX_CONFIG_BYTES: usize = 256 << 10;

/// A layer of a configuration, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConfigLayer {
    /// What is built in.
    Default,
    /// That of the machine, `/etc/stockade/config.*`.
    System,
    /// `stockade/config.*` in the user's folder of settings.
    User,
    /// `.stockade/config.*` in the project or above it. It can only narrow.
    Project,
    /// Variables `STOCKADE_*` of the environment.
    Environment,
    /// Options of the command line.
    Flag,
    /// `/etc/stockade/managed.*`, owned by root. It wins over all others.
    Managed,
}

impl ConfigLayer {
    /// Returns the name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::System => "system",
            Self::User => "user",
            Self::Project => "project",
            Self::Environment => "environment",
            Self::Flag => "flag",
            Self::Managed => "managed",
        }
    }
}

/// Where a value stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigOrigin {
    /// The layer.
    pub layer: ConfigLayer,
    /// The file with line and column, the variable or the option; nothing for what is built in.
    pub place: Option<String>,
}

/// A value that a layer gives to a key.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// The path, with the agent named.
    pub(super) path: String,
    pub(super) key: &'static ConfigKey,
    pub(super) value: Json,
    pub(super) origin: ConfigOrigin,
    /// The same as a rule for commands, if it is one. A list of rules is one of these for each.
    pub(super) rule: Option<CommandRule>,
    /// Whether it only ever narrows what held before, as that of a project does.
    pub(super) only_narrows: bool,
}

/// What one layer says.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) layer: ConfigLayer,
    pub(super) leaves: Vec<Leaf>,
    /// Agents of which there is a table, whatever stands in it.
    pub(super) agents: Vec<String>,
}

impl Said {
    pub(super) fn nothing(layer: ConfigLayer) -> Self {
        Self { layer, leaves: Vec::new(), agents: Vec::new() }
    }
}

/// The endings of files, and how they are written.
const ENDINGS: &[(&str, Format)] =
    &[("toml", Format::Toml), ("yaml", Format::Yaml), ("yml", Format::Yaml), ("json", Format::Json)];

/// Returns the files of a folder that may be part of a configuration and are there.
pub(super) fn files_of_folder(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let names = ["config", "managed"].into_iter().flat_map(move |stem| names(folder, stem));
    names.filter(|path| fs::symlink_metadata(path).is_ok())
}

fn names(folder: &Path, stem: &str) -> impl Iterator<Item = PathBuf> {
    ENDINGS.iter().map(move |(ending, _)| folder.join(format!("{stem}.{ending}")))
}

/// Reads the file `stem.*` of a folder, if there is one.
pub(super) fn read_folder(
    folder: &Path,
    stem: &str,
    layer: ConfigLayer,
    problems: &mut Vec<Problem>,
) -> Said {
    let found: Vec<PathBuf> = names(folder, stem).filter(|path| fs::symlink_metadata(path).is_ok()).collect();
    match found.as_slice() {
        [] => Said::nothing(layer),
        [file] => read_file(file, layer, problems),
        [first, second, ..] => {
            let message = format!("{} stands beside it, and only one of them can hold", first.display());
            problems.push(Problem::of_file(second, message, "keep one of the two files"));
            Said::nothing(layer)
        }
    }
}

/// Reads a file.
pub(super) fn read_file(path: &Path, layer: ConfigLayer, problems: &mut Vec<Problem>) -> Said {
    let writers = match layer {
        ConfigLayer::Managed => Writers::Root,
        ConfigLayer::Project => Writers::Anybody,
        _ => Writers::Owner,
    };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let Some((_, format)) = ENDINGS.iter().find(|(known, _)| *known == ending) else {
        let fix = "the name must end in .toml, .yaml, .yml or .json";
        problems.push(Problem::of_file(path, "this is not the name of a configuration", fix));
        return Said::nothing(layer);
    };
    match read_trusted(path, writers, MAX_CONFIG_BYTES) {
        Ok(text) => read_text(&text, *format, path, layer, problems),
        Err(error) => {
            problems.push(Problem::of_file(path, error.to_string(), fix(&error)));
            Said::nothing(layer)
        }
    }
}

/// What mends a file that cannot be read or is not believed.
fn fix(error: &TrustedFileError) -> String {
    let fix = match error {
        TrustedFileError::NotOwned(not_owned) => return not_owned.fix(),
        TrustedFileError::NotOfRoot => {
            "it wins over all others: run `chown root` and `chmod go-w` on both, after reading it"
        }
        TrustedFileError::OpenToOthers => "run `chmod go-w` on it, after reading it",
        TrustedFileError::NoFile => "put a file there, or nothing",
        TrustedFileError::Exchanged => "try again",
        _ => "repair it, or move it away",
    };
    fix.to_owned()
}

/// Reads the text of a file.
pub(super) fn read_text(
    text: &str,
    format: Format,
    path: &Path,
    layer: ConfigLayer,
    problems: &mut Vec<Problem>,
) -> Said {
    let mut walk = Walk { path, problems, said: Said::nothing(layer), expressions: 0 };
    match parse(text, format, MAX_CONFIG_BYTES) {
        Ok(node) => walk.table(&node, ""),
        // An empty file says nothing. Of one that is too long, nobody has seen the end.
        Err(_) if text.len() <= MAX_CONFIG_BYTES && says_nothing(text) => {}
        Err(broken) => {
            walk.problem(broken.at, broken.reason, "mend it; nothing of the file is used until then");
        }
    }
    walk.said
}

fn says_nothing(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'))
}

const RULE_FIX: &str = "`stockade policy --help` shows how rules look";

struct Walk<'w> {
    path: &'w Path,
    problems: &'w mut Vec<Problem>,
    said: Said,
    /// How many there are in its rules so far.
    expressions: usize,
}

impl Walk<'_> {
    fn table(&mut self, node: &Node, prefix: &str) {
        match &node.value {
            Value::Table(entries) => entries.iter().for_each(|entry| self.entry(entry, prefix)),
            Value::Nothing => {}
            other => {
                let place = if prefix.is_empty() { "the file" } else { prefix };
                let message = format!("`{place}` is {}, and not a table", other.kind());
                self.problem(node.at, message, "write keys with values there");
            }
        }
    }

    fn entry(&mut self, entry: &TableEntry, prefix: &str) {
        let path = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        // An editor looks for the schema there.
        if path == "$schema" {
            return;
        }
        if entry.key.contains('.') {
            let fix = "write a table in a table instead of a dot in a key";
            return self.problem(entry.at, format!("the key `{}` has a dot in it", entry.key), fix);
        }
        if let Some(key) = ConfigKey::of(&path) {
            return self.leaf(key, &path, entry);
        }
        if is_table(&path) {
            if prefix == "agents" {
                self.said.agents.push(entry.key.clone());
            }
            return self.table(&entry.node, &path);
        }
        let known = beside(prefix);
        let fix = match nearest(&entry.key, known.iter().map(String::as_str)) {
            Some(near) => format!("write `{near}`"),
            None => format!("the keys there are: {}", known.join(", ")),
        };
        self.problem(entry.at, format!("unknown key `{path}`"), fix);
    }

    fn leaf(&mut self, key: &'static ConfigKey, path: &str, entry: &TableEntry) {
        if matches!(key.kind, Kind::Rules) {
            return self.rules(key, path, &entry.node);
        }
        let value = entry.node.value.to_json();
        if let Err(message) = key.kind.check(&value) {
            let fix = format!("`stockade config explain {}` says what it does", key.path);
            return self.problem(entry.node.at, format!("`{path}`: {message}"), fix);
        }
        self.push(key, path, entry.at, value, None);
    }

    fn rules(&mut self, key: &'static ConfigKey, path: &str, node: &Node) {
        self.expressions += rules::expressions(node);
        if self.said.layer == ConfigLayer::Project && self.expressions > MAX_OF_PROJECT {
            let message = format!("`{path}`: a project may have {MAX_OF_PROJECT} rules with `regex`");
            return self.problem(node.at, message, "write `prefix`, `exact` or `glob` instead");
        }
        match rules::read(node, self.said.layer) {
            Ok(rules) => {
                rules.into_iter().for_each(|(at, rule, value)| self.push(key, path, at, value, Some(rule)));
            }
            Err((at, message)) => self.problem(at, format!("`{path}`: {message}"), RULE_FIX),
        }
    }

    fn push(
        &mut self,
        key: &'static ConfigKey,
        path: &str,
        at: TextPosition,
        value: Json,
        rule: Option<CommandRule>,
    ) {
        let place = Some(format!("{}:{at}", self.path.display()));
        let layer = self.said.layer;
        let only_narrows = layer == ConfigLayer::Project;
        let origin = ConfigOrigin { layer, place };
        self.said.leaves.push(Leaf { path: path.to_owned(), key, value, origin, rule, only_narrows });
    }

    fn problem(&mut self, at: TextPosition, message: impl Into<String>, fix: impl Into<String>) {
        const MAX_PROBLEMS: usize = 100;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { at: Some(at), ..Problem::of_file(self.path, message, fix) });
        }
    }
}

/// Whether a path is that of a table, above some key.
fn is_table(path: &str) -> bool {
    let depth = path.split('.').count();
    KEYS.iter().any(|key| same_beginning(key.path, path, depth))
}

/// The names that may stand in a table.
fn beside(table: &str) -> Vec<String> {
    let depth = if table.is_empty() { 0 } else { table.split('.').count() };
    let within = KEYS.iter().filter(|key| same_beginning(key.path, table, depth));
    let mut names: Vec<String> =
        within.filter_map(|key| key.path.split('.').nth(depth)).map(str::to_owned).collect();
    names.dedup();
    names
}

fn same_beginning(row: &str, path: &str, depth: usize) -> bool {
    let mut pairs = row.split('.').zip(path.split('.')).take(depth);
    row.split('.').count() > depth && pairs.all(|(left, right)| stands_for(left, right))
}

/// Reads the variables that name keys: `STOCKADE_AGENTS__bot__MAXSTEPS`. Case and single underscores do not count, but in
/// the name of an agent.
pub(super) fn read_environment(variables: &[(OsString, OsString)], problems: &mut Vec<Problem>) -> Said {
    let mut leaves = of_other_tools(variables, problems);
    for (name, value) in variables {
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("STOCKADE_")) else { continue };
        // Variables without a double underscore are for other purposes: no key stands alone.
        if !rest.contains("__") {
            continue;
        }
        let shown = name.to_string_lossy();
        let Some((path, key)) = path_of_variable(rest) else {
            let fix = "its name is that of a key, with `__` for each dot, such as `STOCKADE_AUDIT__PATH`";
            problems.push(Problem::of_place(&shown, "the variable names no key", fix));
            continue;
        };
        let Some(text) = value.to_str() else {
            problems.push(Problem::of_place(&shown, "its value is no text", "set it anew, or unset it"));
            continue;
        };
        leaves.extend(of_text(&path, key, text, ConfigLayer::Environment, &shown, problems));
    }
    Said { leaves, ..Said::nothing(ConfigLayer::Environment) }
}

fn path_of_variable(name: &str) -> Option<(String, &'static ConfigKey)> {
    let words: Vec<&str> = name.split("__").collect();
    let plain = |word: &str| word.replace('_', "").to_ascii_lowercase();
    let fits = |key: &&ConfigKey| {
        let names: Vec<&str> = key.path.split('.').collect();
        let mut pairs = names.iter().zip(&words);
        names.len() == words.len()
            && pairs.all(
                |(name, word)| {
                    if is_open(name) { stands_for(name, word) } else { plain(name) == plain(word) }
                },
            )
    };
    let key = KEYS.iter().find(fits)?;
    let path = key.path.split('.').zip(&words).map(|(name, word)| if is_open(name) { word } else { name });
    Some((path.collect::<Vec<_>>().join("."), key))
}

/// Reads options of a command line, `KEY=VALUE`.
pub(super) fn read_flags(flags: &[(String, String)], problems: &mut Vec<Problem>) -> Said {
    let mut leaves = Vec::new();
    for (path, text) in flags {
        match ConfigKey::of(path) {
            Some(key) => {
                let place = format!("--set {path}");
                leaves.extend(of_text(path, key, text, ConfigLayer::Flag, &place, problems));
            }
            None => {
                let near = nearest(path, KEYS.iter().map(|key| key.path));
                let fix = near.map_or_else(
                    || "`stockade config show` lists the keys".to_owned(),
                    |near| format!("write `{near}`"),
                );
                problems.push(Problem::of_place("--set", format!("unknown key `{path}`"), fix));
            }
        }
    }
    Said { leaves, ..Said::nothing(ConfigLayer::Flag) }
}

pub(super) fn of_text(
    path: &str,
    key: &'static ConfigKey,
    text: &str,
    layer: ConfigLayer,
    place: &str,
    problems: &mut Vec<Problem>,
) -> Vec<Leaf> {
    let origin = ConfigOrigin { layer, place: Some(place.to_owned()) };
    let leaf = |value, rule| Leaf {
        path: path.to_owned(),
        key,
        value,
        origin: origin.clone(),
        rule,
        only_narrows: false,
    };
    let mut wrong = |message: &str, fix: String| {
        problems.push(Problem::of_place(place, format!("`{path}`: {message}"), fix));
        Vec::new()
    };
    if matches!(key.kind, Kind::Rules) {
        let node = parse(text, Format::Json, MAX_CONFIG_BYTES).map_err(|broken| (broken.at, broken.reason));
        return match node.and_then(|node| rules::read(&node, layer)) {
            Ok(rules) => rules.into_iter().map(|(_, rule, value)| leaf(value, Some(rule))).collect(),
            Err((at, message)) => wrong(&format!("{message}, at {at} of its value"), RULE_FIX.to_owned()),
        };
    }
    let value = key.kind.of_text(text);
    match key.kind.check(&value) {
        Ok(()) => vec![leaf(value, None)],
        Err(message) => wrong(&message, format!("`stockade config explain {}` says what it does", key.path)),
    }
}
