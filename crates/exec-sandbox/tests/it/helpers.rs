//! The inventory of all processes and threads that this crate starts: a new one must be added here, together with a test that
//! reads back what it holds.

mod inventory;

use std::path::Path;

use inventory::Row;

const HELPERS: &[Row] = &[
    Row {
        file: "sys/launch.rs",
        starts: 4,
        helpers: "the first process of a sandbox; what holds a user namespace open for a moment; what tries whether calls can be shown; \
                  what bounds the lists of watched files in a namespace of bubblewrap's",
        keeps: "nothing; the last one all in that namespace, which it joins, and ends at once",
        test: "what_holds_a_user_namespace_open_holds_nothing_else",
    },
    Row {
        file: "sys/overlay.rs",
        starts: 1,
        helpers: "mounts an overlay in a new namespace, if the caller may not mount, and ends at once",
        keeps: "all in that namespace, and ends at once",
        test: "what_is_applied_is_the_view_and_what_is_undone_is_what_was",
    },
    Row {
        file: "sys/init.rs",
        starts: 2,
        helpers: "the command; what ends at once, to see whether there may be one process more",
        keeps: "nothing",
        test: "no_process_of_a_sandbox_holds_anything",
    },
    Row {
        file: "sys/landlock_init.rs",
        starts: 1,
        helpers: "the command behind Landlock, or without a sandbox; what started it stays and ends it",
        keeps: "nothing; without a sandbox, the command all and what ends it CAP_KILL and CAP_SYS_RESOURCE",
        test: "a_command_without_a_sandbox_keeps_its_rights_and_what_ends_it_does_not",
    },
    Row {
        file: "sys/tty_restorer.rs",
        starts: 1,
        helpers: "what puts a terminal back",
        keeps: "nothing",
        test: "it_holds_nothing_while_it_waits",
    },
    Row {
        file: "bwrap/start.rs",
        starts: 2,
        helpers: "bubblewrap, once to try it and once for each command; root starts none",
        keeps: "nothing",
        test: "no_process_of_a_sandbox_holds_anything",
    },
    Row {
        file: "seatbelt/run.rs",
        starts: 2,
        helpers: "on macOS, `sandbox-exec` with the command; the threads that read what it prints",
        keeps: "all rights of its caller: macOS has no capabilities",
        test: "it_ends_in_time_with_all_that_it_started",
    },
    Row {
        file: "backends/engine/ask.rs",
        starts: 1,
        helpers: "the client of an engine of containers, and the shell that removes a container when this program is gone",
        keeps: "nothing with Docker; all with Podman, which makes the container itself",
        test: "what_asks_a_daemon_holds_nothing_and_is_told_little",
    },
    Row {
        file: "run/added.rs",
        starts: 1,
        helpers: "the thread on which a backend that was added runs a command",
        keeps: "all rights of its caller: it is that program's own code, which makes a sandbox",
        test: "what_it_prints_and_how_it_ends_comes_back",
    },
    Row {
        file: "backends/external/talk.rs",
        starts: 1,
        helpers: "the program of a backend, which makes the sandbox itself",
        keeps: "all rights of its caller; only that user and root may have written it, and it is told little",
        test: "a_program_is_told_little_of_what_this_one_knows",
    },
    Row {
        file: "run/observe.rs",
        starts: 3,
        helpers: "the threads that look at what a command asks for, make names in its place, and change modes where Landlock is all there is; those that wait for the other side of a pipe",
        keeps: "CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH",
        test: "a_thread_that_looks_on_can_look_and_do_nothing_else",
    },
    Row {
        file: "run/pool.rs",
        starts: 1,
        helpers: "the thread that makes sandboxes beforehand",
        keeps: "all: it is what starts the first processes",
        test: "none_of_the_attacks_works_in_one",
    },
];

#[test]
fn every_helper_is_in_the_table() {
    inventory::check(Path::new(env!("CARGO_MANIFEST_DIR")), HELPERS);
}
