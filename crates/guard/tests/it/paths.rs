//! Paths on a real disk: where they lead, what is opened, and what a swapped link gains (nothing).

#![expect(clippy::disallowed_methods, reason = "lays out folders and races against the guard in them")]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail by panicking")]

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use stockade_guard::Resolver;
use stockade_guard::admission::{Authorization, PathGuard, PathRequest};
use stockade_guard::policy::paths::{HardLinks, PathPolicy, Preset, ResolveError};
use stockade_guard::policy::{Access, Answer, Caller, PathFacts, Reply, SandboxConfig};

const RESOLVERS: [Resolver; 2] = [Resolver::Kernel, Resolver::Walk];

/// A workspace and, beside it, what must never be touched.
struct Site {
    base: tempfile::TempDir,
}

const SECRET: &str = "outside";

impl Site {
    fn new() -> Self {
        let site = Self { base: tempfile::tempdir().unwrap() };
        for folder in ["ws/src", "ws/.git", "outside"] {
            fs::create_dir_all(site.at(folder)).unwrap();
        }
        for (file, text) in [
            ("ws/a.txt", "inside"),
            ("ws/src/b.txt", "inside"),
            ("ws/.env", "key"),
            ("outside/t.txt", SECRET),
        ] {
            fs::write(site.at(file), text).unwrap();
        }
        site
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.path().canonicalize().unwrap().join(path)
    }

    fn link(&self, link: &str, target: &str) {
        let target = target.strip_prefix('@').map_or_else(|| PathBuf::from(target), |path| self.at(path));
        symlink(target, self.at(link)).unwrap();
    }

    fn guard(&self, config: &SandboxConfig, resolver: Resolver) -> PathGuard {
        PathGuard::open(config, &self.at("ws"), resolver).unwrap()
    }
}

fn ask(guard: &mut PathGuard, access: Access, path: &str) -> Authorization {
    guard.authorize(&PathRequest { tool: "t", access, path: Path::new(path), caller: Caller::default() })
}

fn word(authorization: &Authorization) -> String {
    match authorization {
        Authorization::Granted(_) => "granted".to_owned(),
        Authorization::Pending(_) => "pending".to_owned(),
        Authorization::Denied(violation) => violation.reason.name().to_owned(),
        other => format!("{other:?}"),
    }
}

