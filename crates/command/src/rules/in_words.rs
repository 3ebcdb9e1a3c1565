//! A rule in one line: `allow git push origin *`.

use std::fmt;

use stockade_text::{Escaped, nearest};

use super::effect::Effect;
use super::rule::{CommandPattern, CommandRule};
use super::token::escape;

/// A line that is not a valid rule.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleInWordsError {
    /// The line does not start with an effect.
    #[error("a rule starts with allow, sandbox, ask or deny, not with `{}`{}", Escaped(word), meant(word))]
    Decision {
        /// The first word.
        word: String,
    },
    /// The line has no command.
    #[error("missing command, such as `allow git status`")]
    NoCommand,
    /// A quote is not closed.
    #[error("a quote is not closed")]
    OpenQuote,
}

fn meant(word: &str) -> String {
    nearest(word, Effect::NAMES.iter().copied())
        .map(|name| format!(": did you mean `{name}`?"))
        .unwrap_or_default()
}

impl CommandRule {
    /// Parses a rule in one line: its effect, then the words of the command. `*` and `?` match characters of a word unless they
    /// are quoted, and `**` at the end matches all further words.
    ///
    /// A rule that allows matches exactly these words. A rule that asks, denies or requires a sandbox matches all commands that
    /// start with them: a rule that denies `rm` also denies `rm -rf x`.
    ///
    /// ```
    /// use stockade_command::rules::CommandPattern;
    /// use stockade_command::{CommandRule, Effect};
    ///
    /// let rule = CommandRule::from_words("allow git push origin *")?;
    /// assert_eq!((rule.id.as_str(), rule.effect), ("allow-git-push-origin", Effect::Allow));
    /// assert_eq!(rule.pattern.to_string(), "git push origin *");
    /// assert!(matches!(CommandRule::from_words("deny rm")?.pattern, CommandPattern::Prefix(_)));
    /// # Ok::<(), stockade_command::rules::RuleInWordsError>(())
    /// ```
    ///
    /// # Errors
    /// When it does not start with an effect, or has no command.
    pub fn from_words(line: &str) -> Result<Self, RuleInWordsError> {
        let mut words = words(line)?.into_iter();
        let first = words.next().ok_or(RuleInWordsError::NoCommand)?;
        let effect =
            Effect::from_name(&first).ok_or_else(|| RuleInWordsError::Decision { word: first.clone() })?;
        Self::of_words(effect, words.collect())
    }

    /// Same as [`CommandRule::from_words`] for a list of words, each with `*` and `?` as in a rule file.
    ///
    /// # Errors
    /// When the list is empty.
    pub fn of_words(effect: Effect, mut words: Vec<String>) -> Result<Self, RuleInWordsError> {
        let is_rest = |word: &str| word == "**" || (word == "*" && effect > Effect::Allow);
        let is_open = words.len() > 1 && words.last().is_some_and(|word| is_rest(word));
        if is_open {
            words.pop();
        }
        if words.is_empty() {
            return Err(RuleInWordsError::NoCommand);
        }
        let named = std::iter::once(effect.name()).chain(words.iter().map(String::as_str));
        let id = id_of(&named.take(4).collect::<Vec<_>>());
        let words = words.into_iter().map(|word| vec![word]).collect();
        let takes_more = is_open || effect > Effect::Allow;
        let pattern = if takes_more { CommandPattern::Prefix(words) } else { CommandPattern::Exact(words) };
        Ok(Self::new(id, pattern, effect))
    }
}

