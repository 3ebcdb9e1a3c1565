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
        test: "a_user_namespace_holder_has_no_other_resources",
    },
    Row {
        file: "sys/overlay.rs",
        starts: 1,
        helpers: "mounts an overlay in a new namespace, if the caller may not mount, and ends at once",
        keeps: "all in that namespace, and ends at once",
        test: "applying_and_undoing_a_review_restores_both_states",
    },
    Row {
        file: "sys/init.rs",
        starts: 2,
        helpers: "the command; what ends at once, to see whether there may be one process more",
        keeps: "nothing",
        test: "no_process_of_a_sandbox_has_capabilities",
    },
    Row {
        file: "sys/landlock_init.rs",
        starts: 1,
        helpers: "the command behind Landlock, or without a sandbox; what started it stays and ends it",
        keeps: "nothing; without a sandbox, the command all and what ends it CAP_KILL and CAP_SYS_RESOURCE",
        test: "a_command_without_a_sandbox_keeps_its_rights_and_what_ends_it_does_not",
    },
    Row {
        file: "sys/mask.rs",
        starts: 1,
        helpers: "what mounts over a file that was saved while a command runs",
        keeps: "all in the namespaces of the command, which it joins, and ends at once",
        test: "a_secret_that_is_saved_meanwhile_is_hidden_again",
    },
    Row {
        file: "sys/tty_restorer.rs",
        starts: 1,
        helpers: "what puts a terminal back",
        keeps: "nothing",
        test: "the_terminal_restorer_has_no_descriptors",
    },
    Row {
        file: "bwrap/start.rs",
        starts: 2,
        helpers: "bubblewrap, once to try it and once for each command; root starts none",
        keeps: "nothing",
        test: "no_process_of_a_sandbox_has_capabilities",
    },
    Row {
        file: "seatbelt/run.rs",
        starts: 2,
        helpers: "on macOS, `sandbox-exec` with the command; the threads that read what it prints",
        keeps: "all rights of its caller: macOS has no capabilities",
        test: "a_timeout_ends_all_processes",
    },
    Row {
        file: "backends/engine/ask.rs",
        starts: 1,
        helpers: "the client of an engine of containers, and the shell that removes a container when this program is gone",
        keeps: "nothing with Docker; all with Podman, which makes the container itself",
        test: "an_engine_client_gets_no_capabilities_and_few_variables",
    },
    Row {
        file: "run/added.rs",
        starts: 1,
        helpers: "the thread on which a backend that was added runs a command",
        keeps: "all rights of its caller: it is that program's own code, which makes a sandbox",
        test: "output_and_end_of_an_added_backend_are_returned",
    },
    Row {
        file: "backends/external/talk.rs",
        starts: 1,
        helpers: "the program of a backend, which makes the sandbox itself",
        keeps: "all rights of its caller; only that user and root may have written it, and it is told little",
        test: "a_backend_program_gets_few_variables",
    },
    Row {
        file: "run/observe.rs",
        starts: 4,
        helpers: "the threads that look at what a command asks for, make names in its place, and change modes where Landlock is all there is; those that wait for the other side of a pipe; the one that sees what other programs save",
        keeps: "CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH",
        test: "observer_threads_have_only_the_capabilities_to_observe",
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
