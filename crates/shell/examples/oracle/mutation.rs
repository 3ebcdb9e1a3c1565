//! Commands by the grammar, commands with a few characters changed, and pieces in no order at all.
//!
//! Only those that are read without any reservation are worth running: refused or uncertain texts are never allowed.

use stockade_shell::{Actions, HazardKind, ReadOptions, Script, Shell, ShellHazard};

use crate::attacks;
use crate::grammar::Grammar;
use crate::random::Random;

/// The first text of every batch. If the jail does not see what it runs, the jail is blind.
pub(crate) const CANARY: &str = "rm canary";

/// The second one. Its program is in a directory that only data names.
pub(crate) const DATA_CANARY: &str = "PATH=$FOLDER; ls canary";

/// How many seeds `cargo xtask oracle` has for one run.
const SEEDS_OF_A_RUN: u64 = 100_000;

/// Returns `count` texts after the canaries, always the same for the same seed.
pub(crate) fn texts(shell: Shell, seed: u64, count: usize) -> impl Iterator<Item = String> {
    let one = move |number: u64| -> String {
        let mut random = Random::new(seed.wrapping_mul(0x1_0000_0001).wrapping_add(number << 20));
        let text = match random.below(10) {
            0 => soup(&mut random),
            1..=3 => {
                let text = Grammar::new(shell, random.clone()).text();
                changed(text, &mut random)
            }
            _ => Grammar::new(shell, random).text(),
        };
        text.replace('\0', "")
    };
    let certain =
        (0_u64..).map(one).filter(move |text| is_certain(text, shell) || is_worth_running(text, shell));
    // The seeds of a run follow each other, and the first is a round number.
    let attacks =
        attacks::texts(shell).filter(move |_| seed.is_multiple_of(SEEDS_OF_A_RUN)).map(str::to_owned);
    [CANARY, DATA_CANARY].map(str::to_owned).into_iter().chain(attacks).chain(certain.take(count))
}

/// Whether a text has a reservation because of its data: the deciding crate must not allow it.
fn is_worth_running(text: &str, shell: Shell) -> bool {
    Script::read(text, &ReadOptions::for_shell(shell)).is_ok_and(|script| {
        let actions = script.actions();
        let is_about_data = |hazard: &ShellHazard| {
            matches!(
                hazard.kind,
                HazardKind::EvaluatedData
                    | HazardKind::UnknownVariable
                    | HazardKind::ChangedShell
                    | HazardKind::PromptText
            )
        };
        !actions.runs.is_empty()
            && !actions.hazards.is_empty()
            && actions.hazards.iter().all(is_about_data)
            && !may_multiply(&actions)
    })
}

fn is_certain(text: &str, shell: Shell) -> bool {
    Script::read(text, &ReadOptions::for_shell(shell)).is_ok_and(|script| {
        let actions = script.actions();
        actions.hazards.is_empty() && !actions.runs.is_empty() && !may_multiply(&actions)
    })
}

/// Whether a function may call itself: with a few pipes that exhausts the machine's processes. A program with an
/// uncertain name may be a function too.
fn may_multiply(actions: &Actions<'_>) -> bool {
    let is_function =
        |name: &str| actions.functions.iter().any(|function| function.name.as_deref() == Some(name));
    let bodies = actions.functions.iter().filter_map(|function| actions.runs.get(function.runs.clone()));
    bodies.flatten().any(|run| run.program().is_none_or(is_function))
}

/// Error-prone constructs, each a few characters.
const PIECES: &[&str] = &[
    "'", "\"", "`", "\\", "$", "(", ")", "{", "}", "[", "]", "<", ">", "|", "&", ";", "\n", " ", "\t", "#",
    "!", "=", "~", "*", "?", "$(", "$((", "))", "${", "$'", "$\"", "<(", ">(", "<<E\n", "\nE\n", "<<-E\n",
    "<<'E'\n", "\\\n", ";;", "&&", "||", "|&", "&>", ">&", "<<<", "((", "[[ ", " ]]", "{a,b}", ";&", " # ",
    "\\\\", "\\'", "\\\"", "\\`", "\\$", "x=", "x=(", "+=", "${x:-", "${x#", "${x//", "$[", "@(", "$x", "$1",
    "-", ":", "/", ",", "..", "=(", "%", "^",
];

/// Whole words, so that pieces in no order are commands now and then.
const WORDS: &[&str] = &[
    "rm p1 ",
    "id p2",
    "ls ",
    "git p3 ",
    "echo ",
    "if ",
    "; then ",
    "; fi",
    "for i in a; do ",
    "; done",
    "while ",
    "case a in a) ",
    ";; esac",
    "f() { ",
    "; }",
    "{ ",
    "( ",
    " )",
    "time ",
    "! ",
    "eval ",
    "sh -c ",
    "coproc ",
    "do ",
    "done",
    "esac",
    "in ",
    "function ",
    "then ",
    "else ",
    "cat ",
    "\n",
    " | ",
    " && ",
    " & ",
    "; ",
    "E",
];

fn soup(random: &mut Random) -> String {
    let count = 2 + random.below(14);
    let piece = |random: &mut Random| {
        let choices = if random.once_in(2) { PIECES } else { WORDS };
        random.one_of(choices)
    };
    (0..count).map(|_| piece(random)).collect()
}

fn changed(mut text: String, random: &mut Random) -> String {
    for _ in 0..=random.below(3) {
        let from = boundary(&text, random.below(text.len() + 1));
        let to = boundary(&text, (from + random.below(4)).min(text.len()));
        let part = text.get(from..to.max(from)).unwrap_or_default().to_owned();
        match random.below(4) {
            0 => text.replace_range(from..to.max(from), ""),
            1 => text.insert_str(boundary(&text, random.below(text.len() + 1)), &part),
            2 => text.replace_range(from..to.max(from), random.one_of(PIECES)),
            _ => text.insert_str(from, random.one_of(PIECES)),
        }
    }
    text
}

fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
}
