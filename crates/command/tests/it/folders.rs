//! Files in a folder to which several `cd` lead.

use proptest::prelude::{Strategy, prop};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use stockade_command::{CommandContext, CommandPolicy, Effect};

fn effect(policy: &CommandPolicy, text: &str) -> Effect {
    let context = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
    policy.decide(text, &Default::default(), &context).effect
}

/// However deep a text goes and comes back, the folder is the one that it is.
#[test]
fn no_way_is_too_long_to_come_back() {
    let policy = CommandPolicy::builtin();
    for (folder, file) in [("~/.ssh", "x"), ("/etc", "shadow"), ("/proc/self", "environ")] {
        for count in [0, 1, 11, 12, 13, 24, 31, 63, 64, 65, 95, 96, 97, 200] {
            let by_steps =
                format!("cd {folder}; {}{}cat {file}", "cd a; ".repeat(count), "cd ..; ".repeat(count));
            let at_once =
                format!("cd {folder}; cd .{}; cd .{}; cat {file}", "/a".repeat(count), "/..".repeat(count));
            assert_eq!(effect(&policy, &by_steps), Effect::Deny, "{by_steps}");
            assert_eq!(effect(&policy, &at_once), Effect::Deny, "{at_once}");
        }
    }
}

/// To go somewhere in steps and to name the file there is never milder than to name it by the whole path.
#[test]
fn going_there_is_as_strict_as_naming_it() {
    const PARTS: &[&str] = &["a", "..", "etc", ".ssh", "home", ".", "..", "proc/self", "b/../c", "../.."];
    const STARTS: &[&str] = &["", "/", "~/", "/var/tmp/", "/home/me/", "/root/"];
    const FILES: &[&str] = &["shadow", "id_rsa", "environ", ".env", "x", "../etc/shadow", "../../etc/shadow"];
    let policy = CommandPolicy::builtin();
    let folder = || {
        let parts = prop::collection::vec(prop::sample::select(PARTS), 1..5);
        (prop::sample::select(STARTS), parts).prop_map(|(start, parts)| format!("{start}{}", parts.join("/")))
    };
    let below = prop::collection::vec(prop::sample::select(PARTS), 1..5).prop_map(|parts| parts.join("/"));
    let config = Config { cases: 1500, failure_persistence: None, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let strategy = (folder(), below, prop::sample::select(FILES));
    let checked = runner.run(&strategy, |(folder, below, file)| {
        let named = effect(&policy, &format!("cat {folder}/{below}/{file}"));
        let gone = effect(&policy, &format!("cd {folder} && cd {below} && cat {file}"));
        assert!(gone >= named, "cd {folder} && cd {below} && cat {file}: {gone:?}, by its path {named:?}");
        Ok(())
    });
    checked.unwrap();
}
