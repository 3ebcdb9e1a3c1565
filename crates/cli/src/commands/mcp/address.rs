//! Address of a remote MCP server: which parts may be on a command line, and the bridge that connects to it in the sandbox.
#![expect(clippy::disallowed_methods, reason = "looks up the path of this program")]

use std::env;
use std::ffi::OsString;

use stockade_credentials::is_credential_header;
use stockade_guard::audit::Redactor;
use ureq::http::Uri;

use super::bridge::{Part, parts, split};
use crate::failure::Failure;
use stockade_harness::mcp_servers::is_server_name;

/// Headers that are set for each message.
const MADE: &[&str] = &[
    "host",
    "origin",
    "content-length",
    "content-type",
    "transfer-encoding",
    "connection",
    "accept",
    "last-event-id",
];

/// A remote MCP server.
#[derive(Debug)]
pub(super) struct Address {
    url: String,
    /// Host and port, as an entry of a host list.
    host: String,
    /// Default name of the server in rules.
    name: Option<String>,
    headers: Vec<String>,
}

impl Address {
    /// Parses an address and its headers, which may refer to secrets but not contain any.
    pub(super) fn read(url: &str, headers: &[String], secrets: &[String]) -> Result<Self, Failure> {
        let uri: Uri = url.parse().map_err(|error| Failure::usage(format_args!("invalid --url: {error}")))?;
        let usage = |what: &str, help: &str| Failure::usage(what).with_help(help);
        let host = uri.host().filter(|host| !host.is_empty());
        let host = host.ok_or_else(|| usage("--url has no host", "write a full URL: https://HOST/PATH"))?;
        let is_here = matches!(host, "localhost" | "127.0.0.1" | "[::1]");
        let port = match uri.scheme_str() {
            Some("https") => 443,
            Some("http") if is_here => 80,
            Some("http") => {
                let help = "use https; http is only for servers on this machine";
                return Err(usage("--url would send everything unencrypted", help));
            }
            _ => {
                return Err(usage(
                    "--url must be an https or http URL",
                    "write a full URL: https://HOST/PATH",
                ));
            }
        };
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        if has_user || Redactor::default().redact(url) != url {
            let help = "use --secret 'NAME=SOURCE@HOST in query:KEY', or a header";
            return Err(usage(
                "--url contains a credential, which all users of this machine could read",
                help,
            ));
        }
        let names: Vec<&str> = secrets.iter().filter_map(|one| Some(one.split_once('=')?.0)).collect();
        headers.iter().try_for_each(|header| check(header, &names))?;
        // Default place of the token: MCP servers expect it in this header.
        let bearer = names.first().filter(|_| headers.is_empty());
        let bearer = bearer.map(|name| format!("Authorization: Bearer ${name}"));
        Ok(Self {
            url: url.to_owned(),
            host: format!("{host}:{}", uri.port_u16().unwrap_or(port)),
            name: Some(host.replace(['.', '[', ']', ':'], "-")).filter(|name| is_server_name(name)),
            headers: headers.iter().cloned().chain(bearer).collect(),
        })
    }

    pub(super) fn name(&self) -> Option<String> {
        self.name.clone()
    }

    /// Returns the only host that the bridge may connect to.
    pub(super) fn host(&self) -> &str {
        &self.host
    }

    /// Returns the id of the server in pins and records.
    pub(super) fn words(&self) -> Vec<String> {
        let headers = self.headers.iter().flat_map(|header| ["--header".to_owned(), header.clone()]);
        ["--url".to_owned(), self.url.clone()].into_iter().chain(headers).collect()
    }

    /// Returns the command line of the bridge.
    pub(super) fn command(&self) -> Result<Vec<OsString>, Failure> {
        let own = env::current_exe().map_err(|error| {
            Failure::incomplete(format_args!("cannot find the path of this program: {error}"))
        })?;
        let mut words: Vec<OsString> = vec![own.into(), "mcp".into(), "bridge".into()];
        words.extend(self.headers.iter().map(|header| format!("--header={header}").into()));
        words.push("--".into());
        words.push(self.url.clone().into());
        Ok(words)
    }
}

