//! What is looked at on the disk before git is allowed.

use std::path::Path;

use stockade_command::{CommandContext, CommandPolicy, Effect};
use stockade_guard::admission::decide_on_disk;

fn effect(folder: &Path, text: &str) -> Effect {
    let policy = CommandPolicy::builtin();
    let place = CommandContext {
        cwd: Some(folder.to_owned()),
        workspace: Some(folder.to_owned()),
        ..CommandContext::default()
    };
    let (decision, _) = decide_on_disk(place, |place| policy.decide(text, &Default::default(), place));
    decision.effect
}

/// Nothing can run in a workspace that is not there, so nothing there can name a program. A folder below it may have been
/// made by the time git looks.
#[test]
fn a_workspace_that_is_not_there_names_no_program() {
    let base = tempfile::tempdir().unwrap();
    let missing = base.path().join("missing");
    assert_eq!(effect(&missing, "git status"), Effect::Allow);
    assert!(effect(&missing, "cd unpacked && git status") > Effect::Allow);
    assert!(effect(base.path(), "tar -xf x.tar; cd unpacked && git status") > Effect::Allow);
}
