//! Formats a rule as TOML.

use std::fmt::Write as _;

use super::rule::{CommandPattern, CommandRule, Example, Redirects};

impl CommandRule {
    /// Returns the rule as a `[[rule]]` table in TOML, as in a rule file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        format!("[[rule]]\n{}", self.to_toml_values())
    }

    /// Returns the values of this table, for a list with another name.
    #[must_use]
    pub fn to_toml_values(&self) -> String {
        let mut out = String::new();
        let mut line = |key: &str, value: String| {
            writeln!(out, "{key} = {value}").ok();
        };
        line("id", text(&self.id));
        match &self.pattern {
            CommandPattern::Prefix(words) => line("prefix", self::words(words)),
            CommandPattern::Exact(words) => line("exact", self::words(words)),
            CommandPattern::Regex { pattern, over } => {
                line("regex", text(pattern));
                line("over", text(over.name()));
            }
        }
        line("decision", text(self.effect.name()));
        if !self.reason.is_empty() {
            line("reason", text(&self.reason));
        }
        if self.priority != 0 {
            line("priority", self.priority.to_string());
        }
        let guards = &self.guards;
        for (key, values) in [
            ("require", &guards.require),
            ("deny", &guards.deny),
            ("env", &guards.env),
            ("cwd", &guards.cwd),
            ("not_cwd", &guards.not_cwd),
        ] {
            if !values.is_empty() {
                line(key, list(values));
            }
        }
        if let Some(most) = guards.operands {
            line("operands", most.to_string());
        }
        if guards.redirects != Redirects::default() {
            line("redirects", text(guards.redirects.name()));
        }
        for (key, value, usual) in [("enabled", self.enabled, true), ("i_know", self.i_know, false)] {
            if value != usual {
                line(key, value.to_string());
            }
        }
        for (key, examples) in [("match", &self.matches), ("not_match", &self.not_matches)] {
            if !examples.is_empty() {
                line(key, self::examples(examples));
            }
        }
        out
    }
}

fn words(words: &[Vec<String>]) -> String {
    let word = |word: &Vec<String>| match word.as_slice() {
        [only] => text(only),
        several => list(several),
    };
    format!("[{}]", words.iter().map(word).collect::<Vec<_>>().join(", "))
}

fn examples(examples: &[Example]) -> String {
    let example = |example: &Example| match example {
        Example::Text(command) => text(command),
        Example::Argv(words) => list(words),
    };
    format!("[{}]", examples.iter().map(example).collect::<Vec<_>>().join(", "))
}

fn list(values: &[String]) -> String {
    format!("[{}]", values.iter().map(|value| text(value)).collect::<Vec<_>>().join(", "))
}

/// Returns a basic string in TOML. Characters that a terminal would interpret are escaped.
pub(crate) fn text(value: &str) -> String {
    let mut quoted = String::from("\"");
    for character in value.chars() {
        match character {
            '"' | '\\' => quoted.extend(['\\', character]),
            ' '..='~' => quoted.push(character),
            plain if plain.is_alphanumeric() => quoted.push(plain),
            other => {
                write!(quoted, "\\U{:08X}", u32::from(other)).ok();
            }
        }
    }
    quoted.push('"');
    quoted
}
