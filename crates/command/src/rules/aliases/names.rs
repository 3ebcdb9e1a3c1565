//! Other names of the program that is run: `python3.11 -m pip` runs pip, `/usr/lib/git-core/git-push` is `git push`.
//!
//! They are derived from the command and not from the rule, because there are too many. Only rules that ask or deny apply to
//! them, because a module in the working directory takes precedence over that of the system.

use std::borrow::Cow;

use stockade_shell::{Arg, Run};

use crate::rules::program::base;

/// GNU programs whose names start with `g` on systems where the plain name is another program.
const WITH_G: &[&str] = &[
    "rm", "mv", "cp", "ln", "cat", "ls", "dd", "chmod", "chown", "chgrp", "shred", "truncate", "touch",
    "tee", "mkdir", "rmdir", "install", "head", "tail", "kill", "nice", "nohup", "timeout", "env", "stat",
    "date", "sort", "split", "unlink", "find", "xargs", "sed", "tar", "make", "mktemp", "mkfifo", "chroot",
    "stdbuf", "grep", "base64", "od",
];

/// Returns the same command under other names of its program, the closest first, for programs that have rules.
pub(crate) fn renamed<'t>(run: &Run<'t>, is_asked: impl Fn(&str) -> bool) -> Vec<Run<'t>> {
    let Some(name) = run.argv.first().and_then(Arg::known).map(base) else { return Vec::new() };
    if !may_have_another(name) {
        return Vec::new();
    }
    let mut found: Vec<Run<'t>> = Vec::new();
    let mut with = |words: &[&str], from: usize| {
        if !words.first().is_some_and(|name| is_asked(name)) {
            return;
        }
        let words = words.iter().map(|word| Arg::Known(Cow::Owned((*word).to_owned())));
        let mut renamed = run.clone();
        renamed.argv.splice(..from.min(run.argv.len()), words);
        found.push(renamed);
    };
    for shorter in without_version(name) {
        with(&[shorter], 1);
    }
    if let Some(plain) = name.strip_prefix('g').filter(|plain| WITH_G.contains(plain)) {
        with(&[plain], 1);
    }
    if let Some(command) = name.strip_prefix("git-").filter(|command| !command.is_empty()) {
        with(&["git", command], 1);
    }
    if let Some((module, next)) = module(name, &run.argv) {
        with(&[module], next);
    }
    found
}

/// Quickly excludes most names that have no other one.
fn may_have_another(name: &str) -> bool {
    name.ends_with(|letter: char| letter.is_ascii_digit()) || name.starts_with('g') || name.starts_with("py")
}

/// Returns `python3` and `python` for `python3.11`, and `gcc` for `gcc-12`.
fn without_version(name: &str) -> impl Iterator<Item = &str> {
    let minor = name.rsplit_once('.').filter(|(_, minor)| minor.bytes().all(|digit| digit.is_ascii_digit()));
    let minor =
        minor.map(|(major, _)| major).filter(|major| major.ends_with(|letter: char| letter.is_ascii_digit()));
    let bare = name.trim_end_matches(is_of_version).trim_end_matches('-');
    let bare = Some(bare).filter(|bare| bare.len() > 1 && bare.len() < name.len());
    minor.into_iter().chain(bare)
}

/// Returns the module that Python runs (`-m`), and the position of its arguments.
fn module<'a>(name: &str, argv: &'a [Arg<'_>]) -> Option<(&'a str, usize)> {
    // `python3.13t` is the free-threaded build, and `python3-intel64` the one for that processor.
    let plain = name.split('-').next().unwrap_or(name);
    let plain = plain.strip_suffix('t').filter(|plain| plain.ends_with(is_of_version)).unwrap_or(plain);
    if !matches!(plain.trim_end_matches(is_of_version), "python" | "pypy" | "py") {
        return None;
    }
    let mut at = 1;
    loop {
        if argv.get(at).and_then(Arg::known) == Some("--check-hash-based-pycs") {
            at += 2;
            continue;
        }
        let letters = argv.get(at).and_then(Arg::known)?.strip_prefix('-')?;
        let value = letters.find(['m', 'c', 'W', 'X']).filter(|_| !letters.starts_with('-'));
        let Some(option) = value else {
            at += 1;
            continue;
        };
        let (letter, attached) = letters.get(option..)?.split_at_checked(1)?;
        let next = at + 1 + usize::from(attached.is_empty());
        match letter {
            "m" if attached.is_empty() => return Some((without_main(argv.get(at + 1)?.known()?), next)),
            "m" => return Some((without_main(attached), next)),
            "c" => return None,
            _ => at = next,
        }
    }
}

const fn is_of_version(letter: char) -> bool {
    letter.is_ascii_digit() || letter == '.'
}

/// Returns `pip` for `pip.__main__` and `pip._internal`.
fn without_main(module: &str) -> &str {
    module.split("._").next().unwrap_or(module)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn of(text: &str) -> Vec<String> {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let actions = script.actions();
        let shown = |run: Run<'_>| run.argv.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        renamed(&actions.runs[0], |_| true).into_iter().map(shown).collect()
    }

    #[test]
    fn a_program_has_other_names() {
        for (text, expected) in [
            ("python3.11 x.py", &["python3 x.py", "python x.py"][..]),
            ("python -m pip install x", &["pip install x"]),
            ("python -Im pip install x", &["pip install x"]),
            ("python -mpip install x", &["pip install x"]),
            ("python -W ignore -Wd -X dev -m pip.__main__ install x", &["pip install x"]),
            ("/usr/bin/python3 -B -m pytest", &["python -B -m pytest", "pytest"]),
            ("python -c 'x' -m pip", &[]),
            ("python x.py -m pip", &[]),
            ("python --version", &[]),
            ("python", &[]),
            ("py -3 -m pip install x", &["pip install x"]),
            ("python --check-hash-based-pycs always -m pip install x", &["pip install x"]),
            ("python3-intel64 -m pip install x", &["python3-intel -m pip install x", "pip install x"]),
            ("gcc-12 a.c", &["gcc a.c"]),
            ("pip3 install x", &["pip install x"]),
            ("grm -rf x", &["rm -rf x"]),
            ("grep x", &[]),
            ("git push", &[]),
            ("/usr/lib/git-core/git-push origin", &["git push origin"]),
            ("\"$x\" a", &[]),
            ("7 x", &[]),
        ] {
            assert_eq!(of(text), expected, "{text}");
        }
    }
}
