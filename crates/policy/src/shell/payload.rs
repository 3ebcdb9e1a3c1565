//! What a program runs: wrappers, shells, builtins that take text, and lists of arguments.

use std::borrow::Cow;

use super::actions::{Arg, AssignmentScope, Called, HazardKind, Run};
use super::braces::{arguments, single};
use super::evaluated;
use super::expansion::is_name;
use super::options::Shell;
use super::runs::{Place, Stdin, Walk};
use super::span::Span;
use super::tree::{Command, RedirectOperator, Redirected};
use super::words::{self, Options, Order};
use super::wrappers::{self, Inner, Wrapper};

/// Programs that run each other more often than this are not followed.
const MAX_CHAIN: usize = 16;

/// Lists what runs because `run` runs.
pub(super) fn follow<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, place: Place<'_, 't>) {
    let Some(name) = run.program() else { return };
    let name = name.rsplit('/').next().unwrap_or(name);
    if run.called == Called::Elsewhere {
        return;
    }
    if place.via.len() >= MAX_CHAIN {
        return walk.hazard(HazardKind::TooDeep, run.span);
    }
    let via: Vec<Cow<'static, str>> =
        place.via.iter().cloned().chain([Cow::Owned(name.to_owned())]).collect();
    let inner = Place { via: &via, called: Called::Through, ..place };
    if let Some(shell) = shell_named(name) {
        return shell_program(walk, run, shell, inner);
    }
    match name {
        "eval" => text(walk, &joined(run.argv.get(1..).unwrap_or_default()), run.span, inner),
        "trap" => trap(walk, run, inner),
        "alias" => aliases(walk, run, inner),
        "emulate" => value_after(walk, run, &["-c"], inner),
        "mapfile" | "readarray" | "complete" | "compgen" => value_after(walk, run, &["-C", "-F"], inner),
        "bind" => value_after(walk, run, &["-x"], inner),
        "find" | "gfind" => executed(walk, run, &["-exec", "-execdir", "-ok", "-okdir"], inner),
        "fd" | "fdfind" => executed(walk, run, &["-x", "-X", "--exec", "--exec-batch"], inner),
        "parallel" => parallel(walk, run, inner),
        "bwrap" => bubblewrap(walk, run, inner),
        _ => {
            let next = run.argv.get(1).and_then(Arg::known);
            if let Some(wrapper) = wrappers::find(name, next) {
                wrapped(walk, run, name, wrapper, inner);
            }
        }
    }
    evaluated::builtin(walk, name, &run.argv, run.span, inner);
}

/// Returns the shell that runs the text given to a program, for shells whose language is near enough.
fn shell_named(name: &str) -> Option<Shell> {
    Shell::named(name).or(match name {
        "fish" | "csh" | "tcsh" | "elvish" | "xonsh" | "nu" | "oil" | "osh" => Some(Shell::Bash),
        _ => None,
    })
}

/// Reads `text` as commands, when it is certain.
pub(super) fn text<'t>(walk: &mut Walk<'t, '_>, text: &Arg<'t>, span: Span, place: Place<'_, 't>) {
    let place = Place { called: Called::Through, ..place };
    match text {
        Arg::Known(Cow::Borrowed(text)) => walk.nested(text, Some(text), span, place),
        Arg::Known(Cow::Owned(text)) => walk.nested(text, None, span, place),
        Arg::Unknown { .. } => walk.hazard(HazardKind::UnknownText, span),
    }
}

/// Joins words as `eval` does.
fn joined<'t>(words: &[Arg<'t>]) -> Arg<'t> {
    let words = words.strip_prefix(&[Arg::Known(Cow::Borrowed("--"))]).unwrap_or(words);
    if let [word] = words {
        return word.clone();
    }
    let known: Option<Vec<&str>> = words.iter().map(Arg::known).collect();
    known.map_or_else(Arg::any, |known| Arg::Known(Cow::Owned(known.join(" "))))
}

