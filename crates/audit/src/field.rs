//! The details of Stockade's own events: one row for each, with its kind.
//!
//! A detail cannot be recorded without a kind: [`AuditEvent::with`](crate::AuditEvent::with) takes a field and not a name.
//!
//! ```compile_fail,E0308
//! # use stockade_audit::{AuditEvent, EventKind};
//! let event = AuditEvent::new(EventKind::ToolAllowed).with("ticket", "OPS-7");
//! ```
//!
//! A caller with details of its own states the kind of each:
//!
//! ```
//! use stockade_audit::{AuditEvent, AuditField, AuditId, EventKind};
//!
//! const TICKET: AuditField<AuditId> = AuditField::new("ticket");
//! let event = AuditEvent::new(EventKind::ToolAllowed).with(TICKET, "OPS-7");
//! ```
//!
//! ```compile_fail,E0107
//! # use stockade_audit::AuditField;
//! const TICKET: AuditField = AuditField::new("ticket");
//! ```

use std::fmt;
use std::marker::PhantomData;

use crate::detail::{
    AuditId, AuditIds, AuditNumber, ClosedWord, ClosedWords, FreeText, FreeTexts, TypedDetail,
};

/// The name of a detail, whose kind is its type.
pub struct AuditField<K> {
    name: &'static str,
    kind: PhantomData<fn(K)>,
}

impl<K: Into<TypedDetail>> AuditField<K> {
    /// A detail of this name.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self { name, kind: PhantomData }
    }

    /// Returns the name, as it is on record.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.name
    }
}

impl<K> Clone for AuditField<K> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<K> Copy for AuditField<K> {}

impl<K> fmt::Debug for AuditField<K> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("AuditField").field(&self.name).finish()
    }
}

