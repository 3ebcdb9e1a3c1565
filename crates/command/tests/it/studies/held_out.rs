//! Misses of vectors that nothing was written for: a name that a shell computes, commands inside the words of a program, and
//! options and builtins whose effect comes later.

use stockade_command::{CommandPolicy, Effect, Layer};
use stockade_shell::Shell;

use super::{Class, hold, quiet};
use crate::decides::{policy, rule};

const STUDY: &str = "held-out vectors";
const SOURCE: &str = "vectors of commands that had no row";

/// Texts that run `rm x`, which the user denies, however they are nested.
const RUN_A_DENIED_ONE: &[&str] = &[
    "parallel 'rm x'",
    "parallel 'rm {}' ::: x",
    "parallel rm ::: x",
    "parallel -j2 'rm -rf {}' ::: x",
    "ls | parallel 'rm {}'",
    "ls | parallel rm",
    "parallel --jobs 4 rm {} ::: x",
    "parallel 'rm {.}' ::: x",
    "parallel 'echo {}; rm {}' ::: x",
    "parallel -k \"rm {}\" ::: x",
    "sem rm x",
    "sem -j2 'rm x'",
    "env_parallel 'rm {}' ::: x",
    "parallel -I% 'rm %' ::: x",
    "parallel 'r''m {}' ::: x",
    "parallel 'ls && rm {}' ::: x",
];

const ZSH_RUN_A_DENIED_ONE: &[&str] = &[
    "sched +1 rm x",
    "sched 10:00 'rm x'",
    "sched +00:01 rm x",
    "sched -o +1 rm x",
    "zmodload zsh/sched; sched +5 rm x",
    "builtin sched +1 rm x",
];

/// Texts whose program a shell computes, whatever they look like.
const COMPUTED: &[&str] = &[
    "\"$x\"=ls",
    "x=rm; \"$x\"=ls",
    "$x=ls",
    "${x}=ls",
    "\"${x}\"=a b",
    "\"$(cat f)\"=x",
    "`cat f`=x",
    "`sh script.sh`",
    "\"a$x\"=ls",
];

/// Options and builtins whose effect shows in a later command.
const LATER: &[&str] = &[
    "set -o allexport",
    "set -a",
    "set -ao pipefail",
    "set -o allexport; PATH=x; ls",
    "file -C",
    "file -C -m x",
    "file --compile",
    "file -bC",
    "rg --search-zip x",
    "rg -z x",
    "rg --pre cat x",
    "jq 'input_filename' x.json",
    "jq -n 'input_filename'",
    "sched",
    "d=.env; cat $d",
    "perl -e 'fork while 1'",
];

#[test]
fn misses_of_vectors_stay_mended() {
    let no_rm = policy(vec![(Layer::User, vec![rule("no-rm", "rm", Effect::Deny)])]);
    hold(
        STUDY,
        SOURCE,
        &no_rm,
        Shell::Bash,
        &[Class::of("commands in words", Effect::Deny, RUN_A_DENIED_ONE)],
    );
    hold(STUDY, SOURCE, &no_rm, Shell::Zsh, &[Class::of("zsh", Effect::Deny, ZSH_RUN_A_DENIED_ONE)]);
    let builtin = CommandPolicy::builtin();
    hold(STUDY, SOURCE, &builtin, Shell::Zsh, &[Class::of("computed names", Effect::Ask, COMPUTED)]);
    for shell in [Shell::Bash, Shell::Zsh] {
        hold(STUDY, SOURCE, &builtin, shell, &[Class::of("later effects", Effect::Sandbox, LATER)]);
    }
    quiet(&no_rm, Shell::Bash, &["set -o pipefail", "set -euo pipefail", "file x", "rg x", "jq .a x.json"]);
}
