//! What was really enforced, and what was not.

use std::collections::BTreeSet;
use std::fmt;

/// Something that a sandbox can promise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Property {
    /// Only the mounts of the plan are visible.
    Files,
    /// Nothing of the network is reached that the plan does not name.
    Network,
    /// Other processes are neither seen nor reached, and none is left behind.
    Processes,
    /// Shared memory, queues and keys of others are not reached.
    Ipc,
    /// The command has no capabilities and cannot gain any.
    Privileges,
    /// Parts of the kernel that the command does not need are closed.
    SystemCalls,
    /// A second wall around files and sockets, by Landlock.
    SecondWall,
    /// Files in the workspace that other programs obey stay as they are.
    ProtectedNames,
    /// A bound on memory.
    Memory,
    /// A bound on the memory of all processes together.
    TotalMemory,
    /// A bound on processes and threads.
    ProcessCount,
    /// Other programs get the processor first.
    Priority,
    /// A bound on processors.
    Processors,
    /// A bound on what the command puts on disks.
    Disk,
    /// The command starts no other program and no other process.
    NoSpawn,
}

/// A property, its name, whether it is required unless somebody says otherwise, and what it says to a person.
type Row = (Property, &'static str, bool, &'static str);

#[rustfmt::skip]
const PROPERTIES: &[Row] = &[
    (Property::Files, "files", true, "that only the planned files are visible"),
    (Property::Network, "network", true, "that only the planned network is reached"),
    (Property::Processes, "processes", true, "that other processes are out of reach"),
    (Property::Ipc, "ipc", true, "that shared memory, queues and keys are out of reach"),
    (Property::Privileges, "privileges", true, "that the command has no privileges"),
    (Property::SystemCalls, "system-calls", true, "that rare system calls are closed"),
    (Property::SecondWall, "second-wall", false, "a second wall by Landlock"),
    (Property::ProtectedNames, "protected-names", false, "that protected names stay as they are"),
    (Property::Memory, "memory", false, "a bound on memory"),
    (Property::TotalMemory, "total-memory", false, "a bound on the memory of all processes together"),
    (Property::ProcessCount, "process-count", false, "a bound on processes"),
    (Property::Priority, "priority", false, "that other programs get the processor first"),
    (Property::Processors, "processors", false, "a bound on processors"),
    (Property::Disk, "disk", false, "a bound on what it puts on disks"),
    (Property::NoSpawn, "no-spawn", false, "that nothing else is started"),
];

impl Property {
    /// Returns every property.
    pub fn all() -> impl Iterator<Item = Self> {
        PROPERTIES.iter().map(|row| row.0)
    }

    /// Returns what it is called in settings and reports.
    pub fn name(self) -> &'static str {
        PROPERTIES.iter().find(|row| row.0 == self).map_or("property", |row| row.1)
    }

    /// Returns a description for a person, as it is displayed.
    pub fn description(self) -> &'static str {
        PROPERTIES.iter().find(|row| row.0 == self).map_or("a property", |row| row.3)
    }

    /// Returns what is required unless somebody says otherwise.
    pub fn required_by_default() -> BTreeSet<Self> {
        PROPERTIES.iter().filter(|row| row.2).map(|row| row.0).collect()
    }
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.description())
    }
}

/// What was really enforced. Whoever runs a command must look at it, or say that they will not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[must_use = "a sandbox that enforces less than was hoped for says so here"]
#[non_exhaustive]
pub struct Enforcement {
    /// What holds, and by what means.
    pub enforced: Vec<(Property, &'static str)>,
    /// What does not hold, or only in part.
    pub gaps: Vec<EnforcementGap>,
}

impl Enforcement {
    /// Whether this holds.
    pub fn holds(&self, property: Property) -> bool {
        self.enforced.iter().any(|(enforced, _)| *enforced == property)
    }

    /// Says that something holds, and by what means.
    pub fn enforce(&mut self, property: Property, means: &'static str) {
        self.enforced.push((property, means));
    }

    /// Says that something does not hold, or only in part, and why.
    pub fn gap(&mut self, property: Property, why: &'static str) {
        self.gaps.push(EnforcementGap { property, why });
    }
}

/// Something that does not hold, or only in part.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct EnforcementGap {
    /// What was hoped for.
    pub property: Property,
    /// Why it does not hold, and how far it does.
    pub why: &'static str,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_property_has_words_of_its_own() {
        let words: BTreeSet<String> = PROPERTIES.iter().map(|row| row.0.to_string()).collect();
        let names: BTreeSet<&str> = Property::all().map(Property::name).collect();
        assert_eq!((words.len(), names.len()), (PROPERTIES.len(), PROPERTIES.len()));
        assert!(!words.contains("a property"));
    }
}
