//! From nodes to rules: which keys there are, what they hold, and where each stands.

use stockade_text::{Node, TableEntry, TextPosition, Value, nearest};

use super::error::{CommandRuleFileError, CommandRuleFileProblem};
use super::{CommandRuleFile, CommandTest, VERSION};
use crate::commands::decision::policy::CommandDefaults;
use crate::commands::rules::effect::Effect;
use crate::commands::rules::layer::FloorOverride;
use crate::commands::rules::rule::{CommandPattern, CommandRule, Example, Guards, Redirects, RegexScope};
use stockade_shell::Shell;

const FILE_KEYS: &[&str] = &["version", "defaults", "rule", "test", "override"];
const DEFAULT_KEYS: &[&str] = &["unmatched", "unanalysable", "shell"];
const RULE_KEYS: &[&str] = &[
    "id",
    "prefix",
    "exact",
    "glob",
    "regex",
    "over",
    "decision",
    "reason",
    "priority",
    "require",
    "deny",
    "operands",
    "env",
    "redirects",
    "cwd",
    "not_cwd",
    "enabled",
    "i_know",
    "match",
    "not_match",
];
const TEST_KEYS: &[&str] = &["command", "expect"];
const OVERRIDE_KEYS: &[&str] = &["floor", "because"];
const SHELLS: &[&str] = &["bash", "sh", "zsh"];
const ALL_SHELLS: [Shell; 3] = [Shell::Bash, Shell::Sh, Shell::Zsh];

/// Where the parts of a rule stand.
#[derive(Debug, Clone)]
pub(super) struct RulePositions {
    pub(super) rule: TextPosition,
    pub(super) id: TextPosition,
    pub(super) pattern: TextPosition,
    /// One for each word of the pattern.
    pub(super) words: Vec<TextPosition>,
    pub(super) matches: Vec<TextPosition>,
    pub(super) not_matches: Vec<TextPosition>,
}

type Result<T> = std::result::Result<T, CommandRuleFileError>;

/// Reads a whole file.
pub(super) fn file(node: &Node) -> Result<CommandRuleFile> {
    let table = Table::of(node, "file", "the file", FILE_KEYS)?;
    // First of all: a newer file may have keys that are not known here.
    let version = table.required("version", "write `version = 1`")?;
    match number(version)? {
        VERSION => {}
        found => {
            return Err(CommandRuleFileError::at(version.node.at, CommandRuleFileProblem::Newer { found }));
        }
    }
    table.known()?;
    let each = |key| table.get(key).map_or(Ok(&[][..]), list_of);
    let parsed: Vec<(CommandRule, RulePositions)> = each("rule")?.iter().map(rule).collect::<Result<_>>()?;
    let (rules, places) = parsed.into_iter().unzip();
    let (defaults, shell) = defaults(table.get("defaults"))?;
    Ok(CommandRuleFile {
        rules,
        places,
        tests: each("test")?.iter().map(test).collect::<Result<_>>()?,
        overrides: each("override")?.iter().map(floor).collect::<Result<_>>()?,
        defaults,
        shell,
    })
}

fn defaults(entry: Option<&TableEntry>) -> Result<(Option<CommandDefaults>, Shell)> {
    let Some(entry) = entry else { return Ok((None, Shell::default())) };
    let table = Table::of(&entry.node, "defaults", "`defaults`", DEFAULT_KEYS)?;
    table.known()?;
    let usual = CommandDefaults::default();
    let effect = |key, usual| {
        table.get(key).map_or(Ok(usual), |entry| word(entry, "decision", Effect::NAMES, &Effect::ALL))
    };
    let defaults = CommandDefaults {
        unmatched: effect("unmatched", usual.unmatched)?,
        unanalysable: effect("unanalysable", usual.unanalysable)?,
    };
    if let (Effect::Allow, Some(entry)) = (defaults.unanalysable, table.get("unanalysable")) {
        return Err(CommandRuleFileError::at(entry.node.at, CommandRuleFileProblem::AllowsUnread));
    }
    let shell =
        table.get("shell").map_or(Ok(Shell::default()), |entry| word(entry, "shell", SHELLS, &ALL_SHELLS))?;
    Ok((Some(defaults), shell))
}

fn rule(node: &Node) -> Result<(CommandRule, RulePositions)> {
    let table = Table::of(node, "rule", "a rule", RULE_KEYS)?;
    table.known()?;
    let id = table.required("id", "every decision names the rule that made it, such as `git-read`")?;
    let decision = table.required("decision", "say allow, sandbox, ask or deny")?;
    let (pattern, entry, words) = pattern(&table)?;
    let (matches, not_matches) = (examples(table.get("match"))?, examples(table.get("not_match"))?);
    let places = RulePositions {
        rule: node.at,
        id: id.node.at,
        pattern: entry.node.at,
        words,
        matches: matches.iter().map(|(at, _)| *at).collect(),
        not_matches: not_matches.iter().map(|(at, _)| *at).collect(),
    };
    let mut rule =
        CommandRule::new(text(id)?, pattern, word(decision, "decision", Effect::NAMES, &Effect::ALL)?);
    rule.reason = table.get("reason").map_or(Ok(""), text)?.to_owned();
    rule.priority = table.get("priority").map_or(Ok(0), small_number)?;
    rule.guards = guards(&table)?;
    rule.enabled = table.get("enabled").map_or(Ok(true), truth)?;
    rule.i_know = table.get("i_know").map_or(Ok(false), truth)?;
    rule.matches = matches.into_iter().map(|(_, example)| example).collect();
    rule.not_matches = not_matches.into_iter().map(|(_, example)| example).collect();
    Ok((rule, places))
}

