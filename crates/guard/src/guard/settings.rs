//! Conversion of the configuration to options of admission, which does not depend on the configuration.

use stockade_admission::answers::AnswerTerms;
use stockade_admission::{AdmitOptions, OnCritical};
use stockade_config::{AgentConfig, CriticalFindings, SkillsConfig};

/// Returns the admission options that an agent's configuration requires.
#[must_use]
pub fn admit_options(skills: &SkillsConfig) -> AdmitOptions {
    AdmitOptions {
        dialect: skills.dialect,
        strict: skills.strict,
        max_chars: skills.max_chars,
        on_critical: match skills.critical_findings {
            CriticalFindings::Block => OnCritical::Block,
            CriticalFindings::Flag => OnCritical::Flag,
        },
        lock_files: skills.lock_files.clone(),
        ..AdmitOptions::default()
    }
}

/// Returns how long the configuration keeps answers to commands.
pub(crate) fn answer_terms(agent: &AgentConfig) -> AnswerTerms {
    AnswerTerms { session: agent.session_answers, always: agent.kept_answers }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_configuration_skills_are_admitted_by_the_defaults() {
        assert_eq!(admit_options(&SkillsConfig::default()), AdmitOptions::default());
    }
}
