//! Bindings of secrets: name, source, host and place in the request.

use std::path::Path;
use std::time::Duration;

use stockade_names::obeyed_variable;

use super::conditions;
#[cfg(target_os = "linux")]
use super::login_bindings::UserLoginFile;
use super::path_glob::{self, PathGlob};
use super::target::{Host, NetTarget};

/// Maximum length of a binding.
const MAX_TEXT: usize = 4 << 10;

/// The default port of a host. By default no secret is sent over plain HTTP.
const TLS: u16 = 443;

/// The syntax of a binding.
const FORM: &str = "write `NAME=env:VARIABLE@api.example.com in header:Authorization`";

/// A secret of the user who starts commands, bound to a host and place.
///
/// `GITHUB_TOKEN=env:GITHUB_TOKEN@api.github.com:443/repos/** in header:Authorization in basic for=10m`: in the sandbox,
/// `GITHUB_TOKEN` is a useless placeholder of the same shape; in a request to this host, path and place, the proxy replaces it
/// with the secret. Sources are `env:VARIABLE`, `file:PATH`, `json:PATH#MEMBER.MEMBER`, `cmd:PROGRAM ARGUMENTS` and
/// `keyring:SERVICE/ACCOUNT`, in which `%40` is an `@`. Places are `header:NAME`, `basic`, `query:NAME`, `path`, `body` and
/// `sigv4`; `header:Authorization` and `basic` by default. With `mentioned`, the placeholder may occur in bodies to this host,
/// and is left unchanged there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretBinding {
    pub(super) name: String,
    pub(super) source: SecretSource,
    pub(super) host: BoundHost,
    pub(super) path: Option<(PathGlob, String)>,
    pub(super) places: Vec<SecretPlace>,
    /// The lifetime, from the start of the command.
    pub(super) lifetime: Option<Duration>,
    /// Whether it may be sent over plain HTTP.
    pub(super) is_plain: bool,
    /// Whether the placeholder may occur in bodies to its host, where it is left unchanged.
    pub(super) is_mentioned: bool,
}

/// The source of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SecretSource {
    Environment(String),
    File(String),
    /// A member of an object in a JSON file, such as that of a login.
    Json {
        path: String,
        members: Vec<String>,
    },
    Command(Vec<String>),
    /// A login in the login file of a tool.
    #[cfg(target_os = "linux")]
    Login {
        file: UserLoginFile,
        /// Whose it is in the file.
        of: String,
    },
    Keyring {
        service: String,
        account: String,
    },
}

/// The host of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct BoundHost {
    /// A host, or the suffix of all matching names, which begins with a dot.
    pub(super) host: BoundName,
    pub(super) port: u16,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum BoundName {
    One(Host),
    Below(String),
}

/// The place in a request where a secret belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum SecretPlace {
    /// The value of a header, alone or after a word such as `Bearer`. The name is in lower case.
    Header(String),
    /// The user or password of `Authorization: Basic`.
    Basic,
    /// The value of this name in the query.
    Query(String),
    Path,
    Body,
    /// The key that signs a request.
    SigV4,
}

/// An invalid binding, or an unreadable secret. It never contains a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the secret `{}` {why}", name.escape_debug())]
#[non_exhaustive]
pub struct SecretError {
    /// The name, or the beginning of the text.
    pub name: String,
    /// The reason.
    pub why: String,
    /// The fix.
    pub fix: String,
}

impl SecretError {
    /// Returns the error for a secret that is not provided, with the fix.
    pub fn new(name: &str, why: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name: name.to_owned(), why: why.into(), fix: fix.into() }
    }
}

