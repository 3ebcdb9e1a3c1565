//! `cargo xtask battery --cve`: attacks on agents and their tools that were published, each under its number, tried on
//! the program.
//!
//! A row of a table has the files on the disk, an agent's questions, and the required answers. Each question is asked
//! through two entry points, `stockade check` and `stockade serve`, and both answers must be right. Ordinary requests
//! beside the attacks must stay allowed, so that a program that refuses everything fails. A successful attack is a
//! failure unless `SECURITY.md` lists it as open; so is a listed one that is prevented.

mod answer;
mod case;
mod commands;
mod disk;
mod entry_points;
mod live;
mod options;
mod paths;
mod programs;
mod repositories;
mod sandbox;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use case::Case;
use disk::Disk;
use live::Range;
use testkit::{Stop, Table, Workspace, no_more};

/// The layers and their attacks, one file each.
const LAYERS: &[(&str, &[Case])] = &[
    ("commands", commands::CASES),
    ("programs", programs::CASES),
    ("options", options::CASES),
    ("repositories", repositories::CASES),
    ("paths", paths::CASES),
];

/// Heading in `SECURITY.md` of the list of attacks that still succeed.
const OPEN: &str = "### Open";

/// How an attack ended.
struct Row {
    id: &'static str,
    attack: &'static str,
    layer: &'static str,
    /// How many questions were asked.
    asked: usize,
    /// Wrong answers, in sentences.
    missed: Vec<String>,
    is_listed: bool,
}

/// Runs the command.
pub(super) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    no_more(arguments, "battery --cve")?;
    let rows = build(workspace).and_then(|program| rows(workspace, &program)).map_err(Stop::failed)?;
    println!("{}", told(&rows));
    if rows.iter().all(Row::is_right) { Ok(()) } else { Err(Stop::failed("see above")) }
}

/// Builds the program with the features that its tests have, which were built before.
fn build(workspace: &Workspace) -> Result<PathBuf, String> {
    // Built alone it would have other features, and with them everything below it.
    workspace.build_examples().read().map_err(|error| error.to_string())?;
    Ok(workspace.target.join("debug/stockade"))
}

