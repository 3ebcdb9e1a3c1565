//! Readers of the layers: files, environment variables and command-line options.
#![expect(clippy::disallowed_methods, reason = "lists the config files that exist")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::mem;
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
use crate::scoped::{CONDITIONS, SCOPED, Scoped};

/// Maximum size of a config file in bytes.
const MAX_CONFIG_BYTES: usize = 256 << 10;

/// A layer of a configuration, from the weakest to the strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ConfigLayer {
    /// Defaults that are built into the program.
    Default,
    /// The machine's config file, `/etc/stockade/config.*`.
    System,
    /// The user's config file, `stockade/config.*` in the user's config directory.
    User,
    /// `.stockade/config.*` in the project or above it. It can only narrow.
    Project,
    /// Environment variables whose names start with `STOCKADE_`.
    Environment,
    /// Options of the command line, such as `--set`.
    Flag,
    /// `/etc/stockade/managed.*`, owned by root. It takes precedence over all other layers.
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

/// The layer and place that set a value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConfigOrigin {
    /// The layer.
    pub layer: ConfigLayer,
    /// The file with line and column, the variable or the option; `None` for a default.
    pub place: Option<String>,
}

/// A value that a layer gives to a key.
#[derive(Debug, Clone)]
pub(super) struct Leaf {
    /// The path, with the agent's id.
    pub(super) path: String,
    pub(super) key: &'static ConfigKey,
    pub(super) value: Json,
    pub(super) origin: ConfigOrigin,
    /// The parsed rule, if the key is a list of rules for commands. Each rule of a list is a value of its own.
    pub(super) rule: Option<CommandRule>,
    /// Whether the value can only narrow the effective value, as one of a project.
    pub(super) only_narrows: bool,
    /// Whether its entries are added to those of the effective list, as in a table with a scope.
    pub(super) adds: bool,
    /// The rule file that it comes from.
    pub(super) file: Option<PathBuf>,
}

/// The values that one layer sets.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) layer: ConfigLayer,
    pub(super) leaves: Vec<Leaf>,
    /// Agents that have a table, even if it is empty.
    pub(super) agents: Vec<String>,
    /// Tables that apply under conditions.
    pub(super) scoped: Vec<Scoped>,
}

impl Said {
    pub(super) fn nothing(layer: ConfigLayer) -> Self {
        Self { layer, leaves: Vec::new(), agents: Vec::new(), scoped: Vec::new() }
    }
}

/// Returns the config files that exist in a directory.
pub(super) fn files_of_folder(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let names = ["config", "managed"].into_iter().flat_map(move |stem| names(folder, stem));
    names.filter(|path| fs::symlink_metadata(path).is_ok())
}

fn names(folder: &Path, stem: &str) -> impl Iterator<Item = PathBuf> {
    Format::EXTENSIONS.iter().map(move |(ending, _)| folder.join(format!("{stem}.{ending}")))
}

/// Reads the file `stem.*` of a directory, if it exists.
pub(super) fn read_folder(
    folder: &Path,
    stem: &str,
    layer: ConfigLayer,
    problems: &mut Vec<Problem>,
) -> Said {
    // Most directories do not exist: asked once, and not for each name.
    let is_missing = matches!(fs::metadata(folder), Err(error) if error.kind() == io::ErrorKind::NotFound);
    let names = names(folder, stem).filter(|_| !is_missing);
    let found: Vec<PathBuf> = names.filter(|path| fs::symlink_metadata(path).is_ok()).collect();
    match found.as_slice() {
        [] => Said::nothing(layer),
        [file] => read_file(file, layer, problems),
        [first, second, ..] => {
            let message = format!("{} exists too, and only one config file is allowed", first.display());
            problems.push(Problem::of_file(second, message, "keep one of the two files"));
            Said::nothing(layer)
        }
    }
}

/// Reads a config file.
pub(super) fn read_file(path: &Path, layer: ConfigLayer, problems: &mut Vec<Problem>) -> Said {
    let writers = match layer {
        ConfigLayer::Managed => Writers::Root,
        ConfigLayer::Project => Writers::Anybody,
        _ => Writers::Owner,
    };
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let Some((_, format)) = Format::EXTENSIONS.iter().find(|(known, _)| *known == ending) else {
        let fix = "use the extension .toml, .yaml, .yml or .json";
        problems.push(Problem::of_file(path, "unknown extension of a config file", fix));
        return Said::nothing(layer);
    };
    match read_trusted(path, writers, MAX_CONFIG_BYTES) {
        Ok(text) => read_text(&text, *format, path, layer, problems),
        Err(error) => {
            problems.push(Problem::of_file(path, error.to_string(), untrusted_fix(&error)));
            Said::nothing(layer)
        }
    }
}

