//! What a command sets, switches and evaluates, beside what it runs: however a shell comes to set a variable, it counts as an
//! assignment; what changes how text is parsed is asked about; and unknown values are not evaluated unconfined.

use stockade_command::{CommandPolicy, Effect, Layer};
use stockade_shell::{ReadOptions, Shell};

use Effect::{Allow, Ask, Deny, Sandbox};

use crate::decides::{place, policy, rule};

fn decided(policy: &CommandPolicy, shell: Shell, text: &str) -> Effect {
    policy.decide(text, &ReadOptions::for_shell(shell), &place()).effect
}

/// Returns the rows of which `holds` is not true.
fn wrong(shell: Shell, rows: &[&str], holds: impl Fn(Effect) -> bool) -> Vec<String> {
    let policy = CommandPolicy::builtin();
    let decisions = rows.iter().map(|text| (decided(&policy, shell, text), text));
    decisions
        .filter(|(effect, _)| !holds(*effect))
        .map(|(effect, text)| format!("{effect}: {text}"))
        .collect()
}

/// Every builtin and every form of a shell that sets a variable. `NAME` is replaced by the variable.
const SETTERS: &[(&[Shell], &[&str])] = &[
    (
        &[Shell::Bash, Shell::Zsh, Shell::Sh],
        &[
            "NAME=/tmp/x; ls",
            "NAME=/tmp/x ls",
            "export NAME=/tmp/x; ls",
            "readonly NAME=/tmp/x; ls",
            "read -r NAME < f; ls",
            "read -r a NAME < f; ls",
            "cat f | { read NAME; ls; }",
            "cat f | while read NAME; do ls; done",
            "command read NAME < f; ls",
            "for NAME in /tmp/x; do ls; done",
            "for NAME in /tmp/x /tmp/y; do ls; done",
            "for NAME in $(cat f); do ls; done",
            "getopts ab NAME; ls",
            "eval 'NAME=/tmp/x'; ls",
            ": ${NAME:=/tmp/x}; ls",
            ": \"${NAME=/tmp/x}\"; ls",
            "echo $((NAME=7)); ls",
            "f() { read NAME; }; f < f; ls",
            "if read NAME; then ls; fi < f",
            "ls && NAME=$(cat f) && ls",
        ],
    ),
    (
        &[Shell::Bash, Shell::Zsh],
        &[
            "declare NAME=/tmp/x; ls",
            "typeset -x NAME=/tmp/x; ls",
            "f() { local NAME=/tmp/x; ls; }; f",
            "NAME+=:/tmp/x; ls",
            "printf -v NAME /tmp/x; ls",
            "printf -vNAME %s /tmp/x; ls",
            "builtin read NAME < f; ls",
            "builtin printf -v NAME /tmp/x; ls",
            "read NAME <<< /tmp/x; ls",
            "((NAME=7)); ls",
            "((NAME++)); ls",
            "let NAME=7; ls",
            "for ((NAME=0; NAME<1; NAME++)); do ls; done",
            "ls {NAME}> f",
            "select NAME in /tmp/x; do ls; done < f",
            "export \"NAME=$x\"; ls",
        ],
    ),
    (
        &[Shell::Bash],
        &[
            "read -a NAME < f; ls",
            "read -raNAME < f; ls",
            "read -p x -u 3 NAME; ls",
            "mapfile NAME < f; ls",
            "mapfile -t -n 1 NAME < f; ls",
            "readarray -tn1 NAME < f; ls",
            "wait -p NAME -n; ls",
            "wait -npNAME; ls",
            "coproc NAME { ls; }; ls",
            "declare -n r=NAME; r=/tmp/x; ls",
            "local -n r=NAME; read r < f; ls",
            "read 'NAME[0]' < f; ls",
            "NAME[0]=/tmp/x; ls",
            "NAME=(/tmp/x); ls",
            "set -a; read NAME < f; ls",
        ],
    ),
    (
        &[Shell::Zsh],
        &[
            "read -A NAME < f; ls",
            "read 'NAME?say: ' < f; ls",
            "print -v NAME /tmp/x; ls",
            "strftime -s NAME %F; ls",
            "set -A NAME /tmp/x; ls",
            "set +A NAME /tmp/x; ls",
            "vared NAME; ls",
            "sysread NAME < f; ls",
            "zparseopts a=NAME; ls",
            "for NAME (/tmp/x) ls",
            "foreach NAME (/tmp/x) ls; end",
            "typeset -T NAME list; list=(/tmp/x); ls",
            ": ${NAME::=/tmp/x}; ls",
        ],
    ),
];

