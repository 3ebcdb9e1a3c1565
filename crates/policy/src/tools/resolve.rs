//! What a policy says about a tool, and why.

use std::fmt;

use super::skill::ArgumentScope;

/// What a policy says about one tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub enum ToolVerdict<'p> {
    /// The tool may be used.
    Allowed,
    /// The tool may be used, with arguments that every active skill's list admits.
    AllowedFor(Vec<ArgumentLimit<'p>>),
    /// The tool is not there.
    Removed(Removal<'p>),
}

/// What one skill admits as argument of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ArgumentLimit<'p> {
    /// The skill that set the limit.
    pub skill: &'p str,
    /// The scopes its list gives for the tool; one of them must admit the argument.
    pub any_of: Vec<&'p ArgumentScope>,
}

/// Why a tool was removed, and by which entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(tag = "kind", rename_all = "snake_case"))]
#[non_exhaustive]
pub enum Removal<'p> {
    /// Neither the profile nor the allow list has it.
    NotInProfile {
        /// The profile.
        profile: &'p str,
    },
    /// The deny list names it. Deny always wins.
    ExplicitDeny {
        /// The last entry of the deny list that names it.
        #[cfg_attr(feature = "serde", serde(rename = "denyEntry"))]
        entry: &'p str,
    },
    /// An active skill's list does not have it.
    NotInSkill {
        /// The skill.
        skill: &'p str,
    },
}

/// What is left of a list of tools, and what was taken out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Resolution<'p, 't> {
    /// The tools that may be used, in the order and number in which they were given.
    pub allowed: Vec<AllowedTool<'p, 't>>,
    /// The tools that may not, each with the reason.
    pub filtered: Vec<FilteredTool<'p, 't>>,
}

/// A tool that may be used.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct AllowedTool<'p, 't> {
    /// The tool.
    pub tool: &'t str,
    /// What its arguments must keep to: all of these. Empty when no skill says anything about arguments.
    pub limits: Vec<ArgumentLimit<'p>>,
}

/// A tool that may not be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[non_exhaustive]
pub struct FilteredTool<'p, 't> {
    /// The tool.
    pub tool: &'t str,
    /// Why the tool was taken away.
    pub reason: Removal<'p>,
}

/// One change to a configuration, as narrow as it can be.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolFix {
    /// Add the tool to the allow list.
    AddToAllow {
        /// The tool.
        tool: String,
    },
    /// Take an entry out of the deny list; when it named more than this tool, put the rest back one by one.
    NarrowDeny {
        /// The entry.
        entry: String,
        /// The known tools that the entry must go on denying.
        keep: Vec<String>,
    },
    /// Add the tool to the skill's `allowed-tools`.
    AddToSkill {
        /// The skill.
        skill: String,
        /// The tool.
        tool: String,
    },
}

impl ToolVerdict<'_> {
    /// Whether the tool may be used at all.
    #[must_use]
    pub fn is_allowed(&self) -> bool {
        !matches!(self, Self::Removed(_))
    }
}

impl ArgumentLimit<'_> {
    /// Whether the skill admits this shell command as argument of the tool.
    #[must_use]
    pub fn admits_command(&self, command: &str) -> bool {
        self.any_of.iter().any(|scope| scope.admits_command(command))
    }
}

impl fmt::Display for Removal<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotInProfile { profile } => {
                write!(formatter, "neither the profile `{profile}` nor the allow list has it")
            }
            Self::ExplicitDeny { entry } => {
                write!(formatter, "the deny list names it by `{entry}`, and deny wins")
            }
            Self::NotInSkill { skill } => write!(formatter, "the active skill `{skill}` does not list it"),
        }
    }
}

impl fmt::Display for ToolFix {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AddToAllow { tool } => write!(formatter, "add `{tool}` to the allow list"),
            Self::NarrowDeny { entry, keep } if keep.is_empty() => {
                write!(formatter, "remove `{entry}` from the deny list")
            }
            Self::NarrowDeny { entry, keep } => {
                write!(formatter, "in the deny list, replace `{entry}` by its other tools: ")?;
                for (index, tool) in keep.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(formatter, "{comma}`{tool}`")?;
                }
                Ok(())
            }
            Self::AddToSkill { skill, tool } => {
                write!(formatter, "add `{tool}` to the allowed-tools of the skill `{skill}`")
            }
        }
    }
}
