//! The network of a request.

use std::path::PathBuf;

use crate::spec::Network;

/// What a command may reach over the network.
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "NetworkAccess"))]
#[cfg_attr(feature = "schema", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct NetworkPatch {
    /// How much of the network the command reaches.
    pub mode: NetworkChoice,
    /// The socket of the broker, for `broker-only`.
    #[cfg_attr(feature = "schema", serde(alias = "brokerSocket"))]
    pub broker_socket_path: Option<PathBuf>,
}

/// How much of the network a command reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Deserialize, schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(rename = "NetworkMode"))]
#[cfg_attr(feature = "schema", serde(rename_all = "kebab-case"))]
pub enum NetworkChoice {
    /// Whatever this machine reaches.
    Open,
    /// One socket, behind which a broker decides.
    BrokerOnly,
    /// Itself, over its own loopback.
    None,
}

/// A network and a socket that do not belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkPatchError {
    /// There is no socket for the broker.
    #[error("`network.mode` is broker-only, and `brokerSocketPath` is missing")]
    NoSocket,
    /// There is a socket, and no broker.
    #[error("`brokerSocketPath` belongs to the mode broker-only")]
    NoBroker,
}

impl NetworkPatch {
    pub(super) fn network(self) -> Result<Network, NetworkPatchError> {
        match (self.mode, self.broker_socket_path) {
            (NetworkChoice::Open, None) => Ok(Network::Open),
            (NetworkChoice::None, None) => Ok(Network::None),
            (NetworkChoice::BrokerOnly, Some(socket)) => Ok(Network::Broker { socket }),
            (NetworkChoice::BrokerOnly, None) => Err(NetworkPatchError::NoSocket),
            (NetworkChoice::Open | NetworkChoice::None, Some(_)) => Err(NetworkPatchError::NoBroker),
        }
    }
}
