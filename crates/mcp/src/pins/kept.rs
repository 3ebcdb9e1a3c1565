//! How pins are kept in a file. The command line of a server may hold secrets, so it is not kept: only what tells it from others, and what
//! of it can be shown.

use std::collections::BTreeMap;
use stockade_text::to_hex;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use stockade_guard::audit::Redactor;
use stockade_guard::command::shell::quote_argv;

use super::{DefinitionChange, difference::difference};

/// The longest command line that is kept to be shown, in characters.
const MAX_SHOWN: usize = 400;

/// What is kept of all servers that have one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Kept {
    pub(super) servers: Vec<KeptServer>,
}

/// What is kept of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct KeptServer {
    /// What is mixed into the digest, so that nobody finds a secret by trying.
    salt: String,
    /// Tells the program and its arguments from others.
    digest: String,
    /// The program and its arguments without what looks like a secret.
    pub shown: String,
    /// Its tools, by their names.
    pub tools: BTreeMap<String, KeptTool>,
    /// Whether the file has it in the form of earlier versions, with the whole command line.
    #[serde(skip)]
    is_old: bool,
}

/// The same as it may stand in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    command: Option<Vec<String>>,
    salt: Option<String>,
    digest: Option<String>,
    shown: Option<String>,
    tools: BTreeMap<String, KeptTool>,
}

impl TryFrom<Stored> for KeptServer {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { command, salt, digest, shown, tools } = stored;
        match (command, salt, digest, shown) {
            (Some(command), None, None, None) => Ok(Self { tools, is_old: true, ..Self::of(&command)? }),
            (None, Some(salt), Some(digest), Some(shown)) => {
                Ok(Self { salt, digest, shown, tools, is_old: false })
            }
            _ => Err("a server has a digest of its command line, a salt, and what of it is shown".to_owned()),
        }
    }
}

impl KeptServer {
    /// A server of which nothing is known yet.
    pub(super) fn of(command: &[String]) -> Result<Self, String> {
        let salt = random::<16>()?;
        let line = quote_argv(command.iter().map(String::as_str));
        let redacted = Redactor::default().redact(&line).into_owned();
        let mut shown: String = redacted.chars().take(MAX_SHOWN).collect();
        if shown.len() < redacted.len() {
            shown.push('…');
        }
        Ok(Self { digest: digest(&salt, command), salt, shown, tools: BTreeMap::new(), is_old: false })
    }

    /// Whether it is this one.
    pub(super) fn is(&self, command: &[String]) -> bool {
        self.digest == digest(&self.salt, command)
    }

    /// From now on it is kept as it is kept today.
    pub(super) fn renew(&mut self) {
        self.is_old = false;
    }
}

/// Each word with its length, so that no two lines of words have one digest.
fn digest(salt: &str, command: &[String]) -> String {
    let mut hash = Sha256::new_with_prefix(salt);
    for word in command {
        hash.update(u64::try_from(word.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(word);
    }
    to_hex(&hash.finalize())
}

/// So many bytes that nobody has had, in hexadecimal.
fn random<const N: usize>() -> Result<String, String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(to_hex(&bytes))
}

/// What is kept of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KeptTool {
    /// Its definition, as it was agreed to.
    pub(super) definition: String,
    /// What it is now, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changed: Option<Changed>,
}

/// A definition that nobody has agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Changed {
    pub(super) definition: String,
    /// What names it to whoever agrees: drawn anew for each, so that no server can have two of one name.
    ticket: String,
}

impl Changed {
    pub(super) fn to(definition: &str) -> Result<Self, String> {
        Ok(Self { definition: definition.to_owned(), ticket: random::<4>()? })
    }
}

impl KeptTool {
    /// What names a change to whoever agrees to it, where there is one.
    pub(super) fn ticket(&self, name: &str) -> Option<String> {
        self.changed.as_ref().map(|changed| format!("{name}@{}", changed.ticket))
    }

    /// What is another now.
    pub fn change(&self, name: &str) -> Option<DefinitionChange> {
        let changed = self.changed.as_ref()?;
        Some(DefinitionChange {
            difference: difference(&self.definition, &changed.definition),
            ticket: self.ticket(name)?,
        })
    }
}
