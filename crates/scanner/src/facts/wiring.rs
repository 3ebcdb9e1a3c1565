//! How the commands of a program are connected, by the number of each. Built once, so that questions cost no search.

use std::collections::HashMap;
use std::ops::Range;

use stockade_shell::{Actions, Arg, DataFlow, RedirectOperator};

/// Maximum number of connections of a command that are followed.
pub(super) const MAX_BEHIND: usize = 16;

/// Maximum number of commands that one redirection or pipe is noted at. Groups of more are rare.
const MAX_AT_ONCE: usize = 16;

/// The connections of one command.
#[derive(Debug, Clone, Default)]
pub(super) struct Ends {
    /// The files that its output is written to, and its input is read from.
    pub(super) written: Vec<String>,
    pub(super) read: Vec<String>,
    /// The commands that read its output.
    pub(super) into: Vec<usize>,
    /// The commands whose output is its input, and a part of its words.
    pub(super) from: Vec<usize>,
    pub(super) in_words: Vec<usize>,
}

/// The connections of all commands, and the variables with one value.
#[derive(Debug, Default)]
pub(super) struct Wiring {
    ends: Vec<Ends>,
    values: HashMap<String, Option<String>>,
}

impl Wiring {
    pub(super) fn of(actions: &Actions<'_>) -> Self {
        let mut wiring = Self { ends: vec![Ends::default(); actions.runs.len()], ..Self::default() };
        for redirect in &actions.redirects {
            let is_output = redirect.descriptor.as_deref().is_none_or(|descriptor| descriptor == "1");
            let target = spelled(&redirect.target);
            for ends in wiring.some(&redirect.runs) {
                if redirect.writes() && is_output {
                    ends.written.push(target.clone());
                } else if redirect.operator == RedirectOperator::Read {
                    ends.read.push(target.clone());
                }
            }
        }
        for flow in &actions.flows {
            let (from, into) = (flow.from.clone().take(MAX_AT_ONCE), flow.into.clone().take(MAX_AT_ONCE));
            if flow.through == DataFlow::Input {
                wiring.some(&flow.from).for_each(|ends| ends.into.extend(into.clone()));
                wiring.some(&flow.into).for_each(|ends| ends.from.extend(from.clone()));
            } else {
                wiring.some(&flow.into).for_each(|ends| ends.in_words.extend(from.clone()));
            }
        }
        for assignment in &actions.assignments {
            let value = spelled(&assignment.value);
            // A variable with several values has none that is certain.
            let known = wiring.values.entry(assignment.name.to_string());
            known.and_modify(|before| *before = None).or_insert(Some(value));
        }
        wiring
    }

    fn some(&mut self, range: &Range<usize>) -> impl Iterator<Item = &mut Ends> {
        let end = range.end.min(self.ends.len()).min(range.start.saturating_add(MAX_AT_ONCE));
        self.ends.get_mut(range.start..end).unwrap_or_default().iter_mut()
    }

    /// Returns the connections of a command.
    pub(super) fn at(&self, number: usize) -> Option<&Ends> {
        self.ends.get(number)
    }

    /// Returns a word with the value of the variable that it begins with.
    pub(super) fn with_value(&self, word: String) -> String {
        let Some((name, rest)) = word.strip_prefix("${").and_then(|rest| rest.split_once('}')) else {
            return word;
        };
        match self.values.get(name) {
            Some(Some(value)) => format!("{value}{rest}"),
            _ => word,
        }
    }
}

/// Returns a word as it is compared: what is known of it, or its spelling.
pub(super) fn spelled(arg: &Arg<'_>) -> String {
    match arg {
        Arg::Known(word) => word.to_string(),
        Arg::Unknown { spelling, .. } => spelling.to_string(),
    }
}

/// Returns the last part of a path.
pub(super) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
