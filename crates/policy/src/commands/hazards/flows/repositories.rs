//! git where it would look: in another folder it obeys the repository that it finds there.
//!
//! A folder that came with a clone may hold a bare repository of ordinary files, whose configuration names programs
//! (`core.fsmonitor`, `diff.external`, filters); `git status` in it runs them. git looks for a repository from its folder upwards,
//! and which one it finds cannot be told without the disk. So only the top of the workspace, the repository that a person has
//! opened, is trusted; `cd X && git Y`, `git -C X Y` and `env -C X git Y` are the same question.

use std::path::{Path, PathBuf};

use super::folders::{Shells, changes_folder, led_to};
use crate::commands::context::CommandContext;
use crate::commands::hazards::command::Command;
use crate::commands::hazards::target::{Base, Target};
use crate::commands::hazards::{Floor, Hazard};
use crate::paths::lexical;
use stockade_shell::{Actions, Arg};

/// Finds every git that runs in another folder than the top of the workspace.
pub(crate) fn git_elsewhere(actions: &Actions<'_>, context: &CommandContext, found: &mut Vec<Hazard>) {
    if !actions.runs.iter().any(|run| Command::of(run).is_some_and(|command| command.name == "git")) {
        return;
    }
    let mut shells = Shells::of(actions);
    // Nothing is a folder that nobody knows.
    let mut folder = Some(Target::spelled("."));
    for (index, run) in actions.runs.iter().enumerate() {
        shells.go_to(index, &mut folder);
        if changes_folder(run) {
            // Whoever left the top is not believed to come back: in `cd fix/b || cd /srv/app` only one of the two happens.
            let left =
                folder.take().filter(|folder| is_top(folder, context) && run.program() != Some("popd"));
            folder = left.and_then(|folder| led_to(run.argv.get(1..).unwrap_or_default(), Some(&folder)));
            continue;
        }
        let Some(command) = Command::of(run).filter(|command| command.name == "git") else { continue };
        let is_moved =
            run.call_chain.iter().any(|program| MOVERS.contains(&&**program)) && moves_others(actions);
        let there = folder.as_ref().filter(|_| !is_moved).and_then(|folder| told(&command, folder));
        let is_top = there.is_some_and(|there| is_top(&there, context));
        if !is_top && !asks_no_repository(&command) {
            found.push(Hazard {
                id: "git-elsewhere",
                floor: Floor::Sandbox,
                reason: "runs git where another repository may be found, whose settings name programs".to_owned(),
                fix: "run git at the top of the workspace: `git log -- folder` instead of `cd folder && git log`".to_owned(),
                span: run.span,
                variable: None,
            });
        }
    }
}

/// Programs that run others in a folder of their choice.
const MOVERS: &[&str] = &["env", "find", "nsenter", "unshare", "systemd-run", "chroot", "make", "parallel"];

/// Whether any of these programs chooses a folder.
fn moves_others(actions: &Actions<'_>) -> bool {
    let chooses = |word: &Arg<'_>| {
        word.known().is_none_or(|word| {
            word.starts_with("-C")
                || word.starts_with("--c")
                || word.contains("dir")
                || word.starts_with("--w")
        })
    };
    let movers = actions.runs.iter().filter_map(Command::of).filter(|command| MOVERS.contains(&command.name));
    movers.into_iter().any(|command| command.words().any(chooses))
}

/// Where git goes by its own options before the subcommand. Nothing where they name a repository.
fn told(command: &Command<'_, '_>, folder: &Target) -> Option<Target> {
    let mut folder = folder.clone();
    let mut words = command.words();
    while let Some(word) = words.next() {
        let text = word.known()?;
        match text {
            "-C" => folder = Target::of(words.next()?).below(&folder),
            "-c" | "--config-env" | "--exec-path" | "--namespace" => drop(words.next()),
            _ if text.starts_with("--git-d") || text.starts_with("--work") || text == "--bare" => {
                return None;
            }
            _ if text.starts_with("-C") => folder = Target::spelled(text.get(2..)?).below(&folder),
            _ if text.starts_with('-') => {}
            _ => break,
        }
    }
    Some(folder)
}

