//! The definitions of tools as they were first seen. A server that is another one tomorrow is noticed by what it then says its
//! tools are.

mod difference;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use stockade_files::{KeptFile, KeptFileError};
use stockade_guard::audit::AuditTrail;

use super::conversation::Pinned;
use difference::difference;

/// The most bytes of the pins of one name.
const MAX_BYTES: u64 = 16 << 20;

/// The most servers of one name: the same program with other arguments is another server.
const MAX_SERVERS: usize = 64;

/// What is kept of all servers that have one name.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Kept {
    servers: Vec<KeptServer>,
}

/// What is kept of one server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptServer {
    /// The program and its arguments.
    pub(crate) command: Vec<String>,
    /// Its tools, by their names.
    pub(crate) tools: BTreeMap<String, KeptTool>,
}

/// What is kept of one tool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KeptTool {
    /// Its definition, as it was agreed to.
    definition: String,
    /// What it is now, where that is something else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    changed: Option<Changed>,
}

/// A definition that nobody has agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Changed {
    definition: String,
    /// What names it to whoever agrees: drawn anew for each, so that no server can have two of one name.
    ticket: String,
}

/// What has changed of a tool, and what names that to whoever agrees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Change {
    /// Where both differ.
    pub(crate) difference: String,
    /// `TOOL@TICKET`, for `stockade mcp pins accept`.
    pub(crate) ticket: String,
}

impl KeptTool {
    /// What is another now.
    pub(crate) fn change(&self, name: &str) -> Option<Change> {
        let changed = self.changed.as_ref()?;
        Some(Change {
            difference: difference(&self.definition, &changed.definition),
            ticket: format!("{name}@{}", changed.ticket),
        })
    }
}

/// A name that no other change has had.
fn ticket() -> Result<String, String> {
    let mut bytes = [0; 4];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(format!("{:08x}", u32::from_be_bytes(bytes)))
}

/// The pins of the servers of one name.
#[derive(Debug, Clone)]
pub(crate) struct Pins {
    name: String,
    file: KeptFile,
}

impl Pins {
    /// The pins of this user. Nothing is read.
    pub(crate) fn of_user(name: &str) -> Result<Self, String> {
        let folder = folder().ok_or("this user has no folder for states: HOME is not set")?;
        Ok(Self::within(&folder, name))
    }

    fn within(folder: &Path, name: &str) -> Self {
        Self {
            name: name.to_owned(),
            file: KeptFile::new(folder.join(format!("{name}.json")), MAX_BYTES).private(),
        }
    }

    /// Returns what is kept.
    pub(crate) fn servers(&self) -> Result<Vec<KeptServer>, String> {
        let text = self.file.read().map_err(|error| self.unusable(&error))?;
        Ok(self.read(text.as_deref())?.servers)
    }

    /// Holds the definition of a tool of a server against what is kept. What is seen for the first time is kept.
    pub(crate) fn pin(&self, command: &[String], tool: &str, definition: &str) -> Result<Pinned, String> {
        self.change(|kept| {
            let at = kept.servers.iter().position(|server| server.command == command);
            let at = at.unwrap_or_else(|| {
                kept.servers.push(KeptServer { command: command.to_vec(), tools: BTreeMap::new() });
                kept.servers.len() - 1
            });
            if kept.servers.len() > MAX_SERVERS {
                return Err(format!(
                    "more than {MAX_SERVERS} servers are called `{0}`; `stockade mcp pins forget {0}` forgets them all",
                    self.name
                ));
            }
            let Some(server) = kept.servers.get_mut(at) else { return Ok(Pinned::Same) };
            match server.tools.get_mut(tool) {
                None => {
                    let known = KeptTool { definition: definition.to_owned(), changed: None };
                    server.tools.insert(tool.to_owned(), known);
                    Ok(Pinned::Same)
                }
                Some(known) if known.definition == definition => {
                    known.changed = None;
                    Ok(Pinned::Same)
                }
                Some(known) => {
                    let is_known = known.changed.as_ref().is_some_and(|one| one.definition == definition);
                    if !is_known {
                        known.changed = Some(Changed { definition: definition.to_owned(), ticket: ticket()? });
                    }
                    Ok(known.change(tool).map_or(Pinned::Same, |Change { difference, ticket }| {
                        Pinned::Changed(format!(
                            "its definition is no longer the one that was agreed to: {difference}; after reading that, `stockade mcp \
                             pins accept {} {ticket}` agrees to it",
                            self.name
                        ))
                    }))
                }
            }
        })
    }

    /// Agrees to changes, each by its ticket, and to nothing else that came meanwhile. Returns what was agreed to, or a ticket that names
    /// nothing that waits: then to nothing.
    pub(crate) fn accept(&self, tickets: &[String]) -> Result<Result<Vec<Change>, String>, String> {
        self.change(|kept| {
            let waits = |kept: &Kept, ticket: &String| {
                let mut tools = kept.servers.iter().flat_map(|server| &server.tools);
                tools.any(|(name, tool)| tool.change(name).is_some_and(|change| change.ticket == *ticket))
            };
            if let Some(unknown) = tickets.iter().find(|ticket| !waits(kept, ticket)) {
                return Ok(Err(unknown.clone()));
            }
            let mut agreed = Vec::new();
            for (name, tool) in kept.servers.iter_mut().flat_map(|server| &mut server.tools) {
                if let Some(change) = tool.change(name).filter(|change| tickets.contains(&change.ticket))
                    && let Some(changed) = tool.changed.take()
                {
                    tool.definition = changed.definition;
                    agreed.push(change);
                }
            }
            Ok(Ok(agreed))
        })
    }