#[test]
fn however_a_variable_is_set_it_counts() {
    let policy = CommandPolicy::builtin();
    let mut wrong = Vec::new();
    let mut tried = 0;
    for (shells, forms) in SETTERS {
        for (shell, form) in shells.iter().flat_map(|shell| forms.iter().map(move |form| (*shell, *form))) {
            for name in ["PATH", "GIT_EXTERNAL_DIFF", "LD_PRELOAD", "BASH_ENV", "PS4"] {
                tried += 1;
                let value = if name == "PS4" { "'$(id)'" } else { "/tmp/x" };
                let text = form.replace("NAME", name).replace("/tmp/x", value);
                let effect = decided(&policy, shell, &text);
                if effect < Ask {
                    wrong.push(format!("{shell:?} {effect}: {text}"));
                }
            }
            let harmless = decided(&policy, shell, &form.replace("NAME", "v"));
            let is_contained = form.contains("$(cat") || harmless <= Sandbox;
            if !is_contained
                && !["foreach", "declare -n", "-T", "eval"].iter().any(|part| form.contains(part))
            {
                wrong.push(format!("{shell:?} {harmless} of a name that does not matter: {form}"));
            }
        }
    }
    assert!(wrong.is_empty() && tried > 400, "{tried} tried\n{}", wrong.join("\n"));
}

#[test]
fn arrays_of_zsh_are_the_variables_that_they_are_tied_to() {
    let rows = [
        "path=(/tmp/x); ls",
        "path+=/tmp/x; ls",
        "path[1]=/tmp/x; ls",
        "for path in /tmp/x; do ls; done",
        "for path (/tmp/x) ls",
        "read path < f; ls",
        "read -A path < f; ls",
        "set -A path /tmp/x; ls",
        "printf -v path /tmp/x; ls",
        "fpath=(/tmp/x); ls",
        "cdpath=(/tmp/x); cd y",
        "module_path=(/tmp/x); ls",
        "hash ls=/tmp/x/ls; ls",
        "commands[ls]=/tmp/x/ls; ls",
        "aliases[ls]=rm; ls",
        "functions[ls]=rm; ls",
        "options[shwordsplit]=on; ls",
    ];
    assert_eq!(wrong(Shell::Zsh, &rows, |effect| effect >= Ask), Vec::<String>::new());
    // In other shells these are names like any other.
    let rows = ["path=/tmp/x; ls", "for path in a b; do ls; done", "read -r path < f", "options=x; ls"];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect == Allow), Vec::<String>::new());
}

#[test]
fn names_that_are_not_known_may_be_any() {
    let rows = [
        "read -r \"$x\" < f; ls",
        "read $x < f; ls",
        "printf -v \"$x\" y; ls",
        "export \"$x\"; ls",
        "declare $x; ls",
        "typeset -x \"$(cat f)\"; ls",
        "mapfile -t \"$x\" < f; ls",
        "getopts a $x; ls",
        "wait -p \"$x\" -n; ls",
        "declare -n r=$x; r=1; ls",
        "declare -n r; r=PATH; r=/tmp/x; ls",
        "declare -n r=x; for r in PATH; do r=/tmp/x; done; ls",
        ": ${!x:=y}; ls",
        "alias ls=./x; ls",
        "BASH_ALIASES[ls]=./x; ls",
        "BASH_CMDS[ls]=./x; ls",
        "read 'BASH_CMDS[ls]' < f; ls",
        "hash -p ./x ls; ls",
        "POSIXLY_CORRECT=1; ls",
        "SHELLOPTS=keyword; ls",
    ];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect >= Ask), Vec::<String>::new());
}

