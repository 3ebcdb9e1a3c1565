//! Git in other directories, where it obeys the repository that it finds.
//!
//! A directory in a clone may contain a bare repository of ordinary files, whose configuration names programs (`core.fsmonitor`,
//! `diff.external`, filters); `git status` in it runs them. Git searches for a repository in its directory and parents, so the
//! result depends on the disk. A caller that can read the disk supplies it ([`FoundRepository`]): git is trusted in the
//! repository of the workspace, if that starts no program. Without this information, only the top of the workspace is trusted,
//! which is the repository that the user opened. `cd X && git Y`, `git -C X Y` and `env -C X git Y` are treated alike.

use std::path::{Path, PathBuf};
use stockade_text::resolve_path;

use super::folders::{Shells, cd_target, changes_folder};
use super::git_dir_options::{git_dir, goes_straight};
use crate::context::CommandContext;
use crate::hazards::command::Command;
use crate::hazards::target::{Base, MAX_NAMES, Target};
use crate::hazards::{Floor, Hazard, git};
use crate::repository::FoundRepository;
use crate::rules::builtin;
use stockade_shell::{Actions, Arg, Run, Span};

/// Finds every git that runs where a repository may start a program. `folders` receives its known directories without
/// information.
pub(crate) fn git_elsewhere(
    actions: &Actions<'_>,
    context: &CommandContext,
    found: &mut Vec<Hazard>,
    folders: &mut Vec<PathBuf>,
) {
    // Most commands have no git, and skip the analysis of directories.
    if !actions.runs.iter().any(|run| Command::of(run).is_some_and(|command| command.name == "git")) {
        return;
    }
    let mut looks = Looks { context, actions, folders };
    let mut shells = Shells::of(actions);
    // `None` is an unknown directory.
    let mut folder = Some(Target::spelled("."));
    for (index, run) in actions.runs.iter().enumerate() {
        shells.go_to(index, &mut folder);
        if changes_folder(run) {
            // A command that left the top is not assumed to return: in `cd fix/b || cd /srv/app` only one of the two runs.
            let left = folder.take().filter(|folder| {
                is_top(folder, context) && run.program() != Some("popd") && leads_plainly(run)
            });
            folder = left.and_then(|folder| cd_target(run.argv.get(1..).unwrap_or_default(), Some(&folder)));
            continue;
        }
        let Some(command) = Command::of(run).filter(|command| command.name == "git") else { continue };
        if asks_no_repository(&command) {
            continue;
        }
        let is_moved =
            run.call_chain.iter().any(|program| MOVERS.contains(&&**program)) && moves_others(actions);
        let there = folder.as_ref().filter(|_| !is_moved && !sets_folder(actions));
        let there = there.and_then(|folder| git_dir(&command, folder));
        found.extend(looks.at(there.as_ref(), &command, run.span));
    }
}

/// The known repositories, and the directories to look up.
struct Looks<'a> {
    context: &'a CommandContext,
    actions: &'a Actions<'a>,
    folders: &'a mut Vec<PathBuf>,
}

impl Looks<'_> {
    /// Returns the hazard of git in a directory.
    fn at(&mut self, folder: Option<&Target>, command: &Command<'_, '_>, span: Span) -> Option<Hazard> {
        let Some(folder) = folder else { return Some(elsewhere(span)) };
        if !is_top(folder, self.context) && absolute(folder, self.context).is_none() {
            return Some(elsewhere(span));
        }
        let here = Target::spelled(".");
        let began = if *folder == here { None } else { self.judge(&here, command, span) };
        self.judge(folder, command, span).or(began)
    }

    fn judge(&mut self, folder: &Target, command: &Command<'_, '_>, span: Span) -> Option<Hazard> {
        let is_top = is_top(folder, self.context);
        let path = absolute(folder, self.context);
        let Some(found) = path.as_ref().and_then(|path| self.context.repositories.get(path)) else {
            self.folders.extend(path);
            return (!is_top).then(|| elsewhere(span));
        };
        match found {
            FoundRepository::Doubtful(what) => Some(started(span, what)),
            FoundRepository::Foreign => Some(elsewhere(span)),
            FoundRepository::Nothing | FoundRepository::Own(_) if !is_top && !leaves_alone(self.actions) => {
                Some(elsewhere(span))
            }
            FoundRepository::Nothing => {
                let workspace = self.context.workspace.as_deref().map(plain);
                let is_within =
                    path.zip(workspace).is_some_and(|(path, workspace)| path.starts_with(workspace));
                (!is_top && !is_within).then(|| elsewhere(span))
            }
            FoundRepository::Own(facts) => {
                let by = git::started_by(facts, command)?;
                Some(started(span, &format!("the repository sets a program with `{by}`")))
            }
        }
    }
}

