//! Values that look like secrets, and values that only refer to one.

use crate::names::Sensitivity;

/// Values that mean "no secret", or name a source of secrets.
const NO_SECRETS: &[&str] = &[
    "true",
    "false",
    "yes",
    "no",
    "on",
    "off",
    "null",
    "nil",
    "none",
    "undefined",
    "basic",
    "digest",
    "bearer",
    "ntlm",
    "negotiate",
    "kerberos",
    "oauth",
    "oauth2",
    "required",
    "optional",
    "auto",
    "default",
    "env",
    "stdin",
    "...",
    "-",
    "prompt",
];

/// Starts of references to a secret that is stored elsewhere.
const REFERENCES: &[&str] = &[
    "$",
    "`",
    "%{",
    "{",
    "(",
    "[",
    "<",
    "@",
    "file:",
    "env:",
    "fd:",
    "stdin",
    "vault:",
    "arn:",
    ".*",
    "\\S",
    "projects/",
    "op://",
];

/// Ends of names of files that contain secrets.
const FILES: &[&str] = &[
    ".cer", ".cfg", ".conf", ".crt", ".csv", ".der", ".env", ".gpg", ".ini", ".jks", ".json", ".kdbx",
    ".key", ".p12", ".pem", ".pfx", ".pub", ".toml", ".txt", ".xml", ".yaml", ".yml",
];

/// Whether the value of a name is a secret. A reference is not: a shell replaces `$TOKEN`.
pub(crate) fn is_secret(sensitivity: Sensitivity, value: &str) -> bool {
    let value = value.trim();
    if value.is_empty() || is_reference(value) || NO_SECRETS.contains(&value.to_ascii_lowercase().as_str()) {
        return false;
    }
    match sensitivity {
        Sensitivity::Ordinary => false,
        Sensitivity::Perhaps => looks_secret(value),
        Sensitivity::Secret => !is_path(value),
        // A list of passwords, and none itself.
        Sensitivity::Password => {
            !(value.contains('/') && is_path(value) && FILES.iter().any(|end| value.ends_with(end)))
        }
    }
}

/// Whether a value only refers to a secret.
pub(crate) fn is_reference(value: &str) -> bool {
    let is_batch = value.len() > 2 && value.starts_with('%') && value.ends_with('%');
    let is_hidden = value.bytes().all(|byte| matches!(byte, b'*' | b'.' | b'x' | b'X' | b'/'));
    let is_quoted_dollar = value.starts_with("$'") || value.starts_with("$\"");
    // What `printf` and others fill in.
    let is_gap = value.len() == 2 && value.starts_with('%') && value.ends_with(char::is_alphabetic);
    is_batch
        || is_gap
        || is_hidden
        || (!is_quoted_dollar && REFERENCES.iter().any(|start| value.starts_with(start)))
}

/// Whether a value is the name of a file.
pub(crate) fn is_path(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let is_rooted = ["/", "./", "../", "~/", "c:\\"].iter().any(|root| lower.starts_with(root));
    // An encoded secret may begin with a slash, and has no dot and no second one soon.
    let is_deep =
        value.bytes().filter(|byte| *byte == b'/').count() > 1 || value.contains('.') || value.len() < 16;
    let is_word = |part: &str| {
        part.len() < 16
            && part.bytes().all(|byte| byte.is_ascii_lowercase() || matches!(byte, b'_' | b'-' | b'.'))
    };
    let is_relative = value.contains('/') && value.split('/').all(is_word);
    (is_rooted && is_deep) || is_relative || FILES.iter().any(|end| lower.ends_with(end))
}

/// Whether a word is long and mixed as words of languages are not.
pub(crate) fn looks_secret(value: &str) -> bool {
    let has = |is: fn(&u8) -> bool| value.as_bytes().iter().any(is);
    let mixed = has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let blank = value.bytes().any(|byte| byte.is_ascii_whitespace());
    value.len() >= 8 && mixed && !blank && !is_path(value) && !is_dotted(value) && !value.contains("://")
}

/// Versions, addresses, hosts, dates and names of files: parts of which each is a word or a number.
fn is_dotted(value: &str) -> bool {
    let parts = || value.split(['.', ':', '-', '_', '/', '=', ',']);
    let is_plain = |part: &str| {
        part.bytes().all(|byte| byte.is_ascii_digit()) || part.bytes().all(|byte| byte.is_ascii_alphabetic())
    };
    parts().count() > 1 && parts().all(|part| part.len() < 12 && is_plain(part))
}

/// Whether a word without blanks has letters in both cases and digits as chance has them: what people write together has longer
/// words.
pub(crate) fn is_random(value: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let longest = |is: fn(&u8) -> bool| value.split(|byte| !is(byte)).map(<[u8]>::len).max().unwrap_or(0);
    let is_mixed = count(u8::is_ascii_lowercase) > 2
        && count(u8::is_ascii_uppercase) > 2
        && count(u8::is_ascii_digit) > 0;
    is_mixed && longest(u8::is_ascii_lowercase) < 6 && longest(u8::is_ascii_digit) < 8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_what_only_says_where_they_are() {
        for value in ["hunter2", "two words", "/Ab9+x/Qz81LmNo24Pq", "0123", "pässword", "$'x'"] {
            assert!(is_secret(Sensitivity::Password, value), "{value}");
        }
        for value in
            ["$TOKEN", "${X}", "$(cat x)", "<token>", "{{token}}", "true", "", "***", "xxxx", "@file", "%PW%"]
        {
            assert!(!is_secret(Sensitivity::Password, value), "{value}");
        }
        for value in ["./token.txt", "/run/secrets/token", "~/.key", "creds.json", "path/to/key"] {
            assert!(!is_secret(Sensitivity::Secret, value), "{value}");
        }
        for value in ["a1b2c3d4e5", "s3cr3t-v4lue-x9"] {
            assert!(is_secret(Sensitivity::Perhaps, value), "{value}");
        }
        for value in
            ["value", "utf-8", "1.2.3.4", "2026-11-25", "col2", "web-server-01", "https://x1.example"]
        {
            assert!(!is_secret(Sensitivity::Perhaps, value), "{value}");
        }
    }

    #[test]
    fn chance_and_words() {
        assert!(is_random(b"wJalrXUtnFEMI7K7MDENGbPxRfiCYzEXAMPLEKEY"));
        assert!(is_random(b"Zx81LmNo24Pq7Rs9TuVw3XyZaB5cDeF6gHiJkLm0"));
        for word in ["getUserByIdAndCreateTheSessionForIt2024", "da39a3ee5e6b4b0d3255bfef95601890afd80709"] {
            assert!(!is_random(word.as_bytes()), "{word}");
        }
    }
}
