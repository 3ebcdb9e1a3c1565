//! The rules of one layer: of a user, of a project, or of an administrator.

use super::effect::Layer;
use super::rule::CommandRule;

/// The rules of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLayer {
    /// The layer.
    pub layer: Layer,
    /// The rules, in any order.
    pub rules: Vec<CommandRule>,
    /// The built-in hazards that are disabled. Only an admin can disable them.
    pub overrides: Vec<FloorOverride>,
}

/// A hazard that an admin has disabled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorOverride {
    /// The id of the hazard.
    pub floor: String,
    /// The reason.
    pub reason: String,
}
