//! Hosts of web pages that the user has agreed to in a session of a harness, so that each is asked about once. A hook sees no answer
//! to its question: that the harness ran the call that was asked about is the answer.
#![expect(clippy::disallowed_methods, reason = "keeps a file beside the audit trail, and reads the clock")]

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};
use stockade_files::KeptFile;
use stockade_guard::audit::private;
use stockade_guard::egress::NetTarget;
use stockade_text::{escape_path, to_printable_json, with_causes};

use crate::StateError;

/// Seconds for which an agreement holds at most.
const MAX_AGE: u64 = 12 * 3600;

/// Maximum number of agreements. The oldest make room for new ones.
const MAX_AGREED: usize = 256;

const MAX_FILE_BYTES: u64 = 1 << 20;

#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    agreed: Vec<Agreed>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Agreed {
    session: String,
    /// The host and its port.
    target: String,
    /// When the user was asked, in seconds since 1970.
    at: u64,
    /// Whether the call ran after the question.
    ran: bool,
}

/// Notes that the user is asked about these addresses in a session.
///
/// # Errors
/// When it cannot be saved: then the user is asked again next time.
pub fn asked(session: &str, addresses: &[&str]) -> Result<(), StateError> {
    let (now, targets) = (now(), targets_of(addresses));
    change(|all| {
        all.retain(|one| is_current(one, now) && !(one.session == session && targets.contains(&one.target)));
        let asked = |target: &String| Agreed {
            session: session.to_owned(),
            target: target.clone(),
            at: now,
            ran: false,
        };
        all.extend(targets.iter().map(asked));
        let excess = all.len().saturating_sub(MAX_AGREED);
        all.drain(..excess);
    })
}

/// Notes that a call with these addresses ran. The user has agreed to those that were asked about.
///
/// # Errors
/// When it cannot be saved: then the user is asked again.
pub fn ran(session: &str, addresses: &[&str]) -> Result<(), StateError> {
    let targets = targets_of(addresses);
    let waits = |one: &Agreed| !one.ran && one.session == session && targets.contains(&one.target);
    // Most calls were not asked about, and need no lock.
    if !parse(file()?.read().ok().flatten().as_deref()).agreed.iter().any(waits) {
        return Ok(());
    }
    change(|all| all.iter_mut().filter(|one| waits(one)).for_each(|one| one.ran = true))
}

/// Whether the user has agreed to the host of an address in a session. Without a usable file, nothing was agreed to.
#[must_use]
pub fn is_agreed(session: &str, address: &str) -> bool {
    let (Some(target), Ok(file)) = (target_of(address), file()) else { return false };
    let text = file.read().ok().flatten();
    let now = now();
    parse(text.as_deref())
        .agreed
        .iter()
        .any(|one| one.ran && one.session == session && one.target == target && is_current(one, now))
}

fn change(edit: impl FnOnce(&mut Vec<Agreed>)) -> Result<(), StateError> {
    let file = file()?;
    let unusable = |error: &dyn std::error::Error| {
        let place = escape_path(file.path());
        StateError::unavailable(format_args!("cannot use {place}: {}", with_causes(error)))
    };
    if let Some(folder) = file.path().parent() {
        private::create_private_folder(folder).map_err(|error| unusable(&error))?;
    }
    let changed = file.change(|text| {
        let mut all = parse(text);
        edit(&mut all.agreed);
        Ok::<_, StateError>((Some(format!("{}\n", to_printable_json(&all))), ()))
    });
    changed.map_err(|error| unusable(&error))?
}

fn targets_of(addresses: &[&str]) -> Vec<String> {
    addresses.iter().filter_map(|address| target_of(address)).collect()
}

fn target_of(address: &str) -> Option<String> {
    NetTarget::parse(address).ok().map(|target| target.to_string())
}

fn is_current(one: &Agreed, now: u64) -> bool {
    (one.at..one.at.saturating_add(MAX_AGE)).contains(&now)
}

/// Parses the file. A damaged one holds no agreement.
fn parse(text: Option<&str>) -> Written {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

fn file() -> Result<KeptFile, StateError> {
    let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from));
    let folder =
        folder.ok_or_else(|| StateError::unavailable("cannot find the state directory: HOME is not set"))?;
    Ok(KeptFile::new(folder.join("agreed-hosts.json"), MAX_FILE_BYTES).private())
}

fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}
