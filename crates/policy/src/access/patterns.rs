//! Policies on commands: the patterns of a tool, and the commands that no agent should run.
//!
//! A pattern is searched in the text, so it can be written around; it catches habits, not attackers. The commands that
//! no agent should run are found by what they do.

use regex_automata::meta::Regex;
use thiserror::Error;

mod dangerous;
mod words;

/// The most patterns that one policy may have.
const MAX_PATTERNS: usize = 1000;

/// The most memory that the compiled patterns of one policy may take, in bytes.
const MAX_PROGRAM_BYTES: usize = 8 << 20;

/// A pattern that cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("command pattern `{}`: {message}", pattern.escape_debug())]
#[non_exhaustive]
pub struct CommandPatternError {
    /// The pattern, as it was written.
    pub pattern: String,
    /// What is wrong with it.
    pub message: String,
}

/// A list of patterns, compiled to look for all of them at once.
#[derive(Debug, Clone)]
pub(crate) struct CommandPatterns {
    texts: Vec<String>,
    finder: Finder,
}

#[derive(Debug, Clone)]
enum Finder {
    Regex(Regex),
    Dangerous,
}

impl CommandPatterns {
    /// Compiles regular expressions, each searched anywhere in a command.
    pub(crate) fn compile<P: AsRef<str>>(patterns: &[P]) -> Result<Self, CommandPatternError> {
        let texts: Vec<String> = patterns.iter().map(|pattern| pattern.as_ref().to_owned()).collect();
        let fail = |pattern: &str, message: String| CommandPatternError {
            pattern: pattern.chars().take(200).collect(),
            message,
        };
        if let Some(pattern) = texts.get(MAX_PATTERNS) {
            return Err(fail(pattern, format!("too many patterns; at most {MAX_PATTERNS} are taken")));
        }
        // Each pattern by itself first, so that the error names the right one.
        for pattern in &texts {
            if pattern.is_empty() {
                return Err(fail(
                    pattern,
                    "is empty, which would match every command; write `.*` to mean that".to_owned(),
                ));
            }
            build(std::slice::from_ref(pattern)).map_err(|message| fail(pattern, message))?;
        }
        let regex = build(&texts).map_err(|message| fail(&texts.join(" "), message))?;
        Ok(Self { texts, finder: Finder::Regex(regex) })
    }

    /// The commands that no agent should run.
    pub(crate) fn dangerous() -> Self {
        Self { texts: Vec::new(), finder: Finder::Dangerous }
    }

    /// Whether both find the same commands.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let is_dangerous = |one: &Self| matches!(one.finder, Finder::Dangerous);
        self.texts == other.texts && is_dangerous(self) == is_dangerous(other)
    }

    /// Returns the pattern that a command matches: as it is written, or with its quotes and extra spaces away.
    pub(crate) fn find(&self, command: &str) -> Option<&str> {
        match &self.finder {
            Finder::Dangerous => dangerous::find(command),
            Finder::Regex(regex) => regex
                .find(command)
                // Twice, because `r\m` and `"rm"` are `rm` to the shell but not to a pattern.
                .or_else(|| regex.find(&words::plain(command)))
                .and_then(|found| self.texts.get(found.pattern().as_usize()))
                .map(String::as_str),
        }
    }
}

fn build(patterns: &[String]) -> Result<Regex, String> {
    let config = Regex::config().nfa_size_limit(Some(MAX_PROGRAM_BYTES)).onepass(false);
    Regex::builder().configure(config).build_many(patterns).map_err(|error| match error.syntax_error() {
        Some(syntax) => syntax.to_string(),
        None => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_are_searched_in_the_text() {
        let patterns = CommandPatterns::compile(&["rm -rf /", "^git push"]).unwrap();
        for (command, expected) in [
            ("rm -rf /", Some("rm -rf /")),
            ("sudo rm -rf /tmp", Some("rm -rf /")),
            ("rm  -rf   /", Some("rm -rf /")),
            ("\"rm\" -rf '/'", Some("rm -rf /")),
            ("r\\m -rf /", Some("rm -rf /")),
            ("git push --force", Some("^git push")),
            ("echo git push", None),
            ("", None),
        ] {
            assert_eq!(patterns.find(command), expected, "{command}");
        }
    }

    #[test]
    fn bad_patterns_are_refused() {
        for pattern in ["[bad", "(", "a{1000}{1000}{1000}", "(?=x)", ""] {
            let error = CommandPatterns::compile(&["fine", pattern]).unwrap_err();
            assert_eq!(error.pattern, pattern);
        }
        assert!(CommandPatterns::compile(&vec!["x"; 1001]).is_err());
    }

    #[test]
    fn no_pattern_matches_nothing() {
        assert_eq!(CommandPatterns::compile::<&str>(&[]).unwrap().find("anything"), None);
    }
}
