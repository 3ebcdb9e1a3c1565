//! The environment variables of a command: an allowlist of harmless names, and those that the caller names.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use stockade_handoff::trust;
use stockade_names::TOOLCHAIN_VARIABLES;

use crate::binds::is_plain;
use crate::host::HostFacts;
use crate::refusal::{Refusal, SandboxRule, What};
use crate::spec::{Caches, Environment, Network};

/// Names that are always passed.
const HARMLESS: &[&str] = &[
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "SHELL",
    "TZ",
    "TERM",
    "COLORTERM",
    "COLUMNS",
    "LINES",
    "NO_COLOR",
    "FORCE_COLOR",
    "CLICOLOR",
    "CLICOLOR_FORCE",
    "CI",
    "NODE_ENV",
];

/// Names that are passed if their value is a list of locales. These are all names of locale(7).
const LOCALES: &[&str] = &[
    "LANG",
    "LANGUAGE",
    "LC_ALL",
    "LC_ADDRESS",
    "LC_COLLATE",
    "LC_CTYPE",
    "LC_IDENTIFICATION",
    "LC_MEASUREMENT",
    "LC_MESSAGES",
    "LC_MONETARY",
    "LC_NAME",
    "LC_NUMERIC",
    "LC_PAPER",
    "LC_TELEPHONE",
    "LC_TIME",
];

/// Cache directories of tools, for caches in the workspace.
const CACHES: &[(&str, &str)] = &[
    ("XDG_CACHE_HOME", ".cache"),
    ("NPM_CONFIG_CACHE", ".cache/npm"),
    ("PIP_CACHE_DIR", ".cache/pip"),
    ("PYTHONUSERBASE", ".local"),
    ("MPLCONFIGDIR", ".cache/matplotlib"),
    ("UV_PYTHON_INSTALL_DIR", ".cache/uv/python"),
    ("CARGO_HOME", ".cache/cargo"),
    ("GOPATH", ".cache/go"),
    ("GOMODCACHE", ".cache/go/pkg/mod"),
    ("GEM_HOME", ".cache/gems"),
    ("BUNDLE_PATH", ".cache/bundle"),
];

/// Variables with the address of the proxy. No single name is read by all programs.
pub(crate) const PROXY: &[&str] =
    &["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"];

/// Additional proxy settings: hosts without a proxy, and the switch that makes Node.js read these variables.
pub(crate) const BESIDE_PROXY: &[(&str, &str)] = &[
    ("NO_PROXY", "localhost,127.0.0.1,::1"),
    ("no_proxy", "localhost,127.0.0.1,::1"),
    ("NODE_USE_ENV_PROXY", "1"),
];

