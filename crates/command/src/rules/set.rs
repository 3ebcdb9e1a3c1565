//! All rules of a policy, indexed by program.
//!
//! Rules are indexed by their first word, as in Codex's execpolicy, so rules for other programs cost nothing: a test counts the
//! allocations of a decision with and without 200 rules. Of the matching rules, the most specific one wins, as with CSS
//! selectors, and of equally specific ones the stricter. So the result does not depend on the order of the rules.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::about::About;
use super::aliases::names;
use super::builtin::lookup::BuiltinRules;
use super::effect::{Effect, Layer};
use super::expressions::Expressions;
use super::harmless;
use super::matcher::{Compiled, Match, Specificity};
use super::options::Words;
use super::program::base;
use super::program::in_small_letters;
use super::rule::RegexScope;
use super::token::Token;
use crate::context::PartContext;
use stockade_shell::{Arg, Run};

/// Maximum number of partial matches with a denied command. After that, the words count as that command, which bounds the work.
const MAX_CARRIED: usize = 2048;

/// The rules of all layers. Clones share the compiled rules.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSet {
    builtin: Option<&'static BuiltinRules>,
    /// The rules of the layers.
    rules: Arc<Vec<Compiled>>,
    /// The rules for a program, by its name in lower case.
    by_program: Arc<HashMap<String, About<String>>>,
    /// The rules with a pattern as program.
    by_pattern: Arc<Vec<usize>>,
    pub(crate) expressions: Arc<Expressions>,
    /// Whether any rule denies or asks. Otherwise, arguments need not be searched for denied commands.
    has_denials: bool,
    /// Additional rules that are tried out. They are few, so each is matched with every command.
    tried: Vec<Compiled>,
}

/// The rules that match one command.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Said<'p> {
    /// The rule that decides.
    pub(crate) winner: Option<&'p Compiled>,
    /// A stricter rule that may match as well.
    pub(crate) maybe: Option<&'p Compiled>,
    /// What the built-in rules say by themselves.
    pub(crate) builtin: Option<Effect>,
}

/// The most specific matching rule of a layer, and the most specific ones that may match: a milder one, and one that asks or
/// denies.
#[derive(Debug, Clone, Copy, Default)]
struct Heard<'p> {
    best: Option<Candidate<'p>>,
    maybe: [Option<Candidate<'p>>; 2],
}

/// A rule with its specificity for a command.
#[derive(Debug, Clone, Copy)]
struct Candidate<'p> {
    rule: &'p Compiled,
    specificity: Specificity,
}

impl RuleSet {
    /// Compiles the rules of layers, without the built-in ones.
    pub(crate) fn new(rules: Vec<Compiled>) -> Result<Self, String> {
        let expressions = Expressions::compile(&rules.iter().map(|rule| &*rule.rule).collect::<Vec<_>>())?;
        let mut by_program: HashMap<String, About<String>> = HashMap::new();
        let (mut by_pattern, mut has_denials) = (Vec::new(), false);
        for (number, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.rule.enabled) {
            has_denials |= rule.rule.effect >= Effect::Ask && rule.layer > Layer::BuiltIn;
            for program in rule.programs() {
                by_program
                    .entry(base(program).to_ascii_lowercase())
                    .or_default()
                    .add(number, second_words(rule));
            }
            if rule.has_pattern() {
                by_pattern.push(number);
            }
        }
        let (rules, by_program, by_pattern) = (Arc::new(rules), Arc::new(by_program), Arc::new(by_pattern));
        Ok(Self {
            builtin: None,
            rules,
            by_program,
            by_pattern,
            expressions: Arc::new(expressions),
            has_denials,
            tried: Vec::new(),
        })
    }

    /// Returns the same rules with the built-in ones as the lowest layer.
    pub(crate) fn on(self, builtin: &'static BuiltinRules) -> Self {
        Self { builtin: Some(builtin), ..self }
    }

    const fn builtin(&self) -> Option<&BuiltinRules> {
        self.builtin
    }

    /// Returns the same rules with an additional one, which allows literal words. Nothing is compiled again, because such a rule
    /// affects neither expressions nor denials.
    pub(crate) fn with(&self, rule: Compiled) -> Self {
        let mut set = self.clone();
        set.tried.push(rule);
        set
    }

    /// Returns the rules of the layers, and those that are tried out.
    pub(crate) fn all_written(&self) -> impl Iterator<Item = &Compiled> {
        self.rules.iter().chain(&self.tried)
    }

    /// Returns the rules of the layers, without those that are tried out.
    pub(crate) fn written(&self) -> &[Compiled] {
        &self.rules
    }

    /// Returns the rules of all layers, the built-in ones first.
    pub(crate) fn rules(&self) -> impl Iterator<Item = &Compiled> {
        self.builtin().into_iter().flat_map(BuiltinRules::all).chain(&*self.rules)
    }

