//! A parsed target: a host with an optional port. Only unambiguous texts are accepted.

use std::borrow::Cow;
use std::fmt;
use std::net::{IpAddr, Ipv6Addr};

use unicode_normalization::UnicodeNormalization as _;

use super::address::inner;
use super::{ipv4_spelling, punycode};

/// Maximum length of a text.
const MAX_TEXT: usize = 8 << 10;
/// Maximum length of a name, and of a label (RFC 1035).
const MAX_NAME: usize = 253;
const MAX_LABEL: usize = 63;

/// Default ports of schemes.
const SCHEMES: &[(&str, u16)] =
    &[("http", 80), ("https", 443), ("ws", 80), ("wss", 443), ("ftp", 21), ("ssh", 22), ("git", 9418)];

/// A host with an optional port.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NetTarget {
    /// The host.
    pub host: Host,
    /// The port, if specified or implied by the scheme.
    pub port: Option<u16>,
    /// The name in Unicode, if its encoded form differs, and whether its letters look like Latin ones.
    pub shown: Option<(String, bool)>,
}

/// A host, in canonical form.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Host {
    /// A name, in lower-case ASCII and without a trailing dot.
    Name(String),
    /// An IPv4 or IPv6 address.
    Address(IpAddr),
}

/// Why a text is not a valid target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
#[non_exhaustive]
pub struct NetRefused {
    /// The rule: `disguised-address` or `no-host`.
    pub rule: &'static str,
    /// The reason, in a sentence.
    pub reason: String,
    /// The unambiguous form, if there is one.
    pub fix: Option<String>,
}

impl NetTarget {
    /// Parses a host, a host with a port, or a URL.
    ///
    /// # Errors
    /// When it contains no host, or is ambiguous.
    pub fn parse(text: &str) -> Result<Self, NetRefused> {
        // Normalisation below takes time and memory per character.
        if text.len() > MAX_TEXT {
            return Err(no_host(format!("it is longer than {MAX_TEXT} bytes")));
        }
        // Browsers read `\` as `/` (WHATWG URL), other programs as part of the host. Control characters end or split
        // headers and logs.
        if let Some(c) = text.chars().find(|c| c.is_control() || c.is_whitespace() || *c == '\\') {
            return Err(no_host(format!("it contains {c:?}, which programs parse differently")));
        }
        let (authority, scheme_port) = authority(text);
        // Parsers disagree about which part of an authority with an `@` is the host: what precedes it, or what follows the last.
        let authority = match authority.rsplit_once('@') {
            Some((user, _)) if user.contains('@') => {
                return Err(no_host("it contains more than one `@`, so programs find different hosts in it"));
            }
            Some((_, host)) => host,
            None => authority,
        };
        let (host, port) = split_port(authority)?;
        let port = port.or(scheme_port);
        if let Some(inside) = host.strip_prefix('[') {
            let inside = inside.strip_suffix(']').ok_or_else(|| no_host("a `[` is never closed"))?;
            return Ok(Self { host: six(inside)?, port, shown: None });
        }
        // An address without brackets is accepted where a person writes one, such as in a list. It cannot have a
        // port.
        if host.contains(':') {
            return Ok(Self { host: six(host)?, port, shown: None });
        }
        let (host, shown) = name(host)?;
        Ok(Self { host, port, shown })
    }
}

/// The authority of a URL, and the default port of its scheme.
fn authority(text: &str) -> (&str, Option<u16>) {
    let (scheme, rest) = match text.split_once("://") {
        Some((scheme, rest)) => (Some(scheme), rest),
        None => (None, text.strip_prefix("//").unwrap_or(text)),
    };
    // Before searching for `@` and `:`, which may occur in a path or query.
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let (authority, _) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let port =
        SCHEMES.iter().find(|(name, _)| scheme.is_some_and(|scheme| scheme.eq_ignore_ascii_case(name)));
    (authority, port.map(|(_, port)| *port))
}

/// A colon may also belong to an address without brackets, which has no port then.
fn split_port(authority: &str) -> Result<(&str, Option<u16>), NetRefused> {
    let in_brackets = authority.starts_with('[');
    let Some((host, port)) = authority.rsplit_once(':') else { return Ok((authority, None)) };
    // In `[::1]` and `::1`, the last colon belongs to the address.
    if (in_brackets && !host.ends_with(']')) || (!in_brackets && host.contains(':')) {
        return Ok((authority, None));
    }
    let digits = !port.is_empty() && port.len() <= 5 && port.bytes().all(|byte| byte.is_ascii_digit());
    // `parse` would accept `+443`. Port 0 lets the kernel choose a port.
    let number = port.parse::<u16>().ok().filter(|number| digits && *number > 0);
    number
        .map(|number| (host, Some(number)))
        .ok_or_else(|| no_host(format!("`{}` is not a port", port.escape_debug())))
}

