//! Names of variables, options, headers and keys whose value is a secret.

/// How likely the value of a name is a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sensitivity {
    /// The name is not that of a secret.
    Ordinary,
    /// The value is a secret if it looks like one: `session`, `key`.
    Perhaps,
    /// The value is a secret, or the path of a file with one: `TOKEN`, `apiKey`.
    Secret,
    /// The value is a password, whatever it looks like: `DB_PASS`.
    Password,
}

/// Words that name a password, at the end of a name.
pub(crate) const PASSWORDS: &[&str] =
    &["password", "passwd", "passphrase", "passcode", "pass", "pwd", "psw", "pword", "passw"];

/// Words that name something as secret, at the end of a name.
pub(crate) const SECRETS: &[&str] = &[
    "secret",
    "secrets",
    "token",
    "credential",
    "credentials",
    "creds",
    "cred",
    "apikey",
    "authkey",
    "auth",
    "mnemonic",
    "sas",
    "bearer",
    "jwt",
    "apitoken",
];

/// Ends of words that are written together: `PGPASSWORD`, `accesstoken`.
pub(crate) const JOINED: &[(&str, Sensitivity)] = &[
    ("password", Sensitivity::Password),
    ("passwd", Sensitivity::Password),
    ("passphrase", Sensitivity::Password),
    ("storepass", Sensitivity::Password),
    ("keypass", Sensitivity::Password),
    ("sshpass", Sensitivity::Password),
    ("secret", Sensitivity::Secret),
    ("token", Sensitivity::Secret),
    ("apikey", Sensitivity::Secret),
    ("authkey", Sensitivity::Secret),
    ("secretkey", Sensitivity::Secret),
    ("accesskey", Sensitivity::Secret),
    ("privatekey", Sensitivity::Secret),
    ("sharedkey", Sensitivity::Secret),
    ("accountkey", Sensitivity::Secret),
];

/// Words before `key` that make it the name of a secret.
const KEYS_OF: &[&str] = &[
    "access",
    "account",
    "admin",
    "aes",
    "api",
    "app",
    "application",
    "auth",
    "client",
    "consumer",
    "cookie",
    "crypt",
    "decrypt",
    "decryption",
    "deploy",
    "encrypt",
    "encryption",
    "function",
    "functions",
    "hmac",
    "integration",
    "jwt",
    "license",
    "master",
    "primary",
    "private",
    "rest",
    "root",
    "routing",
    "secondary",
    "secret",
    "server",
    "service",
    "session",
    "shared",
    "sign",
    "signing",
    "storage",
    "stream",
    "subscription",
    "webhook",
    "write",
];

/// Words at the end of a name whose value is secret if it looks like it.
const PERHAPS: &[&str] = &[
    "key",
    "keys",
    "sig",
    "signature",
    "session",
    "sessionid",
    "sid",
    "cookie",
    "hmac",
    "salt",
    "otp",
    "pin",
    "seed",
    "license",
    "ticket",
    "assertion",
    "csrf",
    "xsrf",
    "dsn",
    "webhook",
    "tokens",
    "userpass",
    "phrase",
];

/// Words before `token` that make it a position in a list or a piece of text, not a secret.
const TOKENS_OF: &[&str] = &[
    "bos",
    "continuation",
    "end",
    "eos",
    "mask",
    "next",
    "pad",
    "page",
    "per",
    "special",
    "start",
    "starting",
    "stop",
    "sync",
    "unk",
];

/// Words that may follow those above without changing what they say.
const SUFFIXES: &[&str] = &[
    "prod",
    "production",
    "dev",
    "development",
    "staging",
    "stage",
    "test",
    "live",
    "old",
    "new",
    "base",
    "value",
    "text",
    "plain",
    "b64",
    "base64",
    "hex",
    "data",
    "key",
    "string",
    "current",
    "next",
    "previous",
];

/// Words at the end of a name whose value describes a secret and does not contain it.
const ABOUT: &[&str] = &[
    "age",
    "alg",
    "algorithm",
    "arn",
    "bits",
    "bucket",
    "budget",
    "cmd",
    "command",
    "count",
    "dir",
    "directory",
    "enabled",
    "endpoint",
    "env",
    "eval",
    "expiration",
    "expires",
    "expiry",
    "fd",
    "field",
    "file",
    "files",
    "folder",
    "format",
    "header",
    "helper",
    "host",
    "id",
    "ids",
    "in",
    "index",
    "interval",
    "kind",
    "len",
    "length",
    "limit",
    "location",
    "manager",
    "max",
    "min",
    "mode",
    "name",
    "names",
    "path",
    "paths",
    "policy",
    "prefix",
    "prompt",
    "provider",
    "rate",
    "ref",
    "required",
    "reset",
    "role",
    "scheme",
    "scope",
    "service",
    "size",
    "source",
    "stdin",
    "store",
    "through",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
    "version",
];

/// Words at the start of an option that has no value: `--with-token`, `--no-password`.
#[cfg(feature = "redact")]
const SWITCHES: &[&str] = &[
    "allow",
    "ask",
    "disable",
    "enable",
    "generate",
    "get",
    "hide",
    "interactive",
    "list",
    "max",
    "min",
    "no",
    "num",
    "print",
    "prompt",
    "remember",
    "request",
    "require",
    "reset",
    "revoke",
    "rotate",
    "save",
    "show",
    "skip",
    "strip",
    "use",
    "with",
    "without",
];

/// The most bytes of a name; a longer one is no name that people give.
pub(crate) const MAX_NAME_BYTES: usize = 80;

