//! What `stockade eval` and `stockade serve` ask of the evaluator, with a clock beside it.
#![expect(clippy::disallowed_methods, reason = "time: the deadline of an evaluation, and what it calls now")]

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use stockade_guard::eval::{
    Data, EvalError, EvalLimits, EvalOptions, eval, eval_async, interpolate, try_condition,
};

/// What is asked about a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EvaluationKind {
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
pub struct Evaluation<'q> {
    /// What is asked.
    pub ask: EvaluationKind,
    /// The expression or template.
    pub source: &'q str,
    /// Its variables.
    pub vars: &'q [(String, Data)],
    /// Its limits on steps, bytes and depth.
    pub limits: EvalLimits,
    /// How long it may take.
    pub timeout: Duration,
    /// What `Date.now()` says; the time of this machine where there is none.
    pub now_ms: Option<f64>,
    /// The seed of `Math.random()`.
    pub seed: Option<u64>,
}

/// Answers a question. For [`EvaluationKind::Condition`], an error is why it does not hold.
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

/// The time, in whole milliseconds.
fn now_ms() -> Option<f64> {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_millis() as f64)
}
