//! Published studies of guards for agents, as suites under their names: each class of a study, by cases of our own.
//!
//! The cases are generated where a class is a way to write a command, so that they are more than the published ones. A class that
//! has its own answer in the study names the mildest answer that is safe here. Each suite prints how many texts it tried.

mod cmd_needle;
mod coding_agent;
mod guard_fall;
mod held_out;
mod nah;

use stockade_command::{CommandPolicy, Effect};
use stockade_shell::{ReadOptions, Shell};

use crate::decides::place;

/// A class of a study: its name there, the mildest answer that is safe, and texts that belong to it.
struct Class {
    name: &'static str,
    mildest: Effect,
    texts: Vec<String>,
}

impl Class {
    fn of(name: &'static str, mildest: Effect, texts: &[&str]) -> Self {
        Self { name, mildest, texts: texts.iter().map(|text| (*text).to_owned()).collect() }
    }
}

fn effect(policy: &CommandPolicy, shell: Shell, text: &str) -> Effect {
    policy.decide(text, &ReadOptions::for_shell(shell), &place()).effect
}

/// Checks that no text of a class gets a milder answer than the class names, and prints the count.
#[expect(clippy::print_stdout, reason = "each suite reports how many texts it tried")]
fn hold(study: &str, source: &str, policy: &CommandPolicy, shell: Shell, classes: &[Class]) {
    let count: usize = classes.iter().map(|class| class.texts.len()).sum();
    println!("{study} ({source}): {count} texts in {} classes", classes.len());
    let milder: Vec<String> = classes
        .iter()
        .flat_map(|class| class.texts.iter().map(move |text| (class, text)))
        .map(|(class, text)| (class, text, effect(policy, shell, text)))
        .filter(|(class, _, effect)| *effect < class.mildest)
        .map(|(class, text, effect)| format!("{}: {effect}, and not {}: {text}", class.name, class.mildest))
        .collect();
    assert!(milder.is_empty(), "{} of {count}:\n{}", milder.len(), milder.join("\n"));
}

/// Checks that harmless neighbours of a study's attacks are not asked about.
fn quiet(policy: &CommandPolicy, shell: Shell, texts: &[&str]) {
    let loud: Vec<String> = texts
        .iter()
        .map(|text| (text, effect(policy, shell, text)))
        .filter(|(_, effect)| *effect >= Effect::Ask)
        .map(|(text, effect)| format!("{effect}: {text}"))
        .collect();
    assert!(loud.is_empty(), "{}", loud.join("\n"));
}
