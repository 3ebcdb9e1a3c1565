//! Compares the programs that a shell ran with the predicted ones.

use std::collections::BTreeSet;
use std::fmt;

use stockade_shell::{Actions, Arg, InvocationKind, ReadOptions, Run, Script, Shell, WordCount};

use crate::attacks;
use crate::hostile;
use crate::mutation::{CANARY, DATA_CANARY};

/// The home directory in the jail.
const HOME: &str = "/home/me";

/// Where the commands run, which bash also calls `~+` and `~0`.
const WORK: &str = "/work";

/// The most misses that are shown.
const SHOWN: usize = 40;

/// Results of all texts.
#[derive(Debug, Default)]
pub(crate) struct Report {
    texts: usize,
    /// Texts that are refused, or whose answer includes a reservation.
    uncertain: usize,
    runs: usize,
    missed: Vec<String>,
    /// Texts that ran a program which is not listed, each followed by NUL.
    unforeseen: String,
    sees_nothing: bool,
}

impl Report {
    /// Returns whether every program that ran was foreseen, and the jail would have shown one that was not.
    pub(crate) fn is_sound(&self) -> bool {
        self.missed.is_empty() && !self.sees_nothing
    }

    /// Returns the texts that ran a program that is not listed, whatever their reservations.
    pub(crate) fn unforeseen(&self) -> &str {
        &self.unforeseen
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.missed.iter().take(SHOWN).try_for_each(|missed| writeln!(f, "{missed}"))?;
        if self.sees_nothing {
            writeln!(f, "the jail did not see `{CANARY}` or `{DATA_CANARY}`: it sees nothing")?;
        }
        let Self { texts, uncertain, runs, .. } = self;
        let missed = self.missed.len();
        writeln!(
            f,
            "{texts} commands ({uncertain} uncertain) ran {runs} programs that had to be foreseen: {missed} missed"
        )
    }
}

/// Judges all texts. Returns `None` if the runs do not belong to the texts.
pub(crate) fn judge(shell: Shell, texts: &str, runs: &[u8]) -> Option<Report> {
    let mut report = Report::default();
    let mut words = runs.split(|&byte| byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    for text in texts.split_terminator('\0') {
        let count: usize = words.next()?.parse().ok()?;
        let ran: Vec<Vec<String>> = (0..count).map(|_| argv(&mut words)).collect::<Option<_>>()?;
        if text == CANARY {
            report.sees_nothing |= ran != [["rm", "canary"]];
        }
        if text == DATA_CANARY {
            report.sees_nothing |= ran != [["evil", "ls", "canary"]];
        }
        if let Some(expected) = attacks::unseen(shell, text, &ran) {
            report.missed.push(format!(
                "MISSED `{expected}`, which this shell ran before\n  in {text:?}\n  of what ran: {ran:?}"
            ));
        }
        report.one(shell, text, &ran);
    }
    report.sees_nothing |= report.texts == 0;
    Some(report)
}

fn argv(words: &mut impl Iterator<Item = String>) -> Option<Vec<String>> {
    let count: usize = words.next()?.parse().ok()?;
    (0..count).map(|_| words.next()).collect()
}

impl Report {
    fn one(&mut self, shell: Shell, text: &str, ran: &[Vec<String>]) {
        self.texts += 1;
        let Ok(script) = Script::read(text, &ReadOptions::for_shell(shell)) else {
            self.uncertain += 1;
            return;
        };
        let actions = script.actions();
        // A variable that determines programs leads elsewhere, and its assignment is listed.
        let has_reservation = !actions.hazards.is_empty() || hostile::leads_elsewhere(&actions);
        self.uncertain += usize::from(has_reservation);
        self.runs += if has_reservation { 0 } else { ran.len() };
        let distinct: BTreeSet<&Vec<String>> = ran.iter().collect();
        for argv in distinct {
            let undashed = without_dash(shell, argv);
            let is_foreseen = |ran: &[String]| is_foreseen(shell, ran, &actions);
            if !is_foreseen(argv) && !undashed.is_some_and(|ran| is_foreseen(&ran)) {
                if !self.unforeseen.ends_with(&format!("{text}\0")) {
                    self.unforeseen.push_str(text);
                    self.unforeseen.push('\0');
                }
                if has_reservation {
                    continue;
                }
                let foreseen: Vec<String> = actions.runs.iter().map(shown).collect();
                self.missed.push(format!("MISSED {argv:?}\n  in {text:?}\n  of {}", foreseen.join(", ")));
            }
        }
    }
}

fn shown(run: &Run<'_>) -> String {
    let words: Vec<String> = run.argv.iter().map(ToString::to_string).collect();
    format!("{words:?}")
}

/// zsh puts a dash before the name of a program that runs behind `-`.
fn without_dash(shell: Shell, ran: &[String]) -> Option<Vec<String>> {
    let (name, rest) = ran.split_first().filter(|_| shell == Shell::Zsh)?;
    let name = name.strip_prefix('-')?.to_owned();
    Some(std::iter::once(name).chain(rest.iter().cloned()).collect())
}

fn is_foreseen(shell: Shell, ran: &[String], actions: &Actions<'_>) -> bool {
    let programs = actions.runs.iter().filter(|run| run.invocation != InvocationKind::Function);
    programs.into_iter().any(|run| match run.program() {
        Some(_) => fits(&run.argv, run.open_ended, ran),
        None => may_run(shell, ran, run),
    })
}

/// Whether a program with an uncertain name, which no other entry covers, may have run this.
fn may_run(shell: Shell, ran: &[String], run: &Run<'_>) -> bool {
    // In a pipeline it may be a shell that runs its input; several words may be any command, with others in it.
    let is_anything =
        !matches!(run.argv.first(), Some(Arg::Known(_) | Arg::Unknown { count: WordCount::One, .. }));
    // It may run its words, as `nice` does, or read one of them, as `trap` does.
    let reads = |word: &Arg<'_>| {
        let text = word.known().unwrap_or_default();
        Script::read(text, &ReadOptions::for_shell(shell))
            .map_or(true, |script| is_foreseen(shell, ran, &script.actions()))
    };
    let words = || (0..run.argv.len()).map(|start| run.argv.get(start..).unwrap_or_default());
    run.alongside
        || is_anything
        || words().any(|words| fits(words, run.open_ended, ran))
        || run.argv.iter().skip(1).any(reads)
}

