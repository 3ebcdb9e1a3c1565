//! Commands that change the state of the shell for the commands after them.

use super::Floor::Ask;
use super::command::Command;
use super::shape::Shape;
use stockade_shell::Arg;

pub(super) const SHAPES: &[Shape] = &[
    Shape {
        // T1562.003, by a builtin instead of a variable.
        id: "forget-history",
        floor: Ask,
        programs: &["unset"],
        fires: |command| command.says(&["HISTFILE", "HISTSIZE", "HISTFILESIZE", "SAVEHIST"]),
        reason: "hides commands from the shell history",
        fix: "do not change the history settings",
        matches: &["unset HISTFILE", "unset -v x HISTFILE", "builtin unset HISTSIZE"],
        clean: &["unset x", "echo HISTFILE", "unset -f HISTORY"],
    },
    Shape {
        // The mode applies to every file that later commands create.
        id: "open-umask",
        floor: Ask,
        programs: &["umask"],
        fires: |command| command.words().any(opens),
        reason: "makes new files writable for every user of the machine",
        fix: "keep new files writable only for their owner: `umask 022`",
        matches: &["umask 000", "umask 0", "umask 002; umask 0000", "umask a=rwx", "umask 0770"],
        clean: &["umask", "umask 022", "umask -S", "umask 0077", "umask u=rwx,go=", "umask 002", "umask 27"],
    },
    // date(1): an operand without a leading plus sets the time. An old clock accepts expired certificates, and gives logs a false
    // order.
    Shape {
        id: "set-clock",
        floor: Ask,
        programs: &["date", "gdate", "hwclock", "ntpdate", "sntp", "timedatectl"],
        fires: |command| match command.name {
            "hwclock" => command.has("-s -w -a --hctosys --systohc --set --adjust --systz"),
            "ntpdate" => !command.has("-q"),
            "sntp" => command.has("-s -S --step --slew"),
            "timedatectl" => command.is_sub(&["set-time", "set-ntp", "set-timezone", "set-local-rtc"]),
            _ => sets_clock(command),
        },
        reason: "sets the clock, which logs and certificates depend on",
        fix: "ask the user to do it",
        matches: &[
            "date 010100002030",
            "date -u 01010000",
            "date -s 2020-01-01",
            "date --set=x",
            "hwclock -w",
            "date $x",
        ],
        clean: &[
            "date",
            "date +%F",
            "date -u +%s",
            "date -d '2020-01-01' +%s",
            "date -r f",
            "date -d \"$x\"",
            "date +\"$f\"",
            "date -j -f %s 1",
        ],
    },
];

/// Whether `date` sets the clock: it has an operand that is not a format.
fn sets_clock(command: &Command<'_, '_>) -> bool {
    let says_how = command.has("-s --set");
    let prints = command.has("-d --date -f --file -r --reference -j") || command.says(&["-j"]);
    let is_time = |word: &Arg<'_>| match word {
        Arg::Known(word) => word.starts_with(|sign: char| sign.is_ascii_digit()),
        Arg::Unknown { prefix, .. } => !prefix.starts_with('+'),
    };
    says_how || (!prints && command.operands().any(is_time))
}

/// Whether a umask makes files writable for all users.
fn opens(mask: &Arg<'_>) -> bool {
    let Some(mask) = mask.known() else { return false };
    if mask.starts_with(|sign: char| sign.is_ascii_digit()) {
        // The last digit is for other users, and its bit 2 removes write permission.
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