fn elsewhere(span: Span) -> Hazard {
    Hazard {
        id: "git-elsewhere",
        floor: Floor::Sandbox,
        reason: "runs git in a directory where it may find another repository, whose settings can run programs".to_owned(),
        fix: "run git in the root of the workspace: `git log -- directory` instead of `cd directory && git log`"
            .to_owned(),
        span,
        variable: None,
    }
}

fn started(span: Span, what: &str) -> Hazard {
    Hazard {
        id: "git-repository",
        floor: Floor::Sandbox,
        reason: format!("git may start programs that the repository sets: {what}"),
        fix: "review the configuration and the hooks of the repository; move the user's own settings to `~/.gitconfig`"
            .to_owned(),
        span,
        variable: None,
    }
}

/// Programs that change no repository, and may accompany git in another directory.
const LEAVE_ALONE: &[&str] = &[
    ":", "[", "basename", "cat", "cd", "cut", "dirname", "echo", "grep", "head", "ls", "popd", "printf",
    "pushd", "pwd", "tail", "test", "tr", "true", "wc",
];

/// Whether nothing in a text creates or changes a repository, so that git finds what the caller found.
fn leaves_alone(actions: &Actions<'_>) -> bool {
    let reads = |run: &Run<'_>| {
        let Some(command) = Command::of(run) else { return false };
        // The text of a nested shell is checked separately.
        builtin::steps_aside("shells", run)
            || LEAVE_ALONE.contains(&command.name)
            || command.name == "git" && git::uses(&command).only_reads()
    };
    let writes = actions.redirects.iter().any(|redirect| {
        redirect.writes()
            && !matches!(redirect.target.known(), Some("/dev/null" | "/dev/stdout" | "/dev/stderr"))
    });
    // A program that could write might create `.git/config` before git runs.
    !writes && actions.runs.iter().all(reads)
}

/// Whether a variable is set that changes the target of `cd`.
pub(super) fn sets_folder(actions: &Actions<'_>) -> bool {
    // `cd X` searches `CDPATH` first, and `cd` and `cd -` use the others.
    let names = ["CDPATH", "cdpath", "HOME", "OLDPWD", "PWD"];
    actions.assignments.iter().any(|assignment| names.contains(&&*assignment.name))
}

/// Whether a `cd` has one operand without `..` after a name, whose target would depend on symlinks.
fn leads_plainly(run: &Run<'_>) -> bool {
    let mut folders =
        run.argv.iter().skip(1).filter(|word| !word.known().is_some_and(|word| word.starts_with('-')));
    // In zsh, two operands are a replacement in the current path, and a number is an index of its directory stack.
    folders.next().is_none_or(|folder| goes_straight(folder) && !starts_with_plus(folder))
        && folders.next().is_none()
}

fn starts_with_plus(word: &Arg<'_>) -> bool {
    word.known().is_some_and(|word| word.starts_with('+'))
}

/// Programs with options to run others in another directory.
pub(super) const MOVERS: &[&str] =
    &["env", "find", "nsenter", "unshare", "systemd-run", "chroot", "make", "parallel"];

/// Whether any of these programs has such an option.
pub(super) fn moves_others(actions: &Actions<'_>) -> bool {
    let chooses = |word: &Arg<'_>| {
        word.known().is_none_or(|word| {
            // `env -C`, `make -C`, `--chdir`, `--directory`, `--workdir` and `find -execdir`.
            word.starts_with("-C")
                || word.starts_with("--c")
                || word.contains("dir")
                || word.starts_with("--w")
        })
    };
    let movers = actions.runs.iter().filter_map(Command::of).filter(|command| MOVERS.contains(&command.name));
    movers.into_iter().any(|command| command.words().any(chooses))
}

/// These do not read a repository.
fn asks_no_repository(command: &Command<'_, '_>) -> bool {
    let mut words = command.words().map(Arg::known).peekable();
    while words.next_if_eq(&Some("-C")).is_some() {
        words.next();
    }
    match (words.next(), words.next()) {
        // Git passes everything after `-v` to `git version`.
        (Some(Some("--version" | "-v" | "version")), _) => true,
        // With a topic it opens a manual or browser, which the repository can configure.
        (Some(Some("--help" | "help")), None) => true,
        // These only read files of the user and of the machine.
        _ => command.says(&["--global", "--system"]) && command.is_sub(&["config"]),
    }
}

