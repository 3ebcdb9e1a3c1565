//! How an entry of a list names tools: exactly, by group, by wildcard, or as everything of one MCP server.

use super::groups::{self, Group};

/// What every tool of an MCP server is prefixed with.
const MCP: &str = "mcp__";

/// One entry of an allow list, a deny list or a skill's list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    text: String,
    pattern: Pattern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pattern {
    /// One tool, by its exact name.
    Name,
    /// Every tool of a built-in group.
    Group(&'static Group),
    /// Every tool whose name fits; `*` matches any text.
    Wildcard,
    /// `mcp__server`: every tool of that server.
    Server,
}

impl Entry {
    /// Reads an entry. Every text is an entry: one that names nothing known is found by the caller, who knows the
    /// tools.
    pub(crate) fn parse(text: &str) -> Self {
        Self { text: text.to_owned(), pattern: Pattern::of(text) }
    }

    /// Whether the entry names this tool.
    pub(crate) fn matches(&self, tool: &str) -> bool {
        #[cfg(test)]
        work::count();
        match self.pattern {
            Pattern::Name => self.text == tool,
            Pattern::Group(group) => group.tools.contains(&tool),
            Pattern::Wildcard => fits(&self.text, tool),
            // The separator is asked for: `mcp__git` names no tool of the server `github`.
            Pattern::Server => tool
                .strip_prefix(self.text.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.starts_with("__")),
        }
    }

    /// Returns the entry as it was written.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// Whether the entry speaks of tools of this MCP server, by name or as the beginning of a wildcard.
    pub(crate) fn concerns_server(&self, server: &str) -> bool {
        let Some(rest) = self.text.strip_prefix(MCP) else { return false };
        rest.strip_prefix(server).is_some_and(|tool| tool.is_empty() || tool == "*" || tool.starts_with("__"))
    }

    /// Whether the entry means every tool, or every tool of every MCP server: never a slip, even when it matches
    /// nothing yet.
    pub(crate) fn is_sweeping(&self) -> bool {
        matches!(self.text.as_str(), "*" | "mcp__*")
    }

    /// Whether the entry looks like the name of a group, but no group has that name.
    pub(crate) fn is_unknown_group(&self) -> bool {
        self.pattern == Pattern::Name && self.text.starts_with(groups::PREFIX)
    }
}

impl Pattern {
    fn of(text: &str) -> Self {
        if let Some(group) = Group::from_name(text) {
            Self::Group(group)
        } else if text.contains('*') {
            Self::Wildcard
        } else if text.strip_prefix(MCP).is_some_and(|server| !server.is_empty() && !server.contains("__")) {
            Self::Server
        } else {
            Self::Name
        }
    }
}

/// Whether `name` fits a pattern in which `*` matches any text. Linear: the pieces between the stars are looked
/// for one after the other, never again from the start.
fn fits(pattern: &str, name: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == name };
    let (middle, tail) = rest.rsplit_once('*').unwrap_or(("", rest));
    // Both ends come off first, so that they cannot overlap: `ab*ba` does not fit `aba`.
    let Some(mut body) = name.strip_prefix(head).and_then(|body| body.strip_suffix(tail)) else {
        return false;
    };
    middle.split('*').all(|piece| match body.split_once(piece) {
        Some((_, after)) => {
            body = after;
            true
        }
        None => false,
    })
}

/// Counts how often a name is held against an entry, to show that resolving is linear.
#[cfg(test)]
mod work {
    use std::cell::Cell;

    thread_local!(static MATCHES: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count() {
        MATCHES.set(MATCHES.get() + 1);
    }

    /// Returns the count, and begins anew.
    pub(super) fn take() -> usize {
        MATCHES.take()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SkillTools, ToolCatalog, ToolPolicy, ToolPolicyConfig};

    #[test]
    fn resolving_takes_a_look_up_for_each_known_tool_and_a_pass_over_the_lists_for_others() {
        const ENTRIES: usize = 100;
        let patterns = |start: &str| (0..ENTRIES).map(|n| format!("{start}{n}_*")).collect::<Vec<_>>();
        for tools in [1_000, 2_000] {
            let names: Vec<String> = (0..tools).map(|n| format!("mcp__s{}_x__{n}", n % ENTRIES)).collect();
            let config = ToolPolicyConfig {
                profile: "minimal".to_owned(),
                allow: patterns("mcp__s"),
                deny: patterns("mcp__*_x__1"),
            };
            let catalog = ToolCatalog { tools: names.clone(), mcp_servers: vec!["".to_owned()] };
            work::take();
            let (policy, _slips) = ToolPolicy::compile_leniently(&config, &catalog);
            // Each entry is held against each tool: once to find slips, once to decide.
            let built_in = 100;
            assert!(work::take() <= 2 * 2 * ENTRIES * (tools + built_in), "loading {tools} tools");
            let resolution = policy.resolve(names.iter().map(String::as_str));
            assert_eq!(resolution.allowed.len() + resolution.filtered.len(), tools);
            assert_eq!(work::take(), 0, "a known tool is a look-up");
            let skill = SkillTools::parse("mcp__s1_x__1 Read").unwrap();
            let narrowed = policy.with_skill("s", &skill);
            assert!(work::take() <= (2 * ENTRIES + 2) * (tools + built_in), "narrowing {tools} tools");
            let unknown: Vec<String> = (0..tools).map(|n| format!("unknown{n}")).collect();
            let _resolution = narrowed.resolve(unknown.iter().map(String::as_str));
            assert!(work::take() <= (2 * ENTRIES + 2) * tools, "{tools} tools that no entry lists");
        }
    }

    #[test]
    fn entries_name_tools() {
        for (entry, tool, expected) in [
            ("exec", "exec", true),
            ("exec", "EXEC", false),
            ("exec", "execute", false),
            ("group:web", "browser", true),
            ("group:web", "group:web", false),
            ("group:nope", "group:nope", true),
            ("browser*", "browser", true),
            ("browser_*", "browser", false),
            ("*_manage", "memory_manage", true),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "acb", false),
            ("a*a", "a", false),
            ("**", "", true),
            ("*", "anything", true),
            ("mcp__github", "mcp__github", true),
            ("mcp__github", "mcp__github__search", true),
            ("mcp__github", "mcp__github2__search", false),
            ("mcp__github--search", "mcp__github--search", true),
            ("mcp__github__*", "mcp__github__search", true),
            ("mcp__*__search", "mcp__github__search", true),
            ("mcp__github__search", "mcp__github__search", true),
            ("mcp__github__search", "mcp__github__search__deep", false),
        ] {
            assert_eq!(Entry::parse(entry).matches(tool), expected, "{entry} {tool}");
        }
    }

    #[test]
    fn entries_concern_servers() {
        for (entry, server, expected) in [
            ("mcp__github", "github", true),
            ("mcp__github__search", "github", true),
            ("mcp__github__*", "github", true),
            ("mcp__github*", "github", true),
            ("mcp__github", "git", false),
            ("github", "github", false),
        ] {
            assert_eq!(Entry::parse(entry).concerns_server(server), expected, "{entry} {server}");
        }
    }
}
