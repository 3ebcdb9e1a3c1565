//! Kinds of an argument: a decision, a command, a path, a host or a tool.

use std::path::Path;

use clap::ValueEnum;
use serde::Serialize;
use stockade_guard::egress::NetTarget;
use stockade_guard::policy::tools::Group;

/// The kind of an argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    /// The id of a recorded decision
    Id,
    /// A command that a shell would run
    Command,
    /// A file or a directory
    Path,
    /// A host name or an address, optionally with a port, or a URL
    Host,
    /// A tool of an agent
    Tool,
}

impl Kind {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Id => "id",
            Self::Command => "command",
            Self::Path => "path",
            Self::Host => "host",
            Self::Tool => "tool",
        }
    }
}

/// Minimum number of digits of a decision's id. A shorter one may be a word.
const MIN_ID: usize = 16;

/// Characters that only occur in commands.
const OF_COMMANDS: &[char] = &[' ', '\t', '\n', ';', '|', '&', '<', '>', '$', '`', '(', '"', '\'', '*'];

/// Returns the kinds that an argument may have, the assumed one first. Help documents the order.
pub(super) fn kinds(word: &str, is_there: impl Fn(&Path) -> bool) -> Vec<Kind> {
    let by_form = [
        (Kind::Id, is_id(word)),
        (Kind::Path, is_path_by_form(word)),
        (Kind::Host, is_url(word)),
        (Kind::Command, word.contains(OF_COMMANDS)),
    ];
    // These forms are unambiguous.
    if let Some((kind, _)) = by_form.into_iter().find(|(_, holds)| *holds) {
        return vec![kind];
    }
    let may_be = [
        (Kind::Path, is_there(Path::new(word)) || word.contains('/')),
        (Kind::Tool, is_tool(word)),
        (Kind::Host, is_host(word)),
        (Kind::Command, true),
        // A path that does not exist.
        (Kind::Path, !is_there(Path::new(word)) && !word.contains('/') && word.contains('.')),
    ];
    may_be.into_iter().filter(|(_, holds)| *holds).map(|(kind, _)| kind).collect()
}

fn is_id(word: &str) -> bool {
    word.len() >= MIN_ID && word.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte))
}

fn is_path_by_form(word: &str) -> bool {
    let begins = ["/", ".", "~/"].iter().any(|start| word.starts_with(start));
    (begins || word == "~")
        && !word.contains([';', '|', '&', '<', '>', '$', '`', '\n'])
        && !has_arguments(word)
}

/// `/bin/ls -l` runs a program, and `/My Files/a` is a path.
fn has_arguments(word: &str) -> bool {
    word.split_ascii_whitespace().skip(1).any(|one| one.starts_with('-'))
}

fn is_url(word: &str) -> bool {
    word.split_once("://").is_some_and(|(scheme, _)| scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

fn is_host(word: &str) -> bool {
    let is_named = word.contains(['.', ':']) || word == "localhost";
    is_named && !word.contains('/') && NetTarget::parse(word).is_ok()
}

fn is_tool(word: &str) -> bool {
    word.starts_with("mcp__") || Group::all().any(|group| group.tools.contains(&word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn why_recognises_the_kind_of_its_argument() {
        use Kind::{Command, Host, Id, Path as File, Tool};
        let there = |path: &Path| ["build", "notes.txt", "api.example.com"].iter().any(|name| path == Path::new(name));
        let rows: &[(&str, &[Kind])] = &[
            ("6f1c0a9be2d34c58a7e96f1c0a9be2d3", &[Id]),
            ("rm -rf build", &[Command]),
            ("ls|sh", &[Command]),
            ("~/.ssh/id_rsa", &[File]),
            ("/bin/ls -l", &[Command]),
            ("/srv/My Files", &[File]),
            (".env", &[File]),
            ("./x; ls", &[Command]),
            ("https://api.example.com/x?y=1", &[Host]),
            ("api.example.org", &[Host, Command, File]),
            ("api.example.com", &[File, Host, Command]),
            ("api.example.org:8443", &[Host, Command, File]),
            ("10.0.0.7", &[Host, Command, File]),
            ("localhost", &[Host, Command]),
            ("build", &[File, Command]),
            ("src/main.rs", &[File, Command]),
            ("notes.txt", &[File, Host, Command]),
            ("mcp__github__search", &[Tool, Command]),
            ("exec", &[Tool, Command]),
            ("make", &[Command]),
            ("deadbeef", &[Command]),
        ];
        for (word, wanted) in rows {
            assert_eq!(kinds(word, there), *wanted, "{word}");
        }
    }
}
