//! Names that other programs obey: existing ones stay unchanged, new ones are refused, or quarantined without mediation.

#![expect(clippy::disallowed_methods, reason = "makes repositories and looks at them")]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

use stockade_exec_sandbox::{Denial, Outcome, Property, SandboxBackend};
use stockade_names::Scope;

use crate::live::{Live, NamesAre, each, read};

/// Both ways of protecting names.
const WAYS: [NamesAre; 2] = [NamesAre::Decided, NamesAre::SweptUp];

/// The paths of what was taken away, and of what was refused.
fn taken_and_refused(outcome: &Outcome) -> [Vec<&Path>; 2] {
    let mut taken: Vec<&Path> = outcome.quarantine.iter().map(|one| one.path.as_path()).collect();
    taken.sort();
    let refused = outcome.denials.iter().filter_map(|denial| match denial {
        Denial::Name(path, _) => Some(path.as_path()),
        _ => None,
    });
    [taken, refused.collect()]
}

fn repository(live: &Live) {
    let git = |arguments: &[&str]| {
        let status = Command::new("git").args(arguments).current_dir(live.workspace()).status().unwrap();
        assert!(status.success());
    };
    fs::write(live.workspace().join("README"), "text\n").unwrap();
    git(&["init", "-q", "."]);
    git(&["add", "-A"]);
    git(&["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first"]);
}

#[test]
fn a_commit_works_and_hooks_do_not() {
    let Some(live) = Live::new() else { return };
    repository(&live);
    let config = read(&live.workspace().join(".git/config"));
    let said = live.script(
        "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; \
         echo more >> README; git commit -qam second && git checkout -q -b other && git log --oneline | wc -l; \
         echo evil > .git/hooks/post-commit; echo evil >> .git/config; ln .git/config c && echo evil >> c; \
         mv .git g; echo /x > .git/commondir; mkdir -p .git/info && echo '* filter=x' > .git/info/attributes",
    );
    assert!(said.contains("2\n"), "{said}");
    let git = live.workspace().join(".git");
    assert_eq!(read(&git.join("config")), config);
    for left in ["hooks/post-commit", "commondir", "info/attributes"] {
        assert!(!git.join(left).exists(), "{left}");
    }
    let log = Command::new("git").args(["log", "--oneline"]).current_dir(live.workspace()).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&log.stdout).lines().count(), 2);
}

#[test]
fn missing_names_do_not_appear_and_existing_ones_stay() {
    WAYS.iter().for_each(|way| missing_and_existing(*way));
}

fn missing_and_existing(way: NamesAre) {
    let Some(live) = Live::with_names(way) else { return };
    fs::create_dir(live.workspace().join(".vscode")).unwrap();
    fs::write(live.workspace().join(".vscode/settings.json"), "{}").unwrap();
    fs::write(live.workspace().join(".envrc"), "old").unwrap();
    let outcome = live
        .run(&["sh", "-c", "echo x > .vscode/tasks.json; echo x > .vscode/settings.json; mv .vscode v; echo x > .envrc; \
                mkdir -p .claude .idea/a && echo x > .claude/settings.json; echo x > .mcp.json; ln -s /x .zshrc; echo fine > ok"],
             |_| ())
        .unwrap();
    let mut left: Vec<String> = fs::read_dir(live.workspace())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    left.sort();
    assert_eq!(left, [".envrc", ".vscode", "ok"]);
    assert_eq!(
        (read(&live.workspace().join(".envrc")), read(&live.workspace().join(".vscode/settings.json"))),
        ("old".into(), "{}".into())
    );
    let names = [".claude", ".idea", ".mcp.json", ".zshrc"].map(Path::new);
    let [taken, refused] = taken_and_refused(&outcome);
    match way {
        NamesAre::Decided => {
            assert!(taken.is_empty(), "{taken:?}");
            let refused: Vec<_> =
                refused.iter().map(|path| path.strip_prefix(live.workspace()).unwrap()).collect();
            let moved = Path::new(".vscode");
            assert_eq!(refused, [names[0], names[1], names[2], moved, names[3]]);
        }
        NamesAre::SweptUp => assert_eq!((taken, refused.len()), (names.to_vec(), 0)),
    }
    assert!(
        outcome
            .quarantine
            .iter()
            .all(|one| one.moved_to.as_ref().is_some_and(|path| path.symlink_metadata().is_ok()))
    );
}

