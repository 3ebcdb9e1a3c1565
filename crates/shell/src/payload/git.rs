//! Commands in git's settings and options.

use super::{joined, start, text};
use crate::actions::{Arg, Run};
use crate::runs::{Context, Walk};
use std::sync::LazyLock;

use crate::getopt::{self, OptionOrder, OptionTable};

/// The options before the sub-command.
static GLOBAL: OptionTable = OptionTable::new(
    "-c: -C: -p -P -h -v --exec-path=? --git-dir= --work-tree= --namespace= --config-env= --super-prefix= \
                      --no-pager --paginate --bare --no-replace-objects --literal-pathspecs --html-path --man-path --*",
);

/// Settings whose value is a command, by the end of their name.
const SETTINGS: &[&str] = &[
    "core.pager",
    "core.editor",
    "core.sshcommand",
    "core.fsmonitor",
    "core.gitproxy",
    "core.askpass",
    "sequence.editor",
    "diff.external",
    "gpg.program",
    "uploadpack.packobjectshook",
    "interactive.difffilter",
];

/// Settings of things that have a name of their own: `filter.x.clean`.
const NAMED: &[(&str, &str)] = &[
    ("filter.", ".clean"),
    ("filter.", ".smudge"),
    ("filter.", ".process"),
    ("diff.", ".textconv"),
    ("diff.", ".command"),
    ("merge.", ".driver"),
    ("difftool.", ".cmd"),
    ("mergetool.", ".cmd"),
    ("pager.", ""),
    ("trailer.", ".command"),
    ("remote.", ".uploadpack"),
    ("remote.", ".receivepack"),
    ("browser.", ".cmd"),
    ("man.", ".cmd"),
];

/// Sub-commands with options whose value is run: names, all options with a value, and those whose value is run.
type Subcommand = (&'static [&'static str], OptionTable, &'static [&'static str]);

static SUBCOMMANDS: LazyLock<Vec<Subcommand>> = LazyLock::new(|| {
    vec![
        (&["rebase"], OptionTable::new("-x: -X: -s: -S? --exec= --onto= --*"), &["-x", "--exec"]),
        (
            &["clone"],
            OptionTable::new("-u: -b: -c: -j: -o: --upload-pack= --branch= --config= --depth= --*"),
            &["-u", "--upload-pack"],
        ),
        (
            &["fetch", "pull", "ls-remote", "fetch-pack"],
            OptionTable::new("-j: -o: --upload-pack= --exec= --depth= --*"),
            &["--upload-pack", "--exec"],
        ),
        (
            &["push", "send-pack"],
            OptionTable::new("-o: --receive-pack= --exec= --*"),
            &["--receive-pack", "--exec"],
        ),
        (&["archive"], OptionTable::new("-o: --exec= --remote= --*"), &["--exec"]),
        (&["difftool"], OptionTable::new("-x: -t: --extcmd= --tool= --*"), &["-x", "--extcmd"]),
        (
            &["grep"],
            OptionTable::new("-e: -f: -m: -A: -B: -C: -O? --open-files-in-pager=? --*"),
            &["-O", "--open-files-in-pager"],
        ),
        (
            &["filter-branch"],
            OptionTable::new(
                "-d: --setup= --env-filter= --tree-filter= --index-filter= --parent-filter= --msg-filter= --commit-filter= \
         --tag-name-filter= --subdirectory-filter= --*",
            ),
            &[
                "--setup",
                "--env-filter",
                "--tree-filter",
                "--index-filter",
                "--parent-filter",
                "--msg-filter",
                "--commit-filter",
                "--tag-name-filter",
            ],
        ),
    ]
});

/// Lists the commands that git runs.
pub(super) fn follow<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, context: Context<'_, 't>) {
    let context = Context { is_certain: false, ..context };
    let options = getopt::parse(&run.argv, 1, &GLOBAL, OptionOrder::Strict);
    for (_, value) in options.values.iter().filter(|(option, _)| option == "-c") {
        setting(walk, value, run, context);
    }
    let at = options.operands;
    let words = run.argv.get(at + 1..).unwrap_or_default();
    for word in words {
        if let Some(command) = word.known().and_then(|word| word.strip_prefix("ext::")) {
            let length = word.known().map_or(0, |word| word.len() - command.len());
            text(walk, &word.without_prefix(length), run.span, context);
        }
    }
    let first = words.first().and_then(Arg::known);
    match (run.argv.get(at).and_then(Arg::known), first) {
        (Some("bisect"), Some("run")) => start(walk, run, at + 2, context),
        (Some("submodule"), Some("foreach")) => foreach(walk, run, at + 2, context),
        (Some("config"), _) => configured(walk, run, words, context),
        (Some(name), _) => subcommand(walk, run, name, at, context),
        (None, _) => {}
    }
}

/// `-c name=value`
fn setting<'t>(walk: &mut Walk<'t, '_>, value: &Arg<'t>, run: &Run<'t>, context: Context<'_, 't>) {
    let written = match value {
        Arg::Known(text) | Arg::Unknown { prefix: text, .. } => text,
    };
    if let Some((name, _)) = written.split_once('=') {
        set(walk, &name.to_ascii_lowercase(), &value.without_prefix(name.len() + 1), run, context);
    }
}

/// Runs a value when git would.
fn set<'t>(walk: &mut Walk<'t, '_>, name: &str, value: &Arg<'t>, run: &Run<'t>, context: Context<'_, 't>) {
    let shelled = value.known().is_some_and(|value| value.starts_with('!'));
    let is_alias = name.starts_with("alias.") || name.starts_with("credential.");
    let is_named = NAMED.iter().any(|(begin, end)| name.starts_with(begin) && name.ends_with(end));
    let is_switch = matches!(value.known(), Some("true" | "false" | ""));
    if is_alias && shelled {
        text(walk, &value.without_prefix(1), run.span, context);
    } else if (is_named || SETTINGS.contains(&name)) && !is_switch {
        text(walk, value, run.span, context);
    }
}

/// `git config name value`
fn configured<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, words: &[Arg<'t>], context: Context<'_, 't>) {
    for pair in words.windows(2) {
        if let [name, value] = pair
            && let Some(name) = name.known().filter(|name| name.contains('.'))
        {
            set(walk, &name.to_ascii_lowercase(), value, run, context);
        }
    }
}

fn foreach<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, at: usize, context: Context<'_, 't>) {
    static OPTIONS: OptionTable = OptionTable::new("--recursive --quiet -q");
    let options = getopt::parse(&run.argv, at, &OPTIONS, OptionOrder::Strict);
    let words = run.argv.get(options.operands..).unwrap_or_default();
    if !words.is_empty() {
        text(walk, &joined(words), run.span, context);
    }
}

fn subcommand<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, name: &str, at: usize, context: Context<'_, 't>) {
    let Some((_, spec, exec_options)) = SUBCOMMANDS.iter().find(|(names, ..)| names.contains(&name)) else {
        return;
    };
    let options = getopt::parse(&run.argv, at + 1, spec, OptionOrder::Anywhere);
    let is_executed = |option: &str| {
        exec_options.iter().any(|known| {
            *known == option || (option.len() > 3 && option.starts_with("--") && known.starts_with(option))
        })
    };
    for (_, value) in options.values.iter().filter(|(option, _)| is_executed(option)) {
        text(walk, value, run.span, context);
    }
}