/// Splits a line at spaces. Quoted text is literal.
fn words(line: &str) -> Result<Vec<String>, RuleInWordsError> {
    let (mut words, mut word, mut characters) = (Vec::new(), None::<String>, line.chars());
    while let Some(character) = characters.next() {
        match character {
            quote @ ('\'' | '"') => {
                let mut quoted = String::new();
                loop {
                    match characters.next() {
                        Some(end) if end == quote => break,
                        Some(inner) => quoted.push(inner),
                        None => return Err(RuleInWordsError::OpenQuote),
                    }
                }
                word.get_or_insert_default().push_str(&literally(&quoted));
            }
            space if space.is_whitespace() => words.extend(word.take()),
            '\\' => {
                let word = word.get_or_insert_default();
                word.push('\\');
                word.extend(characters.next());
            }
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    Ok(words)
}

/// Returns a word of a pattern that matches exactly this word. Braces need no escape where no list is parsed.
pub(crate) fn literally(word: &str) -> String {
    escape(word).replace('{', "\\{")
}

/// Returns a name made of the first words: `git-push-origin`.
pub(crate) fn id_of(words: &[&str]) -> String {
    let plain = |word: &&str| -> String {
        let word = word.trim_start_matches('-');
        word.chars().filter(|c| c.is_alphanumeric() || matches!(c, '-' | '_' | '.')).take(24).collect()
    };
    let names: Vec<String> = words.iter().map(plain).filter(|name| !name.is_empty()).take(4).collect();
    let mut id = names.join("-");
    if words.len() > 4 {
        // Longer commands often share their first words.
        let sum = words
            .iter()
            .flat_map(|word| word.bytes())
            .fold(5381_u32, |sum, byte| sum.wrapping_mul(33) ^ u32::from(byte));
        id.push_str(&format!("-{sum:08x}"));
    }
    if id.is_empty() { "command".to_owned() } else { id }
}

/// Formats the words in one line; `**` matches all further words.
impl fmt::Display for CommandPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words =
            |words: &[Vec<String>]| words.iter().map(|word| place(word)).collect::<Vec<_>>().join(" ");
        match self {
            Self::Prefix(prefix) => write!(f, "{} **", words(prefix)),
            Self::Exact(exact) => f.write_str(&words(exact)),
            Self::Regex { pattern, over } => write!(f, "/{pattern}/ in {}", over.name()),
        }
    }
}

/// Formats one position of a pattern: a word, or its alternatives.
fn place(alternatives: &[String]) -> String {
    match alternatives {
        [word] if word.contains(char::is_whitespace) => format!("'{word}'"),
        [word] => word.clone(),
        several => format!("{{{}}}", several.join(",")),
    }
}

/// Returns the id, or the id with the first number that makes it unique.
#[must_use]
pub fn free_id(id: &str, is_taken: impl Fn(&str) -> bool) -> String {
    let numbered = (2..).map(|number| format!("{id}-{number}"));
    std::iter::once(id.to_owned()).chain(numbered).find(|id| !is_taken(id)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_as_they_are_meant() {
        let rows: &[(&str, &str, &str)] = &[
            ("allow git status", "git status", "allow-git-status"),
            ("allow npm run **", "npm run **", "allow-npm-run"),
            ("Allow npm run *", "npm run *", "allow-npm-run"),
            ("deny rm", "rm **", "deny-rm"),
            ("deny rm *", "rm **", "deny-rm"),
            ("ask git push **", "git push **", "ask-git-push"),
            ("sandbox   make\t-j *", "make -j **", "sandbox-make-j"),
            ("allow grep 'a b*' f", "grep 'a b\\*' f", "allow-grep-ab-f"),
            ("allow x \\*", "x \\*", "allow-x"),
        ];
        for (line, pattern, id) in rows {
            let rule = CommandRule::from_words(line).unwrap();
            assert_eq!((rule.pattern.to_string().as_str(), rule.id.as_str()), (*pattern, *id), "{line}");
        }
    }

    #[test]
    fn what_is_no_rule_says_what_it_lacks() {
        let said = |line: &str| CommandRule::from_words(line).unwrap_err().to_string();
        assert!(said("alow git").contains("did you mean `allow`"));
        assert!(said("git push").contains("starts with allow"));
        for line in ["", "allow", "deny  "] {
            assert_eq!(said(line), RuleInWordsError::NoCommand.to_string(), "{line}");
        }
        assert_eq!(said("allow 'git"), "a quote is not closed");
    }
}