#[test]
fn a_new_repository_may_be_made_but_not_armed() {
    for way in WAYS {
        let Some(live) = Live::with_names(way) else { return };
        let said = live.script(
            "mkdir a b c && (cd a && git init -q . && git config user.name me) && (cd b && git init -q .; git config core.fsmonitor /x); \
             (cd c && git init -q .; echo evil > .git/hooks/pre-commit); echo done",
        );
        assert!(said.ends_with("done\n"), "{said}");
        assert!(read(&live.workspace().join("a/.git/config")).contains("name = me"));
        assert!(!read(&live.workspace().join("b/.git/config")).contains("fsmonitor"));
        assert!(!live.workspace().join("c/.git/hooks/pre-commit").exists());
    }
}

#[test]
fn a_worktree_may_be_made_but_not_led_astray() {
    let Some(live) = Live::new() else { return };
    repository(&live);
    let said = live.script(
        "git worktree add -q tree && git worktree add -q -b x astray && echo ../../../evil > .git/worktrees/astray/commondir \
         && mkdir evil other && echo \"gitdir: $PWD/evil\" > other/.git && echo done",
    );
    assert!(said.ends_with("done\n"), "{said}");
    assert!(live.workspace().join("tree/.git").exists());
    assert!(live.workspace().join(".git/worktrees/tree/commondir").exists());
    for evil in [".git/worktrees/astray/commondir", "astray/.git", "other/.git"] {
        assert!(!live.workspace().join(evil).exists(), "{evil}");
    }
}

#[test]
fn a_virtual_environment_may_be_made_but_not_armed() {
    let Some(live) = Live::new() else { return };
    live.script("mkdir -p .venv/bin && ln -s /usr/bin/python3 .venv/bin/python3 && ln -s python3 .venv/bin/python && echo 'home = /usr/bin' > .venv/pyvenv.cfg");
    assert!(live.workspace().join(".venv/bin/python").exists());
    live.script("mkdir -p venv/bin && echo evil > venv/bin/python && echo 'home = /evil' > venv/pyvenv.cfg; rm .venv/bin/python; echo evil > .venv/bin/python");
    for evil in ["venv/bin/python", "venv/pyvenv.cfg", ".venv/bin/python"] {
        assert!(!live.workspace().join(evil).exists(), "{evil}");
    }
}

#[test]
fn secrets_in_the_workspace_are_hidden() {
    let Some(live) = Live::new() else { return };
    fs::create_dir(live.workspace().join("app")).unwrap();
    for name in [".env", "app/.env.local"] {
        fs::write(live.workspace().join(name), "PRIVATE").unwrap();
    }
    let said = live.script("cat .env app/.env.local; echo x >> .env; rm .env; mv .env e; echo end");
    assert!(!said.contains("PRIVATE") && said.ends_with("end\n"), "{said}");
    assert_eq!(read(&live.workspace().join(".env")), "PRIVATE");
}

#[test]
fn work_on_a_tracked_secret_goes_on_until_another_program_changes_it() {
    let Some(live) = Live::new() else { return };
    fs::write(live.workspace().join(".env.staging"), "A=1\n").unwrap();
    repository(&live);
    let author = "export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b";
    live.script("echo B=2 >> .env.staging");
    let said = live
        .script(&format!("cat .env.staging; {author}; git commit -qam second && echo C=3 >> .env.staging"));
    assert_eq!(said, "A=1\nB=2\n");
    let file = live.workspace().join(".env.staging");
    fs::write(&file, read(&file).replace("C=3", "T=9")).unwrap();
    let said = live.script("cat .env.staging; echo end");
    assert!(!said.contains("T=9") && said.ends_with("end\n"), "{said}");
}

