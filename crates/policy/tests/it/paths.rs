//! Paths against the fixed part of a sandbox: one table for every trick that a path can play.

use stockade_policy::access::PolicyRule;
use stockade_policy::paths::{Case, InvalidPath, OtherNames, PathPolicy, ResolveError, ResolvedPath, Target};
use stockade_policy::{Access, PathFacts, Sandbox, SandboxConfig, Verdict, Workspace};

use crate::support::{decide, linked, plain, really, sandbox, word};

/// What the standard configuration says about paths on a disk without links.
#[test]
fn the_standard_configuration() {
    let mut sandbox = sandbox(&SandboxConfig::standard());
    let guard = sandbox.guard_for("t");
    for (path, expected) in [
        // Everyday paths.
        (".", "allow"),
        ("src/a.ts", "allow"),
        ("./src//a.ts", "allow"),
        ("foo/..", "allow"),
        ("nonexist/a/b.txt", "allow"),
        (".comma/skill.md", "allow"),
        (".gitignore", "allow"),
        (".github/workflows/ci.yml", "allow"),
        ("secretsfile.txt", "allow"),
        ("a.pem.txt", "allow"),
        ("keys/readme.md", "allow"),
        ("environment.ts", "allow"),
        // Names that only look like something else.
        ("..%2fx", "allow"),
        ("%2e%2e/x", "allow"),
        ("..\\x", "allow"),
        ("...", "allow"),
        ("~/notes", "allow"),
        ("a\nb", "allow"),
        ("\u{ff0e}\u{ff0e}/x", "allow"),
        // Out of the jail.
        ("..", "jail"),
        ("../x", "jail"),
        ("a/../../x", "jail"),
        ("../ws2/x", "jail"),
        ("../../../../../etc/passwd", "jail"),
        // Absolute.
        ("/etc/passwd", "absolute-path"),
        ("//etc/passwd", "absolute-path"),
        ("/base/ws2/a", "absolute-path"),
        // But for those in the workspace, which are judged as their relative spellings are.
        ("/base/ws/a", "allow"),
        ("/base/ws/.env", "forbidden-glob"),
        ("/base/ws/../ws2/a", "jail"),
        ("/", "absolute-path"),
        // No path.
        ("", "read-denied"),
        ("notes.md\0.txt", "read-denied"),
        // A repository's folder, at any depth, as folder and as file, in any case and with invisible company.
        (".git", "forbidden-glob"),
        (".git/config", "forbidden-glob"),
        ("src/../.git/config", "forbidden-glob"),
        ("sub/.git", "forbidden-glob"),
        ("a/b/.git/hooks/pre-commit", "forbidden-glob"),
        (".GIT/config", "forbidden-glob"),
        (".g\u{200c}it/config", "forbidden-glob"),
        (".git./config", "forbidden-glob"),
        (".git /config", "forbidden-glob"),
        ("GIT~1/config", "forbidden-glob"),
        // Secrets.
        (".env", "forbidden-glob"),
        (".env.local", "forbidden-glob"),
        (".ENV", "forbidden-glob"),
        ("a/.env/x", "forbidden-glob"),
        ("server.PEM", "forbidden-glob"),
        ("server.pem.", "forbidden-glob"),
        ("a/b/c.key", "forbidden-glob"),
        ("\u{212a}eys/x.\u{212a}EY", "forbidden-glob"),
        ("id_rsa", "forbidden-glob"),
        ("ID_RSA", "forbidden-glob"),
        ("a/id_ed25519", "forbidden-glob"),
        ("secrets", "forbidden-glob"),
        ("pkg/Secrets/k.txt", "forbidden-glob"),
        (".ssh/config", "forbidden-glob"),
        (".\u{17f}sh/config", "forbidden-glob"),
        (".aws/credentials", "forbidden-glob"),
        (".docker/config.json", "forbidden-glob"),
        (".cargo/credentials.toml", "forbidden-glob"),
    ] {
        assert_eq!(word(&decide(guard, Access::Read, path, &plain(path))), expected, "{path:?}");
        let expected = match expected {
            "read-denied" => "write-denied",
            // The author of a skill or a workflow decides what runs or is obeyed later.
            "allow" if path.starts_with(".comma/") || path.starts_with(".github/workflows/") => "ask",
            expected => expected,
        };
        assert_eq!(word(&decide(guard, Access::Write, path, &plain(path))), expected, "write {path:?}");
    }
}

