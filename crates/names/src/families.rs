//! The table, one file per family of tools.

mod agents;
mod credentials;
mod editors;
mod git;
mod homes;
mod instructions;
mod languages;
mod pipelines;
mod projects;
mod secrets;
mod shells;
mod tasks;
mod traces;
mod workspaces;

use crate::name::{Kind, Name, Scope, Write};
use crate::secrecy::{Needed, Secrecy};

/// Rows about the tools of one family.
#[derive(Debug, Clone, Copy)]
pub struct Family {
    /// Title of the family.
    pub title: &'static str,
    /// The rows.
    pub rows: &'static [Name],
}

/// All rows, by family.
pub static FAMILIES: &[Family] = &[
    Family { title: "Version control", rows: git::ROWS },
    Family { title: "Shells", rows: shells::ROWS },
    Family { title: "Editors", rows: editors::ROWS },
    Family { title: "Agents", rows: agents::ROWS },
    Family { title: "Instructions for agents", rows: instructions::ROWS },
    Family { title: "Tasks and packages", rows: tasks::ROWS },
    Family { title: "Projects", rows: projects::ROWS },
    Family { title: "Languages and debuggers", rows: languages::ROWS },
    Family { title: "Continuous integration", rows: pipelines::ROWS },
    Family { title: "What a home holds", rows: homes::ROWS },
    Family { title: "Secrets", rows: secrets::ROWS },
    Family { title: "Secrets in workspaces", rows: workspaces::ROWS },
    Family { title: "Credentials of tools", rows: credentials::ROWS },
    Family { title: "Histories and logs", rows: traces::ROWS },
];

/// Iterates over every row, in the order of the table.
pub fn names() -> impl Iterator<Item = &'static Name> {
    FAMILIES.iter().flat_map(|family| family.rows)
}

/// Defaults of most rows: files in any directory that start programs, and that only a person should change.
const STARTS: Name = Name {
    id: "",
    tool: "",
    kind: Kind::StartsPrograms,
    scope: Scope::Anywhere,
    paths: &[],
    but: &[],
    write: Write::Protect,
    secrecy: Secrecy::Public,
    needed: Needed::Nothing,
    why: "",
    matches: &[],
    clean: &[],
};

/// Files in any directory that start programs, and that projects change daily.
const DAILY: Name = Name { write: Write::Report, ..STARTS };

/// Files in any directory that tools read by themselves, and that developers write like source code.
const NOTED: Name = Name { write: Write::Note, ..STARTS };

/// Files in the home that start programs.
const AT_HOME: Name = Name { scope: Scope::Home, write: Write::Refuse, ..STARTS };

/// Files in any directory that instruct agents.
const INSTRUCTS: Name = Name { kind: Kind::InstructsAgents, write: Write::Report, ..STARTS };

/// Files in any directory that contain secrets, and nothing else.
const SECRET: Name =
    Name { kind: Kind::HoldsSecrets, write: Write::Free, secrecy: Secrecy::Secret, ..STARTS };

/// Files in any directory that often contain secrets.
const MAY_HOLD_SECRET: Name = Name { secrecy: Secrecy::MayHoldSecret, ..SECRET };

/// Files in any directory in which secrets are rare, and which programs and agents read all the time.
const SETTINGS: Name = Name { secrecy: Secrecy::Settings, needed: Needed::Itself, ..SECRET };
