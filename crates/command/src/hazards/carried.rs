//! Programs, and files outside the workspace, in the arguments of a command that a rule of the user allows.
//!
//! A rule such as `allow restic **` is meant for everyday use, and no table knows which options of such a program run something. So
//! words that name a program, or an option that usually takes one, are not allowed unless the rule includes them. The built-in rules
//! have lists of options instead, and words of a command that they allow as well are data.

use super::command::Command;
use super::files::{is_elsewhere, is_outside};
use super::{Floor, Hazard, code};
use crate::context::CommandContext;
use stockade_shell::{Arg, Run};

/// The hazard of a word that may be run.
const CARRIES_PROGRAM: &str = "carries-program";
/// The hazard of a file outside the workspace.
const NAMES_OUTSIDE: &str = "names-outside";

/// Returns the hazard of the arguments of a command that a rule allows. `is_named` is whether the rule includes a word, and `is_known`
/// whether there is a built-in rule for the program.
pub(crate) fn carried(
    run: &Run<'_>,
    is_named: impl Fn(&str) -> bool,
    is_known: bool,
    context: &CommandContext,
) -> Option<Hazard> {
    let command = Command::of(run)?;
    let mut before = "";
    let mut sets = false;
    for word in command.words() {
        let (text, previous) = (word.known().unwrap_or_default(), before);
        before = text;
        sets |= matches!(text, "config" | "set" | "alias");
        if text.is_empty() || is_named(text) {
            continue;
        }
        let is_text = is_text(previous, text);
        if goes_beyond(command.name, previous, text) {
            return Some(hazard(
                CARRIES_PROGRAM,
                "does more than the everyday use of the program:",
                text,
                run,
            ));
        }
        if !is_text && (runs(text) || takes_program(text) || (sets && speaks_of_program(text))) {
            return Some(hazard(CARRIES_PROGRAM, "may run", text, run));
        }
        // The repository that git would find there is judged by itself.
        let is_folder = command.name == "git" && previous == "-C";
        if is_folder || is_text && text.contains(char::is_whitespace) {
            continue;
        }
        // An unknown program may run a file that any command can write.
        let is_outside = if is_known { is_outside } else { is_elsewhere };
        if let Some(path) = outside(word, |path| is_outside(path, context)) {
            return Some(hazard(NAMES_OUTSIDE, "names a file outside the workspace:", &path, run));
        }
    }
    None
}

/// Subcommands and options of programs that are allowed as a whole, by which they run a program that is configured or named, serve
/// others, or change what is not of the project. `a+b` is `b` behind `a`, and `*` matches any end.
const BEYOND: &[(&[&str], &str)] = &[
    (
        &["git"],
        "maintenance+start maintenance+register maintenance+unregister remote-ext remote-fd web--browse http-backend upload-archive instaweb daemon \
         credential credential-store credential-cache imap-send send-email fsmonitor--daemon submodule--helper for-each-repo gui citool lfs+install \
         --unsafe-paths --filters --textconv --ext-diff --web help+-w ext::* fd::* --remote=ext::* -s+./* -s+/* --strategy=*/* bisect+run",
    ),
    (
        &["npm", "pnpm", "yarn", "bun"],
        "explore edit set set-script hook token profile org team owner access adduser login logout star unstar config+set config+delete config+edit \
         config+fix c+set exec+-c exec+--call x+-c x+--call --call=* install-test install-ci-test it cit innit link ln --registry* \
         --ignore-scripts=false --//* --node-options* --git=*",
    ),
];

/// Whether a word is one of [`BEYOND`].
fn goes_beyond(program: &str, previous: &str, word: &str) -> bool {
    let is = |pattern: &str, word: &str| match pattern.split_once('*') {
        Some((start, end)) => word
            .strip_prefix(start)
            .is_some_and(|rest| end.is_empty() || rest.contains(end.trim_end_matches('*'))),
        None => pattern == word,
    };
    let rows = BEYOND.iter().filter(|(programs, _)| programs.contains(&program));
    let mut entries = rows.flat_map(|(_, entries)| entries.split_ascii_whitespace());
    entries.any(|entry| match entry.split_once('+') {
        Some((first, second)) => is(first, previous) && is(second, word),
        None => is(entry, word),
    })
}

fn hazard(id: &'static str, what: &str, word: &str, run: &Run<'_>) -> Hazard {
    Hazard {
        id,
        floor: Floor::Sandbox,
        reason: format!(
            "{what} `{}`, which the rule that allows the command does not include",
            word.escape_debug()
        ),
        fix: "remove the word, or add it to the rule that allows the command".to_owned(),
        span: run.span,
        variable: None,
    }
}

/// Options whose values are texts for readers.
const TEXTS: &[&str] = &[
    "-m",
    "--message",
    "--body",
    "--title",
    "--notes",
    "--description",
    "--subject",
    "--comment",
    "--grep",
    "--author",
    "-k",
    "--label",
    "--summary",
    "--reason",
];

/// Whether a word is a text for readers: the value of such an option, or an option with its value.
fn is_text(previous: &str, word: &str) -> bool {
    TEXTS.contains(&previous) || word.split_once('=').is_some_and(|(option, _)| TEXTS.contains(&option))
}