fn six(text: &str) -> Result<Host, NetRefused> {
    if text.contains('%') {
        return Err(no_host("an address with a zone is link-local, which is never allowed"));
    }
    let address: Ipv6Addr =
        text.parse().map_err(|_| no_host(format!("`{}` is not an address", text.escape_debug())))?;
    let address = IpAddr::V6(address);
    match inner(address) {
        // `::ffff:127.0.0.1`, NAT64 and 6to4 reach an IPv4 address that the checks of IPv6 addresses would not
        // recognise.
        Some(four) => Err(NetRefused {
            rule: "disguised-address",
            reason: format!("`{address}` contains the address {four}"),
            fix: Some(format!("write it as `{four}`")),
        }),
        None => Ok(Host::Address(address)),
    }
}

/// Parses a name or an IPv4 address, and returns the Unicode form of the name if it differs.
fn name(text: &str) -> Result<(Host, Option<(String, bool)>), NetRefused> {
    if text.contains('%') {
        return Err(no_host("it contains a `%`, which only some programs decode"));
    }
    let plain = folded(text)?;
    // A final dot marks a fully qualified name; it is the same name.
    // `example.com.` would otherwise evade an entry for `example.com`.
    let plain = plain.strip_suffix('.').unwrap_or(&plain);
    // `inet_aton` reads `0x7f.1`, `2130706433` and `0177.0.0.1` as 127.0.0.1, and other parsers read them as names.
    if ipv4_spelling::looks_like_one(plain) {
        return address(text, plain);
    }
    let mut labels = Vec::new();
    for label in plain.split('.') {
        labels.push(on_the_wire(label)?);
    }
    let wire = labels.join(".");
    if wire.len() > MAX_NAME {
        return Err(no_host(format!("a name has at most {MAX_NAME} characters")));
    }
    let shown: Vec<Cow<'_, str>> = labels.iter().map(|label| readable(label)).collect();
    let shown = shown.join(".");
    let shown = (shown != wire).then(|| {
        let passes = is_look_alike(&shown);
        (shown, passes)
    });
    Ok((Host::Name(wire), shown))
}

/// Letters in their plain form and in lower case, as programs compare names: `ＬＯＣＡＬＨＯＳＴ` is `localhost`.
fn folded(text: &str) -> Result<Cow<'_, str>, NetRefused> {
    if text.is_ascii() {
        return Ok(match text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            true => Cow::Owned(text.to_ascii_lowercase()),
            false => Cow::Borrowed(text),
        });
    }
    // Twice, because lower-casing can produce characters that are not in normal form.
    let lower: String = text.nfkc().flat_map(char::to_lowercase).nfkc().collect();
    // Full stops of other scripts separate labels as well.
    let lower = lower.replace(['\u{3002}', '\u{ff61}'], ".");
    // Accepting it would make `ｌｏｃａｌｈｏｓｔ` a second spelling of a name, past filters that compare the text.
    if lower.is_ascii() {
        let fix = Some(format!("write it as `{}`", lower.escape_debug()));
        let reason = format!("it is `{}` in a spelling that hides it", lower.escape_debug());
        return Err(NetRefused { rule: "disguised-address", reason, fix });
    }
    match lower.chars().find(|c| !c.is_ascii() && !c.is_alphanumeric()) {
        Some(c) => Err(no_host(format!("it contains {c:?}, which is invalid in host names"))),
        None => Ok(Cow::Owned(lower)),
    }
}

fn address(text: &str, plain: &str) -> Result<(Host, Option<(String, bool)>), NetRefused> {
    let Some(address) = ipv4_spelling::read(plain) else {
        return Err(no_host(
            "it ends in a number, and is not an address; programs parse such names differently",
        ));
    };
    if text == address.to_string() {
        return Ok((Host::Address(address.into()), None));
    }
    Err(NetRefused {
        rule: "disguised-address",
        reason: format!(
            "it is an unusual notation of the address {address}, which programs parse differently"
        ),
        fix: Some(format!("write it as `{address}`")),
    })
}

/// Returns the encoded form of a label.
fn on_the_wire(label: &str) -> Result<String, NetRefused> {
    let wrong = |why: &str| no_host(format!("`{}` is not a valid label: {why}", label.escape_debug()));
    if label.is_empty() {
        return Err(no_host("a label is empty"));
    }
    // Longer labels are rejected before they are encoded.
    if label.len() > 4 * MAX_LABEL {
        return Err(wrong("it is too long"));
    }
    let wire = match label.is_ascii() {
        true => label.to_owned(),
        false => {
            format!("xn--{}", punycode::encode(label).ok_or_else(|| wrong("it cannot be encoded"))?)
        }
    };
    if wire.len() > MAX_LABEL {
        return Err(wrong("it is too long"));
    }
    // An IDN library that decodes and encodes the label again asks for another host than the one that was checked.
    if label.strip_prefix("xn--").is_some_and(stands_for_another_form) {
        return Err(wrong("it decodes to characters that cannot be registered, such as capitals"));
    }
    // Underscores are not valid in host names, but service names such as `_dmarc` and some buckets have them.
    let is_known = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"-_".contains(&byte);
    if !wire.bytes().all(is_known) {
        return Err(wrong("it contains a character that is invalid in host names"));
    }
    match wire.starts_with('-') || wire.ends_with('-') {
        true => Err(wrong("it starts or ends with `-`, so it could be parsed as an option")),
        false => Ok(wire),
    }
}

