//! Leftover containers of ended processes, found by the label that names the process which started them.

#![expect(clippy::disallowed_methods, reason = "looks which processes there are")]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::time::Duration;

use super::ask::Client;
use crate::backends::args::OWNER;

const PATIENCE: Duration = Duration::from_secs(20);

/// Returns a label for what this process makes: its boot, its PID namespace, its PID and when it began.
pub(crate) fn owner_label() -> io::Result<String> {
    let pid = std::process::id();
    let began = began(pid).ok_or(io::ErrorKind::NotFound)?;
    Ok(format!("{}/{pid}/{began}", place()?))
}

/// The boot, and the list of processes in which numbers count.
fn place() -> io::Result<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?;
    let list = fs::read_link("/proc/self/ns/pid")?;
    Ok(format!("{}/{}", boot.trim(), list.display()))
}

/// Returns the start time of a process in ticks since boot, or nothing without such a process. See proc_pid_stat(5).
fn began(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    // The first field behind the name is the third, and the moment is the twenty-second.
    rest.split_whitespace().nth(22 - 3)?.parse().ok()
}

/// Whether the starter is gone. Of one that ran elsewhere nothing is known.
fn is_orphan(label: &str, place: &str) -> bool {
    let Some(rest) = label.strip_prefix(place).and_then(|rest| rest.strip_prefix('/')) else { return false };
    let Some((pid, moment)) = rest.split_once('/') else { return false };
    let (Ok(pid), Ok(moment)) = (pid.parse::<u32>(), moment.parse::<u64>()) else { return false };
    began(pid) != Some(moment)
}

/// Returns whether the process of this label ran on this machine and has ended.
#[cfg(feature = "external")]
pub(crate) fn is_orphaned(label: &str) -> bool {
    place().is_ok_and(|place| is_orphan(label, &place))
}

/// Removes what killed programs left, and says how many there were.
pub(crate) fn remove_leftovers(client: &Client) -> usize {
    let (filter, format) = (format!("label={OWNER}"), format!("{{{{.ID}}}}\t{{{{.Label \"{OWNER}\"}}}}"));
    let words = ["ps", "--all", "--no-trunc", "--filter", &filter, "--format", &format].map(OsString::from);
    let Ok(place) = place() else { return 0 };
    let said = client.ask(&words, &[], PATIENCE).and_then(super::ask::Answer::well).unwrap_or_default();
    let orphans = said.lines().filter_map(|line| line.split_once('\t'));
    let orphans = orphans.filter(|(id, label)| is_id(id) && is_orphan(label, &place));
    orphans
        .filter(|(id, _)| client.ask(&client.removal(id), &[], PATIENCE).is_ok_and(|said| said.is_well))
        .count()
}

fn is_id(id: &str) -> bool {
    (12..=64).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_containers_of_dead_local_processes_are_orphans() {
        let own = owner_label().unwrap();
        let here = place().unwrap();
        assert!(!is_orphan(&own, &here), "{own}");
        let (before, moment) = own.rsplit_once('/').unwrap();
        let another = moment.parse::<u64>().unwrap() + 1;
        assert!(
            is_orphan(&format!("{before}/{another}"), &here),
            "the number belongs to another process now"
        );
        for odd in ["", "x", &own.replacen('a', "b", 1).replacen('0', "1", 1), &format!("{here}/x/1"), &here]
        {
            assert!(!is_orphan(odd, &here), "{odd}");
        }
        assert!(is_id(&"a".repeat(64)) && !is_id("--force") && !is_id(""));
    }
}
