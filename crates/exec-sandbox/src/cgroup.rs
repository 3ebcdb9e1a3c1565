//! Bounds for all processes of a sandbox together, by control groups of version 1.

#![expect(clippy::disallowed_methods, reason = "makes and removes control groups")]

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::enforcement::{Enforcement, Property};
use crate::limits::{Limits, Priority};

const MOUNTED: &str = "/sys/fs/cgroup";

/// What one controller bounds.
#[derive(Debug)]
struct Controller {
    name: &'static str,
    /// What is written for a limit; nothing if there is none.
    settings: fn(&Limits) -> Vec<(&'static str, u64)>,
    properties: &'static [Property],
}

const CONTROLLERS: &[Controller] = &[
    Controller {
        name: "memory",
        settings: |limits| {
            limits.memory.bound().map(|bytes| ("memory.limit_in_bytes", bytes)).into_iter().collect()
        },
        properties: &[Property::Memory, Property::TotalMemory],
    },
    Controller {
        name: "pids",
        // One more, for the process that starts the command.
        settings: |limits| limits.processes.bound().map(|most| ("pids.max", most + 1)).into_iter().collect(),
        properties: &[Property::ProcessCount],
    },
    Controller {
        name: "cpu",
        // An ordinary group has 1024 shares.
        settings: |limits| {
            if limits.priority == Priority::Background { vec![("cpu.shares", 128)] } else { Vec::new() }
        },
        properties: &[Property::Priority],
    },
];

/// Control groups of one sandbox. They are removed when it is gone.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    made: Vec<(&'static Controller, PathBuf)>,
}

impl Groups {
    /// Makes what may be made here.
    pub(crate) fn make(limits: &Limits, name: &str) -> Self {
        let mut groups = Self::default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        for controller in CONTROLLERS {
            let settings = (controller.settings)(limits);
            if settings.is_empty() {
                continue;
            }
            let Some(parent) = folder_of(&own, controller.name) else { continue };
            if let Ok(path) = make_group(&parent, name, &settings) {
                groups.made.push((controller, path));
            }
        }
        groups
    }

    /// Says what they enforce.
    pub(crate) fn promise(&self, enforcement: &mut Enforcement) {
        let properties = self.made.iter().flat_map(|(controller, _)| controller.properties);
        properties.for_each(|one| enforcement.enforce(*one, "a control group"));
    }

    /// Whether memory is bounded for all together.
    pub(crate) fn bound_memory(&self) -> bool {
        self.made.iter().any(|(controller, _)| controller.name == "memory")
    }

    /// Puts a process, and with it all that it starts, into the groups.
    pub(crate) fn add(&self, pid: i32) -> io::Result<()> {
        self.made.iter().try_for_each(|(_, path)| fs::write(path.join("cgroup.procs"), pid.to_string()))
    }

    /// Whether memory ran out, and the most that was used at once.
    pub(crate) fn memory(&self) -> Option<(bool, u64)> {
        let (_, path) = self.made.iter().find(|(controller, _)| controller.name == "memory")?;
        let read = |file: &str| fs::read_to_string(path.join(file)).ok();
        let peak = read("memory.max_usage_in_bytes")?.trim().parse().ok()?;
        let killed = read("memory.oom_control")?;
        let killed =
            killed.lines().any(|line| line.strip_prefix("oom_kill ").is_some_and(|count| count != "0"));
        Some((killed, peak))
    }
}

impl Drop for Groups {
    fn drop(&mut self) {
        for (_, path) in &self.made {
            // A group that is still in use is left behind empty; nobody is in it by the time this runs.
            fs::remove_dir(path).ok();
        }
    }
}

/// Where the group of this program is for a controller, from lines like `4:memory:/user.slice`.
fn folder_of(own: &str, controller: &str) -> Option<PathBuf> {
    let line = own.lines().find(|line| {
        line.split(':').nth(1).is_some_and(|names| names.split(',').any(|name| name == controller))
    })?;
    let path = line.splitn(3, ':').nth(2)?;
    let folder = Path::new(MOUNTED).join(controller).join(path.trim_start_matches('/'));
    folder.is_dir().then_some(folder)
}

fn make_group(parent: &Path, name: &str, settings: &[(&str, u64)]) -> io::Result<PathBuf> {
    let path = parent.join(name);
    fs::create_dir(&path)?;
    for (file, value) in settings {
        if let Err(error) = fs::write(path.join(file), value.to_string()) {
            fs::remove_dir(&path).ok();
            return Err(error);
        }
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_that_is_not_there_has_no_group() {
        assert_eq!(folder_of("3:none:/x\n0::/y\n", "memory"), None);
        assert_eq!(folder_of("", "memory"), None);
    }
}