    /// Returns the rules for the program of a command. A name that is only known at run time could be any program, so no rules
    /// for single programs apply.
    pub(crate) fn candidates<'s>(&'s self, run: &Run<'_>) -> Vec<&'s Compiled> {
        let name = run.argv.first().and_then(Arg::known);
        let small = name.map(|name| in_small_letters(base(name)));
        let builtin = small.iter().zip(self.builtin()).flat_map(|(name, builtin)| builtin.about(name));
        let written = name.into_iter().flat_map(|name| self.about(name));
        let mut candidates: Vec<&'s Compiled> = builtin.chain(written).collect();
        let patterns = self.builtin().into_iter().flat_map(BuiltinRules::with_pattern);
        for rule in patterns.chain(self.numbered(&self.by_pattern)) {
            if !candidates.iter().any(|known| std::ptr::eq(*known, rule)) {
                candidates.push(rule);
            }
        }
        candidates
    }

    /// Returns whether a rule other than the built-in ones asks or denies.
    pub(crate) const fn has_denials(&self) -> bool {
        self.has_denials
    }

    /// Returns the rules of the layers for a program.
    fn about(&self, name: &str) -> impl Iterator<Item = &Compiled> {
        let about = self.by_program.get(&*in_small_letters(base(name)));
        self.numbered(about.map_or(&[], |about| &about.all))
    }

    fn numbered<'s>(&'s self, numbers: &'s [usize]) -> impl Iterator<Item = &'s Compiled> {
        numbers.iter().filter_map(|number| self.rules.get(*number))
    }

    /// Returns the rules for a program, by its name in lower case, that may match the words of a command.
    fn likely<'s>(&'s self, name: &str, run: &Run<'_>) -> impl Iterator<Item = &'s Compiled> {
        let written = self.by_program.get(name).into_iter().flat_map(|about| about.likely(run));
        let written = written.filter_map(|number| self.rules.get(number));
        self.builtin().into_iter().flat_map(|builtin| builtin.likely(name, run)).chain(written)
    }

    /// Returns the decision of the rules. The highest layer with a matching rule decides, and lower ones can only be stricter.
    /// The built-in rules apply if no other layer decides.
    ///
    /// If no rule matches git in another directory, `git -C X Y` is decided like `cd X && git Y`.
    pub(crate) fn ask<'s>(&'s self, run: &Run<'_>, context: &PartContext<'_>) -> Said<'s> {
        let said = self.ask_as_written(run, context);
        match harmless::without_folder(run).filter(|_| said.winner.is_none()) {
            // Rules with directory conditions must not allow it, because it runs in another directory.
            Some(there) => self.ask_as_written(&there, &PartContext { moves: true, ..*context }),
            None => said,
        }
    }

    fn ask_as_written<'s>(&'s self, run: &Run<'_>, context: &PartContext<'_>) -> Said<'s> {
        let mut layers = [Heard::default(); Layer::ALL.len()];
        let mut hear = |rule: &'s Compiled, answer: &Match<'_>| {
            if let Some(heard) = layers.get_mut(rule.layer as usize) {
                heard.hear(Candidate { rule, specificity: rule.specificity() }, answer);
            }
        };
        let words = Words::after_name(run);
        if let Some(name) = run.argv.first().and_then(Arg::known) {
            for rule in self.likely(&in_small_letters(base(name)), run) {
                hear(rule, &rule.matches_of_base(name, run, &words, context));
            }
        }
        let builtin = self.builtin().into_iter().flat_map(|builtin| builtin.with_fitting_pattern(run));
        for rule in builtin.chain(self.numbered(&self.by_pattern)) {
            hear(rule, &rule.matches_by_pattern(run, &words, context));
        }
        for rule in &self.tried {
            hear(rule, &rule.matches(run, context));
        }
        if self.has_denials {
            self.ask_by_other_names(run, context, &mut layers);
        }
        let [builtin, written @ ..] = layers;
        let mut said = Said { builtin: builtin.best.map(|best| best.rule.rule.effect), ..Said::default() };
        for heard in written.iter().rev().filter(|heard| !heard.is_nothing()) {
            said.hear(*heard);
        }
        if said.winner.is_none() {
            said.hear(builtin);
        }
        said
    }

    /// Returns the same command under other names of its program that may have rules.
    pub(crate) fn renamed<'t>(&self, run: &Run<'t>) -> Vec<Run<'t>> {
        let has_patterns = !self.by_pattern.is_empty();
        names::renamed(run, |name| has_patterns || self.about(name).next().is_some())
    }

    /// Applies the rules that deny or ask about other names of the program.
    fn ask_by_other_names<'s>(
        &'s self,
        run: &Run<'_>,
        context: &PartContext<'_>,
        layers: &mut [Heard<'s>; Layer::ALL.len()],
    ) {
        for renamed in self.renamed(run) {
            let is_strict = |rule: &&Compiled| rule.rule.effect >= Effect::Ask && rule.layer > Layer::BuiltIn;
            for rule in self.candidates(&renamed).into_iter().filter(is_strict) {
                let answer = rule.matches(&renamed, context);
                if let Some(heard) = layers.get_mut(rule.layer as usize) {
                    heard.hear(Candidate { rule, specificity: rule.specificity().of_alike() }, &answer);
                }
            }
        }
    }

    /// Returns the rule that denies or asks about words in the arguments of an unknown program, which may run them as a command.
    pub(crate) fn carried(&self, run: &Run<'_>) -> Option<&Compiled> {
        if !self.has_denials {
            return None;
        }
        let words = run.argv.iter().enumerate().skip(1);
        let named = words.filter_map(|(at, arg)| Some((at, arg.known()?)));
        let mut tried = 0;
        for (at, word) in named.filter(|(_, word)| !word.starts_with('-')) {
            for rule in self
                .about(word)
                .filter(|rule| rule.rule.effect == Effect::Deny && rule.layer > Layer::BuiltIn)
            {
                tried += 1;
                // Legitimate commands do not repeat the name of a program this often in the arguments of another.
                if tried > MAX_CARRIED || rule.is_carried_by(run, at) {
                    return Some(rule);
                }
            }
        }
        None
    }

    /// Returns a rule that denies and whose words all occur in texts of unknown use.
    pub(crate) fn spoken_of(&self, texts: &[&str]) -> Option<&Compiled> {
        if !self.has_denials {
            return None;
        }
        let is_within = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '+');
        let words: HashSet<&str> =
            texts.iter().flat_map(|text| text.split(|letter| !is_within(letter))).collect();
        let mut tried = 0;
        for word in &words {
            // The `-rm` in `${x:-rm}` is an operator and a word.
            let word = word.trim_start_matches(['-', '+']);
            for rule in self
                .about(word)
                .filter(|rule| rule.rule.effect == Effect::Deny && rule.layer > Layer::BuiltIn)
            {
                tried += 1;
                let mut rest = rule.words.iter().skip(1);
                let is_spoken = |token: &Token| match token.literal() {
                    Some(word) => words.contains(word),
                    None => words.iter().any(|word| token.fits(word)),
                };
                if tried > MAX_CARRIED || rest.all(|tokens| tokens.iter().any(is_spoken)) {
                    return Some(rule);
                }
            }
        }
        None
    }

    /// Returns the rules whose expression matches.
    pub(crate) fn find(&self, over: RegexScope, text: &str) -> impl Iterator<Item = &Compiled> {
        self.expressions.find(over, text).into_iter().filter_map(|number| self.rules.get(number))
    }
}

