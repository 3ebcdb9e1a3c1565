//! What must hold for decisions on every text.

use std::sync::LazyLock;

use proptest::prelude::*;
use stockade_command::{CommandPolicy, Effect, Layer};
use stockade_shell::ReadOptions;

use crate::decides::{effect, place, policy, rule};

/// Texts made of pieces that matter to shells and to rules.
fn texts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "git",
        "push",
        "status",
        "rm",
        "-rf",
        "-r",
        "ls",
        "npm",
        "run",
        "x",
        "$x",
        "*",
        "'a b'",
        "\"$(ls)\"",
        "--force",
        "-C",
        "tool",
        "sudo",
        "env",
        "timeout",
        "5",
        ">",
        "f",
        "/dev/null",
        "&&",
        ";",
        "|",
        "(",
        ")",
        "A=1",
        "PATH=x",
        "bash",
        "-c",
        "'git push'",
        "{a,b}",
        "~",
        "/",
        "xargs",
        "\n",
        "#",
        "<<E",
    ]);
    prop::collection::vec(piece, 1..9).prop_map(|pieces| pieces.join(" "))
}

fn rules() -> Vec<stockade_command::CommandRule> {
    vec![
        rule("push", "git push", Effect::Deny),
        rule("push-x", "git push x", Effect::Allow),
        rule("git", "git", Effect::Allow),
        rule("run", "npm run *", Effect::Sandbox),
        rule("npm", "npm", Effect::Ask),
        rule("tool", "tool", Effect::Allow),
        rule("rm", "rm", Effect::Allow),
    ]
}

static OURS: LazyLock<CommandPolicy> = LazyLock::new(|| policy(vec![(Layer::User, rules())]));

/// The same rules and one more that denies, of each layer.
static STRICTER: LazyLock<Vec<(&str, Layer, CommandPolicy)>> = LazyLock::new(|| {
    let mut all = Vec::new();
    for words in ["git", "git push", "npm run", "tool x", "*", "ls", "rm -rf", "git push x", "sudo"] {
        let more = rule("more", words, Effect::Deny);
        let beside = rules().into_iter().chain([more.clone()]).collect();
        all.push((words, Layer::User, policy(vec![(Layer::User, beside)])));
        for layer in [Layer::Project, Layer::Admin] {
            all.push((words, layer, policy(vec![(Layer::User, rules()), (layer, vec![more.clone()])])));
        }
    }
    all
});

/// The same rules in other orders: each is the first once, forwards and backwards.
static REORDERED: LazyLock<Vec<CommandPolicy>> = LazyLock::new(|| {
    let turned = |by: usize| {
        let mut rules = rules();
        rules.rotate_left(by);
        let backwards = rules.iter().rev().cloned().collect();
        [rules, backwards].map(|rules| policy(vec![(Layer::User, rules)]))
    };
    (0..rules().len()).flat_map(turned).collect()
});

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    /// A rule more that denies never makes anything milder.
    #[test]
    fn denying_more_never_allows_more(text in texts(), stricter in 0..STRICTER.len()) {
        let (words, layer, stricter) = &STRICTER[stricter];
        prop_assert!(effect(stricter, &text) >= effect(&OURS, &text), "{} denies {}", layer, words);
    }

    /// The order in which rules are written does not matter.
    #[test]
    fn the_order_of_rules_does_not_matter(text in texts(), other in 0..REORDERED.len()) {
        let decide = |policy: &CommandPolicy| {
            let decision = policy.decide(&text, &ReadOptions::default(), &place());
            decision.parts.iter().map(|part| (part.effect, part.cause.id().to_owned())).collect::<Vec<_>>()
        };
        prop_assert_eq!(decide(&OURS), decide(&REORDERED[other]));
    }

    /// Behind a wrapper, a shell or another command, nothing becomes milder.
    #[test]
    fn wrapping_never_loosens(text in texts()) {
        let alone = effect(&OURS, &text);
        // A text that only begins something can mean something else with more text around it.
        let is_whole = stockade_shell::Script::read(&text, &ReadOptions::default()).is_ok();
        let is_plain = is_whole && !text.contains(['\n', '#', '|', ';', '&', '(', '<', '>', '{']) && !text.contains('=') && !text.starts_with('-');
        let quoted = format!("'{}'", text.replace('\'', r"'\''"));
        if is_whole && text.split_whitespace().next().is_some_and(|word| !word.starts_with(['#', '-'])) {
            let wrapped =
                [format!("true; {text}"), format!("( {text}\n)"), format!("bash -c {quoted}"), format!("eval {quoted}")];
            for wrapped in wrapped {
                prop_assert!(effect(&OURS, &wrapped) >= alone, "{}", wrapped);
            }
        }
        if is_plain {
            for wrapper in ["sudo", "env", "timeout 5", "nohup", "xargs", "command"] {
                let wrapped = format!("{wrapper} {text}");
                prop_assert!(effect(&OURS, &wrapped) >= alone.min(Effect::Ask), "{}", wrapped);
            }
        }
    }

    /// Two commands are as strict as the stricter of them.
    #[test]
    fn a_list_is_as_strict_as_its_strictest_part(one in texts(), other in texts()) {
        let both = effect(&OURS, &format!("{one}\n{other}"));
        let runs = |script: stockade_shell::Script<'_>| !script.actions().runs.is_empty();
        let reads = |text: &str| stockade_shell::Script::read(text, &ReadOptions::default()).is_ok_and(runs);
        if reads(&one) && reads(&other) && !one.contains("PATH") && !one.contains("A=") && !other.contains("A=") && !other.contains("PATH") {
            prop_assert_eq!(both, effect(&OURS, &one).max(effect(&OURS, &other)));
        }
    }

    /// The canonical spelling of an allowed command is allowed.
    #[test]
    fn the_canonical_spelling_is_decided_alike(text in texts()) {
        let decision = OURS.decide(&text, &ReadOptions::default(), &place());
        if let Some(rendered) = decision.rendered() {
            prop_assert_eq!(effect(&OURS, &rendered), decision.effect, "{}", rendered);
        }
    }

    /// Text after a denied command does not permit it, and any text at all has an answer.
    #[test]
    fn a_suffix_never_permits(text in texts(), suffix in ".{0,20}") {
        // What only begins something is denied for what it may become.
        let is_whole = stockade_shell::Script::read(&text, &ReadOptions::default()).is_ok();
        if is_whole && effect(&OURS, &text) == Effect::Deny {
            let longer = format!("{text}\n{suffix}");
            prop_assert!(effect(&OURS, &longer) > Effect::Sandbox, "{}", longer);
        }
        let _: Effect = effect(&OURS, &suffix);
    }
}