impl SecretBinding {
    /// Parses a binding.
    ///
    /// # Errors
    /// When it is invalid.
    pub fn read(text: &str) -> Result<Self, SecretError> {
        let (name, rest) = text.split_once('=').unwrap_or((text, ""));
        if text.len() > MAX_TEXT || !is_variable(name) {
            // A user who forgets the name may have written the secret first, so the text is not repeated.
            return Err(SecretError::new("?", "has no valid name", FORM));
        }
        let wrong = |why: &str, fix: &str| SecretError::new(name, why, fix);
        // The project's configuration may contain bindings. With `LD_PRELOAD`, a secret from a file would become a
        // path of code.
        if let Some(changes) = obeyed_variable(name) {
            let why = format!("would be in a variable that changes how programs behave: it {changes}");
            return Err(wrong(&why, "choose another name, such as `API_TOKEN`"));
        }
        // The first `@`: a source is a path or a command that the user writes, and can escape its own `@` as `%40`.
        let Some((source, to)) = rest.split_once('@') else {
            return Err(wrong("has no host", FORM));
        };
        if to.contains('@') {
            let fix = "write `%40` for the one that does not precede the host";
            return Err(wrong("has more than one `@`", fix));
        }
        let mut words = to.split(' ').filter(|word| !word.is_empty());
        let (host, path) = destination(name, words.next().unwrap_or_default())?;
        let source = SecretSource::read(name, &source.replace("%40", "@"))?;
        let mut binding = Self {
            name: name.to_owned(),
            source,
            host,
            path,
            places: Vec::new(),
            lifetime: None,
            is_plain: false,
            is_mentioned: false,
        };
        while let Some(word) = words.next() {
            binding.add(word, &mut words)?;
        }
        if binding.places.is_empty() {
            // The only places that APIs commonly use and that servers and proxies keep out of their logs.
            binding.places = vec![SecretPlace::Header("authorization".to_owned()), SecretPlace::Basic];
        }
        binding.contradiction().map_or(Ok(binding), Err)
    }

    /// Returns the variable with the placeholder in the sandbox.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the login file of a tool that contains it, if it is in one. The command gets its placeholder in a copy of that
    /// file, and not in a variable.
    #[cfg(target_os = "linux")]
    pub(super) fn login_file(&self) -> Option<&UserLoginFile> {
        match &self.source {
            SecretSource::Login { file, .. } => Some(file),
            _ => None,
        }
    }

    /// Returns the source file, if it is one.
    pub(super) fn read_from_file(&self) -> Option<&Path> {
        match &self.source {
            SecretSource::File(path) | SecretSource::Json { path, .. } => Some(Path::new(path)),
            #[cfg(target_os = "linux")]
            SecretSource::Login { file, .. } => Some(file.path()),
            _ => None,
        }
    }

    fn add<'w>(&mut self, word: &str, rest: &mut impl Iterator<Item = &'w str>) -> Result<(), SecretError> {
        let wrong = |why: String, fix: &str| Err(SecretError::new(&self.name, why, fix));
        match word.split_once('=').unwrap_or((word, "")) {
            ("in", "") => match rest.next().and_then(SecretPlace::read) {
                Some(place) if !self.places.contains(&place) => {
                    self.places.push(place);
                    Ok(())
                }
                Some(_) => wrong("has the same place twice".to_owned(), "remove one of them"),
                None => wrong("has no place after `in`".to_owned(), PLACES),
            },
            ("for", time) if self.lifetime.is_none() => match conditions::duration(time) {
                Some(time) => {
                    self.lifetime = Some(time);
                    Ok(())
                }
                None => {
                    wrong(format!("has an invalid time limit: `{}`", time.escape_debug()), "write `for=10m`")
                }
            },
            ("plain", "") if !self.is_plain => {
                self.is_plain = true;
                Ok(())
            }
            ("mentioned", "") if !self.is_mentioned => {
                self.is_mentioned = true;
                Ok(())
            }
            _ => {
                let fix = "write `in` and a place, `for=10m`, `plain` where it may go over plain HTTP, or `mentioned` where \
                           its placeholder may occur in bodies";
                wrong(format!("is followed by the unknown word `{}`", word.escape_debug()), fix)
            }
        }
    }

    /// Returns a contradiction in the binding.
    fn contradiction(&self) -> Option<SecretError> {
        let wrong = |why: &str, fix: &str| Some(SecretError::new(&self.name, why, fix));
        let is_signed = self.places.contains(&SecretPlace::SigV4);
        if is_signed && self.places.len() > 1 {
            return wrong(
                "is used for signing and sent as well",
                "write only `in sigv4`: a signing key is never sent",
            );
        }
        if self.is_mentioned && self.places.contains(&SecretPlace::Body) {
            return wrong(
                "has both `mentioned`, which leaves placeholders in bodies, and `in body`, which replaces them",
                "remove `mentioned`, or `in body`",
            );
        }
        // A subdomain can belong to another customer of a hosting service, who would receive the secret.
        if !is_signed && matches!(self.host.host, BoundName::Below(_)) {
            let fix =
                "write the full host name; `*.` is only for signing keys (`in sigv4`), which are never sent";
            return wrong("would be sent to every subdomain", fix);
        }
        None
    }
}