/// A shell runs the text after `-c`, a file, or what it reads.
fn shell_program<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, shell: Shell, place: Place<'_, 't>) {
    let place = Place { shell, is_certain: false, ..place };
    let options = shell_options(&run.argv);
    let operand = run.argv.get(options.operands);
    if options.runs_text {
        let unknown = Arg::any();
        return text(
            walk,
            operand.unwrap_or(&unknown),
            run.span,
            Place { stdin: &Stdin::Inherited, ..place },
        );
    }
    if options.is_uncertain || (operand.is_none() && run.open_ended) {
        walk.hazard(HazardKind::UnknownText, run.span);
    }
    if operand.is_some_and(|operand| operand.known() != Some("-")) && !options.reads_input {
        return;
    }
    match place.stdin {
        Stdin::Inherited => {}
        Stdin::Unknown => walk.hazard(HazardKind::UnknownText, run.span),
        Stdin::Text(input) => {
            walk.nested(input, None, run.span, Place { stdin: &Stdin::Inherited, ..place });
        }
    }
}

/// What the options of a shell say.
#[derive(Debug, Default)]
struct ShellOptions {
    operands: usize,
    runs_text: bool,
    reads_input: bool,
    is_uncertain: bool,
}

fn shell_options(argv: &[Arg<'_>]) -> ShellOptions {
    let mut options = ShellOptions { operands: 1, ..ShellOptions::default() };
    while let Some(arg) = argv.get(options.operands) {
        let Some(word) = arg.known() else {
            options.is_uncertain = true;
            break;
        };
        let is_option = word.len() > 1 && word.starts_with(['-', '+']);
        if !is_option {
            break;
        }
        options.operands += 1;
        if word == "--" {
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
        options.operands += word.chars().filter(|letter| matches!(letter, 'o' | 'O')).count();
    }
    options
}

fn trap<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, place: Place<'_, 't>) {
    let words = run.argv.get(1..).unwrap_or_default();
    let words = words.strip_prefix(&[Arg::Known(Cow::Borrowed("--"))]).unwrap_or(words);
    let [action, _, ..] = words else { return };
    let resets = action.known().is_some_and(|word| {
        matches!(word, "-" | "" | "-p" | "-l") || word.bytes().all(|b| b.is_ascii_digit())
    });
    if !resets {
        text(walk, action, run.span, Place { is_certain: false, ..place });
    }
}

fn aliases<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, place: Place<'_, 't>) {
    for arg in run.argv.iter().skip(1) {
        let written = match arg {
            Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
        };
        if let Some((name, _)) = written.split_once('=') {
            walk.alias(name);
            text(walk, &arg.without_prefix(name.len() + 1), run.span, Place { is_certain: false, ..place });
        }
    }
}

/// Reads the words that follow any of `options` as commands.
fn value_after<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, options: &[&str], place: Place<'_, 't>) {
    for pair in run.argv.windows(2) {
        if let [option, value] = pair
            && option.known().is_some_and(|option| options.contains(&option))
        {
            text(walk, value, run.span, Place { is_certain: false, ..place });
        }
    }
}

/// `find … -exec program … ;` and `fd … -x program …`.
fn executed<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, actions: &[&str], place: Place<'_, 't>) {
    let is = |arg: &Arg<'_>, words: &[&str]| arg.known().is_some_and(|word| words.contains(&word));
    let mut rest = run.argv.as_slice();
    while let Some(at) = rest.iter().position(|arg| is(arg, actions)) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let is_end = |(index, arg): (usize, &Arg<'_>)| {
            let before = index.checked_sub(1).and_then(|before| rest.get(before));
            is(arg, &[";"]) || (is(arg, &["+"]) && before.is_some_and(|arg| is(arg, &["{}"])))
        };
        let end = rest.iter().enumerate().position(is_end).unwrap_or(rest.len());
        let argv = rest.get(..end).unwrap_or_default().to_vec();
        if !argv.is_empty() {
            spliced(walk, argv, run.span, Place { stdin: &Stdin::Unknown, ..place });
        }
        rest = rest.get(end..).unwrap_or_default();
    }
}

/// Runs a program to which file names or lines are added. Where a shell gets them as part of its text, that text
/// is not known.
fn spliced<'t>(walk: &mut Walk<'t, '_>, argv: Vec<Arg<'t>>, span: Span, place: Place<'_, 't>) {
    let is_shell = argv
        .first()
        .and_then(Arg::known)
        .is_some_and(|name| shell_named(name.rsplit('/').next().unwrap_or(name)).is_some());
    let in_text =
        argv.iter().skip(1).any(|arg| arg.known().is_some_and(|word| word.contains("{}") && word.len() > 2));
    if is_shell && in_text {
        walk.hazard(HazardKind::UnknownText, span);
    }
    walk.run(argv, span, place, true);
}

