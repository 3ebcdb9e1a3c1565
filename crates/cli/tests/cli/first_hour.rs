//! The first hour after `install claude`: ordinary commands run through the hook as they run without it, with the same exit code
//! and the same output.
#![expect(
    clippy::disallowed_methods,
    reason = "runs the binary and tools of developers, in folders of its own"
)]

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::json;

use crate::hook::{Answer, Home, shell};

/// Commands, each in the state that the earlier ones have left. `?`: the user may be asked, and agrees.
/// `-`: the output differs each time, so only the exit code counts.
const COMMANDS: &[(&str, &str)] = &[
    ("", "pwd"),
    ("-", "ls -la"),
    ("", "ls; ls missing"),
    ("", "cat README.md"),
    ("", "cat missing.txt"),
    ("", "head -n 1 README.md && tail -c 3 README.md"),
    ("", "printf 'no line end'"),
    ("", "yes | head -n 3"),
    ("", "echo out; echo err >&2; exit 7"),
    ("", "false"),
    ("", "python3 -c 'import os; os.kill(os.getpid(), 15)'"),
    ("", "echo \"$HOME\" \"$USER\" \"$LANG\""),
    ("", "grep -rn hi src"),
    ("", "grep -rn absent src"),
    ("", "find . -name '*.py' -not -path './.git/*' | sort | xargs wc -l"),
    ("", "cat /etc/hosts"),
    // The sandbox shows settings without secrets, and the file says so.
    ("-", "cat ~/.gitconfig"),
    ("-", "ps aux | head -n 1"),
    ("-", "which git python3"),
    ("", "git status --short"),
    ("", "git log --format=%s"),
    ("", "git checkout -q -b work"),
    ("", "sed -i 's/Text/Words/' README.md && cat README.md"),
    ("", "echo more >> README.md"),
    ("", "git diff --stat"),
    ("", "git add -A && git commit -q -m 'Change the text' && git log --format=%s"),
    ("", "git checkout -q main && git merge -q work && git branch -d work | cut -d'(' -f1"),
    ("-", "git stash list && git show --stat"),
    ("", "git revert --no-edit HEAD >/dev/null && git log --format=%s"),
    ("?", "git fetch -q"),
    ("?", "git push -q origin main"),
    ("?", "git pull -q"),
    ("", "python3 -c 'print(6 * 7)'"),
    ("", "python3 app.py"),
    ("", "python3 -c 'import sys; sys.exit(3)'"),
    ("-", "python3 -m unittest"),
    // New links out of the workspace are reported.
    ("-", "python3 -m venv --without-pip .venv && .venv/bin/python -c 'print(2)'"),
    ("", "source .venv/bin/activate && python app.py"),
    ("", "python3 -c 'open(\"made.txt\", \"w\").write(\"x\")' && cat made.txt"),
    (
        "",
        "python3 -m http.server PORT >/dev/null 2>&1 & sleep 1; python3 -c 'import urllib.request as u; print(u.urlopen(\"http://localhost:PORT/app.py\").status)'; kill %1",
    ),
    ("", "make"),
    ("", "make fails"),
    ("", "make clean"),
    ("", "./run.sh a 'b c'"),
    ("", "mkdir -p src/a && touch src/a/b.py && mv src/a/b.py src/a/c.py && ls src/a && rm -rf src/a"),
    ("", "tar czf out.tgz src && tar tzf out.tgz && rm out.tgz"),
    ("", "chmod +x app.py && ls -l app.py | cut -c1-10"),
    ("", "ln -s README.md link && cat link && readlink link && rm link"),
    ("", "for i in 1 2 3; do echo $i; done | paste -sd+"),
    ("", "cd src && pwd && ls"),
    ("", "test -f README.md && echo yes || echo no"),
    ("", "seq 1 200000 | tail -n 1"),
    ("", "head -c 1000000 /dev/zero | sha256sum"),
    ("", "env -i PATH=/usr/bin:/bin sh -c 'echo ${HOME-none}'"),
];

/// The same of programs that not every machine has.
const OF_OTHERS: &[(&str, &str, &str)] = &[
    ("node", "", "node -e 'console.log(1 + 1)'"),
    ("npm", "-", "npm test"),
    ("npm", "-", "npm run build"),
    ("npm", "-", "npm run fails"),
    ("npm", "-", "npm --prefix . test"),
    ("go", "", "cd svc && go build -o /dev/null ./..."),
    ("go", "", "cd svc && go vet ./..."),
    ("go", "-", "cd svc && go test -run TestX -count=1 ./..."),
    ("jq", "", "jq .name package.json"),
    ("sqlite3", "", "sqlite3 x.db 'create table t(a); insert into t values (5); select a from t'"),
    ("gcc", "", "printf 'int main(void){return 4;}' > m.c && gcc -o m m.c && ./m"),
    ("perl", "", "perl -e 'print 3 * 3'"),
    ("gzip", "", "gzip -k README.md && zcat README.md.gz && rm README.md.gz"),
];

