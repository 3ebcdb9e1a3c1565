//! Proxies between this machine and its hosts, such as that of a company: `http://proxy.corp:3128`, `socks5h://proxy.corp:1080`.
#![expect(clippy::disallowed_methods, reason = "reads the variables that name the proxies of the user")]

use std::fmt;
use std::net::IpAddr;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use zeroize::Zeroizing;

use super::target::{Host, NetTarget};

/// Schemes of proxies, and their default ports. Names are always resolved by the proxy.
const SCHEMES: &[(&str, UpstreamKind, u16)] = &[
    ("http", UpstreamKind::Http, 80),
    ("socks5", UpstreamKind::Socks, 1080),
    ("socks5h", UpstreamKind::Socks, 1080),
    ("socks", UpstreamKind::Socks, 1080),
];

/// Variables that name a proxy: for requests over TLS, for plain ones, and targets without one. The first that is set counts.
const FOR_TLS: &[&str] = &["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"];
const FOR_PLAIN: &[&str] = &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];
const EXCEPTIONS: &[&str] = &["no_proxy", "NO_PROXY"];

/// Maximum number of exceptions. Each is compared with each target.
const MAX_EXCEPTIONS: usize = 1_000;

/// Maximum length of a user and of a password (RFC 1929).
const MAX_LOGIN: usize = 255;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UpstreamKind {
    Http,
    Socks,
}

/// The proxies of this machine, by which hosts are reached.
///
/// Connections to this machine itself, to the exceptions, and to `/tcp` entries never go through one: programs of other protocols
/// than HTTP do not use a proxy either.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct UpstreamProxies {
    for_tls: Option<UpstreamProxy>,
    for_plain: Option<UpstreamProxy>,
    exceptions: Vec<Exception>,
}

/// A proxy by which hosts are reached.
#[derive(Clone, PartialEq, Eq)]
pub struct UpstreamProxy {
    pub(super) kind: UpstreamKind,
    /// With a port.
    pub(super) target: NetTarget,
    login: Option<(String, Zeroizing<String>)>,
}

/// Why a text names no proxy. The text itself is not repeated, because it may contain a password.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct UpstreamError {
    /// The reason.
    pub reason: String,
}

/// A target without a proxy, as in `NO_PROXY`.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Exception {
    /// `*`.
    All,
    /// `example.com` or `.example.com`, and everything below it.
    Name { name: String, port: Option<u16> },
    /// `10.0.0.0/8`, or an address.
    Network { address: IpAddr, bits: u8, port: Option<u16> },
}

fn wrong(reason: impl Into<String>) -> UpstreamError {
    UpstreamError { reason: reason.into() }
}

/// Instead of the URL of a proxy: none.
const NONE: &str = "none";

impl UpstreamProxies {
    /// Uses one proxy for all requests.
    #[must_use]
    pub fn through(proxy: UpstreamProxy) -> Self {
        Self { for_tls: Some(proxy.clone()), for_plain: Some(proxy), exceptions: Vec::new() }
    }

    /// Adds exceptions, separated by commas or blanks. Each is a name with everything below it, an address, a network, or `*`.
    ///
    /// ```
    /// use stockade_egress::{NetTarget, UpstreamProxies, UpstreamProxy};
    ///
    /// let proxies = UpstreamProxies::through(UpstreamProxy::parse("http://proxy.corp:3128")?);
    /// let proxies = proxies.without("corp, 10.0.0.0/8");
    /// let proxy = |target: &str| proxies.proxy_for(&NetTarget::parse(target).unwrap()).is_some();
    /// assert!(proxy("example.com:443"));
    /// assert!(!proxy("git.corp:443") && !proxy("10.1.2.3:80") && !proxy("localhost:8080"));
    /// # Ok::<(), stockade_egress::UpstreamError>(())
    /// ```
    #[must_use]
    pub fn without(mut self, exceptions: &str) -> Self {
        let words = exceptions.split([',', ' ', '\t']).filter(|word| !word.is_empty());
        self.exceptions.extend(words.filter_map(Exception::read).take(MAX_EXCEPTIONS));
        self
    }

