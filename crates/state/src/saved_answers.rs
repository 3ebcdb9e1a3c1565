//! What people have said to commands for always.

use std::time::Duration;

use stockade_guard::admission::answers::{
    AnswerStore, AnswerTerms, AnsweredCommand, AskedCommand, CommandAnswers, CommandQuestion,
};
use stockade_guard::command::{CommandDecision, Effect};

use stockade_text::with_causes;

use crate::StateError;

/// Returns what somebody has said to exactly this command, if that holds. `term` is how long such an answer may be kept.
pub fn recalled(
    decision: &CommandDecision<'_, '_>,
    asked: &AskedCommand<'_>,
    term: Duration,
) -> Result<Option<AnsweredCommand>, StateError> {
    let answers =
        CommandAnswers::new(AnswerTerms { session: Duration::ZERO, always: term }, AnswerStore::of_user());
    // Without answers, no file that the command names need be read.
    if decision.effect != Effect::Ask || !answers.may_hold_any() {
        return Ok(None);
    }
    let Some(question) = CommandQuestion::of(decision, asked) else { return Ok(None) };
    answers.recall(&question).map_err(|error| StateError::unavailable(with_causes(&error)))
}
