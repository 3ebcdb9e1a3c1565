#![expect(clippy::disallowed_methods, reason = "runs attacks without a sandbox, to see that they succeed")]

use std::fs;

use super::*;

fn outcome(end: End, printed: &str) -> Outcome {
    let mut outcome = Outcome::of_nothing(end, Enforcement::default());
    outcome.output.stdout = printed.as_bytes().to_vec();
    outcome
}

fn stopped(stops: Stops, end: End, printed: &str, ground: &Ground) -> bool {
    is_stopped(stops, &outcome(end, printed), printed, ground)
}

#[test]
fn an_unfinished_trial_does_not_count_as_blocked() {
    let ground = Ground::new().unwrap();
    let rows = [
        (Stops::Works, End::Exited(0), "x\nTRIED\n", true),
        (Stops::Works, End::Exited(0), "TRIED\n", false),
        (Stops::InVain, End::Exited(0), "TRIED\n", true),
        (Stops::InVain, End::Exited(0), "REACHED\nTRIED\n", false),
        (Stops::InVain, End::Exited(0), "KEY=hunter2-of-the-selftest\nTRIED\n", false),
        (Stops::InVain, End::Exited(0), "", false),
        (Stops::InVain, End::NotFound, "", false),
        (Stops::NoSpawn, End::Exited(2), "", true),
        (Stops::NoSpawn, End::Exited(0), "REACHED\n", false),
        (Stops::NoSpawn, End::NotFound, "", false),
        (Stops::Processes, End::Exited(2), "", true),
        (Stops::Processes, End::Exited(0), "REACHED\nTRIED\n", false),
        (Stops::Time, End::TimedOut, "", true),
        (Stops::Time, End::Exited(0), "TRIED\n", false),
        (Stops::Memory, End::OutOfMemory, "", true),
        (Stops::Memory, End::TimedOut, "", false),
        (Stops::Memory, End::Exited(0), "TRIED\n", false),
        (Stops::Unchanged(&[".git/config", "missing"]), End::Exited(0), "TRIED\n", true),
        (Stops::Unchanged(&[".git/config"]), End::Exited(0), "", false),
        (Stops::Reported(&["env/bin/python"]), End::Exited(0), "TRIED\n", true),
    ];
    for (stops, end, printed, expected) in rows {
        assert_eq!(stopped(stops, end, printed, &ground), expected, "{stops:?} {end:?} {printed:?}");
    }
    fs::write(ground.workspace.join(".git/config"), "x").unwrap();
    fs::write(ground.workspace.join("missing"), "x").unwrap();
    for path in [".git/config", "missing"] {
        assert!(!ground.is_unchanged(path), "{path}");
    }
    fs::write(ground.workspace.join("../bait"), "x\n").unwrap();
    assert!(!stopped(Stops::InVain, End::Exited(0), "TRIED\n", &ground), "the bait was changed");
}

#[test]
fn an_attack_that_succeeds_is_a_gap_only_where_the_backend_reports_one() {
    let ground = Ground::new().unwrap();
    let attack = ATTACKS.iter().find(|attack| attack.stops == Stops::InVain).unwrap();
    let mut reached = outcome(End::Exited(0), "REACHED\nTRIED\n");
    assert_eq!(ended(attack, &reached, &ground).0, AttackEnd::Succeeded);
    reached.enforcement.gap(attack.property, "only in part");
    assert_eq!(ended(attack, &reached, &ground), (AttackEnd::Gap, "only in part".to_owned()));
    assert_eq!(ended(attack, &outcome(End::Exited(0), "MISSING perl\n"), &ground).0, AttackEnd::NotTried);
}

/// An attack that also fails without a sandbox would prove nothing.
#[test]
fn attacks_on_the_workspace_succeed_without_a_sandbox() {
    let mut tried = 0;
    for attack in ATTACKS {
        let is_meant = match attack.stops {
            Stops::Unchanged(_)
            | Stops::NoLink(_)
            | Stops::Reported(_)
            | Stops::Reviewed(..)
            | Stops::FileSize(_) => true,
            _ => attack.name.starts_with("secrets: ") || attack.name.starts_with("sockets: of another"),
        };
        if !is_meant {
            continue;
        }
        let ground = Ground::new().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", &format!("{}\necho TRIED", attack.script)]).current_dir(&ground.workspace);
        command.envs(ground.variables().unwrap()).env("SSH_AUTH_SOCK", "x");
        let output = command.output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout);
        if printed.contains("MISSING ") {
            println!("skipped: {}: {printed}", attack.name);
            continue;
        }
        assert!(!stopped(attack.stops, End::Exited(0), &printed, &ground), "{}: {printed}", attack.name);
        tried += 1;
    }
    assert!(tried >= 40, "{tried}");
    let mut names: Vec<&str> = ATTACKS.iter().map(|attack| attack.name).collect();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), ATTACKS.len());
}
