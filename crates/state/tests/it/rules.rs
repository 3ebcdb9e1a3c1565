//! Rules that are saved in a file.
#![expect(clippy::disallowed_methods, reason = "writes files of rules")]

use std::fs;

use stockade_guard::command::shell::ReadOptions;
use stockade_guard::command::{CommandContext, CommandRule, Effect, Layer};
use stockade_state::command_rules::{read, sources_of};
use stockade_state::saved_rules::{SavedRuleChange, SavedRules};
use stockade_state::{StateError, StateErrorKind};

const DENY_MAKE: &str = "version = 1\n[[rule]]\nid = \"no-make\"\nprefix = [\"make\"]\ndecision = \"deny\"\n";

fn rules(text: &str) -> Vec<CommandRule> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    fs::write(&path, text).unwrap();
    read(&path, Layer::User).unwrap().rules().to_vec()
}

#[test]
fn a_rule_is_saved_decides_and_is_removed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.toml");
    let saved = SavedRules::of_file(&path).unwrap();
    let added = saved.apply(&SavedRuleChange::Add(rules(DENY_MAKE)), true).unwrap();
    assert_eq!(added.changed.len(), 1);

    let sources = sources_of(std::slice::from_ref(&path)).unwrap();
    let place = sources.places.find(Layer::User, "no-make").unwrap();
    assert!(place.starts_with(&path.display().to_string()), "{place}");
    let effect = |text| {
        let sources = sources_of(std::slice::from_ref(&path)).unwrap();
        let policy = sources.policy.all_rules();
        let place = CommandContext::new(None, None);
        policy.decide(text, &ReadOptions::default(), &place).effect
    };
    assert_eq!(effect("make test"), Effect::Deny);

    let again = saved.apply(&SavedRuleChange::Add(rules(DENY_MAKE)), true).unwrap();
    assert_eq!((again.changed.len(), again.there.len()), (0, 1));
    let removed = saved.apply(&SavedRuleChange::Remove(vec!["no-make".to_owned()]), true).unwrap();
    assert_eq!(removed.changed.len(), 1);
    assert_ne!(effect("make test"), Effect::Deny);
}

#[test]
fn a_dry_run_writes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("saved.toml");
    let saved = SavedRules::of_file(&path).unwrap();
    assert_eq!(saved.apply(&SavedRuleChange::Add(rules(DENY_MAKE)), false).unwrap().changed.len(), 1);
    assert!(!path.exists());
}

#[test]
fn errors_name_the_fix() {
    let error: StateError = SavedRules::of_file("rules.txt".as_ref()).unwrap_err();
    assert_eq!(error.kind(), StateErrorKind::Input);
    assert!(error.help().is_some_and(|help| help.contains(".toml")), "{error:?}");
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.toml");
    fs::write(&path, "version = 1\n[[rule]]\nid = 7\n").unwrap();
    let error = sources_of(&[path]).unwrap_err();
    assert!(error.to_string().contains("rules.toml:2:"), "{error}");
}