impl<'p> Heard<'p> {
    const fn is_nothing(&self) -> bool {
        matches!(self, Self { best: None, maybe: [None, None] })
    }

    fn hear(&mut self, found: Candidate<'p>, answer: &Match<'_>) {
        match answer {
            Match::Yes if better(found, self.best) => self.best = Some(found),
            Match::Maybe(_) if found.rule.rule.effect > Effect::Allow => {
                let [mild, strict] = &mut self.maybe;
                let slot = if found.rule.rule.effect == Effect::Sandbox { mild } else { strict };
                if better(found, *slot) {
                    *slot = Some(found);
                }
            }
            _ => {}
        }
    }
}

impl<'p> Said<'p> {
    fn hear(&mut self, heard: Heard<'p>) {
        let effect = |rule: Option<&Compiled>| rule.map(|rule| rule.rule.effect);
        let best = heard.best.map(|best| best.rule);
        if best.is_some() && effect(best) > effect(self.winner) {
            self.winner = best;
        }
        // A rule that may match counts only if it would decide, because it is more specific than the one that matches.
        let counts = |maybe: &Candidate<'_>| heard.best.is_none_or(|best| maybe.key() > best.key());
        for maybe in heard.maybe.into_iter().flatten().filter(counts) {
            if effect(Some(maybe.rule)) > effect(self.maybe) {
                self.maybe = Some(maybe.rule);
            }
        }
    }

    /// Returns the effect of a rule that only may match.
    pub(crate) fn maybe_effect(&self) -> Effect {
        self.maybe.map_or(Effect::Allow, |rule| rule.rule.effect.min(Effect::Ask))
    }
}

impl Candidate<'_> {
    /// Returns the key that orders rules. The id makes the result independent of their order.
    fn key(&self) -> (Specificity, std::cmp::Reverse<&str>) {
        (self.specificity, std::cmp::Reverse(&self.rule.rule.id))
    }
}

/// Returns the second words that a rule can match, if they are literal and not patterns.
fn second_words(rule: &Compiled) -> Option<impl Iterator<Item = String>> {
    rule.second_words().map(|words| words.map(str::to_owned))
}

fn better(found: Candidate<'_>, than: Option<Candidate<'_>>) -> bool {
    than.is_none_or(|than| found.key() > than.key())
}
