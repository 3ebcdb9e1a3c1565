//! What can be put on record: one row for each kind of event.

use std::fmt;

/// A kind of event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum EventKind {
    /// A text was scanned and nothing was found.
    ScanClean,
    /// A text was scanned and something was found.
    ScanFound,
    /// A text was cleaned.
    Sanitized,
    /// A skill was let in.
    SkillAccepted,
    /// A skill was admitted with findings that a person should review.
    SkillFlagged,
    /// A skill was turned away.
    SkillBlocked,
    /// A tool may be used.
    ToolAllowed,
    /// A tool may not be used.
    ToolDenied,
    /// A path may be touched.
    PathAllowed,
    /// A path may not be touched.
    PathDenied,
    /// A command may run.
    CommandAllowed,
    /// A command may not run.
    CommandDenied,
    /// A command may talk to a host.
    NetworkAllowed,
    /// A command may not talk to a host.
    NetworkDenied,
    /// A request of a command, or a connection that was allowed as a whole, has ended.
    NetworkCompleted,
    /// A person is asked for approval.
    ApprovalAsked,
    /// A person has answered a question for approval.
    ApprovalAnswered,
    /// A limit stopped a call.
    LimitReached,
    /// A user reset the limits of an agent.
    LimitsReset,
    /// A user applied, discarded or undid the changes that a command made in an overlay of its workspace.
    ChangesDecided,
    /// The rules that decisions are made by have changed.
    PolicyChanged,
    /// A trail begins in the place of another one, which was set aside.
    TrailBegun,
    /// A command or a skill is about to run in a sandbox.
    SandboxStarted,
    /// It has ended as it should.
    SandboxCompleted,
    /// It has failed, was stopped, or never began.
    SandboxError,
    /// Something in a sandbox asked for what it may not have.
    SandboxDenied,
}

/// How much an event matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EventSeverity {
    /// It belongs to everyday work.
    Info,
    /// A person may want to review it.
    Warn,
    /// A person should review it.
    High,
}

/// Whether an event is complete, or begins or ends an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventPhase {
    /// It is complete by itself.
    Point,
    /// It begins something. Exactly one end follows.
    Start,
    /// It ends what began.
    End,
}

struct Row {
    kind: EventKind,
    name: &'static str,
    severity: EventSeverity,
    phase: EventPhase,
}

const fn row(kind: EventKind, name: &'static str, severity: EventSeverity, phase: EventPhase) -> Row {
    Row { kind, name, severity, phase }
}

/// In the order of the variants.
const ROWS: &[Row] = {
    use EventKind as K;
    use EventPhase::{End, Point, Start};
    use EventSeverity::{High, Info, Warn};
    &[
        row(K::ScanClean, "scan_clean", Info, Point),
        row(K::ScanFound, "scan_found", Warn, Point),
        row(K::Sanitized, "sanitized", Info, Point),
        row(K::SkillAccepted, "skill_accepted", Info, Point),
        row(K::SkillFlagged, "skill_flagged", Warn, Point),
        row(K::SkillBlocked, "skill_blocked", High, Point),
        row(K::ToolAllowed, "tool_allowed", Info, Point),
        row(K::ToolDenied, "tool_denied", Warn, Point),
        row(K::PathAllowed, "path_allowed", Info, Point),
        row(K::PathDenied, "path_denied", Warn, Point),
        row(K::CommandAllowed, "command_allowed", Info, Point),
        row(K::CommandDenied, "command_denied", Warn, Point),
        row(K::NetworkAllowed, "network_allowed", Info, Point),
        row(K::NetworkDenied, "network_denied", Warn, Point),
        row(K::NetworkCompleted, "network_completed", Info, Point),
        row(K::ApprovalAsked, "approval_asked", Info, Point),
        row(K::ApprovalAnswered, "approval_answered", Info, Point),
        row(K::LimitReached, "limit_reached", Warn, Point),
        row(K::LimitsReset, "limits_reset", Warn, Point),
        row(K::ChangesDecided, "changes_decided", Info, Point),
        row(K::PolicyChanged, "policy_changed", Warn, Point),
        row(K::TrailBegun, "trail_begun", Warn, Point),
        row(K::SandboxStarted, "sandbox_started", Info, Start),
        row(K::SandboxCompleted, "sandbox_completed", Info, End),
        row(K::SandboxError, "sandbox_error", Warn, End),
        row(K::SandboxDenied, "sandbox_denied", High, Point),
    ]
};

/// The kinds that record decisions themselves. Runs and answers refer to their decision, and are not listed.
const DECISIONS: &[EventKind] = {
    use EventKind as K;
    &[
        K::ToolAllowed,
        K::ToolDenied,
        K::PathAllowed,
        K::PathDenied,
        K::CommandAllowed,
        K::CommandDenied,
        K::NetworkAllowed,
        K::NetworkDenied,
        K::ApprovalAsked,
        K::LimitReached,
    ]
};

impl EventKind {
    /// Returns every kind.
    pub fn all() -> impl Iterator<Item = Self> {
        ROWS.iter().map(|row| row.kind)
    }

    /// Returns the kind of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.name == name).map(|row| row.kind)
    }

    /// Returns the name, as it is written down: `sandbox_started`.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Returns how much it matters.
    #[must_use]
    pub fn severity(self) -> EventSeverity {
        self.row().map_or(EventSeverity::High, |row| row.severity)
    }

    /// Returns whether it begins or ends something.
    #[must_use]
    pub fn phase(self) -> EventPhase {
        self.row().map_or(EventPhase::Point, |row| row.phase)
    }

    /// Returns whether it is what was decided about something, and not what came of it.
    #[must_use]
    pub fn is_decision(self) -> bool {
        DECISIONS.contains(&self)
    }

    fn row(self) -> Option<&'static Row> {
        ROWS.get(self as usize)
    }
}

impl fmt::Display for EventKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl EventSeverity {
    /// Every severity, the lowest first.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warn, Self::High];

    /// Returns the severity of this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|severity| severity.name() == name)
    }

    /// Returns the name, as it is written down.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warn => "warn",
            Self::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_row() {
        for (place, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, place, "{}", row.name);
            assert_eq!(EventKind::from_name(row.kind.name()), Some(row.kind));
        }
        assert_eq!(EventKind::SandboxDenied as usize + 1, ROWS.len());
    }

    #[test]
    fn the_documented_query_finds_the_sandbox() {
        let found: Vec<_> = EventKind::all().filter(|kind| kind.name().starts_with("sandbox_")).collect();
        use EventKind::{SandboxCompleted, SandboxDenied, SandboxError, SandboxStarted};
        assert_eq!(found, [SandboxStarted, SandboxCompleted, SandboxError, SandboxDenied]);
    }
}
