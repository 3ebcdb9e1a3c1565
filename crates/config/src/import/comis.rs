//! Comis, whose keys are keys here.

use super::{Here, Json, Reader, Row, nothing};
use crate::keys::ConfigKey;

pub(super) const ROWS: &[Row] = &[
    same("agents.<id>.toolPolicy.profile"),
    same("agents.<id>.toolPolicy.allow"),
    same("agents.<id>.toolPolicy.deny"),
    same("agents.<id>.budget.maxTokens"),
    same("agents.<id>.budget.maxCostUsd"),
    same("agents.<id>.skills.execSandbox.enabled"),
    same("agents.<id>.skills.execSandbox.readOnlyAllowPaths"),
    same("agents.<id>.sourceProfiles.<tool>.maxResponseBytes"),
    same("agents.<id>.sourceProfiles.<tool>.maxChars"),
    same("agents.<id>.sourceProfiles.<tool>.extractionStrategy"),
    same("agents.<id>.maxSteps"),
    same("agents.<id>.circuitBreaker.failureThreshold"),
    same("agents.<id>.circuitBreaker.resetTimeoutMs"),
    same("agents.<id>.circuitBreaker.halfOpenTimeoutMs"),
    same("agents.<id>.skills.contentScanning.blockOnCritical"),
    same("agents.<id>.skills.maxBodyLength"),
    same("security.permission.enableNodePermissions"),
    same("security.permission.allowedFsPaths"),
    same("security.permission.allowedNetHosts"),
    nothing("models", "which model an agent uses is decided by its framework"),
    nothing(
        "channels",
        "channels belong to the framework: `toolPolicy` decides whether an agent may use them",
    ),
];

const fn same(path: &'static str) -> Row {
    Row { theirs: path, here: Here::Same }
}

impl Reader<'_> {
    /// Takes a value under its own path, if it may be written there.
    pub(super) fn same(&mut self, path: &str, value: &Json) {
        let Some(key) = ConfigKey::of(path) else {
            return self.leave_out(path, "the key is unknown: `stockade config show` lists them");
        };
        match key.kind.check(value) {
            Ok(()) => self.set(path, path, value.clone()),
            Err(why) => self.leave_out(&super::shown(path, value), &why),
        }
    }
}
