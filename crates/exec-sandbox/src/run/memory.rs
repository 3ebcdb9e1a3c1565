//! Adds up the memory of all processes of a sandbox, where no control group does.

#![expect(clippy::disallowed_methods, reason = "reads how much memory processes have")]

use std::fs;
use std::time::Duration;

/// How often it is added up.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// More processes than this are not looked at; the limit of processes ends them sooner.
const MAX_COUNT: usize = 5000;

/// Whether a process and all below it have more than so many bytes for themselves. What was there one moment and gone the
/// next counts for nothing.
///
/// Memory that processes share is asked for only where it matters: how much of it falls to each takes long to add up.
pub(super) fn exceeds(first: i32, most: u64) -> bool {
    let tree = tree(first);
    let own: u64 = tree.iter().map(|pid| own(*pid)).sum();
    let shared: u64 = tree.iter().map(|pid| of_status(*pid, "status", "RssShmem:")).sum();
    if own.saturating_add(shared) <= most {
        return false;
    }
    let part: u64 = tree.iter().map(|pid| of_status(*pid, "smaps_rollup", "Pss_Shmem:")).sum();
    own.saturating_add(part) > most
}

fn tree(first: i32) -> Vec<i32> {
    let (mut tree, mut waiting) = (Vec::new(), vec![first]);
    while let Some(pid) = waiting.pop() {
        tree.push(pid);
        if tree.len() >= MAX_COUNT {
            break;
        }
        waiting.extend(children(pid));
    }
    tree
}

/// Bytes in memory that belong to no file.
fn own(pid: i32) -> u64 {
    of_status(pid, "status", "RssAnon:")
}

/// Returns a figure in bytes, as the kernel gives it in thousands of them.
fn of_status(pid: i32, file: &str, name: &str) -> u64 {
    let text = fs::read_to_string(format!("/proc/{pid}/{file}")).unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    number.unwrap_or(0).saturating_mul(1024)
}

/// Every thread has its own children.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists =
        threads.flatten().filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    lists
        .flat_map(|list| list.split_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_has_memory_of_its_own() {
        let this = std::process::id().cast_signed();
        assert!(exceeds(this, 100_000) && !exceeds(this, 1 << 40));
        assert!(!exceeds(i32::MAX, 0));
    }
}
