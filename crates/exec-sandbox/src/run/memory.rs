//! Adds up the memory of all processes of a sandbox, where no control group does.

#![expect(clippy::disallowed_methods, reason = "reads how much memory processes have")]

use std::fs;
use std::time::Duration;

/// How often it is added up.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// More processes than this are not looked at; the limit of processes ends them sooner.
const MOST: usize = 5000;

/// Returns the bytes that a process and all below it have for themselves. What was there one moment and gone the next
/// counts for nothing.
pub(super) fn of_tree(first: i32) -> u64 {
    let mut waiting = vec![first];
    let (mut seen, mut pages) = (0, 0);
    while let Some(pid) = waiting.pop() {
        seen += 1;
        if seen > MOST {
            break;
        }
        pages += own_pages(pid).unwrap_or(0);
        waiting.extend(children(pid));
    }
    pages.saturating_mul(rustix::param::page_size() as u64)
}

/// Pages that are in memory, without those of files, which many programs share.
fn own_pages(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut fields = text.split(' ').skip(1).map(|field| field.parse::<u64>().ok());
    let (resident, shared) = (fields.next()??, fields.next()??);
    Some(resident.saturating_sub(shared))
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
        let own = of_tree(std::process::id().cast_signed());
        assert!(own > 100_000, "{own}");
        assert_eq!(of_tree(i32::MAX), 0);
    }
}
