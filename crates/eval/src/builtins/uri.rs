//! `encodeURIComponent` and related functions.

use super::argument;
use crate::machine::{Machine, Run};
use crate::text::has_halves;
use crate::value::Value;
use stockade_text::{percent_byte, push_percent_encoded};

/// Characters that a URI component keeps.
const PLAIN: &[u8] = b"-_.!~*'()";
/// Characters that a whole URI keeps as well.
const RESERVED: &[u8] = b";/?:@&=+$,#";

pub(super) fn encode_component(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    encode(machine, arguments, &[])
}

pub(super) fn encode_whole(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    encode(machine, arguments, RESERVED)
}

fn encode(machine: &mut Machine<'_>, arguments: &[Value], kept: &[u8]) -> Run {
    let text = machine.text_of(argument(arguments, 0))?;
    if has_halves(text.as_str()) {
        return Err(machine.other_error("URIError", "URI malformed"));
    }
    machine.bytes(text.as_str().len() * 3)?;
    machine.steps(text.as_str().len() / 8)?;
    let mut out = String::with_capacity(text.as_str().len());
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || PLAIN.contains(&byte) || kept.contains(&byte);
    push_percent_encoded(&mut out, text.as_str().as_bytes(), is_plain);
    Ok(Value::text(out))
}

pub(super) fn decode_component(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    decode(machine, arguments, &[])
}

pub(super) fn decode_whole(machine: &mut Machine<'_>, _: &Value, arguments: &[Value]) -> Run {
    decode(machine, arguments, RESERVED)
}

fn decode(machine: &mut Machine<'_>, arguments: &[Value], kept: &[u8]) -> Run {
    let text = machine.text_of(argument(arguments, 0))?;
    machine.bytes(text.as_str().len())?;
    machine.steps(text.as_str().len() / 8)?;
    let mut bytes = Vec::with_capacity(text.as_str().len());
    let mut rest = text.as_str().as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let escape = percent_byte(rest);
        rest = after;
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let Some(decoded) = escape else {
            return Err(machine.other_error("URIError", "URI malformed"));
        };
        if kept.contains(&decoded) {
            bytes.push(b'%');
            continue;
        }
        bytes.push(decoded);
        rest = rest.get(2..).unwrap_or_default();
    }
    match String::from_utf8(bytes) {
        Ok(text) if has_halves(&text) => {
            Err(machine.forbidden("the last private characters of Unicode do not exist here", None))
        }
        Ok(text) => Ok(Value::text(text)),
        Err(_) => Err(machine.other_error("URIError", "URI malformed")),
    }
}