/// Whether a run is the predicted one. An unknown word matches everything that it may become.
fn fits(foreseen: &[Arg<'_>], open_ended: bool, ran: &[String]) -> bool {
    let Some((first, rest)) = foreseen.split_first() else { return ran.is_empty() || open_ended };
    match first {
        Arg::Known(word) => ran
            .split_first()
            .is_some_and(|(found, left)| is_word(word, found) && fits(rest, open_ended, left)),
        Arg::Unknown { prefix, count: WordCount::One, .. } => ran
            .split_first()
            .is_some_and(|(found, left)| begins(prefix, found) && fits(rest, open_ended, left)),
        Arg::Unknown { prefix, .. } => {
            fits(rest, open_ended, ran)
                || ran.first().is_some_and(|found| begins(prefix, found))
                    && (1..=ran.len())
                        .any(|taken| fits(rest, open_ended, ran.get(taken..).unwrap_or_default()))
        }
    }
}

/// Whether a word that is certain became `found`: `find` and `xargs` put names in place of `{}`.
fn is_word(word: &str, found: &str) -> bool {
    let spellings = [at_home(word), without_letters(word)];
    word == found || word.contains("{}") || spellings.iter().any(|one| one == found) || is_cut(word, found)
}

/// Whether busybox cut a word: it leaves `~NAME` of an unknown user, as bash does, but loses the rest of the path. What is left is
/// a file of the working directory, which is judged more strictly as a place in a home directory.
fn is_cut(word: &str, found: &str) -> bool {
    found.len() > 1 && found.starts_with('~') && word.split_once('/').is_some_and(|(user, _)| user == found)
}

/// Returns bash's reading of `$'\u00e9'` where the locale has no such letter: the escape itself, in capitals. It is
/// not a name of anything else.
fn without_letters(word: &str) -> String {
    let escaped = |letter: char| match u32::from(letter) {
        0..0x80 => letter.to_string(),
        code @ 0x80..0x1_0000 => format!("\\u{code:04X}"),
        code => format!("\\U{code:08X}"),
    };
    word.chars().map(escaped).collect()
}

fn begins(prefix: &str, found: &str) -> bool {
    let prefix = prefix.split("{}").next().unwrap_or_default();
    // A directory that only the shell knows, as in `~$x`.
    prefix == "~" || found.starts_with(prefix) || found.starts_with(&at_home(prefix))
}

/// A `~` is the home directory at the start of a word, and after the `=` of a word that looks like an assignment.
fn at_home(word: &str) -> String {
    let word = word.replace("=~", &format!("={HOME}")).replace(":~", &format!(":{HOME}"));
    // `~0` is the directory itself, with any number of zeros in zsh.
    let zeros = || word.strip_prefix("~0").map(|rest| rest.trim_start_matches('0'));
    match word.strip_prefix("~+").or_else(zeros) {
        Some(rest) => format!("{WORK}{rest}"),
        None => word.strip_prefix('~').map_or_else(|| word.clone(), |rest| format!("{HOME}{rest}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn missed(text: &str, ran: &[&[&str]]) -> usize {
        let mut runs = format!("1\0{}\0rm\0canary\0{}\0", 2, ran.len());
        for argv in ran {
            runs.push_str(&format!("{}\0", argv.len()));
            argv.iter().for_each(|word| runs.push_str(&format!("{word}\0")));
        }
        let report = judge(Shell::Bash, &format!("{CANARY}\0{text}\0"), runs.as_bytes()).unwrap();
        assert!(!report.sees_nothing);
        report.missed.len()
    }

    #[test]
    fn what_was_not_foreseen_is_missed() {
        assert_eq!(missed("ls a; rm b", &[&["ls", "a"], &["rm", "b"]]), 0);
        assert_eq!(missed("ls a", &[&["ls", "a"], &["rm", "b"]]), 1);
        assert_eq!(missed("ls a", &[&["ls", "b"]]), 1);
        assert_eq!(missed("ls 'a b'", &[&["ls", "a", "b"]]), 1);
        assert_eq!(missed("find . -exec ls {}$x +", &[&["ls", "./a"]]), 0);
        assert_eq!(missed("ls ~=/x ~no/y/z", &[&["ls", "~=", "~no"]]), 0);
        assert_eq!(missed("ls ~=/x", &[&["ls", "/x"]]), 1);
        assert_eq!(missed("ls ~/x", &[&["ls", "~"]]), 1);
        assert_eq!(missed("ls $'\\u00ee'", &[&["ls", "\\u00EE"]]), 0);
        assert_eq!(missed("ls $'\\u00ee'", &[&["ls", "\\u00EF"]]), 1);
    }

    #[test]
    fn an_unknown_part_covers_every_possible_value() {
        assert_eq!(missed("ls $x c", &[&["ls", "a", "b", "c"]]), 0);
        assert_eq!(missed("ls -$x", &[&["ls", "a"]]), 1);
        assert_eq!(missed("ls ~/x", &[&["ls", "/home/me/x"]]), 0);
        assert_eq!(missed("cat f | xargs ls", &[&["ls", "any", "thing"]]), 0);
        assert_eq!(missed("'", &[&["rm"]]), 0, "what is refused is never allowed");
    }

    #[test]
    fn a_program_without_a_certain_name_may_run_its_words() {
        assert_eq!(missed("tr\"$x\"ap 'rm a; ls b' 0", &[&["rm", "a"], &["ls", "b"]]), 0);
        assert_eq!(missed("n\"$x\" ls b", &[&["nice", "ls", "b"], &["ls", "b"]]), 0);
        assert_eq!(missed("tr\"$x\"ap 'rm a' 0", &[&["ls", "b"]]), 1);
        assert_eq!(missed("${x:-find . -exec rm {} ';'", &[&["rm", "{"]]), 0);
    }

    #[test]
    fn a_jail_that_sees_nothing_is_no_proof() {
        let report = judge(Shell::Bash, &format!("{CANARY}\0"), b"0\0").unwrap();
        assert!(!report.is_sound());
        assert!(!judge(Shell::Bash, "", b"").unwrap().is_sound());
        assert!(judge(Shell::Bash, "ls\0", b"").is_none());
    }
}
