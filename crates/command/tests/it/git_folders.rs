//! `cd X && git Y` and `git -C X Y` are one question, whatever lies in X.

use std::path::PathBuf;

use stockade_command::shell::ReadOptions;
use stockade_command::{
    CommandContext, CommandDefaults, CommandPolicy, CommandRule, Effect, FoundRepository, Layer,
    RepositoryFacts, RuleLayer,
};

/// Folders that are one word, whatever it is when it runs.
const FOLDERS: &[&str] = &[
    "/srv/app",
    ".",
    "src",
    "./src/",
    "src/a",
    "..",
    "../other",
    "fix/b",
    "/",
    "~",
    "~/x",
    "\"$x\"",
    "src/../fix",
];

const COMMANDS: &[&str] = &[
    "status",
    "status -s",
    "log --oneline -5",
    "log -p",
    "diff HEAD~1",
    "show HEAD:x",
    "ls-files",
    "rev-parse HEAD",
    "branch",
    "branch -a",
    "branch --list 'x*'",
    "branch x",
    "branch -D x",
    "tag -l",
    "remote -v",
    "stash list",
    "stash",
    "stash drop",
    "reflog",
    "config --get a.b",
    "config a.b c",
    "submodule status",
    "add .",
    "commit -m x",
    "checkout x",
    "push",
    "push --force",
    "fetch",
    "clone https://h/x",
    "log --output=x",
    "diff --ext-diff",
    "unheard-of",
    "help log",
    "--version",
    "reset --hard",
    "clean -fdx",
    "--no-pager log",
    "-c a.b=c log",
    "-c core.pager=x log",
    "credential fill",
    "",
];

fn found() -> Vec<Option<FoundRepository>> {
    let own = |settings: &[(&str, &str)], hooks: &[&str]| {
        let settings =
            settings.iter().map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned()))).collect();
        FoundRepository::Own(RepositoryFacts {
            settings,
            hooks: hooks.iter().map(|one| (*one).to_owned()).collect(),
        })
    };
    vec![
        None,
        Some(FoundRepository::Nothing),
        Some(FoundRepository::Foreign),
        Some(FoundRepository::Doubtful("a bare repository".to_owned())),
        Some(own(&[], &[])),
        Some(own(&[("core.fsmonitor", "./x")], &[])),
        Some(own(&[("diff.external", "./x")], &["pre-commit"])),
    ]
}

fn policies() -> Vec<CommandPolicy> {
    let rules = vec![
        CommandRule::prefix("a", &["git", "commit"], Effect::Allow),
        CommandRule::prefix("b", &["git", "push"], Effect::Deny),
        CommandRule::prefix("c", &["git", "log"], Effect::Ask),
    ];
    let layer = RuleLayer { layer: Layer::User, rules, overrides: Vec::new() };
    vec![CommandPolicy::builtin(), CommandPolicy::compile(vec![layer], CommandDefaults::default()).unwrap()]
}

#[test]
fn going_to_a_folder_and_naming_it_is_decided_alike() {
    for policy in policies() {
        for found in found() {
            for folder in FOLDERS {
                for command in COMMANDS {
                    let named = decide(&policy, &format!("git -C {folder} {command}"), found.as_ref());
                    let gone = decide(&policy, &format!("cd {folder} && git {command}"), found.as_ref());
                    assert_eq!(gone, named, "{folder}: git {command}: {found:?}");
                }
            }
        }
    }
}

/// What is decided about the git in a text, and by what; and about all of it, where the `cd` itself is no matter.
fn decide(policy: &CommandPolicy, text: &str, found: Option<&FoundRepository>) -> (Effect, Vec<String>) {
    let mut context = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
    let first = policy.decide(text, &ReadOptions::default(), &context);
    let folders: Vec<PathBuf> = first.git_folders().to_vec();
    context.repositories = folders.into_iter().filter_map(|folder| Some((folder, found?.clone()))).collect();
    let decision = policy.decide(text, &ReadOptions::default(), &context);
    let is_git =
        |part: &&stockade_command::Part<'_, '_>| part.run().is_none_or(|run| run.program() == Some("git"));
    let parts: Vec<_> = decision.parts.iter().filter(is_git).collect();
    let effect = parts.iter().map(|part| part.effect).max().unwrap_or(Effect::Allow);
    (effect, parts.iter().map(|part| part.cause.id().to_owned()).collect())
}

/// Nothing that is found makes a decision milder than it is at the top of the workspace where nothing was found.
#[test]
fn what_is_found_permits_no_more_than_the_top_of_the_workspace() {
    for policy in policies() {
        for command in COMMANDS {
            let top = decide(&policy, &format!("git {command}"), None).0;
            for found in found() {
                for folder in FOLDERS {
                    let there = decide(&policy, &format!("git -C {folder} {command}"), found.as_ref()).0;
                    assert!(there >= top, "{folder}: git {command}: {found:?}: {there} is milder than {top}");
                }
            }
        }
    }
}
