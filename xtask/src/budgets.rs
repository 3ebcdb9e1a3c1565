//! `cargo xtask budgets [NAME…] [--accept REASON]`: what commands cost, against the limits in `budgets.toml`.
//!
//! Costs are counted and never timed: instructions, system calls, syncs to the disk, page faults and the memory at its peak are
//! the same on a busy machine. A cost above its limit fails, and so do instructions and syncs that grew by a twentieth since they
//! were accepted: a commit that makes a command more expensive gives the reason in `budgets.toml`.

mod file;
mod measure;

use std::fs;

use crate::checks::{Check, Verdict};
use file::{Budget, Section};
use measure::MeasuredCommand;
use testkit::{Echo, Stop, Table, Workspace};

const GROUP: &str = "budgets";
const FILE: &str = "budgets.toml";
const USAGE: &str = "usage: cargo xtask budgets [NAME…] [--accept REASON]";

/// What a person asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Choice {
    /// Sections of the file; all where none is named.
    names: Vec<String>,
    /// Why what is measured becomes what is compared with.
    accept: Option<String>,
}

/// One cost of one command, measured.
struct Finding<'a> {
    section: &'a Section,
    budget: &'a Budget,
    now: u64,
}

/// Runs the command.
pub(crate) fn run(workspace: &Workspace, arguments: &[String]) -> Result<(), Stop> {
    let choice = Choice::parse(arguments)?;
    let text = read(workspace)?;
    let sections = choice.chosen(file::parse(&text).map_err(Stop::failed)?)?;
    build(workspace, Echo::Live)?;
    let findings = measure_all(workspace, &sections)?;
    print!("{}", table(&findings));
    if let Some(reason) = &choice.accept {
        let measured: Vec<_> = findings
            .iter()
            .map(|finding| (finding.section.name.as_str(), finding.budget.cost, finding.now))
            .collect();
        let accepted = file::accept(&text, &measured, reason);
        return fs::write(workspace.root.join(FILE), accepted)
            .map_err(|error| Stop::failed(format!("{FILE}: {error}")));
    }
    match problems(&findings) {
        problems if problems.is_empty() => Ok(()),
        problems => Err(Stop::failed(problems.join("\n"))),
    }
}

/// Returns the check of every budget.
pub(crate) fn checks(workspace: &Workspace) -> Vec<Check> {
    let workspace = workspace.clone();
    let check = Check::new(GROUP, "commands cost what they may", move |echo| match judge(&workspace, echo) {
        Ok(verdict) => verdict,
        Err(stop) => Verdict::failed(stop.message()),
    });
    vec![check.side_by_side()]
}

fn judge(workspace: &Workspace, echo: Echo) -> Result<Verdict, Stop> {
    let sections = file::parse(&read(workspace)?).map_err(Stop::failed)?;
    build(workspace, echo)?;
    let findings = measure_all(workspace, &sections)?;
    let problems = problems(&findings);
    Ok(if problems.is_empty() {
        Verdict::passed()
    } else {
        Verdict::failed(format!("{}\n{}", table(&findings), problems.join("\n")))
    })
}

fn read(workspace: &Workspace) -> Result<String, Stop> {
    fs::read_to_string(workspace.root.join(FILE)).map_err(|error| Stop::failed(format!("{FILE}: {error}")))
}

/// Builds the program in the profile that is measured: that of a release, but for the slow last step of its build.
pub(crate) fn build(workspace: &Workspace, echo: Echo) -> Result<(), Stop> {
    let build = workspace.cargo().args([
        "build",
        "--profile",
        "fast",
        "--package",
        "stockade-cli",
        "--bin",
        "stockade",
    ]);
    let output = build.run(echo).map_err(|error| Stop::failed(error.to_string()))?;
    if output.success { Ok(()) } else { Err(Stop::failed(output.text)) }
}

fn measure_all<'a>(workspace: &Workspace, sections: &'a [Section]) -> Result<Vec<Finding<'a>>, Stop> {
    let mut findings = Vec::new();
    for section in sections {
        let command = MeasuredCommand::new(workspace, section);
        for budget in &section.budgets {
            let now = command.measure(budget.cost).map_err(|why| {
                Stop::failed(format!("{}: {} cannot be measured: {why}", section.name, budget.cost.name()))
            })?;
            findings.push(Finding { section, budget, now });
        }
    }
    Ok(findings)
}

