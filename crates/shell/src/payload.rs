//! Programs that run others: wrappers, shells, builtins that evaluate text, and lists of arguments.

use std::borrow::Cow;

use crate::actions::{Arg, HazardKind, InvocationKind, Run};
use crate::call_chain::{self, CallChain};
use crate::evaluated::{self, Builtin};
use crate::getopt::{self, OptionOrder, OptionTable};
use crate::lookup::last_name;
use crate::options::Shell;
use crate::runs::{Context, Walk};
use crate::span::Span;
use crate::wrappers;

mod bubblewrap;
mod exec_options;
mod executed;
mod git;
mod lists;
mod scripts;
mod shells;
mod wrapped;

pub(crate) use shells::{input, output};

/// Programs that run each other more often than this are not followed.
const MAX_CHAIN: usize = 16;

/// The options of `mapfile`, and those of `complete` and `compgen`.
static LINES: OptionTable = OptionTable::new("-d: -n: -O: -s: -t -u: -C: -c:");
static JOBS: OptionTable = OptionTable::new("-l -n -p -r -s -x");
static COMPLETION: OptionTable = OptionTable::new(
    "-a -b -c -d -e -f -g -j -k -s -u -v -p -r -D -E -I -o: -A: -G: -W: -F: -C: -X: -P: -S: -V:",
);

/// Lists the commands that `run` runs.
pub(crate) fn follow<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let Some(name) = run.program() else { return };
    let name = last_name(name);
    // A command for another machine cannot be parsed as a text of this one.
    if run.invocation == InvocationKind::Elsewhere {
        return;
    }
    // Each level inspects the same words again; the limit keeps the whole linear.
    if call_chain::length(context.call_chain) >= MAX_CHAIN {
        return walk.hazard(HazardKind::TooDeep, run.span);
    }
    let call_chain = CallChain::through(name, context.call_chain);
    let inner = Context { call_chain: Some(&call_chain), invocation: InvocationKind::Nested, ..context };
    if let Some(shell) = shell_named(name) {
        return shells::program(walk, run, shell, inner);
    }
    match name {
        "eval" => text(walk, &joined(run.argv.get(1..).unwrap_or_default()), run.span, inner),
        "source" | "." => shells::sourced(walk, run, inner),
        "trap" => trap(walk, run, inner),
        "alias" => aliases(walk, run, inner),
        "emulate" => value_after(walk, run, &["-c"], inner),
        "mapfile" | "readarray" | "complete" | "compgen" => {
            let start = walk.actions.runs.len();
            value_after(walk, run, &["-C", "-F"], inner);
            let options = if name.starts_with("comp") { &COMPLETION } else { &LINES };
            let options = getopt::parse(&run.argv, 1, options, OptionOrder::Strict);
            let attached = |value: &Arg<'t>| !run.argv.contains(value);
            for (_, value) in options
                .values
                .iter()
                .filter(|(option, value)| matches!(&**option, "-C" | "-F") && attached(value))
            {
                text(walk, value, run.span, Context { is_certain: false, ..inner });
            }
            // bash(1): the line that was read, or the word that is completed, is added to the words.
            walk.actions.runs.iter_mut().skip(start).for_each(|callback| callback.open_ended = true);
        }
        "bind" => bound(walk, run, inner),
        "jobs" => job_words(walk, run, inner),
        "find" | "gfind" => lists::executed(walk, run, &["-exec", "-execdir", "-ok", "-okdir"], inner),
        "fd" | "fdfind" => lists::executed(walk, run, &["-x", "-X", "--exec", "--exec-batch"], inner),
        name if lists::PARALLEL.contains(&name) => lists::parallel(walk, run, inner),
        "sched" => scheduled(walk, run, inner),
        "git" => git::follow(walk, run, inner),
        "bwrap" => bubblewrap::follow(walk, run, inner),
        _ => {
            let next = run.argv.get(1).and_then(Arg::known);
            if let Some(wrapper) = wrappers::find(name, next) {
                wrapped::follow(walk, run, name, wrapper, inner);
            }
        }
    }
    // Beside the wrapper, not instead of it: `ssh` runs its words on another machine and `-o ProxyCommand=…` on this one.
    exec_options::follow(walk, run, name, inner);
    scripts::follow(walk, run, name, inner);
    evaluated::builtin(walk, Builtin { name, argv: &run.argv, span: run.span, context: inner });
}

/// Returns the shell that runs a program's text, for shells with a similar language.
fn shell_named(name: &str) -> Option<Shell> {
    Shell::named(name).or(match name {
        // Other languages: simple commands have the same syntax, and everything else is refused or reported.
        "fish" | "csh" | "tcsh" | "elvish" | "xonsh" | "nu" | "oil" | "osh" | "rc" | "es" => {
            Some(Shell::Bash)
        }
        _ => None,
    })
}

