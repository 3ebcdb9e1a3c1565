//! Evaluations for `stockade eval` and `stockade serve`, with a clock.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the clock: deadline of an evaluation, and value of Date.now()"
)]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stockade_guard::eval::{
    Data, EvalError, EvalLimits, EvalOptions, eval, eval_async, interpolate, try_condition,
};

/// Kind of an evaluation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluationKind {
    /// The value of an expression.
    Value,
    /// The same, with `await` allowed at the top level.
    Awaited,
    /// Whether an expression is true, as a condition.
    Condition,
    /// The text of a template.
    Template,
}

/// A source text to evaluate, with its inputs and limits.
#[derive(Debug)]
pub struct Evaluation<'q> {
    /// Its kind.
    pub ask: EvaluationKind,
    /// The expression or template.
    pub source: &'q str,
    /// Its variables.
    pub vars: &'q [(String, Data)],
    /// Limits of steps, bytes and depth.
    pub limits: EvalLimits,
    /// Time limit.
    pub timeout: Duration,
    /// Value of `Date.now()`; `None` for the current time.
    pub now_ms: Option<f64>,
    /// Seed of `Math.random()`.
    pub seed: Option<u64>,
}

/// Evaluates. For [`EvaluationKind::Condition`], an error counts as false, and is returned as the reason.
pub fn evaluate(question: &Evaluation<'_>) -> Result<Data, EvalError> {
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
        EvaluationKind::Value => eval(question.source, &vars, &options),
        EvaluationKind::Awaited => eval_async(question.source, &vars, &options),
        EvaluationKind::Condition => try_condition(question.source, &vars, &options).map(Data::Bool),
        EvaluationKind::Template => interpolate(question.source, &vars, &options).map(Data::Text),
    }
}

/// Returns the current time in milliseconds.
fn now_ms() -> Option<f64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_millis() as f64)
}
