//! Rules that come together: those of a user, of a project, of an administrator.

use super::effect::Layer;
use super::rule::CommandRule;

/// The rules of one layer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLayer {
    /// Who wrote the rules.
    pub layer: Layer,
    /// The rules, in any order.
    pub rules: Vec<CommandRule>,
    /// The built-in hazards that are switched off. Only an admin can.
    pub overrides: Vec<FloorOverride>,
}

/// A hazard that an admin has switched off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FloorOverride {
    /// The id of the hazard.
    pub floor: String,
    /// Why, for later readers.
    pub reason: String,
}
