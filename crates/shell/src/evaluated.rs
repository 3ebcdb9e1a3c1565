//! Quoted text that a builtin evaluates: `test -v 'a[$(id)]'` runs `id`.

use std::borrow::Cow;

use crate::actions::{Arg, AssignmentScope, HazardKind, InvocationKind, VariableChange};
use crate::builtins;
use crate::options::{ReadOptions, Shell};
use crate::parser;
use crate::runs::{Context, Walk};
use crate::shell_options::{self, Change};
use crate::simple::is_declaration;
use crate::span::Span;
use crate::values::Holds;

mod declared;
mod named;

use declared::declared;
pub(crate) use declared::{Declared, behind};
use named::set_by_name;

/// Lists the commands that run when `arg` is evaluated as arithmetic or as the name of a variable.
pub(crate) fn text<'t>(walk: &mut Walk<'t, '_>, arg: &Arg<'t>, span: Span, context: Context<'_, 't>) {
    let Some(text) = arg.known() else { return };
    // bash(1), Arrays: a subscript is evaluated as arithmetic after its expansions, even if quotes prevented the
    // shell from expanding it before.
    if text.contains('[') && holds_substitution(text) {
        substitutions(
            walk,
            text,
            HazardKind::EvaluatedText,
            span,
            Context { invocation: InvocationKind::Nested, ..context },
        );
    }
}

/// Lists the commands that run when `arg` is expanded as a prompt.
pub(crate) fn prompt<'t>(walk: &mut Walk<'t, '_>, arg: &Arg<'t>, span: Span, context: Context<'_, 't>) {
    match arg.known() {
        Some(text) if holds_substitution(text) => {
            substitutions(walk, text, HazardKind::PromptText, span, context);
        }
        _ => {}
    }
}

fn holds_substitution(text: &str) -> bool {
    text.contains("$(") || text.contains('`')
}

fn substitutions<'t>(
    walk: &mut Walk<'t, '_>,
    text: &str,
    kind: HazardKind,
    span: Span,
    context: Context<'_, 't>,
) {
    walk.hazard(kind, span);
    // Texts may be nested: all of them together are limited to the size of one.
    let Some(budget) = walk.budget.checked_sub(text.len()) else {
        return walk.hazard(HazardKind::TooDeep, span);
    };
    walk.budget = budget;
    let options = ReadOptions { shell: context.shell, ..walk.options.clone() };
    let expanded = parser::parse_expanded(text, span, &options);
    if let Some(error) = expanded.error {
        walk.hazard(HazardKind::UnreadText(error.kind), span);
    }
    walk.translated(expanded.translated);
    walk.pieces(&expanded.pieces, Context { heredocs: &expanded.heredocs, ..context });
}

/// An invoked builtin: its name, its words, and its position.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Builtin<'a, 't> {
    pub(crate) name: &'a str,
    pub(crate) argv: &'a [Arg<'t>],
    pub(crate) span: Span,
    pub(crate) context: Context<'a, 't>,
}

/// Lists the evaluations of a builtin's arguments, its assignments, and its changes.
pub(crate) fn builtin<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    let Builtin { name, argv, span, context } = builtin;
    match shell_options::changed(name, argv, context.shell) {
        Change::Nothing => {}
        Change::Patterns => walk.has_patterns = true,
        Change::Reading => walk.hazard(HazardKind::ChangedShell, span),
    }
    if matches!(name, "set" | "shopt" | "setopt") {
        walk.exports_all |= shell_options::may_export_all(name, argv.get(1..).unwrap_or_default());
    }
    match name {
        "test" | "[" => test(walk, builtin),
        "let" => (1..argv.len()).for_each(|at| word(walk, builtin, at, Holds::Number)),
        "unset" => unset(walk, builtin),
        "set" if context.shell == Shell::Zsh => named::set_array(walk, builtin),
        "hash" => named::remembered(walk, builtin),
        // zshbuiltins(1): these evaluate arithmetic.
        "return" | "exit" | "shift" | "break" | "continue" | "logout" | "bye"
            if context.shell == Shell::Zsh =>
        {
            (1..argv.len()).for_each(|at| word(walk, builtin, at, Holds::Number));
        }
        // zsh declares by a module as well.
        name if is_declaration(name) || name == "private" => declared(walk, builtin),
        _ => {}
    }
    if name == "printf" && context.shell == Shell::Zsh {
        printed(walk, builtin);
    }
    if let Some(setter) = builtins::setter(name, context.shell) {
        set_by_name(walk, builtin, setter);
    }
}

/// Notes that a word is evaluated: as arithmetic, or as the name of a variable.
fn word<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>, at: usize, most: Holds) {
    let Some(arg) = builtin.argv.get(at) else { return };
    text(walk, arg, builtin.span, builtin.context);
    walk.evaluated_argument(builtin, at, most);
}

/// `test` evaluates the name after `-v`. bash compares numbers without evaluating them, others may not.
fn test<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    for (at, arg) in builtin.argv.iter().enumerate() {
        match arg.known() {
            Some("-v" | "-R") => word(walk, builtin, at + 1, Holds::Word),
            Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge") => {
                for side in [at.checked_sub(1), at.checked_add(1)].into_iter().flatten() {
                    if let Some(arg) = builtin.argv.get(side) {
                        text(walk, arg, builtin.span, builtin.context);
                    }
                }
            }
            _ => {}
        }
    }
}

/// An unset variable may keep its earlier value, outside of a function or in the parent shell.
fn unset<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    let Builtin { argv, span, context, .. } = builtin;
    let is_option = |arg: &&Arg<'_>| arg.known().is_some_and(|text| text.len() > 1 && text.starts_with('-'));
    let options: Vec<&str> = argv.iter().skip(1).take_while(is_option).filter_map(Arg::known).collect();
    let has = |letter| options.iter().any(|option| option.contains(letter));
    // zsh: the names of all that fit a pattern.
    if has('m') && context.shell == Shell::Zsh {
        walk.hazard(HazardKind::UnknownVariable, span);
    }
    for at in 1..argv.len() {
        word(walk, builtin, at, Holds::Word);
        let Some(arg) = argv.get(at) else { continue };
        if let Some(name) = arg.known() {
            walk.forget(name, span);
        }
        if at <= options.len() || has('f') {
            continue;
        }
        match declared::name_of(arg) {
            Some(variable) => {
                let name = Cow::Owned(variable.name);
                walk.change(name, VariableChange::Unset, AssignmentScope::Shell, span, context);
            }
            None => walk.hazard(HazardKind::UnknownVariable, span),
        }
    }
}

/// zsh's `printf` evaluates the values that it prints as numbers.
fn printed<'t>(walk: &mut Walk<'t, '_>, builtin: Builtin<'_, 't>) {
    let is_option = |arg: &Arg<'_>| arg.known().is_some_and(|text| text.starts_with('-'));
    let Some(format) = builtin.argv.iter().skip(1).position(|arg| !is_option(arg)) else { return };
    let prints_numbers = builtin.argv.get(format + 1).and_then(Arg::known).is_none_or(prints_numbers);
    if prints_numbers {
        (format + 2..builtin.argv.len()).for_each(|at| word(walk, builtin, at, Holds::Number));
    }
}

fn prints_numbers(format: &str) -> bool {
    let mut directives = format.split('%').skip(1);
    directives.any(|directive| {
        let letter =
            directive.trim_start_matches(|c: char| c.is_ascii_digit() || "-+ #.'".contains(c)).chars().next();
        // `%%` is split into an empty directive and the text behind it.
        !matches!(letter, None | Some('s' | 'b' | 'q' | 'c'))
    })
}
