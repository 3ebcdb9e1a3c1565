//! What a rule denies, however it is started: by programs that run texts, in scripts of other languages, and by names that
//! are computed from words that name it.

use stockade_command::{CommandPolicy, Effect, Layer};
use stockade_shell::{ReadOptions, Shell};

use crate::decides::{place, policy, rule};

/// Forms that run `rm x` in bash.
const BASH: &[&str] = &[
    "pwsh -c 'rm x'",
    "bind -x '\"\\C-a\": rm x'",
    "nix-shell --run 'rm x'",
    "expect -c 'spawn rm x'",
    "ls | pee 'rm x'",
    "ed <<< '!rm x'",
    "tclsh <<< 'exec rm x'",
    "sqlite3 y '.shell rm x'",
    "psql -c '\\! rm x'",
    "lua -e 'os.execute(\"rm x\")'",
    "perl -e 'system(\"rm x\")'",
    "awk 'BEGIN{system(\"rm x\")}'",
    "make -f - <<< 'a:; rm x'",
    "sshpass -p a rm x",
    "entr -s 'rm x'",
    "y=rm; $y x",
    "y=rm; ${y} x",
    "$(echo rm) x",
    "`echo rm` x",
    "${y:-rm} x",
    "$SUDO rm x",
    "c=(rm x); \"${c[@]}\"",
];

/// Forms that only zsh has.
const ZSH: &[&str] = &[
    "=rm x",
    "$commands[rm] x",
    "${commands[rm]} x",
    "${:-rm} x",
    "${(e):-rm} x",
    "${(L):-RM} x",
    "noglob rm x",
    "- rm x",
    "repeat 1 rm x",
    "repeat 1 { rm x }",
    "alias -g G='; rm x'",
    "while true { rm x }",
    "function { rm x }",
    "y=rm; $=y x",
    "emulate sh -c 'rm x'",
];

/// What only speaks of it, or cannot run it.
const CLEAN: &[&str] = &[
    "echo rm x",
    "$EDITOR x",
    "y=ls; $y x",
    "perl -e 'print \"rm x\"'",
    "sqlite3 y 'select 1'",
    "tclsh <<< 'puts hello'",
    "grep -r 'rm x' .",
    "make all",
];

fn effect(policy: &CommandPolicy, shell: Shell, text: &str) -> Effect {
    policy.decide(text, &ReadOptions::for_shell(shell), &place()).effect
}

#[test]
fn what_is_denied_is_denied_in_every_form() {
    let policy = policy(vec![(Layer::User, vec![rule("no-rm", "rm", Effect::Deny)])]);
    let bash = BASH.iter().map(|text| (Shell::Bash, *text));
    let rows: Vec<_> = bash.chain(ZSH.iter().map(|text| (Shell::Zsh, *text))).collect();
    let wrong: Vec<_> =
        rows.into_iter().filter(|(shell, text)| effect(&policy, *shell, text) != Effect::Deny).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
    let clean: Vec<_> =
        CLEAN.iter().filter(|text| effect(&policy, Shell::Bash, text) == Effect::Deny).collect();
    assert!(clean.is_empty(), "{clean:?}");
}

#[test]
fn a_computed_name_needs_every_word_of_a_denial() {
    let policy = policy(vec![(Layer::User, vec![rule("no-push", "git push", Effect::Deny)])]);
    let effect = |text| effect(&policy, Shell::Bash, text);
    assert_eq!(effect("g=git; $g push"), Effect::Deny);
    assert_eq!(effect("$(which git) push origin"), Effect::Deny);
    assert!(effect("g=git; $g status") < Effect::Deny);
}

#[test]
fn no_flood_of_computed_names_makes_one_milder() {
    let policy = policy(vec![(Layer::User, vec![rule("no-rm", "rm", Effect::Deny)])]);
    let flood = format!("{}$(echo rm) x", "$a; ".repeat(500));
    assert_eq!(effect(&policy, Shell::Bash, &flood), Effect::Deny);
}