/// `parallel program … ::: values`: the words are joined and given to a shell, once for each value.
fn parallel<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, place: Place<'_, 't>) {
    let spec = "-0 -a: -C: -d: -E: -I: -i -j: -k -L: -l -m -N: -n: -P: -q -r -S: -s: -t -u -v -X -x --*";
    let options = words::read(&run.argv, 1, spec, Order::Strict);
    let words = run.argv.get(options.operands..).unwrap_or_default();
    let is_separator = |arg: &Arg<'_>| arg.known().is_some_and(|word| word.starts_with(":::"));
    let split = words.iter().position(is_separator).unwrap_or(words.len());
    let (program, values) = words.split_at_checked(split).unwrap_or_default();
    let values = values.get(1..).unwrap_or_default();
    let mut argv = program.to_vec();
    argv.extend(values.first().cloned());
    if argv.is_empty() {
        return walk.hazard(HazardKind::UnknownText, run.span);
    }
    let is_plain = argv.iter().all(|arg| {
        arg.known().is_some_and(|word| !word.contains([' ', ';', '|', '&', '$', '`', '(', '<', '>']))
    });
    if !is_plain || values.len() > 1 {
        walk.hazard(HazardKind::UnknownText, run.span);
        text(walk, &joined(program), run.span, Place { is_certain: false, ..place });
    }
    walk.run(argv, run.span, Place { stdin: &Stdin::Unknown, ..place }, values.len() != 1);
}

/// The options of bubblewrap take up to three words each.
fn bubblewrap<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, place: Place<'_, 't>) {
    let mut at = 1;
    while let Some(word) = run.argv.get(at).and_then(Arg::known) {
        if !word.starts_with("--") {
            break;
        }
        at += 1;
        let values =
            BUBBLEWRAP.iter().find(|(_, options)| options.contains(&word)).map(|(values, _)| *values);
        if values.is_none() && word != "--" {
            walk.hazard(HazardKind::UnknownOption, run.span);
        }
        if word == "--" {
            break;
        }
        at += values.unwrap_or(0);
    }
    start(walk, run, at, place);
}

/// How many words follow an option of bubblewrap.
const BUBBLEWRAP: &[(usize, &[&str])] = &[
    (
        0,
        &[
            "--unshare-all",
            "--unshare-user",
            "--unshare-user-try",
            "--unshare-ipc",
            "--unshare-pid",
            "--unshare-net",
            "--unshare-uts",
            "--unshare-cgroup",
            "--unshare-cgroup-try",
            "--share-net",
            "--clearenv",
            "--new-session",
            "--die-with-parent",
            "--as-pid-1",
            "--disable-userns",
            "--assert-userns-disabled",
            "--not-a-tty",
        ],
    ),
    (
        1,
        &[
            "--args",
            "--argv0",
            "--level-prefix",
            "--userns",
            "--userns2",
            "--pidns",
            "--uid",
            "--gid",
            "--hostname",
            "--chdir",
            "--unsetenv",
            "--lock-file",
            "--sync-fd",
            "--remount-ro",
            "--exec-label",
            "--file-label",
            "--proc",
            "--dev",
            "--tmpfs",
            "--mqueue",
            "--dir",
            "--seccomp",
            "--add-seccomp-fd",
            "--block-fd",
            "--userns-block-fd",
            "--info-fd",
            "--json-status-fd",
            "--cap-add",
            "--cap-drop",
            "--perms",
            "--size",
            "--overlay-src",
            "--tmp-overlay",
            "--ro-overlay",
        ],
    ),
    (
        2,
        &[
            "--setenv",
            "--bind",
            "--bind-try",
            "--dev-bind",
            "--dev-bind-try",
            "--ro-bind",
            "--ro-bind-try",
            "--file",
            "--bind-data",
            "--ro-bind-data",
            "--symlink",
            "--chmod",
            "--bind-fd",
            "--ro-bind-fd",
        ],
    ),
    (3, &["--overlay"]),
];

