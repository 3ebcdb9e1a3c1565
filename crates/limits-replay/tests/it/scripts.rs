//! What must hold of scripts and traces for any bytes. Fuzz targets and ordinary tests both run these.

use stockade_limits_replay::script::{LimitScript, run_script};
use stockade_limits_replay::simulate::{Trace, simulate};

/// Scripts: each step has one answer, and no answer depends on a later step.
pub(crate) fn limit_script(data: &[u8]) {
    let Ok(mut script) = serde_json::from_slice::<LimitScript>(data) else { return };
    let Ok(answers) = run_script(&script) else { return };
    assert_eq!(answers.len(), script.script.len(), "one answer a step");
    script.script.truncate(answers.len() / 2);
    let first_half = run_script(&script).unwrap();
    assert_eq!(first_half, answers[..answers.len() / 2], "what comes later changed an answer");
}

/// Traces: each call leads to at least one step, and the same trace always to the same ones.
pub(crate) fn limit_trace(data: &[u8]) {
    let Ok(trace) = serde_json::from_slice::<Trace>(data) else { return };
    let Ok(steps) = simulate(&trace) else { return };
    assert!(steps.len() >= trace.calls.len(), "a call without a step");
    let again = simulate(&trace).unwrap();
    assert_eq!(serde_json::to_value(again).unwrap(), serde_json::to_value(steps).unwrap());
}
