//! Walks over what was read and lists what it does.
//!
//! Nothing is skipped because it might not happen: both sides of `||`, every arm of a `case` and the body of a
//! function that is never called are listed, for the text alone does not tell.

use std::borrow::Cow;
use std::ops::Range;

use super::actions::{
    Actions, Arg, Assignment, AssignmentScope, Called, Flow, Function, Hazard, HazardKind, Redirect, Run,
    Substitution, SubstitutionForm, Through,
};
use super::braces::{arguments, single};
use super::held::Held;
use super::options::{ReadOptions, Shell};
use super::parser::{self, Admission, Parsed};
use super::simple::is_declaration;
use super::span::Span;
use super::text::Origin;
use super::tree::{
    Action, Assigned, AssignedValue, Command, Compound, Expansion, ExpansionKind, Heredoc, Item, Join, Kind,
    List, Piece, Pipeline, Prefix, RedirectOperator, Redirected, Role, Simple, Word,
};
use super::via::{self, Via};
use super::{evaluated, payload};

/// Lists what `parsed` does.
pub(super) fn actions<'t>(parsed: &Parsed<'t>, options: &ReadOptions) -> Actions<'t> {
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
pub(super) struct Walk<'t, 'o> {
    pub(super) options: &'o ReadOptions,
    pub(super) actions: Actions<'t>,
    /// How many bytes of nested texts may still be read.
    pub(super) budget: usize,
    /// Functions that are certainly defined here, the innermost scope last.
    functions: Vec<String>,
    /// Functions and aliases that may be defined here.
    maybe: Vec<String>,
    /// Values that would run something if they were evaluated.
    pub(super) values: Vec<(String, Span)>,
    /// What variables hold.
    held: Held,
    evaluates_names: bool,
    expands_prompts: bool,
}

/// What surrounds the part that is being walked over.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a, 't> {
    pub(super) heredocs: &'a [Heredoc<'t>],
    pub(super) via: Option<&'a Via<'a>>,
    pub(super) called: Called,
    pub(super) stdin: &'a Stdin,
    /// Whether it runs whenever the text runs, in the shell itself.
    pub(super) is_certain: bool,
    /// Whether it runs beside other programs.
    pub(super) alongside: bool,
    /// In how many texts it is nested.
    pub(super) texts: usize,
    pub(super) shell: Shell,
}

