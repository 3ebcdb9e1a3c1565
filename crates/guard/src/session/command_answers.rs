//! Questions to the user about commands, and remembered answers.

use std::sync::Arc;

use stockade_command::answers::CommandAnswer;
use stockade_command::shell::Shell;
use stockade_command::{CommandDecision, Effect};
use stockade_policy::{PermissionDecision, Reply};

use super::run::{PendingRun, RunAnswer};
use super::{DecisionRule, GuardError, Session};
use stockade_admission::answers::{AnsweredCommand, AskedCommand, CommandAnswers, CommandQuestion};

/// Whether a command runs, or is only asked about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerUse {
    /// An answer for one use is used up.
    Spends,
    /// An answer for one use stays as it is.
    Looks,
}

impl Session {
    /// Shares remembered answers with other sessions. By default, a session remembers only its own.
    pub fn use_answers(&mut self, answers: Arc<CommandAnswers>) {
        self.answers = answers;
    }

    /// Continues with a command after the user's answer, and remembers an answer that is meant to last. An answer is bound to
    /// what was shown: it is void if the command, its directory or a file that it names has changed.
    ///
    /// # Errors
    /// As [`Session::run`], and when a lasting answer cannot be stored.
    pub fn answer_command(
        &self,
        pending: PendingRun,
        answer: CommandAnswer,
    ) -> Result<RunAnswer, GuardError> {
        self.record_answer(pending.decision(), answer.name())?;
        let judged = self.judged_again(&pending);
        let question = self.question(&judged);
        if judged.effect == Effect::Ask && question != pending.question {
            let reason =
                "the command, or a file that it names, changed after the question was asked".to_owned();
            return self.refuse(&pending.text, DecisionRule::RulesChanged, reason, None);
        }
        if let Some(question) = &question {
            self.answers.answer_within(question, answer, self.answer_terms())?;
        }
        let reply = match answer.is_yes() {
            true => PermissionDecision::Allow,
            false => PermissionDecision::Deny,
        };
        self.decided_by_person(pending, Reply::Decision(reply))
    }

    pub(super) fn judged_again<'t>(&self, pending: &'t PendingRun) -> CommandDecision<'t, '_> {
        self.guard.decide_command(&pending.text, &Default::default(), &self.guard.command_place())
    }

    /// Returns the question of a decision, bound to the current state of the files.
    pub(super) fn question(&self, judged: &CommandDecision<'_, '_>) -> Option<CommandQuestion> {
        let place = self.guard.command_place();
        let asked = AskedCommand {
            agent: self.guard.agent(),
            shell: Shell::default(),
            place: &place,
            variables: None,
        };
        CommandQuestion::of(judged, &asked)
    }

    /// Returns an earlier answer to the same question, if it is still valid.
    pub(super) fn recalled(
        &self,
        question: Option<&CommandQuestion>,
        using: AnswerUse,
    ) -> Result<Option<AnsweredCommand>, GuardError> {
        match question {
            Some(question) => {
                let said = self.answers.recall_within(question, self.answer_terms())?;
                match said {
                    Some(said) if using == AnswerUse::Looks || self.answers.spend(question, &said)? => {
                        Ok(Some(said))
                    }
                    _ => Ok(None),
                }
            }
            None => Ok(None),
        }
    }
}
