//! Programs that run a file of code, and the files that they run.

use stockade_shell::{Actions, Run};

use super::wiring::{MAX_BEHIND, Wiring, last_part, spelled};

/// Programs that run a file of code: the options that take a value of their own, and those without a file to run.
pub(super) const RUNNERS: &[Runner] = &[
    Runner {
        programs: SHELLS,
        with_value: &["-o", "-O", "+o", "+O", "--rcfile", "--init-file"],
        no_file: &["-c"],
    },
    Runner { programs: &["source", "."], with_value: &[], no_file: &[] },
    Runner {
        programs: &["python", "python2", "python3", "pypy", "pypy3"],
        with_value: &["-W", "-X"],
        no_file: &["-c", "-m"],
    },
    Runner { programs: &["node", "nodejs", "bun", "tsx"], with_value: &[], no_file: &["-e", "-p", "--eval"] },
    Runner { programs: &["perl", "ruby", "php", "lua", "luajit"], with_value: &[], no_file: &["-e", "-r"] },
    Runner {
        programs: &["pwsh", "powershell", "osascript", "Rscript", "deno", "crontab"],
        with_value: &[],
        no_file: &["-e"],
    },
    Runner { programs: &["at", "batch"], with_value: &[], no_file: &[] },
];

pub(super) const SHELLS: &[&str] =
    &["sh", "bash", "rbash", "zsh", "dash", "ash", "ksh", "mksh", "fish", "csh", "tcsh", "yash", "posh"];

/// Subcommands and words before the file that a program runs.
const BEFORE_FILE: &[&str] = &["run", "-f", "-File", "-file"];

pub(super) struct Runner {
    pub(super) programs: &'static [&'static str],
    with_value: &'static [&'static str],
    no_file: &'static [&'static str],
}

/// Returns the files that a command runs.
pub(super) fn run_files(actions: &Actions<'_>, wiring: &Wiring, number: usize) -> Vec<String> {
    let (Some(run), Some(ends)) = (actions.runs.get(number), wiring.at(number)) else { return Vec::new() };
    let Some(first) = run.argv.first().map(spelled) else { return Vec::new() };
    let mut files = Vec::new();
    // An address that stands alone, such as in a table, is no program.
    if first.contains('/') && !first.contains("://") {
        files.push(first.clone());
    }
    let program = last_part(&first);
    let print = |numbers: &[usize]| -> Vec<String> {
        let runs = numbers.iter().take(MAX_BEHIND).filter_map(|at| actions.runs.get(*at));
        runs.flat_map(|run| run.argv.iter().skip(1).take(MAX_BEHIND).map(spelled)).collect()
    };
    if program == "eval" {
        files.extend(print(&ends.in_words));
    }
    let Some(runner) = RUNNERS.iter().find(|runner| runner.programs.contains(&program)) else {
        return files;
    };
    match runner.code_of(run) {
        CodeFrom::File(file) => files.push(file),
        // Its input is code: from a file, or from a program that prints one.
        CodeFrom::Input => {
            files.extend(ends.read.iter().take(MAX_BEHIND).cloned());
            files.extend(print(&ends.from));
        }
        CodeFrom::Arguments if SHELLS.contains(&program) => files.extend(print(&ends.in_words)),
        CodeFrom::Arguments => {}
    }
    files
}

/// Where a program gets the code that it runs.
pub(super) enum CodeFrom {
    File(String),
    Arguments,
    Input,
}

impl Runner {
    /// Whether a word makes the program read its code from its input.
    fn reads_input(&self, word: &str) -> bool {
        let flags = word.strip_prefix('-').filter(|flags| !flags.starts_with('-'));
        let is_shell = self.programs.first() == SHELLS.first();
        matches!(word, "-" | "/dev/stdin") || is_shell && flags.is_some_and(|flags| flags.contains('s'))
    }

    /// Returns where a call has its code.
    pub(super) fn code_of(&self, run: &Run<'_>) -> CodeFrom {
        let mut waits = false;
        for word in run.argv.iter().skip(1).map(spelled) {
            let is_value = std::mem::take(&mut waits);
            if self.no_file.contains(&word.as_str()) {
                return CodeFrom::Arguments;
            }
            // The other words are its arguments.
            if self.reads_input(&word) {
                return CodeFrom::Input;
            }
            waits = self.with_value.contains(&word.as_str());
            if !is_value && !word.starts_with(['-', '+']) && !BEFORE_FILE.contains(&word.as_str()) {
                return CodeFrom::File(word);
            }
        }
        CodeFrom::Input
    }
}

/// Whether a text names an interpreter other than a shell.
pub(super) fn may_run(text: &str) -> bool {
    let mut programs = RUNNERS.iter().flat_map(|runner| runner.programs).copied();
    programs.any(|program| program.len() > 2 && !SHELLS.contains(&program) && text.contains(program))
}
