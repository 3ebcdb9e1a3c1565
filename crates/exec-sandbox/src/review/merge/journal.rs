//! The journal of a merge, written before its first step. From then on the merge is committed, and another program can
//! complete it.

use std::io;
use std::os::fd::OwnedFd;

use crate::review::about::JOURNAL;
use crate::review::at::Identity;
use crate::review::record::{Rows, identity_of, identity_text, number_of, read};

const JOURNAL_FIELDS: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Apply,
    Undo,
}

impl Op {
    const fn name(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Undo => "undo",
        }
    }
}

/// A step: the number of a change, and the files to exchange.
#[derive(Debug, Clone, Copy)]
pub(super) struct Step {
    pub(super) number: usize,
    /// The file that is moved into the workspace.
    pub(super) comes: Option<Identity>,
    /// The file that is there before.
    pub(super) goes: Option<Identity>,
}

/// Commits the merge by writing its steps.
pub(super) fn write(layer: &OwnedFd, op: Op, steps: &[Step]) -> io::Result<()> {
    let mut rows = Rows::default();
    for step in steps {
        let (comes, goes) = (identity_text(step.comes), identity_text(step.goes));
        rows.row([
            op.name().as_bytes(),
            step.number.to_string().as_bytes(),
            comes.as_bytes(),
            goes.as_bytes(),
        ]);
    }
    rows.write(layer, JOURNAL)
}

/// Returns what was written down to its end, if something was.
pub(super) fn load(layer: &OwnedFd) -> io::Result<Option<(Op, Vec<Step>)>> {
    let Some(rows) = read(layer, JOURNAL, JOURNAL_FIELDS)? else { return Ok(None) };
    let mut op = Op::Apply;
    let mut steps = Vec::with_capacity(rows.len());
    for row in &rows {
        let [name, number, comes, goes] = row.as_slice() else { continue };
        op = if name == b"undo" { Op::Undo } else { Op::Apply };
        let (comes, goes) = (identity_of(comes), identity_of(goes));
        steps.push(Step { number: number_of(number)?, comes, goes });
    }
    Ok(Some((op, steps)))
}