/// The advice for an unknown place.
const PLACES: &str = "write `header:Authorization`, `basic`, `query:NAME`, `path`, `body` or `sigv4`";

impl SecretPlace {
    fn read(word: &str) -> Option<Self> {
        match word.split_once(':') {
            None => match word {
                "basic" => Some(Self::Basic),
                "path" => Some(Self::Path),
                "body" => Some(Self::Body),
                "sigv4" => Some(Self::SigV4),
                _ => None,
            },
            Some(("header", name)) => {
                let name = name.to_ascii_lowercase();
                let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
                let is_name = !name.is_empty() && name.bytes().all(is_letter);
                // A secret in such a header would change where the request goes or how its body is framed.
                (is_name && !NOT_ITS_OWN.contains(&name.as_str())).then_some(Self::Header(name))
            }
            Some(("query", name)) => {
                let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
                (!name.is_empty() && name.bytes().all(is_plain)).then(|| Self::Query(name.to_owned()))
            }
            Some(_) => None,
        }
    }

    /// Formats the place in words.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Header(name) => format!("the header `{name}`"),
            Self::Basic => "the user or password of `Authorization: Basic`".to_owned(),
            Self::Query(name) => format!("`{name}` of the query"),
            Self::Path => "the path".to_owned(),
            Self::Body => "the body".to_owned(),
            Self::SigV4 => "the signature (AWS SigV4)".to_owned(),
        }
    }
}

/// Headers that control the sending of a request, and cannot contain a secret.
const NOT_ITS_OWN: &[&str] = &[
    "host",
    "connection",
    "content-length",
    "transfer-encoding",
    "content-encoding",
    "accept-encoding",
    "upgrade",
    "te",
    "trailer",
    "expect",
    "proxy-authorization",
];

/// Parses `HOST[:PORT][/path]`.
fn destination(name: &str, text: &str) -> Result<(BoundHost, Option<(PathGlob, String)>), SecretError> {
    let wrong = |why: String, fix: &str| SecretError::new(name, why, fix);
    if text.contains("://") {
        let fix = "write only the host; TLS is used unless `plain` is set";
        return Err(wrong("has a scheme before its host".to_owned(), fix));
    }
    let at = text.find('/').unwrap_or(text.len());
    let (host, path) = text.split_at_checked(at).unwrap_or((text, ""));
    let (host, is_below) = host.strip_prefix("*.").map_or((host, false), |host| (host, true));
    let target = NetTarget::parse(host).map_err(|refused| {
        let fix = refused.fix.clone().unwrap_or_else(|| "write a host, optionally with a port".to_owned());
        SecretError::new(name, format!("has an invalid host: {refused}"), fix)
    })?;
    let path = match path {
        "" => None,
        path => {
            let glob = PathGlob::read(path)
                .map_err(|(why, fix)| wrong(format!("has an invalid path: {why}"), fix))?;
            Some((glob, path.to_owned()))
        }
    };
    let bound = match (target.host, is_below) {
        (host, false) => BoundName::One(host),
        (Host::Name(end), true) if end.contains('.') => BoundName::Below(format!(".{end}")),
        (_, true) => {
            let fix = "write at least two parts: `*.example.com`";
            return Err(wrong("would be sent to a whole top-level domain".to_owned(), fix));
        }
    };
    Ok((BoundHost { host: bound, port: target.port.unwrap_or(TLS) }, path))
}

impl BoundHost {
    /// Returns whether it matches a target.
    pub(super) fn holds(&self, target: &NetTarget) -> bool {
        target.port == Some(self.port) && self.is_about(&target.host)
    }

    fn is_about(&self, host: &Host) -> bool {
        match (&self.host, host) {
            (BoundName::One(one), host) => one == host,
            (BoundName::Below(end), Host::Name(name)) => name.ends_with(end.as_str()),
            (BoundName::Below(_), Host::Address(_)) => false,
        }
    }

    /// Returns whether both match some common host.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.port == other.port && self.host.overlaps(&other.host)
    }

    pub(super) fn written(&self) -> String {
        let host = match &self.host {
            BoundName::One(Host::Address(std::net::IpAddr::V6(six))) => format!("[{six}]"),
            BoundName::One(host) => host.to_string(),
            BoundName::Below(end) => format!("*{end}"),
        };
        format!("{host}:{}", self.port)
    }
}

