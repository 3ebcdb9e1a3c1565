//! Commands that print only a number, for any input: `$(wc -l < file)`.

use crate::actions::Arg;
use crate::braces::arguments;
use crate::options::Shell;
use crate::tree::{Command, Item, List, Simple};

/// Returns whether all that a substitution prints is a number. Only the last command of a pipeline prints.
pub(crate) fn prints_a_number(list: &List<'_>) -> bool {
    let [Item { pipeline, .. }] = list.items.as_slice() else { return false };
    let is_first = pipeline.commands.len() == 1;
    match pipeline.commands.last() {
        Some(Command::Simple(simple)) if !pipeline.errors_too => is_number(simple, is_first),
        _ => false,
    }
}

fn is_number(simple: &Simple<'_>, is_first: bool) -> bool {
    let mut argv = Vec::new();
    // Only words that are the same in every shell are known here.
    simple.words.iter().for_each(|word| arguments(word, Shell::Bash, &mut argv));
    let Some(words) = argv.iter().map(Arg::known).collect::<Option<Vec<&str>>>() else { return false };
    match words.as_slice() {
        ["nproc"] | ["id", "-u" | "-g"] => true,
        ["date", format] => is_date(format),
        ["wc", "-l" | "-c" | "-w" | "-m"] => true,
        // More than one file, and it prints their names too.
        ["grep", "-c", _] => !is_first || !simple.redirects.is_empty(),
        ["seq", numbers @ ..] => numbers.iter().all(|number| is_whole(number)),
        ["echo", "-n", number] | ["echo", number] => is_whole(number),
        _ => false,
    }
}

fn is_whole(number: &str) -> bool {
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// `date +%s` and its like.
fn is_date(format: &str) -> bool {
    let Some(format) = format.strip_prefix('+') else { return false };
    let mut letters = format.chars();
    while let Some(letter) = letters.next() {
        let is_number = match letter {
            '%' => letters.next().is_some_and(|directive| "CdgGHIjmMNsSuUVwWyY".contains(directive)),
            letter => letter.is_ascii_digit(),
        };
        if !is_number {
            return false;
        }
    }
    true
}