/// Follows a program of the table.
fn wrapped<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, name: &str, wrapper: &Wrapper, place: Place<'_, 't>) {
    let first = if wrapper.subcommands.is_empty() { 1 } else { 2 };
    let order = if wrapper.inner == Inner::Nothing { Order::Anywhere } else { Order::Strict };
    let options = words::read(&run.argv, first, wrapper.options, order);
    if options.unknown {
        walk.hazard(HazardKind::UnknownOption, run.span);
    }
    // `command -v` only looks a name up.
    if name == "command" && (options.has("-v") || options.has("-V")) {
        return;
    }
    for (_, value) in options.values.iter().filter(|(option, _)| wrappers::takes_text(name, option)) {
        text(walk, value, run.span, Place { is_certain: false, ..place });
    }
    let words = options.operands + wrapper.operands;
    match wrapper.inner {
        Inner::Argv => operand_then_argv(walk, run, name, words, place),
        Inner::Environment => environment(walk, run, &options, place),
        Inner::OpenEnded => arguments_added(walk, run, &options, place),
        Inner::Joined if options.has("-x") || options.has("--exec") => start(walk, run, words, place),
        Inner::Joined => joined_words(walk, run, words, place),
        Inner::Texts => {
            for word in run.argv.get(words..).unwrap_or_default() {
                text(walk, word, run.span, Place { is_certain: false, ..place });
            }
        }
        Inner::Nothing => {}
        Inner::AfterArgs => {
            let after = run.argv.iter().position(|arg| matches!(arg.known(), Some("--args" | "-args")));
            start(walk, run, after.map_or(run.argv.len(), |at| at + 1), place);
        }
        Inner::Elsewhere => {
            let argv = run.argv.get(words..).unwrap_or_default();
            let argv = argv.strip_prefix(&[Arg::Known(Cow::Borrowed("--"))]).unwrap_or(argv);
            if !argv.is_empty() {
                walk.run(argv.to_vec(), run.span, Place { called: Called::Elsewhere, ..place }, false);
            }
        }
    }
}

/// Runs the words from `at` on as a program.
fn start<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, at: usize, place: Place<'_, 't>) {
    let argv = run.argv.get(at..).unwrap_or_default().to_vec();
    if !argv.is_empty() {
        walk.run(argv, run.span, place, run.open_ended);
    }
}

/// Runs what follows, but `flock file -c text`, which is text.
fn operand_then_argv<'t>(
    walk: &mut Walk<'t, '_>,
    run: &Run<'t>,
    name: &str,
    at: usize,
    place: Place<'_, 't>,
) {
    let next = run.argv.get(at).and_then(Arg::known);
    match (name, next) {
        ("flock", Some("-c" | "--command")) => {
            let unknown = Arg::any();
            text(walk, run.argv.get(at + 1).unwrap_or(&unknown), run.span, place);
        }
        (_, Some("--")) => start(walk, run, at + 1, place),
        _ => start(walk, run, at, place),
    }
}

fn joined_words<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, at: usize, place: Place<'_, 't>) {
    let words = run.argv.get(at..).unwrap_or_default();
    if !words.is_empty() {
        text(walk, &joined(words), run.span, Place { is_certain: false, ..place });
    }
}

/// `env NAME=value program …`. The words of `-S` stand in its place, and may be options again.
fn environment<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, options: &Options<'t>, place: Place<'_, 't>) {
    let mut argv = run.argv.get(options.operands..).unwrap_or_default().to_vec();
    let last = options.values.last().filter(|(option, _)| matches!(option.as_str(), "-S" | "--split-string"));
    if let Some((_, value)) = last {
        let name = run.argv.first().cloned();
        argv = name.into_iter().chain(split_words(walk, value, run.span, place)).chain(argv).collect();
        let place = Place { texts: place.texts + 1, ..place };
        return follow_again(walk, argv, run, place);
    }
    let assigned = argv.iter().take_while(|arg| assigned_name(arg).is_some()).count();
    let program = argv.split_off(assigned);
    for arg in argv {
        if let Some(name) = assigned_name(&arg) {
            let value = arg.without_prefix(name.len() + 1);
            walk.assign(Cow::Owned(name), value, AssignmentScope::Command, run.span, place);
        }
    }
    if !program.is_empty() {
        walk.run(program, run.span, place, run.open_ended);
    }
}

/// Follows the same wrapper with other words.
fn follow_again<'t>(walk: &mut Walk<'t, '_>, argv: Vec<Arg<'t>>, run: &Run<'t>, place: Place<'_, 't>) {
    if place.texts > walk.options.max_texts {
        return walk.hazard(HazardKind::TooDeep, run.span);
    }
    let via = place.via.split_last().map_or(&[][..], |(_, outer)| outer);
    let run = Run { argv, ..run.clone() };
    follow(walk, &run, Place { via, ..place });
}

