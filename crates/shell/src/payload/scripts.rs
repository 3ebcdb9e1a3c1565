//! Scripts of other languages that start programs: `ed <<< '!rm x'`, `tclsh <<< 'exec rm x'`, `psql -c '\! rm x'`.
//!
//! Such a script is not parsed in its language: only constructs that start a program are searched, in the words of
//! the command and in its input where the text determines it. The text behind them is read as a shell command. This
//! overestimates rather than underestimates, so nothing found here is certain.

use std::sync::LazyLock;

use crate::actions::{Arg, Run};
use crate::lookup::{ByName, by_name};
use crate::runs::{Context, Stdin, Walk};

/// Programs, and how their scripts start others.
struct Language {
    names: &'static [&'static str],
    starts: &'static [Start],
}

/// How a script starts a program.
#[derive(Clone, Copy)]
enum Start {
    /// A line with this prefix: the command is the rest of it.
    Line(&'static str),
    /// Anything behind it, up to the end of the line.
    Behind(&'static str),
    /// A text in quotes behind it, or several.
    Call(&'static str),
}
use Start::{Behind, Call, Line};

/// Maximum number of program starts in one script.
const MAX_STARTS: usize = 64;

/// Calls that most languages have.
const CALLS: &[Start] = &[
    Call("system"),
    Call("exec"),
    Call("popen"),
    Call("spawn"),
    Call("shell_exec"),
    Call("passthru"),
    Call("proc_open"),
    Call("execute"),
    Call("cmd"),
    Call("callCommand"),
    Call("do shell script"),
    Call("shell-command"),
    Call("qx"),
];

static LANGUAGES: &[Language] = &[
    // Editors, pagers and clients: ed(1), ftp(1), dc(1).
    Language { names: &["ed", "red", "less", "more", "most", "view"], starts: &[Behind("!")] },
    Language {
        names: &["vim", "vi", "nvim", "ex"],
        starts: &[Behind("!"), Call("system"), Call("systemlist")],
    },
    Language {
        names: &[
            "ftp", "sftp", "lftp", "tftp", "telnet", "mail", "mailx", "mutt", "dc", "bc", "gdb", "cgdb",
            "lldb",
        ],
        starts: &[Line("!"), Line("~!"), Line("shell "), Line("platform shell "), Call("system")],
    },
    // Databases.
    Language { names: &["sqlite3", "sqlite"], starts: &[Line(".shell "), Line(".system ")] },
    Language { names: &["psql", "mysql", "mariadb"], starts: &[Behind("\\!"), Line("system ")] },
    // Languages without quotes around words.
    Language {
        names: &["tclsh", "tclsh8.6", "wish", "expect", "jimsh"],
        starts: &[
            Line("exec "),
            Line("spawn "),
            Line("system "),
            Behind("[exec "),
            Behind("; exec "),
            Behind(";exec "),
            Behind("open |"),
        ],
    },
    Language { names: &["m4"], starts: &[Behind("syscmd(")] },
    Language { names: &["make", "gmake", "bmake"], starts: &[Line("\t"), Behind(";"), Behind("$(shell ")] },
    Language { names: &["gnuplot"], starts: &[Line("!"), Line("shell "), Call("system")] },
    Language { names: &["awk", "gawk", "mawk", "nawk"], starts: &[Call("system"), Call("|")] },
    Language { names: &["julia"], starts: &[Call("run"), Call("system")] },
    // Those of which a text in quotes is run.
    Language {
        names: &[
            "perl",
            "ruby",
            "php",
            "lua",
            "luajit",
            "lua5.3",
            "lua5.4",
            "Rscript",
            "R",
            "octave",
            "guile",
            "erl",
            "elixir",
            "iex",
            "mix",
            "ghc",
            "ghci",
            "runghc",
            "groovy",
            "scala",
            "jshell",
            "jjs",
            "osascript",
            "emacs",
            "clisp",
            "sbcl",
            "racket",
            "ocaml",
            "swift",
            "irb",
            "pry",
        ],
        starts: CALLS,
    },
];

static BY_NAME: LazyLock<ByName<Vec<&'static Language>>> =
    LazyLock::new(|| by_name(LANGUAGES, |language| language.names));

/// Lists the programs that scripts in the words or in the input of a program start.
pub(super) fn follow<'t>(walk: &mut Walk<'t, '_>, run: &Run<'t>, name: &str, context: Context<'_, 't>) {
    let Some(language) = BY_NAME.get(name).and_then(|rows| rows.first()) else { return };
    let mut found = Vec::new();
    for word in run.argv.iter().skip(1).filter_map(Arg::known) {
        commands(language, word.trim_start_matches(['+', ':']), &mut found);
    }
    if let Stdin::Text(input) = context.stdin {
        commands(language, input, &mut found);
    }
    for command in found {
        walk.nested_perhaps(
            &command,
            run.span,
            Context { is_certain: false, stdin: &Stdin::Inherited, ..context },
        );
    }
}

/// Adds the commands that a script starts.
fn commands(language: &Language, script: &str, found: &mut Vec<String>) {
    for start in language.starts {
        match *start {
            Line(mark) => {
                let lines = script.lines().filter_map(|line| line.strip_prefix(mark));
                found.extend(lines.take(MAX_STARTS).map(str::to_owned));
            }
            Behind(mark) => {
                // Behind `$(shell ` and `syscmd(` the command ends with the parenthesis.
                let closes = mark.contains('(') || mark.starts_with('[');
                let behind = script.match_indices(mark).take(MAX_STARTS);
                let lines = behind.filter_map(|(at, _)| script.get(at + mark.len()..)?.lines().next());
                found.extend(lines.map(|line| if closes { unwrapped(line) } else { line.to_owned() }));
            }
            Call(name) => {
                let calls = script.match_indices(name).take(MAX_STARTS);
                found.extend(calls.filter_map(|(at, _)| texts_behind(script.get(at + name.len()..)?)));
            }
        }
        found.truncate(MAX_STARTS * 4);
    }
}

/// Returns a command without the quotes of m4 and the closing parenthesis.
fn unwrapped(line: &str) -> String {
    let end = line.rfind([')', ']']).unwrap_or(line.len());
    line.get(..end).unwrap_or(line).replace(['`', '\''], "")
}

/// Returns the quoted strings behind the name of a call, joined as words.
fn texts_behind(code: &str) -> Option<String> {
    /// A longer text is not a command of a call.
    const MAX_TEXT: usize = 4096;
    const BETWEEN: [char; 7] = [' ', '(', '[', '{', ',', '\t', '~'];
    let mut code = code;
    let mut words: Vec<&str> = Vec::new();
    loop {
        let rest = code.trim_start_matches(BETWEEN);
        let quote = rest.chars().next().filter(|sign| matches!(sign, '"' | '\'' | '`'));
        let Some(quote) = quote.filter(|_| words.len() < MAX_STARTS) else { break };
        let inner = rest.get(1..)?;
        let end = inner.find(quote).filter(|end| *end <= MAX_TEXT)?;
        words.push(inner.get(..end)?);
        code = inner.get(end + 1..)?;
    }
    (!words.is_empty()).then(|| words.join(" "))
}
