//! Hosts of web pages: each is asked about once in a session.

use stockade_guard::command::Effect;
use stockade_guard::command::answers::CommandAnswer;
use stockade_state::agreed_hosts;

use super::answer::HookVerdict;
use super::call::{Origin, ToolCall};
use super::judge::{Agent, strictest};
use super::tools::{ToolKind, known};
use super::{addresses, heartbeat};

impl Agent<'_> {
    /// Decides about hosts. One that the user has agreed to in this session is not asked about again.
    pub(super) fn hosts(&self, call: &ToolCall, hosts: &[&str]) -> Result<HookVerdict, String> {
        strictest(hosts, |host| {
            let decision = self.session.host_or_question(host).map_err(|error| error.to_string())?;
            let is_agreed = || agreed_hosts::is_agreed(&self.session_name(&call.origin), host);
            if decision.effect == Effect::Ask && self.can_agree(call) && is_agreed() {
                let answer = CommandAnswer::AllowSession.name();
                self.session.record_answer(&decision, answer).map_err(|error| error.to_string())?;
                return Ok(HookVerdict::Silent);
            }
            Ok(self.stopped(&decision))
        })
    }

    /// Notes that the user is asked about the hosts of a call.
    pub(super) fn asked(&self, call: &ToolCall) -> Result<(), String> {
        if !self.can_agree(call) {
            return Ok(());
        }
        let hosts = addresses::among(&call.input)?;
        agreed_hosts::asked(&self.session_name(&call.origin), &hosts).map_err(|error| error.to_string())
    }

    /// Notes that a call ran, by which the user has agreed to the hosts that were asked about.
    pub(super) fn ran(&self, call: &ToolCall) -> Result<(), String> {
        let name = call.name();
        if !self.can_agree(call) || call.server.is_some() || known(&name).1 != ToolKind::Web {
            return Ok(());
        }
        let Ok(hosts) = addresses::among(&call.input) else { return Ok(()) };
        agreed_hosts::ran(&self.session_name(&call.origin), &hosts).map_err(|error| error.to_string())
    }

    /// Whether this program asks its user, in a session with a name.
    fn can_agree(&self, call: &ToolCall) -> bool {
        let session = call.origin.session.as_str();
        self.harness().asks && !self.has_task() && !session.is_empty() && session != heartbeat::REPLAY
    }

    fn session_name(&self, origin: &Origin) -> String {
        format!("{}/{}/{}", self.harness().name, self.agent_name(), origin.session)
    }
}