impl BoundName {
    /// Returns whether both match some common host.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        let below = |end: &str, other: &Self| match other {
            Self::One(Host::Name(name)) => name.ends_with(end),
            Self::One(Host::Address(_)) => false,
            Self::Below(other) => other.ends_with(end) || end.ends_with(other.as_str()),
        };
        match (self, other) {
            (Self::One(one), Self::One(other)) => one == other,
            (Self::Below(end), other) | (other, Self::Below(end)) => below(end, other),
        }
    }

    /// Returns whether it matches everything that the other one matches.
    pub(super) fn covers(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::One(one), Self::One(other)) => one == other,
            (Self::One(_), Self::Below(_)) | (Self::Below(_), Self::One(Host::Address(_))) => false,
            (Self::Below(end), Self::One(Host::Name(other)) | Self::Below(other)) => {
                other.ends_with(end.as_str())
            }
        }
    }
}

impl SecretBinding {
    /// Returns whether it matches a path; nothing if the path is ambiguous.
    pub(super) fn holds_path(&self, path: &str) -> Option<bool> {
        match &self.path {
            None => Some(true),
            Some((glob, _)) => path_glob::plain(path).map(|plain| glob.matches(&plain)),
        }
    }

    /// Formats the host and places.
    #[must_use]
    pub fn destination(&self) -> String {
        let path = self.path.as_ref().map(|(_, written)| written.as_str()).unwrap_or_default();
        let places: Vec<_> = self.places.iter().map(SecretPlace::words).collect();
        format!("{}{path} in {}", self.host.written(), places.join(" or "))
    }
}

impl SecretSource {
    fn read(name: &str, text: &str) -> Result<Self, SecretError> {
        let wrong = |why: &str| {
            let fix = "write `env:VARIABLE`, `file:/absolute/path`, `json:/absolute/path#member.member`, `cmd:PROGRAM ARGUMENTS` or \
                       `keyring:SERVICE/ACCOUNT` before the `@`";
            Err(SecretError::new(name, why, fix))
        };
        let Some((kind, what)) = text.split_once(':') else { return wrong("has no source") };
        match kind {
            "env" if is_variable(what) => Ok(Self::Environment(what.to_owned())),
            "file" if what.starts_with('/') => Ok(Self::File(what.to_owned())),
            "json" if what.starts_with('/') => match what.rsplit_once('#') {
                Some((path, members)) if members.split('.').all(|member| !member.is_empty()) => {
                    let members = members.split('.').map(str::to_owned).collect();
                    Ok(Self::Json { path: path.to_owned(), members })
                }
                _ => wrong("has a JSON file without a member"),
            },
            "file" | "json" => wrong("has a relative path"),
            "cmd" => {
                let words: Vec<_> =
                    what.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
                match words.first() {
                    Some(_) => Ok(Self::Command(words)),
                    None => wrong("has no command"),
                }
            }
            "keyring" => match what.split_once('/') {
                Some((service, account)) if !service.is_empty() && !account.is_empty() => {
                    Ok(Self::Keyring { service: service.to_owned(), account: account.to_owned() })
                }
                _ => wrong("has no keyring entry"),
            },
            _ => wrong("has an unknown source"),
        }
    }
}

