//! What a command changes of the shell that runs it, for everything after it.

use super::Floor::Ask;
use super::shape::Shape;
use stockade_shell::Arg;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        id: "forget-history",
        floor: Ask,
        programs: &["unset"],
        fires: |command| command.says(&["HISTFILE", "HISTSIZE", "HISTFILESIZE", "SAVEHIST"]),
        reason: "hides what is run from the history of the shell",
        fix: "leave the history as it is",
        matches: &["unset HISTFILE", "unset -v x HISTFILE", "builtin unset HISTSIZE"],
        clean: &["unset x", "echo HISTFILE", "unset -f HISTORY"],
    },
    Shape {
        id: "open-umask",
        floor: Ask,
        programs: &["umask"],
        fires: |command| command.words().any(opens),
        reason: "lets every user of the machine write the files that are made from here on",
        fix: "let nobody else write: `umask 022`",
        matches: &["umask 000", "umask 0", "umask 002; umask 0000", "umask a=rwx", "umask 0770"],
        clean: &["umask", "umask 022", "umask -S", "umask 0077", "umask u=rwx,go=", "umask 002", "umask 27"],
    },
];

/// Whether a mask lets everybody write.
fn opens(mask: &Arg<'_>) -> bool {
    let Some(mask) = mask.known() else { return false };
    if mask.starts_with(|sign: char| sign.is_ascii_digit()) {
        // The last digit is about everybody, and two of it takes the right to write away.
        let last = mask.chars().last().and_then(|digit| digit.to_digit(8));
        return last.is_none_or(|digit| digit & 2 == 0);
    }
    let gives = |clause: &str| {
        clause.split_once(['=', '+']).is_some_and(|(whom, rights)| {
            (whom.is_empty() || whom.contains(['o', 'a'])) && rights.contains('w')
        })
    };
    !mask.starts_with('-') && mask.split(',').any(gives)
}
