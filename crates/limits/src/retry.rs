//! Stops an agent that keeps making the same mistake.

mod error_class;
mod fingerprint;

use std::collections::BTreeMap;
use std::fmt;

pub use self::error_class::ErrorClass;
pub use self::fingerprint::Fingerprint;

/// How many different tools, and calls of each, may have failed in one execution before nothing more is tried.
const MAX_TRACKED: usize = 256;

/// How many failures are enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", default, deny_unknown_fields))]
pub struct RetrySettings {
    /// Of one tool with the same arguments, in a row.
    #[cfg_attr(feature = "serde", serde(rename = "maxConsecutiveFailures"))]
    pub same_call: u32,
    /// Of one tool with any arguments, in all: success does not take them back.
    #[cfg_attr(feature = "serde", serde(rename = "maxToolFailures"))]
    pub same_tool: u32,
    /// Of one tool with the same class of error, in a row. Fewer are enough, since other arguments did not help.
    #[cfg_attr(feature = "serde", serde(rename = "maxConsecutiveErrorPatterns"))]
    pub same_error: u32,
}

/// Remembers what failed in one execution, and refuses what has failed too often.
///
/// ```
/// use stockade_limits::retry::{ErrorClass, Fingerprint, Retries, RetrySettings};
///
/// let mut retries = Retries::new(RetrySettings::default());
/// let (call, error) = (Fingerprint::of_text("{\"city\":\"Oslo\"}"), ErrorClass::of("connection refused"));
/// assert!(retries.check("weather", call).is_ok());
/// retries.failed("weather", call, &error);
/// retries.failed("weather", call, &error);
/// let refusal = retries.check("weather", Fingerprint::of_text("{\"city\":\"Bergen\"}")).unwrap_err();
/// assert_eq!(refusal.to_string(), "`weather` failed 2 times in a row with the same error, whatever its arguments");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
pub struct Retries {
    settings: RetrySettings,
    tools: BTreeMap<String, ToolFailures>,
    /// More tools failed than are remembered.
    overflowed: bool,
}

/// What failed of one tool.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "camelCase", deny_unknown_fields))]
struct ToolFailures {
    total: u32,
    by_call: BTreeMap<Fingerprint, u32>,
    by_error: BTreeMap<ErrorClass, u32>,
}

/// Why a tool must not be called again like this.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryRefusal {
    /// The same call failed that many times in a row.
    SameCall {
        /// The tool.
        tool: String,
        /// How often it failed.
        failures: u32,
    },
    /// The tool failed that many times.
    SameTool {
        /// The tool.
        tool: String,
        /// How often it failed.
        failures: u32,
    },
    /// The tool failed that many times in a row in the same way.
    SameError {
        /// The tool.
        tool: String,
        /// How often it failed.
        failures: u32,
        /// In which way.
        class: ErrorClass,
    },
    /// More tools failed than an execution can sensibly use.
    TooManyTools,
}

impl RetryRefusal {
    /// Returns its name in answers to programs.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::SameCall { .. } => "sameCall",
            Self::SameTool { .. } => "sameTool",
            Self::SameError { .. } => "sameError",
            Self::TooManyTools => "tooManyTools",
        }
    }
}

impl Default for RetrySettings {
    fn default() -> Self {
        Self { same_call: 3, same_tool: 5, same_error: 2 }
    }
}

impl Retries {
    /// Returns a memory in which nothing failed.
    #[must_use]
    pub fn new(settings: RetrySettings) -> Self {
        Self { settings, tools: BTreeMap::new(), overflowed: false }
    }

    /// Decides whether a call is worth making.
    ///
    /// # Errors
    /// The refusal, the widest first: the whole tool, then this kind of error, then this very call.
    pub fn check(&self, tool: &str, call: Fingerprint) -> Result<(), RetryRefusal> {
        if self.overflowed {
            return Err(RetryRefusal::TooManyTools);
        }
        let Some(failures) = self.tools.get(tool) else { return Ok(()) };
        let name = || tool.to_owned();
        if failures.total >= self.settings.same_tool {
            return Err(RetryRefusal::SameTool { tool: name(), failures: failures.total });
        }
        if let Some((class, count)) = failures.by_error.iter().find(|(_, n)| **n >= self.settings.same_error)
        {
            return Err(RetryRefusal::SameError { tool: name(), failures: *count, class: class.clone() });
        }
        match failures.by_call.get(&call) {
            Some(count) if *count >= self.settings.same_call => {
                Err(RetryRefusal::SameCall { tool: name(), failures: *count })
            }
            _ => Ok(()),
        }
    }

