//! Lists of files that one program passes to another: `find … | xargs grep`.
//!
//! `xargs` appends words of its input to a command. If the input comes from a program that searches below the working directory,
//! and the programs between only filter it, the words are known to be files below that directory.

use super::command::Command;
use super::files;
use super::options::AWAITS_FILE_LIST_ID;
use super::{Floor, Hazard};
use crate::rules::harmless;
use stockade_shell::{Actions, Arg, DataFlow, Flow, InvocationKind, RedirectOperator, Run};

/// Maximum number of programs of a flow that are followed. Honest pipelines are shorter.
const MAX_FOLLOWED: usize = 8;

/// Programs that only print names, sizes, types or selected lines of files.
const SHOW_LITTLE: &[&str] =
    &["grep", "egrep", "fgrep", "wc", "du", "sha1sum", "sha256sum", "sha512sum", "md5sum", "cksum", "b2sum"];

/// What is known about the names of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Listed {
    /// The words may be any untrusted text.
    Unknown,
    /// Files below the working directory, possibly with secrets.
    Below,
    /// Files below it whose names do not indicate secrets.
    Harmless,
}

/// Returns for each program whether `xargs` only gives it names of files that it may print. `text` is the whole script.
pub(crate) fn adds_harmless_names(actions: &Actions<'_>, text: &str) -> Vec<bool> {
    let given = given(actions, text);
    let adds = |(at, listed): (usize, Listed)| {
        actions.runs.get(at).is_some_and(|run| may_show(run, actions.runs.get(at + 1), listed))
    };
    given.into_iter().enumerate().map(adds).collect()
}

/// Programs that change the files of a list: changes that can be undone, or are limited to names that were searched for.
const CHANGE_LISTED: &[&str] = &["chmod", "mv", "ln", "rmdir"];

/// Lowers the hazard of `xargs` with a command that changes files, if the list only has files below the working directory: a
/// sandbox limits the effect to the workspace. Deleting is only lowered if the list was selected by names.
pub(crate) fn know_what_is_listed(actions: &Actions<'_>, text: &str, found: &mut [Hazard]) {
    if !found.iter().any(|hazard| hazard.id == AWAITS_FILE_LIST_ID) {
        return;
    }
    for ((inner, outer), listed) in
        actions.runs.iter().zip(actions.runs.iter().skip(1)).zip(given(actions, text))
    {
        let is_held = match inner.program() {
            // `find . | xargs rm` deletes everything in the workspace, so the names must have been selected.
            Some("rm") => listed == Listed::Harmless,
            Some(name) => listed >= Listed::Below && CHANGE_LISTED.contains(&name),
            None => false,
        };
        if is_held && gives_to(outer, inner) {
            let same = found
                .iter_mut()
                .filter(|hazard| hazard.id == AWAITS_FILE_LIST_ID && hazard.span == outer.span);
            same.for_each(|hazard| hazard.floor = Floor::Sandbox);
        }
    }
}

/// What `xargs` passes to each program.
fn given(actions: &Actions<'_>, text: &str) -> Vec<Listed> {
    let runs = &actions.runs;
    // A here-document replaces the input from a pipe, and is not among the redirections.
    // Most commands have no `xargs`, and need no analysis.
    if !runs.iter().any(|run| run.open_ended) || text.contains("<<") {
        return vec![Listed::Unknown; runs.len()];
    }
    let is_read = |at: usize| {
        actions.redirects.iter().any(|redirect| {
            redirect.operator != RedirectOperator::Write
                && redirect.operator != RedirectOperator::Append
                && !redirect.writes()
                && redirect.opens_file()
                && redirect.runs.contains(&at)
        })
    };
    let flows: Vec<&Flow> = actions.flows.iter().filter(|flow| flow.through == DataFlow::Input).collect();
    let mut listed = vec![Listed::Unknown; runs.len()];
    let mut adds = vec![Listed::Unknown; runs.len()];
    for (at, run) in runs.iter().enumerate().take(MAX_FOLLOWED * MAX_FOLLOWED) {
        let comes = if is_read(at) { Listed::Unknown } else { brought(&flows, at, &listed) };
        if let Some(own) = listed.get_mut(at) {
            *own = lists(run).or_else(|| leaves_out(run).then_some(comes)).unwrap_or(Listed::Unknown);
        }
        if let Some(adds) = adds.get_mut(at).filter(|_| run.open_ended) {
            *adds = comes;
        }
    }
    adds
}