    /// Reads them by the variables of a program: `HTTPS_PROXY`, `http_proxy`, `ALL_PROXY` and `NO_PROXY`.
    ///
    /// # Errors
    /// When one of them names a proxy that is not supported. Without it, nothing would be reached, or not by the way that the user
    /// has chosen.
    pub fn from_variables(variable: impl Fn(&str) -> Option<String>) -> Result<Self, UpstreamError> {
        let first = |names: &[&str]| {
            let set = |name: &&str| Some((name.to_string(), variable(name).filter(|text| !text.is_empty())?));
            names.iter().find_map(set)
        };
        let exceptions = first(EXCEPTIONS).map(|(_, list)| list).unwrap_or_default();
        // Every proxy is switched off, also one that is not supported.
        if exceptions.trim() == "*" {
            return Ok(Self::default());
        }
        let proxy = |names| {
            let parsed = first(names).map(|(name, url)| {
                let is_off = "NO_PROXY='*' switches it off";
                UpstreamProxy::parse(&url).map_err(|error| wrong(format!("`{name}`: {error}; {is_off}")))
            });
            parsed.transpose()
        };
        let proxies = Self { for_tls: proxy(FOR_TLS)?, for_plain: proxy(FOR_PLAIN)?, exceptions: Vec::new() };
        Ok(proxies.without(&exceptions))
    }

    /// Reads them by the variables of this process.
    ///
    /// # Errors
    /// As [`UpstreamProxies::from_variables`].
    pub fn from_environment() -> Result<Self, UpstreamError> {
        Self::from_variables(|name| std::env::var(name).ok())
    }

    /// Returns the proxy of this URL, without the hosts of `NO_PROXY`; no proxy for `none`, and those of the variables without a
    /// URL.
    ///
    /// # Errors
    /// When the proxy is not supported.
    pub fn chosen(url: Option<&str>) -> Result<Self, UpstreamError> {
        match url {
            None => Self::from_environment(),
            Some(NONE) => Ok(Self::default()),
            Some(url) => {
                let exceptions = EXCEPTIONS.iter().find_map(|name| std::env::var(name).ok());
                Ok(Self::through(UpstreamProxy::parse(url)?).without(&exceptions.unwrap_or_default()))
            }
        }
    }

    /// Adds a login to each proxy.
    ///
    /// # Errors
    /// When it is not `USER:PASSWORD`.
    pub fn with_login(mut self, login: &str) -> Result<Self, UpstreamError> {
        for proxy in [&mut self.for_tls, &mut self.for_plain].into_iter().flatten() {
            proxy.login = Some(read_login(login)?);
        }
        Ok(self)
    }

    /// Returns whether hosts are always connected to directly.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.for_tls.is_none() && self.for_plain.is_none()
    }

    /// Returns the proxy for a target. That for plain requests is used at port 80.
    #[must_use]
    pub fn proxy_for(&self, target: &NetTarget) -> Option<&UpstreamProxy> {
        let proxy = if target.port == Some(80) { &self.for_plain } else { &self.for_tls };
        let is_direct = is_this_machine(target) || self.exceptions.iter().any(|one| one.holds(target));
        proxy.as_ref().filter(|_| !is_direct)
    }
}

/// Whether a target is this machine, which a proxy elsewhere would not reach.
fn is_this_machine(target: &NetTarget) -> bool {
    match &target.host {
        Host::Address(address) => address.to_canonical().is_loopback(),
        Host::Name(name) => name == "localhost" || name.ends_with(".localhost"),
    }
}

impl UpstreamProxy {
    /// Reads the URL of a proxy, with a login in it or without.
    ///
    /// # Errors
    /// When it is not one of these kinds, or has no host.
    pub fn parse(url: &str) -> Result<Self, UpstreamError> {
        let url = url.trim();
        // Without a scheme, it is one of HTTP, as in curl.
        let (scheme, rest) = url.split_once("://").unwrap_or(("http", url));
        let scheme = scheme.to_ascii_lowercase();
        let Some((_, kind, port)) = SCHEMES.iter().find(|(name, ..)| *name == scheme) else {
            let names: Vec<_> = SCHEMES.iter().map(|(name, ..)| format!("`{name}://`")).collect();
            return Err(wrong(format!(
                "a proxy with `{}://` is not supported; supported are {}",
                scheme.escape_debug(),
                names.join(", ")
            )));
        };
        let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let (login, host) = match authority.rsplit_once('@') {
            Some((login, host)) => (Some(read_login(&decoded(login)?)?), host),
            None => (None, authority),
        };
        let mut target =
            NetTarget::parse(host).map_err(|refused| wrong(format!("its host is not valid: {refused}")))?;
        target.port = target.port.or(Some(*port));
        Ok(Self { kind: *kind, target, login })
    }

    /// The user and the password.
    pub(super) fn login(&self) -> Option<(&str, &str)> {
        self.login.as_ref().map(|(user, password)| (user.as_str(), password.as_str()))
    }

