//! Credentials of a request besides the secret that a host gets: none of them may accompany it.

use stockade_credentials::is_credential_header;

use super::placeholder;

/// Names of session headers, of a login or of a conversation with a model, which the value distinguishes. Other names belong to
/// conversations: `session_id` of Codex, `mcp-session-id`, `vscode-sessionid`.
const SESSIONS: &[&str] = &["x-session", "x-session-id", "x-sessionid", "sessionid"];

/// The kind of host that receives a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HostKind {
    /// A model's API, which receives long random conversation IDs.
    Model,
    Other,
}

/// Returns whether a header, with its name in lower case, carries a credential.
pub(super) fn is_header(name: &str, value: &[u8], host: HostKind) -> bool {
    let plain = name.replace('_', "-");
    if SESSIONS.contains(&plain.as_str()) {
        return match host {
            HostKind::Model => placeholder::begins_as_token(&String::from_utf8_lossy(value), LONG),
            HostKind::Other => is_token(value),
        };
    }
    is_credential_header(name)
}

/// Minimum length of a token that is recognized by its alphabet or prefix.
const LONG: usize = 16;

/// Returns whether a text looks like a token rather than a user name: it has the prefix of a token, or is long and alphanumeric.
pub(super) fn is_token(text: &[u8]) -> bool {
    let text = String::from_utf8_lossy(text);
    let has = |part: &str, of: fn(&u8) -> bool| part.bytes().any(|byte| of(&byte));
    let is_mixed = |part: &str| {
        part.len() >= LONG && has(part, u8::is_ascii_digit) && has(part, u8::is_ascii_alphabetic)
    };
    let parts = || text.split(|sign: char| !sign.is_ascii_alphanumeric());
    // `oauth2accesstoken` is a user name with one digit; tokens have more digits.
    let digits = |part: &str| part.bytes().filter(u8::is_ascii_digit).count();
    let is_long = parts().any(|part| is_mixed(part) && digits(part) > 1);
    let is_uuid = placeholder::is_uuid(&text) && text.bytes().any(|byte| !matches!(byte, b'0' | b'-'));
    !text.contains('@') && (is_long || is_uuid || placeholder::begins_as_token(&text, LONG))
}

#[cfg(test)]
mod tests {
    use super::*;

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
