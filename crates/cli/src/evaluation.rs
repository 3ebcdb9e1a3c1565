//! What `stockade eval` and `stockade serve` ask of the evaluator, with a clock beside it.
#![expect(clippy::disallowed_methods, reason = "time: the deadline of an evaluation, and what it calls now")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stockade_guard::eval::{
    Data, EvalError, EvalLimits, EvalOptions, eval, eval_async, interpolate, try_condition,
};

/// What is asked about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ask {
    /// The value of an expression.
    Value,
    /// The same, where `await` may stand at the top.
    Awaited,
    /// Whether an expression holds, as a condition.
    Condition,
    /// The text of a template.
    Template,
}

/// A question to the evaluator.
#[derive(Debug)]
pub(crate) struct Question<'q> {
    pub(crate) ask: Ask,
    pub(crate) source: &'q str,
    pub(crate) vars: &'q [(String, Data)],
    pub(crate) limits: EvalLimits,
    pub(crate) timeout: Duration,
    /// What `Date.now()` says; the time of this machine where there is none.
    pub(crate) now_ms: Option<f64>,
    pub(crate) seed: Option<u64>,
}

/// Answers a question. For [`Ask::Condition`], an error is why it does not hold.
pub(crate) fn answer(question: &Question<'_>) -> Result<Data, EvalError> {
    let start = Instant::now();
    let is_over = || start.elapsed() >= question.timeout;
    let options = EvalOptions {
        limits: question.limits,
        now_ms: question.now_ms.or_else(now_ms),
        seed: question.seed,
        deadline: Some(&is_over),
    };
    let vars: Vec<(&str, Data)> =
        question.vars.iter().map(|(name, data)| (name.as_str(), data.clone())).collect();
    match question.ask {
        Ask::Value => eval(question.source, &vars, &options),
        Ask::Awaited => eval_async(question.source, &vars, &options),
        Ask::Condition => try_condition(question.source, &vars, &options).map(Data::Bool),
        Ask::Template => interpolate(question.source, &vars, &options).map(Data::Text),
    }
}

/// The time, in whole milliseconds.
fn now_ms() -> Option<f64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_millis() as f64)
}