#[test]
fn options_that_change_how_text_is_read_are_asked_about() {
    let rows = [
        "set -o history -o histexpand\nls # ; rm x\nls !!:s/#//",
        "set -o history\nset -H\nls # ; rm x\necho !-1:s/#//",
        "set -k; git diff GIT_EXTERNAL_DIFF=./x",
        "set -ek; git diff GIT_EXTERNAL_DIFF=./x",
        "set -e -k; git diff GIT_EXTERNAL_DIFF=./x",
        "set -o keyword; git diff GIT_EXTERNAL_DIFF=./x",
        "set -o errexit -o keyword; ls",
        "set -eo keyword; ls",
        "builtin set -k; ls",
        "command set -k; ls",
        "eval 'set -k'; ls",
        "set -$x; ls",
        "set $x; ls",
        "shopt -so keyword; ls",
        "shopt -s expand_aliases; ls",
        "shopt -s lastpipe; ls",
        "set -o posix; ls",
        "set +B; {ls,-l}",
        "set -o never-heard-of; ls",
        "set +o history; ls",
        "unset HISTFILE; ls",
        "history -s 'rm x'; ls",
        "fc -s; ls",
        "enable -n echo; ls",
        "bash -k -c 'git diff GIT_EXTERNAL_DIFF=./x'",
        "bash -O expand_aliases -c ls",
        "bash --posix -c ls",
        "shopt -s extglob\n! ( ls )",
        "umask 000; ls",
    ];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect >= Ask), Vec::<String>::new());
    let rows = [
        "setopt shwordsplit; ls",
        "setopt EXTENDED_GLOB; ls",
        "unsetopt equals; ls",
        "set -o banghist; ls",
        "set -y; ls",
        "emulate sh; ls",
        "emulate -L ksh; ls",
        "zmodload zsh/files; ls",
        "autoload ls; ls",
        "functions -c f ls; ls",
        "alias -g X=rm; ls X",
        "zsh -o shwordsplit -c ls",
    ];
    assert_eq!(wrong(Shell::Zsh, &rows, |effect| effect >= Ask), Vec::<String>::new());
    // What is exported is set, and that is looked at wherever it happens.
    let rows = [
        "set -o allexport; read GIT_EXTERNAL_DIFF <<< ./x; git diff",
        "set -ea; read GIT_EXTERNAL_DIFF < f; git diff",
        "set -a; for GIT_EXTERNAL_DIFF in ./x; do git diff; done",
        "set -x; read -r PS4 < f; ls",
        "set -x; for PS4 in '$(id)'; do ls; done",
    ];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect >= Ask), Vec::<String>::new());
}

