//! What is tried in containers, for the tests of the command and for the runners of vectors.
#![expect(clippy::disallowed_methods, reason = "starts a daemon and commands, and looks at what is left")]

#[path = "daemon.rs"]
pub(crate) mod daemon;
#[path = "isolation.rs"]
pub(crate) mod isolation;
#[path = "packages.rs"]
pub(crate) mod packages;
#[path = "podman.rs"]
pub(crate) mod podman;

use std::fs;
use std::time::{Duration, Instant};

pub(crate) fn until(holds: impl Fn() -> bool, otherwise: &str) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(30), "{otherwise}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The processes in whose arguments this stands.
pub(crate) fn arguments_with(word: &str) -> Vec<u32> {
    let processes = fs::read_dir("/proc").unwrap().flatten();
    let numbers = processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    numbers
        .filter(|pid| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.windows(word.len()).any(|window| window == word.as_bytes())
        })
        .collect()
}
