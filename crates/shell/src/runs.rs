//! Walks over the parsed tree and lists its actions.
//!
//! This is a may-analysis, an abstract interpretation that joins by union: a word is either known or known by its
//! prefix, and whatever some path through the text can run is in the list. It keeps no state for branches, so that
//! each node of the tree is visited once and time is linear; the lost precision is reported (`Arg::Unknown`, the
//! hazards). CoLiS executes scripts symbolically and ShellCheck runs a data flow analysis on a control flow graph:
//! both know more about one script, and may visit a part of it repeatedly.
//!
//! Nothing is skipped because it might not happen: both sides of `||`, every arm of a `case` and the body of a
//! function that is never called are listed, because the text alone does not decide it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::ops::Range;

use crate::actions::{
    Actions, Arg, AssignmentScope, DataFlow, Flow, Function, HazardKind, InvocationKind, Run, ShellHazard,
    VariableUse,
};
use crate::braces::single;
use crate::call_chain::{self, CallChain};
use crate::options::{ReadOptions, Shell};
use crate::parser::{self, Admission, Parsed};
use crate::partial;
use crate::payload;
use crate::shown::{Named, Shown};
use crate::span::Span;
use crate::text::Origin;
use crate::tree::{Command, Compound, Heredoc, Item, Join, Kind, List, Pipeline, Prefix, Word};
use crate::values::{Value, Values};
use crate::var_sources::VarSources;

mod conditions;
mod expansions;
mod simple;
mod values;

pub(crate) use values::Set;

/// Lists the actions of `parsed`.
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
        words: &[],
    };
    walk.translated(parsed.translated);
    walk.list(&parsed.list, context);
    // Last, because a value counts wherever it was set: in a loop, its evaluation may come earlier in the text.
    walk.values_that_are_evaluated(context);
    walk.data_that_is_evaluated();
    let mut actions = walk.actions;
    if walk.exports_all {
        // Including earlier ones: they may be in a function that is called later.
        actions.assignments.iter_mut().for_each(|assignment| assignment.exported = true);
    }
    actions
}

/// The state of a walk.
#[derive(Debug)]
pub(crate) struct Walk<'t, 'o> {
    pub(crate) options: &'o ReadOptions,
    pub(crate) actions: Actions<'t>,
    /// How many bytes of nested texts may still be read.
    pub(crate) budget: usize,
    /// How many words may still be passed from one program to the next.
    handed_on: usize,
    /// Functions that are certainly defined here, the innermost scope last.
    functions: Vec<String>,
    /// Functions and aliases that may be defined here.
    maybe: Vec<String>,
    /// Values that would run something if they were evaluated.
    pub(crate) values: Vec<(String, Span)>,
    /// Programs that wrote the values of variables.
    var_sources: VarSources,
    /// Which variables are named.
    pub(crate) shown: Shown,
    /// Possible contents of variables.
    pub(crate) known: Values,
    /// Name references. Few texts have any.
    pub(crate) references: HashSet<String>,
    /// Whether `!(` may begin a pattern.
    pub(crate) has_patterns: bool,
    /// Whether every variable that is set is seen by programs: `set -a`.
    pub(crate) exports_all: bool,
    evaluates_names: bool,
    expands_prompts: bool,
}

/// Surroundings of the current part of the tree.
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
    /// The source words of a simple command, one for each of its arguments.
    pub(crate) words: &'a [&'a Word<'t>],
}

impl<'a, 't> Context<'a, 't> {
    /// Returns the source word of an argument, counted from the last one: wrappers remove words at the beginning.
    pub(crate) fn written(&self, from_end: usize) -> Option<&'a Word<'t>> {
        self.words.get(self.words.len().checked_sub(from_end)?).copied()
    }
}

