//! Names of request headers and query parameters that carry a credential.
//!
//! The table is wider than that of [`sensitivity`](crate::sensitivity), because a proxy that injects a secret only withholds other
//! credentials: `signature` and `key` count whatever their value is.

use crate::names::{JOINED, PASSWORDS, SECRETS};

/// Words that name a credential at the end of a name, besides [`PASSWORDS`] and [`SECRETS`]. `-`, `_`, `.` and capitals separate words.
const WORDS: &[&str] = &["authentication", "authorization", "cookie", "key", "oauth", "sig", "signature"];

/// Ends of names that are written as one word, besides [`JOINED`]: `xjwt`.
const ENDS: &[&str] = &["authorization", "jwt", "signature"];

/// Names of headers that end with none of these.
const HEADERS: &[&str] = &["x-honeycomb-team", "x-auth-user-token"];

/// What precedes `token` or `key` where that is a position in a list, the name of an item, or not secret.
const ITEMS: &[&str] = &[
    "cache",
    "continuation",
    "csrf",
    "cursor",
    "delta",
    "end",
    "foreign",
    "idempotency",
    "next",
    "page",
    "partition",
    "primary",
    "public",
    "resume",
    "row",
    "skip",
    "sort",
    "start",
    "surrogate",
    "sync",
    "websocket",
    "xsrf",
];

/// Other names that end like those of credentials and are not.
const NO_CREDENTIALS: &[&str] = &[
    "x-amz-copy-source-server-side-encryption-customer-key",
    // Tells repeated requests from new ones.
    "clienttoken",
    "clientrequesttoken",
];

/// What precedes `key` in a query where that is a credential. `issueKey` and `projectKey` are names of items.
const KEYS_OF: &[&str] = &[
    "access",
    "account",
    "admin",
    "api",
    "app",
    "auth",
    "client",
    "consumer",
    "functions",
    "license",
    "master",
    "private",
    "secret",
    "service",
    "session",
    "shared",
    "signing",
    "subscription",
    "write",
];

/// Returns whether a header carries a credential, by its name in lower case.
#[must_use]
pub fn is_credential_header(name: &str) -> bool {
    HEADERS.contains(&name.replace('_', "-").as_str()) || is_named_so(name)
}

/// Returns whether a query parameter carries a credential, by its decoded name.
#[must_use]
pub fn is_credential_parameter(name: &str) -> bool {
    let joined = joined(name);
    let is_of_item = joined
        .strip_suffix("key")
        .is_some_and(|of| !of.is_empty() && !KEYS_OF.iter().any(|one| of.ends_with(one)));
    is_named_so(name) && !is_of_item
}

fn is_named_so(name: &str) -> bool {
    let joined = joined(name);
    let last = last_word(name);
    let is_one = [WORDS, PASSWORDS, SECRETS].iter().any(|words| words.contains(&last.as_str()))
        || ENDS.iter().copied().chain(JOINED.iter().map(|row| row.0)).any(|end| joined.ends_with(end));
    let of = joined.strip_suffix("token").or_else(|| joined.strip_suffix("key")).unwrap_or_default();
    let is_other = ITEMS.iter().any(|before| of.ends_with(before))
        || NO_CREDENTIALS.iter().any(|one| *one == joined || *one == name);
    is_one && !is_other
}

fn is_between(sign: char) -> bool {
    matches!(sign, '-' | '_' | '.' | '$' | '[' | ']')
}

/// A name in lower case, without separators.
fn joined(name: &str) -> String {
    name.chars().filter(|sign| !is_between(*sign)).map(|sign| sign.to_ascii_lowercase()).collect()
}

/// The last word of a name, in lower case.
fn last_word(name: &str) -> String {
    let name = name.trim_end_matches(is_between);
    let word = name.rsplit(is_between).next().unwrap_or_default();
    // `accessToken` has two words, and `TOKEN` has one.
    let has_small = word.bytes().any(|byte| byte.is_ascii_lowercase());
    let at = word.rfind(|sign: char| sign.is_ascii_uppercase()).filter(|_| has_small).unwrap_or_default();
    word.get(at..).unwrap_or(word).to_ascii_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_credentials_and_look_alikes() {
        for name in [
            "authorization",
            "proxy-authorization",
            "cookie",
            "x-api-key",
            "api-key",
            "x-goog-api-key",
            "private-token",
            "job-token",
            "x-vault-token",
            "x-amz-security-token",
            "x-functions-key",
            "ocp-apim-subscription-key",
            "x-auth-token",
            "x-auth",
            "x-password",
            "x-apikey",
            "apikey",
            "x_api_key",
            "token",
            "auth",
            "key",
            "secret",
            "password",
            "x-jwt",
            "x-accesstoken",
            "signature",
            "x-creds",
            "x-mnemonic",
            "account-key",
        ] {
            assert!(is_credential_header(name), "{name}");
        }
        for name in [
            "accept",
            "content-type",
            "idempotency-key",
            "x-idempotency-key",
            "sec-websocket-key",
            "surrogate-key",
            "user-agent",
            "x-csrf-token",
            "mcp-session-id",
            "session_id",
            "x-max-tokens",
            "monkey",
            "author",
        ] {
            assert!(!is_credential_header(name), "{name}");
        }
        for name in [
            "Access_Token",
            "access_token",
            "accessToken",
            "accesstoken",
            "refresh_token",
            "id_token",
            "jwt",
            "X-Amz-Signature",
            "X-Amz-Credential",
            "sig",
            "key",
            "api_key",
            "apiKey",
            "API-KEY",
            "client_secret",
            "auth[token]",
            "password",
            "TOKEN",
        ] {
            assert!(is_credential_parameter(name), "{name}");
        }
        for name in [
            "page",
            "pageToken",
            "page_token",
            "nextPageToken",
            "NextToken",
            "continuation-token",
            "$skiptoken",
            "ClientToken",
            "sort_key",
            "issueKey",
            "projectKey",
            "max_tokens",
            "",
        ] {
            assert!(!is_credential_parameter(name), "{name}");
        }
    }
}
