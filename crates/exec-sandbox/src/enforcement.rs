//! The properties that a sandbox enforces, and its gaps.

use std::collections::BTreeSet;
use std::fmt;

/// A security property or limit that a sandbox can enforce.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Property {
    /// Only the mounts of the plan are visible.
    Files,
    /// Only the network that the plan names is reachable.
    Network,
    /// Other processes are neither visible nor reachable, and no process of the command outlives it.
    Processes,
    /// Shared memory, message queues and keys of other programs are not reachable.
    Ipc,
    /// The command has no capabilities and cannot gain any.
    Privileges,
    /// A seccomp filter denies rarely needed system calls.
    SystemCalls,
    /// Landlock restricts files and sockets, in addition to namespaces.
    SecondWall,
    /// Files in the workspace that other programs obey stay unchanged.
    ProtectedNames,
    /// A limit on memory.
    Memory,
    /// A memory limit for all processes together.
    TotalMemory,
    /// A limit on processes and threads.
    ProcessCount,
    /// Other programs are scheduled first.
    Priority,
    /// A limit on the number of processors.
    Processors,
    /// A limit on disk usage.
    Disk,
    /// The command cannot start another program or process.
    NoSpawn,
}

/// A property, its name, whether it is required by default, and its description in messages.
type Row = (Property, &'static str, bool, &'static str);

#[rustfmt::skip]
const PROPERTIES: &[Row] = &[
    (Property::Files, "files", true, "file isolation"),
    (Property::Network, "network", true, "network isolation"),
    (Property::Processes, "processes", true, "process isolation"),
    (Property::Ipc, "ipc", true, "IPC isolation"),
    (Property::Privileges, "privileges", true, "dropped privileges"),
    (Property::SystemCalls, "system-calls", true, "the system call filter"),
    (Property::SecondWall, "second-wall", false, "the additional Landlock layer"),
    (Property::ProtectedNames, "protected-names", false, "protected names"),
    (Property::Memory, "memory", false, "the memory limit"),
    (Property::TotalMemory, "total-memory", false, "the total memory limit"),
    (Property::ProcessCount, "process-count", false, "the process limit"),
    (Property::Priority, "priority", false, "the idle priority"),
    (Property::Processors, "processors", false, "the processor limit"),
    (Property::Disk, "disk", false, "the disk limit"),
    (Property::NoSpawn, "no-spawn", false, "the ban on starting other programs"),
];

impl Property {
    /// Returns every property.
    pub fn all() -> impl Iterator<Item = Self> {
        PROPERTIES.iter().map(|row| row.0)
    }

    /// Returns the name in settings and reports.
    pub fn name(self) -> &'static str {
        PROPERTIES.iter().find(|row| row.0 == self).map_or("property", |row| row.1)
    }

    /// Returns the description in messages.
    pub fn description(self) -> &'static str {
        PROPERTIES.iter().find(|row| row.0 == self).map_or("a property", |row| row.3)
    }

    /// Returns the properties that are required by default.
    pub fn required_by_default() -> BTreeSet<Self> {
        PROPERTIES.iter().filter(|row| row.2).map(|row| row.0).collect()
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

/// What a sandbox enforces. The caller must inspect it, or discard it explicitly.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "it lists the properties that the sandbox does not enforce"]
#[non_exhaustive]
pub struct Enforcement {
    /// The enforced properties, each with its means.
    pub enforced: Vec<(Property, &'static str)>,
    /// The properties that are not enforced, or only in part.
    pub gaps: Vec<EnforcementGap>,
}

impl Enforcement {
    /// Whether a property is enforced, at least in part.
    pub fn holds(&self, property: Property) -> bool {
        self.enforced.iter().any(|(enforced, _)| *enforced == property)
    }

    /// Records that a property is enforced, and by what means.
    pub fn enforce(&mut self, property: Property, means: &'static str) {
        self.enforced.push((property, means));
    }

    /// Records that a property is not enforced, or only in part, and why.
    pub fn gap(&mut self, property: Property, why: &'static str) {
        self.gaps.push(EnforcementGap { property, why });
    }
}

/// A property that is not enforced, or only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnforcementGap {
    /// The property.
    pub property: Property,
    /// Why it is not enforced, or which part is not.
    pub why: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_a_distinct_description() {
        let words: BTreeSet<String> = PROPERTIES.iter().map(|row| row.0.to_string()).collect();
        let names: BTreeSet<&str> = Property::all().map(Property::name).collect();
        assert_eq!((words.len(), names.len()), (PROPERTIES.len(), PROPERTIES.len()));
        assert!(!words.contains("a property"));
    }
}