/// Standard input of a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stdin {
    /// The standard input of the whole text.
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
            shown: Shown::default(),
            known: Values::default(),
            references: HashSet::new(),
            has_patterns: false,
            exports_all: false,
            evaluates_names: false,
            expands_prompts: false,
        }
    }

    pub(crate) fn list(&mut self, list: &List<'t>, context: Context<'_, 't>) {
        let mut is_certain = context.is_certain;
        let mut joined = Join::Sequence;
        // Where the chain of `&&` and `||` began, and where its first command ended.
        let mut assigned = self.known.enter();
        for Item { pipeline, then } in &list.items {
            // zsh measures in a subshell, which keeps the definitions there.
            let is_timed = context.shell == Shell::Zsh && pipeline.prefixes.contains(&Prefix::Time);
            // Definitions in a subshell end with it, so functions of a pipeline or a background job do not count
            // later.
            let in_shell = pipeline.commands.len() == 1 && *then != Join::Background && !is_timed;
            let alongside = context.alongside || !in_shell;
            let start = self.next();
            if joined == Join::Or {
                self.known.leave(assigned);
            }
            let before = self.known.enter();
            self.pipeline(pipeline, Context { is_certain: is_certain && in_shell, alongside, ..context });
            if !in_shell {
                self.known.leave(before);
            }
            if matches!(joined, Join::Sequence | Join::Background) {
                assigned = self.known.enter();
            }
            if matches!(then, Join::Sequence | Join::Background) {
                self.known.leave(assigned);
            }
            joined = *then;
            if *then == Join::Background {
                self.own_shell(start);
            }
            is_certain = context.is_certain && matches!(then, Join::Sequence | Join::Background);
        }
    }

    /// Walks over a list whose definitions do not outlive it.
    fn separate(&mut self, list: &List<'t>, context: Context<'_, 't>) {
        let (functions, start) = (self.functions.len(), self.next());
        let assigned = self.known.enter();
        self.list(list, Context { is_certain: true, ..context });
        self.known.leave(assigned);
        self.functions.truncate(functions);
        self.own_shell(start);
    }

    /// Records that the programs listed since `start` run in a subshell.
    pub(crate) fn own_shell(&mut self, start: usize) {
        if start < self.next() {
            self.actions.own_shells.push(start..self.next());
        }
    }

    fn pipeline(&mut self, pipeline: &Pipeline<'t>, context: Context<'_, 't>) {
        let functions = self.functions.len();
        if self.has_patterns && pipeline.prefixes.contains(&Prefix::Not) {
            self.negated_list(pipeline);
        }
        let mut stdin = context.stdin.clone();
        let mut before = self.next()..self.next();
        for (index, command) in pipeline.commands.iter().enumerate() {
            let (start, assigned) = (self.next(), self.known.enter());
            self.command(command, Context { stdin: &stdin, ..context });
            if pipeline.commands.len() > 1 {
                self.known.leave(assigned);
            }
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

    /// After `shopt -s extglob`, `!(a)` is a pattern for program names rather than a negated list.
    fn negated_list(&mut self, pipeline: &Pipeline<'t>) {
        if let Some(Command::Compound(compound)) = pipeline.commands.first()
            && matches!(compound.kind, Kind::Subshell(_))
        {
            self.hazard(HazardKind::ChangedShell, compound.span);
        }
    }

    /// Walks over parts of which each may or may not run, but the first.
    fn clauses(&mut self, lists: &[List<'t>], first_runs: bool, context: Context<'_, 't>) {
        for (index, list) in lists.iter().enumerate() {
            let assigned = self.known.enter();
            self.list(list, context);
            if index > 0 || !first_runs {
                self.known.leave(assigned);
            }
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
        let (around, shown) = (self.var_sources.begin(), self.shown.begin());
        let stdin = self.redirects(&compound.redirects, context).unwrap_or_else(|| context.stdin.clone());
        let (read, shown) = (self.var_sources.end(around), self.shown.end(shown));
        let (inside, last) = (self.next(), self.actions.redirects.len());
        self.compound_kind(compound, Context { stdin: &stdin, ..context });
        self.uses(shown, inside..self.next());
        self.redirected(first..last, inside..self.next());
        self.flow(start..inside, inside..self.next(), DataFlow::Input);
        self.flows_of(read, &(inside..self.next()), DataFlow::Input);
    }

    fn compound_kind(&mut self, compound: &Compound<'t>, context: Context<'_, 't>) {
        let maybe = Context { is_certain: false, ..context };
        match &compound.kind {
            Kind::Subshell(list) => self.separate(list, context),
            Kind::Group(list) => self.list(list, context),
            Kind::Clauses(lists) => self.clauses(lists, true, maybe),
            Kind::For { name, words, body } => self.for_words(name, words, body, compound.span, context),
            Kind::Counted { text, inside, body } => {
                self.evaluates_names = true;
                self.expansions(inside, context);
                // Only the first part is certain to be evaluated before the body runs.
                let (first, others) = text.split_once(';').unwrap_or((text, ""));
                let span = compound.span;
                self.arithmetic(first, span, context);
                let assigned = self.known.enter();
                self.arithmetic_events(others, false, span, context);
                self.list(body, maybe);
                self.known.leave(assigned);
            }
            Kind::Case { words, arms } => {
                let around = self.shown.begin();
                self.words(words, context);
                let named = self.shown.end(around);
                self.compared(named.names, compound.span);
                self.clauses(arms, false, maybe);
            }
            Kind::Arithmetic { text, inside, span } => {
                self.evaluates_names = true;
                let around = self.shown.begin();
                self.expansions(inside, context);
                let named = self.shown.end(around);
                self.compared(named.names, *span);
                self.arithmetic(text, *span, context);
            }
            Kind::Test(operands) => {
                let shown = self.test(operands, compound.span, context);
                // The matches of an expression are stored: `[[ $x =~ (.*) ]]`.
                ["BASH_REMATCH", "MATCH", "match"].iter().for_each(|name| self.shown.copy(name, &shown));
            }
            Kind::Function { name, body } => self.function(name.as_deref(), body, context),
            Kind::Coproc { name, command } => {
                let (functions, assigned) = (self.functions.len(), self.known.enter());
                self.command(command, context);
                self.functions.truncate(functions);
                self.known.leave(assigned);
                if let Some(name) = name {
                    let span = span_of(command);
                    self.assign(
                        Cow::Owned(name.to_string()),
                        Arg::any(),
                        AssignmentScope::Shell,
                        span,
                        context,
                    );
                }
            }
        }
    }

    fn for_words(
        &mut self,
        name: &str,
        words: &[Word<'t>],
        body: &List<'t>,
        whole: Span,
        context: Context<'_, 't>,
    ) {
        let (start, around, shown) = (self.next(), self.var_sources.begin(), self.shown.begin());
        self.words(words, context);
        self.remember(words);
        let (mentioned, shown) = (self.var_sources.end(around), self.shown.end(shown));
        self.shown.copy(name, &shown.names);
        self.var_sources.set(name, mentioned.into_iter().chain(std::iter::once(start..self.next())));
        let value = match words {
            // The arguments of the script, or a user's choice.
            [] => Value::DATA,
            words => self.value_of_words(words, context.shell),
        };
        let arg = match words {
            [word] => single(word.pieces()),
            _ => Arg::any(),
        };
        let span = words.first().map_or(whole, |word| word.span);
        // A loop makes it refer to one variable after the other.
        if self.references.contains(name) {
            self.hazard(HazardKind::UnknownVariable, span);
        }
        let assigned = self.known.enter();
        let set = Set { value, is_definite: true, scope: AssignmentScope::Shell };
        self.set(Cow::Owned(name.to_owned()), arg, &set, span, context);
        self.list(body, Context { is_certain: false, ..context });
        self.known.leave(assigned);
    }

    fn function(&mut self, name: Option<&str>, body: &Command<'t>, context: Context<'_, 't>) {
        let start = self.next();
        let definition =
            |name: Option<&str>, runs| Function { name: name.map(|name| Cow::Owned(name.to_owned())), runs };
        let Some(name) = name else {
            self.command(body, context);
            return self.actions.functions.push(definition(name, start..self.next()));
        };
        let (functions, assigned) = (self.functions.len(), self.known.enter());
        // POSIX finds special builtins before functions, bash only in POSIX mode: neither is certain.
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
        self.known.leave(assigned);
        if context.is_certain && !special {
            self.functions.push(name.to_owned());
        } else {
            self.maybe.push(name.to_owned());
        }
    }

    /// Lists the flows from variables to programs.
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

    /// Lists that commands receive the values of variables.
    fn uses(&mut self, named: Named, runs: Range<usize>) {
        let Named { names, parts } = named;
        if !names.is_empty() && !runs.is_empty() {
            self.actions.uses.push(VariableUse { names, parts, runs });
        }
    }

    /// Assigns redirections to their programs.
    fn redirected(&mut self, redirects: Range<usize>, runs: Range<usize>) {
        for redirect in self.actions.redirects.get_mut(redirects).unwrap_or_default() {
            redirect.runs = runs.clone();
        }
    }

    /// Lists a run, and everything that it runs.
    pub(crate) fn run(&mut self, argv: Vec<Arg<'t>>, span: Span, context: Context<'_, 't>, open_ended: bool) {
        let is_direct = context.call_chain.is_none() || context.invocation == InvocationKind::AsWritten;
        let mut invocation = context.invocation;
        if let (Some(name), true) = (argv.first().and_then(Arg::known), is_direct) {
            // These may remove definitions, so a later call is no longer certain to be the function.
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
        let input = self.code_on_input(&argv, &context);
        let run = Run {
            argv,
            span,
            call_chain: call_chain::names(context.call_chain),
            invocation,
            open_ended,
            alongside,
            input,
        };
        if invocation != InvocationKind::Function {
            payload::follow(self, &run, context);
        }
        self.actions.runs.push(run);
    }

    /// Returns the text on the standard input of an interpreter of a programming language. It is charged to the budget.
    fn code_on_input(&mut self, argv: &[Arg<'t>], context: &Context<'_, 't>) -> Option<String> {
        const INTERPRETERS: &[&str] = &["python", "pypy", "node", "deno", "bun", "ruby", "perl", "php"];
        let Stdin::Text(text) = context.stdin else { return None };
        let name = argv.first()?.known()?.rsplit('/').next()?;
        INTERPRETERS.iter().find(|interpreter| name.starts_with(**interpreter))?;
        self.budget = self.budget.checked_sub(text.len())?;
        Some(text.clone())
    }

    /// Remembers that an alias of this name may be in effect.
    pub(crate) fn alias(&mut self, name: &str) {
        self.maybe.push(name.to_owned());
    }

    pub(crate) fn hazard(&mut self, kind: HazardKind, span: Span) {
        self.actions.hazards.push(ShellHazard { kind, span });
    }

    /// Charges a nested text to the budget and returns its options; `None` if the budget is exceeded.
    fn spend(&mut self, text: &str, span: Span, context: &Context<'_, 't>) -> Option<ReadOptions> {
        let left = self.budget.checked_sub(text.len()).filter(|_| context.texts < self.options.max_texts);
        match left {
            Some(budget) => self.budget = budget,
            None => self.hazard(HazardKind::TooDeep, span),
        }
        left.map(|_| ReadOptions { shell: context.shell, ..self.options.clone() })
    }

    /// Parses a nested text and walks over it. `borrowed` is the text itself if it is part of the whole text.
    pub(crate) fn nested(
        &mut self,
        text: &str,
        borrowed: Option<&'t str>,
        span: Span,
        context: Context<'_, 't>,
    ) {
        let Some(options) = self.spend(text, span, &context) else { return };
        match parser::parse(text, borrowed, Origin::Decoded(span), &options, Admission::Checked) {
            Ok(parsed) => self.nested_list(&parsed, context),
            Err(error) => {
                self.hazard(HazardKind::UnreadText(error.kind), span);
                let partly = partial::parse_partly(text, borrowed, Origin::Decoded(span), &options);
                if partly.is_cut {
                    self.hazard(HazardKind::TooDeep, span);
                }
                self.nested_list(&partly.parsed, context);
            }
        }
    }

    /// Parses a text that may be a command, and walks over the understood part. A failure is not reported.
    pub(crate) fn nested_perhaps(&mut self, text: &str, span: Span, context: Context<'_, 't>) {
        let Some(options) = self.spend(text, span, &context) else { return };
        let parsed = parser::parse(text, None, Origin::Decoded(span), &options, Admission::Checked);
        let partly = || partial::parse_partly(text, None, Origin::Decoded(span), &options).parsed;
        let parsed = parsed.unwrap_or_else(|_| partly());
        self.nested_list(&parsed, context);
    }

    fn nested_list(&mut self, parsed: &Parsed<'t>, context: Context<'_, 't>) {
        let context = Context {
            heredocs: &parsed.heredocs,
            invocation: InvocationKind::Nested,
            texts: context.texts + 1,
            words: &[],
            ..context
        };
        self.translated(parsed.translated);
        let assigned = self.known.enter();
        self.list(&parsed.list, context);
        self.known.leave(assigned);
    }

    /// Notes that a text is translated before it is expanded, where one is.
    pub(crate) fn translated(&mut self, at: Option<Span>) {
        at.into_iter().for_each(|span| self.hazard(HazardKind::TranslatedText, span));
    }
}

/// Returns where a command is written.
const fn span_of(command: &Command<'_>) -> Span {
    match command {
        Command::Simple(simple) => simple.span,
        Command::Compound(compound) => compound.span,
    }
}
