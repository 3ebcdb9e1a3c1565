//! Commands that run outside of the sandbox because somebody who operates the agent said so: rules on what was read of a command,
//! and never on how its text begins.

use stockade_shell::InvocationKind;

use super::decision::CommandDecision;
use super::decision::part::{Action, Cause, Part};
use super::decision::policy::{CommandDefaults, CommandPolicy, Substitutions};
use super::rules::check::CommandRuleError;
use super::rules::effect::{Effect, Layer};
use super::rules::in_words::RuleInWordsError;
use super::rules::layer::RuleLayer;
use super::rules::rule::CommandRule;

/// The commands that run outside of the sandbox.
#[derive(Debug, Clone)]
pub struct Exclusions(Option<CommandPolicy>);

/// Why such a command cannot be meant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExclusionError {
    /// It is no command in words.
    #[error("`{entry}` excludes no command: {error}")]
    Words {
        /// What is written there.
        entry: String,
        /// What is wrong with it.
        error: RuleInWordsError,
    },
    /// It is too broad, or is written twice.
    #[error("the commands to exclude cannot be used: {0}")]
    Rule(#[from] CommandRuleError),
}

impl Exclusions {
    /// Reads commands in words: `docker ps` is exactly that, and `docker logs **` whatever begins so.
    ///
    /// # Errors
    /// When one is no command, or so broad that it runs whatever it is told to.
    pub fn compile(entries: &[String]) -> Result<Self, ExclusionError> {
        if entries.is_empty() {
            return Ok(Self(None));
        }
        let rule = |(number, entry): (usize, &String)| {
            let rule = CommandRule::from_words(&format!("allow {entry}"));
            let rule = rule.map_err(|error| ExclusionError::Words { entry: entry.clone(), error })?;
            Ok(CommandRule { id: format!("excluded-{}", number + 1), ..rule })
        };
        let rules = entries.iter().enumerate().map(rule).collect::<Result<_, ExclusionError>>()?;
        let defaults = CommandDefaults {
            unmatched: Effect::Deny,
            unanalysable: Effect::Deny,
            substitutions: Substitutions::None,
        };
        let layer = RuleLayer { layer: Layer::Admin, rules, overrides: Vec::new() };
        Ok(Self(Some(CommandPolicy::compile(vec![layer], defaults)?)))
    }

    /// Returns what decides by these rules and by what is dangerous, for [`excludes`](Self::excludes); nothing where nothing is
    /// excluded.
    #[must_use]
    pub const fn policy(&self) -> Option<&CommandPolicy> {
        self.0.as_ref()
    }

    /// Whether a command of which this was decided runs outside: every program that it runs is excluded by itself, nothing else is
    /// dangerous about it, and nothing stands beside the programs: no redirection, no variable, no substitution, no function.
    #[must_use]
    pub fn excludes(decision: &CommandDecision<'_, '_>) -> bool {
        let Some(actions) = decision.actions() else { return false };
        let is_bare = actions.redirects.is_empty()
            && actions.assignments.is_empty()
            && actions.substitutions.is_empty()
            && actions.hazards.is_empty()
            && actions.functions.is_empty();
        let runs = actions.runs.len();
        is_bare && runs > 0 && decision.parts.len() == runs && decision.parts.iter().all(is_excluded)
    }
}

fn is_excluded(part: &Part<'_, '_>) -> bool {
    let Action::Run(run) = &part.action else { return false };
    let is_plain = run.invocation == InvocationKind::AsWritten
        && run.call_chain.is_empty()
        && run.is_known()
        && !run.open_ended
        && run.program().is_some_and(|name| !name.contains('/'));
    is_plain && part.effect == Effect::Allow && matches!(part.cause, Cause::Rule { layer: Layer::Admin, .. })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::context::CommandContext;
    use stockade_shell::ReadOptions;

    fn excludes(entries: &[&str], text: &str) -> bool {
        let entries: Vec<String> = entries.iter().map(|entry| (*entry).to_owned()).collect();
        let exclusions = Exclusions::compile(&entries).unwrap();
        exclusions.policy().is_some_and(|policy| {
            let place = CommandContext::default();
            Exclusions::excludes(&policy.decide(text, &ReadOptions::default(), &place))
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
