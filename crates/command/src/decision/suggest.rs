//! The narrowest rules that would make a decision milder. They are tested before they are suggested.

use std::borrow::Cow;

use super::CommandDecision;
use super::part::{Cause, Part};
use super::policy::CommandPolicy;
use crate::context::CommandContext;
use crate::rules::check::{self, LAUNCHERS};
use crate::rules::effect::{Effect, Layer};
use crate::rules::in_words::{free_id, id_of, literally};
use crate::rules::matcher::Compiled;
use crate::rules::program::{base, trusted};
use crate::rules::rule::{CommandPattern, CommandRule, Example};
use stockade_shell::{InvocationKind, ReadOptions, Span};

/// Maximum number of suggestions for a text.
const MAX_SUGGESTIONS: usize = 8;

/// Maximum number of tested rules for a text, because each test decides on the whole text again.
const MAX_TRIED: usize = 16;

/// A rule that would make a part of a command milder.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Suggestion {
    /// The position of the part.
    pub span: Span,
    /// The rule, for the user's layer.
    pub rule: CommandRule,
    /// The effect on the whole command with this rule and the suggestions before it.
    pub then: Effect,
}

impl CommandPolicy {
    /// Returns the rules that would make the decision milder: one for each responsible part, for exactly its words. They were
    /// tested: all of them together make the decision milder, and none can be omitted.
    ///
    /// Nothing is suggested for shells, interpreters, programs that run others, words that are only known at run time, and
    /// denials by hazards or admin rules; and nothing at all if such a part decides.
    #[must_use]
    pub fn suggest(
        &self,
        decision: &CommandDecision<'_, '_>,
        options: &ReadOptions,
        context: &CommandContext,
    ) -> Vec<Suggestion> {
        // A part that no rule can change keeps the decision as strict as it is.
        if decision.effect == Effect::Allow || decision.decisive().any(|part| rule(part).is_none()) {
            return Vec::new();
        }
        let mut tried = self.try_rules(decision, options, context);
        let Some(then) = tried.last().map(|last| last.suggestion.then).filter(|then| *then < decision.effect)
        else {
            return Vec::new();
        };
        // Milder parts are not responsible for the decision.
        tried.retain(|one| one.before > then);
        tried.into_iter().map(|one| one.suggestion).collect()
    }

    fn try_rules(
        &self,
        decision: &CommandDecision<'_, '_>,
        options: &ReadOptions,
        context: &CommandContext,
    ) -> Vec<Tried> {
        let mut helpful: Vec<Tried> = Vec::new();
        let mut seen: Vec<CommandPattern> = Vec::new();
        let mut policy = Cow::Borrowed(self);
        for part in decision.parts.iter().filter(|part| part.effect > Effect::Allow) {
            if helpful.len() == MAX_SUGGESTIONS || seen.len() == MAX_TRIED {
                break;
            }
            let Some(mut rule) = rule(part).filter(|rule| !seen.contains(&rule.pattern)) else { continue };
            seen.push(rule.pattern.clone());
            policy.rename_if_taken(&mut rule);
            // Checked including examples, like a rule file, so that the suggested rule is accepted there.
            if check::rule(&rule).is_err() {
                continue;
            }
            let with = policy.with(rule.clone());
            let then = with.decide(decision.text, options, context);
            let helps = then.parts.iter().any(|after| {
                after.span == part.span && after.effect < part.effect && after.run() == part.run()
            });
            let then = then.effect;
            if helps {
                policy = Cow::Owned(with);
                let suggestion = Suggestion { span: part.span, rule, then };
                helpful.push(Tried { suggestion, before: part.effect });
            }
        }
        helpful
    }

    /// Returns the policy with an additional user rule.
    fn with(&self, rule: CommandRule) -> Self {
        Self { set: self.set.with(Compiled::new(rule, Layer::User)), ..self.clone() }
    }

    /// Rules in a file need unique names, and other commands begin with the same words.
    fn rename_if_taken(&self, rule: &mut CommandRule) {
        let is_taken =
            |id: &str| self.set.all_written().any(|other| other.layer == Layer::User && other.rule.id == id);
        rule.id = free_id(&rule.id, is_taken);
    }
}

/// A tested rule that makes its part milder.
struct Tried {
    suggestion: Suggestion,
    /// The effect on the part without it.
    before: Effect,
}

/// Returns a rule that allows exactly the words of a part.
fn rule(part: &Part<'_, '_>) -> Option<CommandRule> {
    let may_be_changed = matches!(part.cause, Cause::Unmatched | Cause::Rule { .. });
    let run = part.run().filter(|run| may_be_changed && run.is_known() && !run.open_ended)?;
    let name = trusted(run.program()?);
    if run.invocation == InvocationKind::Elsewhere
        || LAUNCHERS.contains(&base(name)) && !has_harmless_words(name, run.argv.len())
    {
        return None;
    }
    let words: Vec<&str> =
        std::iter::once(name).chain(run.argv.iter().skip(1).filter_map(|arg| arg.known())).collect();
    if words.iter().any(|word| word.is_empty() || word.len() > 100) || words.len() > 16 {
        return None;
    }
    let pattern = CommandPattern::Exact(words.iter().map(|word| vec![literally(word)]).collect());
    let mut rule = CommandRule::new(id_of(&words), pattern, Effect::Allow);
    rule.reason = "allowed as exactly this command".to_owned();
    rule.matches = vec![Example::Argv(words.iter().map(|word| (*word).to_owned()).collect())];
    let mut longer: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    longer.push("more".to_owned());
    rule.not_matches = vec![Example::Argv(longer)];
    Some(rule)
}

/// Programs that run others, but whose subcommands determine what they do.
fn has_harmless_words(name: &str, words: usize) -> bool {
    words > 1
        && matches!(
            base(name),
            "git" | "cargo" | "npm" | "yarn" | "pnpm" | "go" | "make" | "docker" | "podman" | "kubectl"
        )
}
