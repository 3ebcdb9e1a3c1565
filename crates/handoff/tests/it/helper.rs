//! What a helper holds is read back from the kernel.
#![expect(clippy::disallowed_methods, reason = "asks for a variable of its own")]

#[path = "../../../exec-sandbox/tests/it/helpers/inventory.rs"]
mod inventory;

use std::path::Path;
use std::process::Stdio;

use inventory::Row;
use stockade_handoff::{find_program, held_capabilities, helper_command};

/// All processes and threads that this crate starts.
const HELPERS: &[Row] = &[Row {
    file: "helper.rs",
    starts: 2,
    helpers: "programs of the machine that are asked something, and the thread that starts each: docker and podman, by `stockade doctor`",
    keeps: "nothing, and gains nothing",
    test: "a_helper_holds_nothing_and_is_told_little",
}];

#[test]
fn every_helper_is_in_the_table() {
    inventory::check(Path::new(env!("CARGO_MANIFEST_DIR")), HELPERS);
}

#[test]
fn a_helper_holds_nothing_and_is_told_little() {
    let before = held_capabilities();
    let mut command = helper_command(Path::new("/bin/sh"));
    let command = command.args(["-c", "cat /proc/self/status; env"]).stdout(Stdio::piped());
    let output = command.spawn().unwrap().wait_with_output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    for line in ["CapInh", "CapPrm", "CapEff", "CapAmb"].map(|set| format!("{set}:\t0000000000000000")) {
        assert!(said.contains(&line), "{line}: {said}");
    }
    if rustix::process::geteuid().is_root() {
        assert!(said.contains("CapBnd:\t0000000000000000"), "{said}");
    }
    assert!(said.contains("NoNewPrivs:\t1"), "{said}");
    // Cargo sets many variables of its own, so there is something to keep back.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!said.contains("CARGO"), "{said}");
    assert_eq!(held_capabilities(), before, "the caller keeps its own");
}

#[test]
fn a_helper_starts_where_and_with_what_the_caller_says() {
    let mut command = helper_command(Path::new("/bin/sh"));
    command.arg("-c").arg("pwd; echo $MORE; ps -o pgid= -o pid= -p $$ 2>/dev/null | xargs");
    command.envs([("MORE", "more")]).current_dir("/").in_own_group().stdout(Stdio::piped());
    let child = command.spawn().unwrap();
    let pid = child.id();
    let output = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    let mut lines = output.lines();
    assert_eq!((lines.next(), lines.next()), (Some("/"), Some("more")));
    if let Some(group) = lines.next().filter(|line| !line.is_empty()) {
        assert_eq!(group, format!("{pid} {pid}"));
    }
    assert!(helper_command(Path::new("/no/such/program")).spawn().is_err());
}

#[test]
fn a_program_is_found_on_the_search_path_and_nowhere_else() {
    assert!(find_program("sh").is_some_and(|path| path.is_absolute()));
    assert_eq!(find_program("no-such-program-here"), None);
}
