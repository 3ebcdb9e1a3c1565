//! The trails that record commands, each opened on first use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use stockade_guard::audit::{AuditEvent, AuditTrail, Unrecorded};
use stockade_guard::config::AuditConfig;

use crate::fault::Fault;
use crate::{Audit, Server};
use stockade_state::trail;

/// Open trails by their file; `None` is this user's trail.
#[derive(Debug)]
pub(crate) struct Trail {
    requested: Audit,
    open: Mutex<BTreeMap<Option<PathBuf>, AuditTrail>>,
}

impl Trail {
    pub(crate) fn new(requested: Audit) -> Self {
        Self { requested, open: Mutex::default() }
    }

    /// Returns the trail, if one is configured. The trail of the agent's configuration counts only when the operator of the
    /// server named none.
    pub(crate) fn get(&self, configured: Option<&AuditConfig>) -> Result<Option<AuditTrail>, Fault> {
        let path = match &self.requested {
            Audit::Off => return Ok(None),
            Audit::File(path) => Some(path.as_path()),
            Audit::Default => configured.and_then(|audit| audit.path.as_deref()),
        };
        let is_configured = configured.is_some() && matches!(self.requested, Audit::Default);
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let key = path.map(Path::to_path_buf);
        if let Some(trail) = open.get(&key) {
            return Ok(Some(trail.clone()));
        }
        let fix = if is_configured { CONFIGURED } else { NAMED };
        let trail = trail::open_at(path, trail::options(configured))
            .map_err(|error| unrecorded_unless(fix, &error))?;
        open.insert(key, trail.clone());
        Ok(Some(trail))
    }
}

/// Records a decision without an action, if the configuration requires it. `event` is called only then.
pub(super) fn evaluated(server: &Server, event: impl FnOnce() -> AuditEvent) -> Result<(), Fault> {
    let Some(recording) = server.recording()? else { return Ok(()) };
    let kept = server.trail.get(Some(&recording.audit)).and_then(|trail| match trail {
        Some(trail) => trail.record(event()).map(drop).map_err(|error| Fault::internal(&error)),
        None => Ok(()),
    });
    match recording.unrecorded {
        Unrecorded::Warn => Ok(()),
        Unrecorded::Refuse => kept.map_err(|fault| Fault {
            message: format!(
                "the answer cannot be recorded and is withheld (`audit.evaluations`): {}",
                fault.message
            ),
            ..fault
        }),
    }
}

/// Fixes for an unusable trail: for agents, whose configuration may name one, and for everything else.
const CONFIGURED: &str =
    "`audit.path` of the configuration or `stockade serve --audit FILE` names another place";
const NAMED: &str = "`stockade serve --audit FILE` names another place, `--no-audit` does without";

/// Returns the fault for an action that cannot be recorded.
pub(super) fn unrecorded(error: &dyn std::error::Error) -> Fault {
    unrecorded_unless(NAMED, error)
}

fn unrecorded_unless(fix: &str, error: &dyn std::error::Error) -> Fault {
    let fault = Fault::internal(error);
    let message = format!("not done, because it cannot be recorded: {}; {fix}", fault.message);
    Fault { message, ..fault }
}