/// Runs a text as the shell tool of a harness does.
fn shell_tool(home: &Home, text: &str) -> Output {
    let mut shell = Command::new("/bin/bash");
    shell.args(["-c", text]).current_dir(home.project()).env_clear().env("HOME", home.path());
    shell.env("PATH", "/usr/bin:/bin").env("USER", "developer").env("LANG", "C.UTF-8");
    shell.stdin(Stdio::null()).output().unwrap()
}

fn lay(home: &Home) {
    let at = |path: &str| home.path().join(path);
    for folder in ["project/src", "project/svc", "remote.git"] {
        fs::create_dir_all(at(folder)).unwrap();
    }
    for (file, text) in [
        (".gitconfig", "[user]\nname = D\nemail = d@example.com\n[init]\ndefaultBranch = main\n"),
        ("project/README.md", "# Project\n\nText, hi.\n"),
        ("project/app.py", "import sys\nprint('app', len(sys.argv))\n"),
        (
            "project/src/test_app.py",
            "import unittest\n\nclass T(unittest.TestCase):\n    def test_hi(self):\n        self.assertTrue(1)\n",
        ),
        (
            "project/Makefile",
            "all:\n\tpython3 app.py > built\n\tcat built\nfails:\n\texit 5\nclean:\n\trm -f built\n",
        ),
        ("project/run.sh", "#!/bin/sh\nprintf '<%s>\\n' \"$@\"\n"),
        (
            "project/package.json",
            "{\"name\": \"p\", \"scripts\": {\"test\": \"node -e 1\", \"build\": \"echo built > dist.txt\", \"fails\": \"exit 9\"}}\n",
        ),
        ("project/svc/go.mod", "module example.com/svc\n\ngo 1.19\n"),
        ("project/svc/main.go", "package main\n\nfunc main() { println(1) }\n"),
        ("project/.gitignore", ".venv\n*.db\nbuilt\nmade.txt\n__pycache__\n"),
    ] {
        fs::write(at(file), text).unwrap();
    }
    fs::set_permissions(at("project/run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    let done = shell_tool(
        home,
        "git init -q --bare ~/remote.git && git init -q && git add -A && git commit -q -m 'Begin here' && \
         git remote add origin ~/remote.git && git push -q -u origin main",
    );
    assert!(done.status.success(), "{done:?}");
}

/// Returns what a command has given, with the same name for either home.
fn given(home: &Home, output: &Output, has_output: bool) -> (Option<i32>, String, String) {
    let real: PathBuf = fs::canonicalize(home.path()).unwrap();
    let text = |bytes: &[u8]| {
        let text = String::from_utf8_lossy(bytes).replace(&*real.to_string_lossy(), "~");
        if has_output { text.replace(&*home.path().to_string_lossy(), "~") } else { String::new() }
    };
    // A shell tells of a signal by this code.
    let code = output.status.code().or_else(|| output.status.signal().map(|signal| 128 + signal));
    (code, text(&output.stdout), text(&output.stderr))
}

fn has(program: &str) -> bool {
    ["/usr/bin", "/bin"].iter().any(|folder| Path::new(folder).join(program).exists())
}

#[test]
fn ordinary_commands_run_as_without_the_hook() {
    let (plain, hooked) = (Home::new(), Home::new());
    [&plain, &hooked].into_iter().for_each(lay);
    let missing: Vec<_> = OF_OTHERS.iter().filter(|(program, ..)| !has(program)).collect();
    if !missing.is_empty() {
        eprintln!("not run, since their programs are not installed: {missing:?}");
    }
    let others =
        OF_OTHERS.iter().filter(|(program, ..)| has(program)).map(|(_, marks, text)| (*marks, *text));
    // One that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string();
    let (mut differ, mut questions) = (Vec::new(), 0);
    for (marks, text) in COMMANDS.iter().copied().chain(others) {
        let text = &text.replace("PORT", &port);
        let payload = shell("claude", &hooked.project(), &json!(text));
        let runs = match hooked.answer("claude", &payload) {
            Answer::Silent => text.to_owned(),
            Answer::Rewrite(input) => input["command"].as_str().unwrap().to_owned(),
            Answer::Ask(_) if marks.contains('?') => {
                questions += 1;
                text.to_owned()
            }
            other => {
                differ.push(format!("{text}\n  {other:?}"));
                text.to_owned()
            }
        };
        let has_output = !marks.contains('-');
        let expected = given(&plain, &shell_tool(&plain, text), has_output);
        let found = given(&hooked, &shell_tool(&hooked, &runs), has_output);
        if expected != found {
            differ.push(format!("{text}\n  without: {expected:?}\n  with:    {found:?}"));
        }
    }
    assert!(differ.is_empty(), "{} differ:\n{}", differ.len(), differ.join("\n"));
    assert!(questions <= 3, "{questions} questions");
}
