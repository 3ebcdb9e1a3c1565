//! Shell options that change the parsing of the following text, and those that do not.
//!
//! bash(1), `set` and `shopt`; zshoptions(1); POSIX.1, `set`. An option that is in no list is assumed to change
//! parsing: history expansion runs text in a comment, `keyword` turns an argument into an assignment, and in `posix`
//! mode other functions run.

use crate::actions::Arg;
use crate::options::Shell;

/// Whether an option is switched on or off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}
use Switch::{Off, On};

/// Letters of `set` that are harmless both on and off, then those that are harmless when switched on, which is their
/// initial state.
const LETTERS: &[(Shell, &str, &str)] = &[
    // `a` exports every assigned variable, and assignments count here whether exported or not.
    (Shell::Bash, "abefmnuvxCET", "hB"),
    (Shell::Sh, "abefmnuvxC", "hB"),
    (Shell::Zsh, "aefnuvxC", ""),
];

/// Names of `set -o` that are harmless.
const NAMES: &[&str] = &[
    "allexport",
    "errexit",
    "errtrace",
    "functrace",
    "ignoreeof",
    "monitor",
    "noclobber",
    "noexec",
    "noglob",
    "nolog",
    "notify",
    "nounset",
    "pipefail",
    "verbose",
    "vi",
    "emacs",
    "xtrace",
];

/// Names of `set -o` that are harmless when they are switched on.
const NAMES_ON: &[&str] = &["hashall", "braceexpand", "interactive-comments"];

/// Names of `shopt` that are harmless.
const SHOPT: &[&str] = &[
    "checkhash",
    "checkjobs",
    "checkwinsize",
    "cmdhist",
    "complete_fullquote",
    "direxpand",
    "dirspell",
    "dotglob",
    "execfail",
    "failglob",
    "force_fignore",
    "globasciiranges",
    "globskipdots",
    "globstar",
    "gnu_errfmt",
    "histappend",
    "hostcomplete",
    "huponexit",
    "inherit_errexit",
    "lithist",
    "mailwarn",
    "no_empty_cmd_completion",
    "nocaseglob",
    "nocasematch",
    "nullglob",
    "progcomp",
    "shift_verbose",
    "varredir_close",
    "xpg_echo",
];

/// Names of `shopt` that are harmless when they are switched on. Of `extglob` see [`Change::Patterns`].
const SHOPT_ON: &[&str] =
    &["interactive_comments", "promptvars", "sourcepath", "extquote", "patsub_replacement"];

/// Names of `setopt` that are harmless, without underscores. The prefix `no` switches an option off.
const SETOPT: &[&str] = &[
    "aliasfuncdef",
    "allexport",
    "alwaystoend",
    "appendhistory",
    "autolist",
    "automenu",
    "autopushd",
    "badpattern",
    "beep",
    "bgnice",
    "caseglob",
    "casematch",
    "checkjobs",
    "checkrunningjobs",
    "clobber",
    "completeinword",
    "cshnullglob",
    "errexit",
    "errreturn",
    "evallineno",
    "exec",
    "extendedhistory",
    "flowcontrol",
    "globdots",
    "globstarshort",
    "histbeep",
    "histfcntllock",
    "histfindnodups",
    "histignorealldups",
    "histignoredups",
    "histreduceblanks",
    "histsavenodups",
    "hup",
    "ignoreeof",
    "incappendhistory",
    "listambiguous",
    "listbeep",
    "listpacked",
    "listtypes",
    "localoptions",
    "localtraps",
    "longlistjobs",
    "markdirs",
    "monitor",
    "multibyte",
    "nomatch",
    "notify",
    "nullglob",
    "numericglobsort",
    "pathscript",
    "pipefail",
    "printexitvalue",
    "pushdignoredups",
    "pushdminus",
    "pushdsilent",
    "pushdtohome",
    "rcexpandparam",
    "rmstarsilent",
    "rmstarwait",
    "sharehistory",
    "typesetsilent",
    "typesettounset",
    "unset",
    "verbose",
    "vi",
    "emacs",
    "warncreateglobal",
    "warnnestedvar",
    "xtrace",
    "zle",
    "dotglob",
];

/// Names of `setopt` that are harmless when switched on, which is their initial state.
const SETOPT_ON: &[&str] =
    &["interactivecomments", "hashall", "hashcmds", "hashdirs", "multios", "equals", "glob", "bareglobqual"];

/// Effect of an option change on the following text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Change {
    /// No relevant effect on it.
    Nothing,
    /// Patterns in parentheses: `!(a)` is one from here on.
    Patterns,
    /// Text may be read in another way.
    Reading,
}