#[test]
fn repositories_by_another_name_are_not_armed() {
    let Some(live) = Live::new() else { return };
    repository(&live);
    let module = live.workspace().join(".git/modules/deep/sub");
    let status = Command::new("git").args(["init", "-q", "--bare"]).arg(&module).status().unwrap();
    assert!(status.success());
    let config = read(&module.join("config"));
    live.script(
        "m=.git/modules/deep/sub; echo evil > $m/hooks/post-checkout; echo evil >> $m/config; rm -rf $m/hooks; \
         mkdir -p docs/objects docs/refs plain; echo 'ref: refs/heads/x' > docs/HEAD; \
         printf '[core]\\n\\tfsmonitor = /x\\n' > docs/config; echo HEAD > plain/HEAD; echo mine > plain/config; \
         git init -q --bare good",
    );
    assert_eq!(read(&module.join("config")), config);
    assert!(!module.join("hooks/post-checkout").exists());
    // What was written was refused, and the file that lay there meanwhile is empty.
    let armed = live.workspace().join("docs/config");
    assert_eq!(fs::read(&armed).unwrap_or_default(), b"");
    assert!(
        !armed.exists() || armed.metadata().unwrap().permissions().mode() & 0o022 == 0,
        "others may write it"
    );
    assert!(live.workspace().join("plain/config").exists(), "that is no repository");
    assert!(live.workspace().join("good/config").exists(), "that one runs nothing");
}

#[test]
fn a_repository_behind_a_link_is_protected_as_well() {
    let Some(live) = Live::new() else { return };
    repository(&live);
    fs::rename(live.workspace().join(".git"), live.workspace().join("real")).unwrap();
    std::os::unix::fs::symlink("real", live.workspace().join(".git")).unwrap();
    let config = read(&live.workspace().join("real/config"));
    live.script("echo evil >> .git/config; echo evil > real/hooks/pre-commit; rm .git; cp -r real fake; ln -s fake .git");
    assert_eq!(read(&live.workspace().join("real/config")), config);
    assert!(!live.workspace().join("real/hooks/pre-commit").exists());
    assert!(live.workspace().join(".git").symlink_metadata().is_err(), "it led to something else");
}

#[test]
fn names_below_the_top_are_protected_as_well() {
    let Some(live) = Live::new() else { return };
    let app = live.workspace().join("packages/app");
    fs::create_dir_all(app.join(".claude")).unwrap();
    fs::write(app.join(".claude/settings.json"), "{}").unwrap();
    let outcome = live
        .run(
            &["sh", "-c", "cd packages/app; echo x > .claude/settings.json; mkdir -p .vscode .github/hooks .kiro/hooks .venv/bin; \
                           for f in .vscode/tasks.json .github/hooks/x.json .kiro/hooks/x .mcp.json opencode.json .nvim.lua .envrc \
                           .venv/bin/python; do echo x > $f; done; echo x > .Claude; echo fine > ok"],
            |_| (),
        )
        .unwrap();
    assert_eq!(read(&app.join(".claude/settings.json")), "{}");
    for gone in [
        ".vscode",
        ".github/hooks",
        ".kiro",
        ".mcp.json",
        "opencode.json",
        ".nvim.lua",
        ".envrc",
        ".venv/bin/python",
        ".Claude",
    ] {
        assert!(!app.join(gone).exists(), "{gone}: {:?}", outcome.quarantine);
    }
    assert!(app.join("ok").exists());
}

#[test]
fn what_projects_change_daily_is_reported_and_stays() {
    let Some(live) = Live::new() else { return };
    for name in ["CLAUDE.md", "GEMINI.md", ".npmrc"] {
        fs::write(live.workspace().join(name), "old").unwrap();
    }
    let outcome = live
        .run(
            &["sh", "-c", "echo new > CLAUDE.md; rm GEMINI.md; mkdir -p sub .cargo .github/workflows; echo x > sub/AGENTS.md; \
                           echo x > .cargo/config.toml; echo x > .github/workflows/ci.yml; echo x > README.md; cat .npmrc"],
            |_| (),
        )
        .unwrap();
    let changed: Vec<_> =
        outcome.changed.iter().map(|one| (one.path.to_str().unwrap(), one.label.as_str())).collect();
    assert_eq!(
        changed,
        [
            (".cargo/config.toml", "starts programs: Cargo, rustup"),
            (".github/workflows/ci.yml", "starts programs: GitHub Actions, GitLab CI and others"),
            ("CLAUDE.md", "agent instructions"),
            ("GEMINI.md", "agent instructions"),
            ("sub/AGENTS.md", "agent instructions"),
        ]
    );
    assert!(outcome.quarantine.is_empty(), "{:?}", outcome.quarantine);
    assert_eq!(read(&live.workspace().join("CLAUDE.md")), "new\n");
}