/// What the disk says counts as much as the name.
#[test]
fn a_path_is_what_it_really_is() {
    let mut sandbox = sandbox(&SandboxConfig::standard());
    let guard = sandbox.guard_for("t");
    let through = PathFacts::Resolved(ResolvedPath {
        through: vec!["/base/ws/.env".into()],
        ..ResolvedPath::file("/base/ws/prod.conf")
    });
    let special =
        PathFacts::Resolved(ResolvedPath { target: Target::Special, ..ResolvedPath::file("/base/ws/x") });
    let dangling =
        PathFacts::Resolved(ResolvedPath { target: Target::Missing, ..ResolvedPath::file("/base/new") });
    let inside =
        |names: &[&str]| linked("/base/ws/x", OtherNames::All(names.iter().map(Into::into).collect()));
    for (path, facts, expected) in [
        ("x", really("/base/ws/real.txt"), "allow"),
        ("x", really("/base/outside/t.txt"), "jail"),
        ("x", really("/base/ws2"), "jail"),
        ("x", really("/base"), "jail"),
        ("x", dangling, "jail"),
        ("alias", really("/base/ws/.env"), "forbidden-glob"),
        (".env", really("/base/ws/harmless"), "forbidden-glob"),
        ("alias", through, "forbidden-glob"),
        ("x", special, "jail"),
        ("x", PathFacts::Unresolvable(ResolveError::Loop), "read-denied"),
        ("x", PathFacts::Unresolvable(ResolveError::MagicLink), "jail"),
        ("x", inside(&["/base/ws/y"]), "allow"),
        ("x", inside(&["/base/ws/.env"]), "forbidden-glob"),
        ("x", inside(&["/base/outside/y"]), "jail"),
        ("x", linked("/base/ws/x", OtherNames::Some(vec![])), "jail"),
        ("x", linked("/base/ws/x", OtherNames::Some(vec!["/base/ws/.env".into()])), "forbidden-glob"),
        ("x", linked("/base/ws/x", OtherNames::Unfinished(vec!["/base/ws/y".into()])), "jail"),
        ("x", linked("/base/ws/x", OtherNames::Unfinished(vec!["/base/ws/.env".into()])), "forbidden-glob"),
    ] {
        assert_eq!(word(&decide(guard, Access::Read, path, &facts)), expected, "{path} {facts:?}");
    }
}

#[test]
fn what_is_no_path_says_so() {
    let mut sandbox = sandbox(&SandboxConfig::default());
    let guard = sandbox.guard_for("t");
    for (path, expected) in [
        ("a\0b".to_owned(), InvalidPath::Nul),
        ("x".repeat(256), InvalidPath::NameTooLong),
        ("a/".repeat(2100), InvalidPath::PathTooLong),
        // Too long only once the workspace stands before it.
        ("a/".repeat(2045), InvalidPath::PathTooLong),
    ] {
        let Verdict::Denied(violation) = decide(guard, Access::Read, &path, &plain("x")) else {
            panic!("{path}")
        };
        assert_eq!(violation.rule, PolicyRule::Unresolvable(ResolveError::Invalid(expected)));
    }
}

#[test]
fn globs_hold_for_a_workspace_behind_a_link() {
    let policy = PathPolicy { deny: vec!["private/**".to_owned()], ..PathPolicy::default() };
    let config = SandboxConfig { read: policy, ..SandboxConfig::standard() };
    let workspace = Workspace { cwd: "/link".into(), real: "/real/ws".into(), case: Case::Sensitive };
    let mut sandbox = Sandbox::compile(&config, &workspace).unwrap();
    let guard = sandbox.guard_for("t");
    for (path, real, expected) in [
        (".env", "/real/ws/.env", "forbidden-glob"),
        ("private/k", "/real/ws/private/k", "read-denied"),
        ("a", "/real/ws/a", "allow"),
        ("a", "/link/a", "jail"),
    ] {
        assert_eq!(word(&decide(guard, Access::Read, path, &really(real))), expected, "{path}");
    }
}

