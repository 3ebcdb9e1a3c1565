//! The options with which a built-in rule allows a program. With any other or unknown option, the rule does not match.
//!
//! A denylist is never complete: `jobs` only reads, and `jobs -x` runs a command. So every program that a built-in rule allows has
//! an allowlist here, in the notation of [`OptionTable`]. An option with a value in a word of its own is written as a flag, unless
//! such values often begin with a dash: then a value that looks like an option must be listed as well.

use std::borrow::Cow;
use std::sync::LazyLock;

use super::harmless;
use super::program::trusted;
use stockade_shell::getopt::{self, OptionOrder, OptionTable};
use stockade_shell::lookup::{ByName, by_name};
use stockade_shell::{Arg, Run};

mod developer;
mod git;
mod machine;
mod shell;
mod text;

/// The options of some programs, or of some subcommands of one program.
struct Listed {
    programs: &'static [&'static str],
    /// The subcommands that the row is about. Empty if the program has none.
    subcommands: &'static [&'static str],
    form: OptionForm,
    options: OptionTable,
}

/// How a program reads its options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OptionForm {
    /// The first operand ends the options.
    BeforeOperands,
    /// Options may follow operands.
    Anywhere,
    /// Options are words with one dash, also after `--`.
    Words,
}

const fn row(
    programs: &'static [&'static str],
    subcommands: &'static [&'static str],
    form: OptionForm,
    options: &'static str,
) -> Listed {
    Listed { programs, subcommands, form, options: OptionTable::unabbreviated(options) }
}

/// A shell builtin, or a program like it: its options end at the first operand.
const fn builtin(programs: &'static [&'static str], options: &'static str) -> Listed {
    row(programs, &[], OptionForm::BeforeOperands, options)
}

/// A program that accepts options after operands.
const fn program(programs: &'static [&'static str], options: &'static str) -> Listed {
    row(programs, &[], OptionForm::Anywhere, options)
}

/// A program whose options are words: `find . -name x`.
const fn words(programs: &'static [&'static str], options: &'static str) -> Listed {
    row(programs, &[], OptionForm::Words, options)
}

/// Subcommands of a program that accept options after operands.
const fn subcommands(
    programs: &'static [&'static str],
    subcommands: &'static [&'static str],
    options: &'static str,
) -> Listed {
    row(programs, subcommands, OptionForm::Anywhere, options)
}

/// All tables.
fn listed() -> impl Iterator<Item = &'static Listed> {
    let tables: [&'static [Listed]; 5] =
        [&shell::SHELL, &text::TEXT, &machine::MACHINE, &git::GIT, &developer::DEVELOPER];
    tables.into_iter().flatten()
}

static BY_NAME: LazyLock<ByName<Vec<&'static Listed>>> =
    LazyLock::new(|| by_name(listed(), |row| row.programs));

/// Returns whether a built-in rule may allow every option of a command. Words that are only known at run time are checked elsewhere,
/// for all programs.
pub(super) fn are_listed(run: &Run<'_>) -> bool {
    let Some(rows) = run.program().and_then(|name| BY_NAME.get(trusted(name))) else { return true };
    let first = 1 + harmless::in_front(&run.argv, true);
    let subcommand = run.argv.get(first).and_then(Arg::known);
    let mut about = rows.iter().filter(|row| row.is_about(subcommand)).peekable();
    about.peek().is_some() && about.all(|row| row.lists(&run.argv, first))
}

impl Listed {
    fn is_about(&self, subcommand: Option<&str>) -> bool {
        self.subcommands.is_empty() || subcommand.is_some_and(|name| self.subcommands.contains(&name))
    }