/// Returns what is known about the input of a program, if every source is known.
fn brought(flows: &[&Flow], at: usize, listed: &[Listed]) -> Listed {
    let into: Vec<&&Flow> = flows.iter().filter(|flow| flow.into.contains(&at)).take(2).collect();
    // With two sources, a name could consist of parts of both.
    let [flow] = into.as_slice() else { return Listed::Unknown };
    if flow.from.len() > MAX_FOLLOWED {
        return Listed::Unknown;
    }
    let from = listed.get(flow.from.clone()).unwrap_or_default();
    from.iter().copied().min().unwrap_or(Listed::Unknown)
}

/// Whether a program may print the files of a list. `outer` is the program that runs it.
fn may_show(run: &Run<'_>, outer: Option<&Run<'_>>, listed: Listed) -> bool {
    let Some(outer) = outer.filter(|outer| gives_to(outer, run)) else { return false };
    // xargs splits its input at blanks, unless it is told that names end in NUL.
    let keeps_names_whole = options_of(outer).any(|word| word.contains('0') || "--null".starts_with(word));
    let shows_little = run.program().is_some_and(|name| SHOW_LITTLE.contains(&name))
        || harmless::of(run) == harmless::Harmlessness::Words;
    match listed {
        Listed::Unknown => false,
        Listed::Below => shows_little,
        // A name with a space becomes two words, the second of which can be any file.
        Listed::Harmless => shows_little || keeps_names_whole,
    }
}

/// Whether a program is an `xargs` that runs another one with its piped input.
fn gives_to(outer: &Run<'_>, inner: &Run<'_>) -> bool {
    outer.program() == Some("xargs")
        && outer.invocation == InvocationKind::AsWritten
        && inner.call_chain.last().is_some_and(|last| last == "xargs")
        && inner.call_chain.len() == outer.call_chain.len() + 1
        // `-a` reads the words from a file instead of the pipe.
        && !options_of(outer).any(|word| word.contains('a'))
}

fn options_of<'r>(run: &'r Run<'_>) -> impl Iterator<Item = &'r str> {
    run.argv.iter().skip(1).filter_map(Arg::known).take_while(|word| word.starts_with('-'))
}

/// Returns what a program lists, if it searches for names.
fn lists(run: &Run<'_>) -> Option<Listed> {
    match run.program()? {
        "find" => Some(found(run)),
        "git" if run.argv.get(1).and_then(Arg::known) == Some("ls-files") => Some(named(run, 2)),
        "ls" => Some(named(run, 1)),
        _ => None,
    }
}

/// Returns what `find` lists.
fn found(run: &Run<'_>) -> Listed {
    let Some(words) = run.argv.iter().skip(1).map(Arg::known).collect::<Option<Vec<&str>>>() else {
        return Listed::Unknown;
    };
    let is_start = |word: &&&str| !word.starts_with(['-', '(', '!', ',']);
    let starts = words.iter().take_while(is_start).count();
    let (starts, tests) = words.split_at_checked(starts).unwrap_or_default();
    // These follow symlinks, run programs, or print something other than the path.
    let goes_elsewhere = |word: &&str| {
        matches!(
            *word,
            "-files0-from"
                | "-printf"
                | "-exec"
                | "-execdir"
                | "-ok"
                | "-okdir"
                | "-ls"
                | "-fls"
                | "-H"
                | "-L"
                | "-follow"
        )
    };
    if !starts.iter().all(|start| is_below(start)) || tests.iter().any(goes_elsewhere) {
        return Listed::Unknown;
    }
    let is_name = |word: &str| matches!(word, "-name" | "-iname" | "-path" | "-wholename");
    let names =
        tests.iter().zip(tests.iter().skip(1)).filter(|(test, _)| is_name(test)).map(|(_, name)| *name);
    let names: Vec<&str> = names.collect();
    // `-name '*.md' -o -type f` lists every file, so each alternative needs a name of its own.
    let others = tests.iter().filter(|word| matches!(**word, "-o" | "-or" | "," | "!" | "-not")).count();
    if !names.is_empty() && names.len() > others && names.iter().all(|name| is_harmless(name)) {
        Listed::Harmless
    } else {
        Listed::Below
    }
}

/// Returns what a program lists for the names in its arguments.
fn named(run: &Run<'_>, skip: usize) -> Listed {
    let mut all = Listed::Harmless;
    let mut any = false;
    for arg in run.argv.iter().skip(skip) {
        let name = match arg {
            Arg::Known(word) if word.starts_with('-') => continue,
            Arg::Known(word) => word,
            Arg::Unknown { spelling, .. } if harmless::is_only_pattern(spelling) => spelling,
            Arg::Unknown { .. } => return Listed::Unknown,
        };
        any = true;
        if !is_below(name) {
            return Listed::Unknown;
        }
        // A name without an extension may be a directory, whose contents are unknown.
        if !is_harmless(name) || !name.contains(['*', '.']) {
            all = Listed::Below;
        }
    }
    if any { all } else { Listed::Below }
}

