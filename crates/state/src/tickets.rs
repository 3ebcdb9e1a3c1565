//! Tickets for commands that the user is asked about. A hook cannot wait for the answer: it hands the harness a command line with a
//! ticket, which the harness only runs after a yes. A ticket is for one agent, workspace and text, is used once, and ends after an
//! hour.
#![expect(clippy::disallowed_methods, reason = "keeps a file beside the audit trail, and reads the clock")]

use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use stockade_files::KeptFile;
use stockade_guard::audit::{new_name, private};
use stockade_text::{escape_path, to_printable_json, with_causes};

use crate::StateError;

/// Seconds until a ticket ends.
const MAX_AGE: u64 = 3600;

/// Maximum number of tickets. The oldest make room for new ones.
const MAX_TICKETS: usize = 64;

/// Maximum size of a text with a ticket in bytes.
const MAX_TEXT: usize = 16 << 10;

const MAX_FILE_BYTES: u64 = 2 << 20;

/// The file of tickets.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tickets {
    tickets: Vec<Ticket>,
}

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ticket {
    name: String,
    /// When it was issued, in seconds since 1970.
    issued: u64,
    agent: String,
    workspace: PathBuf,
    text: String,
}

/// Issues a ticket for a command, and returns its name; nothing for a very long text.
///
/// # Errors
/// When it cannot be kept.
pub fn issue(agent: &str, workspace: &Path, text: &str) -> Result<Option<String>, StateError> {
    if text.len() > MAX_TEXT {
        return Ok(None);
    }
    let name = new_name().map_err(StateError::unavailable)?;
    let issued = now();
    let ticket = Ticket {
        name: name.clone(),
        issued,
        agent: agent.to_owned(),
        workspace: workspace.to_owned(),
        text: text.to_owned(),
    };
    change(|tickets| {
        tickets.retain(|ticket| is_current(ticket, issued));
        let excess = (tickets.len() + 1).saturating_sub(MAX_TICKETS);
        tickets.drain(..excess);
        tickets.push(ticket);
    })?;
    Ok(Some(name))
}

/// Uses a ticket. Returns whether it was issued for exactly this.
///
/// # Errors
/// When the file of tickets cannot be used: then nothing was agreed to.
pub fn redeem(name: &str, agent: &str, workspace: &Path, text: &str) -> Result<bool, StateError> {
    let now = now();
    change(|tickets| {
        let found = tickets.iter().position(|ticket| ticket.name == name);
        // It is used even if it is for something else.
        found.map(|at| tickets.remove(at)).is_some_and(|ticket| {
            is_current(&ticket, now)
                && ticket.agent == agent
                && ticket.workspace == workspace
                && ticket.text == text
        })
    })
}

fn is_current(ticket: &Ticket, now: u64) -> bool {
    (ticket.issued..ticket.issued.saturating_add(MAX_AGE)).contains(&now)
}

fn change<R>(edit: impl FnOnce(&mut Vec<Ticket>) -> R) -> Result<R, StateError> {
    let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from));
    let folder =
        folder.ok_or_else(|| StateError::unavailable("cannot find the state directory: HOME is not set"))?;
    let file = KeptFile::new(folder.join("tickets.json"), MAX_FILE_BYTES).private();
    let unusable = |error: &dyn std::error::Error| {
        StateError::unavailable(format_args!(
            "cannot use {}: {}",
            escape_path(file.path()),
            with_causes(error)
        ))
    };
    private::create_private_folder(&folder).map_err(|error| unusable(&error))?;
    let changed = file.change(|text| {
        // A damaged file holds no agreement.
        let read = text.and_then(|text| serde_json::from_str::<Tickets>(text).ok());
        let mut all = read.unwrap_or_default();
        let result = edit(&mut all.tickets);
        Ok::<_, StateError>((Some(format!("{}\n", to_printable_json(&all))), result))
    });
    changed.map_err(|error| unusable(&error))?
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
