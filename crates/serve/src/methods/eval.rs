//! `eval`, `eval.condition` and `eval.interpolate`: JavaScript expressions over plain data.

use std::collections::BTreeMap;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use stockade_guard::eval::{self, Data, ErrorKind, EvalError};

use super::{AskedBy, Json, Lane, Parameters};
use crate::Server;
use crate::fault::{self, Fault};
use stockade_state::evaluation::{Evaluation, EvaluationKind, evaluate};

/// Default time limit of an evaluation.
const DEFAULT_TIMEOUT: Duration = Duration::from_secs(5);

/// Evaluate an expression, or statements to their completion value, like JavaScript's `eval`. An error has its `kind` in `data`:
/// `syntax`, `reference`, `type`, `timeout`, `memory`, `depth`, `forbidden` or `thrown`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Eval {
    /// The expression; with `fn` `interpolate`, the template.
    expr: String,
    /// The variables.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Value>")]
    vars: Variables,
    /// The limits of the evaluation.
    #[serde(default)]
    limits: EvalLimits,
    /// The kind of evaluation; `eval` by default.
    #[serde(default, rename = "fn")]
    ask: Function,
    /// The value of `Date.now()`, in milliseconds since 1970; the server's time by default.
    now_ms: Option<f64>,
    /// The seed of `Math.random()`, which is refused without one.
    seed: Option<u64>,
}

/// Return whether a condition is true. A condition that fails is false.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EvalCondition {
    /// The expression.
    expr: String,
    /// The variables.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Value>")]
    vars: Variables,
    /// The limits of the evaluation.
    #[serde(default)]
    limits: EvalLimits,
}

/// Replace each `{{expression}}` in a text with its value. A failing expression stays as it is; an exceeded limit is an error.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct EvalInterpolate {
    /// The text.
    template: String,
    /// The variables.
    #[serde(default)]
    #[schemars(with = "BTreeMap<String, Value>")]
    vars: Variables,
    /// The limits of the evaluation.
    #[serde(default)]
    limits: EvalLimits,
}

/// The kind of an evaluation.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[schemars(rename = "EvalFunction")]
#[serde(rename_all = "camelCase")]
enum Function {
    /// The value of the expression.
    #[default]
    Eval,
    /// The value, with `await` and `return` permitted at the top level.
    EvalAsync,
    /// Whether the expression is true, as a condition.
    Condition,
    /// The text of a template.
    Interpolate,
}

/// Limits of an evaluation. The server's own limits are upper bounds.
#[derive(Debug, Clone, Copy, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct EvalLimits {
    /// Steps; 2000000 by default, 20000000 at most.
    max_steps: Option<u64>,
    /// Bytes of all values; 32 MiB by default, 128 MiB at most.
    max_bytes: Option<usize>,
    /// Levels of calls and expressions; 1000 by default and at most.
    max_depth: Option<usize>,
    /// Bytes of the result; 1 MiB by default, 16 MiB at most.
    max_output: Option<usize>,
    /// Milliseconds; 5000 by default, 30000 at most.
    timeout_ms: Option<u64>,
}

/// The variables, in order.
#[derive(Debug, Default)]
struct Variables(Vec<(String, Data)>);

impl<'de> Deserialize<'de> for Variables {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Data::deserialize(deserializer)? {
            Data::Object(fields) => Ok(Self(fields)),
            Data::Null => Ok(Self::default()),
            _ => Err(serde::de::Error::custom("`vars` is an object of variables")),
        }
    }
}

/// The result of an evaluation.
#[derive(Serialize, JsonSchema)]
pub(super) struct Evaluated {
    /// The value as JSON: `undefined` is `null`, a date is a string, a set a list, a map a list of pairs.
    #[schemars(with = "Value")]
    value: Data,
}

/// The value of a condition.
#[derive(Serialize, JsonSchema)]
pub(super) struct ConditionResult {
    value: bool,
}

/// The text with interpolated values.
#[derive(Serialize, JsonSchema)]
pub(super) struct Interpolated {
    text: String,
}

impl Parameters for Eval {
    const METHOD: &'static str = "eval";
    const LANE: Lane = Lane::Work;
    type Answer = Evaluated;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let ask = match self.ask {
            Function::Eval => EvaluationKind::Value,
            Function::EvalAsync => EvaluationKind::Awaited,
            Function::Condition => EvaluationKind::Condition,
            Function::Interpolate => EvaluationKind::Template,
        };
        let question = Evaluation {
            now_ms: self.now_ms,
            seed: self.seed,
            ..self.limits.question(ask, &self.expr, &self.vars.0)
        };
        let value = match evaluate(&question) {
            Err(_) if ask == EvaluationKind::Condition => Data::Bool(false),
            outcome => outcome.map_err(|error| Fault::evaluation(&error))?,
        };
        Ok(Json::of(&Evaluated { value }))
    }
}

impl Parameters for EvalCondition {
    const METHOD: &'static str = "eval.condition";
    const LANE: Lane = Lane::Work;
    type Answer = ConditionResult;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        let outcome = evaluate(&self.limits.question(EvaluationKind::Condition, &self.expr, &self.vars.0));
        Ok(Json::of(&ConditionResult { value: outcome == Ok(Data::Bool(true)) }))
    }
}

impl Parameters for EvalInterpolate {
    const METHOD: &'static str = "eval.interpolate";
    const LANE: Lane = Lane::Work;
    type Answer = Interpolated;

    fn answer(self, _: &Server, _: &AskedBy<'_>) -> Result<Json, Fault> {
        match evaluate(&self.limits.question(EvaluationKind::Template, &self.template, &self.vars.0)) {
            Ok(Data::Text(text)) => Ok(Json::of(&Interpolated { text })),
            Ok(_) => Ok(Json::of(&Interpolated { text: String::new() })),
            Err(error) => Err(Fault::evaluation(&error)),
        }
    }
}

impl EvalLimits {
    fn question<'q>(
        &self,
        ask: EvaluationKind,
        source: &'q str,
        vars: &'q [(String, Data)],
    ) -> Evaluation<'q> {
        let default = eval::EvalLimits::default();
        let limits = eval::EvalLimits {
            max_steps: self.max_steps.map_or(default.max_steps, |steps| steps.min(20_000_000)),
            max_bytes: self.max_bytes.map_or(default.max_bytes, |bytes| bytes.min(128 << 20)),
            max_depth: self.max_depth.unwrap_or(default.max_depth),
            max_output: self.max_output.map_or(default.max_output, |bytes| bytes.min(16 << 20)),
            ..default
        };
        let timeout = self.timeout_ms.map_or(DEFAULT_TIMEOUT, |ms| Duration::from_millis(ms.min(30_000)));
        Evaluation { ask, source, vars, limits, timeout, now_ms: None, seed: None }
    }
}

impl Fault {
    /// The code distinguishes errors of the expression, exceeded limits, and forbidden operations.
    fn evaluation(error: &EvalError) -> Self {
        let code = match error.kind {
            ErrorKind::Timeout => fault::TIMED_OUT,
            ErrorKind::Memory | ErrorKind::Depth => fault::EXHAUSTED,
            ErrorKind::Forbidden => fault::REFUSED,
            _ => fault::PARAMETERS,
        };
        Self::new(code, error.to_string()).with(json!(error))
    }
}