#[test]
fn a_folder_that_cannot_be_listed_hides_nothing() {
    let Some(live) = Live::new() else { return };
    live.script(
        "mkdir -p pkg/.vscode && echo x > pkg/.vscode/tasks.json && echo x > pkg/.envrc && chmod 0311 pkg; true",
    );
    let left = |path: &str| live.workspace().join(path).symlink_metadata().is_ok();
    assert!(!left("pkg/.vscode") && !left("pkg/.envrc"));
}

/// Runs git in the workspace as the user.
fn git(live: &Live, arguments: &[&str]) {
    let named = ["-c", "user.name=a", "-c", "user.email=a@b", "-c", "init.defaultBranch=main"];
    let status =
        Command::new("git").args(named).args(arguments).current_dir(live.workspace()).status().unwrap();
    assert!(status.success(), "{arguments:?}");
}

/// Settings that start a program at every look.
const ARMED: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = /x\n";

/// Attacks that use an unchanged name, or one that is not checked. Each is a preparation, a command, and a path that must not
/// exist afterwards.
#[test]
fn protected_names_do_not_stay_whatever_call_created_them() {
    type Row = (&'static str, fn(&Live), &'static str, &'static [&'static str]);
    fn nothing(_: &Live) {}
    fn nested(live: &Live) {
        git(live, &["init", "-q", "third/party"]);
    }
    fn environment(live: &Live) {
        let bin = live.workspace().join("app/.venv/bin");
        fs::create_dir_all(&bin).unwrap();
        fs::copy("/bin/true", bin.join("python")).unwrap();
        fs::write(bin.join("../pyvenv.cfg"), "home = /usr/bin\n").unwrap();
    }
    fn led(live: &Live) {
        git(live, &["init", "-q", "."]);
        git(live, &["config", "core.hooksPath", "tools/hooks"]);
        git(live, &["config", "include.path", "../tools/more.cfg"]);
    }
    let rows: &[Row] = &[
        (
            "a folder around it is replaced",
            nested,
            "mv third old; mkdir -p third; cp -r old/party third/party; rm -f third/party/.git/config; cp evil third/party/.git/config",
            &["third/party/.git/config"],
        ),
        (
            "the folder of an environment is replaced",
            environment,
            "mv app/.venv v; mkdir -p app/.venv/bin; cp evil app/.venv/bin/python; echo 'home = /evil' > app/.venv/pyvenv.cfg",
            &["app/.venv/bin/python", "app/.venv/pyvenv.cfg"],
        ),
        (
            "settings lead to what was not there",
            led,
            "mkdir -p tools/hooks; cp evil tools/hooks/post-commit; cp evil tools/more.cfg",
            &["tools/hooks", "tools/more.cfg"],
        ),
        (
            "the folder around cannot be written",
            nothing,
            "mkdir -p shut/.vscode .zed; cp evil shut/.vscode/tasks.json; chmod 0555 shut/.vscode shut .",
            &["shut/.vscode", ".zed"],
        ),
        (
            "nothing around can be listed",
            nothing,
            "mkdir -p a/b/.idea; git init -q a/b/c; cp evil a/b/c/.git/config; chmod 0311 a/b/c/.git a/b/c a/b a .",
            &["a/b/.idea", "a/b/c/.git/config"],
        ),
        (
            "very deep, and among packages",
            nothing,
            "d=node_modules/x/y/z/target/a/b/c/d/e; mkdir -p $d; git init -q $d/r; cp evil $d/r/.git/config; \
          mkdir -p 1/2/3/4/5/6/7/8/9; : > 1/2/3/4/5/6/7/8/9/.envrc",
            &["node_modules/x/y/z/target/a/b/c/d/e/r/.git/config", "1/2/3/4/5/6/7/8/9/.envrc"],
        ),
        (
            "a repository by its parts alone",
            nothing,
            "mkdir -p m/a/b/c/d/e/f/objects m/a/b/c/d/e/f/refs; ln -s nowhere m/a/b/c/d/e/f/HEAD; cp evil m/a/b/c/d/e/f/config",
            &["m/a/b/c/d/e/f/config"],
        ),
        (
            "the settings lie behind another file",
            nothing,
            "git init -q real; mv real/.git store; mkdir w link; cp store/HEAD link/; echo ../store > link/commondir; \
          cp evil store/config; echo \"gitdir: $PWD/link\" > w/.git",
            &["store/config"],
        ),
        (
            "a plan runs a program",
            |live| {
                repository(live);
            },
            "mkdir -p .git/rebase-merge; echo 'exec /x' > .git/rebase-merge/git-rebase-todo",
            &[".git/rebase-merge/git-rebase-todo"],
        ),
        (
            "a link to a folder of hooks",
            |live| {
                repository(live);
            },
            "mkdir -p q/.git; ln -s ../../h q/.git/hooks; mkdir h; cp evil h/pre-commit",
            &["q/.git/hooks"],
        ),
    ];
    for ((what, prepare, script, gone), way) in rows.iter().flat_map(|row| WAYS.map(|way| (row, way))) {
        let Some(live) = Live::with_names(way) else { return };
        fs::write(live.workspace().join("evil"), ARMED).unwrap();
        prepare(&live);
        let before: Vec<_> = gone.iter().map(|path| fs::read(live.workspace().join(path)).ok()).collect();
        let outcome = live.run(&["sh", "-c", script], |_| ()).unwrap();
        for (gone, before) in gone.iter().zip(before) {
            let now = live.workspace().join(gone);
            let is_as_it_was = before.is_some() && fs::read(&now).ok() == before;
            // What git itself has written is no harm.
            let is_as_it_was =
                is_as_it_was || (gone.ends_with("/config") && now.is_file() && !read(&now).contains("/x"));
            assert!(is_as_it_was || now.symlink_metadata().is_err(), "{way:?}: {what}: {gone}: {outcome:?}");
        }
        assert!(outcome.quarantine.iter().all(|one| one.moved_to.is_some()), "{what}: {outcome:?}");
        // Nothing is hidden, and nothing is taken twice.
        let again = live.run(&["true"], |_| ()).unwrap();
        assert!(again.quarantine.is_empty(), "{what}: {again:?}");
    }
}

