//! Options of the egress proxy of a command.

use stockade_guard::egress::{BrokerOptions, UpstreamProxies, read_login_source};

/// Limits of an egress proxy, and the proxy of this machine.
#[derive(Debug, Clone, Default, clap::Args)]
pub(crate) struct ProxyBounds {
    /// Maximum concurrent connections through the egress proxy; further ones wait [default: 256]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    max_connections: Option<u32>,

    /// Maximum total requests through the egress proxy; later ones are refused [default: none]
    #[arg(long, value_name = "N")]
    max_requests: Option<u64>,

    /// Proxy of this machine by which hosts are reached: http://HOST:PORT, socks5h://HOST:PORT, or none [default: HTTPS_PROXY,
    /// HTTP_PROXY and ALL_PROXY, without the hosts of NO_PROXY]
    #[arg(long, value_name = "URL")]
    upstream_proxy: Option<String>,

    /// Source of the login USER:PASSWORD of that proxy: env:VARIABLE, file:/PATH or cmd:PROGRAM
    #[arg(long, value_name = "SOURCE")]
    upstream_login: Option<String>,
}

impl ProxyBounds {
    /// Returns the first option that was given.
    pub(crate) fn first(&self) -> Option<&'static str> {
        let given = [
            ("--max-connections", self.max_connections.is_some()),
            ("--max-requests", self.max_requests.is_some()),
            ("--upstream-proxy", self.upstream_proxy.is_some()),
            ("--upstream-login", self.upstream_login.is_some()),
        ];
        given.into_iter().find_map(|(name, is_given)| is_given.then_some(name))
    }

    /// Overrides the defaults.
    ///
    /// # Errors
    /// When the proxy of this machine is not supported, or its login cannot be read.
    pub(crate) fn apply(&self, options: BrokerOptions) -> Result<BrokerOptions, String> {
        let connections = self.max_connections.and_then(|most| usize::try_from(most).ok());
        Ok(BrokerOptions {
            connections: connections.unwrap_or(options.connections),
            requests: self.max_requests.or(options.requests),
            upstream: self.upstream()?,
            ..options
        })
    }

    fn upstream(&self) -> Result<UpstreamProxies, String> {
        let url = self.upstream_proxy.as_deref();
        let proxies = UpstreamProxies::chosen(url).map_err(|error| match url {
            None => error.to_string(),
            Some(_) => format!("--upstream-proxy: {error}"),
        })?;
        let Some(source) = &self.upstream_login else { return Ok(proxies) };
        if proxies.is_empty() {
            return Err("--upstream-login needs a proxy: add --upstream-proxy".to_owned());
        }
        let login =
            read_login_source(source).map_err(|error| format!("--upstream-login: {error}: {}", error.fix))?;
        proxies.with_login(&login).map_err(|error| format!("--upstream-login: {error}"))
    }
}
