//! The tools that a skill lists for itself: an upper bound, never a grant.
//!
//! The Agent Skills format means `allowed-tools` as tools that need no further question. A skill is untrusted,
//! so here the list can only narrow what the operator's policy already grants.

use std::fmt;

use stockade_text::Escaped;
use thiserror::Error;

use super::names::Entry;

/// The most entries that one skill may list.
const MAX_ENTRIES: usize = 1024;

/// The longest text of one entry, in bytes.
const MAX_ENTRY_BYTES: usize = 1024;

/// The tools of a skill's `allowed-tools`.
///
/// A skill without the key and a skill with an empty list say opposite things: the first restricts nothing, the
/// second may use no tool at all.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum SkillTools {
    /// The skill says nothing about tools.
    #[default]
    Unlisted,
    /// The skill may use these tools at most.
    Listed(Vec<SkillTool>),
}

/// One entry of a skill's list, like `Read` or `Bash(git:*)`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillTool {
    name: Entry,
    arguments: ArgumentScope,
}

/// Which arguments of a tool an entry of a skill applies to: the text in its parentheses.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ArgumentScope {
    /// No parentheses, or `(*)`: any argument.
    Any,
    /// `(git diff:*)`: commands that begin with these words.
    Prefix(String),
    /// `(npm test)`: this argument exactly.
    Exact(String),
    /// `(src/**)`: arguments of this form. What the form means depends on the tool.
    Pattern(String),
}

/// Why a skill's list cannot be read. A skill whose list cannot be read gets no tools.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SkillToolsError {
    /// A parenthesis without its partner.
    #[error("unbalanced parenthesis in allowed-tools entry `{entry}`; write `Tool(argument)`")]
    Unbalanced {
        /// The entry.
        entry: String,
    },
    /// Parentheses without a tool before them, or text behind them.
    #[error("allowed-tools entry `{entry}` is not of the form `Tool` or `Tool(argument)`")]
    Malformed {
        /// The entry.
        entry: String,
    },
    /// More than any honest list holds.
    #[error("allowed-tools is too long: at most {MAX_ENTRIES} entries of {MAX_ENTRY_BYTES} bytes are read")]
    TooLong,
}

impl SkillTools {
    /// Reads the string form: entries separated by spaces or commas, like `Bash(git:*) Read`.
    ///
    /// # Errors
    /// When an entry is malformed or the list is longer than any honest one.
    pub fn parse(text: &str) -> Result<Self, SkillToolsError> {
        Self::from_list([text])
    }

    /// Reads the list form. An item may itself hold several entries, as people write `["Read, Write"]`.
    ///
    /// # Errors
    /// When an entry is malformed or the list is longer than any honest one.
    pub fn from_list<'t>(items: impl IntoIterator<Item = &'t str>) -> Result<Self, SkillToolsError> {
        let mut tools = Vec::new();
        for item in items {
            for entry in entries(item) {
                let entry = entry?;
                if tools.len() == MAX_ENTRIES || entry.len() > MAX_ENTRY_BYTES {
                    return Err(SkillToolsError::TooLong);
                }
                tools.push(SkillTool::parse(entry)?);
            }
        }
        Ok(Self::Listed(tools))
    }

    /// Returns the entries, as long as the skill lists any.
    #[must_use]
    pub fn listed(&self) -> Option<&[SkillTool]> {
        match self {
            Self::Unlisted => None,
            Self::Listed(tools) => Some(tools),
        }
    }
}

impl SkillTool {
    fn parse(entry: &str) -> Result<Self, SkillToolsError> {
        let malformed = || SkillToolsError::Malformed { entry: entry.to_owned() };
        let (name, arguments) = match entry.split_once('(') {
            None => (entry, ArgumentScope::Any),
            Some((name, rest)) => {
                // Only the first and the last parenthesis are the entry's own: a command between them may have more.
                let inside = rest.strip_suffix(')').ok_or_else(malformed)?;
                (name, ArgumentScope::parse(inside))
            }
        };
        if name.is_empty() {
            return Err(malformed());
        }
        Ok(Self { name: Entry::parse(name), arguments })
    }

    /// Returns the tool's name, group or pattern, as the skill writes it.
    #[must_use]
    pub fn name(&self) -> &str {
        self.name.text()
    }

    /// Returns which arguments the entry speaks of.
    #[must_use]
    pub fn arguments(&self) -> &ArgumentScope {
        &self.arguments
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.name
    }

