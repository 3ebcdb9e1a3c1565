//! What must hold for decisions on every text. A fuzz target and the tests in `shell_replay.rs` run the same function.

use std::sync::LazyLock;

use stockade_command::Cause;
use stockade_command::hazards::{Floor, Hazard, all_hazards};
use stockade_command::rules::CommandPattern;
use stockade_command::{
    CommandContext, CommandDecision, CommandDefaults, CommandPolicy, CommandRule, Effect, Layer, RuleLayer,
};
use stockade_shell::{ReadOptions, Script};

/// Rules as a user may have them.
static RULES: LazyLock<CommandPolicy> = LazyLock::new(|| compile(vec![user()]));

/// The same, and a project that allows everything.
static LOOSE_PROJECT: LazyLock<CommandPolicy> =
    LazyLock::new(|| compile(vec![user(), layer(Layer::Project, &[("*", Effect::Allow)])]));

/// The same, and a project that denies something.
static STRICT_PROJECT: LazyLock<CommandPolicy> = LazyLock::new(|| {
    compile(vec![user(), layer(Layer::Project, &[("git", Effect::Deny), ("ls", Effect::Ask)])])
});

/// An admin who allows everything that a rule can allow.
static LOOSE_ADMIN: LazyLock<CommandPolicy> =
    LazyLock::new(|| compile(vec![layer(Layer::Admin, &[("*", Effect::Allow)])]));

/// A decision is as strict as its strictest part, a part more never makes it milder; a lower layer permits nothing
/// that is denied, and its own denials only add to it; no rule outweighs a hazard that is to be denied; and the canonical
/// spelling is decided as the text is. `data` is a text, and after a byte 1 another one.
pub(crate) fn decisions_only_get_stricter(data: &[u8]) {
    let written = String::from_utf8_lossy(data);
    let (text, more) = written.split_once('\u{1}').unwrap_or((&written, "id"));
    let decision = decide(&RULES, text);
    let strictest = decision.parts.iter().map(|part| part.effect).max();
    assert_eq!(strictest.unwrap_or(Effect::Ask), decision.effect, "{text:?}");

    // A project may permit what no other rule decides, but nothing that is denied.
    let loose = decide(&LOOSE_PROJECT, text).effect;
    assert!(decision.effect < Effect::Deny || loose == Effect::Deny, "a project permits {text:?}");
    assert!(decide(&STRICT_PROJECT, text).effect >= decision.effect, "a project permits {text:?}");

    let options = ReadOptions::default();
    let Ok(script) = Script::read(text, &options) else { return };
    let actions = script.actions();
    let must_deny = |danger: &Hazard| danger.floor == Floor::Deny;
    if let Some(danger) = all_hazards(&actions).iter().find(|danger| must_deny(danger)) {
        assert_eq!(decide(&LOOSE_ADMIN, text).effect, Effect::Deny, "{} in {text:?}", danger.id);
    }
    if let Some(canonical) = decision.rendered() {
        assert_eq!(decide(&RULES, &canonical).effect, decision.effect, "{text:?} as {canonical:?}");
    }
    // A text of nothing but comments is asked about, and only as long as there is nothing else.
    let is_something = !decision.parts.iter().any(|part| matches!(part.cause, Cause::Nothing));
    let both = format!("{text}\n{more}");
    if is_something && Script::read(&both, &options).is_ok() {
        assert!(decide(&RULES, &both).effect >= decision.effect, "{more:?} permits {text:?}");
    }
}

fn decide<'t>(policy: &'static CommandPolicy, text: &'t str) -> CommandDecision<'t, 'static> {
    let place = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
    policy.decide(text, &ReadOptions::default(), &place)
}

fn user() -> RuleLayer {
    layer(
        Layer::User,
        &[
            ("git push", Effect::Deny),
            ("git push origin", Effect::Allow),
            ("git", Effect::Allow),
            ("rm", Effect::Allow),
            ("npm run *", Effect::Sandbox),
            ("curl", Effect::Ask),
        ],
    )
}

fn layer(layer: Layer, rows: &[(&str, Effect)]) -> RuleLayer {
    let rule = |(words, effect): &(&str, Effect)| {
        let words = words.split(' ').map(|word| vec![word.to_owned()]).collect();
        let name = format!("{}-{effect}", layer as usize);
        CommandRule { i_know: true, ..CommandRule::new(name, CommandPattern::Prefix(words), *effect) }
    };
    let mut rules: Vec<CommandRule> = rows.iter().map(rule).collect();
    rules.iter_mut().enumerate().for_each(|(number, rule)| rule.id = format!("{}-{number}", rule.id));
    RuleLayer { layer, rules, overrides: Vec::new() }
}

fn compile(layers: Vec<RuleLayer>) -> CommandPolicy {
    CommandPolicy::compile(layers, CommandDefaults::default()).unwrap()
}