    /// Takes note of a call that went well: this call and the tool's kinds of error start anew, its total does not.
    pub fn succeeded(&mut self, tool: &str, call: Fingerprint) {
        if let Some(failures) = self.tools.get_mut(tool) {
            failures.by_call.remove(&call);
            failures.by_error.clear();
        }
    }

    /// Takes note of a call that failed. Calls with malformed arguments do not count: the answer to them is to mend them.
    pub fn failed(&mut self, tool: &str, call: Fingerprint, error: &ErrorClass) {
        if error.is_invalid_arguments() {
            return;
        }
        if self.tools.len() >= MAX_TRACKED && !self.tools.contains_key(tool) {
            self.overflowed = true;
            return;
        }
        let failures = self.tools.entry(tool.to_owned()).or_default();
        failures.total = failures.total.saturating_add(1);
        add_one(&mut failures.by_call, call);
        add_one(&mut failures.by_error, error.clone());
    }

    /// Returns the tools that are refused whatever their arguments, because they failed too often in all.
    pub fn refused_tools(&self) -> impl Iterator<Item = &str> {
        let limit = self.settings.same_tool;
        self.tools.iter().filter(move |(_, failures)| failures.total >= limit).map(|(tool, _)| tool.as_str())
    }

    /// Forgets everything.
    pub fn reset(&mut self) {
        self.tools.clear();
        self.overflowed = false;
    }
}

/// Counts one more; a tool that was allowed to fail in more ways than are remembered has long reached its total.
fn add_one<K: Ord>(counts: &mut BTreeMap<K, u32>, key: K) {
    if counts.len() < MAX_TRACKED || counts.contains_key(&key) {
        let count = counts.entry(key).or_default();
        *count = count.saturating_add(1);
    }
}

impl fmt::Display for RetryRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SameCall { tool, failures } => {
                write!(f, "`{tool}` failed {failures} times in a row with these very arguments")
            }
            Self::SameTool { tool, failures } => {
                write!(f, "`{tool}` failed {failures} times in this execution")
            }
            Self::SameError { tool, failures, .. } => {
                write!(
                    f,
                    "`{tool}` failed {failures} times in a row with the same error, whatever its arguments"
                )
            }
            Self::TooManyTools => write!(f, "more than {MAX_TRACKED} tools failed in this execution"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(arguments: &str) -> Fingerprint {
        Fingerprint::of_text(arguments)
    }

    fn fail(retries: &mut Retries, arguments: &str, error: &str) {
        retries.failed("t", call(arguments), &ErrorClass::of(error));
    }

    #[test]
    fn the_same_call_is_refused_after_three_failures_in_a_row() {
        let mut retries = Retries::new(RetrySettings::default());
        for error in ["alpha", "beta", "gamma"] {
            assert!(retries.check("t", call("a")).is_ok(), "{error}");
            fail(&mut retries, "a", error);
        }
        assert!(matches!(retries.check("t", call("a")), Err(RetryRefusal::SameCall { failures: 3, .. })));
        assert!(retries.check("t", call("b")).is_ok());
        retries.succeeded("t", call("a"));
        assert!(retries.check("t", call("a")).is_ok());
    }

    #[test]
    fn success_does_not_take_back_the_total_of_a_tool() {
        let mut retries = Retries::new(RetrySettings::default());
        for error in ["alpha", "beta", "gamma", "delta", "epsilon"] {
            assert!(retries.check("t", call("a")).is_ok(), "{error}");
            fail(&mut retries, error, error);
            retries.succeeded("t", call(error));
        }
        assert!(matches!(retries.check("t", call("new")), Err(RetryRefusal::SameTool { failures: 5, .. })));
        assert_eq!(retries.refused_tools().collect::<Vec<_>>(), ["t"]);
        assert!(retries.check("other", call("new")).is_ok());
    }

    #[test]
    fn malformed_arguments_do_not_count() {
        let mut retries = Retries::new(RetrySettings::default());
        for _ in 0..9 {
            fail(&mut retries, "a", "Validation failed for tool t: `path` is missing");
        }
        assert!(retries.check("t", call("a")).is_ok());
    }

    #[test]
    fn more_failing_tools_than_are_remembered_refuse_everything() {
        let mut retries = Retries::new(RetrySettings::default());
        for tool in 0..=MAX_TRACKED {
            retries.failed(&format!("tool-{tool}"), call("a"), &ErrorClass::of("no"));
        }
        assert_eq!(retries.check("fresh", call("a")), Err(RetryRefusal::TooManyTools));
        retries.reset();
        assert!(retries.check("fresh", call("a")).is_ok());
    }
}
