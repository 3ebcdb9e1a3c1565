//! Commands that run outside of the sandbox because the operator of the agent excluded them: rules match the parsed command,
//! never the beginning of its text.

use stockade_shell::{Arg, InvocationKind};

use super::decision::CommandDecision;
use super::decision::part::{Action, Cause, Part};
use super::decision::policy::{CommandDefaults, CommandPolicy, Substitutions};
use super::hazards::Floor;
use super::rules::check::CommandRuleError;
use super::rules::effect::{Effect, Layer};
use super::rules::in_words::RuleInWordsError;
use super::rules::layer::RuleLayer;
use super::rules::rule::{CommandPattern, CommandRule};

/// The commands that run outside of the sandbox.
#[derive(Debug, Clone)]
pub struct Exclusions {
    policy: Option<CommandPolicy>,
    /// Commands that are listed with all words.
    exact: Vec<Vec<String>>,
}

/// Why an excluded command is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExclusionError {
    /// It is not a plain command.
    #[error("`{entry}` does not match any command: {error}")]
    Words {
        /// The text.
        entry: String,
        /// The problem.
        error: RuleInWordsError,
    },
    /// It is too broad, or a duplicate.
    #[error("invalid list of excluded commands: {0}")]
    Rule(#[from] CommandRuleError),
}

impl Exclusions {
    /// Parses commands: `docker ps` is exactly this command, and `docker logs **` every command with this prefix.
    ///
    /// # Errors
    /// When one is not a command, or so broad that it could run anything.
    pub fn compile(entries: &[String]) -> Result<Self, ExclusionError> {
        if entries.is_empty() {
            return Ok(Self { policy: None, exact: Vec::new() });
        }
        let rule = |(number, entry): (usize, &String)| {
            let rule = CommandRule::from_words(&format!("allow {entry}"));
            let rule = rule.map_err(|error| ExclusionError::Words { entry: entry.clone(), error })?;
            Ok(CommandRule { id: format!("excluded-{}", number + 1), ..rule })
        };
        let rules = entries.iter().enumerate().map(rule).collect::<Result<Vec<_>, ExclusionError>>()?;
        let exact = rules.iter().filter_map(|rule| exact_words(&rule.pattern)).collect();
        let defaults = CommandDefaults {
            unmatched: Effect::Deny,
            unanalysable: Effect::Deny,
            substitutions: Substitutions::None,
        };
        let layer = RuleLayer { layer: Layer::Admin, rules, overrides: Vec::new() };
        Ok(Self { policy: Some(CommandPolicy::compile(vec![layer], defaults)?), exact })
    }

    /// Returns the policy with these rules and the hazards, for [`excludes`](Self::excludes); nothing without exclusions.
    #[must_use]
    pub const fn policy(&self) -> Option<&CommandPolicy> {
        self.policy.as_ref()
    }

    /// Whether a command with this decision runs outside of the sandbox: every program in it is excluded, there is no hazard, and
    /// there is nothing besides programs: no redirection, variable, substitution or function. A command with a hazard that
    /// requires a sandbox (`docker compose up`) is excluded if it is listed with all words.
    #[must_use]
    pub fn excludes(&self, decision: &CommandDecision<'_, '_>) -> bool {
        let Some(actions) = decision.actions() else { return false };
        let is_bare = actions.redirects.is_empty()
            && actions.assignments.is_empty()
            && actions.substitutions.is_empty()
            && actions.hazards.is_empty()
            && actions.functions.is_empty();
        let runs = actions.runs.len();
        is_bare
            && runs > 0
            && decision.parts.len() == runs
            && decision.parts.iter().all(|part| self.is_excluded(part))
    }