/// Returns the effect of a builtin with these words, the first of which is its name.
pub(crate) fn changed(name: &str, argv: &[Arg<'_>], shell: Shell) -> Change {
    let words = argv.get(1..).unwrap_or_default();
    match name {
        "set" => by_set(words, shell),
        "shopt" if shell == Shell::Bash => by_shopt(words),
        "setopt" if shell == Shell::Zsh => by_setopt(words, On),
        "unsetopt" if shell == Shell::Zsh => by_setopt(words, Off),
        "emulate" if shell == Shell::Zsh => by_emulate(words),
        "history" | "fc" | "r" if runs_history(name, words, shell) => Change::Reading,
        "functions" if words.iter().any(|word| may_be_option(word)) && shell == Shell::Zsh => Change::Reading,
        // These install functions in place of builtins and programs, from files and modules.
        "enable" | "disable" | "zmodload" | "autoload" | "unhash" if !words.is_empty() => Change::Reading,
        _ => Change::Nothing,
    }
}

/// Whether a builtin or a shell may be told to export every variable that is set from then on.
pub(crate) fn may_export_all(name: &str, words: &[Arg<'_>]) -> bool {
    let is_named = |text: &str| text.to_ascii_lowercase().replace('_', "") == "allexport";
    let is_switch = |text: &str| text.starts_with('-') && !text.starts_with("--") && text.contains('a');
    let words = || words.iter().take_while(|word| word.known() != Some("--")).filter_map(Arg::known);
    match name {
        "set" => words().any(|word| is_switch(word) || is_named(word)),
        "shopt" | "setopt" => words().any(is_named),
        _ => words()
            .take_while(|word| word.starts_with('-') || is_named(word))
            .any(|word| is_switch(word) || is_named(word)),
    }
}

/// Returns the effect of a shell's options before the text that it runs.
pub(crate) fn at_start(words: &[Arg<'_>], shell: Shell) -> Change {
    let mut found = Change::Nothing;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else { return Change::Reading };
        let Some((switch, letters)) = cluster(text) else { break };
        if let Some(name) = text.strip_prefix("--") {
            if matches!(name, "rcfile" | "init-file" | "emulate") {
                rest.next();
            }
            found = found.max(long_at_start(name, shell));
            continue;
        }
        for letter in letters.chars() {
            found = found.max(match letter {
                'o' => rest.next().map_or(Change::Nothing, |name| set_name(name, switch, shell)),
                'O' => rest.next().map_or(Change::Nothing, |name| shopt_name(name, switch)),
                // Changes where the text comes from, or the kind of shell, but not the parsing of the text.
                'c' | 's' | 'l' | 'i' | 'p' | 'r' | 'D' => Change::Nothing,
                'f' if shell == Shell::Zsh => Change::Nothing,
                letter => set_letter(letter, switch, shell),
            });
        }
    }
    found
}

/// Long options of shells that do not affect parsing.
const LONG: &[&str] = &[
    "",
    "command",
    "dump-po-strings",
    "dump-strings",
    "help",
    "init-file",
    "interactive",
    "login",
    "noediting",
    "noprofile",
    "norc",
    "norcs",
    "no-rcs",
    "rcfile",
    "restricted",
    "verbose",
    "version",
];

fn long_at_start(name: &str, shell: Shell) -> Change {
    if LONG.contains(&name) {
        return Change::Nothing;
    }
    // zsh accepts the name of any option.
    if shell == Shell::Zsh { setopt_name(&name.replace('-', "_"), On) } else { Change::Reading }
}

fn by_set(words: &[Arg<'_>], shell: Shell) -> Change {
    let mut found = Change::Nothing;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else {
            // `set "$x"`: an operand, or options. Nothing is an option behind the first operand.
            return if may_be_option(word) { Change::Reading } else { found };
        };
        if matches!(text, "--" | "-") {
            break;
        }
        let Some((switch, letters)) = cluster(text) else { break };
        for letter in letters.chars() {
            found = found.max(match letter {
                // Without a name it only prints a list.
                'o' => rest.next().map_or(Change::Nothing, |name| set_name(name, switch, shell)),
                // zsh: `set -A name value …`, an assignment that is listed elsewhere.
                'A' if shell == Shell::Zsh => return found,
                letter => set_letter(letter, switch, shell),
            });
        }
    }
    found
}

fn cluster(text: &str) -> Option<(Switch, &str)> {
    let on = text.strip_prefix('-').map(|letters| (On, letters));
    on.or_else(|| text.strip_prefix('+').map(|letters| (Off, letters)))
}

fn may_be_option(word: &Arg<'_>) -> bool {
    match word {
        Arg::Known(text) => text.starts_with(['-', '+']),
        Arg::Unknown { prefix, .. } => prefix.is_empty() || prefix.starts_with(['-', '+']),
    }
}

fn set_letter(letter: char, switch: Switch, shell: Shell) -> Change {
    let is_harmless = LETTERS
        .iter()
        .any(|(of, both, on)| *of == shell && (both.contains(letter) || switch == On && on.contains(letter)));
    if is_harmless { Change::Nothing } else { Change::Reading }
}

fn set_name(name: &Arg<'_>, switch: Switch, shell: Shell) -> Change {
    match name.known() {
        Some(name) if shell == Shell::Zsh => setopt_name(name, switch),
        Some(name) => one_of(name, switch, NAMES, NAMES_ON),
        None => Change::Reading,
    }
}

fn one_of(name: &str, switch: Switch, both: &[&str], on: &[&str]) -> Change {
    let is_harmless = both.contains(&name) || switch == On && on.contains(&name);
    if is_harmless { Change::Nothing } else { Change::Reading }
}

fn shopt_name(name: &Arg<'_>, switch: Switch) -> Change {
    match name.known() {
        Some("extglob") => Change::Patterns,
        Some(name) => one_of(name, switch, SHOPT, SHOPT_ON),
        None => Change::Reading,
    }
}

fn by_shopt(words: &[Arg<'_>]) -> Change {
    let (mut switch, mut of_set) = (None, false);
    let mut found = Change::Nothing;
    let mut options = true;
    for word in words {
        match word.known() {
            Some("--") if options => options = false,
            Some(text) if options && text.starts_with('-') => {
                if text.contains('s') {
                    switch = Some(On);
                }
                if text.contains('u') {
                    switch = Some(Off);
                }
                of_set |= text.contains('o');
            }
            None if options && switch.is_none() && may_be_option(word) => return Change::Reading,
            _ => {
                options = false;
                found = found.max(match switch {
                    // Prints the options only.
                    None => Change::Nothing,
                    Some(switch) if of_set => set_name(word, switch, Shell::Bash),
                    Some(switch) => shopt_name(word, switch),
                });
            }
        }
    }
    found
}

fn by_setopt(words: &[Arg<'_>], switch: Switch) -> Change {
    let mut found = Change::Nothing;
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some(text) = word.known() else { return Change::Reading };
        found = found.max(match cluster(text) {
            Some((_, "-")) => Change::Nothing,
            Some((letters_switch, letters)) => {
                // `setopt -e` switches on, `unsetopt -e` off.
                let letters_switch = if switch == On { letters_switch } else { opposite(letters_switch) };
                letters.chars().fold(Change::Nothing, |found, letter| {
                    found.max(match letter {
                        'o' => rest
                            .next()
                            .map_or(Change::Nothing, |name| set_name(name, letters_switch, Shell::Zsh)),
                        letter => set_letter(letter, letters_switch, Shell::Zsh),
                    })
                })
            }
            None => setopt_name(text, switch),
        });
    }
    found
}

const fn opposite(switch: Switch) -> Switch {
    match switch {
        On => Off,
        Off => On,
    }
}

/// zshoptions(1): case and underscores do not count, and `no` turns the meaning round.
fn setopt_name(name: &str, switch: Switch) -> Change {
    let plain: String = name.chars().filter(|c| *c != '_').map(|c| c.to_ascii_lowercase()).collect();
    let known = |name: &str, switch| {
        one_of(name, switch, SETOPT, SETOPT_ON) == Change::Nothing
            || one_of(name, switch, NAMES, &[]) == Change::Nothing
    };
    let is_harmless =
        known(&plain, switch) || plain.strip_prefix("no").is_some_and(|name| known(name, opposite(switch)));
    if is_harmless { Change::Nothing } else { Change::Reading }
}

/// `emulate zsh` restores the mode for which the text is parsed anyway.
fn by_emulate(words: &[Arg<'_>]) -> Change {
    let known: Option<Vec<&str>> = words.iter().map(Arg::known).collect();
    match known.as_deref() {
        Some([] | ["zsh" | "-L" | "-LR" | "-RL" | "-l"] | ["-L" | "-R" | "-LR" | "-RL", "zsh"]) => {
            Change::Nothing
        }
        _ => Change::Reading,
    }
}

/// `fc` and `r` run earlier commands, and `history -s` changes what those were. Listing is harmless.
fn runs_history(name: &str, words: &[Arg<'_>], shell: Shell) -> bool {
    let lists = |word: &Arg<'_>| word.known().is_some_and(|text| text == "-l" || text.starts_with("-l"));
    match name {
        "history" => words
            .iter()
            .any(|word| !word.known().is_some_and(|text| text.bytes().all(|byte| byte.is_ascii_digit()))),
        "fc" => !words.first().is_some_and(lists),
        _ => shell == Shell::Zsh,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    fn change(text: &str, shell: Shell) -> Change {
        let argv: Vec<Arg<'_>> = text
            .split(' ')
            .map(|word| if word == "$x" { Arg::any() } else { Arg::Known(Cow::Borrowed(word)) })
            .collect();
        let name = argv.first().and_then(Arg::known).unwrap_or_default().to_owned();
        changed(&name, &argv, shell)
    }

    #[test]
    fn options_that_change_nothing() {
        for text in [
            "set -euo pipefail",
            "set -x",
            "set +x",
            "set -Eeuo pipefail",
            "set -e -o pipefail -u",
            "set -o errexit",
            "set -- a -k",
            "set a -k",
            "set -a",
            "set +o pipefail",
            "set -f",
            "set -m",
            "set",
            "set -o",
            "set -T",
            "shopt -s nullglob globstar dotglob",
            "shopt -u nullglob",
            "shopt",
            "shopt -q histexpand",
            "shopt -so pipefail",
            "shopt -s inherit_errexit",
            "history",
            "history 20",
            "fc -l",
        ] {
            assert_eq!(change(text, Shell::Bash), Change::Nothing, "{text}");
        }
        for text in [
            "set -euo pipefail",
            "setopt pipefail",
            "setopt NULL_GLOB no_nomatch",
            "unsetopt nomatch",
            "setopt -e",
            "emulate -L zsh",
            "setopt local_options err_exit",
            "setopt",
            "set -o err_return",
        ] {
            assert_eq!(change(text, Shell::Zsh), Change::Nothing, "{text}");
        }
        assert_eq!(change("shopt -s extglob", Shell::Bash), Change::Patterns);
    }

    #[test]
    fn options_that_change_how_text_is_read() {
        for text in [
            "set -k",
            "set -ek",
            "set -e -k",
            "set -o keyword",
            "set -eo keyword",
            "set -o errexit -o keyword",
            "set -H",
            "set -eH",
            "set -o histexpand",
            "set -o history",
            "set +o history",
            "set -o posix",
            "set +B",
            "set +h",
            "set -P",
            "set -eo pipefail -o posix",
            "set $x",
            "set -o $x",
            "set -e $x",
            "shopt -s expand_aliases",
            "shopt -so history",
            "shopt -s -o posix",
            "shopt -os keyword",
            "shopt -s $x",
            "shopt $x",
            "shopt -s nullglob lastpipe",
            "shopt -s compat31",
            "shopt -s cdable_vars",
            "shopt -s autocd",
            "history -s ls",
            "history -r f",
            "fc -s",
            "fc",
            "enable -n echo",
            "set -o unheard-of",
            "shopt -s unheard-of",
            "set -r",
        ] {
            assert_eq!(change(text, Shell::Bash), Change::Reading, "{text}");
        }
        for text in [
            "setopt sh_word_split",
            "setopt KSH_ARRAYS",
            "setopt no_rcs",
            "setopt ExtendedGlob",
            "unsetopt noextendedglob",
            "emulate sh",
            "emulate -L ksh",
            "setopt $x",
            "setopt -o shwordsplit",
            "set -o shwordsplit",
            "set -y",
            "unsetopt multios",
            "setopt nomultios",
            "r",
            "zmodload zsh/files",
            "autoload ls",
            "set -o banghist",
        ] {
            assert_eq!(change(text, Shell::Zsh), Change::Reading, "{text}");
        }
    }

    #[test]
    fn options_that_a_shell_starts_with() {
        let start = |text: &str| {
            let words: Vec<Arg<'_>> = text.split(' ').map(|word| Arg::Known(Cow::Borrowed(word))).collect();
            at_start(&words, Shell::Bash)
        };
        for text in [
            "-c ls",
            "-lc ls",
            "-ec ls",
            "-euxo pipefail -c ls",
            "-O nullglob -c ls",
            "-x f",
            "-ic x",
            "--norc -c x",
            "f -k",
        ] {
            assert_eq!(start(text), Change::Nothing, "{text}");
        }
        for text in [
            "-kc ls",
            "-O expand_aliases -c x",
            "-o history -o histexpand -c x",
            "+B -c x",
            "--posix f",
            "--rcfile f -k -c x",
        ] {
            assert_eq!(start(text), Change::Reading, "{text}");
        }
    }
}
