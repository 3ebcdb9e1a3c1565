//! The user's saved answers to questions about commands.

use std::time::Duration;

use stockade_guard::admission::answers::{
    AnswerStore, AnswerTerms, AnsweredCommand, AskedCommand, CommandAnswers, CommandQuestion,
};
use stockade_guard::command::{CommandDecision, Effect};

use stockade_text::with_causes;

use crate::StateError;

/// Returns the user's saved answer to exactly this command, if it is still valid. `term` is the maximum age.
pub fn recalled(
    decision: &CommandDecision<'_, '_>,
    asked: &AskedCommand<'_>,
    term: Duration,
) -> Result<Option<AnsweredCommand>, StateError> {
    let answers =
        CommandAnswers::new(AnswerTerms { session: Duration::ZERO, always: term }, AnswerStore::of_user());
    // Without saved answers, files of the command need not be read.
    if decision.effect != Effect::Ask || !answers.may_hold_any() {
        return Ok(None);
    }
    let Some(question) = CommandQuestion::of(decision, asked) else { return Ok(None) };
    answers.recall(&question).map_err(|error| StateError::unavailable(with_causes(&error)))
}

/// Uses up a recalled answer, if it is for one use. Returns whether it still holds.
pub fn spend(
    decision: &CommandDecision<'_, '_>,
    asked: &AskedCommand<'_>,
    recalled: &AnsweredCommand,
) -> Result<bool, StateError> {
    let answers = CommandAnswers::new(AnswerTerms::MAX_TERMS, AnswerStore::of_user());
    let Some(question) = CommandQuestion::of(decision, asked) else { return Ok(false) };
    answers.spend(&question, recalled).map_err(|error| StateError::unavailable(with_causes(&error)))
}