    /// Whether the entry speaks of every tool, or of every command that a shell can run.
    #[must_use]
    pub fn is_broad(&self) -> bool {
        let is_any = match &self.arguments {
            ArgumentScope::Any => true,
            ArgumentScope::Pattern(pattern) => pattern.chars().all(|c| matches!(c, '*' | ' ' | ':')),
            ArgumentScope::Prefix(_) | ArgumentScope::Exact(_) => false,
        };
        let runs_anything = |tool| is_any && self.names(tool);
        self.name.is_sweeping() || ["exec", "bash", "run_command"].into_iter().any(runs_anything)
    }

    /// Whether the entry speaks of this tool, under its own name or the one that other harnesses give it.
    pub(crate) fn names(&self, tool: &str) -> bool {
        self.name.matches(tool)
            || ALIASES.iter().any(|(written, ours)| *written == self.name.text() && ours.contains(&tool))
    }
}

/// As a skill writes it.
impl fmt::Display for SkillTool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match &self.arguments {
            ArgumentScope::Any => f.write_str(name),
            ArgumentScope::Prefix(text) => write!(f, "{name}({text}:*)"),
            ArgumentScope::Exact(text) | ArgumentScope::Pattern(text) => write!(f, "{name}({text})"),
        }
    }
}

impl ArgumentScope {
    fn parse(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() || text == "*" || text == ":*" {
            return Self::Any;
        }
        if let Some(prefix) = text.strip_suffix(":*") {
            return Self::Prefix(prefix.to_owned());
        }
        if text.contains(['*', '?', '[', '{']) {
            return Self::Pattern(text.to_owned());
        }
        Self::Exact(text.to_owned())
    }

    /// Whether a shell command stays within the scope.
    ///
    /// A prefix says nothing about what follows a `;` or hides in a substitution, so a command with any character
    /// that can begin a second command is outside every scope but [`ArgumentScope::Any`]; so is every command when
    /// the scope is a pattern, whose meaning is the tool's.
    #[must_use]
    pub fn admits_command(&self, command: &str) -> bool {
        let simple =
            !command.contains([';', '&', '|', '<', '>', '$', '`', '(', ')', '{', '}', '\n', '\r', '\\']);
        match self {
            Self::Any => true,
            Self::Exact(exact) => simple && command.trim() == exact,
            Self::Prefix(prefix) => {
                simple
                    && command
                        .trim_start()
                        .strip_prefix(prefix.as_str())
                        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
            }
            Self::Pattern(_) => false,
        }
    }
}

impl fmt::Display for ArgumentScope {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::Prefix(prefix) => write!(formatter, "{}:*", Escaped(prefix)),
            Self::Exact(text) | Self::Pattern(text) => Escaped(text).fmt(formatter),
        }
    }
}

/// Names of the same tool in other harnesses, so that a skill written for one can be bounded in another. A row only
/// ever lets a skill keep a tool that the policy grants already.
const ALIASES: &[(&str, &[&str])] = &[
    ("Read", &["read", "read_file"]),
    ("Write", &["write", "write_file", "create_file"]),
    ("Edit", &["edit", "edit_file"]),
    ("MultiEdit", &["edit", "edit_file"]),
    ("NotebookEdit", &["notebook_edit"]),
    ("Grep", &["grep", "search_files"]),
    ("Glob", &["find", "glob"]),
    ("LS", &["ls", "list_dir", "list_directory"]),
    ("Bash", &["exec", "bash", "run_command"]),
    ("BashOutput", &["process"]),
    ("WebFetch", &["web_fetch"]),
    ("WebSearch", &["web_search"]),
];

/// The names that other harnesses give their tools.
pub(super) fn foreign_names<'n>() -> impl Iterator<Item = &'n str> {
    ALIASES.iter().map(|(written, _)| *written)
}

/// The entries of one text: separated by white space or commas, but not inside parentheses.
fn entries(text: &str) -> impl Iterator<Item = Result<&str, SkillToolsError>> {
    let mut rest = text;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(is_separator);
        if rest.is_empty() {
            return None;
        }
        match entry_length(rest) {
            Some(length) => {
                let (entry, after) = rest.split_at_checked(length)?;
                rest = after;
                Some(Ok(entry))
            }
            None => {
                let entry = rest.chars().take(100).collect();
                rest = "";
                Some(Err(SkillToolsError::Unbalanced { entry }))
            }
        }
    })
}