fn is_variable(name: &str) -> bool {
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    name.bytes().all(is_letter) && name.bytes().next().is_some_and(|byte| !byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bindings_are_read() {
        for (text, to) in [
            (
                "T=env:T@api.example.com",
                "api.example.com:443 in the header `authorization` or the user or password of `Authorization: Basic`",
            ),
            (
                "T=file:/run/t@api.example.com:8443/v1/** in header:X-Api-Key",
                "api.example.com:8443/v1/** in the header `x-api-key`",
            ),
            (
                "T=cmd:op read a%40b@api.example.com in query:key for=10m",
                "api.example.com:443 in `key` of the query",
            ),
            (
                "T=keyring:gh/me@127.0.0.1:8080 in path in body plain",
                "127.0.0.1:8080 in the path or the body",
            ),
            (
                "AWS_SECRET_ACCESS_KEY=env:K@*.amazonaws.com in sigv4",
                "*.amazonaws.com:443 in the signature (AWS SigV4)",
            ),
            (
                "T=json:/a#b/x#c.d@a.example in header:X-Api-Key mentioned",
                "a.example:443 in the header `x-api-key`",
            ),
            (
                "T=env:T@[::1]:80",
                "[::1]:80 in the header `authorization` or the user or password of `Authorization: Basic`",
            ),
        ] {
            let binding = SecretBinding::read(text).unwrap();
            assert_eq!(binding.destination(), to, "{text}");
        }
        let binding = SecretBinding::read("T=cmd:op read a%40b@a.example for=10m").unwrap();
        assert_eq!(binding.source, SecretSource::Command(["op", "read", "a@b"].map(str::to_owned).to_vec()));
        assert_eq!(binding.lifetime, Some(Duration::from_secs(600)));
    }

    #[test]
    fn an_invalid_binding_is_refused_with_a_fix() {
        for (text, why) in [
            ("", "no valid name"),
            ("ghp_secret", "has no host"),
            ("1T=env:T@a.example", "no valid name"),
            ("T=env:T", "has no host"),
            ("T=T@a.example", "has no source"),
            ("T=vault:T@a.example", "unknown source"),
            ("T=env:@a.example", "unknown source"),
            ("T=file:t@a.example", "a relative path"),
            ("T=json:t#a@a.example", "a relative path"),
            ("T=json:/t@a.example", "without a member"),
            ("T=json:/t#a..b@a.example", "without a member"),
            ("T=json:/t#@a.example", "without a member"),
            ("T=env:T@a.example in body mentioned", "which replaces them"),
            ("T=env:T@a.example mentioned mentioned", "the unknown word"),
            ("T=cmd: @a.example", "no command"),
            ("T=keyring:x@a.example", "no keyring entry"),
            ("T=env:T@", "an invalid host"),
            ("T=env:T@https://a.example", "a scheme before its host"),
            ("T=env:T@a.example:0", "an invalid host"),
            ("T=env:T@me@a.example", "more than one `@`"),
            ("T=env:T@a.example/../x", "ambiguous"),
            ("T=env:T@*.example.com", "every subdomain"),
            ("T=env:T@*.com in sigv4", "top-level domain"),
            ("T=env:T@a.example in", "no place"),
            ("T=env:T@a.example in cookie", "no place"),
            ("T=env:T@a.example in header:Host", "no place"),
            ("T=env:T@a.example in header:a b", "the unknown word"),
            ("T=env:T@a.example in basic in basic", "has the same place twice"),
            ("T=env:T@a.example in basic in sigv4", "used for signing and sent"),
            ("T=env:T@a.example for=1y", "an invalid time limit"),
            ("T=env:T@a.example for=1m for=2m", "the unknown word"),
            ("T=env:T@a.example often", "the unknown word"),
            ("LD_PRELOAD=env:T@a.example", "loads code into every program"),
            ("PATH=env:T@a.example", "which program or library a name resolves to"),
            ("SSL_CERT_FILE=env:T@a.example", "authorities that programs trust"),
            ("NODE_EXTRA_CA_CERTS=env:T@a.example", "authorities that programs trust"),
            ("https_proxy=env:T@a.example", "how programs behave"),
        ] {
            let error = SecretBinding::read(text).unwrap_err();
            assert!(error.to_string().contains(why), "{text}: {error}");
            assert!(!error.fix.is_empty(), "{text}");
        }
        // Without name and source, the whole text is the secret.
        let error = SecretBinding::read("ghp_sec-ret=@a.example").unwrap_err();
        assert!(!format!("{error:?}").contains("sec-ret"), "{error:?}");
    }

    #[test]
    fn hosts_that_overlap() {
        let host = |text: &str| destination("T", text).unwrap().0;
        for (one, other, expected) in [
            ("a.example", "a.example", true),
            ("a.example", "A.example.:443", true),
            ("a.example", "a.example:80", false),
            ("a.example", "b.example", false),
            ("*.b.example", "a.b.example", true),
            ("*.b.example", "b.example", false),
            ("*.b.example", "*.a.b.example", true),
            ("*.b.example", "*.c.example", false),
        ] {
            assert_eq!(host(one).overlaps(&host(other)), expected, "{one} {other}");
            assert_eq!(host(other).overlaps(&host(one)), expected, "{other} {one}");
        }
    }
}