/// Returns how to fix a file that cannot be read or trusted.
pub(super) fn untrusted_fix(error: &TrustedFileError) -> String {
    let fix = match error {
        TrustedFileError::NotOwned(not_owned) => return not_owned.fix(),
        TrustedFileError::NotOfRoot => {
            "managed files override all others: review it, then run `chown root` and `chmod go-w` on it and its directory"
        }
        TrustedFileError::OpenToOthers => "review it, then run `chmod go-w` on it",
        TrustedFileError::NoFile => "replace it by a regular file, or remove it",
        TrustedFileError::Exchanged => "it changed while it was read: try again",
        _ => "repair it, or move it away",
    };
    fix.to_owned()
}

/// Parses the text of a config file.
pub(super) fn read_text(
    text: &str,
    format: Format,
    path: &Path,
    layer: ConfigLayer,
    problems: &mut Vec<Problem>,
) -> Said {
    let mut walk = Walk { path, problems, said: Said::nothing(layer), expressions: 0, is_scoped: false };
    match parse(text, format, MAX_CONFIG_BYTES) {
        Ok(node) => walk.table(&node, ""),
        // An empty file is valid. A file above the limit is not: its end was not read.
        Err(_) if text.len() <= MAX_CONFIG_BYTES && says_nothing(text) => {}
        Err(broken) => {
            walk.problem(broken.at, broken.reason, "fix the syntax; the whole file is ignored until then");
        }
    }
    walk.said
}

fn says_nothing(text: &str) -> bool {
    text.lines().all(|line| line.trim().is_empty() || line.trim().starts_with('#'))
}

const RULE_FIX: &str = "`stockade policy --help` shows the format of rules";

struct Walk<'w> {
    path: &'w Path,
    problems: &'w mut Vec<Problem>,
    said: Said,
    /// Number of rules with a regular expression so far.
    expressions: usize,
    /// Whether a table with a scope is read.
    is_scoped: bool,
}