/// Reads `text` as commands, when it is certain.
pub(crate) fn text<'t>(walk: &mut Walk<'t, '_>, text: &Arg<'t>, span: Span, context: Context<'_, 't>) {
    let context = Context { invocation: InvocationKind::Nested, ..context };
    match text {
        Arg::Known(Cow::Borrowed(text)) => walk.nested(text, Some(text), span, context),
        Arg::Known(Cow::Owned(text)) => walk.nested(text, None, span, context),
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

fn trap<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let words = run.argv.get(1..).unwrap_or_default();
    let words = words.strip_prefix(&[Arg::Known(Cow::Borrowed("--"))]).unwrap_or(words);
    let [action, _, ..] = words else { return };
    // `trap - INT` and `trap 2` reset signals, and run nothing.
    let resets = action.known().is_some_and(|word| {
        matches!(word, "-" | "" | "-p" | "-l") || word.bytes().all(|b| b.is_ascii_digit())
    });
    if !resets {
        text(walk, action, run.span, Context { is_certain: false, ..context });
    }
}

fn aliases<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    for arg in run.argv.iter().skip(1) {
        let written = match arg {
            Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
        };
        // zsh: global aliases replace arguments, and aliases of endings start programs for files.
        let is_wide = arg.known().is_some_and(|word| {
            word.starts_with('-') && word.contains(['g', 's']) && context.shell == Shell::Zsh
        });
        let named = written.split_once('=');
        if is_wide
            || arg.known().is_none() && named.is_none()
            || named.is_some_and(|(name, _)| is_reserved(name))
        {
            walk.hazard(HazardKind::ChangedShell, run.span);
        }
        if let Some((name, _)) = named {
            walk.alias(name);
            text(
                walk,
                &arg.without_prefix(name.len() + 1),
                run.span,
                Context { is_certain: false, ..context },
            );
        }
    }
}

/// Whether a word belongs to the grammar of some shell: an alias of it changes how commands are put together.
fn is_reserved(name: &str) -> bool {
    const WORDS: &[&str] = &[
        "if",
        "then",
        "else",
        "elif",
        "fi",
        "do",
        "done",
        "while",
        "until",
        "for",
        "case",
        "esac",
        "in",
        "function",
        "select",
        "time",
        "{",
        "}",
        "!",
        "[[",
        "]]",
        "coproc",
        "repeat",
        "foreach",
        "end",
        "always",
        "nocorrect",
        "noglob",
    ];
    WORDS.contains(&name)
}

/// `bind -x '"\C-a": command'` runs the text behind the name of the key.
fn bound<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    value_after(walk, run, &["-x"], context);
    for word in run.argv.iter().skip(1).filter_map(Arg::known) {
        let behind = word
            .trim_start_matches("-x")
            .rsplit_once("\":")
            .map(|(_, command)| command.trim_matches([' ', '"']));
        if let Some(command) = behind {
            walk.nested_perhaps(command, run.span, Context { is_certain: false, ..context });
        }
    }
}

/// `jobs -x command args` runs the command, with the numbers of jobs in its words.
fn job_words<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let options = getopt::parse(&run.argv, 1, &JOBS, OptionOrder::Strict);
    if options.has("-x") || options.unknown {
        start(walk, run, options.operands, Context { is_certain: false, ..context });
    }
}

/// zsh: `sched [-o] TIME COMMAND` evaluates the joined words later. `sched -2` removes an entry.
fn scheduled<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let words = run.argv.get(1..).unwrap_or_default();
    let words = words.strip_prefix(&[Arg::Known(Cow::Borrowed("-o"))]).unwrap_or(words);
    if let [_, command @ ..] = words
        && !command.is_empty()
    {
        text(walk, &joined(command), run.span, Context { is_certain: false, ..context });
    }
}

/// Reads the words that follow any of `options` as commands.
fn value_after<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, options: &[&str], context: Context<'_, 't>) {
    for pair in run.argv.windows(2) {
        if let [option, value] = pair
            && option.known().is_some_and(|option| options.contains(&option))
        {
            text(walk, value, run.span, Context { is_certain: false, ..context });
        }
    }
}

/// Runs the words from `at` on as a program.
fn start<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, at: usize, context: Context<'_, 't>) {
    let argv = run.argv.get(at..).unwrap_or_default().to_vec();
    if !argv.is_empty() {
        walk.run(argv, run.span, context, run.open_ended);
    }
}
