//! File format of pins. A server's command line may contain secrets, so only a digest of it is stored, and a redacted form for
//! display.

use std::collections::BTreeMap;
use stockade_text::to_hex;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use stockade_guard::audit::Redactor;
use stockade_guard::command::shell::quote_argv;

use super::{DefinitionChange, difference::difference};

/// Maximum length of a stored command line, in characters.
const MAX_SHOWN: usize = 400;

/// Pins of all servers with one name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SavedPins {
    pub(super) servers: Vec<PinnedServer>,
}

/// Pins of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Stored")]
pub struct PinnedServer {
    /// Salt of the digest, so that secrets cannot be found by guessing.
    salt: String,
    /// Identifies the program and its arguments.
    digest: String,
    /// The program and its arguments without likely secrets.
    pub shown: String,
    /// Its tools by name.
    pub tools: BTreeMap<String, PinnedTool>,
    /// Whether the file has the format of earlier versions, with the whole command line.
    #[serde(skip)]
    is_old: bool,
}

/// Redacts a command line for the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    command: Option<Vec<String>>,
    salt: Option<String>,
    digest: Option<String>,
    shown: Option<String>,
    tools: BTreeMap<String, PinnedTool>,
}

impl TryFrom<Stored> for PinnedServer {
    type Error = String;

    fn try_from(stored: Stored) -> Result<Self, String> {
        let Stored { command, salt, digest, shown, tools } = stored;
        match (command, salt, digest, shown) {
            (Some(command), None, None, None) => Ok(Self { tools, is_old: true, ..Self::of(&command)? }),
            (None, Some(salt), Some(digest), Some(shown)) => {
                Ok(Self { salt, digest, shown, tools, is_old: false })
            }
            _ => Err("a server must have a digest of its command line, a salt, and the command line to show"
                .to_owned()),
        }
    }
}

impl PinnedServer {
    /// Returns a new server without tools.
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

    /// Whether this is the server with this command line.
    pub(super) fn is(&self, command: &[String]) -> bool {
        self.digest == digest(&self.salt, command)
    }

    /// Converts an old entry to the current format.
    pub(super) fn renew(&mut self) {
        self.is_old = false;
    }
}

/// Hashes each word with its length, so that different command lines have different digests.
fn digest(salt: &str, command: &[String]) -> String {
    let mut hash = Sha256::new_with_prefix(salt);
    for word in command {
        hash.update(u64::try_from(word.len()).unwrap_or(u64::MAX).to_le_bytes());
        hash.update(word);
    }
    to_hex(&hash.finalize())
}

/// Returns random bytes in hexadecimal.
fn random<const N: usize>() -> Result<String, String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(to_hex(&bytes))
}

/// Pin of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PinnedTool {
    /// The accepted definition.
    pub(super) definition: String,
    /// The current definition, if it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) changed: Option<Changed>,
}

/// A changed definition that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Changed {
    pub(super) definition: String,
    /// Random ticket that identifies the change, so that a server cannot create two changes with one ticket.
    ticket: String,
}

impl Changed {
    pub(super) fn to(definition: &str) -> Result<Self, String> {
        Ok(Self { definition: definition.to_owned(), ticket: random::<4>()? })
    }
}

impl PinnedTool {
    /// Returns the name of a pending change, if there is one.
    pub(super) fn ticket(&self, name: &str) -> Option<String> {
        self.changed.as_ref().map(|changed| format!("{name}@{}", changed.ticket))
    }

    /// Returns the difference of a pending change.
    pub fn change(&self, name: &str) -> Option<DefinitionChange> {
        let changed = self.changed.as_ref()?;
        Some(DefinitionChange {
            difference: difference(&self.definition, &changed.definition),
            ticket: self.ticket(name)?,
        })
    }
}