impl Walk<'_> {
    fn table(&mut self, node: &Node, prefix: &str) {
        match &node.value {
            Value::Table(entries) => entries.iter().for_each(|entry| self.entry(entry, prefix)),
            Value::Nothing => {}
            other => {
                let place = if prefix.is_empty() { "the file" } else { prefix };
                let message = format!("`{place}` is {}, expected a table", other.kind());
                self.problem(node.at, message, "write a table of keys and values");
            }
        }
    }

    fn entry(&mut self, entry: &TableEntry, prefix: &str) {
        let path = if prefix.is_empty() { entry.key.clone() } else { format!("{prefix}.{}", entry.key) };
        // Editors look up the schema under this key.
        if path == "$schema" {
            return;
        }
        if path == SCOPED
            && matches!(self.said.layer, ConfigLayer::System | ConfigLayer::User)
            && !self.is_scoped
        {
            return self.scoped(&entry.node);
        }
        if entry.key.contains('.') {
            let fix = "use nested tables instead of a dotted key";
            return self.problem(entry.at, format!("the key `{}` contains a dot", entry.key), fix);
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
            None => format!("valid keys here: {}", known.join(", ")),
        };
        self.problem(entry.at, format!("unknown key `{path}`"), fix);
    }

    /// Reads the tables that apply under conditions.
    fn scoped(&mut self, node: &Node) {
        const FIX: &str = "write `[[scoped]]` with `directory` or `until`, and the lists that it adds to";
        let Value::List(tables) = &node.value else {
            let message = format!("`{SCOPED}` is {}, expected a list of tables", node.value.kind());
            return self.problem(node.at, message, FIX);
        };
        for table in tables {
            let Value::Table(entries) = &table.value else {
                let message = format!("`{SCOPED}` contains {}, expected a table", table.value.kind());
                self.problem(table.at, message, FIX);
                continue;
            };
            let mut scoped = Scoped::default();
            let (leaves, agents) = (mem::take(&mut self.said.leaves), self.said.agents.len());
            self.is_scoped = true;
            for entry in entries {
                if !CONDITIONS.contains(&entry.key.as_str()) {
                    self.entry(entry, "");
                } else if let Err(why) = scoped.condition(&entry.key, &entry.node) {
                    self.problem(entry.node.at, format!("`{}`: {why}", entry.key), FIX);
                }
            }
            self.is_scoped = false;
            // To add something for an agent does not make other agents unknown.
            self.said.agents.truncate(agents);
            scoped.leaves = mem::replace(&mut self.said.leaves, leaves);
            if !scoped.is_limited() {
                self.problem(table.at, "the table has none of `directory`, `session` and `until`", FIX);
            }
            self.said.scoped.push(scoped);
        }
    }

    fn leaf(&mut self, key: &'static ConfigKey, path: &str, entry: &TableEntry) {
        if matches!(key.kind, Kind::Rules) {
            return self.rules(key, path, &entry.node);
        }
        let value = entry.node.value.to_json();
        if let Err(message) = key.kind.check(&value) {
            let fix = format!("run `stockade config explain {}`", key.path);
            return self.problem(entry.node.at, format!("`{path}`: {message}"), fix);
        }
        if self.is_scoped && (!value.is_array() || matches!(key.kind, Kind::RuleFiles)) {
            let fix = "set it outside of the table, where it applies everywhere";
            let message =
                format!("`{path}` is no list of values, and a table with a scope only adds to those");
            return self.problem(entry.node.at, message, fix);
        }
        if matches!(key.kind, Kind::RuleFiles) && self.said.layer != ConfigLayer::Project {
            let origin = self.origin(entry.at);
            let found = rules::of_files(path, &value, &origin, self.problems);
            self.said.leaves.extend(found);
        }
        self.push(key, path, entry.at, value, None);
    }

    fn rules(&mut self, key: &'static ConfigKey, path: &str, node: &Node) {
        self.expressions += rules::expressions(node);
        if self.said.layer == ConfigLayer::Project && self.expressions > MAX_OF_PROJECT {
            let message = format!("`{path}`: a project may have at most {MAX_OF_PROJECT} rules with `regex`");
            return self.problem(node.at, message, "use `prefix`, `exact` or `glob` instead");
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
        let origin = self.origin(at);
        let only_narrows = origin.layer == ConfigLayer::Project;
        let adds = self.is_scoped || (adds_to_others(key) && !only_narrows);
        let leaf = Leaf { path: path.to_owned(), key, value, origin, rule, only_narrows, adds, file: None };
        self.said.leaves.push(leaf);
    }

    fn origin(&self, at: TextPosition) -> ConfigOrigin {
        ConfigOrigin { layer: self.said.layer, place: Some(format!("{}:{at}", self.path.display())) }
    }

    fn problem(&mut self, at: TextPosition, message: impl Into<String>, fix: impl Into<String>) {
        const MAX_PROBLEMS: usize = 100;
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem { at: Some(at), ..Problem::of_file(self.path, message, fix) });
        }
    }
}

/// Whether the lists of all layers apply together.
const fn adds_to_others(key: &ConfigKey) -> bool {
    matches!(key.kind, Kind::RuleFiles)
}

/// Whether a path names a table above some key.
fn is_table(path: &str) -> bool {
    let depth = path.split('.').count();
    KEYS.iter().any(|key| same_beginning(key.path, path, depth))
}

/// Returns the keys that are valid in a table.
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

/// Reads variables that name keys: `STOCKADE_AGENTS__bot__MAXSTEPS`. Case and single underscores are ignored, except in the
/// id of an agent.
pub(super) fn read_environment(variables: &[(OsString, OsString)], problems: &mut Vec<Problem>) -> Said {
    let mut leaves = of_other_tools(variables, problems);
    for (name, value) in variables {
        let Some(rest) = name.to_str().and_then(|name| name.strip_prefix("STOCKADE_")) else { continue };
        // Variables without `__` have other purposes: every key has at least two parts.
        if !rest.contains("__") {
            continue;
        }
        let shown = name.to_string_lossy();
        let Some((path, key)) = path_of_variable(rest) else {
            let fix = "use the path of a key with `__` for each dot, such as `STOCKADE_AUDIT__PATH`";
            problems.push(Problem::of_place(&shown, "the variable does not name a key", fix));
            continue;
        };
        let Some(text) = value.to_str() else {
            problems.push(Problem::of_place(
                &shown,
                "the value is not valid UTF-8",
                "change it, or unset the variable",
            ));
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

/// Reads command-line options `KEY=VALUE`.
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
                    || "run `stockade config show` to list the keys".to_owned(),
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
        adds: adds_to_others(key),
        file: None,
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
        Ok(()) => {
            let mut leaves = vec![leaf(value.clone(), None)];
            if matches!(key.kind, Kind::RuleFiles) {
                leaves.extend(rules::of_files(path, &value, &origin, problems));
            }
            leaves
        }
        Err(message) => wrong(&message, format!("run `stockade config explain {}`", key.path)),
    }
}
