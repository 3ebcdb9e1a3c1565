//! Languages: English is the only one known here. Another one is refused, since its answer would be another one.

use crate::machine::{Machine, Run};
use crate::value::Value;

/// Refuses every language but English.
pub(super) fn english_only(machine: &mut Machine<'_>, locales: &Value) -> Run<()> {
    if matches!(locales, Value::Undefined) {
        return Ok(());
    }
    let wanted = match machine.items(locales).cloned() {
        Some(all) => all,
        None => vec![locales.clone()],
    };
    // The first known locale is used, and English is always known.
    let Some(first) = wanted.first() else { return Ok(()) };
    let Value::Text(name) = first else {
        return Err(machine.type_error("a locale is a text, such as 'en'"));
    };
    if matches!(name.as_str(), "en" | "en-US") {
        return Ok(());
    }
    let message = format!("the locale `{}` is not known here: texts are those of en-US", name.as_str());
    Err(machine.forbidden(message, Some("leave the locale out, or write 'en-US'")))
}

/// Refuses options that are not known here, by name.
pub(super) fn only_options(machine: &mut Machine<'_>, options: &Value, known: &[&str]) -> Run<()> {
    if options.is_nothing() {
        return Ok(());
    }
    for name in machine.own_keys(options)? {
        if !known.contains(&&*name) {
            return Err(machine.forbidden(format!("the option `{name}` is not known here"), None));
        }
    }
    Ok(())
}