#[test]
fn without_a_jail_globs_still_hold_for_what_a_path_really_is() {
    let config = SandboxConfig {
        forbidden_globs: vec!["**/.env*".to_owned(), "/etc/shadow".to_owned()],
        read: PathPolicy {
            deny: vec!["secrets/**".to_owned(), "**/private".to_owned()],
            ..PathPolicy::default()
        },
        ..SandboxConfig::default()
    };
    let mut sandbox = sandbox(&config);
    let guard = sandbox.guard_for("t");
    for (path, real, expected) in [
        ("/etc/hosts", "/etc/hosts", "allow"),
        ("/etc/shadow", "/etc/shadow", "forbidden-glob"),
        ("x", "/etc/shadow", "forbidden-glob"),
        ("/home/u/.env", "/home/u/.env", "forbidden-glob"),
        ("alias", "/base/ws/.env", "forbidden-glob"),
        ("s/k.txt", "/base/ws/secrets/k.txt", "read-denied"),
        ("/elsewhere/secrets/k", "/elsewhere/secrets/k", "allow"),
        ("/elsewhere/private/k", "/elsewhere/private/k", "read-denied"),
    ] {
        assert_eq!(word(&decide(guard, Access::Read, path, &really(real))), expected, "{path}");
    }
}

#[test]
fn to_be_allowed_every_name_must_be() {
    let only_src = PathPolicy {
        default: stockade_policy::Answer::Deny,
        allow: vec!["src/**".to_owned()],
        deny: vec!["src/secrets/**".to_owned()],
    };
    let mut sandbox = sandbox(&SandboxConfig { read: only_src, ..SandboxConfig::default() });
    let guard = sandbox.guard_for("t");
    for (path, real, expected) in [
        ("src/a", "/base/ws/src/a", "allow"),
        ("src/link", "/base/ws/other/a", "read-denied"),
        ("other/link", "/base/ws/src/a", "read-denied"),
        ("src/secrets/k", "/base/ws/src/secrets/k", "read-denied"),
        ("src/Secrets/k", "/base/ws/src/Secrets/k", "read-denied"),
        ("dist/x", "/base/ws/dist/x", "read-denied"),
        ("Src/a", "/base/ws/Src/a", "read-denied"),
    ] {
        assert_eq!(word(&decide(guard, Access::Read, path, &really(real))), expected, "{path}");
    }
}

#[test]
fn a_refusal_names_the_path_the_rule_and_the_way_out() {
    let mut sandbox = sandbox(&SandboxConfig::standard());
    let guard = sandbox.guard_for("t");
    for (path, facts, expected, fix) in [
        (
            "no\u{202e}tes",
            really("/base/ws/.env"),
            "fs.read `/base/ws/no⟨U+202E⟩tes` refused (forbidden-glob), which is really `/base/ws/.env`: the forbidden \
             glob `**/.env*` matches it, which nothing overrides",
            Some("remove `**/.env*` from forbiddenGlobs"),
        ),
        (
            "/base/other/a.txt",
            really("/base/other/a.txt"),
            "fs.read `/base/other/a.txt` refused (absolute-path): absolute paths are not accepted here: use one relative to the \
             workspace",
            Some("accept absolute paths (allowAbsolutePaths: true)"),
        ),
        (
            "a\0b",
            plain("x"),
            "fs.read `/base/ws/a⟨U+0000⟩b` refused (read-denied), which is really `/base/ws/x`: the path contains a NUL byte",
            None,
        ),
    ] {
        let Verdict::Denied(violation) = decide(guard, Access::Read, path, &facts) else { panic!("{path}") };
        assert_eq!(violation.to_string(), expected);
        assert_eq!(violation.fix.map(|fix| fix.to_string()).as_deref(), fix);
    }
}
