//! Parses front matter into a manifest and collects its problems.

use stockade_text::{Format, Node, TableEntry, TextPosition, Value, nearest, parse};

use crate::dialect::Dialect;
use crate::head::{HeadStart, SkillText, split_head, unix_lines};
use crate::manifest::{ListedTools, SkillManifest};
use crate::name::{NAME_FIX, unusable};
use crate::problem::{FilePosition, SkillProblem, SkillProblems};

/// Maximum size of front matter.
pub const MAX_HEAD_BYTES: usize = 256 << 10;
/// Maximum number of characters of a name, and of a description.
const MAX_NAME_CHARS: usize = 64;
const MAX_DESCRIPTION_CHARS: usize = 1024;
/// Maximum length of any other string, and of a list.
const MAX_TEXT_CHARS: usize = 4096;
const MAX_ENTRIES: usize = 256;

/// Returns why a list of tools cannot be parsed. The tool policy defines the syntax of entries.
pub type ToolCheck = dyn Fn(&ListedTools) -> Result<(), String>;

impl SkillManifest {
    /// Parses the front matter of a skill and returns its problems, worst first. `name` is the display name of the
    /// file.
    ///
    /// Does not look for attacks; a scanner does. If a problem is an [error](crate::ProblemLevel::Error), the skill
    /// must not be used.
    #[must_use]
    pub fn read(text: &str, name: &str, dialect: Dialect, check: &ToolCheck) -> (Self, Vec<SkillProblem>) {
        let mut problems = SkillProblems::new(dialect, false);
        let (manifest, _) = read_head(&split_head(&unix_lines(text)), name, check, &mut problems);
        (manifest, problems.end().0)
    }
}

/// Parses the front matter of a skill, if present. Also returns the document, which the search for surfaces needs.
pub fn read_head(
    text: &SkillText<'_>,
    path: &str,
    check: &ToolCheck,
    problems: &mut SkillProblems,
) -> (SkillManifest, Option<Node>) {
    let position = FilePosition { path, at: TextPosition::START };
    if text.mark {
        let message = "a byte order mark stands before the head: some programs do not see the head then";
        problems.add("byte-order-mark", position, message, "save the file without one");
    }
    let fix = "begin the file with `---`, `name: …`, `description: …` and `---`, each on a line of its own";
    match text.start {
        HeadStart::Head(head) => return read_manifest(head, path, check, problems),
        HeadStart::Body => problems.add("no-front-matter", position, "the skill has no head", fix),
        HeadStart::Unclosed => {
            let message = "the head is opened by `---` and never closed by a line of exactly that";
            problems.add("front-matter-unclosed", position, message, fix);
        }
    }
    (SkillManifest::default(), None)
}

fn read_manifest(
    head: &str,
    path: &str,
    check: &ToolCheck,
    problems: &mut SkillProblems,
) -> (SkillManifest, Option<Node>) {
    let Some(document) = document(head, path, problems) else { return (SkillManifest::default(), None) };
    let mut reader = Reader { path, check, problems, manifest: SkillManifest::default() };
    if let Value::Table(entries) = &document.value {
        entries.iter().for_each(|entry| reader.key(entry));
    }
    let manifest = reader.manifest;
    (manifest, Some(document))
}

