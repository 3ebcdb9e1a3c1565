//! Rules that never decide, because another rule always takes precedence.

use std::collections::HashMap;

use super::effect::Layer;
use super::matcher::Compiled;
use super::rule::CommandPattern;

/// A rule that never decides.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct ShadowedRule {
    /// The layer of the rule.
    pub layer: Layer,
    /// The id of the rule.
    pub id: String,
    /// The layer of the rule that decides instead.
    pub by_layer: Layer,
    /// Its id.
    pub by: String,
}

/// Returns the rules that never decide. Only rules with the same words are compared, so the list may be incomplete.
pub(crate) fn shadowed(rules: &[Compiled]) -> Vec<ShadowedRule> {
    let written = rules.iter().filter(|rule| rule.layer > Layer::BuiltIn && is_by_words(rule));
    let mut alike: HashMap<&Vec<Vec<String>>, Vec<&Compiled>> = HashMap::new();
    for rule in written {
        if let CommandPattern::Prefix(words) | CommandPattern::Exact(words) = &rule.rule.pattern {
            alike.entry(words).or_default().push(rule);
        }
    }
    let mut found = Vec::new();
    for group in alike.values().filter(|group| group.len() > 1) {
        // Only the strongest rule of each layer, so that each rule is compared with a few, however many are equal.
        let strongest = Layer::ALL.map(|layer| {
            let of_layer = group.iter().filter(|rule| rule.layer == layer && always_matches(rule));
            of_layer.max_by_key(|rule| (rule.specificity(), std::cmp::Reverse(&rule.rule.id)))
        });
        for rule in group {
            let by = strongest.iter().flatten().find(|by| decides_before(by, rule));
            found.extend(by.map(|by| ShadowedRule {
                layer: rule.layer,
                id: rule.rule.id.clone(),
                by_layer: by.layer,
                by: by.rule.id.clone(),
            }));
        }
    }
    found.sort_by(|one, other| (one.layer, &one.id).cmp(&(other.layer, &other.id)));
    found
}

fn is_by_words(rule: &Compiled) -> bool {
    rule.rule.enabled && !matches!(rule.rule.pattern, CommandPattern::Regex { .. })
}

/// Returns whether a rule matches whenever its words do.
fn always_matches(rule: &Compiled) -> bool {
    rule.rule.guards == Default::default()
}

fn decides_before(by: &Compiled, rule: &Compiled) -> bool {
    let takes_as_much =
        matches!(by.rule.pattern, CommandPattern::Prefix(_)) || by.rule.pattern == rule.rule.pattern;
    let is_preferred = match by.layer.cmp(&rule.layer) {
        // Lower layers can only be stricter.
        std::cmp::Ordering::Greater => by.rule.effect >= rule.rule.effect,
        std::cmp::Ordering::Equal => {
            let key = |one: &Compiled| (one.specificity(), std::cmp::Reverse(one.rule.id.clone()));
            key(by) > key(rule)
        }
        std::cmp::Ordering::Less => false,
    };
    // Several matchers can be compiled from one rule.
    let is_itself = (by.layer, &by.rule.id) == (rule.layer, &rule.rule.id);
    takes_as_much && is_preferred && !is_itself
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decision::policy::{CommandDefaults, CommandPolicy};
    use crate::rules::effect::Effect;
    use crate::rules::layer::RuleLayer;
    use crate::rules::rule::CommandRule;

    #[test]
    fn rules_of_the_same_words_are_compared() {
        let rule = |id: &str, effect| CommandRule::prefix(id, &["git", "push"], effect);
        let mut guarded = rule("guarded", Effect::Allow);
        guarded.guards.require = vec!["--dry-run".to_owned()];
        let layer = |layer, rules| RuleLayer { layer, rules, overrides: Vec::new() };
        let layers = vec![
            layer(Layer::Admin, vec![rule("admin", Effect::Ask)]),
            layer(Layer::User, vec![rule("mild", Effect::Allow), rule("strict", Effect::Deny), guarded]),
            layer(Layer::Project, vec![rule("project", Effect::Sandbox)]),
        ];
        let policy = CommandPolicy::compile(layers, CommandDefaults::default()).unwrap();
        let found: Vec<String> = policy
            .shadowed()
            .into_iter()
            .map(|one| format!("{} {} by {}", one.layer, one.id, one.by))
            .collect();
        assert_eq!(found, ["project project by strict", "user guarded by admin", "user mild by strict"]);
    }

    #[test]
    fn no_rule_is_compared_with_itself() {
        for effect in [Effect::Allow, Effect::Sandbox, Effect::Ask, Effect::Deny] {
            let rules = vec![CommandRule::prefix("alone", &["npm", "publish"], effect)];
            let layers = vec![RuleLayer { layer: Layer::User, rules, overrides: Vec::new() }];
            let policy = CommandPolicy::compile(layers, CommandDefaults::default()).unwrap();
            assert_eq!(policy.shadowed(), [], "{effect:?}");
        }
    }
}
