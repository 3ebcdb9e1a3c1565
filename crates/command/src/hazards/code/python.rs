//! Python code that starts a program with a list of arguments, without a shell.
//!
//! `subprocess.run([sys.executable, "x.py"])` can do no more than `python3 x.py`, so a sandbox is sufficient. The user is asked
//! if the code uses a shell, if another module starts programs as well, or if it names a program that is dangerous by name.

use super::{STARTS, has, is_shell};
use crate::hazards::Floor;
use crate::hazards::{network, shapes};

/// Arguments of `subprocess` that use a shell, or start another program than the list names.
const INDIRECT: &[&str] =
    &["shell", "getoutput", "getstatusoutput", "executable=", "preexec_fn", "posix_spawn"];

/// Programs that start other programs, or change the user.
const STARTERS: &[&str] = &[
    "env", "xargs", "find", "timeout", "nice", "nohup", "setsid", "stdbuf", "busybox", "toybox", "ssh", "su",
    "sudo", "doas", "pkexec", "script", "watch", "parallel", "flock", "chroot", "unshare", "nsenter", "git",
    "make", "sed", "awk", "tar",
];

/// Programs that are only dangerous with some options, whose names are also words of Python or English.
const ORDINARY: &[&str] = &["import", "ffmpeg", "log", "code", "script", "profiles", "security", "trust"];

/// Whether code starts programs only with argument lists, none of which names a dangerous program.
pub(super) fn starts_by_list(code: &str) -> bool {
    let other = STARTS.iter().filter(|needle| **needle != "subprocess");
    code.contains("subprocess")
        && !other.into_iter().any(|needle| code.contains(needle))
        && !has(code, INDIRECT)
        && !literals(code).any(is_dangerous)
}

/// Returns the quoted text of a program and the text between quotes: ambiguous code is treated as a literal.
fn literals(code: &str) -> impl Iterator<Item = &str> {
    code.split(['\'', '"'])
}

/// Whether a text begins with the name of a program that is dangerous or starts others.
fn is_dangerous(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let name = first.rsplit('/').next().unwrap_or_default();
    is_shell(name)
        || STARTERS.contains(&name)
        || network::SENDERS.contains(name)
        || (!name.starts_with("python")
            && !ORDINARY.contains(&name)
            && shapes::of(name).any(|shape| shape.floor > Floor::Sandbox))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_lists_of_harmless_words_are_started() {
        for code in [
            "import subprocess, sys\nsubprocess.run([sys.executable, 'x.py'])",
            "import subprocess\nr = subprocess.run(['ffmpeg', '-i', 'a.mp4'], capture_output=True, text=True)\nprint(r.stdout)",
            "import subprocess\nfor n in (1, 2):\n    subprocess.check_call(['./build/bench', str(n)])",
            "from subprocess import run\nrun(['python3', 'tests/all.py'], timeout=60)",
        ] {
            assert!(starts_by_list(code), "{code}");
        }
        for code in [
            "import subprocess; subprocess.run('id', shell=True)",
            "import subprocess; subprocess.run('id', **{'shell': 1})",
            "import subprocess; subprocess.run(['sh', '-c', 'id'])",
            "import subprocess; subprocess.run(['/bin/bash', 'x'])",
            "import subprocess; subprocess.run(['rm', '-rf', '/'])",
            "import subprocess; subprocess.run(\"rm -rf x\".split())",
            "import subprocess; subprocess.run(['env', 'rm', 'x'])",
            "import subprocess; subprocess.run(['curl', 'http://e.example'])",
            "import subprocess; subprocess.run(['git', 'push'])",
            "import subprocess; subprocess.getoutput('id')",
            "import subprocess; subprocess.Popen(['x'], executable='/bin/y')",
            "import subprocess, os; subprocess.run(['x']); os.system('id')",
            "import subprocess, pty; pty.spawn('x')",
            "print(1)",
        ] {
            assert!(!starts_by_list(code), "{code}");
        }
    }
}
