//! The built-in profiles: which tools an agent starts with.

/// A named baseline of tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Profile {
    /// Reading and writing files, nothing else.
    Minimal,
    /// The tools of software development.
    Coding,
    /// Agents that only talk.
    Messaging,
    /// Agents that administer other agents.
    Supervisor,
    /// Every tool there is. For agents that are trusted with everything.
    Full,
    /// The few tools that scheduled jobs need.
    CronMinimal,
    /// The few tools that heartbeat checks need.
    HeartbeatMinimal,
}

/// What a profile grants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ToolSet {
    /// Every tool, also unknown ones.
    All,
    /// These and no others.
    Only(&'static [&'static str]),
}

impl ToolSet {
    /// Whether the set has a tool of this name.
    #[must_use]
    pub fn contains(self, tool: &str) -> bool {
        match self {
            Self::All => true,
            Self::Only(names) => names.contains(&tool),
        }
    }
}

/// One row of the table.
struct Row {
    profile: Profile,
    name: &'static str,
    purpose: &'static str,
    tools: ToolSet,
}

#[rustfmt::skip]
const PROFILES: [Row; 7] = [
    Row { profile: Profile::Minimal, name: "minimal", purpose: "basic file operations only",
        tools: ToolSet::Only(&["read", "write"]) },
    Row { profile: Profile::Coding, name: "coding", purpose: "software development tasks",
        tools: ToolSet::Only(&["read", "edit", "write", "grep", "find", "ls", "apply_patch", "exec", "process"]) },
    Row { profile: Profile::Messaging, name: "messaging", purpose: "communication-only agents",
        tools: ToolSet::Only(&["message", "session_status"]) },
    Row { profile: Profile::Supervisor, name: "supervisor", purpose: "administrative agents",
        tools: ToolSet::Only(&["agents_manage", "obs_query", "sessions_manage", "memory_manage", "channels_manage",
            "tokens_manage", "models_manage", "skills_manage", "mcp_manage", "heartbeat_manage"]) },
    Row { profile: Profile::Full, name: "full", purpose: "every tool, for fully trusted agents",
        tools: ToolSet::All },
    Row { profile: Profile::CronMinimal, name: "cron-minimal", purpose: "conservative set for scheduled jobs",
        tools: ToolSet::Only(&["web_search", "message", "read_file", "write_file", "list_dir", "memory_store",
            "memory_search", "cron", "discover"]) },
    Row { profile: Profile::HeartbeatMinimal, name: "heartbeat-minimal", purpose: "conservative set for heartbeat agents",
        tools: ToolSet::Only(&["message", "memory_store", "memory_search", "discover"]) },
];

impl Profile {
    /// Every profile, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = Self> {
        PROFILES.iter().map(|row| row.profile)
    }

    /// Returns the profile of this exact name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        PROFILES.iter().find(|row| row.name == name).map(|row| row.profile)
    }

    /// Returns the name that configurations use.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns what the profile is for, in a few words.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        self.row().purpose
    }

    /// Returns what the profile grants.
    #[must_use]
    pub fn tools(self) -> ToolSet {
        self.row().tools
    }

    fn row(self) -> &'static Row {
        // A test holds that every variant has its row; the first one, which grants least, stands in otherwise.
        let [first, ..] = &PROFILES;
        PROFILES.iter().find(|row| row.profile == self).unwrap_or(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_has_its_own_row() {
        use Profile::*;
        for profile in [Minimal, Coding, Messaging, Supervisor, Full, CronMinimal, HeartbeatMinimal] {
            assert_eq!(profile.row().profile, profile);
            assert_eq!(Profile::from_name(profile.name()), Some(profile));
        }
    }

    #[test]
    fn only_full_is_unlimited() {
        for profile in Profile::all() {
            assert_eq!(profile.tools() == ToolSet::All, profile == Profile::Full);
        }
    }
}
