//! Programs that run others: wrappers, shells, builtins that evaluate text, lists of arguments.

use stockade_shell::{HazardKind, InvocationKind, Script, Shell};

use crate::support::{read, runs};

/// Each of these runs `rm -rf build`.
const RUN_RM: &[&str] = &[
    "sudo rm -rf build",
    "sudo -n -E -u root -- rm -rf build",
    "sudo -nu root rm -rf build",
    "sudo --us=root rm -rf build",
    "sudo A=1 rm -rf build",
    "doas -u root rm -rf build",
    "su - user -c 'rm -rf build'",
    "su user --command='rm -rf build'",
    "runuser -u user -- rm -rf build",
    "gosu root rm -rf build",
    "env -i A=1 rm -rf build",
    "env -uA -C /tmp rm -rf build",
    "env -S 'A=1 rm' -rf build",
    "env -S '-i rm -rf' build",
    "env -vS'rm -rf build'",
    "nohup nice -n 5 rm -rf build",
    "nice -10 rm -rf build",
    "timeout -k1 -s KILL 5 rm -rf build",
    "ionice -c2 -n7 rm -rf build",
    "stdbuf -oL rm -rf build",
    "/usr/bin/time -f %e rm -rf build",
    "chrt -f 99 rm -rf build",
    "taskset -c 0 rm -rf build",
    "unshare -rm rm -rf build",
    "chroot --userspec=a /x rm -rf build",
    "setpriv --reuid 1 rm -rf build",
    "systemd-run --user -p A=1 rm -rf build",
    "flock -n /tmp/l rm -rf build",
    "flock /tmp/l -c 'rm -rf build'",
    "script -qc 'rm -rf build' /dev/null",
    "script -q /dev/null -c 'rm -rf build'",
    "watch -n 1 rm -rf build",
    "watch -x rm -rf build",
    "strace -f -o x rm -rf build",
    "gdb -batch -ex run --args rm -rf build",
    "valgrind --tool=none rm -rf build",
    "perf stat -e x -- rm -rf build",
    "hyperfine -w 3 'rm -rf build'",
    "firejail --private rm -rf build",
    "bwrap --bind / / --dev /dev rm -rf build",
    "arch -x86_64 rm -rf build",
    "tmux new-session -d 'rm -rf build'",
    "screen -dmS x rm -rf build",
    "busybox rm -rf build",
    "busybox sh -c 'rm -rf build'",
    "poetry run rm -rf build",
    "direnv exec . rm -rf build",
    "npx -c 'rm -rf build'",
    "command -p rm -rf build",
    "exec -a ls rm -rf build",
    "builtin command rm -rf build",
    "parallel rm -rf ::: build",
    "find . -name x -exec rm -rf build \\;",
    "find . -ok true {} + -execdir rm -rf build ';'",
    "fd x -X rm -rf build",
    "xargs -0 -I% rm -rf build",
    "bash -c 'rm -rf build'",
    "bash -euo pipefail -c 'rm -rf build'",
    "bash -c -e 'rm -rf build'",
    "bash -c - 'rm -rf build'",
    "sh -ec - 'rm -rf build'",
    "/bin/sh -lc 'true && rm -rf build'",
    "zsh -fc 'rm -rf build'",
    "sudo -i bash -c \"env sh -c 'rm -rf build'\"",
    "bash <<'E'\nrm -rf build\nE",
    "bash -s x <<< 'rm -rf build'",
    "echo 'rm -rf build' | sh",
    "echo 'rm -rf build' | sudo bash -",
    "printf 'rm -rf build' | bash",
    "cat <<'E' | sh\nrm -rf build\nE",
    "bash /dev/stdin <<'E'\nrm -rf build\nE",
    ". /dev/stdin <<'E'\nrm -rf build\nE",
    "source -- /dev/fd/0 <<< 'rm -rf build'",
    "env a+b=c -x=y rm -rf build",
    "eval 'rm -rf' build",
    "eval \"eval 'rm -rf build'\"",
    "trap 'rm -rf build' EXIT",
    "alias x='rm -rf build'",
    "PROMPT_COMMAND='rm -rf build'",
    "mapfile -C 'rm -rf build #' -c 1 a",
    "test -v 'a[$(rm -rf build)]'",
    "[ 'a[$(rm -rf build)]' -eq 0 ]",
    "[[ 'a[$(rm -rf build)]' -eq 0 ]]",
    "[[ -v 'a[`rm -rf build`]' ]]",
    "printf -v 'a[$(rm -rf build)]' x",
    "unset 'a[$(rm -rf build)]'",
    "declare -i x='a[$(rm -rf build)]'",
    "let 'a[$(rm -rf build)]=1'",
    "x='a[$(rm -rf build)]'; echo $((x))",
    "x='$(rm -rf build)'; echo ${x@P}",
    "PS4='$(rm -rf build)' ls",
    "tar --to-command='rm -rf build' -xf x",
    "tar cf x y -I 'rm -rf build'",
    "tar cf x --checkpoint=1 --checkpoint-action=exec='rm -rf build' y",
    "rsync -a -e 'rm -rf build' x y",
    "rsync --rsh='rm -rf build' x y",
    "ssh -o ProxyCommand='rm -rf build' h",
    "scp -oproxycommand='rm -rf build' x h:",
    "scp -S 'rm -rf build' x h:",
    "sort --compress-prog='rm -rf build' f",
    "split --filter='rm -rf build' f",
    "man -P 'rm -rf build' ls",
    "gdb -ex 'shell rm -rf build' x",
    "vim -c ':!rm -rf build' f",
    "go test -exec 'rm -rf build' ./...",
    "ip netns exec x rm -rf build",
    "git -c core.pager='rm -rf build' log",
    "git -c alias.x='!rm -rf build' x",
    "git -ccore.sshCommand='rm -rf build' fetch",
    "git config core.editor 'rm -rf build'",
    "git -C x rebase --exec 'rm -rf build' HEAD~1",
    "git clone --upload-pack='rm -rf build' x",
    "git fetch --upload-pa='rm -rf build' x",
    "git bisect run rm -rf build",
    "git submodule foreach --recursive 'rm -rf build'",
    "git clone 'ext::rm -rf build'",
    "git difftool -x 'rm -rf build'",
    "git filter-branch --tree-filter 'rm -rf build' HEAD",
    "pwsh -c 'rm -rf build'",
    "bind -x '\"\\C-a\": rm -rf build'",
    "bind -x '\"\\C-a\":rm -rf build'",
    "nix-shell -p a --run 'rm -rf build'",
    "expect -c 'spawn rm -rf build'",
    "pee 'rm -rf build' cat",
    "ed f <<< '!rm -rf build'",
    "echo '!rm -rf build' | ed",
    "tclsh <<< 'exec rm -rf build'",
    "echo 'exec rm -rf build' | tclsh",
    "m4 <<< 'syscmd(`rm -rf build'\\'')'",
    "make -f - <<< 'a:; rm -rf build'",
    "make --eval='x:;rm -rf build' x",
    "dc <<< '!rm -rf build'",
    "sqlite3 x '.shell rm -rf build'",
    "psql -c '\\! rm -rf build'",
    "less '+!rm -rf build' f",
    "vim '+silent !rm -rf build' f",
    "vim -c 'call system(\"rm -rf build\")' f",
    "lua -e 'os.execute(\"rm -rf build\")'",
    "perl -e 'exec \"rm\", \"-rf\", \"build\"'",
    "perl <<< 'system \"rm -rf build\"'",
    "ruby -e 'system \"rm -rf build\"'",
    "awk 'BEGIN{system(\"rm -rf build\")}'",
    "awk '{print | \"rm -rf build\"}'",
    "elixir -e 'System.cmd(\"rm\", [\"-rf\", \"build\"])'",
    "emacs --eval '(shell-command \"rm -rf build\")'",
    "osascript -e 'do shell script \"rm -rf build\"'",
    "gdb -ex '!rm -rf build'",
    "lldb -o 'shell rm -rf build'",
    "sshpass -p a rm -rf build",
    "faketime 1 rm -rf build",
    "chronic rm -rf build",
    "xterm -e 'rm -rf build'",
    "nodemon --exec 'rm -rf build'",
    "entr -s 'rm -rf build'",
    "rc -c 'rm -rf build'",
    "cmd /c rm -rf build",
];