/// Makes a constant of each row, and for tests a list of all.
macro_rules! fields {
    ($($(#[$doc:meta])+ $constant:ident: $kind:ty = $name:literal;)+) => {
        $($(#[$doc])+ pub const $constant: AuditField<$kind> = AuditField::new($name);)+

        /// Adds every detail to an event: one of each kind is made of a text.
        #[cfg(test)]
        pub(crate) fn with_all(event: crate::AuditEvent, of: &str) -> crate::AuditEvent {
            use crate::event::tests::Sample;
            event$(.with($constant, <$kind>::sample(of)))+
        }
    };
}

// In the order of the alphabet.
fields! {
    /// The tools of a list that are allowed.
    ALLOWED: AuditIds = "allowed";
    /// Whether a container may start processes.
    ALLOW_SPAWN: bool = "allowSpawn";
    /// What a person answered.
    ANSWER: ClosedWord = "answer";
    /// Why the connection to a shared egress proxy was lost.
    BROKER_LOST: FreeText = "brokerLost";
    /// The user that decided, by number.
    BY: AuditNumber = "by";
    /// The size of a result.
    BYTES: AuditNumber = "bytes";
    /// Why a command did not succeed: a limit, a signal, an exit code.
    CAUSE: ClosedWord = "cause";
    /// How the rules were changed.
    CHANGE: ClosedWord = "change";
    /// Files changed by a command that projects change daily.
    CHANGED: FreeTexts = "changed";
    /// The reviewed changes that were decided on.
    CHANGES: AuditId = "changes";
    /// By how many milliseconds the clock was set back.
    CLOCK_WENT_BACK_MS: AuditNumber = "clockWentBackMs";
    /// The command.
    COMMAND: FreeText = "command";
    /// Whether details were shortened or left out.
    CUT: bool = "cut";
    /// The working directory.
    CWD: FreeText = "cwd";
    /// What was decided about changes.
    DECISION: ClosedWord = "decision";
    /// The entry point.
    DOOR: ClosedWord = "door";
    /// The model CLI that is run.
    DRIVEN: AuditId = "driven";
    /// How a command ended.
    END: ClosedWord = "end";
    /// What the sandbox enforced, and how.
    ENFORCED: ClosedWords = "enforced";
    /// Why it failed.
    ERROR: FreeText = "error";
    /// Files with secrets that a command could read.
    EXPOSED: FreeTexts = "exposed";
    /// Which files a command could change.
    FILES: ClosedWord = "files";
    /// The tools of a list that are denied.
    FILTERED: AuditIds = "filtered";
    /// The rules that found something.
    FINDINGS: AuditIds = "findings";
    /// What the sandbox did not enforce, and why.
    GAPS: ClosedWords = "gaps";
    /// The hosts that were denied.
    HOSTS_REFUSED: FreeTexts = "hosts_refused";
    /// The decision that the event is about.
    ID: AuditId = "id";
    /// The digest of the last record of a trail that was set aside.
    LAST: AuditId = "last";
    /// The digest of a container's manifest.
    MANIFEST: AuditId = "manifest";
    /// The memory limit in bytes; -1 without one.
    MEMORY: AuditNumber = "memory";
    /// The memory limit of a container in megabytes.
    MEMORY_MB: AuditNumber = "memoryMb";
    /// The method of a request.
    METHOD: AuditId = "method";
    /// What a command could reach of the network.
    NETWORK: ClosedWord = "network";
    /// Files that should be in the quarantine and could not be moved.
    NOT_MOVED: FreeTexts = "not_moved";
    /// The operation on a path, as the caller names it.
    OPERATION: AuditId = "operation";
    /// The operations of GraphQL or JSON-RPC in the body of a request.
    OPERATIONS: FreeTexts = "operations";
    /// Which limits were reset.
    PART: ClosedWord = "part";
    /// The path.
    PATH: FreeText = "path";
    /// The paths that were decided on.
    PATHS: FreeTexts = "paths";
    /// The file that contains the rules.
    PLACE: FreeText = "place";
    /// The path policies of a tool.
    POLICIES: FreeTexts = "policies";
    /// The kinds of problems that a skill has.
    PROBLEMS: AuditIds = "problems";
    /// Files left by this command that were moved into the quarantine.
    QUARANTINED: FreeTexts = "quarantined";
    /// Files left by earlier commands that were moved into the quarantine.
    QUARANTINED_OF_EARLIER: FreeTexts = "quarantined_of_earlier";
    /// Why it was decided so.
    REASON: FreeText = "reason";
    /// The number of bytes received from a host.
    RECEIVED: AuditNumber = "received";
    /// The number of records of a trail that was set aside.
    RECORDS: AuditNumber = "records";
    /// The rules that decided or were changed.
    RULES: AuditIds = "rules";
    /// The rules that were switched off.
    RULES_OFF: AuditIds = "rulesOff";
    /// The names of the secrets that were inserted into a request.
    SECRETS: AuditIds = "secrets";
    /// The secrets of the configuration that a command did not get.
    SECRETS_WITHHELD: FreeTexts = "secretsWithheld";
    /// The number of bytes sent to a host.
    SENT: AuditNumber = "sent";
    /// The start of the session's name.
    SESSION: AuditId = "session";
    /// Where the trail before this one is.
    SET_ASIDE: FreeText = "setAside";
    /// The run that a connection belongs to.
    STARTED_BY: AuditId = "startedBy";
    /// The status code of a response.
    STATUS: AuditNumber = "status";
    /// What was decided on: a command, a path, a host, a tool.
    SUBJECT: FreeText = "subject";
    /// Rules that would allow a command.
    SUGGESTIONS: FreeTexts = "suggestions";
    /// How to allow it.
    TO_ALLOW: FreeText = "toAllow";
    /// The tool.
    TOOL: AuditId = "tool";
    /// Whether a result was shortened.
    TRUNCATED: bool = "truncated";
    /// The path of a request, without its query.
    URL_PATH: FreeText = "urlPath";
    /// The workspace.
    WORKSPACE: FreeText = "workspace";
    /// Why a trail was not continued.
    WRONG: FreeText = "wrong";
}