/// `D` is an expansion with an unknown value, `NAME` a variable that holds it.
const EVALUATED: &[(&[Shell], &[&str])] = &[
    (
        &[Shell::Bash, Shell::Zsh, Shell::Sh],
        &["NAME=$(cat f); ls $((NAME))", "NAME=$(cat f); ls $((1 + NAME))"],
    ),
    (
        &[Shell::Bash, Shell::Zsh],
        &[
            "NAME=$(cat f); ((NAME > 1))",
            "NAME=$(cat f); (($NAME > 1))",
            "(($(cat f)))",
            "NAME=$(<f); if ((NAME)); then ls; fi",
            "NAME=$(cat f); [[ $NAME -eq 1 ]]",
            "NAME=$(cat f); [[ 1 -lt NAME ]]",
            "[[ $(cat f) -gt 5 ]] && ls",
            "[[ -v $(cat f) ]]",
            "NAME=$(cat f); [[ -v $NAME ]]",
            "NAME=$(cat f); test -v \"$NAME\"",
            "NAME=$(cat f); [ -v \"$NAME\" ]",
            "NAME=$(cat f); let NAME+1",
            "NAME=$(cat f); let \"x=$NAME\"",
            "NAME=$(cat f); for ((i=0; i<NAME; i++)); do ls; done",
            "for ((i=0; i<$(cat f); i++)); do ls; done",
            "read NAME < f; ((NAME))",
            "while read -r NAME; do ((NAME > 3)) && ls; done < f",
            "read NAME <<< 'a[$(id)]'; ((NAME))",
            "printf -v NAME %s \"$(cat f)\"; ((NAME))",
            "f() { (($1)); }; f \"$(cat f)\"",
            "for NAME in *; do ((NAME)); done",
            "x=1; NAME=$(cat f); x=$NAME; ((x))",
            "x=1; while ((x < 9)); do x=$(cat f); done",
            "NAME=$(cat f); x=$NAME; y=$x; ((y))",
            "x=1; f() { x=$(cat f); }; f; ((x))",
            "((HOSTILE))",
            "NAME=$(cat f); declare -i n=$NAME",
            "declare -i n; n=$(cat f)",
            "NAME=$(cat f); a[NAME]=1",
            "NAME=$(cat f); a=([NAME]=1)",
            "NAME=$(cat f); [[ -n ${a[NAME]} ]]",
            "NAME=$(cat f); unset \"a[$NAME]\"",
            "RANDOM=$(cat f)",
            "if false; then NAME=1; fi; ((NAME))",
            "NAME=$(cat f); ls | declare -A t; t[$NAME]=1",
            "NAME=$(cat f); false && declare -A t; t[$NAME]=1",
            "NAME=$(cat f); f() { declare -A t; }; t[$NAME]=1",
            "false && NAME=1; ((NAME))",
            "(NAME=1); ((NAME))",
            "bash -c '((NAME))'",
        ],
    ),
    (
        &[Shell::Bash],
        &[
            "NAME=$(cat f); x=${!NAME}",
            "NAME=$(cat f); x=${y:NAME}",
            "NAME=$(cat f); x=${y:1:NAME}",
            "NAME=$(cat f); x=${y:$NAME}",
            "mapfile -t NAME < f; ((NAME))",
        ],
    ),
    (
        &[Shell::Zsh],
        &[
            "NAME=$(cat f); return $NAME",
            "NAME=$(cat f); printf %d \"$NAME\"",
            "exit $(cat f)",
            "integer HOSTILE",
            "exec {NAME}< f; NAME=$(cat f)",
            "echo a {NAME}> g; NAME=$(cat f)",
            "((NAME=1)); NAME=$(cat f)",
            ": $((NAME=1)); NAME=$(cat f)",
            "let NAME=1; NAME=$(cat f)",
            "for ((NAME=0; NAME<1; NAME++)); do :; done; NAME=$(cat f)",
            "while ((NAME++ < 9)); do NAME=$(cat f); done",
            "sysopen -r -u NAME g; NAME=$(cat f)",
            "sysread -c NAME x < g; NAME=$(cat f)",
            "private COLUMNS=$(cat f)",
            "private PATH=/tmp/x",
            "n=$(cat f); ls $path[n]",
            "n=$(cat f); ls \"$path[$n]\"",
        ],
    ),
];

#[test]
fn values_that_are_not_known_are_never_evaluated_unconfined() {
    for (shells, rows) in EVALUATED {
        let rows: Vec<String> = rows.iter().map(|row| row.replace("NAME", "n")).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        for shell in *shells {
            assert_eq!(wrong(*shell, &rows, |effect| effect >= Sandbox), Vec::<String>::new(), "{shell:?}");
        }
    }
}

