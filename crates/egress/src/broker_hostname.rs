//! The name under which the broker itself answers commands within. No name of the public network ends so, and none of it leaves.

use super::target::{Host, NetTarget};

/// What a command within asks for to hear from the broker. A list of hosts never names it.
pub(super) const NAME: &str = "stockade.internal";

/// The one port that is answered there, by plain HTTP.
pub(super) const PORT: u16 = 80;

/// Where a command within is told why something was refused: all of it there, and one refusal behind a slash and its id.
pub const WHY_URL: &str = "http://stockade.internal/v1/why";

/// Returns whether a target is the broker itself, at whatever port.
pub(super) fn is_own(target: &NetTarget) -> bool {
    matches!(&target.host, Host::Name(name) if name == NAME)
}

/// Returns whether the broker answers at a target.
pub(super) fn answers_at(target: &NetTarget) -> bool {
    is_own(target) && target.port.is_none_or(|port| port == PORT)
}
