//! Invalid programs: a table by chapter of the specification. `node.rs` checks the table with a real engine.

use stockade_eval::{ErrorKind, EvalOptions, eval};

/// The rows of the table.
pub(crate) fn rows() -> Vec<String> {
    let lines = include_str!("invalid.txt").lines();
    lines.filter(|line| line.starts_with('"')).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn no_invalid_program_is_accepted() {
    for row in rows() {
        // Nothing runs before the whole source was parsed.
        let source = format!("throw 1;\n{row}");
        let source = if row.starts_with("'use strict'") { row.clone() } else { source };
        let error = eval(&source, &[], &EvalOptions::default()).expect_err(&row);
        assert!(matches!(error.kind, ErrorKind::Syntax | ErrorKind::Forbidden), "{row}: {error:?}");
    }
}
