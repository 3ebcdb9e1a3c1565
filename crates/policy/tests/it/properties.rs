//! What must hold for every input. The fuzz targets and the tests in `replay.rs` run the same functions.

use std::path::{Component, Path};
use std::sync::LazyLock;

use stockade_policy::access::{Policy, PolicyRule, Position};
use stockade_policy::paths::{PathPolicy, ResolvedPath, safe_join};
use stockade_policy::{
    Access, AccessRequest, Answer, Caller, PathFacts, Sandbox, SandboxConfig, SkillTools, ToolCatalog,
    ToolPolicy, ToolPolicyConfig, Verdict, Workspace,
};

const WS: &str = "/base/ws";

/// Compiled once: the fuzzer should spend its time on paths.
static STANDARD: LazyLock<Sandbox> =
    LazyLock::new(|| Sandbox::compile(&SandboxConfig::standard(), &Workspace::plain(WS)).unwrap());

/// Whatever a path says and wherever it leads: what the standard configuration allows lies in the workspace and is no
/// part of a repository's folder.
pub(crate) fn the_jail_holds(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (path, real) = text.split_once('\n').unwrap_or((&text, ""));
    let mut sandbox = STANDARD.clone();
    let Some(located) = sandbox.locate(Path::new(path)) else { return };
    let real = if real.starts_with('/') { clean(real) } else { located.clone() };
    let facts = PathFacts::Resolved(ResolvedPath::file(&real));
    for access in [Access::Read, Access::Write] {
        let request = AccessRequest::Path { access, path: Path::new(path), facts: &facts };
        let guard = sandbox.guard_for("t");
        match guard.decide(&request, &Caller::default()) {
            Verdict::Allowed(permit) => {
                assert!(guard.can_access(&request));
                assert_eq!(permit.object.path(), Some(real.as_path()));
                assert!(real.starts_with(WS), "{path:?} -> {real:?}");
                for name in real.components().chain(located.components()) {
                    assert!(!name.as_os_str().eq_ignore_ascii_case(".git"), "{path:?} -> {real:?}");
                }
            }
            Verdict::Denied(violation) => {
                assert!(!guard.can_access(&request));
                // Shown to a person, nothing in it can move a cursor.
                assert!(!violation.to_string().contains(char::is_control));
            }
            // Only what the name of a file says is left to a person.
            Verdict::Pending(ask) => {
                assert!(matches!(ask.rule(), PolicyRule::DangerousName { .. }), "{ask:?}");
                assert!(!guard.can_access(&request));
            }
            other => panic!("unknown verdict: {other:?}"),
        }
    }
}

/// A glob that allows a path denies it in a deny list; and there, case makes no difference.
pub(crate) fn denying_is_wider_than_allowing(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let (glob, path) = text.split_once('\n').unwrap_or((&text, "x"));
    if glob.starts_with('!') {
        return;
    }
    let globs = vec![glob.to_owned()];
    let with = |deny: Vec<String>, allow: Vec<String>| {
        let read = PathPolicy { default: Answer::Ask, allow, deny };
        let config = SandboxConfig { read, ..SandboxConfig::default() };
        let mut sandbox = Sandbox::compile(&config, &Workspace::plain(WS)).ok()?;
        Some(move |path: &str| {
            let located = sandbox.locate(Path::new(path))?;
            let facts = PathFacts::Resolved(ResolvedPath::file(located));
            let request = AccessRequest::Path { access: Access::Read, path: Path::new(path), facts: &facts };
            Some(sandbox.guard_for("t").decide(&request, &Caller::default()))
        })
    };
    let Some(mut denying) = with(globs.clone(), Vec::new()) else { return };
    let denied = matches!(denying(path), Some(Verdict::Denied(_)));
    if let Some(mut allowing) = with(Vec::new(), globs) {
        let allowed = matches!(allowing(path), Some(Verdict::Allowed(_)));
        assert!(denied || !allowed, "{glob:?} allows {path:?} and does not deny it");
    }
    // A negated bracket lists exceptions, and exceptions stay as narrow as they are written.
    let excepts = glob.contains("[!") || glob.contains("[^");
    // On this file system case counts, so the workspace by another name is another folder.
    let stays = !path.starts_with('/') && !path.contains("..");
    if denied && stays && glob.is_ascii() && !glob.contains('\\') && !excepts {
        for other in [path.to_ascii_uppercase(), path.to_ascii_lowercase()] {
            let verdict = denying(&other);
            assert!(
                !matches!(verdict, Some(Verdict::Allowed(_) | Verdict::Pending(_))),
                "{glob:?} {path:?} {other:?}"
            );
        }
    }
}