    /// Forgets these tools, or all: what is seen next is seen for the first time. Returns how many were known.
    pub(crate) fn forget(&self, tools: &[String]) -> Result<usize, String> {
        self.change(|kept| {
            let count = |kept: &Kept| kept.servers.iter().map(|server| server.tools.len()).sum::<usize>();
            let before = count(kept);
            for server in &mut kept.servers {
                server.tools.retain(|name, _| !tools.is_empty() && !tools.contains(name));
            }
            kept.servers.retain(|server| !server.tools.is_empty());
            Ok(before - count(kept))
        })
    }

    #[expect(clippy::disallowed_methods, reason = "makes the folder of the pins")]
    fn change<T>(&self, change: impl FnOnce(&mut Kept) -> Result<T, String>) -> Result<T, String> {
        if let Some(folder) = self.file.path().parent() {
            let made = std::fs::create_dir_all(folder);
            made.map_err(|error| self.unusable(&KeptFileError::Io(error)))?;
        }
        let changed = self.file.change(|text| {
            let mut kept = self.read(text)?;
            let answer = change(&mut kept)?;
            let after = serde_json::to_string_pretty(&kept).map_err(|error| error.to_string())?;
            match u64::try_from(after.len()).is_ok_and(|bytes| bytes < MAX_BYTES) {
                true => Ok((Some(format!("{after}\n")), answer)),
                false => Err(format!("its tools are described in more than {MAX_BYTES} bytes")),
            }
        });
        changed.map_err(|error| self.unusable(&error))?
    }

    fn read(&self, text: Option<&str>) -> Result<Kept, String> {
        let read = text.map(serde_json::from_str).transpose();
        let broken = |error: serde_json::Error| {
            format!("{} does not hold pins: {error}; move it away to begin anew", self.file.path().display())
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

/// The names that anything is kept of.
#[expect(clippy::disallowed_methods, reason = "lists the folder of the pins")]
pub(crate) fn names() -> Vec<String> {
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
mod tests {
    use super::*;

    #[test]
    fn the_first_is_kept_and_another_one_waits_to_be_agreed_to() {
        let folder = tempfile::tempdir().unwrap();
        let pins = Pins::within(&folder.path().join("mcp"), "fs");
        let (one, other) = (vec!["a".to_owned()], vec!["b".to_owned()]);
        let (first, second) = (r#"{"description":"Reads."}"#, r#"{"description":"Reads and sends."}"#);
        assert_eq!(pins.pin(&one, "read", first), Ok(Pinned::Same));
        assert_eq!(pins.pin(&one, "read", first), Ok(Pinned::Same));
        // Another server may have another tool of the name.
        assert_eq!(pins.pin(&other, "read", second), Ok(Pinned::Same));
        let Ok(Pinned::Changed(why)) = pins.pin(&one, "read", second) else { panic!() };
        assert!(why.contains("description") && why.contains("and sends"), "{why}");
        let waiting = || -> Vec<Change> {
            let servers = pins.servers().unwrap();
            servers.iter().filter_map(|server| server.tools["read"].change("read")).collect()
        };
        let change = waiting().pop().unwrap();
        assert!(why.contains(&format!("accept fs {}", change.ticket)), "{why}");
        assert_eq!(pins.accept(&["write@0".to_owned()]), Ok(Err("write@0".to_owned())));
        // The same again is the same change, and another one is not what was read.
        pins.pin(&one, "read", second).unwrap();
        assert_eq!(waiting(), std::slice::from_ref(&change));
        pins.pin(&one, "read", r#"{"description":"Sends all."}"#).unwrap();
        assert_eq!(pins.accept(std::slice::from_ref(&change.ticket)), Ok(Err(change.ticket)));
        assert!(matches!(pins.pin(&one, "read", second), Ok(Pinned::Changed(_))));
        let change = waiting().pop().unwrap();
        assert_eq!(pins.accept(std::slice::from_ref(&change.ticket)), Ok(Ok(vec![change])));
        assert_eq!(pins.pin(&one, "read", second), Ok(Pinned::Same));
        assert!(matches!(pins.pin(&one, "read", first), Ok(Pinned::Changed(_))));
        // It has changed back, and nothing waits any more.
        assert_eq!(pins.pin(&one, "read", second), Ok(Pinned::Same));
        assert_eq!(waiting(), []);
        assert_eq!(pins.forget(&["read".to_owned()]), Ok(2));
        assert_eq!(pins.pin(&one, "read", first), Ok(Pinned::Same));
    }

    #[test]
    fn a_broken_file_grants_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let pins = Pins::within(folder.path(), "fs");
        pins.pin(&[], "t", "{}").unwrap();
        #[expect(clippy::disallowed_methods, reason = "breaks the file")]
        std::fs::write(pins.file.path(), "{").unwrap();
        assert!(pins.pin(&[], "t", "{}").unwrap_err().contains("does not hold pins"));
    }
}
