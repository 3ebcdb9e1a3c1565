//! Adds up the memory of all processes of a sandbox, where no control group counts it.

#![expect(clippy::disallowed_methods, reason = "reads how much memory processes have")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::Duration;

use rustix::fs::{stat, statvfs};
use rustix::thread::sched_getaffinity;
use stockade_files::read_kernel_file;

/// The longest interval between two polls.
pub(super) const INTERVAL: Duration = Duration::from_millis(100);

/// The shortest interval between two polls, to bound the cost.
const SHORTEST: Duration = Duration::from_millis(5);

/// Maximum number of polled processes, which is above the limit on processes.
const MAX_COUNT: usize = 5000;

/// Kernel memory of an inode and directory entry in a tmpfs.
const OF_A_FILE: u64 = 1 << 10;

/// Returns when a process tree must be polled again; nothing if it exceeds `most` bytes. Memory that is allocated and freed
/// between two polls is not seen.
pub(super) fn next_look(first: i32, folders: &[PathBuf], most: u64) -> Option<Duration> {
    most.checked_sub(used(first, folders, most)).map(time_to_fill)
}

/// Returns the shortest time in which the rest of the limit can be allocated.
pub(super) fn time_to_fill(left: u64) -> Duration {
    /// An upper bound of the bytes that one processor writes in a millisecond.
    const QUICKEST: u64 = 4 << 20;
    // One call. The standard library also reads the quota of the control group, by twenty: without it, polls come earlier.
    static PROCESSORS: LazyLock<u64> =
        LazyLock::new(|| sched_getaffinity(None).map_or(1, |set| u64::from(set.count()).max(1)));
    Duration::from_millis(left / (QUICKEST * *PROCESSORS)).clamp(SHORTEST, INTERVAL)
}

/// Returns the bytes of private memory and tmpfs files. Shared memory may be a tmpfs file and count twice. So if the sum exceeds
/// the limit, only shared memory outside of a tmpfs is added, which takes longer to compute.
fn used(first: i32, folders: &[PathBuf], most: u64) -> u64 {
    let tree = tree(first);
    let (own, shared) =
        tree.iter().map(|pid| resident(*pid)).fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let lies = lie_in(&tree, folders);
    let all = own.saturating_add(shared).saturating_add(lies);
    // Near the limit only: for `smaps`, the kernel walks every page table entry.
    if all <= most {
        return all;
    }
    let nameless: u64 = tree.iter().map(|pid| nameless(*pid)).sum();
    own.saturating_add(nameless).saturating_add(lies)
}

/// Returns the proportional share (PSS) of a process in shared memory that is not a tmpfs file.
fn nameless(pid: i32) -> u64 {
    // Shared anonymous mappings, memfds and System V segments: memory that belongs to no mount.
    const KINDS: &[&str] = &["/dev/zero (deleted)", "/memfd:", "/SYSV"];
    let text = fs::read_to_string(format!("/proc/{pid}/smaps")).unwrap_or_default();
    let mut counts = false;
    let mut thousands = 0u64;
    for line in text.lines() {
        // The first line of a mapping begins with its address in lowercase hexadecimal; field names begin with a capital letter.
        if !line.starts_with(|first: char| first.is_ascii_uppercase()) {
            counts = KINDS.iter().any(|kind| line.contains(kind));
        } else if let Some(part) = line.strip_prefix("Pss:").filter(|_| counts) {
            let number = part.split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
            thousands = thousands.saturating_add(number.unwrap_or_default());
        }
    }
    thousands.saturating_mul(1024)
}

/// Returns the bytes in the sandbox's tmpfs mounts, seen through the first process that has another root. Bubblewrap's own
/// process still has the root of this machine.
fn lie_in(tree: &[i32], folders: &[PathBuf]) -> u64 {
    let place = |root: &Path| stat(root).ok().map(|data| (data.st_dev, data.st_ino));
    let own = place(Path::new("/"));
    let at = |pid: &i32| -> Option<u64> {
        let root = PathBuf::from(format!("/proc/{pid}/root"));
        place(&root).filter(|root| Some(*root) != own)?;
        let used = |folder: &PathBuf| {
            let system = statvfs(root.join(folder.strip_prefix("/").unwrap_or(folder))).ok()?;
            // Millions of empty files use kernel memory, and no block of the tmpfs.
            let names = system.f_files.saturating_sub(system.f_ffree).saturating_mul(OF_A_FILE);
            let blocks = system.f_blocks.saturating_sub(system.f_bfree).saturating_mul(system.f_frsize);
            Some(blocks.saturating_add(names))
        };
        folders.iter().map(used).sum()
    };
    tree.iter().find_map(at).unwrap_or_default()
}

fn tree(first: i32) -> Vec<i32> {
    let (mut tree, mut waiting) = (Vec::new(), vec![first]);
    while let Some(pid) = waiting.pop() {
        tree.push(pid);
        // Processes can fork while the tree is read, so the walk could otherwise go on forever.
        if tree.len() >= MAX_COUNT {
            break;
        }
        waiting.extend(children(pid));
    }
    tree
}

/// Returns the bytes of anonymous memory, and those of shared memory. The kernel reports KiB.
fn resident(pid: i32) -> (u64, u64) {
    let status = read_kernel_file(format!("/proc/{pid}/status")).unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
        number.unwrap_or(0).saturating_mul(1024)
    };
    // File mappings are left out: the kernel can drop their pages at any time.
    (field("RssAnon:"), field("RssShmem:"))
}

/// Returns the children of a process. The kernel lists them per thread.
pub(super) fn children(pid: i32) -> Vec<i32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
    let lists = threads.flatten().filter_map(|thread| read_kernel_file(thread.path().join("children")).ok());
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
        assert_eq!(next_look(this, &[], 100_000), None);
        assert_eq!(next_look(this, &[], 1 << 40), Some(INTERVAL));
        assert_eq!(next_look(i32::MAX, &[], 0), Some(SHORTEST));
    }
}
