//! Builtins that set variables: one row each, with how the names are found among the words.
//!
//! bash(1), SHELL BUILTIN COMMANDS; zshbuiltins(1), zshmodules(1), zshzle(1); POSIX.1, `read` and `getopts`.
//! Declarations (`export`, `typeset`, …), `unset`, `let`, `set` and grammar (`for`, `((…))`, `{name}>`) have code of
//! their own in `evaluated` and `runs`.

use std::sync::LazyLock;

use crate::getopt::OptionTable;
use crate::lookup::{ByName, by_name};
use crate::options::Shell;

/// A builtin that sets variables.
#[derive(Debug)]
pub(crate) struct Setter {
    names: &'static [&'static str],
    shells: &'static [Shell],
    pub(crate) options: OptionTable,
    pub(crate) named: Named,
    /// Options whose values are names as well.
    pub(crate) by_option: &'static [&'static str],
    /// Variables that it always sets.
    pub(crate) always: &'static [&'static str],
}

/// Which operands are names of variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Named {
    /// None: only the values of options are.
    NoOperand,
    /// Every operand is the name of a variable.
    Operands,
    /// The one after so many others.
    Operand(usize),
    /// The text behind the last `=` of each word.
    BehindEquals,
}

const BASH: &[Shell] = &[Shell::Bash, Shell::Sh];
const ZSH: &[Shell] = &[Shell::Zsh];
const ANY: &[Shell] = &[Shell::Bash, Shell::Sh, Shell::Zsh];

const fn row(
    names: &'static [&'static str],
    shells: &'static [Shell],
    options: &'static str,
    named: Named,
    by_option: &'static [&'static str],
    always: &'static [&'static str],
) -> Setter {
    Setter { names, shells, options: OptionTable::new(options), named, by_option, always }
}

use Named::{BehindEquals, NoOperand, Operand, Operands};

#[rustfmt::skip]
static SETTERS: [Setter; 27] = [
    row(&["read"], BASH, "-a: -d: -e -E -i: -n: -N: -p: -r -s -t: -u:", Operands, &["-a"], &["REPLY"]),
    // The number after `-k` and `-t` may be a separate word; a number is not a name.
    row(&["read"], ZSH, "-r -z -p -q -A -c -l -e -E -n -s -k? -t? -u: -d:", Operands, &[], &["REPLY"]),
    row(&["mapfile", "readarray"], BASH, "-d: -n: -O: -s: -t -u: -C: -c:", Operands, &[], &["MAPFILE"]),
    row(&["getopts"], ANY, "", Operand(1), &[], &["OPTARG"]),
    row(&["printf"], ANY, "-v:", NoOperand, &["-v"], &[]),
    row(&["wait"], BASH, "-f -n -p:", NoOperand, &["-p"], &[]),
    row(&["print"], ZSH, "-a -b -c -C: -D -e -f: -i -l -m -n -N -o -O -p -P -r -R -s -S -u: -v: -x: -X: -z", NoOperand, &["-v"], &[]),
    row(&["strftime"], ZSH, "-n -q -r -s:", NoOperand, &["-s"], &[]),
    row(&["getln"], ZSH, "-A -c -l -n -e -E", Operands, &[], &["REPLY"]),
    row(&["vared"], ZSH, "-A -a -c -e -g -h -t: -p: -r: -M: -m: -i: -f:", Operands, &[], &[]),
    row(&["sysread"], ZSH, "-c: -i: -o: -s: -t:", Operands, &["-c"], &["REPLY"]),
    row(&["syswrite"], ZSH, "-c: -o:", NoOperand, &["-c"], &[]),
    row(&["sysopen"], ZSH, "-a -m: -o: -r -w -u:", NoOperand, &["-u"], &[]),
    row(&["syserror"], ZSH, "-e: -p:", NoOperand, &["-e"], &[]),
    row(&["zsystem"], ZSH, "-f: -t: -i: -u -r -e", NoOperand, &["-f"], &[]),
    row(&["zparseopts"], ZSH, "-D -E -F -K -M -a: -A: -v:", BehindEquals, &["-a", "-A", "-v"], &[]),
    row(&["zstyle"], ZSH, "-L -e -d -g -s -b -a -t -T -m", Operands, &[], &[]),
    row(&["zformat"], ZSH, "-f -F -a", Operands, &[], &[]),
    row(&["zregexparse"], ZSH, "-c", Operands, &[], &[]),
    row(&["zselect"], ZSH, "-t: -a: -A: -r -w -e", NoOperand, &["-a", "-A"], &["reply"]),
    row(&["pcre_match"], ZSH, "-v: -a: -n: -b", NoOperand, &["-v", "-a"], &["MATCH", "match"]),
    row(&["stat", "zstat"], ZSH, "-g -n -N -o -r -s -t -T -l -L -f: -F: -A: -H:", NoOperand, &["-A", "-H"], &[]),
    row(&["zpty"], ZSH, "-b -d -e -L -n -r -t -w", Operands, &[], &["REPLY"]),
    row(&["ztie"], ZSH, "-d: -f: -p: -r", Operands, &[], &[]),
    row(&["zgetattr", "zlistattr"], ZSH, "-h", Operands, &[], &[]),
    row(&["zsocket", "ztcp"], ZSH, "-a -d: -l -t -v -c -f -L", NoOperand, &[], &["REPLY"]),
    row(&["compadd"], ZSH, "-a -k -A: -O: -D: -M: -P: -S: -p: -s: -i: -I: -W: -d: -J: -V: -X: -x: -r: -R: -F: -o? -l -n -U -1 -2 -q -e -Q -f -C -E:", NoOperand, &["-A", "-O", "-D"], &[]),
];

