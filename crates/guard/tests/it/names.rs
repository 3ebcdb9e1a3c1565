//! One table of names, walked through every layer that reads it: what a row says is what each of them answers.

#![expect(clippy::disallowed_methods, reason = "lays out a workspace with a file of every name")]

use std::fs;
use std::path::{Path, PathBuf};

use stockade_exec_sandbox::host::{HostFacts, ProtectionMode};
use stockade_exec_sandbox::{SandboxSpec, plan, probe};
use stockade_guard::Resolver;
use stockade_guard::admission::{
    AdmitOptions, Authorization, PathGuard, PathRequest, SkillSource, SurfaceKind, admit,
};
use stockade_guard::command::hazards::{Floor, all_hazards};
use stockade_guard::command::shell::{ReadOptions, Script};
use stockade_guard::policy::{Access, Caller, SandboxConfig};
use stockade_guard::scanner::Scanner;
use stockade_names::{Kind, Name, Read, SandboxView, Scope, Secrecy, Write, names};

/// Every path of the table, with a letter where it has a star.
fn paths() -> impl Iterator<Item = (&'static Name, String)> {
    names().flat_map(|name| name.paths.iter().map(move |path| (name, path.replace('*', "x"))))
}

/// How strictly a command that touches a path is judged.
fn floor(command: &str) -> Option<Floor> {
    let script = Script::read(command, &ReadOptions::default()).unwrap();
    all_hazards(&script.actions()).into_iter().map(|hazard| hazard.floor).max()
}

/// A path as a command names it.
fn word(name: &Name, path: &str) -> String {
    match name.scope {
        Scope::Anywhere => format!("a/b/'{path}'"),
        Scope::Home => format!("~/'{path}'"),
        Scope::Repository => format!("a/.git/'{path}'"),
        Scope::Machine => format!("/'{path}'"),
    }
}

#[test]
fn commands_are_judged_by_the_table() {
    for (name, path) in paths() {
        let word = word(name, &path);
        let judged_for_writing =
            name.is_obeyed() || matches!(name.kind, Kind::GrantsAccess | Kind::KeepsTraces);
        let write = match name.write {
            Write::Refuse if judged_for_writing => Some(Floor::Deny),
            Write::Report | Write::Protect if name.is_obeyed() => Some(Floor::Ask),
            _ => None,
        };
        let read = match name.read() {
            Read::Refuse => Some(Floor::Deny),
            Read::Ask => Some(Floor::Ask),
            // No command that is allowed outside the sandbox reads what the sandbox is kept from.
            Read::Contain => Some(Floor::Sandbox),
            Read::Free => None,
        };
        assert!(floor(&format!("echo x > {word}")) >= write, "{}: writing {word}", name.id);
        assert!(floor(&format!("cat {word}")) >= read, "{}: reading {word}", name.id);
    }
}

#[test]
fn file_tools_never_open_what_the_table_forbids() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let mut guard = PathGuard::open(&SandboxConfig::standard(), &root, Resolver::Walk).unwrap();
    let forbidden = |name: &Name| name.scope == Scope::Anywhere && name.secrecy == Secrecy::Secret;
    for (name, path) in paths().filter(|(name, _)| forbidden(name)) {
        for path in [path.clone(), format!("a/{path}"), path.to_uppercase(), format!("{path}/below")] {
            for access in [Access::Read, Access::Write] {
                let request =
                    PathRequest { tool: "t", access, path: Path::new(&path), caller: Caller::default() };
                let answer = guard.authorize(&request);
                assert!(matches!(answer, Authorization::Denied(_)), "{}: {access:?} {path}", name.id);
            }
        }
    }
}

fn spec(workspace: &Path) -> SandboxSpec {
    SandboxSpec::new(workspace, ["true"])
}

/// Lays out a file under every name that may stand in a folder, two folders below the top.
fn lay_out(root: &Path) -> Vec<(&'static Name, PathBuf)> {
    let mut laid_out = Vec::new();
    for (at, (name, path)) in paths().enumerate() {
        let below = match name.scope {
            Scope::Anywhere => format!("{at}/sub/{path}"),
            Scope::Repository => format!("{at}/.git/{path}"),
            Scope::Home | Scope::Machine => continue,
        };
        fs::create_dir_all(root.join(&below).parent().unwrap()).unwrap();
        fs::write(root.join(&below), "x").unwrap();
        laid_out.push((name, below.into()));
    }
    laid_out
}

#[test]
fn a_sandbox_does_what_the_table_says() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let laid_out = lay_out(&root);
    let facts = probe(&spec(&root));
    for (name, path) in laid_out {
        let mode = facts.protected.iter().find(|entry| entry.path == path).map(|entry| entry.mode);
        let is_reported = facts.watched.iter().any(|watched| watched.path == path);
        match (name.view(), name.write) {
            (SandboxView::Masked, _) => {
                assert_eq!(mode, Some(ProtectionMode::Hide), "{}: {path:?}", name.id);
            }
            (_, Write::Protect | Write::Refuse) if name.is_obeyed() => {
                // Another row may hide it for its secrets.
                let is_kept = matches!(mode, Some(ProtectionMode::ReadOnly | ProtectionMode::Hide));
                assert!(is_kept, "{}: {path:?} is {mode:?}", name.id);
            }
            (_, Write::Note | Write::Report) if name.is_obeyed() => {
                assert!(is_reported, "{}: {path:?}", name.id);
            }
            _ => {}
        }
    }
}

#[test]
fn admission_lists_what_the_table_says_is_obeyed() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("SKILL.md"), "---\nname: x\ndescription: Helps.\n---\nRead notes.md.\n")
        .unwrap();
    fs::write(folder.path().join("notes.md"), "Nothing.\n").unwrap();
    let laid_out = lay_out(folder.path());
    let skill =
        admit(&SkillSource::Path(folder.path()), Scanner::builtin(), &AdmitOptions::default()).unwrap();
    let listed: Vec<&Path> = skill
        .report()
        .surfaces
        .iter()
        .filter(|surface| matches!(surface.kind, SurfaceKind::StartsPrograms | SurfaceKind::InstructsAgents))
        .map(|surface| Path::new(&surface.path))
        .collect();
    // A path may have several rows: `.aws` holds secrets, and `credential_process` in it starts programs.
    for (name, path) in laid_out.iter().filter(|(name, _)| name.is_obeyed() && name.write != Write::Note) {
        assert!(listed.contains(&path.as_path()), "{}: {path:?}", name.id);
    }
    assert!(!listed.contains(&Path::new("notes.md")), "{listed:?}");
}

#[test]
fn a_sandbox_never_shares_what_the_table_withholds() {
    let facts = HostFacts { home: "/home/u".into(), user: 1000, ..HostFacts::default() };
    let is_meant = |name: &Name| name.view() != SandboxView::Shown && name.scope == Scope::Home;
    assert!(names().all(|name| name.view() != SandboxView::Withheld || is_meant(name)));
    for (_, path) in paths().filter(|(name, _)| is_meant(name)) {
        let spec = SandboxSpec { read_only: vec![facts.home.join(&path)], ..spec(Path::new("/srv/work")) };
        let refusal = plan(&spec, &facts).unwrap_err();
        assert!(refusal.to_string().contains("contains credentials"), "{path}: {refusal}");
    }
}
