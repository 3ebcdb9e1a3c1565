//! The built-in groups: several tools under one name, for allow and deny lists.

/// Several tools under one name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Group {
    /// The name, with its `group:` prefix.
    pub name: &'static str,
    /// The tools of the group.
    pub tools: &'static [&'static str],
}

#[rustfmt::skip]
const GROUPS: &[Group] = &[
    Group { name: "group:coding",
        tools: &["read", "edit", "write", "grep", "find", "ls", "apply_patch", "exec", "process"] },
    Group { name: "group:web", tools: &["web_fetch", "web_search", "browser"] },
    Group { name: "group:browser", tools: &["browser"] },
    Group { name: "group:memory", tools: &["memory_search", "memory_get", "memory_store"] },
    Group { name: "group:scheduling", tools: &["cron"] },
    Group { name: "group:messaging", tools: &["message"] },
    Group { name: "group:sessions",
        tools: &["sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "session_status",
            "session_search", "subagents", "pipeline"] },
    Group { name: "group:platform_actions",
        tools: &["discord_action", "telegram_action", "slack_action", "whatsapp_action"] },
    Group { name: "group:supervisor",
        tools: &["agents_manage", "obs_query", "sessions_manage", "memory_manage", "channels_manage",
            "tokens_manage", "models_manage", "skills_manage", "mcp_manage", "heartbeat_manage"] },
    Group { name: "group:context", tools: &["ctx_search", "ctx_inspect", "ctx_recall"] },
    Group { name: "group:context_expand", tools: &["ctx_expand", "ctx_inspect"] },
];

/// What marks an entry of a list as the name of a group.
pub(crate) const PREFIX: &str = "group:";

impl Group {
    /// Every group, in the order of the documentation.
    pub fn all() -> impl Iterator<Item = &'static Self> {
        GROUPS.iter()
    }

    /// Returns the group of this exact name, prefix included.
    #[must_use]
    pub fn from_name(name: &str) -> Option<&'static Self> {
        GROUPS.iter().find(|group| group.name == name)
    }

    /// Replaces the groups among `names` by their tools and drops repetitions; the first position of a name is
    /// kept. A name that is not a group is kept unchanged.
    #[must_use]
    pub fn expand<'n>(names: &[&'n str]) -> Vec<&'n str> {
        let mut expanded = Vec::new();
        for name in names {
            match Self::from_name(name) {
                Some(group) => expanded.extend_from_slice(group.tools),
                None => expanded.push(name),
            }
        }
        let mut seen = std::collections::HashSet::new();
        expanded.retain(|name| seen.insert(*name));
        expanded
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_prefixed() {
        let mut names: Vec<_> = Group::all().map(|group| group.name).collect();
        assert!(names.iter().all(|name| name.starts_with(PREFIX)));
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), GROUPS.len());
    }

    #[test]
    fn expansion_keeps_first_positions() {
        let cases: [(&[&str], &[&str]); 5] = [
            (&["group:web", "group:browser"], &["web_fetch", "web_search", "browser"]),
            (&["browser", "group:web"], &["browser", "web_fetch", "web_search"]),
            (&["group:nonexistent", "group:"], &["group:nonexistent", "group:"]),
            (&["a", "a"], &["a"]),
            (&[], &[]),
        ];
        for (names, expected) in cases {
            assert_eq!(Group::expand(names), expected, "{names:?}");
        }
    }
}
