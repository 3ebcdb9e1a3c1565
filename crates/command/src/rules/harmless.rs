//! Programs without dangerous options: facts that let a rule allow words that are only known at run time.

use std::sync::LazyLock;

use super::program::{base, trusted};
use stockade_shell::lookup::{Names, names};
use stockade_shell::{Arg, Run, WordCount};

/// The worst effect that arguments of a program can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Harmlessness {
    /// An option may run, write or send something.
    None,
    /// No option does. Other arguments are files to read.
    Options,
    /// No argument does, and none is a file whose content is printed.
    Words,
}

/// Programs that only print, list or compute, with any arguments.
static WORDS: LazyLock<Names> = LazyLock::new(|| {
    names(&[
        "echo", "true", "false", ":", "ls", "stat", "basename", "dirname", "seq", "sleep", "pwd", "which",
        "whereis",
    ])
});

/// Programs that only read the files in their arguments.
static OPTIONS: LazyLock<Names> = LazyLock::new(|| {
    names(&[
        "cat",
        "head",
        "tail",
        "grep",
        "egrep",
        "fgrep",
        "cut",
        "paste",
        "diff",
        "cmp",
        "comm",
        "wc",
        "nl",
        "tac",
        "rev",
        "fold",
        "od",
        "hexdump",
        "strings",
        "du",
        "df",
        "realpath",
        "readlink",
        "sha1sum",
        "sha256sum",
        "sha512sum",
        "md5sum",
        "cksum",
        "b2sum",
        "zcat",
        "zgrep",
        "join",
        "column",
    ])
});

/// Options before the subcommand that only change the output.
const IN_FRONT: &[(&str, &[&str])] = &[
    (
        "git",
        &[
            "--no-pager",
            "-P",
            "--no-optional-locks",
            "--literal-pathspecs",
            "--no-replace-objects",
            "--no-advice",
        ],
    ),
    (
        "cargo",
        &[
            "-q",
            "--quiet",
            "-v",
            "--verbose",
            "--locked",
            "--offline",
            "--frozen",
            "--color=never",
            "--color=always",
        ],
    ),
    ("npm", &["-s", "--silent", "--quiet", "--no-color"]),
    ("pnpm", &["-s", "--silent", "--no-color"]),
    ("yarn", &["-s", "--silent"]),
    ("systemctl", &["--user", "--system", "--no-pager", "-q", "--quiet", "--full", "-l", "--all", "-a"]),
    ("kubectl", &["--match-server-version"]),
    ("pip", &["-q", "--quiet", "-v", "--verbose", "--no-color", "--disable-pip-version-check"]),
    ("pip3", &["-q", "--quiet", "-v", "--verbose", "--no-color", "--disable-pip-version-check"]),
];

/// Options with a value before the subcommand that select a directory. Reading another directory is harmless, but a user's rule
/// that allows a change applies to the current one. So only built-in rules skip these options.
const WHERE: &[(&str, &[&str])] = &[
    ("kubectl", &["-n", "--namespace", "--context", "--cluster", "--request-timeout"]),
    ("oc", &["-n", "--namespace", "--context"]),
    ("helm", &["-n", "--namespace", "--kube-context"]),
    ("aws", &["--region", "--profile", "--output", "--query"]),
    ("gcloud", &["--project", "--account", "--format", "--configuration"]),
    ("az", &["--subscription", "-o", "--output"]),
];

/// Returns the worst effect of the arguments of a command's program.
pub(crate) fn of(run: &Run<'_>) -> Harmlessness {
    let Some(name) = run.program().map(trusted).filter(|name| base(name) == *name) else {
        return Harmlessness::None;
    };
    // The options of `printf` end at its format.
    let is_format = |word: &str| !word.starts_with('-');
    let prints = name == "printf" && run.argv.get(1).and_then(Arg::known).is_some_and(is_format);
    if prints || WORDS.contains(name) {
        Harmlessness::Words
    } else if OPTIONS.contains(name) {
        Harmlessness::Options
    } else {
        Harmlessness::None
    }
}

/// Returns the number of words after the name that only change the output.
pub(super) fn in_front(argv: &[Arg<'_>], is_builtin: bool) -> usize {
    let Some(name) = argv.first().and_then(Arg::known).map(trusted) else { return 0 };
    let listed = |table: &'static [(&str, &'static [&str])]| {
        table.iter().find(|(program, _)| *program == name).map_or(&[][..], |(_, options)| *options)
    };
    let (shown, places) = (listed(IN_FRONT), if is_builtin { listed(WHERE) } else { &[] });
    let known = |at: usize| argv.get(at).and_then(Arg::known).unwrap_or_default();
    let mut passed = 0;
    loop {
        let option = known(passed + 1);
        let is_joined = option.split_once('=').is_some_and(|(option, _)| places.contains(&option));
        passed += match option {
            _ if shown.contains(&option) || is_joined => 1,
            _ if places.contains(&option) && is_value(known(passed + 2)) => 2,
            _ => return passed,
        };
    }
}