fn text(authorization: Authorization) -> String {
    let mut text = String::new();
    authorization.granted().unwrap().into_file().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn links_are_seen_through() {
    let site = Site::new();
    for (link, target) in [
        ("ws/in", "a.txt"),
        ("ws/in2", "in"),
        ("ws/up", "../ws/src/../a.txt"),
        ("ws/folder", "src"),
        ("ws/out", "@outside/t.txt"),
        ("ws/outfolder", "@outside"),
        ("ws/dangling", "@outside/new.txt"),
        ("ws/relative", "../outside/new.txt"),
        ("ws/new", "src/not/yet"),
        ("ws/env", ".env"),
        ("ws/one", "two"),
        ("ws/two", "one"),
        ("ws/magic", "/proc/self/root"),
        ("ws/back", "@ws/src"),
    ] {
        site.link(link, target);
    }
    for resolver in RESOLVERS {
        let mut guard = site.guard(&SandboxConfig::standard(), resolver);
        for (path, expected) in [
            ("a.txt", "granted"),
            (".", "granted"),
            ("src", "granted"),
            ("in2", "granted"),
            ("up", "granted"),
            ("folder/b.txt", "granted"),
            ("back/b.txt", "granted"),
            ("new", "granted"),
            ("not/yet/there", "granted"),
            ("out", "jail"),
            ("outfolder/t.txt", "jail"),
            ("dangling", "jail"),
            ("relative", "jail"),
            ("magic/etc/passwd", "jail"),
            ("env", "forbidden-glob"),
            ("one", "read-denied"),
            ("a.txt/x", "read-denied"),
        ] {
            assert_eq!(word(&ask(&mut guard, Access::Read, path)), expected, "{path} {resolver:?}");
        }
        assert_eq!(guard.facts(Path::new("one")), PathFacts::Unresolvable(ResolveError::Loop));
        assert_eq!(text(ask(&mut guard, Access::Read, "up")), "inside");
        let granted = ask(&mut guard, Access::Read, "folder/b.txt").granted().unwrap();
        assert_eq!(granted.path(), site.at("ws/src/b.txt"));
    }
}

#[test]
fn going_up_behind_a_link_is_judged_as_the_kernel_goes() {
    let site = Site::new();
    fs::create_dir_all(site.at("ws/deep/er")).unwrap();
    fs::write(site.at("ws/deep/t.txt"), "inside").unwrap();
    site.link("ws/vendor", "@outside");
    site.link("ws/near", "deep/er");
    site.link("ws/src/top", "../src");
    // What tidying the text makes of it lies in the workspace; what the kernel opens does not.
    fs::write(site.at("passwd"), SECRET).unwrap();
    for (path, expected) in [
        ("vendor/../passwd", "jail"),
        ("vendor/../ws/a.txt", "read-denied"),
        ("./vendor/./..//passwd", "jail"),
        ("gone/../vendor/t.txt", "jail"),
        ("vendor/../gone", "jail"),
        // Both lie in the workspace, and are not the same file.
        ("near/../t.txt", "read-denied"),
        ("src/top/../a.txt", "read-denied"),
        // No link is on the way.
        ("src/../a.txt", "granted"),
        ("gone/../a.txt", "granted"),
        ("a.txt/../src/b.txt", "read-denied"),
        ("a.txt/", "read-denied"),
        ("src/", "granted"),
    ] {
        for resolver in RESOLVERS {
            let mut guard = site.guard(&SandboxConfig::standard(), resolver);
            let answer = ask(&mut guard, Access::Read, path);
            assert_eq!(word(&answer), expected, "{path} {resolver:?}");
        }
    }
}

#[test]
fn both_resolvers_say_the_same() {
    let site = Site::new();
    site.link("ws/l", "src");
    site.link("ws/src/up", "../../outside");
    fs::hard_link(site.at("ws/a.txt"), site.at("ws/src/hard")).unwrap();
    let config = SandboxConfig::default();
    let (kernel, walk) = (site.guard(&config, Resolver::Kernel), site.guard(&config, Resolver::Walk));
    for path in [
        ".",
        "..",
        "a.txt",
        "src",
        "src/b.txt",
        "src/hard",
        "l",
        "l/b.txt",
        "src/up",
        "src/up/t.txt",
        "no",
        "no/no",
        "a.txt/no",
        "/",
        "/proc/self/exe",
        "/dev/null",
        "/no/such/thing",
    ] {
        assert_eq!(kernel.facts(Path::new(path)), walk.facts(Path::new(path)), "{path}");
    }
}

#[test]
fn a_workspace_behind_a_link_keeps_its_rules() {
    let site = Site::new();
    site.link("link", "ws");
    for resolver in RESOLVERS {
        let mut guard = PathGuard::open(&SandboxConfig::standard(), &site.at("link"), resolver).unwrap();
        assert_eq!(word(&ask(&mut guard, Access::Read, ".env")), "forbidden-glob");
        assert_eq!(word(&ask(&mut guard, Access::Read, "a.txt")), "granted");
    }
}

#[test]
fn hard_links_are_followed_home() {
    let site = Site::new();
    for (name, of) in [("ws/twin", "ws/a.txt"), ("ws/alias", "ws/.env"), ("ws/stray", "outside/t.txt")] {
        fs::hard_link(site.at(of), site.at(name)).unwrap();
    }
    for resolver in RESOLVERS {
        let mut guard = site.guard(&SandboxConfig::standard(), resolver);
        for (path, expected) in [("twin", "granted"), ("alias", "forbidden-glob"), ("stray", "jail")] {
            assert_eq!(word(&ask(&mut guard, Access::Read, path)), expected, "{path}");
        }
        let accepting = SandboxConfig { hard_links: HardLinks::Accepted, ..SandboxConfig::standard() };
        assert_eq!(word(&ask(&mut site.guard(&accepting, resolver), Access::Read, "stray")), "granted");
    }
}

#[test]
fn writing_creates_what_is_missing_and_nothing_else() {
    let site = Site::new();
    for resolver in RESOLVERS {
        let mut guard = site.guard(&SandboxConfig::standard(), resolver);
        let name = format!("new/{resolver:?}/x.txt");
        let granted = ask(&mut guard, Access::Write, &name).granted().unwrap();
        granted.into_file().unwrap().write_all(b"new").unwrap();
        assert_eq!(fs::read_to_string(site.at("ws").join(&name)).unwrap(), "new");

        let granted = ask(&mut guard, Access::Write, "a.txt").granted().unwrap();
        let file = granted.into_file().unwrap();
        assert_eq!(fs::read_to_string(site.at("ws/a.txt")).unwrap(), "inside", "authorising empties nothing");
        drop(file);

        let missing = ask(&mut guard, Access::Read, "missing").granted().unwrap().into_file();
        assert_eq!(missing.unwrap_err().kind(), std::io::ErrorKind::NotFound);

        // A link that was put where nothing was is not followed.
        let granted = ask(&mut guard, Access::Write, "planted").granted().unwrap();
        site.link("ws/planted", "@outside/planted");
        assert!(granted.into_file().is_err());
        assert!(!site.at("outside/planted").exists());
        fs::remove_file(site.at("ws/planted")).unwrap();
    }
}

#[test]
fn what_was_authorised_is_what_is_open() {
    let site = Site::new();
    for resolver in RESOLVERS {
        let mut guard = site.guard(&SandboxConfig::standard(), resolver);
        let read = ask(&mut guard, Access::Read, "a.txt");
        let write = ask(&mut guard, Access::Write, "src/new.txt");
        fs::rename(site.at("ws/a.txt"), site.at("ws/kept")).unwrap();
        site.link("ws/a.txt", "@outside/t.txt");
        fs::rename(site.at("ws/src"), site.at("ws/src-kept")).unwrap();
        site.link("ws/src", "@outside");
        assert_eq!(text(read), "inside");
        write.granted().unwrap().into_file().unwrap().write_all(b"x").unwrap();
        assert!(!site.at("outside/new.txt").exists());
        assert!(site.at("ws/src-kept/new.txt").exists());
        for (link, kept) in [("ws/a.txt", "ws/kept"), ("ws/src", "ws/src-kept")] {
            fs::remove_file(site.at(link)).unwrap();
            fs::rename(site.at(kept), site.at(link)).unwrap();
        }
        fs::remove_file(site.at("ws/src/new.txt")).unwrap();
    }
}

#[test]
fn an_answer_is_about_what_was_shown() {
    let site = Site::new();
    let asking = PathPolicy { default: Answer::Ask, ..PathPolicy::default() };
    let config = SandboxConfig { read: asking.clone(), write: asking, ..Preset::Daemon.into() };
    for resolver in RESOLVERS {
        let mut guard = site.guard(&config, resolver);
        let pending = |guard: &mut PathGuard| match ask(guard, Access::Read, "src/b.txt") {
            Authorization::Pending(pending) => pending,
            other => panic!("{other:?}"),
        };
        let calm = pending(&mut guard);
        assert_eq!(calm.ask().object().path(), Some(site.at("ws/src/b.txt").as_path()));
        assert_eq!(text(guard.answer(*calm, Reply::parse("allow"))), "inside");
        let no = pending(&mut guard);
        assert_eq!(word(&guard.answer(*no, Reply::parse("banana"))), "read-denied");
        // Swapped while a person thinks: for a link, and for another file.
        let swapped = pending(&mut guard);
        fs::rename(site.at("ws/src"), site.at("ws/kept")).unwrap();
        site.link("ws/src", "@outside");
        assert_eq!(word(&guard.answer(*swapped, Reply::parse("allow"))), "read-denied");
        fs::remove_file(site.at("ws/src")).unwrap();
        fs::rename(site.at("ws/kept"), site.at("ws/src")).unwrap();
        let replaced = pending(&mut guard);
        fs::write(site.at("ws/src/other"), "other").unwrap();
        fs::rename(site.at("ws/src/other"), site.at("ws/src/b.txt")).unwrap();
        assert_eq!(word(&guard.answer(*replaced, Reply::parse("allow"))), "read-denied");
        fs::write(site.at("ws/src/b.txt"), "inside").unwrap();
    }
}

/// Lets a thread swap a folder and a file for links out of the workspace and back, over and over, while `attempt` runs.
fn while_swapping(site: &Site, attempt: impl FnOnce()) {
    fs::create_dir(site.at("ws/d")).unwrap();
    fs::write(site.at("ws/d/t.txt"), "inside").unwrap();
    let [folder, aside, file, link, plain] =
        ["ws/d", "aside", "ws/a.txt", "ws/link", "plain"].map(|path| site.at(path));
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !stop.load(Ordering::Relaxed) {
                // Some of it fails; the race goes on.
                drop(fs::rename(&folder, &aside));
                drop(symlink(site.at("outside"), &folder));
                drop(fs::remove_file(&folder));
                drop(fs::rename(&aside, &folder));
                drop(symlink(site.at("outside/t.txt"), &link));
                drop(fs::rename(&link, &file));
                drop(fs::write(&plain, "inside"));
                drop(fs::rename(&plain, &file));
            }
        });
        // Stops the race also when an assertion fails.
        let _stop = StopAtEnd(&stop);
        attempt();
    });
}

