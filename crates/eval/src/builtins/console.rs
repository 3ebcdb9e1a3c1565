//! `console`, whose output is discarded.

use super::{Method, method_row};
use crate::machine::{Machine, Run};
use crate::value::Value;

pub(super) static STATICS: &[Method] = &[
    method_row("debug", 0, nothing),
    method_row("error", 0, nothing),
    method_row("info", 0, nothing),
    method_row("log", 0, nothing),
    method_row("warn", 0, nothing),
];

fn nothing(_: &mut Machine<'_>, _: &Value, _: &[Value]) -> Run {
    Ok(Value::Undefined)
}