/// Parses front matter: as YAML, and in some dialects line by line if that fails. Lines are counted from the start of
/// the file, whose first line opens the front matter.
fn document(head: &str, path: &str, problems: &mut SkillProblems) -> Option<Node> {
    let start = FilePosition { path, at: TextPosition::START };
    if head.trim().is_empty() {
        problems.add(
            "front-matter-empty",
            start,
            "there is nothing between the two lines of `---`",
            NAME_AND_USE,
        );
        return None;
    }
    let marker = head.lines().position(|line| line.contains("---"));
    if let Some(line) = marker.filter(|_| head.len() <= MAX_HEAD_BYTES) {
        let position = FilePosition { path, at: TextPosition { line: line + 2, column: 1 } };
        let message = "`---` within the head: there are readers for which the head ends here";
        problems.add("marker-in-value", position, message, "write a single dash or a colon instead");
    }
    let node = match parse(head, Format::Yaml, MAX_HEAD_BYTES) {
        Ok(node) => shifted(node),
        Err(broken) => {
            let position = FilePosition { path, at: broken.at.below(1) };
            let lines =
                problems.dialect().reads_line_by_line().then(|| by_lines(head, path, problems)).flatten();
            let message = format_args!("the head is not valid YAML: {}", broken.reason);
            let fix = "put values that hold `: `, `#`, quotes or brackets into quotes";
            if lines.is_some() {
                problems.add("front-matter-line-by-line", position, message, fix);
            } else {
                problems.add("front-matter-not-yaml", position, message, fix);
            }
            lines?
        }
    };
    if !matches!(node.value, Value::Table(_)) {
        let message = format_args!("the head is {}, and not keys with values", node.value.kind());
        problems.add("front-matter-not-a-table", FilePosition { path, at: node.at }, message, NAME_AND_USE);
        return None;
    }
    Some(node)
}

const NAME_AND_USE: &str = "write `name: …` and `description: …` there, one on each line";

/// The front matter begins on the second line.
fn shifted(mut node: Node) -> Node {
    node.at = node.at.below(1);
    node.value = match node.value {
        Value::List(nodes) => Value::List(nodes.into_iter().map(shifted).collect()),
        Value::Table(entries) => Value::Table(
            entries
                .into_iter()
                .map(|entry| TableEntry { at: entry.at.below(1), node: shifted(entry.node), ..entry })
                .collect(),
        ),
        value => value,
    };
    node
}

/// Reads `key: the rest of the line`; indented lines below belong to it as text.
fn by_lines(head: &str, path: &str, problems: &mut SkillProblems) -> Option<Node> {
    if head.len() > MAX_HEAD_BYTES {
        return None;
    }
    let mut entries: Vec<TableEntry> = Vec::new();
    for (number, line) in (2..).zip(head.lines()) {
        let at = TextPosition { line: number, column: 1 };
        let key = line.split_once(':').filter(|(key, _)| is_key(key));
        match (key, entries.last_mut()) {
            (Some((key, value)), _) => {
                let key = key.trim_end();
                if entries.iter().any(|earlier| earlier.key == key) {
                    let message = format_args!("the key `{key}` is given twice");
                    problems.add("duplicate-key", FilePosition { path, at }, message, "remove one of them");
                }
                let text = value.trim().trim_matches(['"', '\'']).to_owned();
                let node = Node { at, value: Value::Text(text) };
                entries.push(TableEntry { at, key: key.to_owned(), node });
                // Bound the entries: the search for earlier ones is quadratic, and real front matter has few keys.
                if entries.len() > MAX_ENTRIES {
                    return None;
                }
            }
            (None, Some(TableEntry { node: Node { value: Value::Text(text), .. }, .. })) => {
                text.push('\n');
                text.push_str(line);
            }
            (None, _) => {}
        }
    }
    (!entries.is_empty())
        .then_some(Node { at: TextPosition { line: 2, column: 1 }, value: Value::Table(entries) })
}

fn is_key(key: &str) -> bool {
    let key = key.trim_end();
    key.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.len() <= MAX_NAME_CHARS
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
}

struct Reader<'r> {
    path: &'r str,
    check: &'r ToolCheck,
    problems: &'r mut SkillProblems,
    manifest: SkillManifest,
}