    /// Returns the header with the login, as a line, or nothing.
    pub(super) fn authorization(&self) -> Zeroizing<String> {
        let Some((user, password)) = self.login() else { return Zeroizing::default() };
        let plain = Zeroizing::new(format!("{user}:{password}"));
        let encoded = Zeroizing::new(STANDARD.encode(plain.as_bytes()));
        Zeroizing::new(format!("Proxy-Authorization: Basic {}\r\n", *encoded))
    }
}

impl fmt::Display for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.target.fmt(f)
    }
}

impl fmt::Debug for UpstreamProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let has_login = self.login.is_some();
        f.debug_struct("UpstreamProxy")
            .field("kind", &self.kind)
            .field("target", &self.target.to_string())
            .field("has_login", &has_login)
            .finish()
    }
}

/// Reads `USER:PASSWORD`.
fn read_login(text: &str) -> Result<(String, Zeroizing<String>), UpstreamError> {
    let (user, password) = text.split_once(':').unwrap_or((text, ""));
    let is_long = user.len() > MAX_LOGIN || password.len() > MAX_LOGIN;
    if user.is_empty() || is_long || text.chars().any(char::is_control) {
        return Err(wrong("its login is not `USER:PASSWORD` of at most 255 bytes each"));
    }
    Ok((user.to_owned(), Zeroizing::new(password.to_owned())))
}

/// Decodes `%xx` in a login.
fn decoded(text: &str) -> Result<Zeroizing<String>, UpstreamError> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(text.len()));
    let mut rest = text.as_bytes();
    while let [first, behind @ ..] = rest {
        let hex = behind.get(..2).filter(|_| *first == b'%').and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong("its login is not valid UTF-8"))?;
    Ok(Zeroizing::new(text.to_owned()))
}

impl Exception {
    /// Reads one. A text in another form is ignored, so that its targets go through the proxy.
    fn read(text: &str) -> Option<Self> {
        if text == "*" {
            return Some(Self::All);
        }
        if let Some((network, bits)) = text.rsplit_once('/') {
            let address: IpAddr = network.parse().ok()?;
            let bits = bits.parse().ok().filter(|bits| *bits <= length(address))?;
            return Some(Self::Network { address, bits, port: None });
        }
        let name = text.strip_prefix("*.").or_else(|| text.strip_prefix('.')).unwrap_or(text);
        let NetTarget { host, port, .. } = NetTarget::parse(name).ok()?;
        Some(match host {
            Host::Name(name) => Self::Name { name, port },
            Host::Address(address) => Self::Network { address, bits: length(address), port },
        })
    }

    fn holds(&self, target: &NetTarget) -> bool {
        let is_port = |port: &Option<u16>| port.is_none_or(|port| target.port == Some(port));
        match (self, &target.host) {
            (Self::All, _) => true,
            (Self::Name { name, port }, Host::Name(host)) => {
                let above = host.strip_suffix(name.as_str());
                is_port(port) && above.is_some_and(|above| above.is_empty() || above.ends_with('.'))
            }
            (Self::Network { address, bits, port }, Host::Address(host)) => {
                is_port(port) && is_within(host.to_canonical(), *address, *bits)
            }
            _ => false,
        }
    }
}