fn rows(workspace: &Workspace, program: &Path) -> Result<Vec<Row>, String> {
    let security = std::fs::read_to_string(workspace.root.join("SECURITY.md")).map_err(|e| e.to_string())?;
    let open = open(&security);
    let disk = Disk::new().map_err(|error| format!("cannot make a folder for the attacks: {error}"))?;
    let cases = || LAYERS.iter().flat_map(|(layer, cases)| cases.iter().map(move |case| (*layer, case)));
    let unknown = open.iter().find(|id| {
        cases().all(|(_, case)| case.id != **id) && sandbox::CASES.iter().all(|case| case.id != **id)
    });
    if let Some(id) = unknown {
        return Err(format!("SECURITY.md lists {id} as open, but the tables lack this attack"));
    }
    let row = |number: usize, layer: &'static str, case: &'static Case| {
        let missed = entry_points::missed(program, &disk, number, case);
        let missed = missed.map_err(|error| format!("{}: {error}", case.id))?;
        let (id, attack, asked) = (case.id, case.attack, case.tries.len());
        Ok(Row { id, attack, layer, asked, missed, is_listed: open.contains(id) })
    };
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let rows = std::thread::scope(|scope| {
        let work = |worker| {
            let mine = cases().enumerate().skip(worker).step_by(workers);
            move || mine.map(|(number, (layer, case))| (number, row(number, layer, case))).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
        running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    let mut rows = in_order(rows, cases().count())?;
    rows.extend(in_sandboxes(program, &open)?);
    Ok(rows)
}

/// Tries the attacks by sandboxed commands.
fn in_sandboxes(program: &Path, open: &BTreeSet<&str>) -> Result<Vec<Row>, String> {
    let range = Range::new(program).map_err(|error| format!("cannot try sandboxes: {error}"))?;
    let row = |(number, case): (usize, &sandbox::Live)| {
        let tried = range.tried(number, case).map_err(|error| format!("{}: {error}", case.id))?;
        let (id, attack, is_listed) = (case.id, case.attack, open.contains(case.id));
        Ok(Row { id, attack, layer: "sandbox", asked: tried.asked, missed: tried.missed, is_listed })
    };
    // Most of them wait for a timeout.
    let workers = 2 * std::thread::available_parallelism().map_or(1, usize::from);
    let rows = std::thread::scope(|scope| {
        let work = |worker| {
            let mine = sandbox::CASES.iter().enumerate().skip(worker).step_by(workers);
            move || mine.map(|(number, case)| (number, row((number, case)))).collect::<Vec<_>>()
        };
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(work(worker))).collect();
        running.into_iter().flat_map(|one| one.join().unwrap_or_default()).collect::<Vec<_>>()
    });
    in_order(rows, sandbox::CASES.len())
}

/// Returns the rows in the order of the tables; a worker that ended early does not count as success.
fn in_order(mut rows: Vec<(usize, Result<Row, String>)>, count: usize) -> Result<Vec<Row>, String> {
    if rows.len() != count {
        return Err(format!("{} of {count} attacks were tried", rows.len()));
    }
    rows.sort_by_key(|(number, _)| *number);
    rows.into_iter().map(|(_, row)| row).collect()
}

/// The attacks that a document lists as open: the code spans of each item before its colon.
fn open(document: &str) -> BTreeSet<&str> {
    let below = document.lines().skip_while(|line| *line != OPEN).skip(1);
    let items = below.take_while(|line| !line.starts_with('#')).filter(|line| line.starts_with("- `"));
    let named = items.filter_map(|item| item.split("`:").next());
    named.flat_map(|names| names.split('`').skip(1).step_by(2)).collect()
}

impl Row {
    /// Whether its result matches its listing.
    fn is_right(&self) -> bool {
        self.missed.is_empty() != self.is_listed
    }

    const fn word(&self) -> &'static str {
        match (self.missed.is_empty(), self.is_listed) {
            (true, false) => "held",
            (true, true) => "HELD, take it out of the list in SECURITY.md",
            (false, true) => "open, as SECURITY.md says",
            (false, false) => "NOT HELD",
        }
    }
}

/// Returns a line for each attack, the failures, and the score.
fn told(rows: &[Row]) -> String {
    let mut table = Table::new(&["published as", "layer", "asked", "ends", "attack"]);
    for row in rows {
        let cells = [row.id, row.layer, &row.asked.to_string(), row.word(), row.attack];
        table.row(cells.map(str::to_owned));
    }
    let missed: String = rows
        .iter()
        .flat_map(|row| row.missed.iter().map(|missed| format!("{}: {missed}\n", row.id)))
        .collect();
    format!("{table}\n{missed}{}", score(rows))
}

fn score(rows: &[Row]) -> String {
    let held = rows.iter().filter(|row| row.missed.is_empty()).count();
    let asked: usize = rows.iter().map(|row| row.asked).sum();
    let open = rows.iter().filter(|row| row.is_listed && !row.missed.is_empty()).count();
    let open = if open == 0 { String::new() } else { format!(", {open} listed as open") };
    format!(
        "{held} of {} published attacks held{open}; {asked} questions, each at both entry_points or in one sandbox",
        rows.len()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_attack_has_a_name_of_its_own_and_is_tried() {
        let mut seen = BTreeSet::new();
        for case in LAYERS.iter().flat_map(|(_, cases)| *cases) {
            assert!(seen.insert(case.id), "{} stands twice", case.id);
            assert!(!case.attack.is_empty() && !case.attack.ends_with('.'), "{}", case.id);
            assert!(case.tries.iter().any(case::Try::is_attack), "{}: nothing is tried", case.id);
        }
        for case in sandbox::CASES {
            assert!(seen.insert(case.id), "{} stands twice", case.id);
            assert!(!case.tiers.is_empty() && case.script.contains("box "), "{}", case.id);
        }
    }

    #[test]
    fn what_is_open_is_read_from_a_list() {
        let document =
            "- `a`\n### Open\n\nText.\n- `CVE-1`: why `b`\n- `CVE-2`, `x 3`: why\n## Next\n- `c`\n";
        assert_eq!(open(document), ["CVE-1", "CVE-2", "x 3"].into());
        assert_eq!(open("no heading"), BTreeSet::new());
    }

    #[test]
    fn an_attack_is_right_where_it_is_held_or_listed() {
        let row = |missed: &[&str], is_listed| Row {
            id: "x",
            attack: "y",
            layer: "commands",
            asked: 1,
            missed: missed.iter().map(|&one| one.to_owned()).collect(),
            is_listed,
        };
        let right = |missed: &[&str], is_listed| row(missed, is_listed).is_right();
        assert!(right(&[], false) && right(&["x"], true));
        assert!(!right(&["x"], false) && !right(&[], true));
        let rows = [row(&[], false), row(&["`x` is allow"], true)];
        assert!(
            told(&rows).ends_with(
                "1 of 2 published attacks held, 1 listed as open; 2 questions, each at both entry_points or in one sandbox"
            )
        );
    }
}
