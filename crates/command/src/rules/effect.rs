//! The effect of a decision on a command.

use std::fmt;

/// The effect of a decision on a command, from the mildest to the strictest. The effect for several commands is the `max` of
/// their effects.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "lowercase"))]
#[must_use]
pub enum Effect {
    /// The command may run without a sandbox.
    Allow,
    /// It may run only in a sandbox.
    Sandbox,
    /// The user must be asked.
    Ask,
    /// It must not run.
    Deny,
}

impl Effect {
    /// Every effect, from the mildest to the strictest.
    pub const ALL: [Self; 4] = [Self::Allow, Self::Sandbox, Self::Ask, Self::Deny];

    /// The names, in the same order.
    pub const NAMES: &[&str] = &["allow", "sandbox", "ask", "deny"];

    /// Returns the stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Sandbox => "sandbox",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// Returns the effect of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|effect| effect.name().eq_ignore_ascii_case(name))
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The layer of a rule. A higher layer takes precedence, and lower ones can only be stricter. The built-in rules apply if no
/// other layer decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize), serde(rename_all = "lowercase"))]
pub enum Layer {
    /// Rules that come with this crate.
    BuiltIn,
    /// Rules of the project that the agent works in.
    Project,
    /// Rules of the user.
    User,
    /// Rules of the administrator of the machine.
    Admin,
}

impl Layer {
    /// Every layer, the lowest first.
    pub const ALL: [Self; 4] = [Self::BuiltIn, Self::Project, Self::User, Self::Admin];

    /// Returns the stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BuiltIn => "builtin",
            Self::Project => "project",
            Self::User => "user",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Layer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
