//! `cargo xtask corpus FOLDER`: measures the scanner on labelled skills, and compares the results with required
//! bounds.
//!
//! The folder contains skills and a `manifest.json` with the path, the label and the attacked lines of each. The
//! skills are only read: nothing in them is run. With `--evasions`, each malicious skill is rewritten in many
//! equivalent ways, and the table shows how many of those are still reported. A second table shows what each rule finds
//! outside the campaign in which it finds most; a rule that finds one campaign alone was fitted to it.

mod campaigns;
mod evasions;
mod literals;
mod skill;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use skill::{Found, Skill};
use testkit::{Echo, Json, Stop, Table, Workspace, no_more};

const USAGE: &str = "corpus FOLDER [--evasions]";

/// Requirements on the scanner: the set, the column, and the bound in thousandths.
const BUDGETS: &[(&str, Column, Bound)] = &[
    ("malicious", Column::Blocked, Bound::AtLeast(800)),
    ("malicious", Column::Flagged, Bound::AtLeast(900)),
    ("reputable", Column::Blocked, Bound::AtMost(8)),
    ("reputable", Column::Flagged, Bound::AtMost(30)),
    ("official", Column::Blocked, Bound::AtMost(15)),
    ("hard-negative", Column::Blocked, Bound::AtMost(150)),
    ("unlabelled", Column::Blocked, Bound::AtMost(20)),
];

/// Minimum share of rewritten skills that are still reported, in thousandths.
const STILL_FLAGGED: usize = 800;

/// A column of the table.
#[derive(Debug, Clone, Copy)]
enum Column {
    Blocked,
    Flagged,
}

/// Bound on a share.
#[derive(Debug, Clone, Copy)]
enum Bound {
    AtLeast(usize),
    AtMost(usize),
}

/// Number of skills in a set, and their results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Score {
    skills: usize,
    blocked: usize,
    flagged: usize,
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let Some((folder, rest)) = arguments.split_first() else {
        return Err(Stop::usage(format!(
            "which folder? usage: cargo xtask {USAGE} (it holds skills and manifest.json)"
        )));
    };
    let evades = rest.first().is_some_and(|word| word == "--evasions");
    no_more(rest.get(usize::from(evades)..).unwrap_or_default(), USAGE)?;
    let folder = PathBuf::from(folder);
    let skills = skill::read(&folder)?;
    let found = scan(workspace, &folder)?;
    let missed = if evades {
        evasions::run(&skills, &found, &folder, workspace)?
    } else {
        let scores = scores(&skills, &found);
        print!("{}", table(&scores));
        let (rules, fitted) = campaigns::judge(&skills, &found);
        print!("{rules}");
        let named = literals::judge(&skills, &folder, &workspace.root.join("crates/scanner/src/rules"))?;
        missed(&scores).into_iter().chain(fitted).chain(named).collect()
    };
    missed.iter().for_each(|line| println!("MISSED {line}"));
    if missed.is_empty() { Ok(()) } else { Err(Stop::reported()) }
}

/// Scans a directory of skills with the program of this workspace, and returns the findings by skill.
fn scan(workspace: &Workspace, folder: &Path) -> Result<BTreeMap<String, Vec<Found>>, Stop> {
    let program = workspace.cargo().args(["run", "--quiet", "--package", "stockade-cli", "--", "scan"]);
    let program = program.args(["--format", "jsonl", "--fail-on", "never"]).arg(folder);
    let output =
        program.run(Echo::Kept).map_err(|error| Stop::failed(format!("cannot run `{program}`: {error}")))?;
    let rows: Vec<Json> = output.text.lines().filter_map(Json::parse).collect();
    // Without a summary line, the scan was aborted.
    if !rows.last().is_some_and(|row| *row.at("summary") != Json::Null) {
        return Err(Stop::failed(format!("`{program}` did not end well:\n{}", output.text)));
    }
    let mut found: BTreeMap<String, Vec<Found>> = BTreeMap::new();
    for row in &rows {
        if let Some((skill, one)) = Found::of(row, folder) {
            let others = one.others(row);
            found.entry(skill).or_default().extend([one].into_iter().chain(others));
        }
    }
    Ok(found)
}

/// The scores of each set, in the order of their names: of kinds, of tiers, and of categories of attacks.
fn scores(skills: &[Skill], found: &BTreeMap<String, Vec<Found>>) -> BTreeMap<String, Score> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for skill in skills {
        let findings = found.get(&skill.folder).map(Vec::as_slice).unwrap_or_default();
        for set in skill.sets() {
            scores.entry(set).or_default().add(findings);
        }
    }
    scores
}

impl Score {
    fn add(&mut self, findings: &[Found]) {
        self.skills += 1;
        self.blocked += usize::from(findings.iter().any(|found| found.is_critical));
        self.flagged += usize::from(!findings.is_empty());
    }

    const fn merge(&mut self, other: Self) {
        self.skills += other.skills;
        self.blocked += other.blocked;
        self.flagged += other.flagged;
    }

    /// A share in thousandths, rounded.
    const fn of(&self, column: Column) -> usize {
        let part = match column {
            Column::Blocked => self.blocked,
            Column::Flagged => self.flagged,
        };
        match (part * 2000).checked_div(self.skills) {
            Some(twice) => twice.div_ceil(2),
            None => 0,
        }
    }
}

fn percent(thousandths: usize) -> String {
    format!("{}.{} %", thousandths / 10, thousandths % 10)
}

fn table(scores: &BTreeMap<String, Score>) -> Table {
    let mut table = Table::new(&["set", "skills", "blocked", "flagged"]);
    for (set, score) in scores {
        let shares = [Column::Blocked, Column::Flagged].map(|column| percent(score.of(column)));
        table.row([set.clone(), score.skills.to_string()].into_iter().chain(shares));
    }
    table
}

/// Returns the missed bounds, a line for each.
fn missed(scores: &BTreeMap<String, Score>) -> Vec<String> {
    let line = |(set, column, bound): &(&str, Column, Bound)| {
        let share = scores.get(*set)?.of(*column);
        let (holds, must) = match bound {
            Bound::AtLeast(least) => (share >= *least, format!("at least {}", percent(*least))),
            Bound::AtMost(most) => (share <= *most, format!("at most {}", percent(*most))),
        };
        let column = format!("{column:?}").to_lowercase();
        (!holds).then(|| format!("{set}, {column}: {}, must be {must}", percent(share)))
    };
    BUDGETS.iter().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_rounded() {
        let score = Score { skills: 3, blocked: 1, flagged: 2 };
        assert_eq!((score.of(Column::Blocked), score.of(Column::Flagged)), (333, 667));
        assert_eq!(percent(667), "66.7 %");
        assert_eq!(Score::default().of(Column::Blocked), 0);
    }

    #[test]
    fn what_is_over_or_under_its_bound_is_named() {
        let score = |blocked, flagged| Score { skills: 100, blocked, flagged };
        let sets =
            |rows: &[(&str, Score)]| rows.iter().map(|(set, score)| ((*set).to_owned(), *score)).collect();
        assert!(missed(&sets(&[("malicious", score(80, 90)), ("unlabelled", score(2, 9))])).is_empty());
        let told = missed(&sets(&[("malicious", score(79, 90)), ("unlabelled", score(3, 9))]));
        assert_eq!(
            told,
            [
                "malicious, blocked: 79.0 %, must be at least 80.0 %",
                "unlabelled, blocked: 3.0 %, must be at most 2.0 %"
            ]
        );
    }
}