#[test]
fn targets_of_symlinks_and_settings_cannot_be_changed() {
    let Some(live) = Live::new() else { return };
    repository(&live);
    let workspace = live.workspace();
    for (folder, file) in [("shared-hooks", "post-commit"), ("team/agents", "settings.json")] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
        fs::write(workspace.join(folder).join(file), "old").unwrap();
    }
    fs::write(workspace.join("team/git.cfg"), "[user]\n\tname = a\n").unwrap();
    git(&live, &["config", "core.hooksPath", "shared-hooks"]);
    git(&live, &["config", "include.path", "../team/git.cfg"]);
    std::os::unix::fs::symlink("team/agents", workspace.join(".claude")).unwrap();
    live.script(
        "for f in shared-hooks/post-commit team/agents/settings.json team/git.cfg; do echo evil > $f; rm $f; done; \
         echo evil > shared-hooks/pre-push; mv shared-hooks s; echo fine > team/notes",
    );
    for kept in ["shared-hooks/post-commit", "team/agents/settings.json"] {
        assert_eq!(read(&workspace.join(kept)), "old", "{kept}");
    }
    assert!(read(&workspace.join("team/git.cfg")).contains("name = a"));
    assert!(!workspace.join("shared-hooks/pre-push").exists() && workspace.join("team/notes").exists());
}

/// Nor can the way there, and not to what is missing either; and programs that settings name stay as they are.
#[test]
fn paths_cannot_be_redirected() {
    let Some(live) = Live::new() else { return };
    repository(&live);
    let workspace = live.workspace();
    for folder in ["real/claude", "tools", "src"] {
        fs::create_dir_all(workspace.join(folder)).unwrap();
    }
    fs::write(workspace.join("tools/watch"), "old").unwrap();
    std::os::unix::fs::symlink("real", workspace.join("cfg")).unwrap();
    std::os::unix::fs::symlink("cfg/claude", workspace.join(".claude")).unwrap();
    git(&live, &["config", "core.hooksPath", "team/deep/hooks"]);
    git(&live, &["config", "core.fsmonitor", "tools/watch --x"]);
    let evil = ["", "evil", "evil/deep", "evil/deep/hooks", "evil/claude", "e2", "e2/hooks"];
    let said = live.script(&format!(
        "mkdir -p {}; echo x > evil/deep/hooks/pre-commit; echo x > evil/claude/settings.json
        ln -s evil team; mv evil team; rm -rf cfg; ln -s evil cfg; mkdir -p cfg/claude; echo x > cfg/claude/settings.json
        mkdir team; ln -s ../e2 team/deep; mkdir half; ln -s ../e2 half/deep; rmdir team; mv half team; echo x > e2/hooks/pre-commit
        echo evil > tools/watch; rm -f tools/watch; mv tools t; mkdir tools; echo evil > tools/watch; echo fine > src/x",
        evil.join(" ")
    ));
    for armed in ["team/deep/hooks/pre-commit", ".claude/settings.json"] {
        assert!(fs::metadata(workspace.join(armed)).is_err(), "{armed}: {said}");
    }
    assert_eq!(read(&workspace.join("tools/watch")), "old", "{said}");
    assert!(workspace.join("src/x").exists(), "{said}");
}