impl Reader<'_> {
    fn key(&mut self, entry: &TableEntry) {
        let dialect = self.problems.dialect();
        if !dialect.keys().any(|key| key == entry.key) {
            let near = nearest(&entry.key, dialect.keys());
            let (rule, hint) = match (Dialect::that_knows(&entry.key), near) {
                (Some(other), _) => {
                    ("unknown-key", format!("remove it, or read the skill in the dialect {}", other.name()))
                }
                (None, Some(near)) => ("misspelt-key", format!("write `{near}`")),
                (None, None) => ("unknown-key", "remove it".to_owned()),
            };
            let message = format_args!("unknown key `{}` in the dialect {}", entry.key, dialect.name());
            self.problem(rule, entry.at, message, &hint);
        }
        match entry.key.as_str() {
            "name" => self.manifest.name = self.name(entry),
            "description" => self.manifest.description = self.text(entry, MAX_DESCRIPTION_CHARS),
            "when_to_use" => self.manifest.when_to_use = self.text(entry, MAX_DESCRIPTION_CHARS),
            "version" => self.manifest.version = self.text(entry, MAX_TEXT_CHARS),
            "license" => self.manifest.license = self.text(entry, MAX_TEXT_CHARS),
            "compatibility" => self.manifest.compatibility = self.text(entry, 500),
            "argument-hint" | "argumentHint" => {
                self.manifest.argument_hint = self.text(entry, MAX_TEXT_CHARS);
            }
            "arguments" => self.manifest.arguments = self.words(entry, &entry.node),
            "user-invocable" | "userInvocable" => {
                self.manifest.user_invocable = self.flag(entry).unwrap_or(true);
            }
            "disable-model-invocation" | "disableModelInvocation" => {
                // An unparsable value counts as disabled: the author tried to restrict the model.
                self.manifest.disable_model_invocation = self.flag(entry).unwrap_or(true);
            }
            "allowed-tools" | "allowedTools" | "allowed_tools" => self.tools(entry),
            "disallowed-tools" | "disallowedTools" => {
                self.manifest.disallowed_tools = self.words(entry, &entry.node);
            }
            "type" => self.kind(entry),
            "permissions" => self.permissions(entry),
            "inputSchema" => self.input_schema(entry),
            "metadata" => self.metadata(entry),
            "comis" => self.comis(entry),
            _ => {}
        }
    }

    fn name(&mut self, entry: &TableEntry) -> Option<String> {
        let name = self.text(entry, MAX_NAME_CHARS)?;
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let shaped =
            name.chars().all(inner) && !name.starts_with('-') && !name.ends_with('-') && !name.contains("--");
        if let Some(why) = unusable(&name) {
            let message = format_args!("`{name}` is no name: {why}");
            self.problem("unusable-name", entry.node.at, message, NAME_FIX);
        } else if !shaped && !name.is_empty() {
            let message = format_args!("`{name}` is no name of a skill");
            self.problem("name-shape", entry.node.at, message, NAME_FIX);
        }
        Some(name).filter(|name| !name.is_empty())
    }

    /// A string. In lenient dialects, a number or a boolean is accepted as written.
    fn text(&mut self, entry: &TableEntry, most: usize) -> Option<String> {
        let node = &entry.node;
        let strict = self.problems.dialect() == Dialect::Comis;
        let words = node.value.words().filter(|_| !strict || matches!(node.value, Value::Text(_)));
        let Some(text) = words else {
            self.wrong_type(entry, "a text");
            return None;
        };
        let length = text.chars().count();
        if length > most {
            let message = format_args!("`{}` has {length} characters; the maximum is {most}", entry.key);
            self.problem("too-long", node.at, message, "shorten it");
        }
        Some(text.chars().take(MAX_TEXT_CHARS.max(most)).collect())
    }

    fn flag(&mut self, entry: &TableEntry) -> Option<bool> {
        let strict = self.problems.dialect() == Dialect::Comis;
        let flag = match &entry.node.value {
            Value::Flag(flag) => Some(*flag),
            Value::Text(word) | Value::Number(word) if !strict => match word.to_ascii_lowercase().as_str() {
                "true" | "yes" | "on" | "1" => Some(true),
                "false" | "no" | "off" | "0" => Some(false),
                _ => None,
            },
            _ => None,
        };
        if flag.is_none() {
            self.wrong_type(entry, "true or false");
        }
        flag
    }

    /// A list of strings. A single string is split at commas or spaces.
    fn words(&mut self, entry: &TableEntry, node: &Node) -> Vec<String> {
        match &node.value {
            Value::List(nodes) => {
                let texts: Vec<String> =
                    nodes.iter().filter_map(|node| node.value.words()).map(str::to_owned).collect();
                if texts.len() < nodes.len() {
                    self.wrong_type(entry, "a list of texts");
                }
                self.bounded(entry, texts)
            }
            Value::Text(text) => {
                let texts = text.split([',', ' ', '\n']).filter(|word| !word.is_empty()).map(str::to_owned);
                let texts = texts.take(MAX_ENTRIES + 1).collect();
                self.bounded(entry, texts)
            }
            Value::Nothing => Vec::new(),
            Value::Flag(_) | Value::Number(_) | Value::Date(_) | Value::Table(_) => {
                self.wrong_type(entry, "a list of texts");
                Vec::new()
            }
        }
    }

    fn bounded(&mut self, entry: &TableEntry, mut texts: Vec<String>) -> Vec<String> {
        if texts.len() > MAX_ENTRIES {
            let message =
                format_args!("`{}` has {} entries; the maximum is {MAX_ENTRIES}", entry.key, texts.len());
            self.problem("too-long", entry.at, message, "shorten it");
            texts.truncate(MAX_ENTRIES);
        }
        texts
    }

    /// An unreadable list grants no tool. Neither do two lists.
    fn tools(&mut self, entry: &TableEntry) {
        let listed = match &entry.node.value {
            Value::Text(text) => Ok(ListedTools::Text(text.clone())),
            Value::Nothing => Ok(ListedTools::Entries(Vec::new())),
            Value::List(nodes) if nodes.iter().all(|node| matches!(node.value, Value::Text(_))) => {
                let entries = nodes.iter().filter_map(|node| node.value.words());
                Ok(ListedTools::Entries(entries.map(str::to_owned).collect()))
            }
            other => Err(format!("`{}` is {}, and not a list of tools", entry.key, other.kind())),
        };
        let checked = listed.and_then(|tools| (self.check)(&tools).map(|()| tools));
        let tools = checked.unwrap_or_else(|message| {
            let fix = "write `Read Bash(git:*)`, or a list of such entries";
            self.problem("unreadable-tools", entry.node.at, message, fix);
            ListedTools::Entries(Vec::new())
        });
        self.manifest.tools = match self.manifest.tools {
            ListedTools::Unlisted => tools,
            ListedTools::Text(_) | ListedTools::Entries(_) => {
                let message = "there are two lists of tools, in two spellings";
                self.problem("unreadable-tools", entry.at, message, "keep one of them");
                ListedTools::Entries(Vec::new())
            }
        };
    }

    fn kind(&mut self, entry: &TableEntry) {
        if entry.node.value.words() != Some("prompt") {
            let message = "`type` can only be `prompt`";
            self.problem("unknown-word", entry.node.at, message, "write `type: prompt`, or leave it out");
        }
    }

    fn permissions(&mut self, entry: &TableEntry) {
        let Some(entries) = self.table(entry) else { return };
        for inner in entries {
            let words = self.words(inner, &inner.node);
            let permissions = &mut self.manifest.permissions;
            match inner.key.as_str() {
                "fsRead" => permissions.fs_read = words,
                "fsWrite" => permissions.fs_write = words,
                "net" => permissions.net = words,
                "env" => permissions.env = words,
                _ => self.unknown_inner(inner, "permissions", &["fsRead", "fsWrite", "net", "env"]),
            }
        }
    }

    fn input_schema(&mut self, entry: &TableEntry) {
        if self.table(entry).is_some() {
            self.manifest.input_schema = Some(entry.node.value.to_json());
        }
    }

    /// `metadata` contains strings; OpenClaw stores requirements and installers there, as a table or as a string of
    /// JSON.
    fn metadata(&mut self, entry: &TableEntry) {
        if let Value::Text(text) = &entry.node.value
            && let Ok(node) = parse(text, Format::Yaml, MAX_HEAD_BYTES)
            && let Value::Table(entries) = node.value
        {
            return self.metadata_of(&entries, entry.at);
        }
        let Some(entries) = self.table(entry) else { return };
        self.metadata_of(entries, entry.at);
    }

    fn metadata_of(&mut self, entries: &[TableEntry], at: TextPosition) {
        for inner in entries.iter().take(MAX_ENTRIES) {
            match inner.node.value.words() {
                Some(words) => {
                    self.manifest.metadata.insert(inner.key.clone(), words.to_owned());
                }
                None if PRODUCTS.contains(&inner.key.as_str()) => self.product(&inner.node.value),
                None => {
                    let message = format_args!("`metadata.{}` is {}", inner.key, inner.node.value.kind());
                    self.problem("nested-metadata", at, message, "write a text there");
                }
            }
        }
    }

    /// OpenClaw's part of `metadata`, under any of its names.
    fn product(&mut self, value: &Value) {
        let list = |key: &str| {
            let node = value.get("requires").and_then(|entry| entry.node.value.get(key));
            texts(node.map(|entry| &entry.node.value))
        };
        let text = |key: &str| Some(value.get(key)?.node.value.words()?.to_owned());
        let requires = &mut self.manifest.requires;
        requires.os = texts(value.get("os").map(|entry| &entry.node.value));
        requires.bins = list("bins");
        requires.any_bins = list("anyBins");
        requires.env = list("env");
        requires.config = list("config");
        requires.skill_key = text("skillKey");
        requires.primary_env = text("primaryEnv");
    }

    fn comis(&mut self, entry: &TableEntry) {
        const KNOWN: &[&str] = &["os", "requires", "skill-key", "primary-env", "command-dispatch"];
        let Some(entries) = self.table(entry) else { return };
        for inner in entries {
            match inner.key.as_str() {
                "os" => {
                    let words = self.words(inner, &inner.node);
                    self.manifest.requires.os = words.iter().map(|word| word.to_lowercase()).collect();
                }
                "requires" => self.comis_requires(inner),
                "skill-key" => {
                    self.manifest.requires.skill_key = self.text(inner, MAX_NAME_CHARS).as_deref().map(slug);
                }
                "primary-env" => self.manifest.requires.primary_env = self.text(inner, MAX_TEXT_CHARS),
                "command-dispatch" => {
                    self.manifest.requires.command_dispatch = self.text(inner, MAX_TEXT_CHARS);
                }
                _ => self.unknown_inner(inner, "comis", KNOWN),
            }
        }
    }

    fn comis_requires(&mut self, entry: &TableEntry) {
        let Some(entries) = self.table(entry) else { return };
        for inner in entries {
            let words = self.words(inner, &inner.node);
            match inner.key.as_str() {
                "bins" => self.manifest.requires.bins = words,
                "env" => self.manifest.requires.env = words,
                _ => self.unknown_inner(inner, "comis.requires", &["bins", "env"]),
            }
        }
    }

    fn table<'n>(&mut self, entry: &'n TableEntry) -> Option<&'n [TableEntry]> {
        match &entry.node.value {
            Value::Table(entries) => Some(entries),
            _ => {
                self.wrong_type(entry, "a table");
                None
            }
        }
    }

    fn unknown_inner(&mut self, entry: &TableEntry, table: &str, known: &'static [&'static str]) {
        let message = format_args!("unknown key `{}` in `{table}`", entry.key);
        let near = nearest(&entry.key, known.iter().copied());
        let fix = near.map_or_else(|| "remove it".to_owned(), |key| format!("write `{key}`"));
        self.problem("unknown-key", entry.at, message, &fix);
    }

    fn wrong_type(&mut self, entry: &TableEntry, wanted: &str) {
        let message = format_args!("`{}` is {}, and not {wanted}", entry.key, entry.node.value.kind());
        self.problem("wrong-type", entry.node.at, message, &format!("write {wanted} there"));
    }

    fn problem(&mut self, rule: &'static str, at: TextPosition, message: impl std::fmt::Display, fix: &str) {
        self.problems.add(rule, FilePosition { path: self.path, at }, message, fix);
    }
}

/// The names that OpenClaw has used for its part of `metadata`.
pub(super) const PRODUCTS: &[&str] = &["openclaw", "clawdbot", "moltbot", "clawdis"];

fn texts(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::List(nodes)) => {
            nodes.iter().take(MAX_ENTRIES).filter_map(|node| node.value.words()).map(str::to_owned).collect()
        }
        Some(value) => value.words().map(str::to_owned).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Turns `My Skill Tool` into a key: `my-skill-tool`.
fn slug(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}
