//! Converts document nodes to rules, with the position of each value.

use stockade_text::{Node, SchemaError, TableEntry, TableReader, TextPosition, Value, item_text};

use super::error::{CommandRuleFileError, CommandRuleFileProblem};
use super::{CommandRuleFile, CommandTest, VERSION};
use crate::decision::policy::{CommandDefaults, Substitutions};
use crate::rules::effect::Effect;
use crate::rules::layer::FloorOverride;
use crate::rules::rule::{CommandPattern, CommandRule, Example, Guards, Redirects, RegexScope};
use stockade_shell::Shell;

const FILE_KEYS: &[&str] = &["version", "defaults", "rule", "test", "override"];
const DEFAULT_KEYS: &[&str] = &["unmatched", "unanalysable", "substitutions", "shell"];
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

/// The positions of the parts of a rule.
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

type Result<T, E = SchemaError> = std::result::Result<T, E>;

/// Parses a whole file.
pub(super) fn file(node: &Node) -> Result<CommandRuleFile, CommandRuleFileError> {
    let table = TableReader::new(node, "file", "the file", FILE_KEYS)?;
    // Checked first, because a newer file may have keys that are unknown here.
    let version = table.required("version", "write `version = 1`")?;
    match version.integer()? {
        VERSION => {}
        found => {
            return Err(CommandRuleFileError::at(version.node.at, CommandRuleFileProblem::Newer { found }));
        }
    }
    let table = table.has_known_keys_only()?;
    let each = |key| table.get(key).map_or(Ok(&[][..]), TableEntry::list);
    let (defaults, shell) = defaults(table.get("defaults"))?;
    Ok(CommandRuleFile {
        tests: each("test")?.iter().map(test).collect::<Result<_>>()?,
        overrides: each("override")?.iter().map(floor).collect::<Result<_>>()?,
        defaults,
        shell,
        ..rules(each("rule")?)?
    })
}

/// Parses a list of rules.
pub(super) fn rules(nodes: &[Node]) -> Result<CommandRuleFile, CommandRuleFileError> {
    let parsed: Vec<(CommandRule, RulePositions)> = nodes.iter().map(rule).collect::<Result<_>>()?;
    let (rules, places) = parsed.into_iter().unzip();
    Ok(CommandRuleFile { rules, places, ..CommandRuleFile::default() })
}

fn defaults(entry: Option<&TableEntry>) -> Result<(Option<CommandDefaults>, Shell), CommandRuleFileError> {
    let Some(entry) = entry else { return Ok((None, Shell::default())) };
    let table =
        TableReader::new(&entry.node, "defaults", "`defaults`", DEFAULT_KEYS)?.has_known_keys_only()?;
    let usual = CommandDefaults::default();
    let effect = |key, usual| {
        table.get(key).map_or(Ok(usual), |entry| entry.choice("decision", Effect::NAMES, &Effect::ALL))
    };
    let defaults = CommandDefaults {
        unmatched: effect("unmatched", usual.unmatched)?,
        unanalysable: effect("unanalysable", usual.unanalysable)?,
        substitutions: table.get("substitutions").map_or(Ok(usual.substitutions), |entry| {
            entry.choice("substitutions", Substitutions::NAMES, &Substitutions::ALL)
        })?,
    };
    if let (Effect::Allow, Some(entry)) = (defaults.unanalysable, table.get("unanalysable")) {
        return Err(CommandRuleFileError::at(entry.node.at, CommandRuleFileProblem::AllowsUnread));
    }
    let shell = table
        .get("shell")
        .map_or(Ok(Shell::default()), |entry| entry.choice("shell", SHELLS, &ALL_SHELLS))?;
    Ok((Some(defaults), shell))
}

fn rule(node: &Node) -> Result<(CommandRule, RulePositions)> {
    let table = TableReader::new(node, "rule", "a rule", RULE_KEYS)?.has_known_keys_only()?;
    let id = table.required("id", "every decision names the rule that made it, such as `git-read`")?;
    let decision = table.required("decision", "write allow, sandbox, ask or deny")?;
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
    let effect = decision.choice("decision", Effect::NAMES, &Effect::ALL)?;
    let is_glob = table.get("glob").is_some();
    let pattern = if is_glob && effect > Effect::Allow { with_the_rest(pattern) } else { pattern };
    let mut rule = CommandRule::new(id.text()?, pattern, effect);
    rule.reason = table.get("reason").map_or(Ok(""), TableEntry::text)?.to_owned();
    rule.priority = table.get("priority").map_or(Ok(0), small_number)?;
    rule.guards = guards(&table)?;
    rule.enabled = table.get("enabled").map_or(Ok(true), TableEntry::flag)?;
    rule.i_know = table.get("i_know").map_or(Ok(false), TableEntry::flag)?;
    rule.matches = matches.into_iter().map(|(_, example)| example).collect();
    rule.not_matches = not_matches.into_iter().map(|(_, example)| example).collect();
    Ok((rule, places))
}

