//! Whether a secret stands in a text: a private key, a password in an address, or something that is called a token and has a
//! value. What stands for a value from elsewhere (`${NPM_TOKEN}`) is none.

/// Longest file that is read; nobody says of a longer one that there is no secret in it.
pub(crate) const MAX_TEXT: usize = 1 << 20;

/// What values are called that are secrets, in small letters.
const NOUNS: &[&str] = &[
    "token",
    "secret",
    "passwd",
    "password",
    "passphrase",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "accesskey",
    "private_key",
    "privatekey",
    "_auth",
    "authident",
    "authorization",
];

/// What a name ends with that says where a secret is, or what kind of one.
const ABOUT: &[&str] =
    &["file", "path", "name", "id", "type", "url", "uri", "env", "command", "helper", "ttl"];

/// How values begin that are no values yet: variables, templates, what is encrypted.
const STANDS_FOR: &[&str] = &["$", "{", "<", "%", "*", "(", "[", "@", "enc[", "!"];

/// Words that stand in the place of a value.
const NO_VALUES: &[&str] = &["false", "string", "required", "optional", "undefined", "change-me", "changeme"];

/// The shortest value that is taken for a secret, and the longest end of a name that is looked at.
const MIN_VALUE: usize = 6;
const MAX_END: usize = 64;

/// Whether a secret stands in a text.
pub(crate) fn holds_secret(text: &[u8]) -> bool {
    let small = text.to_ascii_lowercase();
    has_private_key(&small) || has_password_in_an_address(&small) || has_named_value(text, &small)
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
    /// No name of a user is so long.
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
    NOUNS.iter().any(|noun| {
        positions(small, noun.as_bytes()).any(|at| {
            let end = at + noun.len();
            // `tokenizer` is another word, and `tokenProd` is not.
            let is_other_word = text.get(end).is_some_and(|byte| byte.is_ascii_lowercase() && *byte != b's');
            !is_other_word && has_value(small.get(end..).unwrap_or_default())
        })
    })
}

/// Whether a value follows, after the end of a name and what stands between both.
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
        && !STANDS_FOR.iter().any(|begin| value.starts_with(begin.as_bytes()))
        && !NO_VALUES.iter().any(|word| value == word.as_bytes())
}

/// Without blanks and these at the beginning; a line ends here, or the value of the next name would be taken for this one's.
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
    fn secrets_and_what_stands_for_them() {
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
        ] {
            assert!(holds_secret(text.as_bytes()), "{text}");
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
        ] {
            assert!(!holds_secret(text.as_bytes()), "{text}");
        }
    }

    /// As many names as there may be, each looked at once.
    #[test]
    fn a_text_of_nothing_but_names_is_read() {
        assert!(!holds_secret(&b"token".repeat(MAX_TEXT / 5)));
        assert!(!holds_secret(&b"://".repeat(MAX_TEXT / 3)));
    }
}
