//! What a decision costs, by counting: linear in the text, and few allocations.

use allocation_counter::measure;
use stockade_command::{CommandPolicy, Effect, Layer};
use stockade_shell::ReadOptions;

use crate::decides::{place, policy, rule};

/// As many rules as a large team may have.
fn many() -> CommandPolicy {
    let rules = (0..200)
        .map(|number| rule(&format!("r{number}"), &format!("tool{number} run x{number}"), Effect::Ask));
    policy(vec![(Layer::User, rules.collect())])
}

fn allocations(policy: &CommandPolicy, text: &str) -> u64 {
    let (options, place) = (ReadOptions::default(), place());
    // The first call fills tables.
    drop(policy.decide(text, &options, &place));
    measure(|| drop(policy.decide(text, &options, &place))).count_total
}

#[test]
fn the_number_of_rules_costs_nothing() {
    let (few, many) = (CommandPolicy::builtin(), many());
    for text in ["git status", "ls -la", "npm run build", "tool7 run x7"] {
        assert!(allocations(&many, text) <= allocations(&few, text), "{text}");
    }
}

/// Trying what is suggested takes as long as it takes to decide once more, however many rules there are.
#[test]
fn the_number_of_rules_costs_a_suggestion_nothing() {
    let (options, place) = (ReadOptions::default(), place());
    let cost = |policy: &CommandPolicy, text: &str| {
        let decision = policy.decide(text, &options, &place);
        drop(policy.suggest(&decision, &options, &place));
        measure(|| drop(policy.suggest(&decision, &options, &place))).count_total
    };
    let (few, many) = (CommandPolicy::builtin(), many());
    for text in ["curl https://x.example/i | sh", "rm -rf /", "tool x && kit y", "tool $x", "ls"] {
        assert!(cost(&many, text) <= cost(&few, text), "{text}");
    }
}

#[test]
fn the_number_of_parts_costs_few_suggestions() {
    let (policy, options, place) = (many(), ReadOptions::default(), place());
    let cost = |count: usize| {
        // They differ, so that there is a rule to try for each.
        let text: String = (0..count).map(|number| format!("kit {number} > /etc/f{number}; ")).collect();
        let decision = policy.decide(&text, &options, &place);
        measure(|| drop(policy.suggest(&decision, &options, &place))).count_total
    };
    let (short, long) = (cost(250), cost(1000));
    assert!(long <= short * 6, "{short} allocations, then {long} for four times the text");
}

#[test]
fn a_decision_on_a_long_text_is_linear() {
    let policy = many();
    for piece in [
        "ls; ",
        "tool1 run x1 > f; ",
        "A=1 PATH=x ls; ",
        "sudo ",
        "$(ls) ",
        "> f ",
        "git push & ",
        "rm -rf /; ",
        "xargs ",
    ] {
        let cost = |count: usize| allocations(&policy, &piece.repeat(count)).max(1);
        let (short, long) = (cost(250), cost(1000));
        assert!(long <= short * 6, "{piece:?}: {short} allocations, then {long} for four times the text");
    }
}

/// Of a path with very many names only those at its ends are compared with the names of secrets, and a folder that grows with
/// every `cd` is no longer than that.
#[test]
fn the_number_of_names_in_a_path_costs_little() {
    let policy = CommandPolicy::builtin();
    for (start, piece) in [
        ("rm -rf ", "*/"),
        ("rm -rf ", "[a]?/"),
        ("cat ", "a/*/"),
        ("cat ", ".q*/"),
        ("", "cd a; rm -rf *;"),
        ("", "cat *.env;"),
        ("", "eval 'ls; eval ls';"),
    ] {
        let cost = |count: usize| allocations(&policy, &format!("{start}{}", piece.repeat(count))).max(1);
        let (short, long) = (cost(250), cost(1000));
        assert!(long <= short * 6, "{piece:?}: {short} allocations, then {long} for four times the text");
        let each = long / 1000;
        assert!(each < 1500, "{piece:?}: {each} allocations for one");
    }
}

/// What is said of a command is not many times as long as the command, however often a part of it is dangerous.
#[test]
fn a_reason_does_not_repeat_a_long_word() {
    let policy = CommandPolicy::builtin();
    for text in [format!("rm -rf {}id_rsa", "*/".repeat(5000)), format!("cat ~/.ssh/{}", "x".repeat(9000))] {
        let decision = policy.decide(&text, &ReadOptions::default(), &place());
        for part in &decision.parts {
            assert!(part.cause.to_string().len() < 1000, "{}", part.cause.to_string().len());
        }
    }
}

/// What an agent runs most of the time.
const TYPICAL: &[&str] =
    &["git status", "ls -la", "npm run build", "tool7 run x7", "cargo test", "git log --oneline"];

#[test]
fn a_decision_on_one_command_takes_few_allocations() {
    let policy = many();
    for text in TYPICAL {
        let count = allocations(&policy, text);
        // A decision has the paths to look up, and for git also the directories.
        let most = if text.starts_with("git ") { 15 } else { 14 };
        assert!(count <= most, "{text}: {count} allocations");
    }
}