#[test]
fn programs_behind_programs_are_found() {
    for text in RUN_RM {
        assert!(runs(text).contains(&"rm -rf build".to_owned()), "{text}: {:?}", runs(text));
    }
}

#[test]
fn the_chain_is_kept() {
    let script = read("sudo env sh -c 'nice rm x'", Shell::Bash).unwrap();
    let actions = script.actions();
    let rm = actions.runs.iter().find(|run| run.program() == Some("rm")).unwrap();
    assert_eq!(rm.call_chain, ["sudo", "env", "sh", "nice"]);
    assert_eq!(rm.invocation, InvocationKind::Nested);
}

#[test]
fn quoted_data_runs_nothing() {
    let texts = [
        "echo 'rm -rf build'",
        "git commit -m 'rm -rf build; $(x)'",
        "grep 'a[$(x)]' f",
        "cat <<'E'\nrm -rf build\nE",
        "command -v rm",
        "sudo -l",
        "trap - EXIT",
        "trap '' INT",
        "bash script.sh",
        "[ 'a[$(x)]' = b ]",
        "printf '%s' 'a[$(x)]'",
    ];
    for text in texts {
        let script = read(text, Shell::Bash).unwrap();
        let actions = script.actions();
        assert_eq!((actions.runs.len(), actions.hazards.len()), (1, 0), "{text}: {actions:?}");
    }
}

