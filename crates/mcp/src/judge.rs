//! Decisions about a server: by the agent's configuration, as at every other entry point, and by pinned tool definitions.
#![expect(clippy::disallowed_methods, reason = "reads the clock, to read the configuration anew")]

use std::cell::RefCell;
use std::time::{Duration, Instant};

use serde_json::Value;
use stockade_guard::admission::admit_result;
use stockade_guard::audit::{AuditEvent, EventKind, Recorded, field};
use stockade_guard::output::{ProfileOverride, resolve_source};
use stockade_guard::scanner::Scanner;

use super::bytes::{SeenBytes, look_at};
use super::conversation::{Definition, Judge, Pinned};
use super::pins::Pins;
use stockade_harness::answer::HookVerdict;
use stockade_harness::call::{Origin, ToolCall};
use stockade_harness::judge::Agent;
use stockade_harness::results::{Looked, look};
use stockade_harness::{Answers, Harness, HookRegistration, Manual, Payload, Results};

/// Harness name of a client, which forwards results and runs nothing.
static CLIENT: Harness = Harness {
    name: "mcp",
    title: "a client of the Model Context Protocol",
    tried: None,
    events: &[],
    payload: Payload::Named,
    answers: Answers::Plugin,
    asks: false,
    rewrites: false,
    asks_rewritten: false,
    results: Results::Replaced,
    project_variables: &[],
    registered: HookRegistration::ByHand(Manual::Line("")),
    probes: &[],
    open: &[],
};

/// Maximum age of the loaded configuration, so that a change applies without restarting the server.
const MAX_AGE: Duration = Duration::from_secs(1);

/// Reason if no decision is possible.
const GONE: &str = "the configuration cannot be read any more";

/// Source profile of definitions and notes: they pass in full, only without invisible characters.
const PROFILE: &str = "file_read";

/// Decides about one server for one agent.
#[derive(Debug)]
pub struct Judged {
    agent: String,
    server: String,
    command: Vec<String>,
    origin: Origin,
    pins: Pins,
}

/// The judge with the loaded configuration.
#[derive(Debug)]
pub(crate) struct Judging<'j> {
    judged: &'j Judged,
    read: Option<(Instant, Agent<'j>)>,
    allowance: Allowance,
}

impl Judged {
    /// Creates the judge of the server `server`, started with `command`, for `agent`.
    ///
    /// # Errors
    /// When the location of pins is unknown.
    pub fn new(agent: &str, server: &str, command: Vec<String>, origin: Origin) -> Result<Self, String> {
        let pins = Pins::of_user(server)?;
        Ok(Self { agent: agent.to_owned(), server: server.to_owned(), command, origin, pins })
    }

    /// Loads the configuration if necessary.
    pub fn open(&self) -> Result<Agent<'_>, String> {
        Agent::open(&CLIENT, &self.agent, &self.origin)
    }

    pub(crate) fn judging(&self) -> Judging<'_> {
        Judging { judged: self, read: None, allowance: Allowance::new() }
    }

    /// Returns the name of a tool in rules.
    fn named(&self, what: &str) -> String {
        format!("mcp__{}__{what}", self.server)
    }
}

impl<'j> Judging<'j> {
    fn agent(&mut self) -> Result<&Agent<'j>, String> {
        let is_fresh = self.read.as_ref().is_some_and(|(at, _)| at.elapsed() < MAX_AGE);
        if !is_fresh {
            self.read = None;
            self.read = Some((Instant::now(), self.judged.open()?));
        }
        self.read.as_ref().map(|(_, agent)| agent).ok_or_else(|| GONE.to_owned())
    }
}