/// Whether a word is a program that runs text, contains the path of a shell, or begins a command as many programs write it.
fn runs(word: &str) -> bool {
    let is_program = |part: &str| {
        let first = part.split_whitespace().next().unwrap_or_default();
        let base = first.rsplit('/').next().unwrap_or_default();
        code::is_interpreter(base)
            || matches!(base, "awk" | "gawk" | "mawk" | "env" | "busybox" | "sudo" | "xargs")
    };
    let holds_shell = || {
        ["/bin/", "/bash", "/env "].iter().any(|start| {
            word.match_indices(start).any(|(at, _)| {
                let path = word.get(at..).unwrap_or_default();
                let end = |letter: char| letter.is_whitespace() || "\"'`;,|&()<>".contains(letter);
                is_program(path.split(end).next().unwrap_or_default())
            })
        })
    };
    let starts_command = |part: &str| {
        let part = part.trim_start_matches([' ', '"', '\'']);
        part.len() > 1 && part.starts_with(['!', '|']) && !part.starts_with("!=")
    };
    let starts_program = ["system(", "exec(", "popen(", "spawn("].iter().any(|call| word.contains(call));
    starts_program
        || word.split(['=', ',']).any(|part| is_program(part) || starts_command(part))
        || holds_shell()
}

/// Whether an option has the name of one that takes a program, and a value.
fn takes_program(word: &str) -> bool {
    let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
    let is_off = ["--no", "--ignore", "--skip", "--disable"].iter().any(|start| name.starts_with(start));
    let is_option = name.starts_with('-');
    !is_off
        && (is_option || value.is_some())
        && value.is_none_or(|value| !value.is_empty())
        && speaks_of_program(name)
}

/// Whether a name contains a word for programs: `--password-command`, `core.pager`, `ProxyCommand`.
fn speaks_of_program(name: &str) -> bool {
    const PARTS: &[&str] = &[
        "command", "commands", "cmd", "script", "scripts", "exec", "execute", "plugin", "plugins", "pager",
        "editor", "browser", "viewer", "hook", "hooks", "helper", "program", "shell", "eval", "preload",
    ];
    let name = name.to_ascii_lowercase();
    name.split(|letter: char| !letter.is_ascii_alphanumeric()).any(|part| {
        PARTS.contains(&part) || ["command", "pager", "editor"].iter().any(|end| part.ends_with(end))
    })
}

/// Returns a path in a word that is outside the workspace: the word itself, the value of an option, or a part of it.
fn outside(word: &Arg<'_>, is_outside: impl Fn(&Arg<'_>) -> bool) -> Option<String> {
    let text = word.known()?;
    // `-o/etc/x`: a letter with its value in the same word.
    let attached = text.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
    let is_end = |letter: char| letter.is_whitespace() || "=,:;@\"'()".contains(letter);
    // What follows the colon of an address begins with two slashes.
    let is_path = |part: &&str| {
        !part.starts_with("//") && (part.starts_with(['/', '~']) || part.split('/').any(|name| name == ".."))
    };
    let is_device = |part: &str| matches!(part, "/dev/null" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr");
    let mut parts = text.split(is_end).chain([attached]).filter(is_path).filter(|part| !is_device(part));
    parts.find(|part| is_outside(&Arg::Known((*part).into()))).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn id(text: &str) -> Option<&'static str> {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let context = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
        // Programs that the words run come first.
        let actions = script.actions();
        carried(actions.runs.last()?, |_| false, false, &context).map(|hazard| hazard.id)
    }

    #[test]
    fn programs_in_arguments_are_found() {
        for text in [
            "genie -c /bin/sh",
            "hg --config alias.x='!/bin/sh' x",
            "dnsmasq --conf-script='/bin/sh -c id'",
            "restic --password-command=id",
            "gem open -e '/bin/sh -s' x",
            "torify /bin/sh",
            "sshfs -o ssh_command=/tmp/x a b",
            "x -e 'system(\"/bin/sh\")'",
            "git for-each-repo --config=k -- -c alias.x='!id' x",
            "npm config set script-shell x",
            "git config core.pager x",
            "npm view x --browser=x",
            "x bash",
            "x python3.12 y",
            "x '|id'",
            "x -oProxyCommand=id h",
            "git maintenance start",
            "git archive --remote=ext::id HEAD",
            "git merge -s ./x y",
            "git merge --strategy=./x y",
            "git remote-ext x id",
            "npm explore x -- id",
            "npm config set registry http://e",
            "npm it evil",
            "npm outdated --registry=http://e",
        ] {
            assert_eq!(id(text), Some(CARRIES_PROGRAM), "{text}");
        }
        for text in [
            "git commit -m 'bash: run /bin/sh'",
            "git commit --message='!important'",
            "x run tests/bash_test.py",
            "x --description=script",
            "x --no-pager --ignore-scripts",
            "x pythonic perl5.md",
            "npm run scripts",
            "x a!=b",
            "tsc --typescript y",
            "git merge -s ours x",
            "git maintenance run",
            "npm run edit-all",
            "git commit -m 'see /etc/hosts'",
        ] {
            assert_eq!(id(text), None, "{text}");
        }
    }

    #[test]
    fn files_outside_the_workspace_are_found() {
        for text in [
            "git archive -o ~/.bashrc HEAD",
            "git bundle create /root/x HEAD",
            "git checkout-index --prefix=~/.config/ f",
            "git apply --directory=/root x",
            "x -o/etc/cron.d/x",
            "x ../../y",
            "x -d @/etc/passwd",
            "x open:/etc/x,creat",
            "x -c 'Include /etc/shadow'",
            "x --config /tmp/x.conf",
        ] {
            assert_eq!(id(text), Some(NAMES_OUTSIDE), "{text}");
        }
        for text in ["x /srv/app/y", "x -o /dev/null", "x a:b/c", "x https://e.example/a", "x a/b", "x a..b"]
        {
            assert_eq!(id(text), None, "{text}");
        }
    }
}
