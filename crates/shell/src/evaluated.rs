//! Quoted text that a builtin evaluates: `test -v 'a[$(id)]'` runs `id`.

use std::borrow::Cow;

use crate::actions::{Arg, AssignmentScope, HazardKind, InvocationKind};
use crate::options::ReadOptions;
use crate::parser;
use crate::runs::{Context, Walk};
use crate::simple::is_declaration;
use crate::span::Span;

/// Lists what runs when `arg` is evaluated as arithmetic or as the name of a variable.
pub(crate) fn text<'t>(walk: &mut Walk<'t, '_>, arg: &Arg<'t>, span: Span, context: Context<'_, 't>) {
    let Some(text) = arg.known() else { return };
    // bash(1), Arrays: a subscript is evaluated as arithmetic after its expansions, also where quotes kept the shell from
    // expanding it before.
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

/// Lists what runs when `arg` is expanded as a prompt.
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
    // A text may hold a text that holds a text: all of them together are no longer than one may be.
    let Some(budget) = walk.budget.checked_sub(text.len()) else {
        return walk.hazard(HazardKind::TooDeep, span);
    };
    walk.budget = budget;
    let options = ReadOptions { shell: context.shell, ..walk.options.clone() };
    match parser::parse_expanded(text, span, &options) {
        Ok((pieces, heredocs)) => {
            let context = Context { heredocs: &heredocs, ..context };
            walk.pieces(&pieces, context);
        }
        Err(error) => walk.hazard(HazardKind::UnreadText(error.kind), span),
    }
}

/// Lists what the builtin `name` evaluates among its arguments, and what it sets.
pub(crate) fn builtin<'t>(
    walk: &mut Walk<'t, '_>,
    name: &str,
    argv: &[Arg<'t>],
    span: Span,
    context: Context<'_, 't>,
) {
    match name {
        "test" | "[" => test(walk, argv, span, context),
        // bash(1): `printf -v name` assigns to a name, which may have a subscript.
        "printf" => after(walk, argv, &["-v"], span, context),
        // All of these take names of variables and evaluate their subscripts; `let` takes arithmetic itself.
        "read" | "unset" | "mapfile" | "readarray" | "wait" | "getopts" | "let" => {
            argv.iter().skip(1).for_each(|arg| text(walk, arg, span, context));
        }
        name if is_declaration(name) => {
            for arg in argv.iter().skip(1) {
                text(walk, arg, span, context);
                if let Some((name, value)) = assignment(arg) {
                    walk.assign(Cow::Owned(name), value, AssignmentScope::Shell, span, context);
                }
            }
        }
        _ => {}
    }
}

/// Splits the argument of a declaration at its `=`.
fn assignment<'t>(arg: &Arg<'t>) -> Option<(String, Arg<'t>)> {
    let written = match arg {
        Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
    };
    let (name, _) = written.split_once('=')?;
    let length = name.len() + 1;
    Some((name.strip_suffix('+').unwrap_or(name).to_owned(), arg.without_prefix(length)))
}

/// `test` evaluates the name after `-v`, and the numbers that it compares.
fn test<'t>(walk: &mut Walk<'t, '_>, argv: &[Arg<'t>], span: Span, context: Context<'_, 't>) {
    after(walk, argv, &["-v", "-R"], span, context);
    for (at, arg) in argv.iter().enumerate() {
        if matches!(arg.known(), Some("-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge")) {
            for side in [at.checked_sub(1), at.checked_add(1)].into_iter().flatten() {
                if let Some(arg) = argv.get(side) {
                    text(walk, arg, span, context);
                }
            }
        }
    }
}

/// Evaluates the words that follow any of `options`.
fn after<'t>(
    walk: &mut Walk<'t, '_>,
    argv: &[Arg<'t>],
    options: &[&str],
    span: Span,
    context: Context<'_, 't>,
) {
    for pair in argv.windows(2) {
        if let [option, arg] = pair
            && option.known().is_some_and(|option| options.contains(&option))
        {
            text(walk, arg, span, context);
        }
    }
}