/// Ways to let a program see a variable. `NAME` is replaced by the variable.
const EXPORTED: &[&str] = &[
    "NAME=./x git status",
    "env NAME=./x git status",
    "env -S 'NAME=./x git status'",
    "timeout 5 env NAME=./x git status",
    "export NAME=./x; git status",
    "NAME=./x; export NAME; git status",
    "export NAME; NAME=./x; git status",
    "declare -x NAME=./x; git status",
    "typeset -gx NAME=./x; git status",
    "f() { local -x NAME=./x; git status; }; f",
    "f() { NAME=./x; git status; }; set -a; f",
    "set -o allexport; NAME=./x; git status",
    "set -ea; NAME=./x; git status",
    "set -a; read NAME < f; git status",
    "set -a; for NAME in ./x; do git status; done",
    "bash -ac 'NAME=./x; git status'",
    "bash -o allexport -c 'NAME=./x; git status'",
    "NAME=./x bash -c 'git status'",
    "bash -c 'NAME=./x git status'",
    "eval 'NAME=./x git status'",
    "export {NAME,B}=./x; git status",
    "export NAME=./x",
    "set -a; NAME=./x",
];

#[test]
fn no_program_sees_a_variable_that_is_not_known_to_be_harmless() {
    for name in ["GREP", "CLOUDSDK_PYTHON", "APT_CONFIG", "GH_HOST", "HELM_PLUGINS", "NEVER_HEARD_OF", "x"] {
        let rows: Vec<String> = EXPORTED.iter().map(|row| row.replace("NAME", name)).collect();
        let rows: Vec<&str> = rows.iter().map(String::as_str).collect();
        assert_eq!(wrong(Shell::Bash, &rows, |effect| effect >= Sandbox), Vec::<String>::new());
    }
    let rows = [
        "setopt allexport; GREP=./x; git status",
        "setopt ALL_EXPORT; GREP=./x; git status",
        "integer -x N=1; git status",
    ];
    assert_eq!(wrong(Shell::Zsh, &rows, |effect| effect >= Sandbox), Vec::<String>::new());
}

#[test]
fn a_translated_string_is_confined() {
    let rows = [
        "echo $\"hi\"",
        "TEXTDOMAINDIR=./l\nLANGUAGE=xx\nTEXTDOMAIN=x\nls $\"hi\"",
        "[ -n $\"hi\" ]",
        "x=$\"hi\"; ls",
        "ls \"$(echo $\"hi\")\"",
        "for x in $\"hi\"; do ls; done",
        "cat <<< $\"hi\"",
        "ls ${x:-$\"hi\"}",
        "eval 'echo $\"hi\"'",
        "export TEXTDOMAIN=x; ls",
        "TEXTDOMAINDIR=./l; ls",
    ];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect >= Sandbox), Vec::<String>::new());
    // The text itself is still read.
    assert_eq!(wrong(Shell::Bash, &["$\"rm\" -rf /"], |effect| effect == Deny), Vec::<String>::new());
    assert_eq!(
        wrong(Shell::Bash, &["echo '$\"hi\"'", "echo \"a$\"", "echo $'hi'"], |effect| effect == Allow),
        Vec::<String>::new()
    );
}

