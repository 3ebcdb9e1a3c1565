//! Pinned tool definitions. A server that changes a tool after it was first seen is detected.

mod difference;
mod saved;

use std::path::{Path, PathBuf};

use stockade_files::{KeptFile, KeptFileError};
use stockade_guard::audit::AuditTrail;

use super::conversation::{Definition, Pinned};
use saved::{Changed, PinnedServer, PinnedTool, SavedPins};

/// Maximum size of the pins of one server name in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Maximum number of servers with one name: the same program with other arguments is another server.
const MAX_SERVERS: usize = 64;

/// Maximum length of a difference in a refusal, in characters. A longer one is shown by `stockade mcp pins list`.
const MAX_TOLD: usize = 4000;

/// A changed tool, with a ticket to accept the change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionChange {
    /// The difference.
    pub difference: String,
    /// `TOOL@TICKET`, for `stockade mcp pins accept`.
    pub ticket: String,
}

/// The pins of the servers with one name.
#[derive(Debug, Clone)]
pub struct Pins {
    name: String,
    file: KeptFile,
}

impl Pins {
    /// Returns the pins of this user. Nothing is read yet.
    pub fn of_user(name: &str) -> Result<Self, String> {
        let folder = folder().ok_or("no state directory: HOME is not set")?;
        Ok(Self::within(&folder, name))
    }

