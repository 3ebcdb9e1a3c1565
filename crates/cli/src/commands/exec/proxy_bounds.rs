//! Options that limit the egress proxy of a command.

use stockade_guard::egress::BrokerOptions;

/// Limits of an egress proxy.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
pub(crate) struct ProxyBounds {
    /// Maximum concurrent connections through the egress proxy; further ones wait [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: Option<u32>,

    /// Maximum total requests through the egress proxy; later ones are refused [default: none]
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,
}

impl ProxyBounds {
    /// Whether an option was given.
    pub(crate) const fn is_some(self) -> bool {
        self.max_connections.is_some() || self.max_requests.is_some()
    }

    /// Overrides the defaults.
    pub(crate) fn apply(self, options: BrokerOptions) -> BrokerOptions {
        let connections = self.max_connections.and_then(|most| usize::try_from(most).ok());
        BrokerOptions {
            connections: connections.unwrap_or(options.connections),
            requests: self.max_requests.or(options.requests),
            ..options
        }
    }
}