static BY_NAME: LazyLock<ByName<Vec<&'static Setter>>> =
    LazyLock::new(|| by_name(SETTERS.iter(), |row| row.names));

/// Returns the row of a builtin.
pub(crate) fn setter(name: &str, shell: Shell) -> Option<&'static Setter> {
    BY_NAME.get(name)?.iter().find(|row| row.shells.contains(&shell)).copied()
}

/// Whether the words of a builtin are inspected one by one, in addition to the table.
pub(crate) fn evaluates(name: &str) -> bool {
    matches!(
        name,
        "test"
            | "["
            | "let"
            | "unset"
            | "set"
            | "private"
            | "command"
            | "builtin"
            | "exec"
            | "noglob"
            | "nocorrect"
            | "return"
            | "exit"
            | "shift"
            | "break"
            | "continue"
            | "logout"
            | "bye"
    )
}

/// zsh arrays that are tied to a variable of another name with the same content.
const TIED: &[(&str, &str)] = &[
    ("path", "PATH"),
    ("fpath", "FPATH"),
    ("cdpath", "CDPATH"),
    ("manpath", "MANPATH"),
    ("module_path", "MODULE_PATH"),
    ("mailpath", "MAILPATH"),
    ("fignore", "FIGNORE"),
    ("psvar", "PSVAR"),
    ("prompt", "PS1"),
    ("PROMPT", "PS1"),
    ("PROMPT2", "PS2"),
    ("PROMPT3", "PS3"),
    ("PROMPT4", "PS4"),
    ("RPROMPT", "RPS1"),
    ("RPROMPT2", "RPS2"),
];

/// Returns the name under which a variable is known.
pub(crate) fn canonical(name: &str, shell: Shell) -> Option<&'static str> {
    let tied = || TIED.iter().find(|(array, _)| *array == name).map(|(_, variable)| *variable);
    (shell == Shell::Zsh).then(tied).flatten()
}

/// Variables that determine how a shell parses or looks up what follows, besides those that programs use.
const OF_THE_SHELL: &[(&str, &[Shell])] = &[
    ("SHELLOPTS", BASH),
    ("BASHOPTS", BASH),
    ("BASH_COMPAT", BASH),
    ("POSIXLY_CORRECT", BASH),
    ("histchars", ANY),
    ("HISTCHARS", ZSH),
    ("options", ZSH),
    ("aliases", ZSH),
    ("galiases", ZSH),
    ("saliases", ZSH),
    ("dis_aliases", ZSH),
    ("dis_galiases", ZSH),
    ("dis_saliases", ZSH),
    ("functions", ZSH),
    ("dis_functions", ZSH),
    ("functions_source", ZSH),
    ("commands", ZSH),
    ("reswords", ZSH),
    ("parameters", ZSH),
    ("mapfile", ZSH),
    ("modules", ZSH),
];

/// Whether setting a variable changes how the shell parses the following text.
pub(crate) fn changes_reading(name: &str, shell: Shell) -> bool {
    OF_THE_SHELL.iter().any(|(variable, shells)| *variable == name && shells.contains(&shell))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the variables that a text sets, and whether an unknown name is among them.
    fn set_by(text: &str, shell: Shell) -> (Vec<String>, bool) {
        let script = crate::Script::read(text, &crate::ReadOptions::for_shell(shell));
        let Ok(script) = script else { panic!("{text}") };
        let actions = script.actions();
        let is_unknown =
            actions.hazards.iter().any(|hazard| hazard.kind == crate::HazardKind::UnknownVariable);
        (actions.assignments.iter().map(|assignment| assignment.name.to_string()).collect(), is_unknown)
    }

    /// Ways to run a builtin.
    const THROUGH: &[&str] = &["", "builtin ", "command ", "X=1 ", "! ", "{ ls; } && ", "eval "];

    #[test]
    fn every_row_sets_what_it_is_told_however_it_is_told() {
        for row in &SETTERS {
            for shell in row.shells {
                let name = row.names.first().copied().unwrap_or_default();
                let mut forms: Vec<String> = match row.named {
                    NoOperand => Vec::new(),
                    Operands => vec![format!("{name} NAME"), format!("{name} -- a NAME")],
                    Operand(place) => vec![format!("{name} {} NAME", "x ".repeat(place).trim_end())],
                    BehindEquals => vec![format!("{name} a=NAME"), format!("{name} a:=NAME")],
                };
                for option in row.by_option {
                    forms.extend([format!("{name} {option} NAME x"), format!("{name} {option}NAME x")]);
                }
                for form in forms {
                    for through in
                        THROUGH.iter().filter(|through| *shell != Shell::Sh || **through != "builtin ")
                    {
                        let text = format!("{through}{}", form.replace("NAME", "PATH"));
                        assert!(set_by(&text, *shell).0.contains(&"PATH".to_owned()), "{shell:?}: {text}");
                        let text = format!("{through}{}", form.replace("NAME", "$(cat f)"));
                        let is_told = through.starts_with("eval") || row.named == BehindEquals;
                        assert!(set_by(&text, *shell).1 || is_told, "{shell:?}: {text}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_builtin_has_one_row_for_each_shell() {
        for row in &SETTERS {
            for name in row.names {
                for shell in row.shells {
                    let rows = SETTERS
                        .iter()
                        .filter(|other| other.names.contains(name) && other.shells.contains(shell));
                    assert_eq!(rows.count(), 1, "{name}");
                }
            }
        }
    }
}