#[test]
fn other_writable_directories_are_protected_like_the_workspace() {
    WAYS.iter().for_each(|way| another_folder(*way));
}

fn another_folder(way: NamesAre) {
    let Some(live) = Live::with_names(way) else { return };
    let other = live.outside().join("other");
    fs::create_dir(&other).unwrap();
    Command::new("git").args(["init", "-q"]).arg(other.join("lib")).status().unwrap();
    let config = read(&other.join("lib/.git/config"));
    let script = "cd ../other; echo evil >> lib/.git/config; echo evil > lib/.git/hooks/pre-commit; mkdir .vscode; echo x > .vscode/tasks.json; \
                  echo x > CLAUDE.md; echo fine > ok";
    let outcome = live.run(&["sh", "-c", script], |spec| spec.shared.push(other.clone())).unwrap();
    assert_eq!(read(&other.join("lib/.git/config")), config);
    assert!(!other.join("lib/.git/hooks/pre-commit").exists() && other.join("ok").exists());
    let [taken, refused] = taken_and_refused(&outcome);
    let found = if way == NamesAre::Decided { refused } else { taken };
    assert!(found.contains(&other.join(".vscode").as_path()), "{outcome:?}");
    assert!(!other.join(".vscode").exists());
    let changed: Vec<_> = outcome.changed.iter().map(|one| one.path.clone()).collect();
    assert_eq!(changed, [other.join("CLAUDE.md")]);
}

