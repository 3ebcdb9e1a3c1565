//! Which headers and parts of a query say who somebody is, by the names that are known for it, and which texts look like a token: where
//! a host gets a secret, none of them goes along.

use super::dummy;

/// The last word of a name, where that is a credential. Names have words by `-`, `_`, `.` and capitals.
const WORDS: &[&str] = &[
    "auth",
    "authentication",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "credentials",
    "jwt",
    "key",
    "oauth",
    "pass",
    "passphrase",
    "passwd",
    "password",
    "pwd",
    "secret",
    "sig",
    "signature",
    "token",
];

/// What names end with that are written together: `accesstoken`, `xapikey`.
const JOINED: &[&str] = &[
    "accesskey",
    "apikey",
    "authkey",
    "authorization",
    "jwt",
    "passwd",
    "password",
    "privatekey",
    "secret",
    "secretkey",
    "signature",
    "token",
];

/// Names that end with none of these.
const HEADERS: &[&str] = &["x-honeycomb-team", "x-auth-user-token"];

/// Names of sessions: of a login, or of a conversation with a model. Which of the two one is, its value has to tell. Other names are
/// of conversations: `session_id` of Codex, `mcp-session-id`, `vscode-sessionid`.
const SESSIONS: &[&str] = &["x-session", "x-session-id", "x-sessionid", "sessionid"];

/// To what kind of host a request goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostKind {
    /// A model's API: what programs tell it of their conversations has long random names.
    Model,
    Other,
}

/// What stands before `token` or `key` where that is a place in a list, says which of several something is, or is no secret.
const BEFORE: &[&str] = &[
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

/// Other names that end so and say nothing of the kind.
const NO_CREDENTIALS: &[&str] = &[
    "x-amz-copy-source-server-side-encryption-customer-key",
    // Which of two requests is the same one.
    "clienttoken",
    "clientrequesttoken",
];

/// What stands before `key` in a query where that is a credential. `issueKey` and `projectKey` are names of things.
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

/// Returns whether a header, with its name in lower case, carries a credential.
pub(super) fn is_header(name: &str, value: &[u8], host: HostKind) -> bool {
    let plain = name.replace('_', "-");
    if SESSIONS.contains(&plain.as_str()) {
        return match host {
            HostKind::Model => dummy::begins_as_token(&String::from_utf8_lossy(value), LONG),
            HostKind::Other => is_token(value),
        };
    }
    HEADERS.contains(&plain.as_str()) || is_named_so(name)
}

/// Returns whether a name in a query does, as it reads when it is decoded.
pub(super) fn is_in_query(name: &str) -> bool {
    let joined = joined(name);
    let is_of_something = joined
        .strip_suffix("key")
        .is_some_and(|of| !of.is_empty() && !KEYS_OF.iter().any(|one| of.ends_with(one)));
    is_named_so(name) && !is_of_something
}

fn is_named_so(name: &str) -> bool {
    let joined = joined(name);
    let last = last_word(name);
    let is_one = WORDS.contains(&last.as_str()) || JOINED.iter().any(|end| joined.ends_with(end));
    let of = joined.strip_suffix("token").or_else(|| joined.strip_suffix("key")).unwrap_or_default();
    let is_other = BEFORE.iter().any(|before| of.ends_with(before))
        || NO_CREDENTIALS.iter().any(|one| *one == joined || *one == name);
    is_one && !is_other
}

fn is_between(sign: char) -> bool {
    matches!(sign, '-' | '_' | '.' | '$' | '[' | ']')
}

/// A name in small letters, without what stands between its words.
fn joined(name: &str) -> String {
    name.chars().filter(|sign| !is_between(*sign)).map(|sign| sign.to_ascii_lowercase()).collect()
}

/// The last word of a name, in small letters.
fn last_word(name: &str) -> String {
    let name = name.trim_end_matches(is_between);
    let word = name.rsplit(is_between).next().unwrap_or_default();
    // `accessToken` has two words, and `TOKEN` has one.
    let has_small = word.bytes().any(|byte| byte.is_ascii_lowercase());
    let at = word.rfind(|sign: char| sign.is_ascii_uppercase()).filter(|_| has_small).unwrap_or_default();
    word.get(at..).unwrap_or(word).to_ascii_lowercase()
}

/// The shortest text that is taken for a token by the letters that it has, and that begins as tokens do.
const LONG: usize = 16;

/// Returns whether a text looks like a token, and not like the name of somebody: it begins as tokens do, or is long and of letters and
/// digits alone.
pub(super) fn is_token(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let has = |part: &str, of: fn(&u8) -> bool| part.bytes().any(|byte| of(&byte));
    let is_mixed = |part: &str| {
        part.len() >= LONG && has(part, u8::is_ascii_digit) && has(part, u8::is_ascii_alphabetic)
    };
    let parts = || text.split(|sign: char| !sign.is_ascii_alphanumeric());
    // `oauth2accesstoken` has a digit, as names have; tokens have more of them.
    let digits = |part: &str| part.bytes().filter(u8::is_ascii_digit).count();
    let is_long = parts().any(|part| is_mixed(part) && digits(part) > 1);
    let is_uuid = dummy::is_uuid(&text) && text.bytes().any(|byte| !matches!(byte, b'0' | b'-'));
    !text.contains('@') && (is_long || is_uuid || dummy::begins_as_token(&text, LONG))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn credentials_and_what_looks_like_them() {
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
        ] {
            assert!(is_header(name, b"x", HostKind::Model), "{name}");
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
            let value = b"0123456789abcdef0123456789abcdef";
            assert!(!is_header(name, value, HostKind::Other), "{name}");
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
            assert!(is_in_query(name), "{name}");
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
            assert!(!is_in_query(name), "{name}");
        }
    }

    #[test]
    fn a_session_is_a_credential_by_the_shape_of_its_value() {
        for (value, at_model, elsewhere) in [
            ("ses_5d1f3ab2ffeXbZcT0qWv1Rm8Yk", false, true),
            ("123e4567-e89b-12d3-a456-426614174000", false, true),
            ("0123456789abcdef0123456789abcdef", false, true),
            ("chat-1", false, false),
            ("main", false, false),
            ("ghp_REALrealREALrealREALrealREALreal0001", true, true),
            ("sk-ant-api03-otherOTHERotherOTHERotherOTHER", true, true),
            ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl", true, true),
        ] {
            for name in SESSIONS.iter().chain(&["x_session_id"]) {
                assert_eq!(is_header(name, value.as_bytes(), HostKind::Model), at_model, "{name} {value}");
                assert_eq!(is_header(name, value.as_bytes(), HostKind::Other), elsewhere, "{name} {value}");
            }
        }
    }

    #[test]
    fn tokens_and_names_of_users() {
        for token in [
            "ghp_REALrealREALrealREALrealREALreal0001",
            "glpat-abcdefghijklmnopqrst",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJtZSJ9.c2lnbmF0dXJl",
            "0123456789abcdef0123456789abcdef",
            "123e4567-e89b-12d3-a456-426614174000",
        ] {
            assert!(is_token(token.as_bytes()), "{token}");
        }
        for user in [
            "",
            "me",
            "x-access-token",
            "x-oauth-basic",
            "oauth2accesstoken",
            "__token__",
            "_json_key",
            "AWS",
            "pat-smith",
            "robot$project+deployer",
            "service-account-project-1234",
            "0123456789abcdef0123@example.com",
            "00000000-0000-0000-0000-000000000000",
        ] {
            assert!(!is_token(user.as_bytes()), "{user}");
        }
    }
}
