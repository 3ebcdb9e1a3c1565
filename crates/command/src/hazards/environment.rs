//! Variables that make other programs run code, and variables that hold secrets.

use super::Floor::{self, Ask, Deny};
use super::Hazard;
use crate::variables::fits;
use stockade_credentials::{Sensitivity, sensitivity};
use stockade_names::{
    HELPER_VARIABLES, HISTORY_VARIABLES, LOADER_VARIABLES, NODE_VARIABLES, SEARCH_VARIABLES,
    SEPARATOR_VARIABLES, TRACE_VARIABLES,
};
use stockade_shell::{Arg, Assignment, AssignmentScope, VariableChange};

/// Variables that are dangerous to set.
pub(super) struct Variables {
    pub(super) id: &'static str,
    floor: Floor,
    /// Names; a `*` at one end matches any text.
    names: &'static [&'static str],
    /// Values that are known to be harmless.
    harmless: fn(&str) -> bool,
    reason: &'static str,
    fix: &'static str,
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(super) matches: &'static [&'static str],
    #[cfg_attr(not(test), expect(dead_code, reason = "examples are for the reader and the tests"))]
    pub(super) clean: &'static [&'static str],
}

pub(super) static SHAPES: &[Variables] = &[
    Variables {
        // T1574.006: the dynamic linker loads the library into every program, also into those that a rule allows.
        id: "set-loader",
        floor: Deny,
        names: LOADER_VARIABLES,
        harmless: str::is_empty,
        reason: "loads code into every program that is started",
        fix: "do not set the variable",
        matches: &[
            "LD_PRELOAD=./x.so ls",
            "export LD_LIBRARY_PATH=/tmp",
            "env BASH_ENV=x bash y",
            "DYLD_INSERT_LIBRARIES=x ls",
            "PROMPT_COMMAND=id",
            "sudo LD_PRELOAD=x ls",
            "bash -c 'LD_AUDIT=x ls'",
            "ENV=x sh y",
            "declare -x LD_PRELOAD=x",
        ],
        clean: &[
            "echo LD_PRELOAD=x",
            "A=LD_PRELOAD ls",
            "LD_PRELOAD= ls",
            "NODE_ENV=test npm test",
            "unset LD_PRELOAD",
        ],
    },
    Variables {
        // PS4 is expanded before each traced command, with command substitutions.
        id: "set-trace",
        floor: Deny,
        names: TRACE_VARIABLES,
        // The prefix of trace lines is expanded before each command.
        harmless: |value| !value.contains(['`', '[', '@', '!']) && !value.contains("$("),
        reason: "is expanded before each traced command, and may run another one",
        fix: "write it without substitutions",
        matches: &[
            "PS4='$(id) '",
            "read -r PS4 < f",
            "for PS4 in '$(id)'; do ls; done",
            "PS4=`cat f`",
            "printf -v PS4 x",
        ],
        clean: &["PS4='+ '", "PS4='+ ${BASH_SOURCE}:${LINENO}: '; set -x", "echo $PS4", "PS4='> ' bash -x f"],
    },
    Variables {
        // A changed IFS splits later words at other characters, so this check would read other words than the shell.
        id: "set-separators",
        floor: Ask,
        names: SEPARATOR_VARIABLES,
        // IFS sets where the shell splits words, so one parsed word can become two. Separators that occur in no name or number
        // cannot split one.
        harmless: |value| value.chars().all(|sign| " \t\n,:;|".contains(sign)),
        reason: "changes where the shell splits words",
        fix: "set it before `read` only: `IFS=/ read -r a b`",
        matches: &["IFS=/", "read -r IFS < f", "IFS=$x; ls", "IFS=a eval ls", "export IFS=m"],
        clean: &[
            "IFS=/ read -r a b",
            "while IFS= read -r line; do echo \"$line\"; done < f",
            "IFS=$'\\n\\t'",
            "IFS=, read -ra parts",
            "echo $IFS",
        ],
    },
    Variables {
        // T1574.007: `ls` is then the attacker's `ls`, and rules by name allow it.
        id: "set-path",
        floor: Ask,
        names: SEARCH_VARIABLES,
        harmless: |value| value.split(':').all(|folder| OF_SYSTEM.contains(&folder)),
        reason: "changes which program or library a name resolves to",
        fix: "write the path of the program instead",
        matches: &[
            "PATH=/tmp:$PATH ls",
            "export PATH=.",
            "PYTHONSTARTUP=x python3",
            "PERL5OPT=-Mx perl y",
            "printf -v PATH /tmp; ls",
            "read -r PATH < f",
            "for PATH in /tmp; do ls; done",
            "BASH_CMDS[ls]=/tmp/ls",
            "hash -p /tmp/ls ls",
            "env PYTHONPATH=/x python3 y",
            "PYTHONPATH=src pytest",
            "HOME=/tmp ls",
            "PERL5DB='BEGIN{}' perl -d x",
            "unset PATH; ls",
            "unset -v x PATH",
            "unset P{A,B}TH; ls",
            "f() { local PATH; ls; }; f",
            "declare -a PATH; ls",
            "typeset +x PATH; ls",
            "export -n PATH; ls",
            "env -u PATH ls",
        ],
        clean: &[
            "echo $PATH",
            "PATH=/usr/local/bin:/usr/bin:/bin ls",
            "GOPATH=x ls",
            "A=PATH ls",
            "unset GOPATH",
            "unset -f PATH",
            "export PATH",
            "local_path=x ls",
            "unset PYTHONPATH; ls",
        ],
    },
    Variables {
        // `GIT_SSH_COMMAND`, `PAGER` and others are command lines, which ordinary programs run.
        id: "set-helper",
        floor: Ask,
        names: HELPER_VARIABLES,
        harmless: is_harmless_helper,
        reason: "makes a program start another one, or read settings from elsewhere",
        fix: "do not set the variable",
        matches: &[
            "GIT_SSH_COMMAND='sh -c id' git fetch",
            "PAGER=x git log",
            "GIT_EXTERNAL_DIFF=x git diff",
            "EDITOR='sh -c id' crontab -l",
            "LESSOPEN='|id %s' less x",
            "GIT_CONFIG_COUNT=1 git log",
            "export https_proxy=http://e",
            "RUSTC_WRAPPER=x cargo build",
            "MANPAGER='sh -c id' man ls",
        ],
        clean: &[
            "PAGER=cat git log",
            "GIT_PAGER= git log",
            "GIT_EDITOR=true git rebase --continue",
            "GIT_TERMINAL_PROMPT=0 git fetch",
            "GIT_AUTHOR_NAME=x git commit",
            "echo GIT_SSH_COMMAND=x",
            "EDITOR=vim x",
        ],
    },
    Variables {
        // `--require` loads a file into every Node.js program, such as npm and the tools that it starts.
        id: "set-node-options",
        floor: Ask,
        names: NODE_VARIABLES,
        harmless: |value| {
            value.split_whitespace().all(|option| {
                [
                    "--max-old-space-size",
                    "--no-warnings",
                    "--trace-",
                    "--enable-source-maps",
                    "--unhandled-rejections",
                    "--max-http-header-size",
                ]
                .iter()
                .any(|known| option.starts_with(known))
            })
        },
        reason: "loads code into every program that node starts",
        fix: "pass the option to the single program instead",
        matches: &[
            "NODE_OPTIONS='--require ./x.js' npm test",
            "NODE_OPTIONS=--import=x node y",
            "export NODE_OPTIONS=$x",
        ],
        clean: &["NODE_OPTIONS=--max-old-space-size=4096 npm test", "NODE_ENV=test node x"],
    },
    Variables {
        // T1562.003: without a history, the user cannot see what ran.
        id: "set-history",
        floor: Ask,
        names: HISTORY_VARIABLES,
        harmless: |_| false,
        reason: "hides commands from the shell history",
        fix: "do not change the history settings",
        matches: &["HISTFILE=/dev/null bash", "export HISTSIZE=0", "HISTCONTROL=ignorespace"],
        clean: &["echo $HISTFILE", "history"],
    },
];

