//! All rules of a policy, found by the name of a program.
//!
//! Rules are dispatched by their first word, as Codex's execpolicy does, so that the number of rules about other
//! programs costs nothing: a test counts the allocations of a decision with 200 rules and without. Among those that match,
//! the most specific one wins, as with selectors of CSS or routes, and ties go to the stricter one; that makes the answer
//! independent of the order in which rules are written.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::aliases::names;
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

/// How often words may look like the beginning of a denied command before they are taken for one.
const MAX_CARRIED: usize = 2048;

/// The rules of all layers. A copy shares what was compiled.
#[derive(Debug, Clone, Default)]
pub(crate) struct RuleSet {
    rules: Arc<Vec<Compiled>>,
    /// The rules about a program, by its name in small letters.
    by_program: Arc<HashMap<String, About>>,
    /// The rules with a pattern for the name of a program.
    by_pattern: Arc<Vec<usize>>,
    pub(crate) expressions: Arc<Expressions>,
    /// Whether a rule denies or asks: only then can a program carry a denied command.
    has_denials: bool,
    /// Rules that are tried on top of the others. They are few, so each is asked about every command.
    tried: Vec<Compiled>,
}

/// The rules about one program.
#[derive(Debug, Clone, Default)]
struct About {
    all: Vec<usize>,
    /// Those that say nothing of a second word, or give a pattern for it.
    any_word: Vec<usize>,
    /// The others, by that word.
    by_word: HashMap<String, Vec<usize>>,
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
    best: Option<Candidate<'p>>,
    maybe: [Option<Candidate<'p>>; 2],
}

/// A rule with how specific it is about the command that was asked about.
#[derive(Debug, Clone, Copy)]
struct Candidate<'p> {
    rule: &'p Compiled,
    specificity: Specificity,
}

impl RuleSet {
    pub(crate) fn new(rules: Vec<Compiled>) -> Result<Self, String> {
        let expressions = Expressions::compile(&rules.iter().map(|rule| &*rule.rule).collect::<Vec<_>>())?;
        let mut by_program: HashMap<String, About> = HashMap::new();
        let (mut by_pattern, mut has_denials) = (Vec::new(), false);
        for (number, rule) in rules.iter().enumerate().filter(|(_, rule)| rule.rule.enabled) {
            has_denials |= rule.rule.effect >= Effect::Ask && rule.layer > Layer::BuiltIn;
            for program in rule.programs() {
                by_program.entry(base(program).to_ascii_lowercase()).or_default().add(number, rule);
            }
            if rule.has_pattern() {
                by_pattern.push(number);
            }
        }
        let (rules, by_program, by_pattern) = (Arc::new(rules), Arc::new(by_program), Arc::new(by_pattern));
        Ok(Self {
            rules,
            by_program,
            by_pattern,
            expressions: Arc::new(expressions),
            has_denials,
            tried: Vec::new(),
        })
    }

    /// Returns the same rules and one more, which allows and names its words. Nothing is compiled anew: what such a rule
    /// does not touch (expressions, denials) stays as it was.
    pub(crate) fn with(&self, rule: Compiled) -> Self {
        let mut set = self.clone();
        set.tried.push(rule);
        set
    }

