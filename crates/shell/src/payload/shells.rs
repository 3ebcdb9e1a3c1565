//! Shells: the text that they run, and text on their standard input.

use std::borrow::Cow;

use super::text;
use crate::actions::{Arg, HazardKind, Run};
use crate::braces::{arguments, single};
use crate::options::Shell;
use crate::runs::{Context, Stdin, Walk};
use crate::shell_options::{self, Change};
use crate::tree::{Command, RedirectOperator, Redirected};

/// A shell runs the text after `-c`, a file, or its input.
pub(super) fn program<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, shell: Shell, context: Context<'_, 't>) {
    let start = walk.actions.runs.len();
    let around = walk.known.enter_process();
    text_of(walk, run, Context { shell, is_certain: false, ..context });
    walk.known.leave_process(around);
    let options = run.argv.get(1..).unwrap_or_default();
    walk.exports_all |= shell_options::may_export_all("", options);
    if shell_options::at_start(options, shell) == Change::Reading {
        walk.hazard(HazardKind::ChangedShell, run.span);
    }
    walk.own_shell(start);
}

fn text_of<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let options = options_of(&run.argv);
    let operand = run.argv.get(options.operands);
    if options.runs_text {
        let unknown = Arg::any();
        return text(
            walk,
            operand.unwrap_or(&unknown),
            run.span,
            Context { stdin: &Stdin::Inherited, ..context },
        );
    }
    if options.is_uncertain || (operand.is_none() && run.open_ended) {
        walk.hazard(HazardKind::UnknownText, run.span);
    }
    // With a file as operand the shell reads that file, which is not part of the text; `-` and `/dev/stdin` are the input.
    let reads_file = operand.is_some_and(|operand| operand.known() != Some("-") && !is_input(operand));
    if !reads_file || options.reads_input {
        read(walk, run, context);
    } else {
        read_perhaps(walk, run, operand, context);
    }
}

/// `source` runs a file, or its input if the file is one of the names of standard input.
pub(super) fn sourced<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let words = run.argv.get(1..).unwrap_or_default();
    let words = words.strip_prefix(&[Arg::Known(Cow::Borrowed("--"))]).unwrap_or(words);
    if words.first().is_some_and(is_input) {
        read(walk, run, Context { is_certain: false, ..context });
    } else {
        read_perhaps(walk, run, words.first(), context);
    }
}

/// Lists the commands of text on the standard input, in case an unknown file name turns out to be that input.
fn read_perhaps<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    file: Option<&Arg<'t>>,
    context: Context<'_, 't>,
) {
    if matches!(context.stdin, Stdin::Text(_)) && file.is_some_and(may_be_input) {
        read(walk, run, Context { is_certain: false, ..context });
    }
}

/// Runs the text that a shell reads from its standard input.
fn read<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    match context.stdin {
        Stdin::Inherited => {}
        Stdin::Unknown => walk.hazard(HazardKind::UnknownText, run.span),
        Stdin::Text(input) => {
            walk.nested(input, None, run.span, Context { stdin: &Stdin::Inherited, ..context });
        }
    }
}

/// Returns whether a file is the standard input.
fn is_input(file: &Arg<'_>) -> bool {
    file.known().is_some_and(is_name_of_input)
}

/// Returns whether a file can turn out to be the standard input.
fn may_be_input(file: &Arg<'_>) -> bool {
    match file {
        Arg::Known(_) => false,
        Arg::Unknown { prefix, .. } => prefix.is_empty() || prefix.starts_with('/'),
    }
}

/// Whether a path is one of the names that the standard input has: `/dev/stdin`, `/dev//fd/0`, `/proc/self/fd/0`.
fn is_name_of_input(path: &str) -> bool {
    if !path.starts_with('/') {
        return false;
    }
    let mut names = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    matches!(names.as_slice(), ["dev", "stdin"] | ["dev", "fd", "0"] | ["proc", .., "fd", "0"])
}

/// Meaning of a shell's options.
#[derive(Debug, Default)]
struct ShellOptions {
    operands: usize,
    runs_text: bool,
    reads_input: bool,
    is_uncertain: bool,
}

fn options_of(argv: &[Arg<'_>]) -> ShellOptions {
    let mut options = ShellOptions { operands: 1, ..ShellOptions::default() };
    while let Some(arg) = argv.get(options.operands) {
        let Some(word) = arg.known() else {
            options.is_uncertain = true;
            break;
        };
        if !word.starts_with(['-', '+']) || word == "+" {
            break;
        }
        options.operands += 1;
        // Both end the options: `bash -c - 'rm x'` runs `rm`.
        if matches!(word, "-" | "--") {
            break;
        }
        if let Some(long) = word.strip_prefix("--") {
            options.runs_text |= long == "command";
            options.operands += usize::from(matches!(long, "rcfile" | "init-file" | "emulate"));
            continue;
        }
        let is_set = word.starts_with('-');
        options.runs_text |= is_set && word.contains('c');
        options.reads_input |= is_set && word.contains('s');
        // `-o pipefail` and `-O extglob` take the next word each, also in a cluster.
        options.operands += word.chars().filter(|letter| matches!(letter, 'o' | 'O')).count();
    }
    options
}

/// Returns the effect of a redirection on the standard input, if it has one.
pub(crate) fn input(redirected: &Redirected<'_>, context: Context<'_, '_>) -> Option<Stdin> {
    if redirected.descriptor.as_deref().is_some_and(|descriptor| descriptor != "0") {
        return None;
    }
    let known = |arg: Arg<'_>, end: &str| {
        arg.known().map_or(Stdin::Unknown, |text| Stdin::Text(format!("{text}{end}")))
    };
    match redirected.operator {
        RedirectOperator::Heredoc => {
            let body = context.heredocs.get(redirected.heredoc?)?;
            Some(known(single(&body.body), ""))
        }
        RedirectOperator::HereString => Some(known(single(redirected.target.pieces()), "\n")),
        RedirectOperator::Read | RedirectOperator::ReadWrite | RedirectOperator::DuplicateInput => {
            Some(Stdin::Unknown)
        }
        _ => None,
    }
}

/// Returns the output of a command into a pipe, where its text determines it.
pub(crate) fn output(command: &Command<'_>, context: Context<'_, '_>) -> Option<String> {
    let Command::Simple(simple) = command else { return None };
    let mut argv = Vec::new();
    for word in &simple.words {
        arguments(word, context.shell, &mut argv);
    }
    let words: Vec<&str> = argv.iter().map(Arg::known).collect::<Option<_>>()?;
    // Escapes and formats differ between versions of `echo` and `printf`, so only text without them is certain.
    let plain = |text: &str| !text.contains(['\\', '%']);
    match words.as_slice() {
        ["echo", "-n", text @ ..] | ["echo", text @ ..]
            if text.iter().all(|word| plain(word) && !word.starts_with('-')) =>
        {
            Some(text.join(" "))
        }
        ["printf", text] if plain(text) => Some((*text).to_owned()),
        ["printf", "%s" | "%s\\n" | "%s\n", text] => Some((*text).to_owned()),
        // A here-document that `cat` hands to a shell is the usual way to write a script in a pipe.
        ["cat"] => match simple.redirects.iter().rev().find_map(|redirected| input(redirected, context)) {
            Some(Stdin::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