/// The default search path.
const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// Returns the variables of a command, sorted by name.
pub(crate) fn environment(
    request: &Environment,
    network: &Network,
    facts: &HostFacts,
    workspace: &Path,
    cwd: &Path,
) -> Result<Vec<(OsString, OsString)>, Refusal> {
    let mut variables = BTreeMap::new();
    for (name, value) in &facts.environment {
        if (is_harmless(name, value) || request.pass.contains(name)) && !is_function(value) {
            variables.insert(name.clone(), value.clone());
        }
    }
    let path = variables.get(OsStr::new("PATH")).map_or_else(|| PATH.into(), |path| absolute_parts(path));
    variables.insert("PATH".into(), path);
    variables.insert("HOME".into(), facts.home.clone().into());
    variables.insert("PWD".into(), cwd.into());
    for (name, fallback) in [("LANG", "C.UTF-8"), ("TERM", "dumb")] {
        variables.entry(name.into()).or_insert_with(|| fallback.into());
    }
    if let Caches::Workspace { temporary } = request.caches {
        variables.insert("TMPDIR".into(), workspace.join(temporary).into());
        variables.insert("MPLBACKEND".into(), "Agg".into());
        variables.extend(CACHES.iter().map(|(name, below)| ((*name).into(), workspace.join(below).into())));
    }
    if let Network::Proxy(_) = network {
        let proxy = format!("http://{}", crate::handoff::PROXY_ADDRESS);
        variables.extend(PROXY.iter().map(|name| ((*name).into(), proxy.clone().into())));
        variables.extend(BESIDE_PROXY.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    }
    variables.extend(request.set.iter().cloned());
    trusted(&mut variables, request, network);
    let odd = variables.iter().find(|(name, value)| !is_variable(name, value));
    match odd {
        None => Ok(variables.into_iter().collect()),
        Some((name, _)) => Err(Refusal::new(
            What::Variable(name.to_string_lossy().into_owned()),
            SandboxRule::PlainVariable,
            "leave the variable out, or give it a plain name and value",
        )),
    }
}

/// Adds variables that make programs trust a TLS-inspecting proxy. Variables that were set for this command are kept; passed
/// ones are replaced, because the new files already include the certificates that they name.
fn trusted(variables: &mut BTreeMap<OsString, OsString>, request: &Environment, network: &Network) {
    let Network::Proxy(handoff) = network else { return };
    if handoff.sockets().trust.is_none() {
        return;
    }
    let added: Vec<(&str, OsString)> =
        trust::variables(|name| variables.get(OsStr::new(name)).cloned()).collect();
    let is_file = |name: &str| trust::VARIABLES.iter().any(|row| row.0 == name);
    for (name, value) in added {
        if !is_file(name) || request.set.iter().all(|(set, _)| set != name) {
            variables.insert(name.into(), value);
        }
    }
}

fn is_harmless(name: &OsStr, value: &OsStr) -> bool {
    let is_one_of = |names: &[&str]| names.iter().any(|harmless| name == *harmless);
    is_one_of(HARMLESS)
        || (is_one_of(LOCALES) && value.to_str().is_some_and(names_locales))
        || (is_one_of(TOOLCHAIN_VARIABLES) && is_plain(Path::new(value)))
}

/// Whether a value is a list of locales in order of preference: `de_AT.UTF-8@euro`, `de:en`.
fn names_locales(value: &str) -> bool {
    value.split(':').all(|locale| locale.is_empty() || is_locale(locale))
}

/// Whether a text is a language, with an optional country, encoding and variant.
fn is_locale(locale: &str) -> bool {
    /// The longest in use are `POSIX` and `ISO-8859-15`.
    const MAX_PART: usize = 12;
    let (rest, variant) = locale.split_once('@').unwrap_or((locale, "x"));
    let (rest, encoding) = rest.split_once('.').unwrap_or((rest, "x"));
    let (language, country) = rest.split_once('_').unwrap_or((rest, "x"));
    [language, country, encoding, variant].into_iter().all(|part| {
        let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
        (1..=MAX_PART).contains(&part.len()) && part.bytes().all(letter)
    })
}

/// Whether a value looks like an exported shell function, which old versions of bash execute (Shellshock, CVE-2014-6271).
fn is_function(value: &OsStr) -> bool {
    value.as_encoded_bytes().starts_with(b"()")
}

/// Returns a search path without empty and relative parts, which would be resolved in the current directory.
fn absolute_parts(path: &OsStr) -> OsString {
    let parts = std::env::split_paths(path).filter(|part| part.is_absolute());
    std::env::join_paths(parts).ok().filter(|path| !path.is_empty()).unwrap_or_else(|| PATH.into())
}

fn is_variable(name: &OsStr, value: &OsStr) -> bool {
    let (name, value) = (name.as_encoded_bytes(), value.as_encoded_bytes());
    !name.is_empty() && !name.iter().any(|byte| matches!(byte, 0 | b'=')) && !value.contains(&0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A secret in one of these variables would collide with a value that the sandbox sets.
    #[test]
    fn no_variable_of_a_sandbox_is_one_for_secrets() {
        let pairs = CACHES.iter().chain(BESIDE_PROXY).map(|row| row.0);
        let trusted = trust::variables(|_| None).map(|row| row.0);
        let all = HARMLESS.iter().chain(LOCALES).chain(PROXY).copied().chain(pairs).chain(trusted);
        for name in all.chain(["PWD", "TMPDIR", "MPLBACKEND"]) {
            assert!(stockade_names::obeyed_variable(name).is_some(), "{name}");
        }
    }

    fn variables(request: &Environment, host: &[(&str, &str)]) -> BTreeMap<OsString, OsString> {
        let environment = host.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
        let facts = HostFacts { environment, home: "/home/u".into(), ..HostFacts::default() };
        super::environment(request, &Network::None, &facts, Path::new("/ws"), Path::new("/ws"))
            .unwrap()
            .into_iter()
            .collect()
    }

    #[test]
    fn only_names_that_are_listed_are_handed_on() {
        let host = [
            ("LC_ALL", "C"),
            ("TERM", "() { :; }"),
            ("AWS_SECRET_ACCESS_KEY", "s"),
            ("LD_PRELOAD", "/x.so"),
            ("SSH_AUTH_SOCK", "/s"),
            ("PATHS", "x"),
            ("MINE", "m"),
            ("PATH", ":/usr/bin:.:bin:/bin"),
        ];
        let request = Environment { pass: vec!["MINE".into()], ..Environment::default() };
        let expected = [
            ("HOME", "/home/u"),
            ("LANG", "C.UTF-8"),
            ("LC_ALL", "C"),
            ("MINE", "m"),
            ("PATH", "/usr/bin:/bin"),
            ("PWD", "/ws"),
            ("TERM", "dumb"),
        ];
        assert_eq!(
            variables(&request, &host),
            expected.map(|(name, value)| (name.into(), value.into())).into()
        );
    }

    #[test]
    fn locales_are_handed_on_and_nothing_that_is_only_called_so() {
        for locale in [
            "C",
            "POSIX",
            "C.UTF-8",
            "en_US.UTF-8",
            "de_DE@euro",
            "sr_RS.UTF-8@latin",
            "ca_ES.ISO-8859-15@euro",
            "de:en_US:en",
            "",
        ] {
            let handed_on = variables(&Environment::default(), &[("LC_TIME", locale)]);
            assert!(handed_on.contains_key(OsStr::new("LC_TIME")), "{locale}");
        }
        let token = "ghp_0123456789abcdefghijABCDEFGHIJ012345";
        for (name, value) in [
            ("LC_SECRET_TOKEN", "C"),
            ("LC_", "C"),
            ("LC_ALL_TOKEN", "C"),
            ("lc_all", "C"),
            ("LC_ALL", token),
            ("LANGUAGE", token),
            ("LC_TIME", "C/../x"),
            ("LC_CTYPE", "() { :; }"),
            ("LC_NAME", "a b"),
        ] {
            let handed_on = variables(&Environment::default(), &[(name, value)]);
            assert!(!handed_on.contains_key(OsStr::new(name)), "{name}={value}");
        }
        let handed_on = variables(&Environment::default(), &[("LANG", token)]);
        assert_eq!(handed_on.get(OsStr::new("LANG")).map(OsString::as_os_str), Some(OsStr::new("C.UTF-8")));
    }

    #[test]
    fn an_odd_variable_is_refused() {
        for (name, value) in [("", "x"), ("A=B", "x"), ("A\0", "x"), ("A", "x\0")] {
            let request = Environment { set: vec![(name.into(), value.into())], ..Environment::default() };
            let result = environment(
                &request,
                &Network::None,
                &HostFacts::default(),
                Path::new("/ws"),
                Path::new("/ws"),
            );
            assert_eq!(result.unwrap_err().rule, SandboxRule::PlainVariable, "{name:?}={value:?}");
        }
    }
}
