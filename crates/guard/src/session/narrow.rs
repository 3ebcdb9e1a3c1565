//! Restrictions that a caller adds to the configuration of a session's agent.

use std::sync::Arc;

use stockade_limits::store::{AgentLimits, SharedLimits};
use stockade_policy::{SandboxConfig, ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

use stockade_admission::{AdmitOptions, OnCritical};

use super::{GuardError, Session};
use crate::audit::{EventKind, field};
use crate::guard::{Guard, admit_options};

/// Restrictions of a session. Something is allowed only if both these and the configuration allow it.
#[derive(Debug, Clone, Default)]
pub struct Narrowing {
    /// The tools.
    pub tools: Option<ToolPolicyConfig>,
    /// The paths.
    pub paths: Option<SandboxConfig>,
    /// Budgets, breaker and steps.
    pub limits: Option<AgentLimits>,
}

impl Session {
    /// Restricts the session further than its configuration. Earlier restrictions and answers about paths are discarded.
    ///
    /// # Errors
    /// When the restrictions are invalid. The session is then not restricted and must not be used.
    pub fn narrow(&mut self, narrowing: Narrowing) -> Result<(), GuardError> {
        let narrower_tools = match &narrowing.tools {
            Some(tools) => Some(Arc::new(ToolPolicy::compile(tools, &ToolCatalog::default())?)),
            None => None,
        };
        (self.narrowing, self.narrower_tools) = (Arc::new(narrowing), narrower_tools);
        self.limits = Arc::new(SharedLimits::new(self.agent_limits(), self.limits.store().clone()));
        self.paths = Arc::default();
        // Validated here, so that the error is not delayed to the first path request.
        if self.narrowing.paths.is_some() {
            self.with_paths(|_| ())?;
        }
        Ok(())
    }

    /// Returns the same session with another guard of the same agent, for a changed configuration or another workspace. It keeps
    /// skills, answers to commands, usage and restrictions, but not answers about paths, which were given for the old workspace.
    #[must_use]
    pub fn under(&self, guard: &Guard) -> Self {
        let mut moved = Self {
            guard: guard.clone(),
            tools: guard.tools().clone(),
            skills: Vec::new(),
            paths: Arc::default(),
            ..self.clone()
        };
        for (name, tools) in &self.skills {
            moved.activate_listed(name, tools);
        }
        moved.limits = Arc::new(SharedLimits::new(moved.agent_limits(), self.limits.store().clone()));
        moved
    }

    fn agent_limits(&self) -> AgentLimits {
        let configured = self.guard.config().limits;
        self.narrowing.limits.map_or(configured, |narrower| configured.narrowed_by(narrower))
    }

    /// Returns the stricter of each requested and configured value.
    pub(super) fn narrowed_admission(&self, wish: &AdmitOptions) -> AdmitOptions {
        let own = admit_options(&self.guard.config().skills);
        let on_critical = match (own.on_critical, wish.on_critical) {
            (OnCritical::Flag, OnCritical::Flag) => OnCritical::Flag,
            _ => OnCritical::Block,
        };
        AdmitOptions {
            strict: own.strict || wish.strict,
            max_chars: own.max_chars.min(wish.max_chars),
            on_critical,
            locks: [own.locks.as_slice(), &wish.locks].concat(),
            lock_files: [own.lock_files.as_slice(), &wish.lock_files].concat(),
            ..own
        }
    }

    /// Filters a list of tools, and records the result.
    ///
    /// # Errors
    /// When the result cannot be recorded.
    pub fn resolve_tools<'t>(&self, tools: &[&'t str]) -> Result<(Vec<&'t str>, Vec<&'t str>), GuardError> {
        const MAX_NAMED: usize = 100;
        let (left, gone): (Vec<&str>, Vec<&str>) =
            tools.iter().partition(|tool| self.decide_tool(tool).is_allowed());
        let named = |tools: &[&str]| -> Vec<String> {
            tools.iter().take(MAX_NAMED).map(|tool| (*tool).to_owned()).collect()
        };
        let kind = if left.is_empty() { EventKind::ToolDenied } else { EventKind::ToolAllowed };
        let event = self.event(kind).with(field::ALLOWED, named(&left)).with(field::FILTERED, named(&gone));
        self.record(event)?;
        Ok((left, gone))
    }

    /// Decides on a tool by its name alone, without a record. See [`Session::tool`].
    pub fn decide_tool(&self, name: &str) -> ToolVerdict<'_> {
        match (self.tools.decide(name), &self.narrower_tools) {
            (verdict, Some(narrower)) if verdict.is_allowed() && !narrower.allows(name) => {
                narrower.decide(name)
            }
            (verdict, _) => verdict,
        }
    }
}