fn is_below(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.split('/').any(|name| name == "..")
}

/// Whether no file that a glob matches can be a secret.
fn is_harmless(pattern: &str) -> bool {
    let mut found: Vec<Hazard> = Vec::new();
    files::of_pattern(pattern, &mut found);
    found.is_empty()
}

/// Whether a program only filters or sorts its input lines.
fn leaves_out(run: &Run<'_>) -> bool {
    let Some(command) = Command::of(run) else { return false };
    let is_known = run.argv.iter().all(|arg| arg.known().is_some()) && !run.open_ended;
    let operands = command.operands().filter_map(|word| word.known());
    let count = operands.filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit())).count();
    is_known
        && match command.name {
            "grep" | "egrep" | "fgrep" => {
                count == 1
                    && !command
                        .has("-o -n -b -c -H -e -f -T -Z -A -B -C --only-matching --line-number --color")
            }
            // With an operand they read a file instead of the pipe, and `-c` prepends a number, which makes two words
            // of a line.
            "sort" | "uniq" | "head" | "tail" => count == 0 && !command.has("-c --count -o --output"),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn any_adds(text: &str) -> bool {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        adds_harmless_names(&script.actions(), text).contains(&true)
    }

    #[test]
    fn names_that_were_looked_for_below_the_folder_are_added() {
        for text in [
            "find . -name '*.py' | xargs grep -l TODO",
            "find src -type f | xargs grep TODO",
            "find . -name '*.rs' -print0 | xargs -0 cat",
            "find . -name '*.rs' | grep -v target | sort | head -20 | xargs wc -l",
            "git ls-files '*.md' | xargs grep -n x",
            "ls src/*.c | xargs wc -l",
            "find . -type f | xargs ls -la",
        ] {
            assert!(any_adds(text), "{text}");
        }
    }

    fn floor(text: &str) -> Option<Floor> {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let actions = script.actions();
        let mut found = crate::hazards::all_hazards(&actions);
        know_what_is_listed(&actions, text, &mut found);
        found.iter().filter(|hazard| hazard.id == AWAITS_FILE_LIST_ID).map(|hazard| hazard.floor).max()
    }

    #[test]
    fn a_sandbox_holds_changes_of_what_is_listed_below_the_folder() {
        for text in [
            "find . -name '*.sh' | xargs chmod +x",
            "find src -type d -print0 | xargs -0 chmod 755",
            "find . -name '*.pyc' | xargs rm -f",
            "git ls-files '*.orig' | xargs rm",
        ] {
            assert_eq!(floor(text), Some(Floor::Sandbox), "{text}");
        }
        for text in [
            "find / -name '*.sh' | xargs chmod +x",
            "find . -type f | xargs rm",
            "find ~ -name '*.pyc' | xargs rm",
            "find . -name '*.pem' | xargs rm",
            "cat list | xargs chmod 777",
            "find . -name '*.sh' | xargs chmod 777 < list",
            "find . -name '*.sh' | xargs sh",
            "find . -name '*.sh' | xargs sudo rm",
            "find . -name '*.sh' | xargs chown root",
            "find . -name '*.sh' | xargs -a list chmod 777",
            "find . -name '*.sh' | sed s,^,/etc/, | xargs chmod 777",
            "{ find . -name '*.sh'; cat list; } | xargs rm",
            "find . -name '*.sh' | xargs rm; cat list | xargs rm",
        ] {
            assert_eq!(floor(text), Some(Floor::Ask), "{text}");
        }
    }

    #[test]
    fn names_that_anybody_may_have_written_are_not() {
        for text in [
            "cat list | xargs cat",
            "echo /etc/shadow | xargs cat",
            "find / -name id_rsa | xargs cat",
            "find ~ -name '*.py' | xargs grep x",
            "find ../.. -type f | xargs grep x",
            "find . -name '*.pem' -print0 | xargs -0 cat",
            "find . -type f -print0 | xargs -0 cat",
            "find . -name '*.rs' -o -type f -print0 | xargs -0 cat",
            "find . -name '*.rs' | xargs cat",
            "find . -name '*.rs' | xargs grep x < list",
            "find . -name '*.rs' | xargs grep x <<< /etc/shadow",
            "find . -printf '/etc/shadow' | xargs grep x",
            "find . -name '*.rs' | xargs -a list grep x",
            "find . -name '*.rs' | sed s,^,/etc/, | xargs grep x",
            "find . | grep -o /etc/shadow | xargs grep x",
            "find . | head -3 list | xargs grep x",
            "find $x -name '*.rs' | xargs grep x",
            "{ find . -name '*.rs'; cat list; } | xargs grep x",
        ] {
            assert!(!any_adds(text), "{text}");
        }
    }
}
