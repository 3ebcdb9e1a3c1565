//! Whether a rule matches a command.
//!
//! Words that are only known at run time can make the result *maybe*. A maybe never allows: a rule that allows does not match
//! then, and a rule that denies makes the decision *ask*.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use stockade_text::Escaped;

use super::aliases::options::{names_of, of_programs, parts_of};
use super::aliases::{Sameness, Spelled, other_spellings};
use super::effect::{Effect, Layer};
use super::harmless::{self, Harmlessness};
use super::listed_options;
use super::options::{self, Presence, Wanted, Words};
use super::program::{Programs, base};
use super::rule::{CommandPattern, CommandRule};
use super::token::{Token, alternatives};
use crate::context::PartContext;
use stockade_shell::{Arg, Run, WordCount};

/// A rule with its words and conditions compiled for matching.
#[derive(Debug, Clone)]
pub(crate) struct Compiled {
    pub(crate) rule: Arc<CommandRule>,
    pub(crate) layer: Layer,
    /// Whether these are the words as written, and not an equivalent form.
    pub(crate) is_as_written: bool,
    /// The words with which a command must start. Empty for an expression.
    pub(super) words: Vec<Vec<Token>>,
    /// The first word, compiled.
    about: Programs,
    /// Required options: those of the conditions, and those among the words of a strict rule, which may be anywhere in the
    /// command.
    wanted: Vec<Wanted>,
    /// Forbidden options.
    unwanted: Vec<Wanted>,
    is_exact: bool,
    /// Whether only options may follow the words.
    is_alone: bool,
    specificity: Specificity,
}

/// The specificity of a rule, compared field by field. The last fields make the order of a file irrelevant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Specificity {
    words: usize,
    is_exact: bool,
    guards: usize,
    priority: i32,
    /// Whether it matches as written, and not only an equivalent: a user who denies `npx` may allow `bunx`.
    is_meant: bool,
    effect: Effect,
}

impl Specificity {
    /// The same for a similar command.
    pub(super) const fn of_alike(self) -> Self {
        Self { is_meant: false, ..self }
    }
}