impl Judge for Judging<'_> {
    fn offers(&mut self, tool: &str) -> Result<bool, String> {
        let name = self.judged.named(tool);
        Ok(self.agent()?.session.decide_tool(&name).is_allowed())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<HookVerdict, String> {
        let judged = self.judged;
        let call = ToolCall {
            event: "tools/call".to_owned(),
            tool: tool.to_owned(),
            server: Some((judged.server.clone(), tool.to_owned())),
            input: arguments.clone(),
            origin: judged.origin.clone(),
        };
        self.agent()?.before(&call)
    }

    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> Result<String, String> {
        self.allowance.spend()?;
        let name = self.judged.named(what);
        let agent = self.agent()?;
        let decision = agent.session.turn_away(&name, rule, reason.to_owned(), None);
        let decision = decision.map_err(|error| error.to_string())?;
        match agent.stopped(&decision) {
            HookVerdict::Deny(why) => Ok(format!("{why} `{name}`")),
            other => Err(format!("a refusal became {other:?}")),
        }
    }

    fn result(&mut self, what: &str, result: &Value) -> Result<Looked, String> {
        let name = self.judged.named(what);
        let session = &self.agent()?.session;
        let scanner = session.guard().scanner(Scanner::builtin());
        let wish = ProfileOverride::default();
        let limits = session.source_profile(&name, &wish);
        let recorded = |bytes: &[u8]| {
            let seen = session.result(&name, bytes, None, Scanner::builtin(), &wish);
            seen.map_err(|error| error.to_string())
        };
        look(&name, result, &name, &limits, &scanner, &recorded)
    }

    fn text(&mut self, what: &str, text: &Value) -> Result<Looked, String> {
        let name = self.judged.named(what);
        self.agent()?;
        let Some((_, agent)) = &self.read else { return Err(GONE.to_owned()) };
        let (session, allowance) = (&agent.session, RefCell::new(&mut self.allowance));
        let scanner = session.guard().scanner(Scanner::builtin());
        let wish = ProfileOverride::default();
        let limits = resolve_source(PROFILE, &wish);
        // Texts without findings are not recorded: a server has many of them.
        let noted = |bytes: &[u8]| {
            let seen = admit_result(PROFILE, bytes, &limits, None, &scanner);
            if seen.findings.is_empty() && seen.removed == 0 {
                return Ok(seen);
            }
            allowance.borrow_mut().spend()?;
            let recorded = session.result(&name, bytes, None, Scanner::builtin(), &wish);
            recorded.map(|_| seen).map_err(|error| error.to_string())
        };
        look(&name, text, PROFILE, &limits, &scanner, &noted)
    }

    fn bytes(&mut self, what: &str, bytes: &[u8]) -> Result<Looked, String> {
        let name = self.judged.named(what);
        let scanner = self.agent()?.session.guard().scanner(Scanner::builtin());
        let SeenBytes { looked, rules } = look_at(&name, bytes, &scanner);
        if looked != Looked::Fine {
            self.allowance.spend()?;
            let event =
                AuditEvent::new(EventKind::ScanFound).with(field::TOOL, name).with(field::FINDINGS, rules);
            let event = AuditEvent { agent: Some(self.judged.agent.as_str().into()), ..event };
            let event = event.with(field::BYTES, u64::try_from(bytes.len()).unwrap_or(u64::MAX));
            let trail = self.agent()?.session.trail();
            // With `audit.onUnrecorded = "warn"`, the result passes anyway.
            let (Recorded::Kept(_) | Recorded::Lost(_)) =
                trail.record(event).map_err(|error| error.to_string())?;
        }
        Ok(looked)
    }

    fn pin(&mut self, tools: &[Definition]) -> Result<Vec<Pinned>, String> {
        self.judged.pins.pin(&self.judged.command, tools)
    }
}

/// Rate limit of records about a server's texts, so that a server cannot fill the disk with refusals.
#[derive(Debug)]
struct Allowance {
    left: u32,
    since: Instant,
}

impl Allowance {
    /// Maximum burst: a list may contain many refused tools.
    const MAX_RECORDS: u32 = 10_000;

    /// Interval at which one more record is allowed.
    const EACH: Duration = Duration::from_secs(10);

    fn new() -> Self {
        Self { left: Self::MAX_RECORDS, since: Instant::now() }
    }

    /// Takes one record from the limit. Beyond it, texts of the server are refused without a record.
    fn spend(&mut self) -> Result<(), String> {
        self.spend_at(Instant::now())
    }

    fn spend_at(&mut self, now: Instant) -> Result<(), String> {
        let gained = now.saturating_duration_since(self.since).as_secs() / Self::EACH.as_secs();
        if gained > 0 {
            self.left =
                self.left.saturating_add(u32::try_from(gained).unwrap_or(u32::MAX)).min(Self::MAX_RECORDS);
            self.since = now;
        }
        self.left = self.left.checked_sub(1).ok_or_else(|| {
            format!(
                "the server sent {} texts that had to be recorded; the maximum is one every {} seconds",
                Self::MAX_RECORDS,
                Self::EACH.as_secs()
            )
        })?;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Records about a server are limited, and beyond the limit nothing passes.
    #[test]
    fn records_of_a_server_are_bounded() {
        let mut allowance = Allowance::new();
        let begun = allowance.since;
        let spent = |allowance: &mut Allowance, at: u64| {
            let now = begun + Duration::from_secs(at);
            (0..20_000).filter(|_| allowance.spend_at(now).is_ok()).count()
        };
        assert_eq!(spent(&mut allowance, 0), 10_000);
        assert_eq!(spent(&mut allowance, 9), 0);
        assert_eq!(spent(&mut allowance, 100), 10);
        assert_eq!(spent(&mut allowance, 100_000_000), 10_000);
        assert!(allowance.spend_at(begun).unwrap_err().contains("every 10 seconds"));
    }
}
