//! Login files in JSON, YAML and TOML: those of docker, gh, kubectl and cargo.

use stockade_text::{Format, Node, Value, parse};

use crate::draft::{Draft, Spelling, pair, secret_of};
use crate::file::{LoginFileError, MAX_FILE};
use crate::login::{AUTHORIZATION, Destination, Login};

fn table(text: &str, format: Format) -> Result<Value, LoginFileError> {
    parse(text, format, MAX_FILE)
        .map(|node| node.value)
        .map_err(|error| LoginFileError::new(format!("is damaged at line {}", error.at.line)))
}

/// Returns the keys and values of a table.
fn entries(value: Option<&Value>) -> impl Iterator<Item = (&str, &Value)> {
    let entries = match value {
        Some(Value::Table(entries)) => entries.as_slice(),
        _ => &[],
    };
    entries.iter().map(|entry| (entry.key.as_str(), &entry.node.value))
}

fn items(value: Option<&Value>) -> impl Iterator<Item = &Value> {
    let items: &[Node] = match value {
        Some(Value::List(items)) => items,
        _ => &[],
    };
    items.iter().map(|node| &node.value)
}

fn member<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    value.get(key).map(|entry| &entry.node.value)
}

fn words<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    member(value, key)?.words()
}

/// A string of JSON, which YAML and TOML read alike.
fn string(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// The hosts that the token of a host of GitHub is for.
const GITHUB: &[(&str, &str)] =
    &[("api.github.com", AUTHORIZATION), ("uploads.github.com", AUTHORIZATION), ("github.com", "basic")];

pub(crate) fn gh_hosts(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let document = table(text, Format::Yaml)?;
    for (host, login) in entries(Some(&document)) {
        let user = words(login, "user").unwrap_or_default();
        let of_user = || member(member(login, "users")?, user).and_then(|user| words(user, "oauth_token"));
        let Some(token) = words(login, "oauth_token").or_else(of_user) else {
            draft.leave_out(host, "has its token in the keyring");
            continue;
        };
        let to = match host {
            "github.com" => GITHUB.iter().map(|(host, place)| Destination::new(host, "", place)).collect(),
            host => vec![Destination::new(host, "", AUTHORIZATION), Destination::new(host, "", "basic")],
        };
        let Some(number) = draft.take(Login::new(host, token, to)) else { continue };
        let protocol = words(login, "git_protocol").unwrap_or("https");
        let (once, again) = (draft.mark(number, Spelling::Plain), draft.mark(number, Spelling::Plain));
        draft.text.push_str(&format!(
            "{}:\n    git_protocol: {}\n    user: {user}\n    oauth_token: \"{once}\"\n    users:\n        {user}:\n            oauth_token: \"{again}\"\n",
            string(host),
            string(protocol),
            user = string(user),
        ));
    }
    Ok(())
}

/// Registries whose logins go to another host: the registry in the file, and the host.
const TOKENS_FROM: &[(&str, &str)] = &[
    ("index.docker.io", "auth.docker.io"),
    ("docker.io", "auth.docker.io"),
    ("registry.gitlab.com", "gitlab.com"),
];

pub(crate) fn docker(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let document = table(text, Format::Json)?;
    let mut logins = Vec::new();
    for (registry, login) in entries(member(&document, "auths")) {
        let rest = registry.split_once("://").map_or(registry, |(_, rest)| rest);
        let named = rest.split('/').next().unwrap_or_default();
        let host = TOKENS_FROM.iter().find(|row| row.0 == named).map_or(named, |row| row.1);
        if words(login, "identitytoken").is_some_and(|token| !token.is_empty()) {
            draft.leave_out(named, "has a token that is exchanged for others");
            continue;
        }
        let Some((user, password)) = words(login, "auth").and_then(pair) else {
            draft.leave_out(named, "has its password in a helper");
            continue;
        };
        let (secret, spelling) = secret_of(&user, password.trim_end_matches('\0'));
        let Some(number) = draft.take(Login::new(named, &secret, vec![Destination::new(host, "", "basic")]))
        else {
            continue;
        };
        let mark = draft.mark(number, spelling);
        logins.push(format!("{}: {{\"auth\": \"{mark}\"}}", string(registry)));
    }
    draft.text.push_str(&format!("{{\"auths\": {{{}}}}}\n", logins.join(", ")));
    Ok(())
}

pub(crate) fn cargo(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let document = table(text, Format::Toml)?;
    let registries = member(&document, "registries");
    let own = member(&document, "registry").map(|login| ("crates-io", login));
    for (name, login) in own.into_iter().chain(entries(registries)) {
        let Some(token) = words(login, "token") else { continue };
        if name != "crates-io" {
            draft.leave_out(name, "has its host in another file");
            continue;
        }
        let to = vec![Destination::new("crates.io", "/api/v1/**", AUTHORIZATION)];
        let Some(number) = draft.take(Login::new(name, token, to)) else { continue };
        let mark = draft.mark(number, Spelling::Plain);
        draft.text.push_str(&format!("[registry]\ntoken = \"{mark}\"\n"));
        // A table must not occur twice.
        break;
    }
    Ok(())
}

pub(crate) fn kubeconfig(text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
    let document = table(text, Format::Yaml)?;
    let named = |list: &str, name: &str| {
        items(member(&document, list)).find(|item| words(item, "name") == Some(name))
    };
    let current = words(&document, "current-context").unwrap_or_default();
    let (mut clusters, mut users, mut contexts) = (Vec::new(), Vec::new(), Vec::new());
    for item in items(member(&document, "contexts")) {
        let (Some(name), Some(context)) = (words(item, "name"), member(item, "context")) else { continue };
        let (cluster, user) =
            (words(context, "cluster").unwrap_or_default(), words(context, "user").unwrap_or_default());
        let server = named("clusters", cluster).and_then(|item| words(member(item, "cluster")?, "server"));
        let token = named("users", user).and_then(|item| words(member(item, "user")?, "token"));
        let (Some(host), Some(token)) = (server.and_then(host_of), token) else {
            draft.leave_out(name, "has no token for a server with https");
            continue;
        };
        let Some(number) =
            draft.take(Login::new(name, token, vec![Destination::new(host, "", AUTHORIZATION)]))
        else {
            continue;
        };
        let mark = draft.mark(number, Spelling::Plain);
        let name = string(name);
        // One cluster and one user for each context, both with its name.
        clusters.push(format!(
            "{{\"name\": {name}, \"cluster\": {{\"server\": {}}}}}",
            string(server.unwrap_or_default())
        ));
        users.push(format!("{{\"name\": {name}, \"user\": {{\"token\": \"{mark}\"}}}}"));
        let namespace = string(words(context, "namespace").unwrap_or("default"));
        contexts.push(format!(
            "{{\"name\": {name}, \"context\": {{\"cluster\": {name}, \"user\": {name}, \"namespace\": {namespace}}}}}"
        ));
    }
    // The marks are in the order of the users, and no other member has one.
    draft.text.push_str(&format!(
        "{{\"apiVersion\": \"v1\", \"kind\": \"Config\", \"current-context\": {},\n\"clusters\": [{}],\n\"users\": [{}],\n\"contexts\": [{}]}}\n",
        string(current),
        clusters.join(", "),
        users.join(", "),
        contexts.join(", "),
    ));
    Ok(())
}

/// Returns the host of an address with https.
fn host_of(url: &str) -> Option<&str> {
    let rest = url.strip_prefix("https://")?;
    let host = rest.split('/').next().unwrap_or_default();
    (!host.contains('@')).then_some(host)
}