/// Whether a directory is the top of the workspace.
fn is_top(folder: &Target, context: &CommandContext) -> bool {
    // Fast path: most commands run there without a `cd`.
    let is_here = folder.base == Base::Here && folder.names.is_empty();
    if is_here && (context.cwd.is_none() || context.workspace.is_none() || context.cwd == context.workspace) {
        return true;
    }
    let top = context.workspace.as_ref().or(context.cwd.as_ref());
    top.is_some_and(|top| absolute(folder, context).is_some_and(|found| found == plain(top)))
}

/// Returns the path of a directory, if it is known.
fn absolute(folder: &Target, context: &CommandContext) -> Option<PathBuf> {
    // A glob or an escape could resolve to another directory than its text.
    let is_spelled = folder.is_certain()
        && folder.names.len() < MAX_NAMES
        && !folder.names.iter().any(|name| name.as_bytes().contains(&b'\\'));
    let base = match folder.base {
        Base::Root => Path::new("/"),
        Base::Here => context.cwd.as_deref().or(context.workspace.as_deref())?,
        // The caller cannot look up a repository in a directory whose path is unknown here.
        Base::Home | Base::Above(_) | Base::Unknown => return None,
    };
    if !is_spelled || !base.is_absolute() {
        return None;
    }
    if folder.names.is_empty() && is_plain(base) {
        return Some(base.to_owned());
    }
    let below: PathBuf = folder.names.iter().collect();
    Some(plain(&base.join(below)))
}

/// Whether a path is already normalized.
fn is_plain(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    bytes.len() > 1
        && bytes.split(|byte| *byte == b'/').skip(1).all(|name| !matches!(name, b"" | b"." | b".."))
}

