//! What is dangerous about a command, whatever rules say.
//!
//! A shape is structural: a program, its options read as the program reads them, and what it is pointed at. Text in
//! quotes never fires (`echo "rm -rf /"`), and however options are split, joined or abbreviated they always do
//! (`rm -r -f /`, `rm --recursive --forc /`).

use crate::shell::{Run, Script, Span};

mod command;
mod destroy;
mod shapes;

use command::Command;
use shapes::Shape;

/// How strict a finding is: the least that a decision may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Floor {
    /// It may run where it can reach nothing that matters.
    Sandbox,
    /// A person is asked.
    Ask,
    /// It is refused.
    Deny,
}

/// Something dangerous about a command.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Hazard {
    /// The stable name of the shape.
    pub id: &'static str,
    /// The least that a decision may be.
    pub floor: Floor,
    /// What it does, for people.
    pub reason: String,
    /// What to do instead.
    pub fix: String,
    /// Where it is written.
    pub span: Span,
}

/// Finds what is dangerous about one running program.
#[must_use]
pub fn hazards(run: &Run<'_>) -> Vec<Hazard> {
    let Some(command) = Command::of(run) else { return Vec::new() };
    let found = shapes::of(command.name).filter(|shape| (shape.fires)(&command));
    found.map(|shape| shape.hazard(run.span)).collect()
}

/// Finds what is dangerous about a whole script beside its single programs.
#[must_use]
pub fn script_hazards(script: &Script<'_>) -> Vec<Hazard> {
    let _actions = script.actions();
    Vec::new()
}

impl Shape {
    fn hazard(&self, span: Span) -> Hazard {
        Hazard {
            id: self.id,
            floor: self.floor,
            reason: self.reason.to_owned(),
            fix: self.fix.to_owned(),
            span,
        }
    }
}
