//! Walks over what was read and lists what it does.
//!
//! This is a may-analysis, an abstract interpretation that joins by union: a word is either known or known by its
//! beginning, and whatever some path through the text can run is in the list. It keeps no state for branches, so that each
//! node of the tree is visited once and time stays proportional to the text; what that loses in precision is made up for by
//! saying so (`Arg::Unknown`, the hazards). CoLiS executes scripts symbolically and ShellCheck runs a data flow analysis
//! on a control flow graph: both know more about one script, and may come back to a part of it.
//!
//! Nothing is skipped because it might not happen: both sides of `||`, every arm of a `case` and the body of a
//! function that is never called are listed, for the text alone does not tell.

use std::borrow::Cow;
use std::ops::Range;

use crate::actions::{Actions, Arg, DataFlow, Flow, Function, HazardKind, InvocationKind, Run, ShellHazard};
use crate::braces::single;
use crate::call_chain::{self, CallChain};
use crate::options::{ReadOptions, Shell};
use crate::parser::{self, Admission, Parsed};
use crate::span::Span;
use crate::text::Origin;
use crate::tree::{Command, Compound, Heredoc, Item, Join, Kind, List, Pipeline, Prefix, Role};
use crate::var_sources::VarSources;
use crate::{evaluated, payload};

mod expansions;
mod simple;

/// Lists what `parsed` does.
pub(crate) fn actions<'t>(parsed: &Parsed<'t>, options: &ReadOptions) -> Actions<'t> {
    let mut walk = Walk::new(options);
    let stdin = Stdin::Inherited;
    let context = Context {
        heredocs: &parsed.heredocs,
        call_chain: None,
        invocation: InvocationKind::AsWritten,
        stdin: &stdin,
        is_certain: true,
        alongside: false,
        texts: 0,
        shell: options.shell,
    };
    walk.list(&parsed.list, context);
    // Last, because a value counts wherever it was set: what evaluates it may stand before in the text, in a loop.
    walk.values_that_are_evaluated(context);
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
    var_sources: VarSources,
    evaluates_names: bool,
    expands_prompts: bool,
}