#[test]
fn ordinary_scripts_are_not_asked_about() {
    let rows = [
        "set -euo pipefail; ls",
        "set -Eeuo pipefail; IFS=$'\\n\\t'; ls",
        "set -x; ls; set +x",
        "set -ex\nls",
        "set -- a b; ls",
        "PS4='+ ${LINENO}: '; set -x; ls",
        "i=0; while ((i < 10)); do ((i++)); done",
        "i=0; while [[ $i -lt 10 ]]; do i=$((i + 1)); done",
        "for ((i = 0; i < 10; i++)); do ls; done",
        "for i in 1 2 3; do ((i > 2)) && ls; done",
        "for i in {1..5}; do ((i % 2)) && ls; done",
        "for i in $(seq 1 5); do ((i > 2)) && ls; done",
        "c=0; for f in *.md; do ((c++)); done; ((c > 3)) && ls",
        "f() { local n=0; ((n += 2)); }; f",
        "if (( $# > 1 )); then ls; fi",
        "ls; (( $? == 0 )) && ls",
        "x=abc; (( ${#x} > 2 )) && ls",
        "x=abc; y=${x:0:2}",
        "a=(1 2 3); ((a[0] > 0)) && ls",
        "a=(1 2 3); for ((i = 0; i < ${#a[@]}; i++)); do ls; done",
        "n=$(wc -l < f); if ((n > 1)); then ls; fi",
        "n=$(ls | wc -l); ((n > 1)) && ls",
        "a=$(date +%s); ls; b=$(date +%s); ((b - a > 5)) && ls",
        "declare -A m; m[a]=1; m[$x]=2; y=${m[$x]}",
        "f() { local -A m; m[$1]=1; }; f a",
        "[[ $x == y* ]] && ls",
        "[[ -n $x && -f $y ]] && ls",
        "[[ -v HOME ]] && ls",
        "((x = 1)); ls",
        "IFS= read -r line < f",
        "IFS=, read -ra parts < f",
        "while IFS=/ read -r a b; do ls; done < f",
        "NODE_ENV=test git status",
        "PYTHONUNBUFFERED=1 RUST_LOG=debug git status",
        "GIT_PAGER=cat git log",
        "GIT_TERMINAL_PROMPT=0 git log",
        "export NODE_ENV=test; ls",
        "A=$x; echo \"$A\"",
        "x=$(pwd); ls \"$x\"",
        "LC_ALL=C NO_COLOR=1 COLUMNS=80 TZ=UTC git log",
        "unset x; ls",
        "umask 022; ls",
    ];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect == Allow), Vec::<String>::new());
    let rows = [
        "shopt -s nullglob globstar dotglob extglob; ls",
        "shopt -s nullglob\nfor f in *.md; do echo \"$f\"; done",
        "setopt nullglob; ls",
        "bash -lc 'npm test'",
        "bash -euo pipefail -c 'npm test'",
        "while IFS= read -r line; do echo \"$line\"; done < f",
        "n=$(cat f); if ((n > 1)); then ls; fi",
        "mapfile -t lines < f",
        "set -a; . ./settings; set +a",
        "for i in 1 2 3; do echo $((i * 2)); done",
    ];
    assert_eq!(wrong(Shell::Bash, &rows, |effect| effect <= Sandbox), Vec::<String>::new());
}

#[test]
fn a_loop_over_lines_is_allowed_where_its_words_are() {
    let rules = vec![rule("words", "read|echo", Allow)];
    let policy = policy(vec![(Layer::User, rules)]);
    for text in
        ["while read -r l; do echo \"$l\"; done < list", "while IFS= read -r l; do echo \"$l\"; done < list"]
    {
        let decision = policy.decide(text, &ReadOptions::default(), &place());
        let causes: Vec<String> = decision.decisive().map(|part| part.cause.to_string()).collect();
        assert_eq!(decision.effect, Allow, "{text}: {causes:?}");
    }
    assert!(decided(&policy, Shell::Bash, "read PATH < list; echo a") >= Ask);
}

#[test]
fn what_is_said_of_a_path_is_true() {
    let policy = CommandPolicy::builtin();
    for text in ["export PATH=\"$PATH:/opt/x\"", "export PATH=$PATH:/opt/x", "PATH=/opt/x:$PATH"] {
        let decision = policy.decide(text, &ReadOptions::default(), &place());
        let causes: Vec<String> = decision.decisive().map(|part| part.cause.to_string()).collect();
        assert_eq!(decision.effect, Ask, "{text}");
        assert!(causes.iter().all(|cause| cause.contains("which program")), "{text}: {causes:?}");
    }
    assert_eq!(decided(&policy, Shell::Bash, "LD_PRELOAD=./x ls"), Deny);
}
