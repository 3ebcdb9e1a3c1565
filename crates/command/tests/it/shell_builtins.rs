//! Real shells agree: what is allowed without a question runs nothing that was not judged, whatever option a builtin is given and
//! however a shell comes to be without its search path.
#![expect(clippy::disallowed_methods, reason = "runs real shells, and looks at what they left")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use stockade_command::{CommandPolicy, Effect};
use stockade_shell::{ReadOptions, Shell};

use crate::decides::place;

/// The shells, and how each lists its builtins. dash has no list of its own: dash(1).
const SHELLS: &[(&str, Shell, &str)] = &[
    ("bash", Shell::Bash, "compgen -b"),
    ("zsh", Shell::Zsh, "print -l ${(k)builtins}"),
    (
        "dash",
        Shell::Sh,
        "printf '%s\\n' . : alias bg cd command echo eval exec exit export false fg getopts hash jobs kill local printf pwd read \
         readonly return set shift test times trap true type ulimit umask unalias unset wait",
    ),
];

/// How a builtin could be given a command. `O` is an option, `M` a file that the command makes.
const GIVEN: &[&str] =
    &["O touch M", "O 'touch M'", "O x touch M", "O 'touch M' x", "O -- touch M", "x O touch M", "Otouch M"];

/// A folder that is gone when the test ends.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("stockade-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn made(&self) -> Vec<String> {
        let names = std::fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}