fn table(findings: &[Finding<'_>]) -> Table {
    let mut table = Table::new(&["command", "cost", "now", "was", "change", "limit", "goal"]);
    for Finding { section, budget, now } in findings {
        table.row([
            section.name.clone(),
            budget.cost.name().to_owned(),
            grouped(*now),
            grouped(budget.was),
            change(budget.was, *now),
            grouped(budget.limit),
            budget.goal.map(grouped).unwrap_or_default(),
        ]);
    }
    table
}

/// Reports what exceeds its budget, and how to proceed.
fn problems(findings: &[Finding<'_>]) -> Vec<String> {
    findings.iter().filter_map(Finding::problem).collect()
}

impl Finding<'_> {
    fn problem(&self) -> Option<String> {
        let Self { section, budget, now } = self;
        let (name, cost) = (&section.name, budget.cost.name());
        if *now > budget.limit {
            return Some(format!(
                "{name}: {} {cost} are above the limit of {}",
                grouped(*now),
                grouped(budget.limit)
            ));
        }
        budget.is_much_more(*now).then(|| {
            format!(
                "{name}: {} {cost} were {}; if the change is worth it: cargo xtask budgets {name} --accept 'REASON'",
                grouped(*now),
                grouped(budget.was)
            )
        })
    }
}

impl Choice {
    fn parse(arguments: &[String]) -> Result<Self, Stop> {
        let mut choice = Self::default();
        let mut words = arguments.iter();
        while let Some(word) = words.next() {
            match word.as_str() {
                "--accept" => choice.accept = Some(words.next().ok_or_else(|| Stop::usage(USAGE))?.clone()),
                flag if flag.starts_with('-') => return Err(Stop::usage(USAGE)),
                name => choice.names.push(name.to_owned()),
            }
        }
        Ok(choice)
    }

    fn chosen(&self, sections: Vec<Section>) -> Result<Vec<Section>, Stop> {
        for name in &self.names {
            if !sections.iter().any(|section| section.name == *name) {
                let names: Vec<&str> = sections.iter().map(|section| section.name.as_str()).collect();
                return Err(Stop::usage(format!(
                    "no budget is called `{name}`; there are: {}",
                    names.join(", ")
                )));
            }
        }
        let is_chosen = |section: &Section| self.names.is_empty() || self.names.contains(&section.name);
        Ok(sections.into_iter().filter(is_chosen).collect())
    }
}

/// A number with its digits in groups: `5_930_000`.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push('_');
        }
        text.push(digit);
    }
    text
}

/// How much more or less, in percent.
fn change(was: u64, now: u64) -> String {
    if was == 0 {
        return if now == 0 { "+0.0 %".to_owned() } else { format!("+{now}") };
    }
    // In parts of a thousand, so that nothing is rounded twice.
    let thousandths = (i128::from(now) - i128::from(was)) * 1000 / i128::from(was);
    let sign = if thousandths < 0 { '-' } else { '+' };
    format!("{sign}{}.{} %", thousandths.abs() / 10, thousandths.abs() % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section(was: u64, limit: u64) -> Section {
        let text = format!(
            "[scan]\nwhat = \"a scan\"\nrun = [\"scan\"]\nsyncs = {{ was = {was}, limit = {limit} }}\n"
        );
        file::parse(&text).unwrap().remove(0)
    }

    fn problem(was: u64, limit: u64, now: u64) -> Option<String> {
        let section = section(was, limit);
        let budget = &section.budgets[0];
        Finding { section: &section, budget, now }.problem()
    }

    #[test]
    fn a_cost_may_neither_pass_its_limit_nor_grow_by_a_twentieth() {
        assert_eq!(problem(100, 200, 100), None);
        assert_eq!(problem(100, 200, 105), None);
        assert_eq!(problem(100, 200, 20), None);
        assert!(problem(100, 200, 106).unwrap().contains("--accept"));
        assert!(problem(199, 200, 201).unwrap().contains("above the limit of 200"));
        assert!(problem(0, 2, 1).is_some(), "one more sync of none is more");
        assert!(problem(1, 4, 2).is_some());
    }

    #[test]
    fn changes_are_in_percent() {
        assert_eq!(change(200, 211), "+5.5 %");
        assert_eq!(change(200, 190), "-5.0 %");
        assert_eq!(change(0, 0), "+0.0 %");
        assert_eq!(change(0, 3), "+3");
    }

    #[test]
    fn digits_are_grouped() {
        let grouped: Vec<String> = [0, 999, 1000, 1_234_567].map(grouped).into();
        assert_eq!(grouped, ["0", "999", "1_000", "1_234_567"]);
    }

    #[test]
    fn names_and_reasons_are_read() {
        let words =
            |words: &[&str]| Choice::parse(&words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>());
        let choice = words(&["scan", "--accept", "more rules"]).unwrap();
        assert_eq!((choice.names, choice.accept.as_deref()), (vec!["scan".to_owned()], Some("more rules")));
        assert!(words(&["--accept"]).is_err());
        assert!(words(&["--all"]).is_err());
        let unknown = Choice { names: vec!["scna".to_owned()], accept: None };
        assert!(unknown.chosen(vec![section(1, 2)]).unwrap_err().message().contains("there are: scan"));
    }

    #[test]
    fn the_file_of_this_repository_is_read() {
        let workspace = Workspace::load().unwrap();
        let sections = file::parse(&read(&workspace).unwrap()).unwrap();
        assert!(sections.len() >= 15, "{}", sections.len());
        for section in &sections {
            assert!(!section.why.is_empty(), "{} has no reason", section.name);
            for budget in &section.budgets {
                assert!(budget.was <= budget.limit, "{}: {}", section.name, budget.cost.name());
            }
        }
    }
}