/// One more deny entry, and one more skill, never allow a tool that was not allowed before. `data` is: profile, allow
/// list, deny list, the new deny entry, a skill's list, a tool, a line each.
pub(crate) fn restrictions_only_restrict(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut lines = text.split('\n');
    let mut line = || lines.next().unwrap_or_default();
    let profile = line().to_owned();
    let entries = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let (allow, deny, more) = (entries(line()), entries(line()), line().to_owned());
    let (skill, tool) = (SkillTools::parse(line()), line());
    let catalog = ToolCatalog { tools: vec![tool.to_owned()], ..ToolCatalog::default() };
    let config = ToolPolicyConfig { profile, allow, deny };
    let (before, problems) = ToolPolicy::compile_leniently(&config, &catalog);
    assert_eq!(ToolPolicy::compile(&config, &catalog).is_ok(), problems.is_empty());
    assert_eq!(before.allows(tool), before.decide(tool).is_allowed());
    assert_eq!(before.allows(tool), before.fixes(tool).is_empty());
    let mut stricter = config.clone();
    stricter.deny.push(more);
    let (after, _) = ToolPolicy::compile_leniently(&stricter, &catalog);
    assert!(before.allows(tool) || !after.allows(tool), "{stricter:?}");
    if let Ok(skill) = skill {
        assert!(before.allows(tool) || !before.with_skill("s", &skill).allows(tool), "{config:?} {skill:?}");
    }
}

/// A dangerous command stays dangerous behind another one and inside a shell.
pub(crate) fn danger_cannot_be_wrapped(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let mut sandbox = Sandbox::compile(&SandboxConfig::default(), &Workspace::plain(WS)).unwrap();
    let guard = sandbox.guard_for("t");
    let _change = guard.add(Policy::deny_dangerous_commands(), Position::Last).unwrap();
    let denied =
        |text: &str| !guard.decide(&AccessRequest::Command { text }, &Caller::default()).is_allowed();
    if !denied(&text) {
        return;
    }
    assert!(denied(&format!("true; {text}")));
    assert!(denied(&format!("true\n{text}")));
    if !text.contains('\'') && !text.trim_start().starts_with(['-', '+']) {
        assert!(denied(&format!("sudo bash -lc '{text}'")), "{text:?}");
    }
}

/// A path that joins below a base stays below it, also after another round of decoding.
pub(crate) fn joins_stay_below(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let segments: Vec<&str> = text.split('\n').collect();
    let Ok(joined) = safe_join(Path::new(WS), &segments) else { return };
    assert!(joined.starts_with(WS), "{joined:?}");
    let plain = joined.components().all(|name| matches!(name, Component::Normal(_) | Component::RootDir));
    assert!(plain, "{joined:?}");
    let decoded: Vec<String> = segments
        .iter()
        .map(|segment| {
            segment.replace("%2e", ".").replace("%2E", ".").replace("%2f", "/").replace("%2F", "/")
        })
        .collect();
    let decoded: Vec<&str> = decoded.iter().map(String::as_str).collect();
    assert!(safe_join(Path::new(WS), &decoded).is_ok(), "{segments:?}");
}

/// An absolute path as a disk would give it: without `.`, `..` and doubled slashes.
fn clean(path: &str) -> std::path::PathBuf {
    let mut clean = std::path::PathBuf::from("/");
    for name in Path::new(path).components() {
        match name {
            Component::Normal(name) => clean.push(name),
            Component::ParentDir => drop(clean.pop()),
            Component::CurDir | Component::RootDir | Component::Prefix(_) => {}
        }
    }
    clean
}
