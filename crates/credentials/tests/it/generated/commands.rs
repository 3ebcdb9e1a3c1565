//! Commands from the templates, and what they are wrapped in.

use super::numbers::Numbers;
use super::templates::{HARMLESS, SECRET};
use super::tokens::{harmless, host, password, token, webhook};

/// A command, and what is known of its parts.
pub(super) struct Made {
    pub(super) text: String,
    /// The secrets, and the kind of each.
    pub(super) secrets: Vec<(String, String)>,
    /// Programs and hosts.
    pub(super) evidence: Vec<String>,
}

/// Signs of passwords that mean nothing to a shell within a word.
const SIGNS: &str = "_.+^~%,@";

/// Makes a command of one to three, of which one has a secret.
pub(super) fn make(numbers: &mut Numbers) -> Made {
    let mut made = Made { text: String::new(), secrets: Vec::new(), evidence: Vec::new() };
    let count = 1 + numbers.below(3);
    let secret = numbers.below(count);
    for place in 0..count {
        if place > 0 {
            // Lines of a document end before what follows it.
            let joint = if made.text.ends_with('\n') {
                ""
            } else {
                numbers.one(&[" && ", "; ", "\n", " || ", " & "])
            };
            made.text.push_str(joint);
        }
        fill(numbers.one(if place == secret { SECRET } else { HARMLESS }), numbers, &mut made);
    }
    made
}

fn fill(template: &str, numbers: &mut Numbers, made: &mut Made) {
    let kind = |template: &str| template.chars().take(48).collect::<String>();
    let mut rest = template;
    while let Some(at) = rest.find(['!', '‹']) {
        let (before, from) = rest.split_at(at);
        made.text.push_str(before);
        if let Some(program) = from.strip_prefix('!') {
            let name: String =
                program.chars().take_while(|sign| sign.is_alphanumeric() || *sign == '-').collect();
            made.text.push_str(&name);
            rest = program.strip_prefix(&name).unwrap();
            made.evidence.push(name);
            continue;
        }
        let (gap, after) = from.strip_prefix('‹').unwrap().split_once('›').unwrap();
        rest = after;
        let word = match gap {
            "token" => {
                let (issuer, token) = token(numbers);
                made.secrets.push((format!("{issuer}: {}", kind(template)), token.clone()));
                token
            }
            "pw" | "pwu" => {
                let password = password(numbers, if gap == "pw" { SIGNS } else { "_.~" });
                made.secrets.push((kind(template), password.clone()));
                password
            }
            "hook" => {
                let hook = webhook(numbers);
                made.secrets.push((kind(template), hook.clone()));
                hook
            }
            "host" => {
                let host = host(numbers);
                made.evidence.push(host.clone());
                host
            }
            "digest" => format!(
                "{}==",
                numbers.text("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", 86)
            ),
            "k" => harmless(numbers).chars().filter(char::is_ascii_alphabetic).collect::<String>() + "x",
            _ => harmless(numbers),
        };
        made.text.push_str(&word);
    }
    made.text.push_str(rest);
}

/// What a command is wrapped in.
pub(super) struct Wrapping {
    pub(super) name: &'static str,
    before: &'static str,
    after: &'static str,
    quote: Quote,
}

/// How the text of a command is written within its wrapping.
#[derive(Clone, Copy)]
enum Quote {
    Plain,
    Single,
    Double,
    Json,
}

impl Wrapping {
    pub(super) fn around(&self, command: &str) -> String {
        let command = match self.quote {
            Quote::Plain => command.to_owned(),
            Quote::Single => command.replace('\'', "'\\''"),
            Quote::Double => command.chars().fold(String::new(), |mut text, sign| {
                text.extend("\\\"$`".contains(sign).then_some('\\'));
                text.push(sign);
                text
            }),
            Quote::Json => serde_json::to_string(command).unwrap(),
        };
        format!("{}{command}{}", self.before, self.after)
    }
}

const fn wrapping(name: &'static str, quote: Quote, before: &'static str, after: &'static str) -> Wrapping {
    Wrapping { name, before, after, quote }
}

#[rustfmt::skip]
pub(super) const WRAPPINGS: &[Wrapping] = &[
    wrapping("bare", Quote::Plain, "", ""),
    wrapping("sh -c", Quote::Single, "sh -c '", "'"),
    wrapping("bash -lc", Quote::Double, "bash -lc \"", "\""),
    wrapping("env timeout", Quote::Single, "env A=1 timeout 5 bash -c '", "'"),
    wrapping("ssh", Quote::Single, "ssh root@outer.example '", "'"),
    wrapping("sudo", Quote::Single, "sudo -u app sh -c '", "'"),
    wrapping("docker exec", Quote::Single, "docker exec -it web sh -c '", "'"),
    wrapping("cd", Quote::Plain, "cd src && ", ""),
    wrapping("subshell", Quote::Plain, "(", "\n) > out.log 2>&1 &"),
    wrapping("if", Quote::Plain, "if ", "\nthen echo fine; fi"),
    wrapping("script", Quote::Plain, "bash -s <<'END_OF_SCRIPT'\n", "\nEND_OF_SCRIPT\n"),
    wrapping("JSON", Quote::Json, "{\"tool\":\"Bash\",\"command\":", ",\"timeout\":5}"),
];
