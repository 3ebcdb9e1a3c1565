//! Every bound of this crate and of `git`, and what happens beyond it. A new bound without a row fails.

#![expect(clippy::disallowed_methods, reason = "reads the sources")]

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

/// What happens beyond a bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Beyond {
    /// This test exceeds the bound, and finds a refusal, a gap or a stricter decision.
    Flooded(&'static str),
    /// The run, the call or the file is refused.
    Refuses,
    /// It is a gap of a property, which `--require` honours.
    Gap,
    /// The decision is stricter, or the same as that of the kernel or of git.
    Stricter,
    /// Only what is printed or listed is shorter; the decision is the same.
    Shown,
    /// It only takes more time.
    Cost,
    /// Older files are deleted, as documented and reported.
    Documented,
}
use Beyond::{Cost, Documented, Flooded, Gap, Refuses, Shown, Stricter};

#[rustfmt::skip]
const BOUNDS: &[(&str, &str, Beyond)] = &[
    // exec-sandbox
    ("exec-sandbox/src/backends/args.rs", "MAX_CANDIDATES", Refuses),
    ("exec-sandbox/src/backends/engine/ask.rs", "MAX_SAID", Shown),
    ("exec-sandbox/src/backends/engine/probe.rs", "MAX_PROCESSES", Stricter),
    ("exec-sandbox/src/backends/external/printable.rs", "MAX_LENGTH", Shown),
    ("exec-sandbox/src/backends/external/program.rs", "MAX_LISTED", Shown),
    ("exec-sandbox/src/backends/external/released.rs", "MAX_TEXTS", Shown),
    ("exec-sandbox/src/backends/external/wire.rs", "MAX_LINE", Refuses),
    ("exec-sandbox/src/choices.rs", "MAX_NAME", Refuses),
    ("exec-sandbox/src/env.rs", "MAX_PART", Shown),
    ("exec-sandbox/src/explain.rs", "MAX_DENIALS", Shown),
    // A forgotten secret is hidden again.
    ("exec-sandbox/src/exposed_secrets.rs", "MAX_BYTES", Stricter),
    ("exec-sandbox/src/exposed_secrets.rs", "MAX_FILES", Stricter),
    ("exec-sandbox/src/exposed_secrets.rs", "MAX_WORKSPACES", Stricter),
    ("exec-sandbox/src/journal.rs", "MAX_LENGTH", Flooded("a_flood_of_entries_is_no_journal")),
    // The next run sweeps the next ones.
    ("exec-sandbox/src/journal.rs", "MAX_COUNT", Flooded("no_flood_of_commands_hides_another")),
    // A list that is full counts as company.
    ("exec-sandbox/src/journal/ended.rs", "MAX_ENDED", Stricter),
    ("exec-sandbox/src/journal/ended.rs", "MAX_LENGTH", Stricter),
    ("exec-sandbox/src/limits.rs", "MAX_NAMES", Refuses),
    ("exec-sandbox/src/native/landlock_rules.rs", "MAX_BESIDE", Refuses),
    ("exec-sandbox/src/quarantine/bounds.rs", "MAX_GROUPS", Documented),
    ("exec-sandbox/src/quarantine/bounds.rs", "MAX_BYTES", Documented),
    ("exec-sandbox/src/quarantine/bounds.rs", "MAX_AGE", Documented),
    ("exec-sandbox/src/quarantine/entry.rs", "MAX_ORIGINS", Shown),
    ("exec-sandbox/src/quarantine/origin.rs", "MAX_COMMAND", Shown),
    ("exec-sandbox/src/quarantine/quarantine_move.rs", "MAX_SHOWN", Shown),
    ("exec-sandbox/src/quarantine/quarantine_move.rs", "MAX_COUNTED", Shown),
    ("exec-sandbox/src/quarantine/quarantine_move.rs", "MAX_DEPTH", Shown),
    ("exec-sandbox/src/review/at.rs", "MAX_PART", Shown),
    // An index without a digest counts as changed, which is a conflict.
    ("exec-sandbox/src/review/indexes.rs", "MAX_BYTES", Stricter),
    ("exec-sandbox/src/review/indexes.rs", "MAX_INDEXES", Stricter),
    ("exec-sandbox/src/review/record.rs", "MAX_LENGTH", Refuses),
    ("exec-sandbox/src/review/store.rs", "MAX_LAYERS", Documented),
    ("exec-sandbox/src/review/store.rs", "MAX_LAYER_BYTES", Documented),
    ("exec-sandbox/src/review/store.rs", "MAX_LAYER_AGE", Documented),
    // More processes than the highest default limit: the gap of this property is reported wherever it is polled.
    ("exec-sandbox/src/run/memory.rs", "MAX_COUNT", Gap),
    ("exec-sandbox/src/run/observe.rs", "MAX_THREADS", Cost),
    ("exec-sandbox/src/run/observe.rs", "MAX_WAITING", Refuses),
    ("exec-sandbox/src/run/observe/mediation.rs", "MAX_REFUSED", Shown),
    ("exec-sandbox/src/run/observe/mediation.rs", "MAX_OWN_NAMES", Stricter),
    ("exec-sandbox/src/run/observe/mediation.rs", "MAX_MASKS", Cost),
    ("exec-sandbox/src/run/observe/mediation/locks.rs", "MAX_HELD", Refuses),
    ("exec-sandbox/src/run/observe/mediation/pending.rs", "MAX_PENDING", Refuses),
    ("exec-sandbox/src/run/observe/mediation/rule.rs", "MAX_MADE", Stricter),
    ("exec-sandbox/src/run/observe/mediation/sockets.rs", "MAX_OWN", Stricter),
    ("exec-sandbox/src/run/observe/mediation/target.rs", "MAX_ASKED", Refuses),
    ("exec-sandbox/src/sweep.rs", "MAX_SECRETS", Gap),
    ("exec-sandbox/src/sweep.rs", "MAX_LINKS", Flooded("no_flood_of_links_hides_one_that_does_harm")),
    ("exec-sandbox/src/sweep/judge.rs", "MAX_POINTER", Stricter),
    // What is not listed is in the quarantine all the same.
    ("exec-sandbox/src/sweep/taking.rs", "MAX_LISTED", Shown),
    ("exec-sandbox/src/sweep/taking.rs", "MAX_SHOWN", Shown),
    // A file that is not compared stays hidden.
    ("exec-sandbox/src/tracked.rs", "MAX_INDEX_BYTES", Stricter),
    ("exec-sandbox/src/tracked.rs", "MAX_FILE_BYTES", Stricter),
    ("exec-sandbox/src/tracked.rs", "MAX_LINK_BYTES", Stricter),
    ("exec-sandbox/src/tracked.rs", "MAX_FILES", Stricter),
    ("exec-sandbox/src/tracked.rs", "MAX_INDEXES", Stricter),
    ("exec-sandbox/src/workspace.rs", "MAX_WATCHED", Gap),
    ("exec-sandbox/src/workspace.rs", "MAX_REMEMBERED", Flooded("a_flood_of_names_hides_nothing")),
    ("exec-sandbox/src/workspace.rs", "MAX_TEXT", Stricter),
    ("exec-sandbox/src/workspace.rs", "MAX_EXPOSED", Flooded("a_flood_of_files_with_secrets_hides_none_of_them")),
    ("exec-sandbox/src/workspace.rs", "MAX_MOUNTED", Flooded("no_flood_of_names_unmasks_another")),
    ("exec-sandbox/src/workspace.rs", "MAX_PATH", Stricter),
    ("exec-sandbox/src/workspace/links.rs", "MAX_STRAYS", Flooded("a_flood_of_strays_is_reported")),
    ("exec-sandbox/src/workspace/plans.rs", "MAX_PLAN", Flooded("no_length_hides_what_a_plan_runs")),
    // A longer index has the digest of its times, so each change of it is reported.
    ("exec-sandbox/src/workspace/stated_files.rs", "MAX_INDEX", Stricter),
    ("exec-sandbox/src/workspace/targets.rs", "MAX_INCLUDES", Stricter),
    ("exec-sandbox/src/workspace/targets.rs", "MAX_TARGETS", Flooded("a_flood_of_targets_is_reported")),
    ("exec-sandbox/src/workspace/targets.rs", "MAX_LINKS", Stricter),
    ("exec-sandbox/src/workspace/walk.rs", "MAX_OPEN", Flooded("folders_lie_as_deep_as_they_like")),
    // A repository that is not recognised is not shared.
    ("exec-sandbox/src/worktree.rs", "MAX_LINK_BYTES", Stricter),
    ("exec-sandbox/src/worktree.rs", "MAX_SETTINGS_BYTES", Stricter),
    // git
    ("git/src/allowed_settings.rs", "MAX_REPOSITORY_SETTINGS", Flooded("settings_that_are_too_long_are_reported")),
    ("git/src/find.rs", "MAX_SETTINGS_BYTES", Refuses),
    ("git/src/find.rs", "MAX_INDEX_BYTES", Refuses),
    ("git/src/find.rs", "MAX_FILES", Refuses),
    ("git/src/find.rs", "MAX_INCLUDES", Refuses),
    ("git/src/find.rs", "MAX_REPOSITORIES", Refuses),
    ("git/src/find.rs", "MAX_HOOKS", Refuses),
    // The command gets fewer settings.
    ("git/src/passed_settings.rs", "MAX_SETTINGS", Stricter),
    ("git/src/passed_settings.rs", "MAX_VALUE", Stricter),
    ("git/src/review_inputs.rs", "MAX_INDEX_BYTES", Flooded("a_flood_of_a_file_hides_no_change")),
    ("git/src/review_inputs.rs", "MAX_TEXT_BYTES", Flooded("a_flood_of_a_file_hides_no_change")),
    ("git/src/users_settings.rs", "MAX_FILES", Flooded("a_flood_of_settings_is_reported")),
    ("git/src/users_settings.rs", "MAX_DEPTH", Flooded("a_flood_of_settings_is_reported")),
    ("git/src/users_settings.rs", "MAX_LENGTH", Flooded("a_flood_of_settings_is_reported")),
];