/// Returns how likely the value of a name is a secret. `dbPassword`, `DB_PASSWORD` and `db.password` are one name. Takes linear
/// time.
#[must_use]
pub fn sensitivity(name: &str) -> Sensitivity {
    let words = words(name);
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let Some((last, before)) = words.split_last() else { return Sensitivity::Ordinary };
    let is_named = of_words(last, before);
    if is_named > Sensitivity::Ordinary {
        return is_named;
    }
    // The `secret_id` of a role is a secret; that of a store is the name of one.
    if *last == "id" && before.last() == Some(&"secret") {
        return Sensitivity::Perhaps;
    }
    if ABOUT.contains(last) {
        return Sensitivity::Ordinary;
    }
    let suffixed = words.iter().rev().skip_while(|word| is_suffix(word)).count();
    match words.get(..suffixed).and_then(<[&str]>::split_last) {
        Some((last, before)) if suffixed < words.len() => of_words(last, before),
        // A password that has something else behind it may be one, as in `password_of_bob`.
        _ if before.iter().any(|word| PASSWORDS.contains(word) || SECRETS.contains(word)) => {
            Sensitivity::Perhaps
        }
        _ => Sensitivity::Ordinary,
    }
}

/// Whether an option of this name has no value, whatever else it says.
#[cfg(feature = "redact")]
pub(crate) fn is_switch(name: &str) -> bool {
    words(name).first().is_some_and(|first| SWITCHES.contains(&first.as_str()))
}

/// Whether a word is one of a table, and not several that are written together.
#[cfg(feature = "redact")]
pub(crate) fn is_exact(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    let joined = JOINED.iter().any(|(word, _)| *word == name);
    joined || PASSWORDS.contains(&name.as_str()) || SECRETS.contains(&name.as_str())
}

fn of_words(last: &str, before: &[&str]) -> Sensitivity {
    // Where a command works, unless it is one of several settings.
    if before.is_empty() && ["pwd", "oldpwd"].contains(&last) {
        return Sensitivity::Perhaps;
    }
    if last == "token" && before.last().is_some_and(|of| TOKENS_OF.contains(of)) {
        return Sensitivity::Ordinary;
    }
    if PASSWORDS.contains(&last) {
        return Sensitivity::Password;
    }
    let joined = JOINED.iter().find(|(end, _)| last.ends_with(end)).map(|row| row.1);
    if let Some(joined) = joined {
        return joined;
    }
    let is_key = last == "key" && before.last().is_some_and(|of| KEYS_OF.contains(of));
    match () {
        () if is_key || SECRETS.contains(&last) => Sensitivity::Secret,
        () if PERHAPS.contains(&last) => Sensitivity::Perhaps,
        () => Sensitivity::Ordinary,
    }
}

fn is_suffix(word: &str) -> bool {
    SUFFIXES.contains(&word) || word.bytes().all(|byte| byte.is_ascii_digit())
}

/// The words of a name, in lower case: `dbPassword`, `DB_PASSWORD` and `db.password` are `db` and `password`.
fn words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in name.chars().take(MAX_NAME_BYTES) {
        if !c.is_ascii_alphanumeric() || (was_lower && c.is_ascii_uppercase()) {
            words.push(String::new());
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if let Some(word) = words.last_mut().filter(|_| c.is_ascii_alphanumeric()) {
            word.push(c.to_ascii_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.iter().map(|word| without_number(word).to_owned()).collect()
}

/// `password2` is a password.
fn without_number(word: &str) -> &str {
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare.len() > 2 { bare } else { word }
}

#[cfg(test)]
mod tests {
    #[cfg(feature = "redact")]
    use super::is_switch;
    use super::{Sensitivity, sensitivity};

    #[test]
    fn names() {
        let rows: [(Sensitivity, &[&str]); 4] = [
            (
                Sensitivity::Password,
                &[
                    "password",
                    "DB_PASS",
                    "PASS",
                    "MYSQL_PWD",
                    "PGPASSWORD",
                    "dbPassword",
                    "spring.datasource.password",
                    "password2",
                    "PASSWORD_PROD",
                    "--http-password",
                    "-storepass",
                    "BORG_PASSPHRASE",
                ],
            ),
            (
                Sensitivity::Secret,
                &[
                    "TOKEN",
                    "GITHUB_TOKEN",
                    "client_secret",
                    "AWS_SECRET_ACCESS_KEY",
                    "apiKey",
                    "X-Api-Key",
                    "AccountKey",
                    "SIGNING_KEY",
                    "ENCRYPTION_KEY",
                    "NPM_AUTH",
                    "SECRET_KEY_BASE",
                    "authkey",
                    "_authToken",
                    "SharedAccessKey",
                    "access_token",
                    "DJANGO_SECRET_KEY",
                ],
            ),
            (
                Sensitivity::Perhaps,
                &[
                    "sig",
                    "PWD",
                    "secret_id",
                    "X-Amz-Signature",
                    "key",
                    "SENTRY_DSN",
                    "max_tokens",
                    "password_of_bob",
                ],
            ),
            (
                Sensitivity::Ordinary,
                &[
                    "TOKEN_FILE",
                    "password-stdin",
                    "SECRET_NAME",
                    "token_url",
                    "keyboard",
                    "passport",
                    "monkey",
                    "author",
                    "compass",
                    "PATH",
                    "tokenizer",
                    "secretary",
                    "access_key_id",
                    "key_file",
                    "password-file",
                    "bypass",
                    "",
                ],
            ),
        ];
        for (expected, names) in rows {
            for name in names {
                assert_eq!(sensitivity(name), expected, "{name}");
            }
        }
    }

    #[cfg(feature = "redact")]
    #[test]
    fn switches() {
        for (name, expected) in
            [("--with-token", true), ("--no-password", true), ("--token", false), ("-t", false)]
        {
            assert_eq!(is_switch(name), expected, "{name}");
        }
    }
}