/// Whether a rule matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Match<'r> {
    /// It matches, independent of values at run time.
    Yes,
    /// It may match, depending on values at run time.
    Maybe(Mismatch<'r>),
    /// It does not match, for this first reason.
    No(Mismatch<'r>),
}

/// Why a rule does not match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mismatch<'r> {
    /// The program is another one, or in a directory that is not trusted.
    Program(Cow<'r, str>),
    /// A word differs. Words are counted from 1, starting with the name.
    Word(usize, Cow<'r, str>),
    /// The command has fewer words than the rule.
    TooShort,
    /// The command has more words than the rule.
    TooLong,
    /// A word is only known at run time.
    UnknownWord(usize),
    /// There are options between the words.
    Gap,
    /// More words can be added at run time.
    OpenEnded,
    /// A forbidden option is present.
    HasOption(&'r str),
    /// An option is not in the allowlist of built-in rules.
    UnlistedOption,
    /// An option is missing.
    LacksOption(&'r str),
    /// The command has more operands than allowed.
    Operands(usize),
    /// The working directory is not one of the rule's.
    Folder,
    /// The rule's expression does not match.
    Expression,
    /// The rule is disabled.
    Disabled,
}

impl fmt::Display for Mismatch<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Program(name) => write!(f, "the program is `{}`", Escaped(name)),
            Self::Word(position, word) => write!(f, "word {position} is `{}`", Escaped(word)),
            Self::TooShort => f.write_str("the command is shorter"),
            Self::TooLong => f.write_str("the command is longer"),
            Self::UnknownWord(position) => write!(f, "word {position} is only known at run time"),
            Self::Gap => f.write_str("there are options between its words"),
            Self::OpenEnded => f.write_str("more words may be added at run time"),
            Self::HasOption(option) => write!(f, "`{}` is present, or may be", Escaped(option)),
            Self::UnlistedOption => f.write_str("an option is not in its allowlist"),
            Self::LacksOption(option) => write!(f, "`{}` is missing", Escaped(option)),
            Self::Operands(most) => write!(f, "there are more than {most} operands"),
            Self::Folder => f.write_str("the working directory is another one, or unknown"),
            Self::Expression => f.write_str("the expression does not match"),
            Self::Disabled => f.write_str("the rule is disabled"),
        }
    }
}

impl Compiled {
    /// Compiles a rule as written.
    pub(crate) fn new(rule: CommandRule, layer: Layer) -> Self {
        let words = match &rule.pattern {
            CommandPattern::Prefix(words) | CommandPattern::Exact(words) => words.clone(),
            CommandPattern::Regex { .. } => Vec::new(),
        };
        let mut compiled = Self::spelled(Arc::new(rule), layer, &Spelled::written(words));
        compiled.is_as_written = true;
        compiled
    }

    /// Compiles a rule as written, and once more for every equivalent form of its words.
    pub(crate) fn all(rule: CommandRule, layer: Layer) -> Vec<Self> {
        let written = Self::new(rule, layer);
        // The built-in rows list their equivalent forms themselves, for several programs at once.
        let others = match &written.rule.pattern {
            CommandPattern::Prefix(words) | CommandPattern::Exact(words) if layer > Layer::BuiltIn => {
                let least = if written.is_strict() { Sameness::Instead } else { Sameness::Same };
                other_spellings(words, least)
            }
            _ => Vec::new(),
        };
        let rule = Arc::clone(&written.rule);
        let of = |spelled: &Spelled| Self::spelled(Arc::clone(&rule), layer, spelled).ranked_with(&written);
        let others: Vec<Self> = others.iter().map(of).collect();
        std::iter::once(written).chain(others).collect()
    }

    /// Returns the specificity of an equivalent form. It is never more specific than the written form, and the equivalent form of
    /// a denial is never less specific.
    fn ranked_with(mut self, written: &Self) -> Self {
        let (own, other) = (self.specificity.words, written.specificity.words);
        self.specificity.words =
            if self.rule.effect == Effect::Deny { own.max(other) } else { own.min(other) };
        self
    }

    fn spelled(rule: Arc<CommandRule>, layer: Layer, spelled: &Spelled) -> Self {
        let is_exact = matches!(rule.pattern, CommandPattern::Exact(_));
        let read = |word: &Vec<String>| -> Vec<Token> {
            word.iter().flat_map(|one| alternatives(one)).map(|one| Token::read(&one)).collect()
        };
        let mut words: Vec<Vec<Token>> = spelled.words.iter().map(read).collect();
        let literal = |word: &Vec<Token>| usize::from(!word.iter().any(Token::is_anything));
        let specificity = Specificity {
            words: words.iter().map(literal).sum(),
            is_exact,
            guards: rule.guards.count(),
            priority: rule.priority,
            is_meant: spelled.sameness == Sameness::Same,
            effect: rule.effect,
        };
        let mut options = Vec::new();
        if rule.effect >= Effect::Ask && !is_exact {
            // A rule that denies `rm -rf` also denies `rm -f -r`.
            words.retain(|word| match word.as_slice() {
                [Token::Literal(text)] if options::is_option(text) => {
                    options.push(text.clone());
                    false
                }
                _ => true,
            });
        }
        let first = words.first().map_or(&[][..], Vec::as_slice);
        let about = Programs::new(first, rule.effect >= Effect::Ask);
        let programs: Vec<&str> = first.iter().filter_map(Token::literal).collect();
        let command = words.get(1).and_then(|word| word.first()).and_then(Token::literal);
        let known = of_programs(&programs, command);
        let named = |option: &String, is_wider: bool| match is_wider {
            true => Wanted::any_of(&names_of(&known, option)),
            false => Wanted::new(option),
        };
        // A rule must not become milder because an option has other names.
        let (denies, allows) = (rule.effect >= Effect::Ask, rule.effect == Effect::Allow);
        let asked = options.iter().chain(&rule.guards.require);
        let parts =
            asked.flat_map(|option| if denies { parts_of(&known, option) } else { vec![option.clone()] });
        let wanted = parts.map(|option| named(&option, denies)).collect();
        let unwanted = rule.guards.deny.iter().map(|option| named(option, allows)).collect();
        let is_alone = spelled.is_alone;
        Self {
            rule,
            layer,
            is_as_written: false,
            words,
            about,
            wanted,
            unwanted,
            is_exact,
            is_alone,
            specificity,
        }
    }

    pub(crate) const fn specificity(&self) -> Specificity {
        self.specificity
    }

    /// Returns the names of its programs, without patterns.
    pub(crate) fn programs(&self) -> impl Iterator<Item = &str> {
        self.words.first().into_iter().flatten().filter_map(Token::literal)
    }

    /// Returns whether the program is a pattern.
    pub(super) fn has_pattern(&self) -> bool {
        self.words.first().is_some_and(|first| first.iter().any(|token| token.literal().is_none()))
    }

    /// Returns the second words that it can match, if they are literal and not patterns.
    pub(super) fn second_words(&self) -> Option<impl Iterator<Item = &str>> {
        let second = self.words.get(1)?;
        second.iter().all(|token| token.literal().is_some()).then(|| second.iter().filter_map(Token::literal))
    }

    /// Returns whether the rule is strict: in doubt, a rule that asks or denies matches.
    fn is_strict(&self) -> bool {
        self.rule.effect >= Effect::Ask
    }

    /// Returns whether the rule matches a command.
    pub(crate) fn matches<'r>(&'r self, run: &'r Run<'_>, context: &PartContext<'_>) -> Match<'r> {
        if !self.rule.enabled {
            return Match::No(Mismatch::Disabled);
        }
        if self.words.is_empty() {
            return Match::No(Mismatch::Expression);
        }
        let program = self.program(run);
        if matches!(program, Match::No(_)) {
            return program;
        }
        self.matches_beyond(program, run, &Words::after_name(run), context)
    }

    /// Same as [`Self::matches`] for a rule that was found by the base name of the program.
    pub(super) fn matches_of_base<'r>(
        &'r self,
        name: &'r str,
        run: &'r Run<'_>,
        words: &Words<'_, '_>,
        context: &PartContext<'_>,
    ) -> Match<'r> {
        self.matches_if(self.about.fits_of_base(name), name, run, words, context)
    }

    /// Same as [`Self::matches`] with the result of matching the program.
    pub(super) fn matches_by_pattern<'r>(
        &'r self,
        run: &'r Run<'_>,
        words: &Words<'_, '_>,
        context: &PartContext<'_>,
    ) -> Match<'r> {
        match run.argv.first().and_then(Arg::known) {
            Some(name) => self.matches_if(self.about.fits_pattern(name), name, run, words, context),
            None => self.matches(run, context),
        }
    }

    fn matches_if<'r>(
        &'r self,
        is_about: bool,
        name: &'r str,
        run: &'r Run<'_>,
        words: &Words<'_, '_>,
        context: &PartContext<'_>,
    ) -> Match<'r> {
        if is_about {
            self.matches_beyond(Match::Yes, run, words, context)
        } else {
            Match::No(Mismatch::Program(Cow::Borrowed(name)))
        }
    }

    /// Returns whether the words after the name match.
    fn matches_beyond<'r>(
        &'r self,
        program: Match<'r>,
        run: &'r Run<'_>,
        words: &Words<'_, '_>,
        context: &PartContext<'_>,
    ) -> Match<'r> {
        let begins = match self.begins(run) {
            Match::No(_) if self.is_strict() && !self.is_exact => self.in_order(run),
            other => other,
        };
        let found = program.and(begins);
        if matches!(found, Match::No(_)) {
            return found;
        }
        let found = if self.is_alone { found.and(self.nothing_follows(run)) } else { found };
        let found = found.and(self.listed(run));
        found.and(self.guards(run, words)).and(self.certainty(run, words, context)).and(self.folder(context))
    }

    /// A built-in rule only allows the options of the table.
    fn listed<'r>(&'r self, run: &'r Run<'_>) -> Match<'r> {
        // The words of an exact rule are the whole command.
        let permits = self.layer == Layer::BuiltIn && self.rule.effect == Effect::Allow && !self.is_exact;
        if !permits || listed_options::are_listed(run) {
            return Match::Yes;
        }
        Match::No(Mismatch::UnlistedOption)
    }

    /// Returns whether only options follow; in a strict rule, also their values.
    fn nothing_follows<'r>(&self, run: &'r Run<'_>) -> Match<'r> {
        let mut after_option = false;
        for (index, arg) in run.argv.iter().enumerate().skip(self.words.len()) {
            match arg {
                Arg::Known(word) if options::is_option(word) => after_option = !word.contains('='),
                Arg::Known(_) if after_option && self.is_strict() => after_option = false,
                Arg::Known(word) => return Match::No(Mismatch::Word(index + 1, Cow::Borrowed(word))),
                Arg::Unknown { .. } => return Match::Maybe(Mismatch::UnknownWord(index + 1)),
            }
        }
        if run.open_ended { Match::Maybe(Mismatch::OpenEnded) } else { Match::Yes }
    }

    fn program<'r>(&'r self, run: &'r Run<'_>) -> Match<'r> {
        let Some(first) = self.words.first() else { return Match::No(Mismatch::Expression) };
        match run.argv.first() {
            Some(Arg::Known(name)) => {
                if self.about.fits(name) {
                    Match::Yes
                } else {
                    Match::No(Mismatch::Program(Cow::Borrowed(name)))
                }
            }
            Some(Arg::Unknown { prefix, .. }) if first.iter().any(|token| token.can_begin(prefix)) => {
                Match::Maybe(Mismatch::UnknownWord(1))
            }
            Some(Arg::Unknown { prefix, .. }) => Match::No(Mismatch::Program(Cow::Borrowed(prefix))),
            None => Match::No(Mismatch::TooShort),
        }
    }

    /// Returns the number of options before the words of the rule that are skipped because they only change the output.
    fn in_front(&self, run: &Run<'_>) -> usize {
        let passes = self.words.len() > 1 && !self.is_exact && !self.is_strict();
        if passes && !self.words.get(1).is_some_and(|word| word.iter().any(Token::is_option)) {
            harmless::in_front(&run.argv, self.layer == Layer::BuiltIn)
        } else {
            0
        }
    }

    /// Returns whether a word of the rule matches. In a rule that allows, a wildcard does not match an option, which could have
    /// any effect. It does not in an equivalent form either, where it represents a name.
    fn fits(&self, word: &[Token], text: &str, permits: bool) -> bool {
        let spares_options = permits || !self.is_as_written;
        let fits = |token: &Token| {
            token.fits(text) && (!spares_options || token.is_option() || !options::is_option(text))
        };
        word.iter().any(fits)
    }

    /// Matches the words after the name one by one.
    fn begins<'r>(&'r self, run: &'r Run<'_>) -> Match<'r> {
        let permits = !self.is_strict();
        let mut maybe = None;
        for (index, word) in (1 + self.in_front(run)..).zip(self.words.get(1..).unwrap_or_default()) {
            match run.argv.get(index) {
                Some(Arg::Known(text)) => {
                    if !self.fits(word, text, permits) {
                        return Match::No(Mismatch::Word(index + 1, Cow::Borrowed(text)));
                    }
                }
                // The first of several words matches, and the others follow the end of the pattern.
                Some(Arg::Unknown { prefix, count, .. })
                    if word.iter().any(|token| token.fits_all(prefix))
                        && !options::is_option(prefix)
                        && (*count == WordCount::One || index + 1 == self.words.len() && !self.is_exact) => {}
                Some(Arg::Unknown { prefix, count, .. }) => {
                    if *count == WordCount::One && !word.iter().any(|token| token.can_begin(prefix)) {
                        return Match::No(Mismatch::UnknownWord(index + 1));
                    }
                    maybe.get_or_insert(Mismatch::UnknownWord(index + 1));
                    if *count == WordCount::Any {
                        break;
                    }
                }
                None if run.open_ended || maybe.is_some() => {
                    maybe.get_or_insert(Mismatch::OpenEnded);
                    break;
                }
                None => return Match::No(Mismatch::TooShort),
            }
        }
        if self.is_exact && run.argv.len() > self.words.len() {
            return Match::No(Mismatch::TooLong);
        }
        maybe.map_or(Match::Yes, Match::Maybe)
    }

    /// Matches the words after the name in order, with options and their values between them: `git -C x push` matches `git push`.
    fn in_order<'r>(&'r self, run: &'r Run<'_>) -> Match<'r> {
        let mut wanted = self.words.get(1..).unwrap_or_default();
        let mut after_option = false;
        let mut last = Mismatch::TooShort;
        for (index, arg) in (1..).zip(run.argv.get(1..).unwrap_or_default()) {
            let Some((word, rest)) = wanted.split_first() else { break };
            match arg {
                Arg::Known(text) if self.fits(word, text, false) => {
                    wanted = rest;
                    after_option = false;
                }
                Arg::Known(text) if options::is_option(text) => after_option = !text.contains('='),
                Arg::Known(_) if after_option => after_option = false,
                // `cargo +nightly build`: the word selects a toolchain.
                Arg::Known(text) if index == 1 && text.starts_with('+') => {}
                Arg::Known(text) => return Match::No(Mismatch::Word(index + 1, Cow::Borrowed(text))),
                Arg::Unknown { prefix, count, .. } => {
                    if *count == WordCount::Any || word.iter().any(|token| token.can_begin(prefix)) {
                        return Match::Maybe(Mismatch::UnknownWord(index + 1));
                    }
                    last = Mismatch::UnknownWord(index + 1);
                    if !after_option && !prefix.starts_with('-') {
                        return Match::No(last);
                    }
                    after_option = prefix.starts_with('-');
                }
            }
        }
        if wanted.is_empty() {
            return match self.rule.effect {
                Effect::Deny => Match::Yes,
                // A milder rule that matches with words in between must not win against a stricter one.
                _ => Match::Maybe(Mismatch::Gap),
            };
        }
        if run.open_ended { Match::Maybe(Mismatch::OpenEnded) } else { Match::No(last) }
    }

    fn guards<'r>(&'r self, run: &'r Run<'_>, words: &Words<'_, '_>) -> Match<'r> {
        let mut found = Match::Yes;
        for wanted in &self.wanted {
            match wanted.presence(words) {
                Presence::There => {}
                Presence::Maybe => found = found.and(Match::Maybe(Mismatch::LacksOption(wanted.text()))),
                Presence::NotThere => return Match::No(Mismatch::LacksOption(wanted.text())),
            }
        }
        for unwanted in &self.unwanted {
            match unwanted.presence(words) {
                Presence::There => return Match::No(Mismatch::HasOption(unwanted.text())),
                Presence::Maybe => found = found.and(Match::Maybe(Mismatch::HasOption(unwanted.text()))),
                Presence::NotThere => {}
            }
        }
        if let Some(most) = self.rule.guards.operands {
            let rest = run.argv.get(self.words.len() + self.in_front(run)..).unwrap_or_default();
            found = found.and(match options::operands(rest) {
                _ if run.open_ended => Match::Maybe(Mismatch::OpenEnded),
                (known, _) if known > most => Match::No(Mismatch::Operands(most)),
                (known, unknown) if known + unknown > most => Match::Maybe(Mismatch::Operands(most)),
                _ => Match::Yes,
            });
        }
        found
    }

    /// A rule that allows must know every word that could be an option.
    fn certainty<'r>(
        &'r self,
        run: &'r Run<'_>,
        words: &Words<'_, '_>,
        context: &PartContext<'_>,
    ) -> Match<'r> {
        if self.rule.effect != Effect::Allow {
            return Match::Yes;
        }
        let takes_more = || match harmless::of(run) {
            _ if self.is_exact => false,
            Harmlessness::None => false,
            Harmlessness::Options => context.adds_harmless_names,
            Harmlessness::Words => true,
        };
        let open =
            if run.open_ended && !takes_more() { Match::Maybe(Mismatch::OpenEnded) } else { Match::Yes };
        open.and(
            words.first_unseen.map_or(Match::Yes, |index| Match::Maybe(Mismatch::UnknownWord(index + 1))),
        )
    }

    fn folder<'r>(&'r self, context: &PartContext<'_>) -> Match<'r> {
        let guards = &self.rule.guards;
        if guards.cwd.is_empty() && guards.not_cwd.is_empty() {
            return Match::Yes;
        }
        let within = |folders: &[String]| context.is_within(folders);
        let inside = if guards.cwd.is_empty() { Some(true) } else { within(&guards.cwd) };
        let outside = if guards.not_cwd.is_empty() {
            Some(true)
        } else {
            within(&guards.not_cwd).map(|within| !within)
        };
        match (inside, outside) {
            (Some(true), Some(true)) => Match::Yes,
            (Some(false), _) | (_, Some(false)) => Match::No(Mismatch::Folder),
            _ => Match::Maybe(Mismatch::Folder),
        }
    }

    /// Returns whether the rule includes a word other than by a wildcard for any word.
    pub(crate) fn includes(&self, word: &str) -> bool {
        let includes = |token: &Token| !token.is_anything() && token.fits(word);
        self.words.iter().skip(1).flatten().any(includes)
            || self.wanted.iter().any(|option| option.text() == word)
    }

    /// Returns whether the words of the rule occur verbatim in the arguments of a program that may run them.
    pub(crate) fn is_carried_by(&self, run: &Run<'_>, at: usize) -> bool {
        let here = |index: usize, word: &Vec<Token>| {
            let text = run.argv.get(at + index).and_then(Arg::known);
            text.is_some_and(|text| {
                word.iter().any(|token| token.fits(if index == 0 { base(text) } else { text }))
            })
        };
        let rest = Words::of(run.argv.get(at..).unwrap_or_default(), false);
        self.words.iter().enumerate().all(|(index, word)| here(index, word))
            && self.wanted.iter().all(|option| option.presence(&rest) == Presence::There)
    }
}

impl Match<'_> {
    /// Returns the result if both must match.
    #[inline]
    fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, other) => other,
            (one, Self::Yes) => one,
            (one, other) => one.and_not_certain(other),
        }
    }

    /// Same as above if neither matches for certain.
    fn and_not_certain(self, other: Self) -> Self {
        if matches!((&self, &other), (Self::Maybe(_), Self::No(_))) { other } else { self }
    }
}