fn assigned_name(arg: &Arg<'_>) -> Option<String> {
    let written = match arg {
        Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
    };
    let (name, _) = written.split_once('=')?;
    is_name(name).then(|| name.to_owned())
}

/// Splits the value of `env -S`, whose quotes are those of a shell.
fn split_words<'t>(
    walk: &mut Walk<'t, '_>,
    value: &Arg<'t>,
    span: Span,
    place: Place<'_, 't>,
) -> Vec<Arg<'t>> {
    let words = value.known().and_then(|text| super::Script::read(text, walk.options).ok());
    let simple =
        words.as_ref().and_then(super::Script::only_command).filter(|simple| simple.redirects.is_empty());
    let Some(simple) = simple else {
        walk.hazard(HazardKind::UnknownText, span);
        return Vec::new();
    };
    let mut argv = Vec::new();
    for word in &simple.words {
        let mut found = Vec::new();
        arguments(word, place.shell, &mut found);
        argv.extend(
            found
                .into_iter()
                .map(|arg| arg.known().map_or_else(Arg::any, |text| Arg::Known(Cow::Owned(text.to_owned())))),
        );
    }
    argv
}

/// `xargs program …`: what it reads is added, or put in place of a mark.
fn arguments_added<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, options: &Options<'t>, place: Place<'_, 't>) {
    let argv = run.argv.get(options.operands..).unwrap_or_default().to_vec();
    let Some(program) = argv.first() else { return };
    let mark =
        options.values.iter().find(|(option, _)| matches!(option.as_str(), "-I" | "--replace" | "-i" | "-J"));
    let is_shell =
        program.known().is_some_and(|name| shell_named(name.rsplit('/').next().unwrap_or(name)).is_some());
    let marked = mark.and_then(|(_, mark)| mark.known()).unwrap_or("{}");
    let in_text = argv.iter().skip(1).any(|arg| arg.known().is_some_and(|word| word.contains(marked)));
    if is_shell && in_text {
        walk.hazard(HazardKind::UnknownText, run.span);
    }
    walk.run(argv, run.span, Place { stdin: &Stdin::Unknown, ..place }, mark.is_none());
}

/// Returns what a redirection makes of the standard input, when it concerns it.
pub(super) fn input(redirected: &Redirected<'_>, place: Place<'_, '_>) -> Option<Stdin> {
    if redirected.descriptor.as_deref().is_some_and(|descriptor| descriptor != "0") {
        return None;
    }
    let known = |arg: Arg<'_>, end: &str| {
        arg.known().map_or(Stdin::Unknown, |text| Stdin::Text(format!("{text}{end}")))
    };
    match redirected.operator {
        RedirectOperator::Heredoc => {
            let body = place.heredocs.get(redirected.heredoc?)?;
            Some(known(single(&body.body), ""))
        }
        RedirectOperator::HereString => Some(known(single(redirected.target.pieces()), "\n")),
        RedirectOperator::Read | RedirectOperator::ReadWrite | RedirectOperator::DuplicateInput => {
            Some(Stdin::Unknown)
        }
        _ => None,
    }
}

/// Returns what a command writes into a pipe, where its text tells.
pub(super) fn output(command: &Command<'_>, place: Place<'_, '_>) -> Option<String> {
    let Command::Simple(simple) = command else { return None };
    let mut argv = Vec::new();
    for word in &simple.words {
        arguments(word, place.shell, &mut argv);
    }
    let words: Vec<&str> = argv.iter().map(Arg::known).collect::<Option<_>>()?;
    let plain = |text: &str| !text.contains(['\\', '%']);
    match words.as_slice() {
        ["echo", "-n", text @ ..] | ["echo", text @ ..]
            if text.iter().all(|word| plain(word) && !word.starts_with('-')) =>
        {
            Some(text.join(" "))
        }
        ["printf", text] if plain(text) => Some((*text).to_owned()),
        ["printf", "%s" | "%s\\n" | "%s\n", text] => Some((*text).to_owned()),
        ["cat"] => match simple.redirects.iter().rev().find_map(|redirected| input(redirected, place)) {
            Some(Stdin::Text(text)) => Some(text),
            _ => None,
        },
        _ => None,
    }
}
