//! What a caller holds a session to, besides the configuration of its agent.

use std::sync::Arc;

use stockade_limits::store::{AgentLimits, SharedLimits};
use stockade_policy::{SandboxConfig, ToolCatalog, ToolPolicy, ToolPolicyConfig, ToolVerdict};

use stockade_admission::{AdmitOptions, OnCritical};

use super::{GuardError, Session};
use crate::audit::{EventKind, field};
use crate::guard::{Guard, admit_options};

/// What a caller holds a session to: nothing is allowed that either this or the configuration does not allow.
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
    /// Holds the session to less than its configuration says. What was narrowed before is forgotten, and so are answers about
    /// paths.
    ///
    /// # Errors
    /// When what it is to be held to cannot be used. The session is not narrowed then, and must not be gone on with.
    pub fn narrow(&mut self, narrowing: Narrowing) -> Result<(), GuardError> {
        let narrower_tools = match &narrowing.tools {
            Some(tools) => Some(Arc::new(ToolPolicy::compile(tools, &ToolCatalog::default())?)),
            None => None,
        };
        (self.narrowing, self.narrower_tools) = (Arc::new(narrowing), narrower_tools);
        self.limits = Arc::new(SharedLimits::new(self.agent_limits(), self.limits.store().clone()));
        self.paths = Arc::default();
        // Validated now, and not on the first request for a path.
        if self.narrowing.paths.is_some() {
            self.with_paths(|_| ())?;
        }
        Ok(())
    }

    /// Returns the same session under another guard of the same agent, such as one that was compiled since its configuration has
    /// changed, or one of another workspace. Skills, answers to commands, what was used and what it is held to stay; answers
    /// about paths do not, since they were given for others.
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

    /// What of a wish is stricter than the configuration, and the configuration in all else.
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

    /// Decides on a list of tools, and puts on record what is left of it.
    ///
    /// # Errors
    /// When that cannot be put on record.
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

    /// Decides on a tool, as far as its name goes. Nothing is put on record: see [`Session::tool`].
    pub fn decide_tool(&self, name: &str) -> ToolVerdict<'_> {
        match (self.tools.decide(name), &self.narrower_tools) {
            (verdict, Some(narrower)) if verdict.is_allowed() && !narrower.allows(name) => {
                narrower.decide(name)
            }
            (verdict, _) => verdict,
        }
    }
}