fn plain(path: &Path) -> PathBuf {
    resolve_path(Path::new("/"), path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repository::RepositoryFacts;
    use stockade_shell::{ReadOptions, Script};

    fn is_elsewhere(text: &str, cwd: &str) -> bool {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let context = CommandContext::new(Some(cwd.into()), Some("/srv/app".into()));
        let mut found = Vec::new();
        git_elsewhere(&script.actions(), &context, &mut found, &mut Vec::new());
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
            "cd src; git -v",
            "git log -C src",
            "git config --global user.name",
            "env A=1 git status",
            "git --help",
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
            "cd /srv/app/../app && git status",
            "git -C link/.. status",
            "git --attr-source HEAD -C fix/b status",
            "CDPATH=/tmp; cd /srv/app; git status",
            "cd fix/b; git help log",
            "cd fix/b; git log --help",
            // The number of `..` is not considered.
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

    /// Returns the ids of the hazards that are found with these directories.
    fn ids(text: &str, cwd: &str, said: &[(&str, FoundRepository)]) -> Vec<&'static str> {
        let script = Script::read(text, &ReadOptions::default()).unwrap();
        let mut context = CommandContext::new(Some(cwd.into()), Some("/srv/app".into()));
        context.repositories =
            said.iter().map(|(folder, found)| (PathBuf::from(folder), found.clone())).collect();
        let mut found = Vec::new();
        git_elsewhere(&script.actions(), &context, &mut found, &mut Vec::new());
        found.into_iter().map(|hazard| hazard.id).collect()
    }

    fn own(settings: &[(&str, &str)], hooks: &[&str]) -> FoundRepository {
        let settings =
            settings.iter().map(|(key, value)| ((*key).to_owned(), Some((*value).to_owned()))).collect();
        let hooks = hooks.iter().map(|hook| (*hook).to_owned()).collect();
        FoundRepository::Own(RepositoryFacts { settings, hooks })
    }

    #[test]
    fn what_was_found_decides() {
        let doubtful = || FoundRepository::Doubtful("a bare repository".to_owned());
        let armed = || own(&[("core.fsmonitor", "./x")], &[]);
        let plain = || own(&[("core.bare", "false")], &["pre-commit", "README"]);
        for (text, top, below, wanted) in [
            ("git status", plain(), plain(), &[][..]),
            ("git status", FoundRepository::Nothing, plain(), &[]),
            ("git status", armed(), plain(), &["git-repository"]),
            ("git status", doubtful(), plain(), &["git-repository"]),
            ("git status", FoundRepository::Foreign, plain(), &["git-elsewhere"]),
            ("git --version", doubtful(), doubtful(), &[]),
            // In a directory of the workspace without a repository, git finds the one of the workspace.
            ("cd src && git log", plain(), plain(), &[]),
            ("git -C src log", plain(), plain(), &[]),
            ("cd src && ls | head && git log", plain(), plain(), &[]),
            ("cd src && git log", plain(), doubtful(), &["git-repository"]),
            ("cd src && git log", plain(), FoundRepository::Foreign, &["git-elsewhere"]),
            ("git -C src log", plain(), armed(), &["git-repository"]),
            // If the `cd` fails, git runs in the root of the workspace.
            ("cd src; git log", armed(), plain(), &["git-repository"]),
            // The text may create the repository before git runs.
            ("unzip x.zip; cd src && git log", plain(), plain(), &["git-elsewhere"]),
            ("cd src && git log; tar xf a.tar", plain(), plain(), &["git-elsewhere"]),
            ("echo x > src/HEAD; git -C src log", plain(), plain(), &["git-elsewhere"]),
            ("git checkout x; git -C src log", own(&[], &[]), plain(), &["git-elsewhere"]),
            ("cd src && git log 2>/dev/null", plain(), plain(), &[]),
            // Hooks of subcommands that change something, and the hook that every subcommand may run.
            ("git commit -m x", plain(), plain(), &["git-repository"]),
            ("git status", own(&[], &["post-index-change"]), plain(), &["git-repository"]),
            ("git commit -m x", own(&[], &["README", "pre-commit.old"]), plain(), &[]),
        ] {
            let said = [("/srv/app", top), ("/srv/app/src", below)];
            assert_eq!(ids(text, "/srv/app", &said), wanted, "{text} {said:?}");
        }
        assert_eq!(ids("git status", "/srv/app/src", &[("/srv/app/src", plain())]), [""; 0]);
        assert_eq!(ids("git status", "/srv/app/src", &[("/srv/app/src", FoundRepository::Nothing)]), [""; 0]);
        assert_eq!(ids("git status", "/srv", &[("/srv", FoundRepository::Nothing)]), ["git-elsewhere"]);
    }

    #[test]
    fn folders_are_asked_about_where_they_are_certain() {
        let asked = |text: &str| {
            let script = Script::read(text, &ReadOptions::default()).unwrap();
            let context = CommandContext::new(Some("/srv/app".into()), Some("/srv/app".into()));
            let (mut found, mut folders) = (Vec::new(), Vec::new());
            git_elsewhere(&script.actions(), &context, &mut found, &mut folders);
            folders.sort();
            folders.dedup();
            folders.into_iter().map(|folder| folder.display().to_string()).collect::<Vec<_>>()
        };
        assert_eq!(asked("ls; cd src"), [""; 0]);
        assert_eq!(asked("git log && git status"), ["/srv/app"]);
        assert_eq!(asked("cd src/a && git log"), ["/srv/app", "/srv/app/src/a"]);
        assert_eq!(asked("git -C /tmp/x log"), ["/srv/app", "/tmp/x"]);
        for text in [
            "cd $x && git log",
            "cd link/.. && git log",
            "git -C ~/x log",
            "cd 'a\\b' && git log",
            "cd a b; git log",
        ] {
            assert_eq!(asked(text), [""; 0], "{text}");
        }
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
                for found in [
                    None,
                    Some(FoundRepository::Nothing),
                    Some(FoundRepository::Foreign),
                    Some(FoundRepository::Doubtful(String::new())),
                    Some(own(&[], &[])),
                    Some(own(&[("diff.external", "./x")], &["post-index-change"])),
                ] {
                    let said: Vec<_> = found
                        .iter()
                        .flat_map(|found| {
                            ["/srv/app", "/srv/app/src", "/srv/app/fix/b", "/"]
                                .map(|one| (one, found.clone()))
                        })
                        .collect();
                    let named = ids(&format!("git -C {folder} {ask}"), "/srv/app", &said);
                    for text in [
                        format!("cd {folder} && git {ask}"),
                        format!("(cd {folder}; git {ask})"),
                        format!("pushd {folder}; git {ask}"),
                        format!("bash -c 'cd {folder} && git {ask}'"),
                    ] {
                        assert_eq!(ids(&text, "/srv/app", &said), named, "{text} {found:?}");
                    }
                }
            }
        }
    }
}