/// Whatever is granted is inside, however fast its components are swapped.
#[test]
fn racing_against_the_guard_gains_nothing() {
    let site = Site::new();
    let (mut granted, mut refused) = (0, 0);
    while_swapping(&site, || {
        for round in 0..ROUNDS {
            let mut guard = site.guard(&SandboxConfig::standard(), RESOLVERS[round % 2]);
            for path in ["d/t.txt", "a.txt"] {
                match ask(&mut guard, Access::Read, path).granted().map(|granted| granted.into_file()) {
                    Some(Ok(mut file)) => {
                        let mut text = String::new();
                        file.read_to_string(&mut text).unwrap();
                        assert!(text == "inside" || text.is_empty(), "{path} gave {text:?}");
                        granted += 1;
                    }
                    _ => refused += 1,
                }
            }
            let name = format!("d/new-{round}");
            if let Some(granted) = ask(&mut guard, Access::Write, &name).granted() {
                drop(granted.into_file());
            }
        }
    });
    assert!(granted > 0, "nothing was ever granted, so nothing was tested ({refused} refusals)");
    let outside: Vec<_> =
        fs::read_dir(site.at("outside")).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(outside, ["t.txt"]);
    assert_eq!(fs::read_to_string(site.at("outside/t.txt")).unwrap(), SECRET);
}