/// What surrounds the part that is being walked over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a, 't> {
    pub(crate) heredocs: &'a [Heredoc<'t>],
    pub(crate) call_chain: Option<&'a CallChain<'a>>,
    pub(crate) invocation: InvocationKind,
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
            var_sources: VarSources::default(),
            evaluates_names: false,
            expands_prompts: false,
        }
    }

    pub(crate) fn list(&mut self, list: &List<'t>, context: Context<'_, 't>) {
        let mut is_certain = context.is_certain;
        for Item { pipeline, then } in &list.items {
            // zsh measures in a shell of its own, which keeps what is defined there.
            let is_timed = context.shell == Shell::Zsh && pipeline.prefixes.contains(&Prefix::Time);
            // What is defined in a subshell is gone after it, so functions of a pipeline or a background job do not count later.
            let in_shell = pipeline.commands.len() == 1 && *then != Join::Background && !is_timed;
            let alongside = context.alongside || !in_shell;
            let start = self.next();
            self.pipeline(pipeline, Context { is_certain: is_certain && in_shell, alongside, ..context });
            if *then == Join::Background {
                self.own_shell(start);
            }
            is_certain = context.is_certain && matches!(then, Join::Sequence | Join::Background);
        }
    }

    /// Walks over a list whose definitions do not outlive it.
    fn separate(&mut self, list: &List<'t>, context: Context<'_, 't>) {
        let (functions, start) = (self.functions.len(), self.next());
        self.list(list, Context { is_certain: true, ..context });
        self.functions.truncate(functions);
        self.own_shell(start);
    }

    /// Notes that what was listed since `start` runs in a shell of its own.
    pub(crate) fn own_shell(&mut self, start: usize) {
        if start < self.next() {
            self.actions.own_shells.push(start..self.next());
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'t>, context: Context<'_, 't>) {
        let functions = self.functions.len();
        let mut stdin = context.stdin.clone();
        let mut before = self.next()..self.next();
        for (index, command) in pipeline.commands.iter().enumerate() {
            let start = self.next();
            self.command(command, Context { stdin: &stdin, ..context });
            let stage = start..self.next();
            // The last command runs in the shell itself in zsh, and in some of those that are called `sh`.
            if index + 1 < pipeline.commands.len() || (index > 0 && context.shell == Shell::Bash) {
                self.own_shell(start);
            }
            self.flow(before, stage.clone(), DataFlow::Input);
            before = stage;
            if index + 1 < pipeline.commands.len() {
                stdin = payload::output(command, context).map_or(Stdin::Unknown, Stdin::Text);
            }
        }
        if pipeline.commands.len() > 1 {
            self.functions.truncate(functions);
        }
    }

    fn command(&mut self, command: &Command<'t>, context: Context<'_, 't>) {
        match command {
            Command::Simple(simple) => self.simple(simple, context),
            Command::Compound(compound) => self.compound(compound, context),
        }
    }

    fn compound(&mut self, compound: &Compound<'t>, context: Context<'_, 't>) {
        let (start, first) = (self.next(), self.actions.redirects.len());
        let around = self.var_sources.begin();
        let stdin = self.redirects(&compound.redirects, context).unwrap_or_else(|| context.stdin.clone());
        let read = self.var_sources.end(around);
        let (inside, last) = (self.next(), self.actions.redirects.len());
        self.compound_kind(compound, Context { stdin: &stdin, ..context });
        self.redirected(first..last, inside..self.next());
        self.flow(start..inside, inside..self.next(), DataFlow::Input);
        self.flows_of(read, &(inside..self.next()), DataFlow::Input);
    }

    fn compound_kind(&mut self, compound: &Compound<'t>, context: Context<'_, 't>) {
        let maybe = Context { is_certain: false, ..context };
        match &compound.kind {
            Kind::Subshell(list) => self.separate(list, context),
            Kind::Group(list) => self.list(list, context),
            Kind::Clauses(lists) => lists.iter().for_each(|list| self.list(list, maybe)),
            Kind::For { name, words, body } => {
                let (start, around) = (self.next(), self.var_sources.begin());
                self.words(words, context);
                self.remember(words);
                let mentioned = self.var_sources.end(around);
                self.var_sources.set(name, mentioned.into_iter().chain(std::iter::once(start..self.next())));
                self.list(body, maybe);
            }
            Kind::Counted { arithmetic, body } => {
                self.evaluates_names = true;
                self.expansions(arithmetic, context);
                self.list(body, maybe);
            }
            Kind::Case { words, arms } => {
                self.words(words, context);
                arms.iter().for_each(|arm| self.list(arm, maybe));
            }
            Kind::Arithmetic(inside) => {
                self.evaluates_names = true;
                self.expansions(inside, context);
            }
            Kind::Test(operands) => {
                for operand in operands {
                    self.word(&operand.word, context);
                    if operand.role == Role::Evaluated {
                        self.evaluates_names = true;
                        evaluated::text(self, &single(operand.word.pieces()), operand.word.span, context);
                    }
                }
            }
            Kind::Function { name, body } => self.function(name.as_deref(), body, context),
            Kind::Coproc(command) => {
                let functions = self.functions.len();
                self.command(command, context);
                self.functions.truncate(functions);
            }
        }
    }

    fn function(&mut self, name: Option<&str>, body: &Command<'t>, context: Context<'_, 't>) {
        let start = self.next();
        let definition =
            |name: Option<&str>, runs| Function { name: name.map(|name| Cow::Owned(name.to_owned())), runs };
        let Some(name) = name else {
            self.command(body, context);
            return self.actions.functions.push(definition(name, start..self.next()));
        };
        let functions = self.functions.len();
        // POSIX finds special builtins before functions, bash does not unless told so: neither is certain.
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
        self.command(
            body,
            Context { is_certain: false, alongside: false, stdin: &Stdin::Inherited, ..context },
        );
        self.actions.functions.push(definition(Some(name), start..self.next()));
        self.functions.truncate(functions);
        if context.is_certain && !special {
            self.functions.push(name.to_owned());
        } else {
            self.maybe.push(name.to_owned());
        }
    }

    /// Lists what variables give to programs.
    fn flows_of(&mut self, from: Vec<Range<usize>>, into: &Range<usize>, through: DataFlow) {
        from.into_iter().for_each(|from| self.flow(from, into.clone(), through));
    }

    /// Returns the place that the next run gets in the list.
    const fn next(&self) -> usize {
        self.actions.runs.len()
    }

    fn flow(&mut self, from: Range<usize>, into: Range<usize>, through: DataFlow) {
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
    pub(crate) fn run(&mut self, argv: Vec<Arg<'t>>, span: Span, context: Context<'_, 't>, open_ended: bool) {
        let is_direct = context.call_chain.is_none() || context.invocation == InvocationKind::AsWritten;
        let mut invocation = context.invocation;
        if let (Some(name), true) = (argv.first().and_then(Arg::known), is_direct) {
            // Whatever was defined may be gone after these, so a later call of it is no longer certain to be the function.
            if matches!(name, "unset" | "unfunction" | "unalias" | "disable") {
                self.maybe.append(&mut self.functions);
            } else if self.functions.iter().any(|function| function == name) {
                invocation = InvocationKind::Function;
            } else if self.maybe.iter().any(|function| function == name) {
                self.hazard(HazardKind::Shadowed, span);
            }
        }
        // Words that one program hands to the next are paid for once each: `xargs` behind `xargs` must not multiply them.
        if context.invocation == InvocationKind::Nested {
            let Some(left) = self.handed_on.checked_sub(argv.len()) else {
                return self.hazard(HazardKind::TooDeep, span);
            };
            self.handed_on = left;
        }
        let alongside = context.alongside;
        let run = Run {
            argv,
            span,
            call_chain: call_chain::names(context.call_chain),
            invocation,
            open_ended,
            alongside,
        };
        if invocation != InvocationKind::Function {
            payload::follow(self, &run, context);
        }
        self.actions.runs.push(run);
    }

    /// Remembers that an alias of this name may be in effect.
    pub(crate) fn alias(&mut self, name: &str) {
        self.maybe.push(name.to_owned());
    }

    pub(crate) fn hazard(&mut self, kind: HazardKind, span: Span) {
        self.actions.hazards.push(ShellHazard { kind, span });
    }

    /// Reads a nested text and walks over it. `borrowed` is the text itself where it is part of the whole text.
    pub(crate) fn nested(
        &mut self,
        text: &str,
        borrowed: Option<&'t str>,
        span: Span,
        context: Context<'_, 't>,
    ) {
        let Some(budget) =
            self.budget.checked_sub(text.len()).filter(|_| context.texts < self.options.max_texts)
        else {
            return self.hazard(HazardKind::TooDeep, span);
        };
        self.budget = budget;
        let options = ReadOptions { shell: context.shell, ..self.options.clone() };
        match parser::parse(text, borrowed, Origin::Decoded(span), &options, Admission::Checked) {
            Ok(parsed) => {
                let context = Context {
                    heredocs: &parsed.heredocs,
                    invocation: InvocationKind::Nested,
                    texts: context.texts + 1,
                    ..context
                };
                self.list(&parsed.list, context);
            }
            Err(error) => self.hazard(HazardKind::UnreadText(error.kind), span),
        }
    }
}
