//! Skill dialects, and how strictly each treats a problem.

use serde::Serialize;

use super::problem::ProblemLevel;

/// The format that a skill's front matter must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// The format of agentskills.io: six keys, a name and a description required.
    #[default]
    AgentSkills,
    /// Claude Code: every key is optional, and commands in the text run when a skill is loaded.
    Claude,
    /// OpenClaw: `metadata` contains requirements and installers; front matter that is not YAML is read line by line.
    OpenClaw,
    /// Comis: keys in camel case; unknown keys are errors.
    Comis,
    /// Accepts anything that can be interpreted.
    Lenient,
}

impl Dialect {
    /// All dialects, in the order of the table of severities.
    pub const ALL: [Self; 5] = [Self::AgentSkills, Self::Claude, Self::OpenClaw, Self::Comis, Self::Lenient];

    /// Returns the name used in configurations.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::AgentSkills => "agentskills",
            Self::Claude => "claude",
            Self::OpenClaw => "openclaw",
            Self::Comis => "comis",
            Self::Lenient => "lenient",
        }
    }

    /// Returns the dialect of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|dialect| dialect.name() == name)
    }

    /// Whether front matter that is not YAML is read again line by line.
    pub(super) const fn reads_line_by_line(self) -> bool {
        !matches!(self, Self::Comis | Self::Claude)
    }

    /// The keys that this dialect knows.
    pub(super) fn keys(self) -> impl Iterator<Item = &'static str> {
        KEYS.iter()
            .filter(move |(_, dialects)| self == Self::Lenient || dialects.contains(&self))
            .map(|row| row.0)
    }

    /// The first dialect that knows a key.
    pub(super) fn that_knows(key: &str) -> Option<Self> {
        KEYS.iter().find(|row| row.0 == key).and_then(|(_, dialects)| dialects.first().copied())
    }

    /// Returns the names of all problems.
    pub fn rules() -> impl Iterator<Item = &'static str> {
        LEVELS.iter().map(|row| row.0)
    }

    /// Whether a problem concerns a skill's behaviour rather than its form: as an error, it marks the skill as an
    /// attack.
    #[must_use]
    pub fn is_attack(rule: &str) -> bool {
        ATTACKS.contains(&rule)
    }

    /// Whether a problem reports a part of the skill that was not examined.
    #[must_use]
    pub fn is_unseen(rule: &str) -> bool {
        UNSEEN.contains(&rule)
    }

    /// Returns the severity of a problem in this dialect. An unlisted problem is an error.
    #[must_use]
    pub fn level(self, rule: &str) -> ProblemLevel {
        let row = LEVELS.iter().find(|(name, _)| *name == rule);
        let level = row.and_then(|(_, levels)| levels.get(self as usize));
        level.copied().unwrap_or(ProblemLevel::Error)
    }
}

/// The front matter keys, and the dialects that know them.
///
/// This table only decides which keys are reported as unknown. A key that narrows a skill's permissions, or makes
/// something run, is read in every dialect and spelling: another program may read the same file by other rules.
const KEYS: &[(&str, &[Dialect])] = {
    use Dialect::{AgentSkills as A, Claude as C, Comis as M, OpenClaw as O};
    &[
        ("name", &[A, C, O, M]),
        ("description", &[A, C, O, M]),
        ("license", &[A, C, O, M]),
        ("compatibility", &[A, C, O]),
        ("metadata", &[A, C, O, M]),
        ("allowed-tools", &[A, C, O]),
        // A variant of the key above that no dialect documents.
        ("allowed_tools", &[]),
        ("version", &[C, O, M]),
        ("homepage", &[O]),
        ("when_to_use", &[C]),
        ("argument-hint", &[C]),
        ("arguments", &[C]),
        ("disable-model-invocation", &[C, O]),
        ("user-invocable", &[C, O]),
        ("disallowed-tools", &[C]),
        ("model", &[C]),
        ("effort", &[C]),
        ("context", &[C]),
        ("agent", &[C]),
        ("background", &[C]),
        ("hooks", &[C]),
        ("paths", &[C]),
        ("shell", &[C]),
        ("command-dispatch", &[O]),
        ("command-tool", &[O]),
        ("command-arg-mode", &[O]),
        ("type", &[M]),
        ("userInvocable", &[M]),
        ("disableModelInvocation", &[M]),
        ("allowedTools", &[M]),
        ("argumentHint", &[M]),
        ("permissions", &[M]),
        ("inputSchema", &[M]),
        ("comis", &[M]),
    ]
};

