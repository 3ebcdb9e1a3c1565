//! Text output about configurations.

use std::fmt::Write as _;

use serde_json::Value as Json;
use stockade_guard::config::{ConfigError, ConfigKey, ConfigNotice, ConfigOrigin, ConfigValue};

use super::style::Styles;

/// Formats every value on a line.
pub(crate) fn values(
    values: &[ConfigValue],
    notices: &[ConfigNotice],
    with_origin: bool,
    styles: Styles,
) -> String {
    let Styles { strong, frame, reset, .. } = styles;
    let mut out = String::new();
    for value in values {
        write!(out, "{strong}{}{reset} = {}", value.path, value.value).ok();
        if with_origin {
            write!(out, "  {frame}# {}{reset}", origin(&value.origin)).ok();
        }
        out.push('\n');
    }
    push_notices(&mut out, notices, styles);
    out
}

/// Formats the documentation of a key.
pub(crate) fn explanation(key: &ConfigKey, value: &ConfigValue, styles: Styles) -> String {
    let Styles { strong, frame, reset, .. } = styles;
    let mut out = format!("{strong}{}{reset}: {}\n", key.path, key.doc);
    let rows = [
        ("holds", key.holds()),
        ("default", key.default.to_owned()),
        ("a project", key.project().to_owned()),
        ("now", format!("{} ({})", value.value, origin(&value.origin))),
    ];
    for (name, text) in rows {
        writeln!(out, "  {frame}={reset} {name}: {text}").ok();
    }
    out
}

/// Formats the result for a valid configuration.
pub(crate) fn valid(notices: &[ConfigNotice], styles: Styles) -> String {
    let mut out = format!("{}valid{}\n", styles.good, styles.reset);
    push_notices(&mut out, notices, styles);
    out
}

/// Formats every problem.
pub(crate) fn problems(error: &ConfigError, styles: Styles) -> String {
    let Styles { critical, frame, reset, .. } = styles;
    error.problems.iter().fold(String::new(), |mut out, problem| {
        writeln!(out, "{critical}error{reset}: {}", problem.message).ok();
        writeln!(out, "  {frame}-->{reset} {}", problem.place).ok();
        writeln!(out, "  {frame}={reset} fix: {}", problem.fix).ok();
        out
    })
}

/// Formats a value for scripts: a string without quotes.
pub(crate) fn plain(value: &Json) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn push_notices(out: &mut String, notices: &[ConfigNotice], styles: Styles) {
    for notice in notices {
        writeln!(out, "{}note{}: {notice}", styles.warn, styles.reset).ok();
    }
}

fn origin(origin: &ConfigOrigin) -> String {
    match &origin.place {
        Some(place) => format!("{}: {place}", origin.layer.name()),
        None => origin.layer.name().to_owned(),
    }
}
