//! What must hold for decisions on every text.

use proptest::prelude::*;
use stockade_policy::{CommandPolicy, Effect, Layer};
use stockade_shell::ReadOptions;

use crate::command_decides::{effect, place, policy, rule};

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

fn rules() -> Vec<stockade_policy::CommandRule> {
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 1024, ..ProptestConfig::default() })]

    /// A rule more that denies never makes anything milder.
    #[test]
    fn denying_more_never_allows_more(text in texts(), words in prop::sample::select(vec![
        "git", "git push", "npm run", "tool x", "*", "ls", "rm -rf", "git push x", "sudo",
    ]), layer in prop::sample::select(vec![Layer::Project, Layer::User, Layer::Admin])) {
        let before = policy(vec![(Layer::User, rules())]);
        let layers = if layer == Layer::User {
            let mut all = rules();
            all.push(rule("more", words, Effect::Deny));
            vec![(Layer::User, all)]
        } else {
            vec![(Layer::User, rules()), (layer, vec![rule("more", words, Effect::Deny)])]
        };
        prop_assert!(effect(&policy(layers), &text) >= effect(&before, &text));
    }

    /// The order in which rules are written does not matter.
    #[test]
    fn the_order_of_rules_does_not_matter(text in texts(), order in Just(rules()).prop_shuffle()) {
        let (one, other) = (policy(vec![(Layer::User, rules())]), policy(vec![(Layer::User, order)]));
        let decide = |policy: &CommandPolicy| {
            let decision = policy.decide(&text, &ReadOptions::default(), &place());
            decision.parts.iter().map(|part| (part.effect, part.cause.id().to_owned())).collect::<Vec<_>>()
        };
        prop_assert_eq!(decide(&one), decide(&other));
    }

    /// Behind a wrapper, a shell or another command, nothing becomes milder.
    #[test]
    fn wrapping_never_loosens(text in texts()) {
        let policy = policy(vec![(Layer::User, rules())]);
        let alone = effect(&policy, &text);
        // A text that only begins something can mean something else with more text around it.
        let is_whole = stockade_shell::Script::read(&text, &ReadOptions::default()).is_ok();
        let is_plain = is_whole && !text.contains(['\n', '#', '|', ';', '&', '(', '<', '>', '{']) && !text.contains('=') && !text.starts_with('-');
        let quoted = format!("'{}'", text.replace('\'', r"'\''"));
        if is_whole && text.split_whitespace().next().is_some_and(|word| !word.starts_with(['#', '-'])) {
            let wrapped =
                [format!("true; {text}"), format!("( {text}\n)"), format!("bash -c {quoted}"), format!("eval {quoted}")];
            for wrapped in wrapped {
                prop_assert!(effect(&policy, &wrapped) >= alone, "{}", wrapped);
            }
        }
        if is_plain {
            for wrapper in ["sudo", "env", "timeout 5", "nohup", "xargs", "command"] {
                let wrapped = format!("{wrapper} {text}");
                prop_assert!(effect(&policy, &wrapped) >= alone.min(Effect::Ask), "{}", wrapped);
            }
        }
    }

    /// Two commands are as strict as the stricter of them.
    #[test]
    fn a_list_is_as_strict_as_its_strictest_part(one in texts(), other in texts()) {
        let policy = policy(vec![(Layer::User, rules())]);
        let both = effect(&policy, &format!("{one}\n{other}"));
        let runs = |script: stockade_shell::Script<'_>| !script.actions().runs.is_empty();
        let reads = |text: &str| stockade_shell::Script::read(text, &ReadOptions::default()).is_ok_and(runs);
        if reads(&one) && reads(&other) && !one.contains("PATH") && !one.contains("A=") && !other.contains("A=") && !other.contains("PATH") {
            prop_assert_eq!(both, effect(&policy, &one).max(effect(&policy, &other)));
        }
    }

    /// The canonical spelling of an allowed command is allowed.
    #[test]
    fn the_canonical_spelling_is_decided_alike(text in texts()) {
        let policy = policy(vec![(Layer::User, rules())]);
        let decision = policy.decide(&text, &ReadOptions::default(), &place());
        if let Some(rendered) = decision.rendered() {
            prop_assert_eq!(effect(&policy, &rendered), decision.effect, "{}", rendered);
        }
    }

    /// Text after a denied command does not permit it, and any text at all has an answer.
    #[test]
    fn a_suffix_never_permits(text in texts(), suffix in ".{0,20}") {
        let policy = policy(vec![(Layer::User, rules())]);
        if effect(&policy, &text) == Effect::Deny {
            let longer = format!("{text}\n{suffix}");
            prop_assert!(effect(&policy, &longer) > Effect::Sandbox, "{}", longer);
        }
        let _: Effect = effect(&policy, &suffix);
    }
}