/// A rule has one of `prefix`, `exact`, `glob` and `regex`.
fn pattern<'n>(table: &Table<'n>) -> Result<(CommandPattern, &'n TableEntry, Vec<TextPosition>)> {
    const KEYS: [&str; 4] = ["prefix", "exact", "glob", "regex"];
    let mut given = KEYS.into_iter().filter_map(|key| Some((key, table.get(key)?)));
    let Some((key, entry)) = given.next() else {
        return Err(table
            .missing("prefix", "give the words that a command begins with, such as `[\"git\", \"push\"]`"));
    };
    if let Some((second, entry)) = given.next() {
        let hint = "write a rule for each";
        return Err(CommandRuleFileError::at(
            entry.at,
            CommandRuleFileProblem::Conflict { first: key, second, hint },
        ));
    }
    if let (true, Some(over)) = (key != "regex", table.get("over")) {
        let hint = "`over` says where a `regex` looks";
        return Err(CommandRuleFileError::at(
            over.at,
            CommandRuleFileProblem::Conflict { first: key, second: "over", hint },
        ));
    }
    Ok(match key {
        "regex" => {
            let over = table.get("over").map_or(Ok(RegexScope::default()), |entry| {
                word(entry, "place", RegexScope::NAMES, &RegexScope::ALL)
            })?;
            (CommandPattern::Regex { pattern: text(entry)?.to_owned(), over }, entry, Vec::new())
        }
        "glob" => (glob(text(entry)?), entry, Vec::new()),
        _ => {
            let nodes = list_of(entry)?;
            let words: Vec<Vec<String>> = nodes.iter().map(alternatives).collect::<Result<_>>()?;
            let at = nodes.iter().map(|node| node.at).collect();
            let is_exact = key == "exact";
            (if is_exact { CommandPattern::Exact(words) } else { CommandPattern::Prefix(words) }, entry, at)
        }
    })
}

/// `npm run {build,test}*` is exactly these words; `npm run **` and more.
fn glob(text: &str) -> CommandPattern {
    let mut words: Vec<Vec<String>> = text.split_whitespace().map(|word| vec![word.to_owned()]).collect();
    match words.last().map(Vec::as_slice) {
        Some([last]) if last == "**" => {
            words.pop();
            CommandPattern::Prefix(words)
        }
        _ => CommandPattern::Exact(words),
    }
}

/// A word, or a list of words of which any will do.
fn alternatives(node: &Node) -> Result<Vec<String>> {
    match &node.value {
        Value::Text(text) => Ok(vec![text.clone()]),
        Value::List(nodes) => nodes.iter().map(|node| word_text(node, "prefix")).collect(),
        _ => Err(wrong_kind(node, "prefix", "a text, or a list of texts, in each place of its list")),
    }
}

fn guards(table: &Table<'_>) -> Result<Guards> {
    let list = |key| table.get(key).map_or(Ok(Vec::new()), texts);
    let operands = match table.get("operands") {
        Some(entry) => {
            let most = usize::try_from(number(entry)?);
            Some(most.map_err(|_| wrong_kind(&entry.node, "operands", "a number of words"))?)
        }
        None => None,
    };
    Ok(Guards {
        require: list("require")?,
        deny: list("deny")?,
        operands,
        env: list("env")?,
        redirects: table.get("redirects").map_or(Ok(Redirects::default()), |entry| {
            word(entry, "choice", Redirects::NAMES, &Redirects::ALL)
        })?,
        cwd: list("cwd")?,
        not_cwd: list("not_cwd")?,
    })
}

fn test(node: &Node) -> Result<CommandTest> {
    let table = Table::of(node, "test", "a test", TEST_KEYS)?;
    table.known()?;
    let command = table.required("command", "give the command to decide on")?;
    let expect = table.required("expect", "say what must become of it: allow, sandbox, ask or deny")?;
    Ok(CommandTest {
        command: text(command)?.to_owned(),
        expect: word(expect, "decision", Effect::NAMES, &Effect::ALL)?,
        at: command.node.at,
    })
}

