//! The inventory of all processes and threads that this crate starts: a new one must be added here, together with a test that
//! reads back what it does.

#[path = "../../../exec-sandbox/tests/it/helpers/inventory.rs"]
mod inventory;

use std::path::Path;

use inventory::Row;

const HELPERS: &[Row] = &[
    Row {
        file: "e2b/backend.rs",
        starts: 1,
        helpers: "the thread that ends a machine elsewhere when its command has to end",
        keeps: "all rights of its caller: it asks one server",
        test: "a_command_runs_on_a_copy_and_the_machine_is_deleted",
    },
    Row {
        file: "kubernetes/backend.rs",
        starts: 1,
        helpers: "the thread that hears whether something is fed to a command in a cluster",
        keeps: "all rights of its caller: it reads one byte of the standard input",
        test: "a_command_runs_and_its_job_is_deleted",
    },
    Row {
        file: "kubernetes/watch.rs",
        starts: 1,
        helpers: "the thread that watches the pods of a cluster",
        keeps: "all rights of its caller: it asks one server",
        test: "a_command_runs_and_its_job_is_deleted",
    },
    Row {
        file: "kubernetes/logs.rs",
        starts: 1,
        helpers: "the thread that reads what a pod prints",
        keeps: "all rights of its caller: it asks one server",
        test: "output_is_complete_although_every_stream_breaks",
    },
    Row {
        file: "program/streams.rs",
        starts: 3,
        helpers: "the threads that bring a command its input, write what it prints as lines, and hear that the input was closed",
        keeps: "all rights of its caller: each reads one pipe, and two write another",
        test: "a_closed_input_ends_a_command_that_reads_nothing",
    },
];

#[test]
fn every_helper_is_in_the_table() {
    inventory::check(Path::new(env!("CARGO_MANIFEST_DIR")), HELPERS);
}
