//! Runs the example.

#[path = "../../examples/admit_skill.rs"]
mod admit_skill;

use std::path::Path;

#[test]
fn a_skill_comes_in_or_a_reason_comes_back() {
    let skills = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/skills");
    let good = admit_skill::say(&skills.join("weather-helper"), "").unwrap();
    assert!(good.starts_with("<skill_content name=\"weather-helper\">"), "{good}");
    let bad = admit_skill::say(&skills.join("prereq-installer"), "").unwrap();
    assert!(bad.starts_with("not let in: prereq-installer\n") && bad.contains("EXEC_PIPE_BASH"), "{bad}");
}