/// Returns the sources below a directory, and their paths from `crates`.
fn sources(folder: &Path, crates: &Path, found: &mut Vec<(String, String)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, crates, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let name = path.strip_prefix(crates).unwrap().to_str().unwrap().to_owned();
            found.push((name, fs::read_to_string(&path).unwrap()));
        }
    }
}

/// Returns the names of the bounds that a source defines.
fn bounds(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| {
        let (before, rest) = line.split_once("const MAX_")?;
        let is_definition = matches!(before.trim(), "" | "pub" | "pub(crate)" | "pub(super)");
        let begin = before.len() + "const ".len();
        let end = begin + "MAX_".len() + rest.find(':')?;
        is_definition.then(|| line.get(begin..end)).flatten()
    })
}

#[test]
fn no_bound_is_without_a_row() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut all = Vec::new();
    ["exec-sandbox/src", "exec-sandbox/tests", "git/src"]
        .iter()
        .for_each(|folder| sources(&crates.join(folder), crates, &mut all));
    let is_source = |path: &str| path.contains("/src/");
    let defined = all
        .iter()
        .filter(|(path, _)| is_source(path))
        .flat_map(|(path, text)| bounds(text).map(move |name| (path.as_str(), name)));
    let defined: BTreeSet<(&str, &str)> = defined.collect();
    let listed: BTreeSet<(&str, &str)> = BOUNDS.iter().map(|row| (row.0, row.1)).collect();
    assert_eq!(defined, listed);
    assert_eq!(listed.len(), BOUNDS.len(), "a row occurs twice");
    for (path, name, beyond) in BOUNDS {
        let Flooded(test) = beyond else { continue };
        let test = format!("#[test]\n    fn {test}()");
        let is_there = |text: &str| text.contains(&test) || text.contains(&test.replace("    ", ""));
        assert!(all.iter().any(|(_, text)| is_there(text)), "{path}: {name}: {test}");
    }
}
