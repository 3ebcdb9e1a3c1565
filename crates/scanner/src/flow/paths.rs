//! Recognises secret files in the words of a program, by the table of the crate `names`.

use std::borrow::Cow;

use stockade_names::{Hit, Kind, Root, Secrecy, hits};

use super::{Inflow, Inflows};
use crate::prefilter::byte_set::ByteSet;
use crate::rule::Region;

/// The bytes that can be part of a path.
const OF_PATH: ByteSet = ByteSet::WORD
    .or(ByteSet::range(b'-', b'/'))
    .or(ByteSet::range(b'~', b'~'))
    .or(ByteSet::range(b'$', b'%'))
    .or(ByteSet::range(b'{', b'{'))
    .or(ByteSet::range(b'}', b'}'))
    .or(ByteSet::range(b'*', b'+'))
    .or(ByteSet::range(b'\\', b'\\'))
    .or(ByteSet::range(b'@', b'@'))
    .or(ByteSet::range(0x80, u8::MAX));

/// Spellings of the home directory, before the rest of a path.
const HOMES: &[&str] = &[
    "~/",
    "$HOME/",
    "${HOME}/",
    "$env:USERPROFILE/",
    "%USERPROFILE%/",
    "%APPDATA%/",
    "{home}/",
    "{HOME}/",
    "${home}/",
];

/// Maximum size of a word.
const MAX_WORD: usize = 256;

/// Returns the words that can be paths, with their offsets.
pub(super) fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let rest = bytes.get(at..)?;
            let (_, word) = rest.split_at_checked(rest.iter().position(|byte| OF_PATH.contains(*byte))?)?;
            let start = bytes.len() - word.len();
            at = start + word.iter().position(|byte| !OF_PATH.contains(*byte)).unwrap_or(word.len());
            // Of a long word, its end identifies the file.
            let start = text.ceil_char_boundary(start.max(at.saturating_sub(MAX_WORD)));
            let word = text.get(start..at).unwrap_or_default();
            if word.bytes().any(|byte| matches!(byte, b'.' | b'/' | b'\\')) {
                return Some((start, word.trim_start_matches('@')));
            }
        }
    })
}

/// Returns what a word names: a file that holds secrets or grants access, starts programs, or instructs agents.
/// Settings of the project itself count as secrets only where a shell passes them on whole, not where a program reads
/// them.
pub(super) fn named(word: &str, region: Region) -> Inflows {
    let path = if word.contains('\\') { word.replace('\\', "/").into() } else { Cow::Borrowed(word) };
    let in_home = HOMES.iter().find_map(|home| path.strip_prefix(home));
    let (root, rest) = match in_home {
        Some(rest) => (Root::Home, rest),
        None => match path.strip_prefix('/') {
            Some(rest) => below_root(rest),
            None => (Root::Home, path.trim_start_matches("./")),
        },
    };
    let mut parts: Vec<&str> = Vec::new();
    for part in rest.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    let Some(last) = parts.last() else { return Inflows::NONE };
    let is_public = last.ends_with(".pub") || last.starts_with("known_hosts") || is_example(last);
    let is_settings =
        last.starts_with(".env") && in_home.is_none() && root == Root::Home && region == Region::Code;
    let content = |hit: &Hit| match hit.name.secrecy {
        Secrecy::Public => None,
        _ if is_public || is_settings => None,
        _ if is_broad(hit, &parts) => Some(Inflow::Setting),
        // What leaves with a whole file is not for the service that receives it, even where secrets are rare in such files.
        Secrecy::Settings | Secrecy::MayHoldSecret | Secrecy::Secret => Some(Inflow::SecretFile),
    };
    let obeyed = |hit: &Hit| match hit.name.kind {
        Kind::StartsPrograms => Some(Inflow::StartupFile),
        Kind::InstructsAgents => Some(Inflow::AgentFile),
        Kind::HoldsSecrets | Kind::GrantsAccess | Kind::KeepsTraces => None,
    };
    let flows = hits(root, &parts).into_iter().flat_map(|hit| [content(&hit), obeyed(&hit)]).flatten();
    let flows = flows.fold(Inflows::NONE, |all, flow| all.with(Inflows::of(&[flow])));
    if flows.contains(Inflow::SecretFile) { flows.without(Inflow::Setting) } else { flows }
}

/// Whether a word of a shell names a file of this kind.
pub(crate) fn names_a(word: &str, flow: Inflow) -> bool {
    named(word.trim_matches(['"', '\'']), Region::Shell).contains(flow)
}

/// Whether a row covers a whole directory with secrets and much else, and the path is something in it.
fn is_broad(hit: &Hit, path: &[&str]) -> bool {
    let is_folder = matches!(hit.name.id, "home-credentials" | "agent-credentials" | "secrets-folder");
    // In these, everything is secret.
    let is_vault =
        |first: &&str| matches!(*first, ".ssh" | ".aws" | ".gnupg" | ".kube" | ".azure" | ".mozilla");
    is_folder && hit.length < path.len() && !path.first().is_some_and(is_vault)
}

/// Whether the file name marks an example: `.env.example`.
fn is_example(last: &str) -> bool {
    const ENDS: &[&str] = &["example", "sample", "template", "dist", "defaults", "schema"];
    last.starts_with(".env") && last.rsplit('.').next().is_some_and(|end| ENDS.contains(&end))
}

fn below_root(rest: &str) -> (Root, &str) {
    let home = ["home/", "Users/"].iter().find_map(|folder| rest.strip_prefix(folder)?.split_once('/'));
    match home.map(|(_, rest)| rest).or_else(|| rest.strip_prefix("root/")) {
        Some(rest) => (Root::Home, rest),
        None => (Root::Machine, rest),
    }
}

#[cfg(test)]
mod tests {
    use stockade_names::{Scope, names};

    use super::*;

    /// The level of a name decides here as at every other place: a program that sends any file that may hold a secret is seen.
    #[test]
    fn every_file_above_public_is_a_source() {
        const OF_FILES: Inflows = Inflows::of(&[Inflow::SecretFile, Inflow::Setting]);
        let mut wrong = Vec::new();
        for name in names().filter(|name| name.scope != Scope::Repository) {
            for path in name.matches {
                let word = match name.scope {
                    Scope::Home => format!("~/{path}"),
                    Scope::Machine => format!("/{path}"),
                    Scope::Anywhere | Scope::Repository => (*path).to_owned(),
                };
                let is_source = named(&word, Region::Shell).has_any_of(OF_FILES);
                let is_example = is_example(path.rsplit('/').next().unwrap_or_default());
                if name.secrecy > Secrecy::Public && !is_source && !is_example {
                    wrong.push(word);
                }
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
        for word in ["README.md", "src/main.rs", "~/notes.md", "Cargo.toml", "~/.ssh/id_rsa.pub"] {
            assert!(!named(word, Region::Shell).has_any_of(OF_FILES), "{word}");
        }
    }
}
