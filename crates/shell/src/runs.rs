//! Walks over what was read and lists what it does.
//!
//! Nothing is skipped because it might not happen: both sides of `||`, every arm of a `case` and the body of a
//! function that is never called are listed, for the text alone does not tell.

use std::borrow::Cow;
use std::ops::Range;

use crate::actions::{Actions, Arg, Called, Flow, Function, Hazard, HazardKind, Run, Through};
use crate::braces::single;
use crate::held::Held;
use crate::options::{ReadOptions, Shell};
use crate::parser::{self, Admission, Parsed};
use crate::span::Span;
use crate::text::Origin;
use crate::tree::{Command, Compound, Heredoc, Item, Join, Kind, List, Pipeline, Prefix, Role};
use crate::via::{self, Via};
use crate::{evaluated, payload};

mod expansions;
mod simple;

/// Lists what `parsed` does.
pub(crate) fn actions<'t>(parsed: &Parsed<'t>, options: &ReadOptions) -> Actions<'t> {
    let mut walk = Walk::new(options);
    let stdin = Stdin::Inherited;
    let place = Place {
        heredocs: &parsed.heredocs,
        via: None,
        called: Called::AsWritten,
        stdin: &stdin,
        is_certain: true,
        alongside: false,
        texts: 0,
        shell: options.shell,
    };
    walk.list(&parsed.list, place);
    walk.values_that_are_evaluated(place);
    walk.actions
}

/// The state of a walk.
#[derive(Debug)]
pub(crate) struct Walk<'t, 'o> {
    pub(crate) options: &'o ReadOptions,
    pub(crate) actions: Actions<'t>,
    /// How many bytes of nested texts may still be read.
    pub(crate) budget: usize,
    /// How many words may still be given from one program to the next.
    handed_on: usize,
    /// Functions that are certainly defined here, the innermost scope last.
    functions: Vec<String>,
    /// Functions and aliases that may be defined here.
    maybe: Vec<String>,
    /// Values that would run something if they were evaluated.
    pub(crate) values: Vec<(String, Span)>,
    /// What variables hold.
    held: Held,
    evaluates_names: bool,
    expands_prompts: bool,
}

/// What surrounds the part that is being walked over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place<'a, 't> {
    pub(crate) heredocs: &'a [Heredoc<'t>],
    pub(crate) via: Option<&'a Via<'a>>,
    pub(crate) called: Called,
    pub(crate) stdin: &'a Stdin,
    /// Whether it runs whenever the text runs, in the shell itself.
    pub(crate) is_certain: bool,
    /// Whether it runs beside other programs.
    pub(crate) alongside: bool,
    /// In how many texts it is nested.
    pub(crate) texts: usize,
    pub(crate) shell: Shell,
}

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// What the whole text reads.
    Inherited,
    /// A pipe or a file.
    Unknown,
    /// A text that is written in the command itself.
    Text(String),
}

impl<'t, 'o> Walk<'t, 'o> {
    fn new(options: &'o ReadOptions) -> Self {
        Self {
            options,
            actions: Actions::default(),
            budget: options.max_bytes,
            handed_on: options.max_bytes,
            functions: Vec::new(),
            maybe: Vec::new(),
            values: Vec::new(),
            held: Held::default(),
            evaluates_names: false,
            expands_prompts: false,
        }
    }

    pub(crate) fn list(&mut self, list: &List<'t>, place: Place<'_, 't>) {
        let mut is_certain = place.is_certain;
        for Item { pipeline, then } in &list.items {
            // zsh measures in a shell of its own, which keeps what is defined there.
            let is_timed = place.shell == Shell::Zsh && pipeline.prefixes.contains(&Prefix::Time);
            let in_shell = pipeline.commands.len() == 1 && *then != Join::Background && !is_timed;
            let alongside = place.alongside || !in_shell;
            let start = self.next();
            self.pipeline(pipeline, Place { is_certain: is_certain && in_shell, alongside, ..place });
            if *then == Join::Background {
                self.own_shell(start);
            }
            is_certain = place.is_certain && matches!(then, Join::Sequence | Join::Background);
        }
    }