fn is_value(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-')
}

/// Returns a git command without the options that select a directory. The directory is checked separately, so rules only match
/// the subcommand.
pub(crate) fn without_folder<'t>(run: &Run<'t>) -> Option<Run<'t>> {
    let name = run.argv.first().and_then(Arg::known).map(trusted).filter(|name| *name == "git")?;
    // Most commands have no such option, and cost nothing here.
    run.argv.iter().find(|word| word.known() == Some("-C"))?;
    let (_, options) = IN_FRONT.iter().find(|(program, _)| *program == name)?;
    let mut argv: Vec<Arg<'t>> = run.argv.first().cloned().into_iter().collect();
    let mut rest = run.argv.get(1..).unwrap_or_default();
    loop {
        match rest {
            [option, folder, after @ ..] if option.known() == Some("-C") && is_one(folder) => rest = after,
            [option, after @ ..] if option.known().is_some_and(|option| options.contains(&option)) => {
                argv.push(option.clone());
                rest = after;
            }
            _ => break,
        }
    }
    argv.extend_from_slice(rest);
    let mut there = (argv.len() < run.argv.len()).then(|| run.clone())?;
    there.argv = argv;
    Some(there)
}

/// Returns whether a word is exactly one word at run time.
fn is_one(word: &Arg<'_>) -> bool {
    matches!(word, Arg::Known(_) | Arg::Unknown { count: WordCount::One, .. })
}

/// Returns whether a word only expands to file names: it has a glob, and no variable or command substitution.
pub(crate) fn is_only_pattern(spelling: &str) -> bool {
    let mut is_protected = false;
    let mut has_pattern = false;
    for letter in spelling.chars() {
        match letter {
            _ if is_protected => is_protected = false,
            '\\' => is_protected = true,
            '$' | '`' | '<' | '>' | '(' => return false,
            '*' | '?' | '[' => has_pattern = true,
            _ => {}
        }
    }
    has_pattern
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn with_run<T>(text: &str, ask: impl Fn(&Run<'_>) -> T) -> T {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        ask(&script.actions().runs[0])
    }

    #[test]
    fn programs_elsewhere_are_not_known() {
        for (text, expected) in [
            ("echo a", Harmlessness::Words),
            ("/bin/cat a", Harmlessness::Options),
            ("./cat a", Harmlessness::None),
            ("sort a", Harmlessness::None),
            ("printf %s $x", Harmlessness::Words),
            ("printf -v a $x", Harmlessness::None),
            ("/tmp/ls", Harmlessness::None),
        ] {
            assert_eq!(with_run(text, of), expected, "{text}");
        }
    }

    #[test]
    fn only_options_that_show_are_in_front() {
        for (text, expected) in [
            ("git --no-pager log", 1),
            ("git --no-pager -P log", 2),
            ("git -c a=b log", 0),
            ("git -C x --no-pager log", 0),
            ("git log --no-pager", 0),
            ("./git --no-pager log", 0),
            ("kubectl -n x get pods", 0),
        ] {
            assert_eq!(with_run(text, |run| in_front(&run.argv, false)), expected, "{text}");
        }
    }

    #[test]
    fn what_is_built_in_looks_through_where_a_program_looks() {
        for (text, expected) in [
            ("kubectl -n x get pods", 2),
            ("kubectl --context=x -n y get pods", 3),
            ("kubectl -n -x get", 0),
            ("kubectl -n", 0),
            ("kubectl -n $x get", 0),
            ("kubectl --kubeconfig=x get pods", 0),
            ("aws --region r --profile p s3 ls", 4),
            ("aws --endpoint-url=x s3 ls", 0),
            ("git -C x log", 0),
        ] {
            assert_eq!(with_run(text, |run| in_front(&run.argv, true)), expected, "{text}");
        }
    }

    #[test]
    fn git_is_the_same_without_its_folder() {
        let without = |text: &str| {
            with_run(text, |run| {
                without_folder(run)
                    .map(|run| run.argv.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
            })
        };
        for (text, expected) in [
            ("git -C x log -C", Some("git log -C")),
            ("git --no-pager -C x -C y -P log", Some("git --no-pager -P log")),
            ("git -C x -c a=b log", Some("git -c a=b log")),
            ("git -C $x log", None),
            ("git -C \"$x\" log", Some("git log")),
            ("git log -C x", None),
            ("git -c a=b -C x log", None),
            ("make -C x log", None),
        ] {
            assert_eq!(without(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_pattern_with_a_variable_is_more_than_one() {
        for (spelling, expected) in [
            ("*.txt", true),
            ("./a[bc]?", true),
            ("${x}*", false),
            ("$()*", false),
            ("\\*", false),
            ("a", false),
            ("", false),
        ] {
            assert_eq!(is_only_pattern(spelling), expected, "{spelling}");
        }
    }
}