    fn is_excluded(&self, part: &Part<'_, '_>) -> bool {
        let Action::Run(run) = &part.action else { return false };
        let is_plain = run.invocation == InvocationKind::AsWritten
            && run.call_chain.is_empty()
            && run.is_known()
            && !run.open_ended
            && run.program().is_some_and(|name| !name.contains('/'));
        let is_named = || {
            let words = || run.argv.iter().map(Arg::known);
            self.exact.iter().any(|exact| words().eq(exact.iter().map(|word| Some(word.as_str()))))
        };
        is_plain
            && match &part.cause {
                Cause::Rule { layer: Layer::Admin, .. } => part.effect == Effect::Allow,
                Cause::Hazard(hazard) => {
                    part.effect == Effect::Sandbox && hazard.floor == Floor::Sandbox && is_named()
                }
                _ => false,
            }
    }
}

/// Returns the words of a pattern that matches exactly one command, or `None` if it has wildcards.
fn exact_words(pattern: &CommandPattern) -> Option<Vec<String>> {
    let CommandPattern::Exact(places) = pattern else { return None };
    let only = |place: &Vec<String>| match place.as_slice() {
        [word] if !word.contains(['*', '?', '\\']) => Some(word.clone()),
        _ => None,
    };
    places.iter().map(only).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use stockade_shell::ReadOptions;

    fn excludes(entries: &[&str], text: &str) -> bool {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        let exclusions = Exclusions::compile(&entries).unwrap();
        exclusions.policy().is_some_and(|policy| {
            let place = CommandContext::default();
            exclusions.excludes(&policy.decide(text, &ReadOptions::default(), &place))
        })
    }

    const EXCLUDED: &[&str] = &["docker ps", "docker logs **", "date"];

    #[test]
    fn what_is_excluded_is_and_so_is_one_after_the_other() {
        for text in [
            "docker ps",
            "date",
            "docker ps; date",
            "docker ps && date | date",
            "docker 'ps'",
            "docker logs -f web",
        ] {
            assert!(excludes(EXCLUDED, text), "{text}");
        }
    }

    #[test]
    fn nothing_sneaks_along() {
        for text in [
            "docker ps; rm -rf x",
            "docker ps && make",
            "docker ps | sh",
            "docker ps & make",
            "docker ps\nmake",
            "docker ps > out",
            "docker ps < in",
            "docker ps 2>/dev/null",
            "A=1 docker ps",
            "PATH=. docker ps",
            "export PATH=.; docker ps",
            "docker ps $(make)",
            "docker ps `make`",
            "docker ps <(make)",
            "docker $x",
            "docker ps -a",
            "docker",
            "./docker ps",
            "/tmp/docker ps",
            "docker() { make; }; docker ps",
            "cd sub && docker ps",
            "sh -c 'docker ps'",
            "env docker ps",
            "sudo docker ps",
            "xargs docker ps",
            "eval docker ps",
            "docker psx",
            "(docker ps; make)",
            "if docker ps; then make; fi",
            "docker ps 'x",
            "",
            "# docker ps",
        ] {
            assert!(!excludes(EXCLUDED, text), "{text}");
        }
    }

    /// What runs an image is excluded as it was named, word by word, and no other of its kind.
    #[test]
    fn what_belongs_into_a_sandbox_is_excluded_if_it_is_named_to_its_last_word() {
        const NAMED: &[&str] =
            &["docker compose up -d", "docker compose up", "date", "docker compose exec **"];
        for text in
            ["docker compose up -d", "docker compose up", "date && docker compose up", "docker 'compose' up"]
        {
            assert!(excludes(NAMED, text), "{text}");
        }
        for text in [
            "docker compose up web",
            "docker compose up -d web",
            "docker compose -f other.yml up -d",
            "docker compose up -d; docker run x",
            "docker compose up > log",
            "FILE=x docker compose up",
            "cd x && docker compose up",
            "docker compose run web sh",
            "docker compose exec web sh",
            "docker run x",
        ] {
            assert!(!excludes(NAMED, text), "{text}");
        }
        assert!(!excludes(&["docker compose **"], "docker compose up"));
    }

    #[test]
    fn where_nothing_is_excluded_nothing_is() {
        assert!(!excludes(&[], "date"));
    }

    #[test]
    fn what_cannot_be_meant_is_refused() {
        for entry in ["", "docker 'ps", "* x", "bash **"] {
            assert!(Exclusions::compile(&[entry.to_owned()]).is_err(), "{entry}");
        }
    }
}