fn floor(node: &Node) -> Result<FloorOverride> {
    let table = Table::of(node, "override", "an override", OVERRIDE_KEYS)?;
    table.known()?;
    let floor = table.required("floor", "give the id of the hazard that is switched off")?;
    let cause = table.required("because", "say why, for whoever reads it later")?;
    Ok(FloorOverride { floor: text(floor)?.to_owned(), reason: text(cause)?.to_owned() })
}

/// A table and the keys that are known in it.
struct Table<'n> {
    at: TextPosition,
    name: &'static str,
    known: &'static [&'static str],
    entries: &'n [TableEntry],
}

impl<'n> Table<'n> {
    fn of(node: &'n Node, key: &str, name: &'static str, known: &'static [&'static str]) -> Result<Self> {
        let Value::Table(entries) = &node.value else {
            return Err(wrong_kind(node, key, "a table"));
        };
        Ok(Self { at: node.at, name, known, entries })
    }

    /// Refuses a key that nothing reads.
    fn known(&self) -> Result<()> {
        match self.entries.iter().find(|entry| !self.known.contains(&entry.key.as_str())) {
            Some(entry) => Err(CommandRuleFileError::at(
                entry.at,
                CommandRuleFileProblem::UnknownKey {
                    key: entry.key.clone(),
                    place: self.name,
                    nearest: nearest(&entry.key, self.known.iter().copied()).map(str::to_owned),
                    known: self.known,
                },
            )),
            None => Ok(()),
        }
    }

    fn get(&self, key: &str) -> Option<&'n TableEntry> {
        self.entries.iter().find(|entry| entry.key == key)
    }

    fn required(&self, key: &'static str, hint: &'static str) -> Result<&'n TableEntry> {
        self.get(key).ok_or_else(|| self.missing(key, hint))
    }

    fn missing(&self, key: &'static str, hint: &'static str) -> CommandRuleFileError {
        CommandRuleFileError::at(self.at, CommandRuleFileProblem::MissingKey { key, place: self.name, hint })
    }
}

fn wrong_kind(node: &Node, key: &str, wanted: &'static str) -> CommandRuleFileError {
    CommandRuleFileError::at(
        node.at,
        CommandRuleFileProblem::WrongKind { key: key.to_owned(), wanted, found: node.value.kind() },
    )
}

fn list_of(entry: &TableEntry) -> Result<&[Node]> {
    match &entry.node.value {
        Value::List(nodes) => Ok(nodes),
        _ => Err(wrong_kind(&entry.node, &entry.key, "a list")),
    }
}

fn text(entry: &TableEntry) -> Result<&str> {
    match &entry.node.value {
        Value::Text(text) => Ok(text),
        _ => Err(wrong_kind(&entry.node, &entry.key, "a text")),
    }
}

fn truth(entry: &TableEntry) -> Result<bool> {
    match entry.node.value {
        Value::Flag(truth) => Ok(truth),
        _ => Err(wrong_kind(&entry.node, &entry.key, "true or false")),
    }
}

fn number(entry: &TableEntry) -> Result<i64> {
    entry.node.value.integer().ok_or_else(|| wrong_kind(&entry.node, &entry.key, "a number"))
}

fn small_number(entry: &TableEntry) -> Result<i32> {
    i32::try_from(number(entry)?)
        .map_err(|_| wrong_kind(&entry.node, &entry.key, "a number of at most nine digits"))
}

fn word_text(node: &Node, key: &str) -> Result<String> {
    match &node.value {
        Value::Text(text) => Ok(text.clone()),
        _ => Err(wrong_kind(node, key, "a text in each place of its list")),
    }
}

fn texts(entry: &TableEntry) -> Result<Vec<String>> {
    list_of(entry)?.iter().map(|node| word_text(node, &entry.key)).collect()
}

/// Returns the commands of a list with their places: each a text, or a list of words.
fn examples(entry: Option<&TableEntry>) -> Result<Vec<(TextPosition, Example)>> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    let example = |node: &Node| match &node.value {
        Value::Text(text) => Ok((node.at, Example::Text(text.clone()))),
        Value::List(words) => {
            let words: Result<Vec<String>> = words.iter().map(|word| word_text(word, &entry.key)).collect();
            Ok((node.at, Example::Argv(words?)))
        }
        _ => {
            Err(wrong_kind(node, &entry.key, "a command, or a list of its words, in each place of its list"))
        }
    };
    list_of(entry)?.iter().map(example).collect()
}

/// Returns the choice that a word names. `names` and `choices` stand in the same order.
fn word<T: Copy>(
    entry: &TableEntry,
    what: &'static str,
    names: &'static [&'static str],
    choices: &[T],
) -> Result<T> {
    let word = text(entry)?;
    let choice = names.iter().zip(choices).find(|(name, _)| name.eq_ignore_ascii_case(word));
    choice.map(|(_, choice)| *choice).ok_or_else(|| {
        let nearest = nearest(word, names.iter().copied()).map(str::to_owned);
        CommandRuleFileError::at(
            entry.node.at,
            CommandRuleFileProblem::UnknownWord { word: word.to_owned(), what, nearest, known: names },
        )
    })
}
