//! What decides about a server: the configuration of the agent, as at every other door, and what the pins keep in mind.
#![expect(clippy::disallowed_methods, reason = "reads the clock, to read the configuration anew")]

use std::time::{Duration, Instant};

use serde_json::Value;
use stockade_guard::admit_result;
use stockade_guard::limits::source::{ProfileOverride, resolve_source};
use stockade_guard::scanner::Scanner;

use super::conversation::{Judge, Pinned};
use super::pins::Pins;
use crate::harness::answer::Verdict;
use crate::harness::call::{Call, Origin};
use crate::harness::judge::Agent;
use crate::harness::results::{Looked, look};
use crate::harness::{Answers, Harness, Payload, Registered, Results};

/// A client of a server, which hands results on and runs nothing in the place of anything.
static CLIENT: Harness = Harness {
    name: "mcp",
    title: "a client of the Model Context Protocol",
    tried: None,
    events: &[],
    payload: Payload::Named,
    answers: Answers::Plugin,
    asks: false,
    rewrites: false,
    results: Results::Replaced,
    project_variables: &[],
    registered: Registered::ByHand(""),
    probes: &[],
    open: &[],
};

/// How old what was read of the configuration may be: who changes it need not begin the server anew.
const MAX_AGE: Duration = Duration::from_secs(1);

/// The profile by which definitions and notes of a server are looked at: they are as they are, and only what nobody sees goes.
const PROFILE: &str = "file_read";

/// Decides about one server for one agent.
#[derive(Debug)]
pub(crate) struct Judged {
    agent: String,
    server: String,
    command: Vec<String>,
    origin: Origin,
    pins: Pins,
}

/// The same, with what was read of the configuration.
#[derive(Debug)]
pub(crate) struct Judging<'j> {
    judged: &'j Judged,
    read: Option<(Instant, Agent<'j>)>,
}

impl Judged {
    pub(crate) fn new(
        agent: &str,
        server: &str,
        command: Vec<String>,
        origin: Origin,
    ) -> Result<Self, String> {
        let pins = Pins::of_user(server)?;
        Ok(Self { agent: agent.to_owned(), server: server.to_owned(), command, origin, pins })
    }

    /// Opens what decides now.
    pub(crate) fn open(&self) -> Result<Agent<'_>, String> {
        Agent::open(&CLIENT, &self.agent, &self.origin)
    }

    pub(crate) fn judging(&self) -> Judging<'_> {
        Judging { judged: self, read: None }
    }

    /// What the rules call something of the server.
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
        self.read.as_ref().map(|(_, agent)| agent).ok_or_else(|| "the configuration is gone".to_owned())
    }
}

impl Judge for Judging<'_> {
    fn offers(&mut self, tool: &str) -> Result<bool, String> {
        let name = self.judged.named(tool);
        Ok(self.agent()?.session.decide_tool(&name).is_allowed())
    }

    fn call(&mut self, tool: &str, arguments: &Value) -> Result<Verdict, String> {
        let judged = self.judged;
        let call = Call {
            event: "tools/call".to_owned(),
            tool: tool.to_owned(),
            server: Some((judged.server.clone(), tool.to_owned())),
            input: arguments.clone(),
            origin: judged.origin.clone(),
        };
        self.agent()?.before(&call)
    }

    fn turn_away(&mut self, what: &str, rule: &str, reason: &str) -> Result<String, String> {
        let name = self.judged.named(what);
        let agent = self.agent()?;
        let decision = agent.session.turn_away(&name, rule, reason.to_owned(), None);
        let decision = decision.map_err(|error| error.to_string())?;
        match agent.stopped(&decision, None) {
            Verdict::Deny(why) => Ok(format!("{why} `{name}`")),
            other => Err(format!("a refusal became {other:?}")),
        }
    }

    fn result(&mut self, what: &str, result: &Value) -> Result<Looked, String> {
        let name = self.judged.named(what);
        let session = &self.agent()?.session;
        let wish = ProfileOverride::default();
        let limits = session.source_profile(&name, &wish);
        let recorded = |bytes: &[u8]| {
            let seen = session.result(&name, bytes, None, Scanner::builtin(), &wish);
            seen.map_err(|error| error.to_string())
        };
        look(&name, result, &name, &limits, &recorded)
    }

    fn text(&mut self, what: &str, text: &Value) -> Result<Looked, String> {
        let name = self.judged.named(what);
        let session = &self.agent()?.session;
        let wish = ProfileOverride::default();
        let limits = resolve_source(PROFILE, &wish);
        // What says nothing is not worth a record: a server has many such texts.
        let noted = |bytes: &[u8]| {
            let seen = admit_result(PROFILE, bytes, &limits, None, Scanner::builtin());
            if seen.findings.is_empty() && seen.removed == 0 {
                return Ok(seen);
            }
            let recorded = session.result(&name, bytes, None, Scanner::builtin(), &wish);
            recorded.map(|_| seen).map_err(|error| error.to_string())
        };
        look(&name, text, PROFILE, &limits, &noted)
    }

    fn pin(&mut self, tool: &str, definition: &str) -> Result<Pinned, String> {
        self.judged.pins.pin(&self.judged.command, tool, definition)
    }
}