/// What a command reads from its standard input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Stdin {
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
            budget: options.max_bytes.saturating_mul(options.max_texts),
            functions: Vec::new(),
            maybe: Vec::new(),
            values: Vec::new(),
            held: Held::default(),
            evaluates_names: false,
            expands_prompts: false,
        }
    }

    pub(super) fn list(&mut self, list: &List<'t>, place: Place<'_, 't>) {
        let mut is_certain = place.is_certain;
        for Item { pipeline, then } in &list.items {
            // zsh measures in a shell of its own, which keeps what is defined there.
            let is_timed = place.shell == Shell::Zsh && pipeline.prefixes.contains(&Prefix::Time);
            let in_shell = pipeline.commands.len() == 1 && *then != Join::Background && !is_timed;
            let alongside = place.alongside || !in_shell;
            self.pipeline(pipeline, Place { is_certain: is_certain && in_shell, alongside, ..place });
            is_certain = place.is_certain && matches!(then, Join::Sequence | Join::Background);
        }
    }

    /// Walks over a list whose definitions do not outlive it.
    fn separate(&mut self, list: &List<'t>, place: Place<'_, 't>) {
        let functions = self.functions.len();
        self.list(list, Place { is_certain: true, ..place });
        self.functions.truncate(functions);
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'t>, place: Place<'_, 't>) {
        let functions = self.functions.len();
        let mut stdin = place.stdin.clone();
        let mut before = self.next()..self.next();
        for (index, command) in pipeline.commands.iter().enumerate() {
            let start = self.next();
            self.command(command, Place { stdin: &stdin, ..place });
            let stage = start..self.next();
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
            Kind::For { words, body } => {
                self.words(words, place);
                self.remember(words);
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

    fn simple(&mut self, simple: &Simple<'t>, place: Place<'_, 't>) {
        let (start, substitutions) = (self.next(), self.actions.substitutions.len());
        let mut argv = Vec::with_capacity(simple.words.len());
        let around = self.held.begin();
        let mut in_name = 0;
        for (index, word) in simple.words.iter().enumerate() {
            self.word(word, place);
            arguments(word, place.shell, &mut argv);
            if index == 0 {
                in_name = self.held.count();
            }
        }
        self.held.keep(match argv.first() {
            Some(Arg::Known(_)) => usize::MAX,
            // A program that is not certain is what it begins with: `./bin/$x` runs a file, whatever the variable holds.
            Some(Arg::Unknown { prefix, .. }) if prefix.is_empty() => in_name,
            _ => 0,
        });
        let mentioned = self.held.end(around);
        let words = start..self.next();
        let scope = if simple.words.is_empty() { AssignmentScope::Shell } else { AssignmentScope::Command };
        for assigned in &simple.assignments {
            self.assigned(assigned, scope, place);
        }
        let (files, first) = (self.next(), self.actions.redirects.len());
        let around = self.held.begin();
        let redirected = self.redirects(&simple.redirects, place);
        let read = self.held.end(around);
        let (own, last) = (self.next(), self.actions.redirects.len());
        if argv.is_empty()
            && place.shell == Shell::Zsh
            && simple.assignments.is_empty()
            && !simple.redirects.is_empty()
        {
            // zsh copies the input when there is only a redirection, with the program that `NULLCMD` or
            // `READNULLCMD` names.
            self.run(vec![Arg::any()], simple.span, place, false);
        }
        if argv.is_empty() {
            return;
        }
        let stdin = redirected.as_ref().unwrap_or(place.stdin);
        let names = variables_set(&argv);
        let written = mentioned.iter().chain(&read).cloned().chain([words.clone(), files..own]);
        names.iter().for_each(|name| self.held.set(name, written.clone()));
        self.run(argv, simple.span, Place { stdin, ..place }, false);
        let run = own..self.next();
        self.redirected(first..last, run.clone());
        self.flow(files..own, run.clone(), Through::Input);
        let inside = self.actions.substitutions.get(substitutions..).unwrap_or_default();
        if inside.iter().any(|substitution| substitution.form == SubstitutionForm::Process) {
            // `tee >(sh)`: what the program writes goes into the substitution.
            self.flow(run.clone(), words.clone(), Through::Input);
            self.flow(run.clone(), files..own, Through::Input);
        }
        self.flow(words, run.clone(), Through::Words);
        self.flows_of(mentioned, &run, Through::Words);
        self.flows_of(read, &run, Through::Input);
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
    pub(super) fn run(&mut self, argv: Vec<Arg<'t>>, span: Span, place: Place<'_, 't>, open_ended: bool) {
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
        let alongside = place.alongside;
        let run = Run { argv, span, via: via::names(place.via), called, open_ended, alongside };
        if called != Called::Function {
            payload::follow(self, &run, place);
        }
        self.actions.runs.push(run);
    }

    /// Remembers that an alias of this name may be in effect.
    pub(super) fn alias(&mut self, name: &str) {
        self.maybe.push(name.to_owned());
    }

    pub(super) fn hazard(&mut self, kind: HazardKind, span: Span) {
        self.actions.hazards.push(Hazard { kind, span });
    }

    fn assigned(&mut self, assigned: &Assigned<'t>, scope: AssignmentScope, place: Place<'_, 't>) {
        if !assigned.subscript.is_empty() {
            self.evaluates_names = true;
            self.expansions(&assigned.subscript, place);
        }
        let (start, around) = (self.next(), self.held.begin());
        let value = match &assigned.value {
            AssignedValue::Word(word) => {
                self.word(word, place);
                single(word.pieces())
            }
            AssignedValue::Array(words) => {
                self.words(words, place);
                self.remember(words);
                Arg::any()
            }
        };
        let mentioned = self.held.end(around);
        self.held.set(&assigned.name, mentioned.into_iter().chain(std::iter::once(start..self.next())));
        self.assign(assigned.name.clone(), value, scope, assigned.span, place);
    }

    /// Lists an assignment, and what its value makes the shell run.
    pub(super) fn assign(
        &mut self,
        name: Cow<'t, str>,
        value: Arg<'t>,
        scope: AssignmentScope,
        span: Span,
        place: Place<'_, 't>,
    ) {
        if let Some(text) = value.known() {
            self.remember_text(text, span);
        }
        match &*name {
            "PROMPT_COMMAND" => payload::text(self, &value, span, place),
            "PS0" | "PS1" | "PS2" | "PS3" | "PS4" | "PROMPT" | "RPROMPT" => {
                evaluated::prompt(self, &value, span, Place { called: Called::Through, ..place });
            }
            _ => {}
        }
        self.actions.assignments.push(Assignment { name, value, scope, span });
    }

    fn remember(&mut self, words: &[Word<'t>]) {
        for word in words {
            if let Some(text) = single(word.pieces()).known() {
                self.remember_text(text, word.span);
            }
        }
    }

    /// Remembers a value that would run something if a builtin evaluated it.
    pub(super) fn remember_text(&mut self, text: &str, span: Span) {
        if text.contains("$(") || text.contains('`') {
            self.values.push((text.to_owned(), span));
        }
    }

    /// Lists redirections, and returns what the last of them that concerns it makes of the standard input.
    fn redirects(&mut self, redirects: &[Redirected<'t>], place: Place<'_, 't>) -> Option<Stdin> {
        let mut stdin = None;
        for redirected in redirects {
            let before = self.held.count();
            self.word(&redirected.target, place);
            if redirected.operator != RedirectOperator::HereString {
                // A variable in the name of a file is not what is read.
                self.held.keep(before);
            }
            let input = payload::input(redirected, place);
            if let Some(index) = redirected.heredoc {
                let body = place.heredocs.get(index).map_or(&[][..], |heredoc| heredoc.body.as_slice());
                self.pieces(body, place);
            }
            stdin = input.or(stdin);
            if !matches!(redirected.operator, RedirectOperator::Heredoc | RedirectOperator::HereString) {
                self.actions.redirects.push(Redirect {
                    operator: redirected.operator,
                    descriptor: redirected.descriptor.clone(),
                    target: target(&redirected.target, place.shell),
                    runs: 0..0,
                    span: redirected.span,
                });
            }
        }
        stdin
    }

    fn words(&mut self, words: &[Word<'t>], place: Place<'_, 't>) {
        words.iter().for_each(|word| self.word(word, place));
    }

    fn word(&mut self, word: &Word<'t>, place: Place<'_, 't>) {
        self.pieces(word.pieces(), place);
    }

    pub(super) fn pieces(&mut self, pieces: &[Piece<'t>], place: Place<'_, 't>) {
        for piece in pieces {
            if let Piece::Expansion(expansion) = piece {
                self.expansion(expansion, place);
            }
        }
    }

    fn expansions(&mut self, expansions: &[Expansion<'t>], place: Place<'_, 't>) {
        expansions.iter().for_each(|expansion| self.expansion(expansion, place));
    }

    fn expansion(&mut self, expansion: &Expansion<'t>, place: Place<'_, 't>) {
        match &expansion.kind {
            ExpansionKind::Command(list) => {
                self.substitution(SubstitutionForm::Dollar, list, expansion.span, place);
            }
            ExpansionKind::Backtick(list) => {
                self.substitution(SubstitutionForm::Backtick, list, expansion.span, place);
            }
            ExpansionKind::Process(list) => {
                self.substitution(SubstitutionForm::Process, list, expansion.span, place);
            }
            ExpansionKind::Arithmetic { evaluates_names, inside } => {
                self.evaluates_names |= evaluates_names;
                self.expansions(inside, place);
            }
            ExpansionKind::Parameter { name, action, inside } => {
                self.held.mention(name);
                self.evaluates_names |= *action == Action::Indirect;
                if *action == Action::Prompt {
                    self.expands_prompts = true;
                    self.hazard(HazardKind::PromptText, expansion.span);
                }
                self.expansions(inside, place);
            }
        }
    }

    fn substitution(&mut self, form: SubstitutionForm, list: &List<'t>, span: Span, place: Place<'_, 't>) {
        self.actions.substitutions.push(Substitution { form, span });
        self.separate(list, Place { alongside: false, ..place });
    }

    /// A value that holds a substitution runs it when arithmetic, an indirection or a prompt evaluates the value.
    fn values_that_are_evaluated(&mut self, place: Place<'_, 't>) {
        for (text, span) in std::mem::take(&mut self.values) {
            let value = Arg::Known(Cow::Owned(text));
            if self.expands_prompts {
                evaluated::prompt(self, &value, span, place);
            } else if self.evaluates_names {
                evaluated::text(self, &value, span, place);
            }
        }
    }

    /// Reads a nested text and walks over it. `borrowed` is the text itself where it is part of the whole text.
    pub(super) fn nested(&mut self, text: &str, borrowed: Option<&'t str>, span: Span, place: Place<'_, 't>) {
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

/// Returns the variables that a builtin sets from its words or from what it reads.
fn variables_set(argv: &[Arg<'_>]) -> Vec<String> {
    let Some((name, words)) = argv.split_first() else { return Vec::new() };
    let reads = matches!(name.known(), Some("read" | "mapfile" | "readarray"));
    if !reads && !name.known().is_some_and(is_declaration) {
        return Vec::new();
    }
    let name_in = |word: &Arg<'_>| {
        let written = match word {
            Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
        };
        let name = written.split_once('=').map_or(&**written, |(name, _)| name);
        (!name.starts_with('-')).then(|| name.strip_suffix('+').unwrap_or(name).to_owned())
    };
    words.iter().filter_map(name_in).collect()
}

/// Returns the file that a redirection names.
fn target<'t>(word: &Word<'t>, shell: Shell) -> Arg<'t> {
    let mut targets = Vec::new();
    arguments(word, shell, &mut targets);
    match <[Arg<'t>; 1]>::try_from(targets) {
        Ok([target]) => target,
        Err(_) => Arg::any(),
    }
}
