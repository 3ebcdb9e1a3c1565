//! The inventory of all processes and threads that this crate starts: a new one must be added here, together with a test that
//! reads back what it holds.

#[path = "../../../exec-sandbox/tests/it/helpers/inventory.rs"]
mod inventory;

use std::path::Path;

use inventory::Row;

const HELPERS: &[Row] = &[
    Row {
        file: "broker.rs",
        starts: 1,
        helpers: "the threads of the egress broker",
        keeps: "CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER",
        test: "the_threads_of_a_broker_write_records_and_nothing_else",
    },
    Row {
        file: "broker/shared_socket.rs",
        starts: 1,
        helpers: "the threads that hear whose a client of a broker's socket is, and serve it",
        keeps: "CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FOWNER",
        test: "the_threads_of_a_gate_write_records_and_nothing_else",
    },
    Row {
        file: "broker/tunnel.rs",
        starts: 1,
        helpers: "the thread for the other direction of a connection, started by one of the above",
        keeps: "as above",
        test: "the_threads_of_a_broker_write_records_and_nothing_else",
    },
    Row {
        file: "secrets/source.rs",
        starts: 1,
        helpers: "the thread that reads what a command of the user's prints, from which a secret comes",
        keeps: "all rights of its caller: it reads one pipe, and ends with the command",
        test: "a_command_that_takes_too_long_ends_with_all_that_it_has_started",
    },
];

#[test]
fn every_helper_is_in_the_table() {
    inventory::check(Path::new(env!("CARGO_MANIFEST_DIR")), HELPERS);
}