/// Directories in which only root can put programs.
const OF_SYSTEM: &[&str] = &["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Variables that are dangerous to unset: without `PATH`, shells search programs in the current directory.
const MISSED: &[&str] = &["PATH"];

/// Returns the hazard of setting or unsetting a variable.
pub(super) fn of_assignment(assignment: &Assignment<'_>, found: &mut Vec<Hazard>) {
    let is_dangerous = match assignment.change {
        VariableChange::Set => true,
        // Unsetting any other variable only removes an effect.
        VariableChange::Unset => MISSED.contains(&&*assignment.name),
        _ => false,
    };
    if !is_dangerous {
        return;
    }
    let set = |shape: &&Variables| shape.is_about(&assignment.name) && !shape.permits(assignment);
    found.extend(SHAPES.iter().filter(set).map(|shape| Hazard {
        id: shape.id,
        // `PYTHONPATH=src pytest` is in the README of many projects.
        floor: if is_of_the_folder(assignment) { Floor::Sandbox } else { shape.floor },
        reason: format!("{} (`{}`)", shape.reason, assignment.name.escape_debug()),
        fix: shape.fix.to_owned(),
        span: assignment.span,
        variable: Some(assignment.name.to_string()),
    }));
}

/// Whether only modules of the directory itself are added: `PYTHONPATH=src pytest` runs no other code than `pytest`, which
/// searches there anyway.
fn is_of_the_folder(assignment: &Assignment<'_>) -> bool {
    let is_below = |path: &str| {
        // An absolute path or `..` could be another user's directory.
        !path.starts_with(['/', '~', '-'])
            && path.split('/').all(|name| {
                name != ".."
                    && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
            })
    };
    matches!(&*assignment.name, "PYTHONPATH" | "NODE_PATH" | "RUBYLIB" | "PERL5LIB")
        && assignment.scope == AssignmentScope::Command
        && assignment.value.known().is_some_and(|value| value.split(':').all(is_below))
}

/// Returns whether a dangerous variable is set in a harmless way.
pub(super) fn is_harmless(assignment: &Assignment<'_>) -> bool {
    let mut shapes = SHAPES.iter().filter(|shape| shape.is_about(&assignment.name)).peekable();
    shapes.peek().is_some() && shapes.all(|shape| shape.permits(assignment))
}

impl Variables {
    fn permits(&self, assignment: &Assignment<'_>) -> bool {
        assignment.value.known().is_some_and(|value| (self.harmless)(value))
            || assignment.name.starts_with("GIT_") && is_harmless_git(&assignment.name)
            // `read` starts no program and only splits its input.
            || self.id == "set-separators" && assignment.scope == AssignmentScope::Reading
    }

    fn is_about(&self, name: &str) -> bool {
        self.names.iter().any(|pattern| fits(pattern, name))
    }
}

/// Returns whether setting the variable can be dangerous.
pub(super) fn is_dangerous(name: &str) -> bool {
    SHAPES.iter().any(|shape| shape.is_about(name))
}

fn is_harmless_helper(value: &str) -> bool {
    matches!(
        value,
        "" | "cat"
            | "less"
            | "more"
            | "true"
            | ":"
            | "vim"
            | "vi"
            | "nvim"
            | "nano"
            | "emacs"
            | "0"
            | "/bin/true"
            | "/bin/cat"
    )
}

fn is_harmless_git(name: &str) -> bool {
    name.starts_with("GIT_AUTHOR_")
        || name.starts_with("GIT_COMMITTER_")
        || matches!(
            name,
            "GIT_TERMINAL_PROMPT" | "GIT_OPTIONAL_LOCKS" | "GIT_MERGE_AUTOEDIT" | "GIT_LFS_SKIP_SMUDGE"
        )
}

/// Whether a variable of this name usually holds a secret.
pub(super) fn is_secret_name(name: &str) -> bool {
    const ENDS: &[&str] = &[
        "_TOKEN",
        "_SECRET",
        "_PASSWORD",
        "_PASSWD",
        "_KEY",
        "_KEY_ID",
        "_CREDENTIALS",
        "_PAT",
        "_PWD",
        "_PASS",
        "_API_KEY",
        "_PRIVATE_KEY",
        "_AUTH",
        "_DSN",
        "_KEY_BASE",
    ];
    const NAMES: &[&str] =
        &["TOKEN", "SECRET", "PASSWORD", "API_KEY", "APIKEY", "DATABASE_URL", "PGPASSWORD", "MYSQL_PWD"];
    const PUBLIC: &[&str] = &["PUBLIC_KEY", "PRIMARY_KEY", "SORT_KEY", "CACHE_KEY", "OLD_PWD"];
    // In lower case, it is a variable of the script: `for token in $TOKENS`.
    let is_exported = !name.bytes().any(|byte| byte.is_ascii_lowercase());
    let is_secret = ENDS.iter().any(|end| name.ends_with(end))
        || (is_exported && sensitivity(name) >= Sensitivity::Secret);
    is_secret && !PUBLIC.iter().any(|end| name.ends_with(end)) || NAMES.contains(&name)
}

/// Returns whether a word shows a variable that usually holds a secret.
pub(super) fn shows_secret(word: &Arg<'_>) -> bool {
    let Arg::Unknown { spelling, .. } = word else { return false };
    spelling.split("${").skip(1).filter_map(|rest| rest.split_once('}')).any(|(name, _)| is_secret_name(name))
}