/// Enough for the race to meet every step of the guard many times.
const ROUNDS: usize = 1500;

/// A check that then opens the path by its name loses the same race, so this test exercises a real race.
#[test]
fn racing_against_a_check_by_name_gets_out() {
    for (path, resolver) in [("d/t.txt", RESOLVERS[0]), ("a.txt", RESOLVERS[0]), ("d/t.txt", RESOLVERS[1])] {
        let site = Site::new();
        let mut escaped = None;
        while_swapping(&site, || {
            let mut guard = site.guard(&SandboxConfig::standard(), resolver);
            let named = site.at("ws").join(path);
            escaped = (0..MAX_TRIES).find(|_| {
                let allowed = guard.can_access("t", Access::Read, Path::new(path));
                // The other thread's turn, as it comes about sooner or later.
                std::thread::yield_now();
                allowed && fs::read_to_string(&named).is_ok_and(|text| text == SECRET)
            });
        });
        assert!(
            escaped.is_some(),
            "{path}: never got out in {MAX_TRIES} tries, so the race is too slow to test"
        );
    }
}

/// It takes some tens of tries.
const MAX_TRIES: usize = 200_000;

struct StopAtEnd<'s>(&'s AtomicBool);

impl Drop for StopAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

#[test]
fn special_files_are_not_waited_for() {
    let site = Site::new();
    let pipe = site.at("ws/pipe");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    for resolver in RESOLVERS {
        let mut jailed = site.guard(&SandboxConfig::standard(), resolver);
        assert_eq!(word(&ask(&mut jailed, Access::Read, "pipe")), "jail");
        let mut open = site.guard(&SandboxConfig::default(), resolver);
        assert_eq!(word(&ask(&mut open, Access::Read, "pipe")), "granted");
        assert_eq!(word(&ask(&mut open, Access::Read, "/dev/null")), "granted");
    }
}

#[test]
fn links_that_go_up_and_down_forever_end() {
    let site = Site::new();
    let detour = "src/../".repeat(500) + "src/b.txt";
    site.link("ws/detour", &detour);
    let chain: Vec<String> = (0..60).map(|index| format!("ws/c{index}")).collect();
    for (index, link) in chain.iter().enumerate() {
        site.link(link, &format!("c{}", index + 1));
    }
    for resolver in RESOLVERS {
        let guard = site.guard(&SandboxConfig::standard(), resolver);
        assert_eq!(guard.facts(Path::new("c0")), PathFacts::Unresolvable(ResolveError::Loop));
        let PathFacts::Resolved(resolved) = guard.facts(Path::new("detour")) else { panic!() };
        assert_eq!(resolved.real, site.at("ws/src/b.txt"));
    }
}
