//! The programs in the table of wrappers.

use std::borrow::Cow;

use super::{joined, lists, start, text};
use crate::Script;
use crate::actions::{Arg, AssignmentScope, HazardKind, InvocationKind, Run, VariableChange, WordCount};
use crate::braces::arguments;
use crate::call_chain::CallChain;
use crate::getopt::{self, OptionOrder, ParsedOptions};
use crate::runs::{Context, Walk};
use crate::span::Span;
use crate::wrappers::{self, Inner, Wrapper};

/// Follows a program of the table.
pub(super) fn follow<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    name: &str,
    wrapper: &Wrapper,
    context: Context<'_, 't>,
) {
    let first = if wrapper.subcommands.is_empty() { 1 } else { 2 };
    // A wrapper stops at its first operand, because the following words belong to the program that it runs.
    let order = if wrapper.inner == Inner::Nothing { OptionOrder::Anywhere } else { OptionOrder::Strict };
    let options = getopt::parse(&run.argv, first, &wrapper.options, order);
    if options.unknown {
        walk.hazard(HazardKind::UnknownOption, run.span);
    }
    // `command -v` only looks up a name.
    if name == "command" && (options.has("-v") || options.has("-V")) {
        return;
    }
    for (_, value) in options.values.iter().filter(|(option, _)| wrappers::takes_text(name, option)) {
        text(walk, value, run.span, Context { is_certain: false, ..context });
    }
    let words = options.operands + wrapper.operands;
    match wrapper.inner {
        Inner::Argv => operand_then_argv(walk, run, name, words, context),
        Inner::Environment => environment(walk, run, &options, context),
        Inner::OpenEnded => lists::arguments_added(walk, run, &options, context),
        // `watch -x` starts the words as a program instead of joining them for a shell.
        Inner::Joined if options.has("-x") || options.has("--exec") => start(walk, run, words, context),
        Inner::Joined => joined_words(walk, run, words, context),
        Inner::Texts => {
            for word in run.argv.get(words..).unwrap_or_default() {
                text(walk, word, run.span, Context { is_certain: false, ..context });
            }
        }
        Inner::Nothing => {}
        Inner::AfterArgs => {
            let after = run.argv.iter().position(|arg| matches!(arg.known(), Some("--args" | "-args")));
            start(walk, run, after.map_or(run.argv.len(), |at| at + 1), context);
        }
        Inner::Elsewhere => {
            let argv = run.argv.get(words..).unwrap_or_default();
            let argv = argv.strip_prefix(&[Arg::Known(Cow::Borrowed("--"))]).unwrap_or(argv);
            if !argv.is_empty() {
                walk.run(
                    argv.to_vec(),
                    run.span,
                    Context { invocation: InvocationKind::Elsewhere, ..context },
                    false,
                );
            }
        }
    }
}

/// Runs the following words, except for `flock file -c text`, which is shell text.
fn operand_then_argv<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    name: &str,
    at: usize,
    context: Context<'_, 't>,
) {
    let operands = run.argv.get(..at.min(run.argv.len())).unwrap_or_default();
    if operands.iter().any(|arg| matches!(arg, Arg::Unknown { count: WordCount::Any, .. })) {
        // The command may already begin in the expansion of that word.
        walk.run(vec![Arg::any()], run.span, context, true);
    }
    let next = run.argv.get(at).and_then(Arg::known);
    match (name, next) {
        ("flock", Some("-c" | "--command")) => {
            let unknown = Arg::any();
            text(walk, run.argv.get(at + 1).unwrap_or(&unknown), run.span, context);
        }
        (_, Some("--")) => start(walk, run, at + 1, context),
        _ => start(walk, run, at, context),
    }
}

fn joined_words<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, at: usize, context: Context<'_, 't>) {
    let words = run.argv.get(at..).unwrap_or_default();
    if !words.is_empty() {
        text(walk, &joined(words), run.span, Context { is_certain: false, ..context });
    }
}

