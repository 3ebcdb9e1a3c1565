//! Settings about skills.

use std::path::PathBuf;

use stockade_skill::Dialect;

use super::Permission;
use super::declare::settings;
use super::exec::ExecSandbox;
use crate::agent::{CriticalFindings, ExecConfig, SkillsConfig};

const DIALECTS: &[&str] = &["agentskills", "claude", "openclaw", "comis", "lenient"];

settings! {
    /// How skills are admitted.
    struct Skills at "agents.<id>.skills" {
        /// Expected format of a skill's front matter.
        "dialect" dialect: String = "agentskills", Word(DIALECTS), Never;
        /// Whether to reject a skill for deviations that the dialect only notes.
        "strict" strict: bool = false, Flag, OnlyTrue;
        /// Maximum number of characters of a skill that reach a model.
        "maxBodyLength" max_body_length: usize = 20000, Count { least: 1, most: 1_000_000 }, Lower;
        "contentScanning" content_scanning: ContentScanning;
        /// Lock file written by `stockade skill lock`. A skill that is missing from it or has changed is rejected,
        /// and the report lists what the skill can do now that it could not do before. The file is read again for
        /// every skill.
        "lock" lock: Option<PathBuf> = null, OptionalPath, Never;
        "execSandbox" exec_sandbox: ExecSandbox;
    }

    /// What findings of the scanner lead to.
    struct ContentScanning at "agents.<id>.skills.contentScanning" {
        /// Whether to reject a skill with a critical finding. If false, the skill is only flagged.
        "blockOnCritical" block_on_critical: bool = true, Flag, OnlyTrue;
    }
}

impl Skills {
    pub(super) fn read(self, permission: &Permission) -> (SkillsConfig, ExecConfig) {
        let skills = SkillsConfig {
            dialect: Dialect::from_name(&self.dialect).unwrap_or_default(),
            strict: self.strict,
            max_chars: self.max_body_length,
            critical_findings: match self.content_scanning.block_on_critical {
                true => CriticalFindings::Block,
                false => CriticalFindings::Flag,
            },
            lock_files: self.lock.into_iter().collect(),
        };
        (skills, self.exec_sandbox.read(permission))
    }
}