fn check(header: &str, secrets: &[&str]) -> Result<(), Failure> {
    let usage = |what: String, help: &str| Err(Failure::usage(what).with_help(help));
    let Some((name, value)) = split(header) else {
        return usage("invalid --header".to_owned(), "write it as 'NAME: VALUE', in ASCII");
    };
    let lower = name.to_ascii_lowercase();
    if MADE.contains(&lower.as_str()) || lower.starts_with("mcp-") {
        return usage(format!("the header `{name}` is set automatically"), "omit it");
    }
    let parts = parts(value);
    for part in &parts {
        if let Part::Variable(variable) = part
            && !secrets.contains(variable)
        {
            return usage(
                format!("the header `{name}` refers to `${variable}`, but no --secret has that name"),
                "add --secret 'NAME=SOURCE@HOST'",
            );
        }
    }
    let names_secret = parts.iter().any(|part| matches!(part, Part::Variable(_)));
    let is_credential = is_credential_header(&lower) || Redactor::default().redact(header) != header;
    if is_credential && !names_secret {
        return usage(
            format!("the header `{name}` contains a credential, which all users of this machine could read"),
            "use --secret 'NAME=SOURCE@HOST', and write $NAME in the header",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(url: &str, headers: &[&str], secrets: &[&str]) -> Result<Address, Failure> {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
        Address::read(url, &own(headers), &own(secrets))
    }

    #[test]
    fn credentials_on_the_command_line_are_refused() {
        let secret = "TOKEN=env:TOKEN@mcp.example.com";
        for (url, headers, secrets) in [
            ("https://user:pass@mcp.example.com/", &[][..], &[][..]),
            ("https://mcp.example.com/?token=ghp_0123456789abcdefghijABCDEFGHIJ012345", &[], &[]),
            ("http://mcp.example.com/", &[], &[]),
            ("ftp://mcp.example.com/", &[], &[]),
            ("mcp.example.com", &[], &[]),
            ("https:///x", &[], &[]),
            ("https://mcp.example.com/", &["Authorization: Bearer abc"], &[]),
            ("https://mcp.example.com/", &["X-Other: ghp_0123456789abcdefghijABCDEFGHIJ012345"], &[]),
            ("https://mcp.example.com/", &["Cookie: a=b"], &[secret]),
            ("https://mcp.example.com/", &["Proxy-Authorization: x"], &[]),
            ("https://mcp.example.com/", &["X-Api-Key: x"], &[]),
            ("https://mcp.example.com/", &["Api-Key: x"], &[]),
            // The table of the crate `credentials` has more names than the five above.
            ("https://mcp.example.com/", &["X-Vault-Token: x"], &[]),
            ("https://mcp.example.com/", &["Authorization: Bearer $OTHER"], &[secret]),
            ("https://mcp.example.com/", &["Host: other.example"], &[]),
            ("https://mcp.example.com/", &["Mcp-Session-Id: 1"], &[]),
            ("https://mcp.example.com/", &["X: a\r\nHost: b"], &[]),
            ("https://mcp.example.com/", &["no header"], &[]),
        ] {
            assert!(read(url, headers, secrets).is_err(), "{url} {headers:?}");
        }
    }

    #[test]
    fn an_mcp_address_must_be_unambiguous() {
        for (url, host, name) in [
            ("https://mcp.example.com/mcp", "mcp.example.com:443", Some("mcp-example-com")),
            ("https://mcp.example.com:8443", "mcp.example.com:8443", Some("mcp-example-com")),
            ("http://127.0.0.1:3000/mcp", "127.0.0.1:3000", Some("127-0-0-1")),
            ("http://[::1]:3000/mcp", "[::1]:3000", None),
        ] {
            let address = read(url, &[], &[]).unwrap();
            assert_eq!((address.host(), address.name().as_deref()), (host, name), "{url}");
        }
        let words =
            |headers: &[&str]| read("https://h.example/", headers, &["T=env:T@h.example"]).unwrap().words();
        assert_eq!(words(&[]), ["--url", "https://h.example/", "--header", "Authorization: Bearer $T"]);
        assert_eq!(words(&["X-Key: $T"])[3], "X-Key: $T");
    }
}