fn is_separator(character: char) -> bool {
    character.is_whitespace() || character == ','
}

/// Where the first entry of a text ends; nothing when its parentheses do not pair.
fn entry_length(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    for (offset, character) in text.char_indices() {
        match character {
            '(' => depth += 1,
            ')' => depth = depth.checked_sub(1)?,
            _ if depth == 0 && is_separator(character) => return Some(offset),
            _ => {}
        }
    }
    (depth == 0).then_some(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<(String, ArgumentScope)> {
        let tools = SkillTools::parse(text).unwrap();
        tools
            .listed()
            .unwrap()
            .iter()
            .map(|tool| (tool.name().to_owned(), tool.arguments().clone()))
            .collect()
    }

    #[test]
    fn the_string_form_is_read() {
        use ArgumentScope::{Any, Exact, Pattern, Prefix};
        let cases: [(&str, &[(&str, ArgumentScope)]); 9] = [
            ("", &[]),
            ("Read", &[("Read", Any)]),
            ("Bash(git:*) Read", &[("Bash", Prefix("git".into())), ("Read", Any)]),
            (
                "Bash(git diff:*),Read,\nGrep",
                &[("Bash", Prefix("git diff".into())), ("Read", Any), ("Grep", Any)],
            ),
            ("Bash(npm test)", &[("Bash", Exact("npm test".into()))]),
            ("Bash(*) Bash() Bash(:*)", &[("Bash", Any), ("Bash", Any), ("Bash", Any)]),
            ("Edit(src/**)", &[("Edit", Pattern("src/**".into()))]),
            ("Bash(echo (x):*)", &[("Bash", Prefix("echo (x)".into()))]),
            ("mcp__github__* group:web", &[("mcp__github__*", Any), ("group:web", Any)]),
        ];
        for (text, expected) in cases {
            let expected: Vec<_> =
                expected.iter().map(|(name, scope)| ((*name).to_owned(), scope.clone())).collect();
            assert_eq!(names(text), expected, "{text}");
        }
    }

    #[test]
    fn malformed_lists_are_refused() {
        for text in ["Bash(git:*", "Bash)", "(git)", "Bash(git)x", "Read Bash(", "Bash(a))"] {
            assert!(SkillTools::parse(text).is_err(), "{text}");
        }
        assert_eq!(SkillTools::parse(&"x ".repeat(5000)), Err(SkillToolsError::TooLong));
        assert_eq!(SkillTools::parse(&"x".repeat(5000)), Err(SkillToolsError::TooLong));
    }

    #[test]
    fn scopes_admit_only_single_commands() {
        let scope = ArgumentScope::Prefix("git".into());
        for (command, expected) in [
            ("git", true),
            ("git status", true),
            ("  git log --oneline", true),
            ("gitk", false),
            ("git status; rm -rf /", false),
            ("git log $(id)", false),
            ("git log > /etc/passwd", false),
            ("git status\nid", false),
            ("rm git", false),
        ] {
            assert_eq!(scope.admits_command(command), expected, "{command}");
        }
        assert!(ArgumentScope::Exact("npm test".into()).admits_command("npm test"));
        assert!(!ArgumentScope::Exact("npm test".into()).admits_command("npm test --watch"));
        assert!(!ArgumentScope::Pattern("git*".into()).admits_command("git"));
        assert!(ArgumentScope::Any.admits_command("a; b"));
    }

    #[test]
    fn what_grants_every_command_or_tool_is_broad() {
        let broad = ["*", "Bash", "Bash(*)", "Bash(**)", "Bash(:*)", "exec", "mcp__*", "group:coding"];
        let narrow = ["Read", "Bash(npm *)", "Bash(git:*)", "Bash(npm test)", "mcp__github__*", "Write(*)"];
        for (entries, wanted) in [(&broad[..], true), (&narrow[..], false)] {
            for entry in entries {
                assert_eq!(SkillTool::parse(entry).unwrap().is_broad(), wanted, "{entry}");
            }
        }
    }

    #[test]
    fn names_of_other_harnesses_are_understood() {
        let bash = SkillTool::parse("Bash(git:*)").unwrap();
        assert!(bash.names("exec") && bash.names("Bash") && !bash.names("process"));
    }
}