/// `env NAME=value program …`. The words of `-S` replace it, and may be options again.
fn environment<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    options: &ParsedOptions<'t>,
    context: Context<'_, 't>,
) {
    let mut argv = run.argv.get(options.operands..).unwrap_or_default().to_vec();
    let last = options.values.last().filter(|(option, _)| matches!(&**option, "-S" | "--split-string"));
    if let Some((_, value)) = last {
        let name = run.argv.first().cloned();
        argv = name.into_iter().chain(split_words(walk, value, run.span, context)).chain(argv).collect();
        let context = Context { texts: context.texts + 1, ..context };
        return follow_again(walk, argv, run, context);
    }
    for (_, value) in options.values.iter().filter(|(option, _)| matches!(&**option, "-u" | "--unset")) {
        match value.known() {
            // `sudo -u` names a user.
            _ if Names::of(run.program().unwrap_or_default()) == Names::NoPath => {}
            Some(name) => {
                let name = Cow::Owned(name.to_owned());
                walk.change(name, VariableChange::Unset, AssignmentScope::Command, run.span, context);
            }
            None => walk.hazard(HazardKind::UnknownVariable, run.span),
        }
    }
    let names = Names::of(run.program().unwrap_or_default());
    let assigned = argv.iter().take_while(|arg| names.assigned(arg).is_some()).count();
    let program = argv.split_off(assigned);
    for arg in argv {
        if let Some(name) = names.assigned(&arg) {
            let value = arg.without_prefix(name.len() + 1);
            walk.assign(Cow::Owned(name), value, AssignmentScope::Command, run.span, context);
        }
    }
    if !program.is_empty() {
        walk.run(program, run.span, context, run.open_ended);
    }
}

/// Follows the same wrapper with other words.
fn follow_again<'t>(walk: &mut Walk<'t, '_>, argv: Vec<Arg<'t>>, run: &Run<'t>, context: Context<'_, 't>) {
    if context.texts > walk.options.max_texts {
        return walk.hazard(HazardKind::TooDeep, run.span);
    }
    let call_chain = context.call_chain.and_then(CallChain::outer);
    let run = Run { argv, ..run.clone() };
    super::follow(walk, &run, Context { call_chain, ..context });
}

/// What a program accepts as the name of a variable, before an `=`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Names {
    /// Anything is a name: `env a+b=c` sets `a+b`.
    Any,
    /// Anything but a path is a name: `sudo /a=b` runs a program.
    NoPath,
}

impl Names {
    fn of(program: &str) -> Self {
        match program.rsplit('/').next() {
            Some("env" | "genv") => Self::Any,
            _ => Self::NoPath,
        }
    }

    /// Returns the name, when the word is an assignment.
    fn assigned(self, arg: &Arg<'_>) -> Option<String> {
        let written = match arg {
            Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
        };
        let (name, _) = written.split_once('=')?;
        let is_variable = match self {
            Self::Any => true,
            Self::NoPath => !name.starts_with('/'),
        };
        is_variable.then(|| name.to_owned())
    }
}

/// Splits the value of `env -S`, whose quotes are those of a shell.
fn split_words<'t>(
    walk: &mut Walk<'t, '_>,
    value: &Arg<'t>,
    span: Span,
    context: Context<'_, 't>,
) -> Vec<Arg<'t>> {
    let words = value.known().and_then(|text| Script::read(text, walk.options).ok());
    let simple = words.as_ref().and_then(Script::only_command).filter(|simple| simple.redirects.is_empty());
    let Some(simple) = simple else {
        walk.hazard(HazardKind::UnknownText, span);
        return Vec::new();
    };
    let mut argv = Vec::new();
    for word in &simple.words {
        let mut found = Vec::new();
        arguments(word, context.shell, &mut found);
        argv.extend(
            found
                .into_iter()
                .map(|arg| arg.known().map_or_else(Arg::any, |text| Arg::Known(Cow::Owned(text.to_owned())))),
        );
    }
    argv
}