/// A rule has one of `prefix`, `exact`, `glob` and `regex`.
fn pattern<'n>(table: &TableReader<'n>) -> Result<(CommandPattern, &'n TableEntry, Vec<TextPosition>)> {
    const KEYS: [&str; 4] = ["prefix", "exact", "glob", "regex"];
    let mut given = KEYS.into_iter().filter_map(|key| Some((key, table.get(key)?)));
    let Some((key, entry)) = given.next() else {
        return Err(table
            .missing("prefix", "give the words that a command begins with, such as `[\"git\", \"push\"]`"));
    };
    if let Some((second, entry)) = given.next() {
        let hint = "write a rule for each";
        return Err(SchemaError::conflict(entry.at, key, second, hint));
    }
    if let (true, Some(over)) = (key != "regex", table.get("over")) {
        let hint = "`over` says where a `regex` looks";
        return Err(SchemaError::conflict(over.at, key, "over", hint));
    }
    Ok(match key {
        "regex" => {
            let over = table.get("over").map_or(Ok(RegexScope::default()), |entry| {
                entry.choice("place", RegexScope::NAMES, &RegexScope::ALL)
            })?;
            (CommandPattern::Regex { pattern: entry.text()?.to_owned(), over }, entry, Vec::new())
        }
        "glob" => (glob(entry.text()?), entry, Vec::new()),
        _ => {
            let nodes = entry.list()?;
            let words: Vec<Vec<String>> = nodes.iter().map(alternatives).collect::<Result<_>>()?;
            let at = nodes.iter().map(|node| node.at).collect();
            let is_exact = key == "exact";
            (if is_exact { CommandPattern::Exact(words) } else { CommandPattern::Prefix(words) }, entry, at)
        }
    })
}

/// Parses a glob: `npm run {build,test}*` matches exactly these words, `npm run **` also more.
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

/// In a rule that refuses, a trailing `*` matches any number of further words: `rm *` also denies `rm -rf x` and `rm a b`. In a
/// rule that allows, `*` matches one word.
fn with_the_rest(pattern: CommandPattern) -> CommandPattern {
    match pattern {
        CommandPattern::Exact(mut words)
            if words.len() > 1 && words.last().is_some_and(|last| last == &["*"]) =>
        {
            words.pop();
            CommandPattern::Prefix(words)
        }
        other => other,
    }
}

/// Parses a word, or a list of alternatives.
fn alternatives(node: &Node) -> Result<Vec<String>> {
    match &node.value {
        Value::Text(text) => Ok(vec![text.clone()]),
        Value::List(nodes) => nodes.iter().map(|node| item_text(node, "prefix").map(str::to_owned)).collect(),
        _ => Err(SchemaError::wrong_kind(
            node,
            "prefix",
            "a text, or a list of texts, in each place of its list",
        )),
    }
}

fn guards(table: &TableReader<'_>) -> Result<Guards> {
    let list = |key| table.get(key).map_or(Ok(Vec::new()), texts);
    let operands = match table.get("operands") {
        Some(entry) => {
            let most = usize::try_from(entry.integer()?);
            Some(most.map_err(|_| SchemaError::wrong_kind(&entry.node, "operands", "a number of words"))?)
        }
        None => None,
    };
    Ok(Guards {
        require: list("require")?,
        deny: list("deny")?,
        operands,
        env: list("env")?,
        redirects: table.get("redirects").map_or(Ok(Redirects::default()), |entry| {
            entry.choice("choice", Redirects::NAMES, &Redirects::ALL)
        })?,
        cwd: list("cwd")?,
        not_cwd: list("not_cwd")?,
    })
}

fn test(node: &Node) -> Result<CommandTest> {
    let table = TableReader::new(node, "test", "a test", TEST_KEYS)?.has_known_keys_only()?;
    let command = table.required("command", "give the command to decide on")?;
    let expect = table.required("expect", "give the expected effect: allow, sandbox, ask or deny")?;
    Ok(CommandTest {
        command: command.text()?.to_owned(),
        expect: expect.choice("decision", Effect::NAMES, &Effect::ALL)?,
        at: command.node.at,
    })
}

fn floor(node: &Node) -> Result<FloorOverride> {
    let table = TableReader::new(node, "override", "an override", OVERRIDE_KEYS)?.has_known_keys_only()?;
    let floor = table.required("floor", "give the id of the hazard that is switched off")?;
    let cause = table.required("because", "give the reason, for later readers")?;
    Ok(FloorOverride { floor: floor.text()?.to_owned(), reason: cause.text()?.to_owned() })
}

fn small_number(entry: &TableEntry) -> Result<i32> {
    i32::try_from(entry.integer()?)
        .map_err(|_| SchemaError::wrong_kind(&entry.node, &entry.key, "a number of at most nine digits"))
}

fn texts(entry: &TableEntry) -> Result<Vec<String>> {
    Ok(entry.texts()?.into_iter().map(|(_, text)| text.to_owned()).collect())
}

/// Returns the commands of a list with their positions. Each is a string, or a list of words.
fn examples(entry: Option<&TableEntry>) -> Result<Vec<(TextPosition, Example)>> {
    let Some(entry) = entry else { return Ok(Vec::new()) };
    let example = |node: &Node| match &node.value {
        Value::Text(text) => Ok((node.at, Example::Text(text.clone()))),
        Value::List(words) => {
            let words: Result<Vec<String>> =
                words.iter().map(|word| item_text(word, &entry.key).map(str::to_owned)).collect();
            Ok((node.at, Example::Argv(words?)))
        }
        _ => Err(SchemaError::wrong_kind(
            node,
            &entry.key,
            "a command, or a list of its words, in each place of its list",
        )),
    };
    entry.list()?.iter().map(example).collect()
}
