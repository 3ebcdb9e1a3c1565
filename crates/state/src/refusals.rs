//! Counts of refusals by one rule in a session of a harness. Each call is a process of its own, so the counts are in a file: a
//! line for each refusal, which is appended without waiting for the disk, since a lost line only shortens a text.
#![expect(clippy::disallowed_methods, reason = "keeps a file beside the audit trail, and reads the clock")]

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{Read as _, Write as _};
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use stockade_files::{OwnAccess, check_owned_once, open_own};
use stockade_guard::audit::private;

/// Maximum size of the file in bytes. A longer one is emptied.
const MAX_COUNTS_BYTES: u64 = 64 << 10;

/// Seconds after which a refusal no longer counts.
const MAX_AGE: u64 = 24 * 3600;

/// Counts a refusal, and returns its number in the session. If the file cannot be used, each is the first: the count only adds
/// to the text of a refusal.
#[must_use]
pub fn count(session: &str, rule: &str) -> u32 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    counted(session, rule, now).unwrap_or(1)
}

fn counted(session: &str, rule: &str, now: u64) -> Option<u32> {
    let folder = private::state_folder(|name| std::env::var_os(name).map(PathBuf::from))?;
    private::create_private_folder(&folder).ok()?;
    let path = folder.join("refusals");
    check_owned_once(&path).ok()?;
    let mut file = open_own(&path, OwnAccess::Append).ok()?;
    let mut bytes = Vec::new();
    (&file).take(MAX_COUNTS_BYTES + 1).read_to_end(&mut bytes).ok()?;
    if u64::try_from(bytes.len()).ok()? > MAX_COUNTS_BYTES {
        file.set_len(0).ok()?;
        bytes.clear();
    }
    let text = String::from_utf8_lossy(&bytes);
    let key = key(session, rule);
    file.write_all(format!("{now} {key:016x}\n").as_bytes()).ok()?;
    Some(earlier(&text, key, now).saturating_add(1))
}

/// Returns how many lines are about the same rule in the same session, and recent.
fn earlier(text: &str, key: u64, now: u64) -> u32 {
    let is_same = |line: &str| {
        let (at, line_key) = line.split_once(' ')?;
        let age = now.saturating_sub(at.parse().ok()?);
        (age < MAX_AGE && u64::from_str_radix(line_key, 16).ok()? == key).then_some(())
    };
    u32::try_from(text.lines().filter_map(is_same).count()).unwrap_or(u32::MAX)
}

/// Digests the session and the rule, so that the file says nothing about them.
fn key(session: &str, rule: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    (session, rule).hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_of_each_session_is_counted_for_a_day() {
        let line = |session: &str, rule: &str, at: u64| format!("{at} {:016x}\n", key(session, rule));
        let text = [line("s", "a", 5), line("s", "b", 6), line("t", "a", 7), line("s", "a", 8)].concat();
        assert_eq!(earlier(&text, key("s", "a"), 9), 2);
        assert_eq!(earlier(&text, key("s", "a"), 5 + MAX_AGE), 1);
        assert_eq!(earlier(&text, key("t", "b"), 9), 0);
        assert_eq!(earlier(&format!("x\n9\n 1\n\n{text}"), key("t", "a"), 9), 1, "other lines do not count");
    }
}
