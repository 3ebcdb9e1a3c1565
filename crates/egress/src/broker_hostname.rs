//! The host name under which the proxy answers commands in the sandbox. `.internal` is reserved for private use, and requests to
//! it never leave this machine.

use super::target::{Host, NetTarget};

/// The host name of the proxy. A host list never contains it.
pub(super) const NAME: &str = "stockade.internal";

/// The only port of that host, for plain HTTP.
pub(super) const PORT: u16 = 80;

/// The URL that lists recent refusals; `/ID` returns one of them.
pub const WHY_URL: &str = "http://stockade.internal/v1/why";

/// Returns whether a target is the proxy itself, at any port.
pub(super) fn is_own(target: &NetTarget) -> bool {
    matches!(&target.host, Host::Name(name) if name == NAME)
}

/// Returns whether the proxy answers requests to a target.
pub(super) fn answers_at(target: &NetTarget) -> bool {
    is_own(target) && target.port.is_none_or(|port| port == PORT)
}