const fn length(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

/// Whether two addresses have the same first bits.
fn is_within(address: IpAddr, network: IpAddr, bits: u8) -> bool {
    let shift = u32::from(length(network)) - u32::from(bits);
    match (address, network) {
        (IpAddr::V4(one), IpAddr::V4(other)) => {
            (one.to_bits() ^ other.to_bits()).checked_shr(shift).unwrap_or(0) == 0
        }
        (IpAddr::V6(one), IpAddr::V6(other)) => {
            (one.to_bits() ^ other.to_bits()).checked_shr(shift).unwrap_or(0) == 0
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_proxies_are_read() {
        for (url, expected) in [
            ("http://proxy.corp:3128", Some(("proxy.corp:3128", UpstreamKind::Http, None))),
            ("proxy.corp:3128", Some(("proxy.corp:3128", UpstreamKind::Http, None))),
            ("http://proxy.corp/", Some(("proxy.corp:80", UpstreamKind::Http, None))),
            (
                "HTTP://u:p%40%3A@10.0.0.1:8080/x",
                Some(("10.0.0.1:8080", UpstreamKind::Http, Some(("u", "p@:")))),
            ),
            ("socks5h://u@proxy.corp", Some(("proxy.corp:1080", UpstreamKind::Socks, Some(("u", ""))))),
            ("socks5://[2001:db8::1]:9", Some(("[2001:db8::1]:9", UpstreamKind::Socks, None))),
            ("https://proxy.corp", None),
            ("socks4://proxy.corp", None),
            ("http://", None),
            ("http://:p@proxy.corp", None),
            ("http://u%0d%0a:p@proxy.corp", None),
            ("", None),
        ] {
            let read = UpstreamProxy::parse(url).ok();
            let shown = read.as_ref().map(|proxy| (proxy.to_string(), proxy.kind, proxy.login()));
            let shown = shown.as_ref().map(|(host, kind, login)| (host.as_str(), *kind, *login));
            assert_eq!(shown, expected, "{url}");
        }
        let error = UpstreamProxy::parse("https://me:hunter22@proxy.corp").unwrap_err();
        assert!(!error.to_string().contains("hunter22"), "{error}");
        let proxy = UpstreamProxy::parse("http://me:hunter22@proxy.corp").unwrap();
        assert!(!format!("{proxy:?} {proxy}").contains("hunter22"));
        assert_eq!(*proxy.authorization(), "Proxy-Authorization: Basic bWU6aHVudGVyMjI=\r\n");
    }

    #[test]
    fn exceptions_are_those_of_other_programs() {
        let proxies = UpstreamProxies::through(UpstreamProxy::parse("http://p.corp:1").unwrap());
        let proxies = proxies
            .without("corp, .dev.test,*.z.test 10.0.0.0/8,2001:db8::/32,192.0.2.7,a.test:8080,,/,1/99");
        for (target, is_direct) in [
            ("corp:443", true),
            ("git.corp:443", true),
            ("notcorp:443", false),
            ("x.dev.test:443", true),
            ("dev.test:443", true),
            ("z.test:443", true),
            ("10.255.0.1:443", true),
            ("11.0.0.1:443", false),
            ("[2001:db8:1::1]:443", true),
            ("[2001:db9::1]:443", false),
            ("192.0.2.7:80", true),
            ("192.0.2.8:80", false),
            ("a.test:8080", true),
            ("a.test:80", false),
            ("localhost:80", true),
            ("web.localhost:443", true),
            ("127.9.9.9:80", true),
            ("example.com:443", false),
        ] {
            let proxy = proxies.proxy_for(&NetTarget::parse(target).unwrap());
            assert_eq!(proxy.is_none(), is_direct, "{target}");
        }
        let none = proxies.without("*");
        assert!(none.proxy_for(&NetTarget::parse("example.com:443").unwrap()).is_none());
        let all = UpstreamProxies::through(UpstreamProxy::parse("p:1").unwrap()).without("0.0.0.0/0");
        assert!(all.proxy_for(&NetTarget::parse("8.8.8.8:443").unwrap()).is_none());
    }

    #[test]
    fn variables_are_read_as_other_programs_read_them() {
        let read = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(one, _)| *one == name).map(|(_, text)| (*text).to_owned());
            let proxies = UpstreamProxies::from_variables(value)?;
            let by = |target: &str| {
                proxies
                    .proxy_for(&NetTarget::parse(target).unwrap())
                    .map_or("-".to_owned(), ToString::to_string)
            };
            Ok::<_, UpstreamError>(format!("{} {}", by("a.test:80"), by("a.test:443")))
        };
        for (set, expected) in [
            (&[][..], "- -"),
            (&[("HTTPS_PROXY", "http://p:1")], "- p:1"),
            (&[("HTTP_PROXY", "http://p:1")], "p:1 -"),
            (&[("http_proxy", "http://p:1")], "p:1 -"),
            (&[("ALL_PROXY", "socks5://p:1")], "p:1 p:1"),
            (&[("https_proxy", "http://p:1"), ("HTTPS_PROXY", "http://q:1")], "- p:1"),
            (&[("https_proxy", ""), ("ALL_PROXY", "http://q:1")], "q:1 q:1"),
            (&[("ALL_PROXY", "http://q:1"), ("NO_PROXY", "test")], "- -"),
            (&[("ALL_PROXY", "https://q:1"), ("NO_PROXY", "*")], "- -"),
        ] {
            assert_eq!(read(set).as_deref(), Ok(expected), "{set:?}");
        }
        let error = read(&[("HTTPS_PROXY", "https://u:hunter22@p:1")]).unwrap_err().to_string();
        assert!(error.starts_with("`HTTPS_PROXY`: ") && !error.contains("hunter22"), "{error}");
    }
}