/// The problems that concern behaviour, not form.
const ATTACKS: &[&str] = &["command-refused", "too-many-commands", "not-locked", "changed-since-locked"];

/// The problems that report unexamined parts.
const UNSEEN: &[&str] = &[
    "not-read",
    "archive",
    "machine-code",
    "bytecode",
    "settings-unread",
    "too-many-findings",
    "not-plain-text",
];

/// The severity of each problem in each dialect, in the order of [`Dialect::ALL`].
const LEVELS: &[(&str, [ProblemLevel; 5])] = {
    use ProblemLevel::{Error as E, Ignored as I, Note as N, Warning as W};
    &[
        // The form of the file.               A  C  O  M  L
        // Prose without front matter is still a skill: the caller is told, and names it after its directory.
        ("no-front-matter", [W, N, W, W, N]),
        ("front-matter-unclosed", [E, E, E, E, E]),
        ("front-matter-empty", [W, N, W, W, N]),
        ("front-matter-not-yaml", [E, E, E, E, E]),
        // Another parser may have read it differently.
        ("front-matter-line-by-line", [W, E, W, E, W]),
        ("front-matter-not-a-table", [E, E, E, E, E]),
        ("duplicate-key", [E, E, E, E, E]),
        // A program that does not know the byte order mark finds no front matter at all.
        ("byte-order-mark", [N, N, N, E, N]),
        ("marker-in-value", [N, N, N, N, I]),
        ("not-plain-text", [W, W, W, W, W]),
        // Keys.
        ("unknown-key", [N, N, N, E, I]),
        // The intended key is not read: a list of tools that would have restricted the skill, for example.
        ("misspelt-key", [N, N, N, E, N]),
        ("missing-name", [E, I, E, E, N]),
        ("missing-description", [E, N, E, E, N]),
        ("wrong-type", [E, E, N, E, N]),
        ("unreadable-tools", [E, E, E, E, E]),
        ("too-long", [N, N, N, E, I]),
        ("name-shape", [N, N, N, E, I]),
        // A path, an escape or a disguise: dangerous in a program that makes a file, a line or a tag of the name.
        ("unusable-name", [E, E, E, E, E]),
        ("name-not-folder", [N, I, I, I, I]),
        ("nested-metadata", [N, I, I, E, I]),
        ("unknown-word", [I, I, I, E, I]),
        // The content of the skill.
        ("empty-body", [N, N, N, E, N]),
        ("body-truncated", [N, N, N, N, N]),
        ("hidden-text", [W, W, W, W, W]),
        ("not-read", [W, W, W, W, W]),
        ("too-many-findings", [W, W, W, W, W]),
        ("command-refused", [E, E, E, E, E]),
        ("command-unanswered", [W, W, W, W, W]),
        ("too-many-commands", [E, E, E, E, E]),
        // The skill differs from the reviewed version.
        ("not-locked", [E, E, E, E, E]),
        ("changed-since-locked", [E, E, E, E, E]),
        ("hook", [W, W, W, W, W]),
        ("tool-server", [W, W, W, W, W]),
        ("install-script", [W, W, W, W, W]),
        ("startup-code", [W, W, W, W, W]),
        ("settings-unread", [W, W, W, W, W]),
        ("machine-code", [W, W, W, W, W]),
        ("bytecode", [W, W, W, W, W]),
        ("archive", [W, W, W, W, W]),
        ("broad-tools", [W, W, W, W, W]),
        // Many skills list the shell although they need only a few commands.
        ("whole-shell", [N, N, N, N, N]),
        ("unverified-download", [W, W, W, W, W]),
        ("model-bypassed", [W, W, W, W, W]),
        ("always-loaded", [N, N, N, N, N]),
    ]
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dialects_stand_in_their_order() {
        for (index, dialect) in Dialect::ALL.into_iter().enumerate() {
            assert_eq!(dialect as usize, index);
            assert_eq!(Dialect::from_name(dialect.name()), Some(dialect));
        }
    }

    #[test]
    fn what_is_unseen_and_what_attacks_is_a_problem() {
        for rule in UNSEEN.iter().chain(ATTACKS) {
            assert!(Dialect::rules().any(|known| known == *rule), "{rule}");
        }
    }

    #[test]
    fn what_is_not_in_the_table_is_an_error() {
        assert_eq!(Dialect::Lenient.level("no-such-rule"), ProblemLevel::Error);
    }
}