    /// Returns the rules that it was made of, and those that are tried.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Compiled> {
        self.rules.iter().chain(&self.tried)
    }

    /// Returns the rules that it was made of, without those that are tried.
    pub(crate) fn rules(&self) -> &[Compiled] {
        &self.rules
    }

    /// Returns the rules about the program of a command. A computed name can be any program's: what becomes of it does not
    /// depend on the rules of one.
    pub(crate) fn candidates<'s>(&'s self, run: &Run<'_>) -> impl Iterator<Item = &'s Compiled> {
        let named = run.argv.first().and_then(Arg::known).map_or(&[][..], |name| self.about(name));
        let others = self.by_pattern.iter().filter(|number| !named.contains(number));
        named.iter().chain(others).filter_map(|number| self.rules.get(*number))
    }

    /// Returns whether a rule besides the built-in ones asks or denies.
    pub(crate) const fn has_denials(&self) -> bool {
        self.has_denials
    }

    fn about(&self, name: &str) -> &[usize] {
        self.by_program.get(&*in_small_letters(base(name))).map_or(&[], |about| &about.all)
    }

    /// Returns what the rules decide. The highest layer with a matching rule decides, and lower ones can only be
    /// stricter; the built-in rules apply where no other layer decides.
    ///
    /// Where none decides about git in another folder, `git -C X Y` is asked about as `cd X && git Y` is.
    pub(crate) fn ask<'s>(&'s self, run: &Run<'_>, context: &PartContext<'_>) -> Said<'s> {
        let said = self.ask_as_written(run, context);
        match harmless::without_folder(run).filter(|_| said.winner.is_none()) {
            // Where it runs then is for no rule about folders to permit.
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
        let rule_at = |number: &usize| self.rules.get(*number);
        let words = Words::after_name(run);
        if let Some(name) = run.argv.first().and_then(Arg::known)
            && let Some(about) = self.by_program.get(&*in_small_letters(base(name)))
        {
            for rule in about.likely(run).filter_map(rule_at) {
                hear(rule, &rule.matches_of_base(name, run, &words, context));
            }
        }
        for rule in self.by_pattern.iter().filter_map(rule_at) {
            hear(rule, &rule.matches_by_pattern(run, &words, context));
        }
        for rule in &self.tried {
            hear(rule, &rule.matches(run, context));
        }
        if self.has_denials {
            self.ask_by_other_names(run, context, &mut layers);
        }
        let [builtin, written @ ..] = layers;
        let mut said = Said::default();
        for heard in written.iter().rev().filter(|heard| !heard.is_nothing()) {
            said.hear(*heard);
        }
        if said.winner.is_none() {
            said.hear(builtin);
        }
        said
    }

    /// The same command by other names of its program that a rule may be about.
    pub(crate) fn renamed<'t>(&self, run: &Run<'t>) -> Vec<Run<'t>> {
        let is_written =
            |number: &usize| self.rules.get(*number).is_some_and(|rule| rule.layer > Layer::BuiltIn);
        let has_patterns = self.by_pattern.iter().any(is_written);
        names::renamed(run, |name| has_patterns || self.about(name).iter().any(is_written))
    }

    /// Asks what forbids or asks about the program under its other names.
    fn ask_by_other_names<'s>(
        &'s self,
        run: &Run<'_>,
        context: &PartContext<'_>,
        layers: &mut [Heard<'s>; Layer::ALL.len()],
    ) {
        for renamed in self.renamed(run) {
            let is_strict = |rule: &&Compiled| rule.rule.effect >= Effect::Ask && rule.layer > Layer::BuiltIn;
            for rule in self.candidates(&renamed).filter(is_strict) {
                let answer = rule.matches(&renamed, context);
                if let Some(heard) = layers.get_mut(rule.layer as usize) {
                    heard.hear(Candidate { rule, specificity: rule.specificity().of_alike() }, &answer);
                }
            }
        }
    }

    /// Returns the rule that denies or asks about words in the arguments of an unknown program, which
    /// may run them.
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
                // Legitimate commands do not name a program this often among the words of another one.
                if tried > MAX_CARRIED || rule.is_carried_by(run, at) {
                    return Some(rule);
                }
            }
        }
        None
    }

    /// Returns a rule that denies, all of whose words occur in texts of unknown use.
    pub(crate) fn spoken_of(&self, texts: &[&str]) -> Option<&Compiled> {
        if !self.has_denials {
            return None;
        }
        let is_within = |letter: char| letter.is_alphanumeric() || matches!(letter, '-' | '_' | '.' | '+');
        let words: HashSet<&str> =
            texts.iter().flat_map(|text| text.split(|letter| !is_within(letter))).collect();
        let mut tried = 0;
        for word in &words {
            // `-rm` of `${x:-rm}` is the operator and the word.
            let word = word.trim_start_matches(['-', '+']);
            let rules = self.about(word).iter().filter_map(|number| self.rules.get(*number));
            for rule in rules.filter(|rule| rule.rule.effect == Effect::Deny && rule.layer > Layer::BuiltIn) {
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

    /// Returns the rules whose expression is found.
    pub(crate) fn find(&self, over: RegexScope, text: &str) -> impl Iterator<Item = &Compiled> {
        self.expressions.find(over, text).into_iter().filter_map(|number| self.rules.get(number))
    }
}

impl About {
    fn add(&mut self, number: usize, rule: &Compiled) {
        if self.all.last() == Some(&number) {
            return;
        }
        self.all.push(number);
        match rule.second_words() {
            Some(words) => {
                words.for_each(|word| self.by_word.entry(word.to_owned()).or_default().push(number));
            }
            None => self.any_word.push(number),
        }
    }

    /// Returns the rules that may match: a second word that is not among the words of a command is not matched, unless it
    /// is only known when the command runs. A rule may come more than once.
    fn likely<'a>(&'a self, run: &'a Run<'_>) -> impl Iterator<Item = &'a usize> {
        /// With more words than this, all rules are asked, once.
        const FEW: usize = 16;
        let words = run.argv.get(1..).unwrap_or_default();
        let is_plain =
            !run.open_ended && words.len() <= FEW && words.iter().all(|word| word.known().is_some());
        let (rules, words) = if is_plain { (&self.any_word, words) } else { (&self.all, &[][..]) };
        let words = if self.by_word.is_empty() { &[][..] } else { words };
        rules.iter().chain(words.iter().filter_map(|word| self.by_word.get(word.known()?)).flatten())
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
        // A rule that may match counts where it would decide: it is more specific than the one that does match.
        let counts = |maybe: &Candidate<'_>| heard.best.is_none_or(|best| maybe.key() > best.key());
        for maybe in heard.maybe.into_iter().flatten().filter(counts) {
            if effect(Some(maybe.rule)) > effect(self.maybe) {
                self.maybe = Some(maybe.rule);
            }
        }
    }

    /// Returns what a rule that only may match makes of the decision.
    pub(crate) fn maybe_effect(&self) -> Effect {
        self.maybe.map_or(Effect::Allow, |rule| rule.rule.effect.min(Effect::Ask))
    }
}

impl Candidate<'_> {
    /// What rules are compared by. The name makes the answer the same whatever their order.
    fn key(&self) -> (Specificity, std::cmp::Reverse<&str>) {
        (self.specificity, std::cmp::Reverse(&self.rule.rule.id))
    }
}

fn better(found: Candidate<'_>, than: Option<Candidate<'_>>) -> bool {
    than.is_none_or(|than| found.key() > than.key())
}
