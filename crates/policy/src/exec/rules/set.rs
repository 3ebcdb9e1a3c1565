//! All rules of a policy, found by the name of a program.

use std::collections::HashMap;

use super::effect::{Effect, Layer};
use super::expressions::Expressions;
use super::matcher::{Compiled, Match, Specificity, base};
use super::place::Place;
use super::program::in_small_letters;
use super::rule::Over;
use crate::shell::{Arg, Run};

/// How often words may look like the beginning of a denied command before they are taken for one.
const MOST_CARRIED: usize = 256;

/// The rules of all layers.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSet {
    rules: Vec<Compiled>,
    /// The rules about a program, by its name in small letters.
    by_program: HashMap<String, Vec<usize>>,
    /// The rules that can be about any program.
    any: Vec<usize>,
    pub(crate) expressions: Expressions,
    /// Whether somebody denies or asks: only then can a program carry what is denied.
    has_denials: bool,
}

/// What the rules say about one command.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Said<'p> {
    /// The rule that decides.
    pub(crate) winner: Option<&'p Compiled>,
    /// A rule that may match as well and is stricter.
    pub(crate) maybe: Option<&'p Compiled>,
}

/// The best rule of a layer, and the best of those that may match as well: milder ones, and those that ask or deny.
#[derive(Debug, Clone, Copy, Default)]
struct Heard<'p> {
    best: Option<&'p Compiled>,
    maybe: [Option<&'p Compiled>; 2],
}

impl RuleSet {
    pub(crate) fn new(rules: Vec<Compiled>) -> Result<Self, String> {
        let expressions = Expressions::compile(&rules.iter().map(|rule| &rule.rule).collect::<Vec<_>>())?;
        let mut set = Self { expressions, ..Self::default() };
        for (number, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.rule.enabled) {
            set.has_denials |= rule.rule.effect >= Effect::Ask && rule.layer > Layer::BuiltIn;
            match rule.programs() {
                Some(programs) => {
                    for program in programs {
                        let same = set.by_program.entry(base(program).to_ascii_lowercase()).or_default();
                        if same.last() != Some(&number) {
                            same.push(number);
                        }
                    }
                }
                None if rule.words.is_empty() => {}
                None => set.any.push(number),
            }
        }
        set.rules = rules;
        Ok(set)
    }

    pub(crate) fn rules(&self) -> &[Compiled] {
        &self.rules
    }

    /// Returns the rules that can be about a command. A computed name can be any program's: what becomes of it does not
    /// depend on the rules of one.
    pub(crate) fn candidates<'s>(&'s self, run: &Run<'_>) -> impl Iterator<Item = &'s Compiled> {
        let named = match run.argv.first() {
            Some(Arg::Known(name)) => self.about(name),
            _ => &[],
        };
        named.iter().chain(&self.any).filter_map(|number| self.rules.get(*number))
    }

    /// Returns whether somebody asks or denies, beside the built-in rules.
    pub(crate) const fn has_denials(&self) -> bool {
        self.has_denials
    }

    fn about(&self, name: &str) -> &[usize] {
        let found = self.by_program.get(&*in_small_letters(base(name)));
        found.map_or(&[], Vec::as_slice)
    }

    /// Returns what the rules say. Of the layers that say anything, the highest decides, and lower ones can only be
    /// stricter; the built-in rules speak where nobody else does.
    pub(crate) fn ask<'s>(&'s self, run: &Run<'_>, place: &Place<'_>) -> Said<'s> {
        let mut layers = [Heard::default(); Layer::ALL.len()];
        for rule in self.candidates(run) {
            let Some(heard) = layers.get_mut(rule.layer as usize) else { continue };
            match rule.matches(run, place) {
                Match::Yes if better(rule, heard.best) => heard.best = Some(rule),
                Match::Maybe(_) if rule.rule.effect > Effect::Allow => {
                    let [mild, strict] = &mut heard.maybe;
                    let slot = if rule.rule.effect == Effect::Sandbox { mild } else { strict };
                    if better(rule, *slot) {
                        *slot = Some(rule);
                    }
                }
                _ => {}
            }
        }
        let [builtin, written @ ..] = layers;
        let mut said = Said::default();
        for heard in written.iter().rev() {
            said.hear(*heard);
        }
        if said.winner.is_none() {
            said.hear(builtin);
        }
        said
    }

    /// Returns the rule that forbids or asks about words which stand in the arguments of a program that nobody knows:
    /// it may run them.
    pub(crate) fn carried(&self, run: &Run<'_>) -> Option<&Compiled> {
        if !self.has_denials {
            return None;
        }
        let words = run.argv.iter().enumerate().skip(1);
        let named = words.filter_map(|(at, arg)| Some((at, arg.known()?)));
        let mut tried = 0;
        for (at, word) in named.filter(|(_, word)| !word.starts_with('-')) {
            let rules = self.about(word).iter().filter_map(|number| self.rules.get(*number));
            for rule in rules.filter(|rule| rule.rule.effect == Effect::Deny && rule.layer > Layer::BuiltIn) {
                tried += 1;
                // Nobody names a program this often among the words of another one.
                if tried > MOST_CARRIED || rule.is_carried_by(run, at) {
                    return Some(rule);
                }
            }
        }
        None
    }

    /// Returns the rules whose expression is found.
    pub(crate) fn find(&self, over: Over, text: &str) -> impl Iterator<Item = &Compiled> {
        self.expressions.find(over, text).into_iter().filter_map(|number| self.rules.get(number))
    }
}

impl<'p> Said<'p> {
    fn hear(&mut self, heard: Heard<'p>) {
        let effect = |rule: Option<&Compiled>| rule.map(|rule| rule.rule.effect);
        if heard.best.is_some() && effect(heard.best) > effect(self.winner) {
            self.winner = heard.best;
        }
        // A rule that may match counts where it would decide: it is more specific than the one that does match.
        let counts = |maybe: &&Compiled| heard.best.is_none_or(|best| key(maybe) > key(best));
        for maybe in heard.maybe.into_iter().flatten().filter(counts) {
            if effect(Some(maybe)) > effect(self.maybe) {
                self.maybe = Some(maybe);
            }
        }
    }

    /// Returns what a rule that only may match makes of the decision.
    pub(crate) fn maybe_effect(&self) -> Effect {
        self.maybe.map_or(Effect::Allow, |rule| rule.rule.effect.min(Effect::Ask))
    }
}

/// What rules are compared by. The name makes the answer the same whatever their order.
fn key(rule: &Compiled) -> (Specificity, std::cmp::Reverse<&str>) {
    (rule.specificity(), std::cmp::Reverse(&rule.rule.id))
}

fn better(rule: &Compiled, than: Option<&Compiled>) -> bool {
    than.is_none_or(|than| key(rule) > key(than))
}
