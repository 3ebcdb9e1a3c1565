//! Compilers, interpreters and what manages packages.

use stockade_exec_sandbox::SandboxBackend;

use super::{Given, Workflow, all_work};

#[test]
fn languages_and_builds_work() {
    all_work(ROWS);
}

#[rustfmt::skip]
pub(super) const ROWS: &[Workflow] = &[
    Workflow {
        name: "C",
        needs: &["gcc"],
        before: "echo 'int main(void) { return 0; }' > a.c",
        inside: "gcc -Wall -g -o a a.c; ./a",
        after: "./a",
        ..Workflow::NEW
    },
    Workflow {
        name: "C++ in parallel with make",
        needs: &["g++", "make"],
        before: "for n in 1 2 3; do echo \"int f$n() { return $n; }\" > f$n.cc; done; printf 'all: f1.o f2.o f3.o\\n\\tar rc lib.a $^\\n' > Makefile",
        inside: "make -s -j3",
        after: "test -e lib.a",
        ..Workflow::NEW
    },
    Workflow {
        name: "AddressSanitizer, with all memory",
        needs: &["gcc"],
        before: "echo 'int main(void) { return 0; }' > a.c; gcc -fsanitize=address -o a a.c",
        inside: "ASAN_OPTIONS=detect_leaks=0 ./a",
        given: Given::AllMemory,
        ..Workflow::NEW
    },
    Workflow {
        name: "LeakSanitizer, with all memory",
        needs: &["gcc"],
        before: "echo '#include <stdlib.h>\nint main(void) { return malloc(9) == malloc(9); }' > a.c; gcc -fsanitize=address -o a a.c",
        inside: "! ./a > /tmp/said 2>&1; grep -q 'detected memory leaks' /tmp/said",
        given: Given::AllMemory,
        with: &[SandboxBackend::Native],
        ..Workflow::NEW
    },
    Workflow {
        name: "UndefinedBehaviorSanitizer",
        needs: &["gcc"],
        before: "echo 'int main(void) { return 0; }' > a.c",
        inside: "gcc -fsanitize=undefined -o a a.c; ./a",
        ..Workflow::NEW
    },
    Workflow {
        name: "a debugger",
        needs: &["gcc", "gdb"],
        before: "echo 'int main(void) { return 3; }' > a.c; gcc -g -o a a.c",
        inside: "gdb -nx -batch -ex 'break main' -ex run -ex bt ./a < /dev/null | grep -q main",
        ..Workflow::NEW
    },
    Workflow {
        name: "Python",
        needs: &["python3"],
        before: "echo 'def f(): return 1' > m.py; printf 'import unittest, m\\nclass T(unittest.TestCase):\\n    def test(self): self.assertEqual(m.f(), 1)\\n' > test_m.py",
        inside: "python3 -m unittest -q; python3 -m compileall -q .",
        after: "test -d __pycache__",
        ..Workflow::NEW
    },
    Workflow {
        name: "Python with processes, threads and sockets",
        needs: &["python3"],
        inside: "python3 -c '\nimport multiprocessing, socket, subprocess, tempfile, mmap, threading\nif __name__ == \"__main__\":\n    with multiprocessing.Pool(2) as pool: assert sum(pool.map(abs, [-1, -2])) == 3\n    a, b = socket.socketpair(); a.send(b\"x\"); assert b.recv(1) == b\"x\"\n    subprocess.run([\"true\"], check=True)\n    q = multiprocessing.Queue(); q.put(1); assert q.get() == 1\n    mmap.mmap(-1, 4096)\n    l = multiprocessing.shared_memory if False else None\n    threading.Thread(target=print).start()\n'",
        ..Workflow::NEW
    },
    Workflow {
        name: "a virtual environment of the system's Python",
        needs: &["/usr/bin/python3"],
        inside: "/usr/bin/python3 -m venv --without-pip .venv; .venv/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'",
        after: ".venv/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'",
        ..Workflow::NEW
    },
    Workflow {
        name: "a virtual environment that was there, of a Python elsewhere",
        needs: &["/usr/bin/python3"],
        before: "mkdir -p ../tools/bin; cp \"$(readlink -f /usr/bin/python3)\" ../tools/bin/python3; ../tools/bin/python3 -m venv --without-pip .venv; .venv/bin/python -c 1",
        inside: ".venv/bin/python -c 'import sys; assert sys.prefix != sys.base_prefix'; echo x > .venv/new",
        after: ".venv/bin/python -c 1; test -e .venv/new",
        given: Given::Read("tools"),
        ..Workflow::NEW
    },
    Workflow {
        name: "pip, as far as it needs no network",
        needs: &["/usr/bin/pip3"],
        inside: "/usr/bin/pip3 --version > /dev/null; /usr/bin/pip3 list > /dev/null 2>&1",
        ..Workflow::NEW
    },
    Workflow {
        name: "Node.js with workers",
        needs: &["node"],
        inside: "node -e 'const w = require(\"worker_threads\"); if (w.isMainThread) new w.Worker(\"postMessage\", {eval: true}).on(\"error\", () => {}); require(\"fs\").writeFileSync(\"f\", \"x\"); require(\"child_process\").execSync(\"true\")'",
        after: "test -e f",
        ..Workflow::NEW
    },
    Workflow {
        name: "npm: a new project and its scripts",
        needs: &["npm"],
        inside: "npm init -y > /dev/null 2>&1; npm pkg set scripts.hi='echo hi > said'; npm run -s hi",
        after: "test -e said; test -e package.json",
        ..Workflow::NEW
    },
    Workflow {
        name: "npm: an install from a folder beside it",
        needs: &["npm"],
        before: "mkdir lib; echo '{\"name\": \"lib\", \"version\": \"1.0.0\"}' > lib/package.json; echo '{\"name\": \"a\", \"version\": \"1.0.0\", \"dependencies\": {\"lib\": \"file:lib\"}}' > package.json",
        inside: "npm install --offline --no-audit --no-fund > /dev/null 2>&1; test -e node_modules/lib/package.json",
        after: "test -e package-lock.json",
        ..Workflow::NEW
    },
    Workflow {
        name: "Java",
        needs: &["javac"],
        before: "echo 'public class A { public static void main(String[] a) { System.out.println(\"hi\"); } }' > A.java",
        inside: "javac A.java; java -Xshare:auto -XX:TieredStopAtLevel=1 A | grep -q hi",
        after: "test -e A.class",
        ..Workflow::NEW
    },
    Workflow {
        name: "Maven, as far as it needs no network",
        needs: &["mvn"],
        inside: "mvn -o -q --version > /dev/null",
        ..Workflow::NEW
    },
    Workflow {
        name: "Rust",
        needs: &["cargo", "rustc"],
        before: "cargo init -q --vcs none --name a .",
        inside: "cargo build -q --offline; ./target/debug/a | grep -q Hello",
        after: "test -e Cargo.lock",
        given: Given::Tools,
        ..Workflow::NEW
    },
    Workflow {
        name: "Perl",
        needs: &["perl"],
        inside: "perl -MFile::Temp -MPOSIX -e 'open(F, \">f\"); print F getpid(); close F; system(\"true\") == 0 or die'; perl -pi -e s/^/x/ f",
        after: "grep -q x f",
        ..Workflow::NEW
    },
    Workflow {
        name: "Tcl",
        needs: &["tclsh"],
        inside: "echo 'puts [expr 6*7]; exec true' | tclsh | grep -q 42",
        ..Workflow::NEW
    },
    Workflow {
        name: "Go",
        needs: &["go"],
        before: "printf 'package main\\nfunc main() { println(1) }\\n' > a.go",
        inside: "GOCACHE=/tmp/c GOFLAGS=-mod=mod go run a.go",
        ..Workflow::NEW
    },
    Workflow {
        name: "Chromium without a window, its own sandbox off",
        needs: &["chromium"],
        before: "echo '<p>seen</p>' > a.html",
        inside: "chromium --headless --no-sandbox --disable-gpu --user-data-dir=/tmp/u --dump-dom file://$PWD/a.html 2> /dev/null | grep -q seen",
        ..Workflow::NEW
    },
    Workflow {
        name: "a build with CMake",
        needs: &["cmake", "gcc"],
        before: "printf 'cmake_minimum_required(VERSION 3.10)\\nproject(a C)\\nadd_executable(a a.c)\\n' > CMakeLists.txt; echo 'int main(void) { return 0; }' > a.c",
        inside: "cmake -S . -B b > /dev/null; cmake --build b > /dev/null; b/a",
        ..Workflow::NEW
    },
    Workflow {
        name: "zsh and bash scripts",
        needs: &["bash", "zsh"],
        inside: "bash -c 'a=(1 2); cat <(echo x) > /dev/null; test ${#a[@]} = 2'; zsh -fc 'for f in *(N); do :; done; print -r x > f'",
        after: "test -e f",
        ..Workflow::NEW
    },
];