/// zsh passes every redirected input to a program, the pipe first.
#[test]
fn zsh_joins_inputs() {
    for text in ["echo a | . /dev/stdin <<< b", "sh <<< a <<< b"] {
        let script = read(text, Shell::Zsh).unwrap();
        let hazards = script.actions().hazards;
        assert!(hazards.iter().any(|hazard| hazard.kind == HazardKind::UnknownText), "{text}");
    }
    assert!(runs("echo a | . /dev/stdin <<< b").contains(&"b".to_owned()), "bash takes the last");
}

#[test]
fn xargs_alone_is_echo() {
    assert_eq!(runs("xargs -0"), ["echo", "xargs -0"]);
}

#[test]
fn what_cannot_be_followed_is_a_hazard() {
    use HazardKind::*;
    let rows = [
        ("eval \"$x\"", UnknownText),
        ("bash -c \"$x\"", UnknownText),
        ("bash -c \"$(curl x)\"", UnknownText),
        ("curl x | sh", UnknownText),
        ("curl x | tee y | sudo bash", UnknownText),
        ("bash < <(curl x)", UnknownText),
        ("bash < script.sh", UnknownText),
        ("xargs -I{} sh -c 'echo {}'", UnknownText),
        ("xargs bash -c", UnknownText),
        ("find . -exec sh -c 'x {}' \\;", UnknownText),
        ("sudo --odd rm", UnknownOption),
        ("timeout $x rm", UnknownOption),
        ("x && f() { a; }; f", Shadowed),
        ("alias ls=x; ls", Shadowed),
        ("echo ${x@P}", PromptText),
        ("test -v 'a[$(x)]'", EvaluatedText),
        ("sh -c 'echo \"'", UnreadText(stockade_shell::ReadErrorKind::UnterminatedQuote)),
    ];
    for (text, kind) in rows {
        let script = read(text, Shell::Bash).unwrap();
        let actions = script.actions();
        assert!(actions.hazards.iter().any(|hazard| hazard.kind == kind), "{text}: {:?}", actions.hazards);
    }
}

#[test]
fn other_machines_are_elsewhere() {
    for text in [
        "docker run -v a:/b --name c image rm -rf x",
        "ssh -p 22 host rm -rf x",
        "docker exec -it c rm -rf x",
        "kubectl exec pod -- rm -rf x",
    ] {
        let script = read(text, Shell::Bash).unwrap();
        let actions = script.actions();
        let rm = actions.runs.iter().find(|run| run.program() == Some("rm"));
        assert_eq!(rm.map(|run| run.invocation), Some(InvocationKind::Elsewhere), "{text}");
    }
}

#[test]
fn chains_and_texts_without_end_are_cut() {
    let chain = format!("{}rm x", "env ".repeat(1000));
    let mut nested = "rm x".to_owned();
    for _ in 0..5 {
        nested = format!("eval {}", quote(&nested));
    }
    let deep = format!("eval {}", "eval ".repeat(500));
    for text in [chain.as_str(), deep.as_str()] {
        let script = Script::read(text, &stockade_shell::ReadOptions::default()).unwrap();
        let actions = script.actions();
        assert!(actions.hazards.iter().any(|hazard| hazard.kind == HazardKind::TooDeep), "{text}");
        assert!(actions.runs.len() < 64);
    }
    assert!(runs(&nested).contains(&"rm x".to_owned()));
}

fn quote(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[test]
fn what_a_callback_is_given_is_not_known() {
    for text in [
        "mapfile -C 'rm -f' -c 1 lines < f",
        "readarray -C rm x < f",
        "compgen -C rm",
        "compgen -Crm",
        "mapfile -tC'rm x' a",
        "complete -C 'rm -f' ls",
    ] {
        let actions = Script::read(text, &Default::default()).unwrap().actions();
        let callback = actions.runs.iter().find(|run| run.program() == Some("rm")).unwrap();
        assert!(callback.open_ended, "{text}");
    }
    let actions = Script::read("mapfile -t x < f; rm a", &Default::default()).unwrap().actions();
    assert!(actions.runs.iter().all(|run| !run.open_ended));
}
