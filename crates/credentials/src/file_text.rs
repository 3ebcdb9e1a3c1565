//! Detection of secrets in the text of a file: a private key, a password in a URL, a token by its shape, or a value with the name of a
//! secret. A reference to a value elsewhere (`${NPM_TOKEN}`) is not a secret.

use crate::names::JOINED;
use crate::shapes;

/// Names of secrets, in lower case, besides those of [`JOINED`].
const NOUNS: &[&str] =
    &["api_key", "api-key", "access_key", "private_key", "_auth", "authident", "authorization"];

/// Ends of names whose value is about a secret: where it is, or its kind.
const ABOUT: &[&str] =
    &["file", "path", "name", "id", "type", "url", "uri", "env", "command", "helper", "ttl"];

/// Starts of placeholders: variables, templates, encrypted values.
const PLACEHOLDERS: &[&str] = &["$", "{", "<", "%", "*", "(", "[", "@", "enc[", "!"];

/// Placeholders that are words.
const NO_VALUES: &[&str] = &["false", "string", "required", "optional", "undefined", "change-me", "changeme"];

/// The length of the shortest value that counts as a secret, and of the longest end of a name that is read.
const MIN_VALUE: usize = 6;
const MAX_END: usize = 64;

/// Returns whether the text of a file contains a secret. Takes linear time.
#[must_use]
pub fn contains_secret(text: &[u8]) -> bool {
    let small = text.to_ascii_lowercase();
    has_private_key(&small)
        || has_password_in_an_address(&small)
        || has_named_value(text, &small)
        || shapes::has_distinct_token(&String::from_utf8_lossy(text))
}

fn has_private_key(small: &[u8]) -> bool {
    let is_private = |at: usize| {
        let line = small.get(at..).unwrap_or_default();
        let line = line.get(..MAX_END).unwrap_or(line);
        positions(line, b"private key").next().is_some()
    };
    positions(small, b"-----begin ").any(is_private)
        || positions(small, b"putty-user-key-file").next().is_some()
}

/// `https://user:password@host`, and `https://token@host`.
fn has_password_in_an_address(small: &[u8]) -> bool {
    /// User names are shorter.
    const TOKEN: usize = 20;
    positions(small, b"://").any(|at| {
        let rest = small.get(at + 3..).unwrap_or_default();
        let ends = |byte: &u8| byte.is_ascii_whitespace() || b"/\"'<>`@?#".contains(byte);
        let length = rest.iter().position(ends).unwrap_or(rest.len());
        let Some((user, b"@")) = rest.get(..length).zip(rest.get(length..length + 1)) else { return false };
        match user.iter().position(|byte| *byte == b':') {
            Some(colon) => is_value(user.get(colon + 1..).unwrap_or_default(), 1),
            None => is_value(user, TOKEN),
        }
    })
}

fn has_named_value(text: &[u8], small: &[u8]) -> bool {
    NOUNS.iter().copied().chain(JOINED.iter().map(|row| row.0)).any(|noun| {
        positions(small, noun.as_bytes()).any(|at| {
            let end = at + noun.len();
            // `tokenizer` is another word, and `tokenProd` is not.
            let is_other_word = text.get(end).is_some_and(|byte| byte.is_ascii_lowercase() && *byte != b's');
            !is_other_word && has_value(small.get(end..).unwrap_or_default())
        })
    })
}

/// Whether a value follows the rest of a name and a separator.
fn has_value(rest: &[u8]) -> bool {
    let length = rest.iter().take(MAX_END).take_while(|byte| is_of_a_name(**byte)).count();
    let (end, rest) = rest.split_at(length);
    if ABOUT.iter().any(|about| end.ends_with(about.as_bytes())) {
        return false;
    }
    let rest = trim(rest, b"\"']");
    let rest = rest.strip_prefix(b"value").map_or(rest, |rest| trim(rest, b""));
    let Some(rest) = [b"=", b":", b">"].iter().find_map(|sign| rest.strip_prefix(*sign)) else {
        return false;
    };
    let rest = trim(rest, b"\"'");
    let rest =
        [&b"basic "[..], b"bearer ", b"token "].iter().find_map(|it| rest.strip_prefix(*it)).unwrap_or(rest);
    let ends = |byte: &u8| byte.is_ascii_whitespace() || b"\"'<>,;`".contains(byte);
    let length = rest.iter().position(ends).unwrap_or(rest.len());
    is_value(rest.get(..length).unwrap_or_default(), MIN_VALUE)
}