    /// Walks over a list whose definitions do not outlive it.
    fn separate(&mut self, list: &List<'t>, place: Place<'_, 't>) {
        let (functions, start) = (self.functions.len(), self.next());
        self.list(list, Place { is_certain: true, ..place });
        self.functions.truncate(functions);
        self.own_shell(start);
    }

    /// Notes that what was listed since `start` runs in a shell of its own.
    pub(crate) fn own_shell(&mut self, start: usize) {
        if start < self.next() {
            self.actions.own_shells.push(start..self.next());
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'t>, place: Place<'_, 't>) {
        let functions = self.functions.len();
        let mut stdin = place.stdin.clone();
        let mut before = self.next()..self.next();
        for (index, command) in pipeline.commands.iter().enumerate() {
            let start = self.next();
            self.command(command, Place { stdin: &stdin, ..place });
            let stage = start..self.next();
            // The last command runs in the shell itself in zsh, and in some of those that are called `sh`.
            if index + 1 < pipeline.commands.len() || (index > 0 && place.shell == Shell::Bash) {
                self.own_shell(start);
            }
            self.flow(before, stage.clone(), Through::Input);
            before = stage;
            if index + 1 < pipeline.commands.len() {
                stdin = payload::output(command, place).map_or(Stdin::Unknown, Stdin::Text);
            }
        }
        if pipeline.commands.len() > 1 {
            self.functions.truncate(functions);
        }
    }

    fn command(&mut self, command: &Command<'t>, place: Place<'_, 't>) {
        match command {
            Command::Simple(simple) => self.simple(simple, place),
            Command::Compound(compound) => self.compound(compound, place),
        }
    }

    fn compound(&mut self, compound: &Compound<'t>, place: Place<'_, 't>) {
        let (start, first) = (self.next(), self.actions.redirects.len());
        let around = self.held.begin();
        let stdin = self.redirects(&compound.redirects, place).unwrap_or_else(|| place.stdin.clone());
        let read = self.held.end(around);
        let (inside, last) = (self.next(), self.actions.redirects.len());
        self.compound_kind(compound, Place { stdin: &stdin, ..place });
        self.redirected(first..last, inside..self.next());
        self.flow(start..inside, inside..self.next(), Through::Input);
        self.flows_of(read, &(inside..self.next()), Through::Input);
    }

    fn compound_kind(&mut self, compound: &Compound<'t>, place: Place<'_, 't>) {
        let maybe = Place { is_certain: false, ..place };
        match &compound.kind {
            Kind::Subshell(list) => self.separate(list, place),
            Kind::Group(list) => self.list(list, place),
            Kind::Clauses(lists) => lists.iter().for_each(|list| self.list(list, maybe)),
            Kind::For { name, words, body } => {
                let (start, around) = (self.next(), self.held.begin());
                self.words(words, place);
                self.remember(words);
                let mentioned = self.held.end(around);
                self.held.set(name, mentioned.into_iter().chain(std::iter::once(start..self.next())));
                self.list(body, maybe);
            }
            Kind::Counted { arithmetic, body } => {
                self.evaluates_names = true;
                self.expansions(arithmetic, place);
                self.list(body, maybe);
            }
            Kind::Case { words, arms } => {
                self.words(words, place);
                arms.iter().for_each(|arm| self.list(arm, maybe));
            }
            Kind::Arithmetic(inside) => {
                self.evaluates_names = true;
                self.expansions(inside, place);
            }
            Kind::Test(operands) => {
                for operand in operands {
                    self.word(&operand.word, place);
                    if operand.role == Role::Evaluated {
                        self.evaluates_names = true;
                        evaluated::text(self, &single(operand.word.pieces()), operand.word.span, place);
                    }
                }
            }
            Kind::Function { name, body } => self.function(name.as_deref(), body, place),
            Kind::Coproc(command) => {
                let functions = self.functions.len();
                self.command(command, place);
                self.functions.truncate(functions);
            }
        }
    }

    fn function(&mut self, name: Option<&str>, body: &Command<'t>, place: Place<'_, 't>) {
        let start = self.next();
        let definition =
            |name: Option<&str>, runs| Function { name: name.map(|name| Cow::Owned(name.to_owned())), runs };
        let Some(name) = name else {
            self.command(body, place);
            return self.actions.functions.push(definition(name, start..self.next()));
        };
        let functions = self.functions.len();
        let special = matches!(
            name,
            "." | ":"
                | "break"
                | "continue"
                | "eval"
                | "exec"
                | "exit"
                | "export"
                | "readonly"
                | "return"
                | "set"
                | "shift"
                | "source"
                | "times"
                | "trap"
                | "unset"
        );
        self.command(body, Place { is_certain: false, alongside: false, stdin: &Stdin::Inherited, ..place });
        self.actions.functions.push(definition(Some(name), start..self.next()));
        self.functions.truncate(functions);
        if place.is_certain && !special {
            self.functions.push(name.to_owned());
        } else {
            self.maybe.push(name.to_owned());
        }
    }

    /// Lists what variables give to programs.
    fn flows_of(&mut self, from: Vec<Range<usize>>, into: &Range<usize>, through: Through) {
        from.into_iter().for_each(|from| self.flow(from, into.clone(), through));
    }

    /// Returns the place that the next run gets in the list.
    const fn next(&self) -> usize {
        self.actions.runs.len()
    }

    fn flow(&mut self, from: Range<usize>, into: Range<usize>, through: Through) {
        if !from.is_empty() && !into.is_empty() {
            self.actions.flows.push(Flow { from, into, through });
        }
    }

    /// Says whose redirections these are.
    fn redirected(&mut self, redirects: Range<usize>, runs: Range<usize>) {
        for redirect in self.actions.redirects.get_mut(redirects).unwrap_or_default() {
            redirect.runs = runs.clone();
        }
    }

    /// Lists a run, and what runs because of it.
    pub(crate) fn run(&mut self, argv: Vec<Arg<'t>>, span: Span, place: Place<'_, 't>, open_ended: bool) {
        let is_direct = place.via.is_none() || place.called == Called::AsWritten;
        let mut called = place.called;
        if let (Some(name), true) = (argv.first().and_then(Arg::known), is_direct) {
            if matches!(name, "unset" | "unfunction" | "unalias" | "disable") {
                self.maybe.append(&mut self.functions);
            } else if self.functions.iter().any(|function| function == name) {
                called = Called::Function;
            } else if self.maybe.iter().any(|function| function == name) {
                self.hazard(HazardKind::Shadowed, span);
            }
        }
        if place.called == Called::Through {
            let Some(left) = self.handed_on.checked_sub(argv.len()) else {
                return self.hazard(HazardKind::TooDeep, span);
            };
            self.handed_on = left;
        }
        let alongside = place.alongside;
        let run = Run { argv, span, via: via::names(place.via), called, open_ended, alongside };
        if called != Called::Function {
            payload::follow(self, &run, place);
        }
        self.actions.runs.push(run);
    }

    /// Remembers that an alias of this name may be in effect.
    pub(crate) fn alias(&mut self, name: &str) {
        self.maybe.push(name.to_owned());
    }

    pub(crate) fn hazard(&mut self, kind: HazardKind, span: Span) {
        self.actions.hazards.push(Hazard { kind, span });
    }

    /// Reads a nested text and walks over it. `borrowed` is the text itself where it is part of the whole text.
    pub(crate) fn nested(&mut self, text: &str, borrowed: Option<&'t str>, span: Span, place: Place<'_, 't>) {
        let Some(budget) =
            self.budget.checked_sub(text.len()).filter(|_| place.texts < self.options.max_texts)
        else {
            return self.hazard(HazardKind::TooDeep, span);
        };
        self.budget = budget;
        let options = ReadOptions { shell: place.shell, ..self.options.clone() };
        match parser::parse(text, borrowed, Origin::Decoded(span), &options, Admission::Checked) {
            Ok(parsed) => {
                let place = Place {
                    heredocs: &parsed.heredocs,
                    called: Called::Through,
                    texts: place.texts + 1,
                    ..place
                };
                self.list(&parsed.list, place);
            }
            Err(refusal) => self.hazard(HazardKind::UnreadText(refusal.reason), span),
        }
    }
}
