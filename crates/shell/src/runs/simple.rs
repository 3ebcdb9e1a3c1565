//! Effects of simple commands: they run a program, set variables, open files.

use std::borrow::Cow;
use std::ops::Range;

use super::{Context, Set, Stdin, Walk};
use crate::actions::{
    Arg, Assignment, AssignmentScope, DataFlow, HazardKind, InvocationKind, Redirect, SubstitutionForm,
    VariableChange, WordCount,
};
use crate::braces::{arguments, single};
use crate::expansion::is_name;
use crate::options::Shell;
use crate::simple::is_declaration;
use crate::span::Span;
use crate::tree::{Assigned, AssignedValue, Marks, Piece, RedirectOperator, Redirected, Simple, Word};
use crate::values::{Value, of_text};
use crate::{builtins, evaluated, payload};

impl<'t> Walk<'t, '_> {
    pub(super) fn simple(&mut self, simple: &Simple<'t>, context: Context<'_, 't>) {
        let (around, start, set) = (self.shown.begin(), self.next(), self.actions.assignments.len());
        self.simple_command(simple, context);
        let named = self.shown.end(around);
        if named.names.is_empty() {
            return;
        }
        // A variable that it sets may contain its input: `read x <<< $y`.
        let set: Vec<String> =
            self.actions.assignments.iter().skip(set).map(|assignment| assignment.name.to_string()).collect();
        set.iter().for_each(|name| self.shown.copy(name, &named.names));
        self.uses(named, start..self.next());
    }

    fn simple_command(&mut self, simple: &Simple<'t>, context: Context<'_, 't>) {
        let (start, substitutions) = (self.next(), self.actions.substitutions.len());
        let (argv, mentioned) = self.arguments(simple, context);
        let as_written = written(simple, &argv, context.shell);
        let words = start..self.next();
        let is_modifier = |arg: &Arg<'_>| context.shell == Shell::Zsh && arg.known() == Some("nocorrect");
        let runs_nothing = argv.iter().all(is_modifier);
        let scope = if runs_nothing { AssignmentScope::Shell } else { self.scope_of(&argv) };
        for assigned in &simple.assignments {
            self.assigned(assigned, scope, context);
        }
        let (files, first) = (self.next(), self.actions.redirects.len());
        let around = self.var_sources.begin();
        let redirected = self.redirects(&simple.redirects, context);
        let read = self.var_sources.end(around);
        let (own, last) = (self.next(), self.actions.redirects.len());
        if runs_nothing
            && context.shell == Shell::Zsh
            && simple.assignments.is_empty()
            && !simple.redirects.is_empty()
        {
            // zsh copies the input when there is only a redirection, with the program that `NULLCMD` or
            // `READNULLCMD` names.
            self.run(vec![Arg::any()], simple.span, context, false);
        }
        if argv.is_empty() {
            return;
        }
        let stdin = redirected.as_ref().unwrap_or(context.stdin);
        let names = variables_set(&argv);
        let written = mentioned.iter().chain(&read).cloned().chain([words.clone(), files..own]);
        names.iter().for_each(|name| self.var_sources.set(name, written.clone()));
        self.run(argv, simple.span, Context { stdin, words: &as_written, ..context }, false);
        let run = own..self.next();
        self.redirected(first..last, run.clone());
        self.flow(files..own, run.clone(), DataFlow::Input);
        let inside = self.actions.substitutions.get(substitutions..).unwrap_or_default();
        if inside.iter().any(|substitution| substitution.form == SubstitutionForm::Process) {
            // `tee >(sh)`: the program's output goes into the substitution.
            self.flow(run.clone(), words.clone(), DataFlow::Input);
            self.flow(run.clone(), files..own, DataFlow::Input);
        }
        self.flow(words, run.clone(), DataFlow::Words);
        self.flows_of(mentioned, &run, DataFlow::Words);
        self.flows_of(read, &run, DataFlow::Input);
    }

    /// Returns the words of a command as arguments, and the substitutions in them.
    fn arguments(
        &mut self,
        simple: &Simple<'t>,
        context: Context<'_, 't>,
    ) -> (Vec<Arg<'t>>, Vec<Range<usize>>) {
        let mut argv = Vec::with_capacity(simple.words.len());
        let around = self.var_sources.begin();
        let mut in_name = 0;
        for (index, word) in simple.words.iter().enumerate() {
            self.word(word, context);
            if index > 0 && is_declared(simple, word, context.shell) {
                argv.push(single(word.pieces()));
            } else if let Some(array) = declared_array(simple, word) {
                argv.push(array);
            } else {
                arguments(word, context.shell, &mut argv);
            }
            if index == 0 {
                in_name = self.var_sources.count();
            }
        }
        self.var_sources.keep(match argv.first() {
            Some(Arg::Known(_)) => usize::MAX,
            // An uncertain program is identified by its prefix: `./bin/$x` runs a file, whatever the value of the
            // variable.
            Some(Arg::Unknown { prefix, .. }) if prefix.is_empty() => in_name,
            _ => 0,
        });
        (argv, self.var_sources.end(around))
    }

    fn assigned(&mut self, assigned: &Assigned<'t>, scope: AssignmentScope, context: Context<'_, 't>) {
        if !assigned.subscript.is_empty() {
            self.evaluates_names = true;
            self.expansions(&assigned.subscript, context);
        }
        self.subscript(&assigned.name, &assigned.index, assigned.span, context);
        let (start, around, shown) = (self.next(), self.var_sources.begin(), self.shown.begin());
        let value = match &assigned.value {
            AssignedValue::Word(word) => {
                self.word(word, context);
                single(word.pieces())
            }
            AssignedValue::Array(words) => {
                self.words(words, context);
                self.remember(words);
                Arg::any()
            }
        };
        let known = match &assigned.value {
            AssignedValue::Word(word) => self.value_of(word.pieces()),
            AssignedValue::Array(words) => self.value_of_words(words, context.shell),
        };
        self.keys(&assigned.name, &assigned.value, context);
        let (mentioned, shown) = (self.var_sources.end(around), self.shown.end(shown));
        self.shown.copy(&assigned.name, &shown.names);
        self.var_sources
            .set(&assigned.name, mentioned.into_iter().chain(std::iter::once(start..self.next())));
        let set = Set { value: known, is_definite: true, scope };
        // Appended text may be dangerous only together with the existing text.
        let value = if assigned.appends { Arg::any() } else { value };
        self.set(assigned.name.clone(), value, &set, assigned.span, context);
    }

    /// Returns the scope of assignments before a command.
    fn scope_of(&self, argv: &[Arg<'_>]) -> AssignmentScope {
        let is_replaced = |name: &str| self.functions.iter().chain(&self.maybe).any(|other| other == name);
        match argv.first().and_then(Arg::known) {
            Some(name @ ("read" | "mapfile" | "readarray")) if !is_replaced(name) => AssignmentScope::Reading,
            _ => AssignmentScope::Command,
        }
    }

    /// Lists an assignment, and the commands in its value.
    pub(crate) fn assign(
        &mut self,
        name: Cow<'t, str>,
        value: Arg<'t>,
        scope: AssignmentScope,
        span: Span,
        context: Context<'_, 't>,
    ) {
        let known = match &value {
            Arg::Known(text) => Value::written(of_text(text)),
            Arg::Unknown { .. } => Value::DATA,
        };
        let set = Set { value: known, is_definite: true, scope };
        self.set(name, value, &set, span, context);
    }

    /// Lists an assignment with more information than its value.
    pub(crate) fn set(
        &mut self,
        name: Cow<'t, str>,
        value: Arg<'t>,
        set: &Set,
        span: Span,
        context: Context<'_, 't>,
    ) {
        if let Some(text) = value.known() {
            self.remember_text(text, span);
        }
        let is_definite = set.is_definite && set.scope == AssignmentScope::Shell;
        self.known.assign(&name, &set.value, is_definite, span);
        if builtins::changes_reading(&name, context.shell) {
            self.hazard(HazardKind::ChangedShell, span);
        }
        // A zsh array has the content of the variable that it is tied to, as words.
        let tied = builtins::canonical(&name, context.shell);
        let (name, value) = tied.map_or((name, value), |tied| (Cow::Borrowed(tied), Arg::any()));
        match &*name {
            "PS4" if value.known().is_none() => self.hazard(HazardKind::PromptText, span),
            "PROMPT_COMMAND" => payload::text(self, &value, span, context),
            "PS0" | "PS1" | "PS2" | "PS3" | "PS4" | "RPS1" | "RPS2" => {
                evaluated::prompt(
                    self,
                    &value,
                    span,
                    Context { invocation: InvocationKind::Nested, ..context },
                );
            }
            _ => {}
        }
        let (scope, exported) = (set.scope, set.scope == AssignmentScope::Command);
        let change = VariableChange::Set;
        self.actions.assignments.push(Assignment { name, value, change, exported, scope, span });
    }

    /// Lists that a variable is unset, or exported, without a new value.
    pub(crate) fn change(
        &mut self,
        name: Cow<'t, str>,
        change: VariableChange,
        scope: AssignmentScope,
        span: Span,
        context: Context<'_, 't>,
    ) {
        if change == VariableChange::Unset && builtins::changes_reading(&name, context.shell) {
            self.hazard(HazardKind::ChangedShell, span);
        }
        let name = builtins::canonical(&name, context.shell).map_or(name, Cow::Borrowed);
        let exported = change == VariableChange::Exported;
        let value = Arg::Known(Cow::Borrowed(""));
        self.actions.assignments.push(Assignment { name, value, change, exported, scope, span });
    }

    /// Marks the last listed assignment as exported if `exports` is true.
    pub(crate) fn exports_last_if(&mut self, exports: bool) {
        if let Some(last) = self.actions.assignments.last_mut().filter(|_| exports) {
            last.exported = true;
        }
    }

    pub(super) fn remember(&mut self, words: &[Word<'t>]) {
        for word in words {
            if let Some(text) = single(word.pieces()).known() {
                self.remember_text(text, word.span);
            }
        }
    }

    /// Remembers a value that would run something if a builtin evaluated it.
    pub(crate) fn remember_text(&mut self, text: &str, span: Span) {
        if text.contains("$(") || text.contains('`') {
            self.values.push((text.to_owned(), span));
        }
    }

    /// Lists redirections, and returns the standard input that the last relevant one defines.
    pub(super) fn redirects(
        &mut self,
        redirects: &[Redirected<'t>],
        context: Context<'_, 't>,
    ) -> Option<Stdin> {
        let mut stdin = None;
        for redirected in redirects {
            let before = self.var_sources.count();
            let variable = redirected.descriptor.as_deref().and_then(|name| name.strip_prefix('{'));
            if let Some(name) = variable.and_then(|name| name.strip_suffix('}')) {
                let set = Set { value: Value::NUMBER, is_definite: false, scope: AssignmentScope::Shell };
                self.set(Cow::Owned(name.to_owned()), Arg::any(), &set, redirected.span, context);
                self.becomes_integer(name, redirected.span, context);
            }
            self.word(&redirected.target, context);
            if redirected.operator != RedirectOperator::HereString {
                // A variable in the name of a file is not the input.
                self.var_sources.keep(before);
            }
            let input = payload::input(redirected, context);
            if let Some(index) = redirected.heredoc {
                let body = context.heredocs.get(index).map_or(&[][..], |heredoc| &*heredoc.body);
                self.pieces(body, context);
            }
            // zsh reads the pipe and every redirection, one after the other.
            let joins =
                context.shell == Shell::Zsh && (stdin.is_some() || *context.stdin != Stdin::Inherited);
            stdin = input.map(|input| if joins { Stdin::Unknown } else { input }).or(stdin);
            if !matches!(redirected.operator, RedirectOperator::Heredoc | RedirectOperator::HereString) {
                let opened = targets(&redirected.target, context.shell).into_iter().map(|target| Redirect {
                    operator: redirected.operator,
                    descriptor: redirected.descriptor.clone(),
                    target,
                    runs: 0..0,
                    span: redirected.span,
                });
                self.actions.redirects.extend(opened);
            }
        }
        stdin
    }
}

/// Returns how the arguments of a builtin that evaluates them are written, one word for each.
fn written<'a, 't>(simple: &'a Simple<'t>, argv: &[Arg<'t>], shell: Shell) -> Vec<&'a Word<'t>> {
    let evaluates = |name: &str| {
        is_declaration(name) || builtins::evaluates(name) || builtins::setter(name, shell).is_some()
    };
    if !argv.first().and_then(Arg::known).is_some_and(evaluates) {
        return Vec::new();
    }
    let mut words = Vec::with_capacity(argv.len());
    for (index, word) in simple.words.iter().enumerate() {
        let mut found = Vec::new();
        if index > 0 && is_declared(simple, word, shell) {
            found.push(Arg::any());
        } else {
            arguments(word, shell, &mut found);
        }
        words.extend(std::iter::repeat_n(word, found.len()));
    }
    words
}

/// Whether a word is read as an assignment, that is, without splitting: `export A=$x`. Some of the shells called `sh`
/// split it, and so does bash if the name of the builtin is quoted.
fn is_declared(simple: &Simple<'_>, word: &Word<'_>, shell: Shell) -> bool {
    let declares = simple.words.first().and_then(Word::bare).is_some_and(|name| is_declaration(name));
    let assigns = || {
        let Some(Piece::Bare(text)) = word.pieces().first() else { return false };
        text.split_once('=').is_some_and(|(name, _)| is_name(name))
    };
    // Braces are expanded before, and an array is not a string.
    let is_plain = !word.marks.has(Marks::BRACE) && !word.marks.has(Marks::GLOB);
    shell != Shell::Sh && is_plain && declares && assigns()
}

/// Returns `name=(…)` of a declaration as a single argument, whatever its elements expand to.
fn declared_array<'t>(simple: &Simple<'t>, word: &Word<'t>) -> Option<Arg<'t>> {
    let name = simple.words.first().and_then(Word::bare)?;
    let (Piece::Bare(assigned), Piece::Bare(array)) = (word.pieces().first()?, word.pieces().last()?) else {
        return None;
    };
    let is_array = is_declaration(name) && !word.marks.has(Marks::GROUP) && array.starts_with('(');
    let prefix = assigned.clone();
    (is_array && prefix.ends_with('=')).then(|| Arg::Unknown {
        spelling: Cow::Owned(format!("{prefix}$()")),
        prefix,
        count: WordCount::One,
    })
}

/// Returns the variables that a builtin sets from its words or its input.
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

/// Returns the file that a redirection names. Of those that a pattern in parentheses may mean it is one.
fn targets<'t>(word: &Word<'t>, shell: Shell) -> Vec<Arg<'t>> {
    let mut targets = Vec::new();
    arguments(word, shell, &mut targets);
    if targets.len() == 1 || (word.marks.has(Marks::GROUP) && !targets.is_empty()) {
        targets
    } else {
        vec![Arg::any()]
    }
}