    /// Whether every option is in the table. `first` is the position of the subcommand.
    fn lists(&self, argv: &[Arg<'_>], first: usize) -> bool {
        let from = if self.subcommands.is_empty() { 1 } else { first + 1 };
        let order = match self.form {
            OptionForm::BeforeOperands => OptionOrder::Strict,
            OptionForm::Anywhere | OptionForm::Words => OptionOrder::Anywhere,
        };
        let is_end = |word: &Arg<'_>| self.form == OptionForm::Words && word.known() == Some("--");
        let is_listed = |words: &[Arg<'_>]| !getopt::parse(words, from, &self.options, order).unknown;
        // Nearly all commands need no copy.
        if argv.iter().all(|word| word.known().is_some() && !is_end(word)) {
            return is_listed(argv);
        }
        let words = argv.iter().filter(|word| !is_end(word));
        let words: Vec<Arg<'_>> =
            words.map(|word| Arg::Known(Cow::Borrowed(word.known().unwrap_or("x")))).collect();
        is_listed(&words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::CommandContext;
    use crate::decision::policy::CommandPolicy;
    use crate::hazards;
    use crate::rules::builtin;
    use crate::rules::effect::Effect;
    use crate::rules::rule::CommandPattern;
    use stockade_shell::{ReadOptions, Shell};

    #[test]
    fn every_program_that_is_allowed_has_an_allowlist() {
        let rules = builtin::rules().filter(|rule| rule.effect == Effect::Allow);
        let mut tried = 0;
        for rule in rules {
            // The words of an exact rule are the whole command.
            let CommandPattern::Prefix(words) = &rule.pattern else { continue };
            for program in words.first().into_iter().flatten() {
                let is_listed = BY_NAME.contains_key(program.as_str());
                let has_none = shell::WITHOUT_OPTIONS.contains(&program.as_str());
                assert!(is_listed != has_none, "{program} of {}", rule.id);
                tried += 1;
            }
        }
        assert!(tried > 200, "{tried}");
    }

    /// Hazards that take the word after a flag for its value do not see which file that word names, or count operands wrongly.
    /// Only for these programs, whose letters mean something else for each subcommand, are values also files.
    const BY_SUBCOMMAND: &[&str] = &["git", "docker", "podman", "nerdctl"];

    #[test]
    fn no_flag_has_a_value_for_hazards() {
        let mut wrong = Vec::new();
        for row in listed() {
            let flags: Vec<&str> = row
                .options
                .written()
                .split_ascii_whitespace()
                .filter(|option| !option.ends_with([':', '?', '=']))
                .collect();
            for program in row.programs.iter().filter(|program| !BY_SUBCOMMAND.contains(program)) {
                let parsed = hazards::option_table(program, row.subcommands.first().copied());
                let with_value =
                    parsed.split_ascii_whitespace().filter_map(|option| option.strip_suffix([':', '!']));
                wrong.extend(
                    with_value
                        .filter(|letter| flags.contains(letter))
                        .map(|letter| format!("{program} {letter}")),
                );
            }
        }
        assert!(wrong.is_empty(), "{wrong:?}");
    }

    #[test]
    fn no_word_is_listed_twice() {
        for row in listed() {
            let mut options: Vec<&str> = row.options.written().split_ascii_whitespace().collect();
            options.sort_unstable();
            let twice = options.windows(2).find(|pair| matches!(pair, [one, other] if one == other));
            assert_eq!(twice, None, "{:?} {:?}", row.programs, row.subcommands);
        }
    }

    #[test]
    fn an_option_that_is_not_listed_is_never_allowed() {
        let policy = CommandPolicy::builtin();
        let options = ReadOptions::for_shell(Shell::Bash);
        let effect = |text: &str| policy.decide(text, &options, &CommandContext::default()).effect;
        let mut tried = 0;
        for row in listed() {
            for letter in ('a'..='z').chain('A'..='Z') {
                let option = [Arg::Known("x".into()), Arg::Known(format!("-{letter}").into())];
                if !getopt::parse(&option, 1, &row.options, OptionOrder::Anywhere).unknown {
                    continue;
                }
                // The command that `command` runs is checked separately.
                for program in row.programs.iter().filter(|program| **program != "command") {
                    let command = row.subcommands.first().map_or_else(String::new, |name| format!(" {name}"));
                    for text in [
                        format!("{program}{command} -{letter} ls"),
                        format!("{program}{command} -{letter}ls"),
                    ] {
                        assert!(effect(&text) > Effect::Allow, "{text}");
                        tried += 1;
                    }
                }
            }
            for program in row.programs {
                let command = row.subcommands.first().map_or_else(String::new, |name| format!(" {name}"));
                for text in [
                    format!("{program}{command} --unheard-of=x"),
                    format!("{program}{command} --unheard-of x"),
                ] {
                    assert!(effect(&text) > Effect::Allow, "{text}");
                }
            }
        }
        assert!(tried > 5000, "{tried}");
        for text in [
            "jobs -l",
            "zstdcat -f x",
            "zgrep -in x f.gz",
            "read -r line",
            "type -p ls",
            "printf '%s' -x",
            "awk -F: -v n=1 '{print $n}' f",
            "ls -la --color=never",
            "grep -rn --include='*.rs' -A3 x src",
            "find . -maxdepth 2 -type f -name '*.py' -not -path './x/*'",
            "rg -n -g '!target' -C2 x",
            "git --no-pager log --oneline -20 --stat",
            "git --version",
            "tail -n +5 f",
            "head -n -5 f",
            "journalctl --since -1h -u x --no-pager",
            "docker logs -f --tail=20 web",
        ] {
            assert_eq!(effect(text), Effect::Allow, "{text}");
        }
        for text in [
            "zstdcat x -o out",
            "zstdcat -fo out x",
            "lz4cat --rm x",
            "zgrep -f .env x",
            "xzcat --files=x",
            "gawk -W exec=x",
            "mawk -W exec x",
            "awk -Wexec=x f",
            "gawk --profile=x 1 f",
            "diff -l a b",
            "bzgrep -R x .",
            "zgrep -d recurse x .",
            "git log --outp=x",
            "git diff --output-indicator-new=+ --output=x",
            "git blame --contents=/etc/shadow f",
            "git log --show-signature",
            "find . -- -fprintf x y",
            "grep -f x y",
            "wc --files0-from=x",
            "file -f x",
            "file -z x",
            "tree --fromfile x",
            "docker ps --url=tcp://e",
            "podman ps --runtime ./x",
        ] {
            assert!(effect(text) > Effect::Allow, "{text}");
        }
    }
}
