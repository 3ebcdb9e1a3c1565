//! Explanation of a decision: the considered rules, and why one of them decided.

use super::CommandDecision;
use super::policy::CommandPolicy;
use crate::context::{CommandContext, PartContext};
use crate::hazards::changes_folder;
use crate::rules::effect::Layer;
use crate::rules::harmless::without_folder;
use crate::rules::matcher::{Match, Mismatch};
use crate::rules::rule::CommandRule;
use stockade_shell::Run;

/// A rule that was considered for a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ConsideredRule<'p> {
    /// The rule.
    pub rule: &'p CommandRule,
    /// The layer of the rule.
    pub layer: Layer,
    /// Whether it matches, and why not.
    pub outcome: RuleOutcome,
}

/// The outcome of considering a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum RuleOutcome {
    /// It matches and decides.
    Decides,
    /// It would decide among all rules, but a hazard is stricter.
    Overruled,
    /// It matches, but a more specific rule or one of a higher layer decides.
    Matches,
    /// It may match, depending on the command's run time.
    MayMatch(String),
    /// It does not match.
    No(String),
}

impl CommandPolicy {
    /// Returns the rules for the program of a command: which match, which decides, and why the others do not match.
    #[must_use]
    pub fn consider<'p>(
        &'p self,
        decision: &CommandDecision<'_, '_>,
        run: &Run<'_>,
        context: &CommandContext,
    ) -> Vec<ConsideredRule<'p>> {
        let runs = decision.parts.iter().filter_map(|part| part.run());
        let moves = runs.into_iter().any(changes_folder);
        let part =
            decision.parts.iter().find(|part| part.run().is_some_and(|other| std::ptr::eq(other, run)));
        let adds_harmless_names = part.is_some_and(|part| part.adds_harmless_names);
        let context = PartContext { context, moves, adds_harmless_names, stops_own_children: false };
        let winner = self.set.ask(run, &context).winner;
        let decided = part.and_then(|part| part.cause.rule());
        let outcome = |matched: Match<'_>, wins: bool, rule: &CommandRule| match matched {
            Match::Yes if decided.is_some_and(|(decided, _)| std::ptr::eq(decided, rule)) => {
                RuleOutcome::Decides
            }
            Match::Yes if wins => RuleOutcome::Overruled,
            Match::Yes => RuleOutcome::Matches,
            Match::Maybe(reason) => RuleOutcome::MayMatch(reason.to_string()),
            Match::No(reason) => RuleOutcome::No(reason.to_string()),
        };
        let mut considered: Vec<ConsideredRule<'p>> = Vec::new();
        let renamed = self.set.renamed(run).into_iter().map(|run| (run, context));
        // Without a rule for `git -C x status`, rules for `git status` apply to it.
        let there = without_folder(run).map(|there| (there, PartContext { moves: true, ..context }));
        for (run, context) in std::iter::once((run.clone(), context)).chain(renamed).chain(there) {
            for rule in self.set.candidates(&run) {
                let matched = rule.matches(&run, &context);
                if matches!(matched, Match::No(Mismatch::Program(_) | Mismatch::Expression)) {
                    continue;
                }
                let wins = winner.is_some_and(|winner| std::ptr::eq(winner, rule));
                let outcome = outcome(matched, wins, &rule.rule);
                add(&mut considered, ConsideredRule { rule: &rule.rule, layer: rule.layer, outcome });
            }
        }
        considered.sort_by_key(|one| (std::cmp::Reverse(one.layer), one.outcome.rank()));
        considered
    }
}

/// Adds a rule. Of its equivalent forms, the closest match counts.
fn add<'p>(considered: &mut Vec<ConsideredRule<'p>>, found: ConsideredRule<'p>) {
    match considered.iter_mut().find(|known| std::ptr::eq(known.rule, found.rule)) {
        Some(known) if found.outcome.rank() < known.outcome.rank() => known.outcome = found.outcome,
        Some(_) => {}
        None => considered.push(found),
    }
}

impl RuleOutcome {
    /// Returns its stable name.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Decides => "decides",
            Self::Overruled => "overruled",
            Self::Matches => "matches",
            Self::MayMatch(_) => "may_match",
            Self::No(_) => "no",
        }
    }

    /// Returns why the rule does not match, or may not match.
    #[must_use]
    pub fn why(&self) -> Option<&str> {
        match self {
            Self::MayMatch(why) | Self::No(why) => Some(why),
            Self::Decides | Self::Overruled | Self::Matches => None,
        }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Decides => 0,
            Self::Overruled => 1,
            Self::Matches => 2,
            Self::MayMatch(_) => 3,
            Self::No(_) => 4,
        }
    }
}
