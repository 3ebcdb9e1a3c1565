use super::spelling::Spelling;
use super::*;
use crate::context::{CommandContext, PartContext};
use crate::rules::effect::{Effect, Layer};
use crate::rules::matcher::Compiled;
use crate::rules::rule::CommandRule;
use crate::rules::set::RuleSet;
use stockade_shell::{ReadOptions, Script};

fn words(text: &str) -> Words {
    text.split(' ').map(|word| word.split('|').map(str::to_owned).collect()).collect()
}

fn shown(text: &str, least: Sameness) -> Vec<String> {
    let shown = |spelled: Spelled| {
        let words: Vec<String> = spelled.words.iter().map(|word| word.join("|")).collect();
        format!("{}{}", words.join(" "), if spelled.is_alone { "!" } else { "" })
    };
    other_spellings(&words(text), least).into_iter().map(shown).collect()
}

#[test]
fn a_rule_has_the_spellings_of_its_rows() {
    let same = |text| shown(text, Sameness::Same);
    assert_eq!(same("docker rm x"), ["docker container rm|remove x"]);
    assert_eq!(same("docker container remove"), ["docker rm", "docker container rm|remove"]);
    assert_eq!(same("cargo b"), ["cargo build|b"]);
    assert_eq!(same("cargo build --release"), ["cargo build|b --release"]);
    assert_eq!(same("yarn install"), ["yarn install|i|isntall", "yarn!"]);
    assert_eq!(same("git push"), <[&str; 0]>::default());
    assert_eq!(same("docker container"), <[&str; 0]>::default(), "what only begins so is not all of it");
}

#[test]
fn what_forbids_holds_for_what_is_alike() {
    let any = |text| shown(text, Sameness::Instead);
    for spelling in ["npm exec|x|", "bunx", "bun x", "pnpm dlx", "yarn dlx", "pnpx"] {
        assert!(any("npx").iter().any(|one| one.starts_with(spelling.trim_end_matches('|'))), "{spelling}");
    }
    assert!(any("docker").iter().any(|one| one == "docker-compose"));
    assert!(any("docker container").iter().any(|one| one == "docker rm"));
    assert!(!any("yarn").iter().any(|one| one == "npx"), "a rule about all of yarn");
    assert_eq!(any("systemctl stop nginx"), ["systemctl stop nginx.service", "service nginx stop"]);
}

#[test]
fn no_rule_has_endless_spellings() {
    for group in GROUPS.all() {
        for spelling in &group.spellings {
            let count = other_spellings(&spelling.words, Sameness::Instead).len();
            assert!(count < 64, "{:?} has {count}", spelling.words);
        }
    }
}

#[test]
fn sub_commands_are_spelled_in_full() {
    for (program, word, expected) in [
        ("npm", "i", "install"),
        ("npm", "isntall", "install"),
        ("npm", "insta", "install"),
        ("npm", "publ", "publish"),
        ("npm", "install", "install"),
        ("npm", "nothing", "nothing"),
        ("pnpm", "un", "remove"),
        ("cargo", "b", "build"),
        ("other", "i", "i"),
    ] {
        assert_eq!(full_name(program, word), expected, "{program} {word}");
    }
}

/// Every command that a form matches, with `x` for any word.
fn commands(spelling: &Spelling) -> Vec<Vec<String>> {
    let of = |word: &String| word.replace(['%', '*'], "x");
    spelling.words.iter().fold(vec![Vec::new()], |begun, word| {
        let longer = |begun: &Vec<String>| {
            let longer = word.iter().map(|one| [begun.as_slice(), &[of(one)]].concat());
            longer.collect::<Vec<_>>()
        };
        begun.iter().flat_map(longer).collect()
    })
}

fn rules_of(words: &[String], effect: Effect) -> RuleSet {
    let rule = CommandRule { i_know: true, ..CommandRule::prefix("r", words, effect) };
    RuleSet::new(Compiled::all(rule, Layer::User)).unwrap()
}

fn effect_of(rules: &RuleSet, words: &[String]) -> Option<Effect> {
    let text = words.join(" ");
    let script = Script::read(&text, &ReadOptions::default()).unwrap();
    let actions = script.actions();
    let context = CommandContext::default();
    let context = PartContext {
        context: &context,
        moves: false,
        adds_harmless_names: false,
        stops_own_children: false,
    };
    let run = actions.runs.last().unwrap();
    rules.ask(run, &context).winner.map(|rule| rule.rule.effect)
}

/// For every row: a command that is denied in one form is denied in all, and one that is allowed is allowed in identical forms
/// only.
#[test]
fn a_rule_holds_for_every_spelling_of_its_row() {
    let mut wrong = Vec::new();
    let mut tried = 0;
    for group in GROUPS.all() {
        let spelled: Vec<Vec<Vec<String>>> = group.spellings.iter().map(commands).collect();
        let all: Vec<&Vec<String>> = spelled.iter().flatten().collect();
        // Every command with the first of each form, and the first with every command.
        let firsts: Vec<&Vec<String>> = spelled.iter().filter_map(|one| one.first()).collect();
        // A rule for pods covers `pod/*`, but not the other way round.
        let is_whole =
            |rule: &[String]| !rule.iter().any(|word| word.contains(['/', ',']) || word == "workspace");
        for rule in all.iter().filter(|rule| is_whole(rule)) {
            let (denied, allowed) = (rules_of(rule, Effect::Deny), rules_of(rule, Effect::Allow));
            let commands = if firsts.contains(rule) { &all } else { &firsts };
            for command in commands.iter().filter(|command| *command != rule) {
                tried += 1;
                if effect_of(&denied, command) != Some(Effect::Deny) {
                    wrong.push(format!("deny {rule:?} misses {command:?}"));
                }
                let is_allowed = effect_of(&allowed, command).is_some();
                let is_same = group.sameness == Sameness::Same || command.starts_with(rule);
                if is_allowed != is_same && !is_same_by_another_row(rule, command) {
                    wrong.push(format!("allow {rule:?} {is_allowed} for {command:?}"));
                }
            }
        }
    }
    assert!(tried > 500, "{tried}");
    assert!(wrong.is_empty(), "{} of {tried}\n{}", wrong.len(), wrong.join("\n"));
}

/// Returns whether other rows with identical forms connect the two.
fn is_same_by_another_row(rule: &[String], command: &[String]) -> bool {
    let words: Words = rule.iter().map(|word| vec![word.clone()]).collect();
    other_spellings(&words, Sameness::Same).iter().any(|spelled| {
        spelled.words.len() <= command.len()
            && spelled.words.iter().zip(command).all(|(word, own)| word.contains(own))
    })
}
