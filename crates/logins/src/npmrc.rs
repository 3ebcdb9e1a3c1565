//! `.npmrc`: settings, of which those with `//host/path/:` belong to one registry.

use crate::draft::{Draft, Spelling, decoded, pair, secret_of};
use crate::file::LoginFileError;
use crate::login::{AUTHORIZATION, Destination, Login};

/// The registry of settings without a registry.
const REGISTRY: &str = "//registry.npmjs.org/";

/// Settings that contain no secret, and that a program needs or expects. `@SCOPE:registry` is one as well.
const SETTINGS: &[&str] = &[
    "always-auth",
    "audit",
    "auto-install-peers",
    "engine-strict",
    "fund",
    "hoist",
    "ignore-scripts",
    "legacy-peer-deps",
    "loglevel",
    "node-linker",
    "package-lock",
    "prefer-offline",
    "progress",
    "registry",
    "save-exact",
    "save-prefix",
    "shamefully-hoist",
    "strict-peer-dependencies",
    "strict-ssl",
    "update-notifier",
];

pub(crate) fn read(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let lines = || text.lines().filter_map(setting);
    let registry = lines()
        .find(|(key, _)| *key == "registry")
        .and_then(|(_, url)| url.find("//").and_then(|at| url.get(at..)));
    for (key, value) in lines() {
        let (place, name) = match key.strip_prefix("//").and_then(|_| key.rsplit_once(':')) {
            Some((place, name)) => (place, name),
            None => (registry.unwrap_or(REGISTRY), key),
        };
        match name {
            "_authToken" | "_auth" | "_password" if is_reference(value) => {
                draft.text.push_str(&format!("{key}={value}\n"));
            }
            "_authToken" => login(draft, key, place, AUTHORIZATION, (value.to_owned(), Spelling::Plain)),
            "_auth" => match pair(value) {
                Some((user, password)) => login(draft, key, place, "basic", secret_of(&user, &password)),
                None => draft.leave_out(place, "is not a user and a password in base64"),
            },
            "_password" => match decoded(value) {
                Some(password) => login(draft, key, place, "basic", (password, Spelling::Base64)),
                None => draft.leave_out(place, "is not a password in base64"),
            },
            "username" => draft.text.push_str(&format!("{key}={value}\n")),
            _ if is_public(key, value) => draft.text.push_str(&format!("{key}={value}\n")),
            _ => {}
        }
    }
    Ok(())
}

/// Reads a line; nothing if it is a comment, a section or empty.
fn setting(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once('=')?;
    let (key, value) = (key.trim(), value.trim());
    let is_one = !key.is_empty() && !key.starts_with(['#', ';', '[']);
    let inner = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    is_one.then_some((key, inner.unwrap_or(value)))
}

/// Whether a value is only the name of a variable: `${NPM_TOKEN}`.
fn is_reference(value: &str) -> bool {
    let name = value.strip_prefix("${").and_then(|value| value.strip_suffix('}'));
    name.is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_'))
}

fn is_public(key: &str, value: &str) -> bool {
    let is_scope = key.starts_with('@') && key.ends_with(":registry");
    // A user in a URL can be a token.
    (is_scope || SETTINGS.contains(&key)) && !value.contains('@')
}

fn login(
    draft: &mut Draft<'_>,
    key: &str,
    registry: &str,
    place: &'static str,
    (secret, spelling): (String, Spelling),
) {
    let (host, path) =
        registry.trim_start_matches('/').split_once('/').unwrap_or((registry.trim_start_matches('/'), ""));
    let path = match path.trim_matches('/') {
        "" => String::new(),
        path => format!("/{path}/**"),
    };
    let Some(number) = draft.take(Login::new(host, &secret, vec![Destination::new(host, &path, place)]))
    else {
        return;
    };
    let mark = draft.mark(number, spelling);
    draft.text.push_str(&format!("{key}={mark}\n"));
}
