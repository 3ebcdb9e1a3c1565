//! One command, asked about at every entry point: every caller gets the same answer, however it asks.
//!
//! `entry points/commands.tsv` has the commands. What becomes of each is for the tests of the rules; here, the crate is asked first, and
//! every entry point has to say the same. No command runs: the agents have no sandbox, and no caller runs it without one.

mod asked;
pub(super) mod home;

use std::collections::BTreeMap;
use std::fmt::Debug;

use home::{AGENTS, Home};
use stockade_guard::command::shell::quote_argv;

/// What is decided about a command, and by which rule: `deny` and `delete-everything`.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Verdict {
    effect: String,
    rule: String,
}

/// A row of the table.
#[derive(Debug)]
struct Row {
    /// The agent whose command it is; nothing where no agent is named.
    agent: Option<&'static str>,
    text: String,
    /// What the crate answers to the text, and to the same text as the argument of a shell.
    wanted: Verdict,
    within: Verdict,
}

impl Row {
    fn agent(&self) -> &'static str {
        self.agent.unwrap_or("default")
    }

    /// The command for a entry point that takes a program and its arguments.
    fn argv(&self) -> [&str; 3] {
        ["bash", "-c", &self.text]
    }
}

fn rows(home: &Home) -> Vec<Row> {
    let lines = include_str!("entry_points/commands.tsv").lines();
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with("# "));
    let mut sessions = BTreeMap::new();
    let mut read = |line: &'static str| {
        let (agent, text) = line.split_once('\t').unwrap_or_else(|| panic!("no tab: {line}"));
        let text = text.replace('⏎', "\n");
        let agent = Some(agent).filter(|agent| *agent != "-");
        let name = agent.unwrap_or("default");
        let session = sessions.entry(name).or_insert_with(|| home.session(name));
        let verdict = |text: &str| {
            let decision = session.command(text).unwrap();
            Verdict { effect: decision.effect.to_string(), rule: decision.rule.name().to_owned() }
        };
        let wanted = verdict(&text);
        let within = verdict(&quote_argv(["bash", "-c", text.as_str()]));
        Row { agent, text, wanted, within }
    };
    lines.map(&mut read).collect()
}

/// Every row that a entry point answers in another way than is wanted.
fn differing<A: PartialEq + Debug>(
    entry_point: &str,
    rows: &[Row],
    wanted: impl Fn(&Row) -> A,
    mut ask: impl FnMut(&Row) -> A,
) -> Vec<String> {
    let differs = |row: &Row| {
        let (wanted, got) = (wanted(row), ask(row));
        let at = format!("{entry_point}: {}: {:?}: {got:?} instead of {wanted:?}", row.agent(), row.text);
        (wanted != got).then_some(at)
    };
    rows.iter().filter_map(differs).collect()
}

#[test]
fn every_entry_point_answers_alike() {
    let home = Home::new();
    let rows = rows(&home);
    assert!(rows.len() >= 300, "{} rows", rows.len());
    let nobodys: Vec<usize> = (0..rows.len()).filter(|index| rows[*index].agent.is_none()).collect();
    assert!(nobodys.len() >= 200, "{} rows without an agent", nobodys.len());
    for effect in ["allow", "sandbox", "ask", "deny"] {
        let some = rows.iter().filter(|row| row.wanted.effect == effect).count();
        assert!(some >= 25, "only {some} commands of the table are answered with {effect}");
    }
    for agent in AGENTS {
        assert!(rows.iter().any(|row| row.agent() == *agent), "no row of {agent}");
    }

    let (entry_points, rows) = (asked::entry_points(), rows.as_slice());
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let asked: Vec<_> =
            entry_points.into_iter().map(|entry_point| scope.spawn(move || entry_point(rows))).collect();
        asked.into_iter().flat_map(|entry_point| entry_point.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{} answers differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A text that a shell gets as its argument is what it is by itself, so that no entry point is milder for taking words. One that begins
/// with `-` is not one there: the shell takes it for an option.
#[test]
fn a_command_is_no_milder_as_the_argument_of_a_shell() {
    let rows = rows(&Home::new());
    let strictness = |verdict: &Verdict| {
        ["allow", "sandbox", "ask", "deny"].iter().position(|effect| *effect == verdict.effect)
    };
    let is_milder =
        |row: &&Row| strictness(&row.within) < strictness(&row.wanted) && !row.text.starts_with('-');
    let milder: Vec<&Row> = rows.iter().filter(is_milder).collect();
    assert!(milder.is_empty(), "{milder:#?}");
}

/// A client that asks about a command as about a path (`path.authorize`) gets what its tool may do with it: never more than the
/// rules for commands allow.
#[test]
fn a_tool_that_runs_commands_is_no_milder() {
    let home = Home::new();
    let rows = rows(&home);
    let milder = asked::milder_as_a_request(&home, &rows);
    assert!(milder.is_empty(), "{}", milder.join("\n"));
}
