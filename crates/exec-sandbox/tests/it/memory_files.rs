//! Files in memory (memfd): they are permitted if a control group counts them and they cannot be executed.

#![expect(clippy::disallowed_methods, reason = "reads a setting of the kernel")]

use std::fs;

use stockade_exec_sandbox::{End, Limit, SandboxBackend};

use crate::live::{Live, each};

const SETTING: &str = "/proc/sys/vm/memfd_noexec";

/// Makes one, uses it, and tries to run it in three ways. Says `closed` where none can be made.
const SCRIPT: &str = "
import ctypes, errno, mmap, os, stat
try: file = os.memfd_create('x', 0)
except OSError as error:
    print('closed' if error.errno == errno.ENOSYS else error)
    raise SystemExit
os.write(file, open('/bin/true', 'rb').read())
assert mmap.mmap(file, 4096)[:4] == b'\\x7fELF'
def attempt(act):
    try: act()
    except OSError: return
    print('ran')
attempt(lambda: os.fchmod(file, 0o755))
attempt(lambda: os.execve(file, ['x'], {}))
attempt(lambda: os.execv('/proc/self/fd/%d' % file, ['x']))
try: os.memfd_create('x', 0x10)
except OSError: print('open')
else: print('one that runs')
";

#[test]
fn files_in_memory_are_counted_and_never_run() {
    let before = fs::read_to_string(SETTING).unwrap_or_default();
    for backend in each() {
        for memory in [Limit::Unlimited, Limit::AtMost(4 << 30)] {
            let live = Live::bare();
            let outcome = live
                .run(&["python3", "-c", SCRIPT], |spec| {
                    (spec.backend, spec.limits.memory) = (backend, memory);
                })
                .unwrap();
            let is_root = rustix::process::geteuid().is_root();
            let may = is_root && backend == SandboxBackend::Native && memory == Limit::Unlimited;
            if may && before.is_empty() {
                eprintln!("skipped: needs a kernel that can forbid executable files in memory");
                continue;
            }
            let expected = if may { "open\n" } else { "closed\n" };
            let said = String::from_utf8_lossy(&outcome.output.stdout);
            assert_eq!(
                (&*said, outcome.end),
                (expected, End::Exited(0)),
                "{backend:?} {memory:?} {outcome:?}"
            );
        }
    }
    assert_eq!(fs::read_to_string(SETTING).unwrap_or_default(), before, "the machine's own setting");
}