#[test]
fn files_of_one_command_are_not_trusted_by_another() {
    let Some(live) = Live::with_names(NamesAre::SweptUp) else { return };
    let run = |script: &str| live.run(&["sh", "-c", script], |_| ()).unwrap();
    std::thread::scope(|scope| {
        let first = scope.spawn(|| run("mkdir .vscode; : > made; while ! [ -e seen ]; do sleep 0.02; done"));
        while !live.workspace().join("made").exists() {
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        // It finds the folder there, waits until it is taken away, and puts another in its place.
        let second = run(
            ": > seen; while [ -e .vscode ]; do sleep 0.02; done; mkdir .vscode; echo evil > .vscode/tasks.json",
        );
        assert_eq!(first.join().unwrap().quarantine.len(), 1);
        assert_eq!(second.quarantine.len(), 1, "{second:?}");
    });
    assert!(!live.workspace().join(".vscode").exists());
}

#[test]
fn files_that_tools_create_themselves_stay() {
    let Some(live) = Live::new() else { return };
    git(&live, &["init", "-q", "--bare", "lib.git"]);
    let outcome = live
        .run(
            &["sh", "-c", "git init -q a && cd a && git config user.name x && git remote add origin https://example.org/a && \
                           cd .. && \
                           git -c protocol.file.allow=always clone -q lib.git b && mkdir -p a/.git/modules && \
                           python3 -m venv --without-pip .venv && printf '[submodule \"m\"]\\n\\tpath = m\\n\\turl = ../m\\n' > .gitmodules"],
            |_| (),
        )
        .unwrap();
    assert!(outcome.quarantine.is_empty(), "{outcome:?}");
    for kept in ["a/.git/config", "b/.git/config", ".venv/pyvenv.cfg", ".gitmodules"] {
        assert!(live.workspace().join(kept).exists(), "{kept}: {outcome:?}");
    }
}

/// A plan of git that is made too long to be read is not one that runs nothing.
#[test]
fn no_length_hides_what_a_plan_runs() {
    for sweeps in [NamesAre::Decided, NamesAre::SweptUp] {
        let Some(live) = Live::with_names(sweeps) else { return };
        let todo = live.workspace().join(".git/rebase-merge/git-rebase-todo");
        fs::create_dir_all(todo.parent().unwrap()).unwrap();
        for name in ["objects", "refs"] {
            fs::create_dir_all(live.workspace().join(".git").join(name)).unwrap();
        }
        fs::write(live.workspace().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(&todo, "pick 1 a\n").unwrap();
        let script = "cd .git/rebase-merge; { echo 'exec /x'; head -c 1100000 /dev/zero | tr '\\0' '#'; } > git-rebase-todo; true";
        let outcome = live.run(&["sh", "-c", script], |_| ()).unwrap();
        assert_eq!(outcome.quarantine.len(), 1, "{outcome:?}");
        assert!(!todo.exists(), "{outcome:?}");
    }
}

/// The names that a flood brings never leave another one without its protection: either nothing runs, or they do not count.
#[test]
fn no_flood_of_names_unmasks_another() {
    let flood = "for i in $(seq 2100); do echo X=1 > .env.$i; done";
    let theft = "cat config/prod/.env; echo evil > deep/.claude/settings.json; rm -rf deep/.claude; true";
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let Some(live) = Live::new() else { return };
        let workspace = live.workspace();
        for path in ["config/prod", "deep/.claude"] {
            fs::create_dir_all(workspace.join(path)).unwrap();
        }
        fs::write(workspace.join("config/prod/.env"), "TOPSECRET=1\n").unwrap();
        fs::write(workspace.join("deep/.claude/settings.json"), "{}").unwrap();
        let holds = |who: &str| {
            let outcome = live.run(&["sh", "-c", theft], |spec| {
                spec.backend = backend;
                spec.require_by_name.insert(Property::ProtectedNames);
            });
            let said =
                outcome.as_ref().map(|outcome| String::from_utf8_lossy(&outcome.output.stdout).into_owned());
            assert!(!said.as_deref().unwrap_or_default().contains("TOPSECRET"), "{backend:?} {who}");
            assert_eq!(read(&workspace.join("deep/.claude/settings.json")), "{}", "{backend:?} {who}");
            outcome
        };
        // By a command: the next one sees its files, which need no protection.
        live.run(&["sh", "-c", flood], |spec| spec.backend = backend).unwrap();
        let outcome = holds("a command").unwrap();
        assert!(
            outcome.enforcement.gaps.iter().all(|gap| gap.property != Property::ProtectedNames),
            "{outcome:?}"
        );
        // By the user: there is no telling which of them matter.
        for number in 0..2_100 {
            fs::write(workspace.join(format!(".env.{number}x")), "A=1\n").unwrap();
        }
        let refusal = holds("the user").unwrap_err();
        assert!(refusal.to_string().contains("more protected names"), "{refusal}");
    }
}

/// What the user gave two names is the same file by either of them: neither is written, removed, or read where it is a secret.
#[test]
fn the_other_name_of_a_protected_file_is_protected_as_well() {
    for backend in each().filter(|backend| *backend != SandboxBackend::Landlock) {
        let Some(live) = Live::new() else { return };
        repository(&live);
        let workspace = live.workspace();
        for path in [".claude", "cfg", "scripts", "deep/er"] {
            fs::create_dir_all(workspace.join(path)).unwrap();
        }
        let pairs = [
            (".claude/settings.json", "cfg/settings.json"),
            (".git/hooks/pre-commit", "scripts/pc"),
            (".env", "deep/er/prod-settings.txt"),
            (".envrc", "rc"),
        ];
        for (name, other) in pairs {
            fs::write(workspace.join(name), "TOPSECRET\n").unwrap();
            fs::hard_link(workspace.join(name), workspace.join(other)).unwrap();
        }
        fs::write(workspace.join("free"), "x").unwrap();
        fs::hard_link(workspace.join("free"), workspace.join("free2")).unwrap();
        let script = "for f in cfg/settings.json scripts/pc deep/er/prod-settings.txt rc; do echo evil >> $f; chmod 777 $f; \
             sed -i s/TOP/evil/ $f; ln $f l.$$; echo evil > l.$$; rm -f l.$$; done; cat deep/er/prod-settings.txt .env; echo more >> free2";
        let outcome = live.run(&["sh", "-c", script], |spec| spec.backend = backend).unwrap();
        for (name, other) in pairs {
            assert_eq!(read(&workspace.join(name)), "TOPSECRET\n", "{backend:?} {name}");
            assert_eq!(read(&workspace.join(other)), "TOPSECRET\n", "{backend:?} {other}");
        }
        assert!(!String::from_utf8_lossy(&outcome.output.stdout).contains("TOPSECRET"), "{backend:?}");
        assert_eq!(read(&workspace.join("free")), "xmore\n", "{backend:?}");
    }
}

/// What is not obeyed in a folder of packages is where the folder is moved to.
#[test]
fn a_folder_that_leaves_packages_arms_nothing() {
    let rows = [
        "mkdir node_modules/x/.claude; echo evil > node_modules/x/.claude/settings.json; mv node_modules/x packages/x",
        "mkdir target/sub/.vscode; echo evil > target/sub/.vscode/tasks.json; mv target/sub packages/sub; mv target tgt",
        "mkdir node_modules/x/.vscode; echo evil > node_modules/x/.vscode/tasks.json; mv node_modules packages/all",
        "mkdir node_modules/M node_modules/x/.vscode; echo evil > node_modules/x/.vscode/tasks.json; mv node_modules/x node_modules/M; mv node_modules/M packages",
        "mkdir node_modules/x/.vscode; echo evil > node_modules/x/.vscode/tasks.json; mkdir node_modules/a; mv node_modules/x node_modules/a; mv node_modules/a a",
        "echo evil > target/sub/.envrc; python3 -c \"import ctypes; ctypes.CDLL(None).renameat2(-100, b'target/sub', -100, b'packages', 2)\"",
    ];
    for way in WAYS {
        for row in rows {
            let Some(live) = Live::with_names(way) else { return };
            let workspace = live.workspace();
            for folder in ["node_modules/x", "target/sub", "packages"] {
                fs::create_dir_all(workspace.join(folder)).unwrap();
            }
            live.run(&["sh", "-c", row], |_| ()).unwrap();
            let script = "find . -path ./node_modules -prune -o -path ./target -prune -o -name tasks.json -print -o -name settings.json -print -o -name .envrc -print";
            let found = Command::new("sh").args(["-c", script]).current_dir(&workspace).output().unwrap();
            assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{way:?} {row}");
        }
        // What holds nothing of that kind is moved.
        let Some(live) = Live::with_names(way) else { return };
        fs::create_dir_all(live.workspace().join("target/sub")).unwrap();
        let outcome = live
            .run(&["sh", "-c", "echo x > target/sub/x && mv target/sub moved && mv target t"], |_| ())
            .unwrap();
        assert_eq!(outcome.exit_code(), 0, "{way:?} {outcome:?}");
    }
}

/// A command that does nothing changes nothing, whatever lies in the workspace: each example of the table, some of which have two
/// names in it.
#[test]
fn an_idle_command_has_no_changes() {
    for way in WAYS {
        let Some(live) = Live::with_names(way) else { return };
        let rows = stockade_names::names().filter(|row| row.scope == Scope::Anywhere);
        let examples: Vec<&str> = rows.flat_map(|row| row.matches.iter().copied()).collect();
        assert!(examples.len() > 150, "{}", examples.len());
        for (number, example) in examples.iter().enumerate() {
            let path = live.workspace().join(format!("n{number}")).join(example);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "x\n").unwrap();
        }
        let outcome = live.run(&["true"], |_| ()).unwrap();
        assert_eq!(outcome.changed, [], "{way:?}");
        assert!(outcome.quarantine.is_empty(), "{way:?} {:?}", outcome.quarantine);
        // A change is reported once.
        let startup = "n0/lib/site-packages/x.pth";
        fs::create_dir_all(live.workspace().join("n0/lib/site-packages")).unwrap();
        fs::write(live.workspace().join(startup), "x\n").unwrap();
        let outcome = live.run(&["sh", "-c", &format!("echo y > {startup}")], |_| ()).unwrap();
        let changed: Vec<_> = outcome.changed.iter().map(|one| one.path.to_str().unwrap()).collect();
        assert_eq!(changed, [startup], "{way:?}");
    }
}
