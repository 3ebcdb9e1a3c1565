//! `kill` of processes that the same text started: `server & p=$!; …; kill "$p"`.

use stockade_shell::{Arg, Assignment, Run, Span, VariableChange};

/// The number of the process that was started last in the background, as the crate `shell` spells it.
const LAST_STARTED: &str = "${!}";

/// Whether a program is a `kill` whose every target is a process that the text started before: the last one in the background, a job,
/// or a variable that only ever gets the number of the last one.
pub(crate) fn stops_own_children(run: &Run<'_>, assignments: &[Assignment<'_>], text: &str) -> bool {
    if run.program() != Some("kill") || run.open_ended || !is_plain(text, run.span) {
        return false;
    }
    let words = run.argv.get(1..).unwrap_or_default();
    let targets = match words {
        [Arg::Known(option), Arg::Known(signal), targets @ ..]
            if matches!(&**option, "-s" | "-n") && is_signal(signal) =>
        {
            targets
        }
        [Arg::Known(option), targets @ ..] if option.strip_prefix('-').is_some_and(is_signal) => targets,
        targets => targets,
    };
    let targets = targets.strip_prefix(&[Arg::Known("--".into())]).unwrap_or(targets);
    let is_own = |target: &Arg<'_>| match target {
        Arg::Known(job) => {
            job.strip_prefix('%').is_some_and(|job| matches!(job, "%" | "+" | "-") || is_number(job))
        }
        Arg::Unknown { spelling, .. } => match unquoted(spelling) {
            LAST_STARTED => true,
            variable => name_of(variable).is_some_and(|name| only_gets_own(name, run, assignments, text)),
        },
    };
    !targets.is_empty() && targets.iter().all(is_own)
}

/// Whether a variable gets the number of the last background process before a command, and never anything else.
fn only_gets_own(name: &str, run: &Run<'_>, assignments: &[Assignment<'_>], text: &str) -> bool {
    let mut own = assignments.iter().filter(|assignment| assignment.name == name).peekable();
    let is_before = own.peek().is_some_and(|first| first.span.start < run.span.start);
    is_before && own.all(|assignment| {
        let value =
            matches!(&assignment.value, Arg::Unknown { spelling, .. } if unquoted(spelling) == LAST_STARTED);
        value && assignment.change == VariableChange::Set && is_plain(text, assignment.span)
    })
}

/// Whether every expansion of a stretch in braces is that of a variable as it is: a part of a number is the number of another process.
fn is_plain(text: &str, span: Span) -> bool {
    let stretch = text.get(span.start..span.end).unwrap_or("${");
    stretch.split("${").skip(1).all(|behind| {
        let inner = behind.split_once('}').map_or("", |(inner, _)| inner);
        inner == "!" || name_of(&format!("${inner}")).is_some()
    })
}

fn is_signal(word: &str) -> bool {
    !word.is_empty() && word.len() < 10 && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a spelling without double quotes around it.
fn unquoted(spelling: &str) -> &str {
    spelling.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(spelling)
}

/// Returns the name of a plain expansion: `$p`, `${p}`.
fn name_of(spelling: &str) -> Option<&str> {
    let name = spelling.strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let is_name = !name.is_empty()
        && !name.starts_with(|first: char| first.is_ascii_digit())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    is_name.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn stops(text: &str) -> bool {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let actions = script.actions();
        let mut kills = actions.runs.iter().filter(|run| run.program() == Some("kill")).peekable();
        assert!(kills.peek().is_some(), "{text}");
        kills.all(|run| stops_own_children(run, &actions.assignments, text))
    }

    #[test]
    fn only_processes_of_the_text_are_own_children() {
        for text in [
            "sleep 9 & kill $!",
            "sleep 9 & kill \"$!\"",
            "python3 -m http.server & p=$!; curl localhost; kill $p",
            "x & PID=$!\nwait\nkill -9 \"$PID\"",
            "x & p=$!; kill -s TERM ${p} 2>/dev/null",
            "x & p=$!; y & q=$!; kill -- $p $q",
            "x & kill %1",
            "x & p=$!; trap 'kill $p' EXIT",
        ] {
            assert!(stops(text), "{text}");
        }
        for text in [
            "kill 4711",
            "kill $p",
            "p=1; kill $p",
            "x & p=$!; p=1; kill $p",
            "p=1; x & p=$!; kill $p",
            "x & p=$!; read p; kill $p",
            "x & p=$!; for p in 1 2; do kill $p; done",
            "x & p=$!; unset p; kill $p",
            "kill $p; x & p=$!",
            "x & p=$!; kill $p 1",
            "x & p=$!; kill -9 -1",
            "x & p=-$!; kill $p",
            "x & kill -$!",
            "x & p=$!; kill ${p}1",
            "x & p=$!; kill ${p:-1}",
            "x & kill $(cat pid)",
            "x & kill $(jobs -p)",
            "x & p=$!; kill ${p%2}",
            "x & p=$!; kill \"${p:0:1}\"",
            "x & p=$!; trap 'kill ${p#1}' EXIT",
            "kill",
            "kill -9",
            "pgrep x | xargs kill",
            "x & p=$!; echo 1 | xargs kill $p",
            "x & p+=$!; kill $p",
        ] {
            assert!(!stops(text), "{text}");
        }
    }
}