    fn within(folder: &Path, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            file: KeptFile::new(folder.join(format!("{name}.json")), MAX_BYTES).private(),
        }
    }

    /// Reads the stored pins.
    pub fn servers(&self) -> Result<Vec<PinnedServer>, String> {
        let text = self.file.read().map_err(|error| self.unusable(&error))?;
        Ok(self.read(text.as_deref())?.servers)
    }

    /// Compares tool definitions of a server with the pins. New tools are pinned.
    pub(crate) fn pin(&self, command: &[String], tools: &[Definition]) -> Result<Vec<Pinned>, String> {
        if tools.is_empty() {
            return Ok(Vec::new());
        }
        self.change(|kept| {
            let server = match kept.servers.iter().position(|server| server.is(command)) {
                Some(at) => kept.servers.get_mut(at),
                None if kept.servers.len() >= MAX_SERVERS => return Err(self.too_many()),
                None => {
                    kept.servers.push(PinnedServer::of(command)?);
                    kept.servers.last_mut()
                }
            };
            let server = server.ok_or_else(|| "missing name of a server".to_owned())?;
            tools.iter().map(|definition| self.pin_one(server, definition)).collect()
        })
    }

    fn pin_one(&self, server: &mut PinnedServer, seen: &Definition) -> Result<Pinned, String> {
        let Definition { tool, written } = seen;
        let Some(known) = server.tools.get_mut(tool) else {
            let first = PinnedTool { definition: written.clone(), changed: None };
            server.tools.insert(tool.clone(), first);
            return Ok(Pinned::Same);
        };
        if known.definition == *written {
            known.changed = None;
            return Ok(Pinned::Same);
        }
        if known.changed.as_ref().is_none_or(|changed| changed.definition != *written) {
            known.changed = Some(Changed::to(written)?);
        }
        Ok(known.change(tool).map_or(Pinned::Same, |change| Pinned::Changed(self.refusal(&change))))
    }

    /// Describes why a changed tool is omitted, and how to accept the change. Without the full difference, no ticket is given.
    fn refusal(&self, change: &DefinitionChange) -> String {
        let (DefinitionChange { difference, ticket }, server) = (change, &self.name);
        match difference.chars().nth(MAX_TOLD) {
            None => format!(
                "its definition has changed since you accepted it: {difference}; to accept the change, run \
                 `stockade mcp pins accept {server} {ticket}`"
            ),
            Some(_) => format!(
                "its definition has changed since you accepted it; to show the difference and how to accept it, run \
                 `stockade mcp pins list {server}`"
            ),
        }
    }

    fn too_many(&self) -> String {
        format!(
            "{MAX_SERVERS} other servers or command lines have the name `{0}`, which is the maximum: use --name \
             NAME, or run `stockade mcp pins forget {0}`",
            self.name
        )
    }

    /// Accepts changes by their tickets, and no later change of the same tool. Returns the accepted changes, or the first
    /// unknown ticket, in which case nothing is accepted.
    pub fn accept(&self, tickets: &[String]) -> Result<Result<Vec<DefinitionChange>, String>, String> {
        self.change(|kept| {
            let waits = |kept: &SavedPins, ticket: &String| {
                let mut tools = kept.servers.iter().flat_map(|server| &server.tools);
                tools.any(|(name, tool)| tool.ticket(name).is_some_and(|waiting| waiting == *ticket))
            };
            if let Some(unknown) = tickets.iter().find(|ticket| !waits(kept, ticket)) {
                return Ok(Err(unknown.clone()));
            }
            let mut agreed = Vec::new();
            for (name, tool) in kept.servers.iter_mut().flat_map(|server| &mut server.tools) {
                let is_meant = tool.ticket(name).is_some_and(|ticket| tickets.contains(&ticket));
                if is_meant
                    && let Some(change) = tool.change(name)
                    && let Some(changed) = tool.changed.take()
                {
                    tool.definition = changed.definition;
                    agreed.push(change);
                }
            }
            Ok(Ok(agreed))
        })
    }

    /// Deletes the pins of these tools, or of all, so that the next definitions count as new. Returns the number of deleted pins.
    pub fn forget(&self, tools: &[String]) -> Result<usize, String> {
        self.change(|kept| {
            let count =
                |kept: &SavedPins| kept.servers.iter().map(|server| server.tools.len()).sum::<usize>();
            let before = count(kept);
            for server in &mut kept.servers {
                server.tools.retain(|name, _| !tools.is_empty() && !tools.contains(name));
            }
            kept.servers.retain(|server| !server.tools.is_empty());
            Ok(before - count(kept))
        })
    }

    #[expect(clippy::disallowed_methods, reason = "makes the folder of the pins")]
    fn change<T>(&self, change: impl FnOnce(&mut SavedPins) -> Result<T, String>) -> Result<T, String> {
        if let Some(folder) = self.file.path().parent() {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| self.unusable(&KeptFileError::Io(error)))?;
        }
        let changed = self.file.change(|text| {
            let before = self.read(text)?;
            let mut kept = before.clone();
            kept.servers.iter_mut().for_each(PinnedServer::renew);
            let answer = change(&mut kept)?;
            // An unchanged list causes no write.
            if kept == before {
                return Ok((None, answer));
            }
            let after = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())?;
            match u64::try_from(after.len()).is_ok_and(|bytes| bytes < MAX_BYTES) {
                true => Ok((Some(format!("{after}\n")), answer)),
                false => Err(format!(
                    "the definitions of `{0}` exceed {MAX_BYTES} bytes; to delete all of them, run `stockade mcp \
                     pins forget {0}`",
                    self.name
                )),
            }
        });
        changed.map_err(|error| self.unusable(&error))?
    }

    fn read(&self, text: Option<&str>) -> Result<SavedPins, String> {
        let read = text.map(serde_json::from_str).transpose();
        let broken = |error: serde_json::Error| {
            format!(
                "{} is not a pins file: {error}; move it away to start without pins",
                self.file.path().display()
            )
        };
        Ok(read.map_err(broken)?.unwrap_or_default())
    }

    fn unusable(&self, error: &KeptFileError) -> String {
        format!("the pins in {} cannot be used: {error}", self.file.path().display())
    }
}

fn folder() -> Option<PathBuf> {
    AuditTrail::default_path()?.parent().map(|state| state.join("mcp"))
}

/// Returns the server names that have pins.
#[expect(clippy::disallowed_methods, reason = "lists the folder of the pins")]
pub fn names() -> Vec<String> {
    let entries = folder().and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
    let name = |entry: std::fs::DirEntry| {
        let name = entry.file_name().into_string().ok()?;
        Some(name.strip_suffix(".json").filter(|name| !name.starts_with('.'))?.to_owned())
    };
    let mut names: Vec<String> = entries.filter_map(name).collect();
    names.sort_unstable();
    names
}

#[cfg(test)]
mod tests;
