//! Templates: `{{expression}}` in a text.

use crate::ast::Program;
use crate::evaluate::prepare;
use crate::limits::Meter;
use crate::machine::{Machine, too_long};
use crate::parser::Mode;
use crate::{Data, EvalError, EvalOptions};

/// Replaces each `{{expression}}` by the text of its value.
///
/// An expression cannot contain `}`. Results are never interpreted as a template again. A marker whose expression
/// fails is left as is; where a limit is hit, there is no text, since it would be incomplete. All expressions share
/// one budget of steps and bytes.
///
/// ```
/// use stockade_eval::{Data, EvalOptions, interpolate};
///
/// let vars = [("user", Data::from([("name", Data::from("Ada"))]))];
/// let text = interpolate("Hello {{user.name}}, {{user.nope.x}}", &vars, &EvalOptions::default())?;
/// assert_eq!(text, "Hello Ada, {{user.nope.x}}");
/// # Ok::<(), stockade_eval::EvalError>(())
/// ```
///
/// # Errors
///
/// When a limit is hit.
pub fn interpolate(
    template: &str,
    vars: &[(&str, Data)],
    options: &EvalOptions<'_>,
) -> Result<String, EvalError> {
    let mut left = *options;
    let mut out = String::new();
    let mut rest = template;
    while let Some(marker) = Marker::first(rest) {
        out.push_str(marker.before);
        out.push_str(&shown(&marker, vars, &mut left)?);
        rest = marker.after;
        if out.len() > options.limits.max_output {
            return Err(too_long(options.limits.max_output));
        }
    }
    out.push_str(rest);
    if out.len() > options.limits.max_output.max(template.len()) {
        return Err(too_long(options.limits.max_output));
    }
    Ok(out)
}

/// The text of a marker's value, or the marker itself.
fn shown(
    marker: &Marker<'_>,
    vars: &[(&str, Data)],
    left: &mut EvalOptions<'_>,
) -> Result<String, EvalError> {
    let outcome = value(marker.body.trim(), vars, left);
    match outcome {
        Ok(text) => Ok(text),
        Err(error) if error.kind.is_limit() => Err(error),
        Err(_) => Ok(marker.whole.to_owned()),
    }
}

fn value(source: &str, vars: &[(&str, Data)], left: &mut EvalOptions<'_>) -> Result<String, EvalError> {
    let mut meter = Meter::new(*left);
    let program: Program = match prepare(source, Mode::Plain, &mut meter) {
        Ok(program) => program,
        Err(error) => {
            spend(left, meter.spent());
            return Err(error);
        }
    };
    let mut machine = Machine::new(&program, meter);
    let vars: Vec<(&str, &Data)> = vars.iter().map(|(name, data)| (*name, data)).collect();
    let outcome = machine.run_to_text(&vars);
    let spent = machine.spent();
    spend(left, spent);
    outcome
}

/// Charges the cost of one marker, whatever its result.
fn spend(left: &mut EvalOptions<'_>, (steps, bytes): (u64, usize)) {
    left.limits.max_steps = left.limits.max_steps.saturating_sub(steps);
    left.limits.max_bytes = left.limits.max_bytes.saturating_sub(bytes);
}

/// A marker in a text.
struct Marker<'t> {
    before: &'t str,
    whole: &'t str,
    body: &'t str,
    after: &'t str,
}

impl<'t> Marker<'t> {
    /// The first marker: `{{`, at least one character other than `}`, `}}`.
    fn first(text: &'t str) -> Option<Self> {
        let mut from = 0;
        loop {
            let start = from + text.get(from..)?.find("{{")?;
            let rest = text.get(start + 2..)?;
            let end = rest.find('}')?;
            if end > 0 && rest.get(end..).is_some_and(|rest| rest.starts_with("}}")) {
                return Some(Self {
                    before: text.get(..start)?,
                    whole: text.get(start..start + end + 4)?,
                    body: rest.get(..end)?,
                    after: rest.get(end + 2..)?,
                });
            }
            // No marker begins before the brace at which this one failed.
            from = start + 2 + end;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markers_are_found() {
        for (text, expected) in [
            ("a {{b}} c", Some(("a ", "b", " c"))),
            ("{{{a}}}", Some(("", "{a", "}"))),
            ("{{}} {{x}}", Some(("{{}} ", "x", ""))),
            ("{{a}b}} {{c}}", Some(("{{a}b}} ", "c", ""))),
            ("{{a", None),
            ("{{a}", None),
            ("{a}}", None),
        ] {
            let found = Marker::first(text);
            assert_eq!(found.map(|found| (found.before, found.body, found.after)), expected, "{text}");
        }
    }
}