fn is_of_a_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_-.".contains(&byte)
}

fn is_value(value: &[u8], at_least: usize) -> bool {
    value.len() >= at_least
        && !PLACEHOLDERS.iter().any(|begin| value.starts_with(begin.as_bytes()))
        && !NO_VALUES.iter().any(|word| value == word.as_bytes())
}

/// Strips blanks and these bytes from the start, but no line end: the value of the next name is not this one's.
fn trim<'t>(text: &'t [u8], also: &[u8]) -> &'t [u8] {
    let length = text.iter().take_while(|byte| b" \t".contains(byte) || also.contains(byte)).count();
    text.get(length..).unwrap_or_default()
}

fn positions<'t>(text: &'t [u8], part: &'t [u8]) -> impl Iterator<Item = usize> + 't {
    memchr::memmem::find_iter(text, part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_and_placeholders() {
        for text in [
            "-----BEGIN RSA PRIVATE KEY-----\nMIIE",
            "x\n-----BEGIN ENCRYPTED PRIVATE KEY-----",
            "-----BEGIN PGP PRIVATE KEY BLOCK-----",
            "PuTTY-User-Key-File-3: ssh-ed25519",
            "//registry.npmjs.org/:_authToken=npm_abcdef123456",
            "_auth = dXNlcjpwYXNz",
            "npmAuthToken: \"npm_0123456789\"",
            "[remote \"origin\"]\n\turl = https://me:hunter2@example.org/x.git\n",
            "url = https://ghp_0123456789abcdefghij@github.com/x/y",
            "extraheader = AUTHORIZATION: basic eHl6enl4",
            "export GITHUB_TOKEN=ghp_012345",
            "{\"env\":{\"OPENAI_API_KEY\":\"sk-0123456\"}}",
            "{\"type\":\"service_account\",\"private_key\": \"MIIEvgIBADAN\"}",
            "<password>hunter22</password>",
            "<add key=\"ClearTextPassword\" value=\"hunter22\" />",
            "DB_PASSWORD_PROD=hunter22",
            "apiKeyProd: abcdef12",
            "passwords: abcdef12",
            "DefaultEndpointsProtocol=https;AccountKey=4KqW9ZxT2mLb7RcV1nYd==",
            "- glpat-4KqW9ZxT2mLb7RcV1nYd",
            "see ghp_4KqW9ZxT2mLb7RcV1nYd8HsG3fJp6QaE5uOi",
        ] {
            assert!(contains_secret(text.as_bytes()), "{text}");
        }
        for text in [
            "",
            "-----BEGIN CERTIFICATE-----\nMIID",
            "-----BEGIN PUBLIC KEY-----",
            "//registry.npmjs.org/:_authToken=${NPM_TOKEN}",
            "always-auth=true\nregistry=https://registry.example/\n",
            "url = git@github.com:x/y.git",
            "url = ssh://git@example.org/x",
            "url = https://example.org/a@b",
            "password: <your password>",
            "token_file=/run/secrets/token",
            "tokenizer: gpt2-large-cased",
            "password: ENC[AES256_GCM,data:x]",
            "token:\nother: abcdefgh",
            "secret = {\n",
            "password = var",
            "ghp_ begins tokens of GitHub, sk- those of OpenAI",
            "var a = s.someVeryLongPropertyName2;",
        ] {
            assert!(!contains_secret(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_text_of_names_alone_takes_linear_time() {
        const MAX_TEXT: usize = 1 << 20;
        assert!(!contains_secret(&b"token".repeat(MAX_TEXT / 5)));
        assert!(!contains_secret(&b"://".repeat(MAX_TEXT / 3)));
    }
}