/// Whether an encoded label decodes to text that would be encoded differently (UTS 46 calls it invalid): a program that decodes
/// it and encodes what it shows asks for another host.
fn stands_for_another_form(encoded: &str) -> bool {
    let Some(decoded) = punycode::decode(encoded) else { return false };
    let differs = match folded(&decoded) {
        Ok(plain) => plain != decoded,
        // Characters that no name can contain cannot disguise anything; full-width letters and digits can.
        Err(refused) => refused.rule == "disguised-address",
    };
    differs || punycode::encode(&decoded).is_none_or(|again| again != encoded)
}

/// Decodes a label for display; an invalid one is shown unchanged.
fn readable(label: &str) -> Cow<'_, str> {
    match label.strip_prefix("xn--").and_then(punycode::decode) {
        Some(decoded) => Cow::Owned(decoded),
        None => Cow::Borrowed(label),
    }
}

/// Whether letters of another script look like Latin ones.
fn is_look_alike(name: &str) -> bool {
    stockade_text::poses_as_latin(name)
}

fn no_host(reason: impl Into<String>) -> NetRefused {
    NetRefused { rule: "no-host", reason: reason.into(), fix: None }
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => f.write_str(name),
            Self::Address(IpAddr::V6(address)) => write!(f, "[{address}]"),
            Self::Address(address) => address.fmt(f),
        }
    }
}

impl fmt::Display for NetTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => self.host.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports_are_found() {
        for (text, expected) in [
            ("example.com", "example.com"),
            ("Example.COM.", "example.com"),
            ("example.com:8080", "example.com:8080"),
            ("https://example.com/a:b?c=d@e#f", "example.com:443"),
            ("HTTP://user:secret@example.com:81/", "example.com:81"),
            ("//example.com/x", "example.com"),
            ("//example.com:443", "example.com:443"),
            ("ssh://git@example.com", "example.com:22"),
            ("gopher://example.com", "example.com"),
            ("1.2.3.4:53", "1.2.3.4:53"),
            ("[2606:4700::1111]:443", "[2606:4700::1111]:443"),
            ("2606:4700::1111", "[2606:4700::1111]"),
            ("https://[2606:4700:0:0::1111]", "[2606:4700::1111]:443"),
            ("bücher.example", "xn--bcher-kva.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("a_b.example", "a_b.example"),
        ] {
            let target = NetTarget::parse(text).map(|target| target.to_string());
            assert_eq!(target.as_deref(), Ok(expected), "{text}");
        }
    }

    /// Text that one program parses as a name, another as an address, or that no program can parse.
    #[test]
    fn what_can_be_read_in_two_ways_is_refused() {
        for (rule, texts) in [
            (
                "disguised-address",
                &[
                    "2130706433",
                    "0x7f000001",
                    "0177.0.0.1",
                    "127.1",
                    "127.0.0.01",
                    "127.0.0.1.",
                    "[::ffff:127.0.0.1]",
                    "[::7f00:1]",
                    "[64:ff9b::a9fe:a9fe]",
                    "[2002:7f00:1::]",
                    "１２７.0.0.1",
                    "127。0。0。1",
                    "ｌｏｃａｌｈｏｓｔ",
                    "ⓔxample.com",
                    "example\u{3002}com",
                    "K\u{212a}.com",
                ][..],
            ),
            (
                "no-host",
                &[
                    "",
                    ".",
                    "a..b",
                    "..",
                    "http://",
                    "http:///path",
                    "exa mple.com",
                    "example.com\n",
                    "a\u{0}b",
                    "a\\b",
                    "http://a@b@c/",
                    "%31%32%37.0.0.1",
                    "256.1.1.1",
                    "1.2.3.4.5",
                    "example.99",
                    "a.0x",
                    "-rf",
                    "a-.com",
                    "[::1",
                    "[fe80::1%25eth0]",
                    "fe80::1%eth0",
                    "[1.2.3.4]",
                    "example.com:",
                    "example.com:0",
                    "example.com:65536",
                    "example.com:+80",
                    "a,b.com",
                    "a;b",
                    "$(id).com",
                    "a\u{200d}b.com",
                    "☃.net",
                    // A capital letter within, and the sign for 10 as one character.
                    "xn--pypal-2ve.com",
                    "xn--xrh.com",
                ],
            ),
        ] {
            for text in texts {
                let refused = NetTarget::parse(text).unwrap_err();
                assert_eq!(refused.rule, rule, "{text:?}: {refused}");
                assert_eq!(refused.fix.is_some(), rule == "disguised-address", "{text:?}: {refused:?}");
            }
        }
        for long in
            [format!("{}.com", "a".repeat(64)), "a.".repeat(200), "ä".repeat(5000), "a".repeat(MAX_TEXT + 1)]
        {
            assert_eq!(NetTarget::parse(&long).unwrap_err().rule, "no-host");
        }
    }
}