/// These look into no repository.
fn asks_no_repository(command: &Command<'_, '_>) -> bool {
    let first = command.words().next().and_then(Arg::known);
    matches!(first, Some("--version" | "version" | "--help" | "help"))
        || command.is_sub(&["config"]) && command.says(&["--global", "--system"])
}

/// Whether a folder is the top of the workspace.
fn is_top(folder: &Target, context: &CommandContext) -> bool {
    // Most commands run there and go nowhere.
    let is_here = folder.base == Base::Here && folder.names.is_empty();
    if is_here && (context.cwd.is_none() || context.workspace.is_none() || context.cwd == context.workspace) {
        return true;
    }
    let top = context.workspace.as_ref().or(context.cwd.as_ref());
    let below: PathBuf = folder.names.iter().collect();
    let (Some(top), true) = (top, folder.is_certain()) else {
        return false;
    };
    let found = match (folder.base, &context.cwd) {
        (Base::Root, _) => Path::new("/").join(below),
        (Base::Here, Some(cwd)) => cwd.join(below),
        (Base::Here, None) => top.join(below),
        _ => return false,
    };
    let plain = |path: &Path| lexical::resolve(Path::new("/"), path);
    plain(&found) == plain(top)
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_shell::{ReadOptions, Script};

    fn is_elsewhere(text: &str, cwd: &str) -> bool {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let context = CommandContext { cwd: Some(cwd.into()), workspace: Some("/srv/app".into()) };
        let mut found = Vec::new();
        git_elsewhere(&script.actions(), &context, &mut found);
        !found.is_empty()
    }

    #[test]
    fn git_is_trusted_at_the_top_only() {
        let top = [
            "git status",
            "cd /srv/app && git log",
            "cd . && git diff",
            "git -C /srv/app status",
            "(cd src; ls); git status",
            "cd src; git --version",
            "git log -C src",
            "git config --global user.name",
            "env A=1 git status",
            "cd /srv/app/../app && git status",
        ];
        let elsewhere = [
            "cd fix/b && git status",
            "cd fix && cd b && git ls-files",
            "(cd evil; git status)",
            "cd ../evil && git diff",
            "pushd fix/b; git status",
            "cd; git status",
            "cd \"$d\"; git status",
            "cd -; git status",
            "for d in *; do cd $d; git status; done",
            "cd fix/b; popd; git status",
            "git -C fix/b status",
            "git -Cfix/b status",
            "git -C .. status",
            "git --git-dir=fix/b status",
            "git --git-dir fix/b status",
            "git --work-tree=x status",
            "git $x status",
            "env -C fix/b git status",
            "env --chdir=fix/b git status",
            "bash -c 'cd fix/b; git status'",
            "eval 'cd fix/b'; git status",
            "cd src; git log",
            "cd fix/b; git status help",
            "cd fix/b; git log -- version",
            "cd fix/b || cd /srv/app; git status",
            "cd fix/b; false && cd /srv/app; git status",
            "if cd fix/b; then ls; else cd /srv/app; fi; git status",
            // How far up `..` leads is not counted.
            "cd src && cd .. && git status",
        ];
        for text in top {
            assert!(!is_elsewhere(text, "/srv/app"), "{text}");
        }
        for text in elsewhere {
            assert!(is_elsewhere(text, "/srv/app"), "{text}");
        }
        assert!(is_elsewhere("git status", "/srv/app/fix/b"));
        assert!(is_elsewhere("cd /srv/app && git status", "/srv/app/fix/b"));
        assert!(!is_elsewhere("cd /srv/app && git status", "/srv/app"));
    }

    #[test]
    fn going_there_and_naming_it_is_the_same_question() {
        for folder in [
            "/srv/app",
            ".",
            "src",
            "..",
            "fix/b",
            "/",
            "~",
            "$x",
            "/srv/app/",
            "./src/../",
            "/srv/application",
        ] {
            for ask in ["status", "log --oneline", "diff HEAD", "ls-files"] {
                let named = is_elsewhere(&format!("git -C {folder} {ask}"), "/srv/app");
                for text in [
                    format!("cd {folder} && git {ask}"),
                    format!("(cd {folder}; git {ask})"),
                    format!("pushd {folder}; git {ask}"),
                    format!("bash -c 'cd {folder} && git {ask}'"),
                ] {
                    assert_eq!(is_elsewhere(&text, "/srv/app"), named, "{text}");
                }
            }
        }
    }
}
