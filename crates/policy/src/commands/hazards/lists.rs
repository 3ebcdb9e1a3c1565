//! Lists of files that one program makes for another: `find … | xargs grep`.
//!
//! What `xargs` adds to a command is what was written before it. Where that is a program which looks for names below the
//! folder that the command runs in, and everything between only leaves some of them out, the names are known to be below it.

use super::Hazard;
use super::command::Command;
use super::files;
use crate::commands::rules::harmless;
use stockade_shell::{Actions, Arg, DataFlow, Flow, InvocationKind, RedirectOperator, Run};

/// Programs that are in a flow, beyond which it is not followed: no pipeline that a person writes has as many.
const MAX_FOLLOWED: usize = 8;

/// Programs that show nothing of a file but its name, its size, its kind or the lines that are asked for.
const SHOW_LITTLE: &[&str] =
    &["grep", "egrep", "fgrep", "wc", "du", "sha1sum", "sha256sum", "sha512sum", "md5sum", "cksum", "b2sum"];

/// What the names of a list are known to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Listed {
    /// They can be any text that somebody wrote.
    Unknown,
    /// Files below the folder, among which secrets can be.
    Below,
    /// Files below it whose names are no secret's.
    Harmless,
}

/// Returns for each program whether `xargs` gives it nothing but names of files that it may show. `text` is the whole script.
pub(crate) fn adds_harmless_names(actions: &Actions<'_>, text: &str) -> Vec<bool> {
    let runs = &actions.runs;
    // A here-document takes the place of what a pipe brings, and is not among the redirections.
    if !runs.iter().any(|run| run.open_ended) || text.contains("<<") {
        return vec![false; runs.len()];
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
    let mut adds = vec![false; runs.len()];
    for (at, run) in runs.iter().enumerate().take(MAX_FOLLOWED * MAX_FOLLOWED) {
        let comes = if is_read(at) { Listed::Unknown } else { brought(&flows, at, &listed) };
        if let Some(own) = listed.get_mut(at) {
            *own = lists(run).or_else(|| leaves_out(run).then_some(comes)).unwrap_or(Listed::Unknown);
        }
        if let Some(adds) = adds.get_mut(at).filter(|_| run.open_ended) {
            *adds = may_show(run, runs.get(at + 1), comes);
        }
    }
    adds
}

/// What flows into a program, when that is known of everything that does.
fn brought(flows: &[&Flow], at: usize, listed: &[Listed]) -> Listed {
    let into: Vec<&&Flow> = flows.iter().filter(|flow| flow.into.contains(&at)).take(2).collect();
    let [flow] = into.as_slice() else { return Listed::Unknown };
    if flow.from.len() > MAX_FOLLOWED {
        return Listed::Unknown;
    }
    let from = listed.get(flow.from.clone()).unwrap_or_default();
    from.iter().copied().min().unwrap_or(Listed::Unknown)
}

/// Whether a program may show the files of a list. `outer` is the one that runs it.
fn may_show(run: &Run<'_>, outer: Option<&Run<'_>>, listed: Listed) -> bool {
    let Some(outer) = outer.filter(|outer| outer.program() == Some("xargs")) else { return false };
    let is_its_own = outer.invocation == InvocationKind::AsWritten
        && run.call_chain.last().is_some_and(|last| last == "xargs")
        && run.call_chain.len() == outer.call_chain.len() + 1;
    let options =
        || outer.argv.iter().skip(1).filter_map(Arg::known).take_while(|word| word.starts_with('-'));
    let reads_elsewhere = options().any(|word| word.contains('a'));
    let keeps_names_whole = options().any(|word| word.contains('0') || "--null".starts_with(word));
    let shows_little = run.program().is_some_and(|name| SHOW_LITTLE.contains(&name))
        || harmless::of(run) == harmless::Harmlessness::Words;
    is_its_own
        && !reads_elsewhere
        && match listed {
            Listed::Unknown => false,
            Listed::Below => shows_little,
            // A name with a space in it becomes two, the second of which can be any file.
            Listed::Harmless => shows_little || keeps_names_whole,
        }
}

/// What a program lists, if it looks for names.
fn lists(run: &Run<'_>) -> Option<Listed> {
    match run.program()? {
        "find" => Some(found(run)),
        "git" if run.argv.get(1).and_then(Arg::known) == Some("ls-files") => Some(named(run, 2)),
        "ls" => Some(named(run, 1)),
        _ => None,
    }
}

/// What `find` finds.
fn found(run: &Run<'_>) -> Listed {
    let Some(words) = run.argv.iter().skip(1).map(Arg::known).collect::<Option<Vec<&str>>>() else {
        return Listed::Unknown;
    };
    let is_start = |word: &&&str| !word.starts_with(['-', '(', '!', ',']);
    let starts = words.iter().take_while(is_start).count();
    let (starts, tests) = words.split_at_checked(starts).unwrap_or_default();
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
    let others = tests.iter().filter(|word| matches!(**word, "-o" | "-or" | "," | "!" | "-not")).count();
    if !names.is_empty() && names.len() > others && names.iter().all(|name| is_harmless(name)) {
        Listed::Harmless
    } else {
        Listed::Below
    }
}

/// What a program lists that is told names.
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
        if !is_harmless(name) || !name.contains(['*', '.']) {
            all = Listed::Below;
        }
    }
    if any { all } else { Listed::Below }
}

fn is_below(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.split('/').any(|name| name == "..")
}

/// Whether a pattern names no secret, and could name none.
fn is_harmless(pattern: &str) -> bool {
    let mut found: Vec<Hazard> = Vec::new();
    files::of_pattern(pattern, &mut found);
    found.is_empty()
}

/// Whether a program only leaves out some of the lines that it reads, or puts them in another order.
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
