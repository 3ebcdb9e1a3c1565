//! Texts that were once misjudged as harmless, with the programs that they run in a real shell: the first batch of
//! every run tries them.

use stockade_shell::Shell;

/// Runs in the jail when a value is evaluated, and when a program is looked up in the directory of others.
const EVALUATED: &str = "curl data";
const ELSEWHERE: &str = "evil ls n";

const BASH: &[Shell] = &[Shell::Bash];
const ZSH: &[Shell] = &[Shell::Zsh];
const BOTH: &[Shell] = &[Shell::Bash, Shell::Zsh];
const ALL: &[Shell] = &[Shell::Bash, Shell::Zsh, Shell::Sh];

/// The texts, with the shells in which they run something else, and what that is, as far as the jail can see it.
#[rustfmt::skip]
const ATTACKS: &[(&[Shell], &str, &str)] = &[
    (ALL, "read -r PATH < h3; ls n", ELSEWHERE),
    (ALL, "for PATH in /evil; do ls n; done", ELSEWHERE),
    (ALL, "{ read -r PATH; ls n; } < h3", ELSEWHERE),
    (&[Shell::Bash, Shell::Sh], "command read -r PATH < h3; ls n", ELSEWHERE),
    (ALL, "while read -r PATH; do ls n; done < h3", ELSEWHERE),
    (ALL, "unset PATH; : ${PATH:=/evil}; ls n", ELSEWHERE),
    (ALL, ": $((PATH=7)); ls n", ELSEWHERE),
    (ALL, "x=PATH; eval \"$x=/evil\"; ls n", ELSEWHERE),
    (BOTH, "printf -v PATH /evil; ls n", ELSEWHERE),
    (BASH, "printf -vPATH /evil; ls n", ELSEWHERE),
    (BOTH, "builtin printf -v PATH %s /evil; ls n", ELSEWHERE),
    (BOTH, "read -r PATH <<< /evil; ls n", ELSEWHERE),
    (BOTH, "read -r x PATH <<< 'a /evil'; ls n", ELSEWHERE),
    (BOTH, "((PATH=7)); ls n", ELSEWHERE),
    (BOTH, "let PATH=7; ls n", ELSEWHERE),
    (BOTH, "declare PATH=/evil; ls n", ELSEWHERE),
    (BOTH, "typeset \"$NAMED\"; ls n", ELSEWHERE),
    (BOTH, "select PATH in /evil; do ls n; break; done <<< 1", ELSEWHERE),
    (BASH, "read -ra PATH < h3; ls n", ""),
    (BASH, "mapfile -t PATH < h3; ls n", ""),
    (BASH, "declare -n r=PATH; r=/evil; ls n", ELSEWHERE),
    (BASH, "declare -n r; r=PATH; r=/evil; ls n", ELSEWHERE),
    (BASH, "read 'BASH_CMDS[ls]' <<< /evil/ls; ls n", ELSEWHERE),
    (BASH, "BASH_CMDS[ls]=/evil/ls; ls n", ELSEWHERE),
    (BASH, "hash -p /evil/ls ls; ls n", ELSEWHERE),
    (BASH, "printf $OPTIONS /evil; ls n", ELSEWHERE),
    (ZSH, "path=(/evil); ls n", ELSEWHERE),
    (ZSH, "for path in /evil; do ls n; done", ELSEWHERE),
    (ZSH, "for path (/evil) ls n", ELSEWHERE),
    (ZSH, "read path < h3; ls n", ELSEWHERE),
    (ZSH, "read -A path < h3; ls n", ELSEWHERE),
    (ZSH, "printf -v path /evil; ls n", ELSEWHERE),
    (ZSH, "set -A path /evil; ls n", ELSEWHERE),
    (ZSH, "set +A path /evil; ls n", ELSEWHERE),
    (ZSH, "print -v PATH /evil; ls n", ELSEWHERE),
    (BASH, "set -k; ls n PATH=/evil", ""),
    (BASH, "set -o history -o histexpand\nls # ; rm h\nls !!:s/#//", "rm h"),
    (BASH, "set -o history\nset -o histexpand\nls # ; rm h\necho !-1:s/#//", "rm h"),
    (BASH, "set -x; read -r PS4 <<< '$(rm h)'; ls n", "rm h"),
    (BASH, "set -x; for PS4 in '$(rm h)'; do ls n; done", "rm h"),
    (BOTH, "n=$(cat h1); ((n > 1))", EVALUATED),
    (BOTH, "n=$(<h1); if ((n)); then ls; fi", EVALUATED),
    (BOTH, "[[ $(cat h1) -eq 1 ]]", EVALUATED),
    (BOTH, "[[ -v $(cat h1) ]]", EVALUATED),
    (BOTH, "read x < h1; [[ $x -eq 1 ]]", EVALUATED),
    (BOTH, "while read -r n; do ((n > 3)) && ls; done < h1", EVALUATED),
    (BOTH, "for ((i=0; i<$(cat h1); i++)); do ls; done", EVALUATED),
    (BOTH, "read -r n < h1 && ((n++))", EVALUATED),
    (BOTH, "f1() { (($1)); }; f1 \"$(cat h1)\"", EVALUATED),
    (BOTH, "x=$(cat h1); [[ -n ${a[x]} ]]", EVALUATED),
    (BOTH, "read x <<< 'path[$(curl data)]'; [[ $x -eq 1 ]]", EVALUATED),
    (BOTH, "printf -v x 'path[$(curl data)]'; ((x))", EVALUATED),
    (BOTH, "((HOSTILE))", EVALUATED),
    (BOTH, "test -v \"$HOSTILE\"", EVALUATED),
    (BOTH, "declare -i n; n=$HOSTILE", EVALUATED),
    (BOTH, "RANDOM=$HOSTILE", EVALUATED),
    (BOTH, "a=([HOSTILE]=1)", EVALUATED),
    (BASH, "echo ${!HOSTILE}", EVALUATED),
    (BASH, "x=abc; echo ${x:HOSTILE}", EVALUATED),
    (BASH, "ls n | declare -A t; t[$HOSTILE]=1", EVALUATED),
    (ZSH, "unset \"$HOSTILE\"", EVALUATED),
    (ZSH, "printf %d \"$HOSTILE\"", EVALUATED),
    (ZSH, "return $HOSTILE", EVALUATED),
    (ZSH, "ls n \"$path[$HOSTILE]\"", EVALUATED),
    (ZSH, "COLUMNS=$HOSTILE", EVALUATED),
    (ZSH, "integer HOSTILE", EVALUATED),
    (ZSH, "exec {n}< h3; n=$HOSTILE", EVALUATED),
    (ZSH, "((n=1)); n=$HOSTILE", EVALUATED),
    (ZSH, "let n=1; n=$(cat h1)", EVALUATED),
];

/// Returns the texts for a shell.
pub(crate) fn texts(shell: Shell) -> impl Iterator<Item = &'static str> {
    ATTACKS.iter().filter(move |(shells, ..)| shells.contains(&shell)).map(|(_, text, _)| *text)
}

/// Returns the program that an attack runs, if it was tried and did not run: then the jail is blind to it.
pub(crate) fn unseen(shell: Shell, text: &str, ran: &[Vec<String>]) -> Option<&'static str> {
    let is_tried = |shells: &[Shell], attack: &str| attack == text && shells.contains(&shell);
    let (.., expected) = ATTACKS.iter().find(|(shells, attack, _)| is_tried(shells, attack))?;
    let has_run = expected.is_empty() || ran.iter().any(|argv| argv.join(" ").starts_with(expected));
    (!has_run).then_some(expected)
}