/// Runs texts one after the other, each in a shell of its own. Returns what the first of them prints, if there is such a shell.
fn run(program: &str, folder: &Path, texts: &[String]) -> Option<String> {
    let script = "for text; do (eval \"$text\") 2>/dev/null; done";
    let mut shell = Command::new("timeout");
    shell.args(["-k", "1", "60", program, "-c", script, program]).args(texts);
    let output = shell.current_dir(folder).stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    // 126 and 127 mean that this shell is not installed.
    let is_there = !matches!(output.status.code(), Some(126 | 127));
    is_there.then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn no_builtin_that_is_allowed_runs_what_was_not_judged() {
    let policy = CommandPolicy::builtin();
    for (program, shell, listed) in SHELLS {
        let folder = Folder::new(&format!("builtins-{program}"));
        let Some(builtins) = run(program, &folder.0, &[(*listed).to_owned()]) else {
            println!("skipped: {program} is not installed");
            continue;
        };
        let options = ReadOptions::for_shell(*shell);
        let mut allowed = Vec::new();
        let letters: Vec<String> =
            ('a'..='z').chain('A'..='Z').map(|letter| format!("-{letter}")).chain([String::new()]).collect();
        for builtin in builtins.lines() {
            for (letter, given) in
                letters.iter().flat_map(|letter| GIVEN.iter().map(move |given| (letter, given)))
            {
                let words = given.replace('M', &format!("made{}", allowed.len()));
                let text = format!("{builtin} {}", words.replacen('O', letter, 1));
                if policy.decide(&text, &options, &place()).effect == Effect::Allow {
                    allowed.push(text);
                }
            }
        }
        assert!(allowed.len() > 100, "{program}: {}", allowed.len());
        run(program, &folder.0, &allowed);
        let ran: Vec<&String> = folder
            .made()
            .iter()
            .filter_map(|made| allowed.get(made.strip_prefix("made")?.parse::<usize>().ok()?))
            .collect();
        assert!(ran.is_empty(), "{program} runs what is allowed: {ran:#?}");
    }
}

/// Ways to be without a search path, or with another one.
const WITHOUT_PATH: &[&str] = &[
    "unset PATH; ls",
    "unset -v PATH; ls",
    "unset x PATH; ls",
    "unset P{A,B}TH; ls",
    "unset \"PATH\"; ls",
    "unset PATH[0]; ls",
    "unset path; ls",
    "unset -m 'PA*'; ls",
    "unset -n PATH; ls",
    "x=PATH; unset $x; ls",
    "x=PATH; unset \"$x\"; ls",
    "for x in PATH; do unset $x; done; ls",
    "builtin unset PATH; ls",
    "command unset PATH; ls",
    "eval unset PATH; ls",
    "(unset PATH; ls)",
    "{ unset PATH; }; ls",
    "true && unset PATH; ls",
    "f() { unset PATH; }; f; ls",
    "unset PATH; command ls",
    "unset PATH; echo $(ls)",
    "f() { local PATH; ls; }; f",
    "f() { local -x PATH; ls; }; f",
    "f() { local -i PATH; ls; }; f",
    "f() { local path; ls; }; f",
    "f() { declare PATH; ls; }; f",
    "f() { typeset PATH; ls; }; f",
    "f() { typeset -h PATH; ls; }; f",
    "f() { declare -x PATH; ls; }; f",
    "f() { declare -r PATH; ls; }; f",
    "f() { private PATH; ls; }; f",
    "declare -a PATH; ls",
    "declare -A PATH; ls",
    "declare -i PATH; ls",
    "declare -u PATH; ls",
    "declare -n PATH; ls",
    "declare -n r=PATH; unset r; ls",
    "typeset -a path; ls",
    "typeset -T PATH path; ls",
    "typeset +x PATH; ls",
    "integer PATH; ls",
    "export -n PATH; ls",
    "readonly PATH; ls",
    "export PATH; ls",
    "read PATH < /dev/null; ls",
    "for PATH in; do :; done; ls",
    "for PATH in x; do ls; done",
    "getopts a PATH; ls",
    "mapfile PATH < /dev/null; ls",
    "printf -v PATH ''; ls",
    ": ${PATH::=}; ls",
    "env -u PATH ls",
    "env -u PATH sh -c ls",
    "env -u PATH bash -c ls",
    "env --unset=PATH ls",
    "exec -c ls",
];

#[test]
fn no_text_that_is_allowed_is_without_a_search_path() {
    let policy = CommandPolicy::builtin();
    for (program, shell, _) in SHELLS {
        let folder = Folder::new(&format!("path-{program}"));
        if run(program, &folder.0, &["echo".to_owned()]).is_none() {
            println!("skipped: {program} is not installed");
            continue;
        }
        let ls = folder.0.join("ls");
        std::fs::write(&ls, "#!/bin/sh\n: > ran\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(&ls, mode).unwrap();
        let options = ReadOptions::for_shell(*shell);
        let (mut wrong, mut ran) = (Vec::new(), 0);
        for text in WITHOUT_PATH {
            run(program, &folder.0, &[(*text).to_owned()]);
            let is_hostile = std::fs::remove_file(folder.0.join("ran")).is_ok();
            ran += usize::from(is_hostile);
            let effect = policy.decide(text, &options, &place()).effect;
            if is_hostile && effect == Effect::Allow {
                wrong.push(*text);
            }
        }
        assert!(ran > 2, "{program}: {ran}");
        assert!(wrong.is_empty(), "{program} runs ./ls: {wrong:#?}");
    }
}

/// The text before a command of a sed script that runs a program, and how it may continue from there.
const BEFORE: &[&str] = &[
    "", "p", "b", "bx", "b x", "t", "tx", "T", "Tx", ":x", ": x", "/z/b", "/z/bx", "1{b}", "1{b;}",
    "/z/{bx}", "$!b", "s/a/b/", "s/a/b/g", "y/a/b/", "n", "N", "a", "a x", "a\\", "i\\\nx", "c x", "q",
    "/z/q", "q5", "l", "l 5", "r g", "R g", "w g", "=", "#", "F", "z", "v 4.2", "/[/]z/b", "\\,z,b",
    "/z/I b", "0~2b", "/z/,+1b", "x;G", "D", "h",
];
const BETWEEN: &[&str] = &[";", " ", "\n", "}", ";}", "};", " ;", "\t", ";;", "\\\n", "", " }\n"];
const AFTER: &[&str] = &[
    "e touch M",
    "s/a/touch M/e",
    "s/a/touch M/ e",
    "s/a/b/w M",
    "w M",
    "W M",
    "1e touch M",
    "/a/e touch M",
    ":x;e touch M",
];

#[test]
fn sed_runs_and_writes_nothing_that_is_allowed() {
    let folder = Folder::new("sed");
    std::fs::write(folder.0.join("f"), "a\nb\n").unwrap();
    let policy = CommandPolicy::builtin();
    let mut texts = Vec::new();
    for (before, between) in
        BEFORE.iter().flat_map(|before| BETWEEN.iter().map(move |between| (before, between)))
    {
        for after in AFTER {
            let after = after.replace('M', &format!("made{}", texts.len()));
            texts.push(format!("sed '{before}{between}{after}' f"));
        }
    }
    if run("bash", &folder.0, &texts).is_none() {
        println!("skipped: bash is not installed");
        return;
    }
    let made: Vec<usize> =
        folder.made().iter().filter_map(|made| made.strip_prefix("made")?.parse().ok()).collect();
    assert!(made.len() > 500, "{}", made.len());
    let options = ReadOptions::for_shell(Shell::Bash);
    let is_allowed = |text: &&String| policy.decide(text, &options, &place()).effect == Effect::Allow;
    let wrong: Vec<&String> = made.iter().filter_map(|made| texts.get(*made)).filter(is_allowed).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}
