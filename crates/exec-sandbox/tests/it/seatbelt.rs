//! Profiles for macOS: what they say of paths, as the kernel there would decide, and their text.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::panic,
    reason = "a test may panic, and compares with a file"
)]

use std::path::{Path, PathBuf};

use regex_automata::meta::Regex;
use stockade_exec_sandbox::host::{Entry, HostFacts};
use stockade_exec_sandbox::seatbelt::{SeatbeltPlan, seatbelt_plan};
use stockade_exec_sandbox::{HomeView, MountAccess, Network, Property, Protection, SandboxSpec, Spawn};

const HOME: &str = "/Users/agent";
const WORKSPACE: &str = "/Users/agent/work";

fn machine() -> HostFacts {
    let there = [
        "/Users/agent/Library",
        "/Users/agent/.local",
        "/Users/agent/.claude",
        WORKSPACE,
        "/Users/agent/shared",
    ];
    HostFacts {
        entries: there.iter().map(|path| (PathBuf::from(path), Entry::Folder)).collect(),
        home: HOME.into(),
        user: 501,
        ..HostFacts::default()
    }
}

fn spec() -> SandboxSpec {
    SandboxSpec::new(WORKSPACE, ["/usr/bin/make", "test"])
}

fn planned(change: impl FnOnce(&mut SandboxSpec)) -> SeatbeltPlan {
    let mut spec = spec();
    change(&mut spec);
    seatbelt_plan(&spec, &machine()).unwrap()
}

/// One rule of a profile: whether it allows, which operations, and for which paths.
struct Rule {
    allows: bool,
    operations: Vec<String>,
    filter: Filter,
}

enum Filter {
    Any,
    Below(PathBuf),
    Is(PathBuf),
    Fits(Regex),
    All(Vec<Filter>),
    Not(Box<Filter>),
    /// Of no path: `(remote ip …)`.
    Other,
}

impl Filter {
    fn fits(&self, path: &Path) -> bool {
        match self {
            Self::Any => true,
            Self::Below(folder) => path.starts_with(folder),
            Self::Is(one) => path == one,
            Self::Fits(regex) => regex.is_match(path.to_str().unwrap()),
            Self::All(all) => all.iter().all(|filter| filter.fits(path)),
            Self::Not(inner) => !inner.fits(path),
            Self::Other => false,
        }
    }
}

/// A list or a word of Scheme.
enum Form {
    Word(String),
    Text(String),
    List(Vec<Form>),
}

/// Reads a profile as Scheme does. It panics where that would be an error.
fn read(profile: &str) -> Vec<Form> {
    let mut chars = profile.chars().peekable();
    let forms = read_list(&mut chars, 0);
    assert!(chars.next().is_none());
    forms
}

fn read_list(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, depth: usize) -> Vec<Form> {
    let mut forms = Vec::new();
    loop {
        match chars.peek().copied() {
            None => {
                assert_eq!(depth, 0, "a list does not end");
                return forms;
            }
            Some(')') => {
                assert!(depth > 0, "a list ends that did not begin");
                chars.next();
                return forms;
            }
            Some('(') => {
                chars.next();
                forms.push(Form::List(read_list(chars, depth + 1)));
            }
            Some(';') => while chars.next_if(|c| *c != '\n').is_some() {},
            Some(c) if c.is_whitespace() => {
                chars.next();
            }
            Some('"') => forms.push(Form::Text(read_text(chars, true))),
            Some('#') => {
                chars.next();
                forms.push(Form::Text(read_text(chars, false)));
            }
            Some(_) => {
                let mut word = String::new();
                while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"();\"".contains(*c)) {
                    word.push(c);
                }
                forms.push(Form::Word(word));
            }
        }
    }
}

fn read_text(chars: &mut std::iter::Peekable<std::str::Chars<'_>>, has_escapes: bool) -> String {
    assert_eq!(chars.next(), Some('"'));
    let mut text = String::new();
    loop {
        match chars.next().expect("a text does not end") {
            '"' => return text,
            '\\' if has_escapes => text.push(chars.next().unwrap()),
            c => text.push(c),
        }
    }
}

fn rules(profile: &str) -> Vec<Rule> {
    let mut rules = Vec::new();
    for form in read(profile) {
        let Form::List(parts) = form else { panic!("a word stands alone") };
        let words: Vec<&str> = parts
            .iter()
            .filter_map(|part| match part {
                Form::Word(word) => Some(word.as_str()),
                _ => None,
            })
            .collect();
        if words[0] == "version" {
            continue;
        }
        assert!(matches!(words[0], "allow" | "deny"), "{words:?}");
        let filters: Vec<Filter> = parts.iter().filter_map(filter).collect();
        let operations: Vec<String> = words[1..].iter().map(|word| (*word).to_owned()).collect();
        assert!(!operations.is_empty());
        let filters = if filters.is_empty() { vec![Filter::Any] } else { filters };
        for filter in filters {
            rules.push(Rule { allows: words[0] == "allow", operations: operations.clone(), filter });
        }
    }
    rules
}

fn filter(form: &Form) -> Option<Filter> {
    let Form::List(parts) = form else { return None };
    let inner = || parts[1..].iter().filter_map(filter).collect::<Vec<_>>();
    Some(match &parts[..] {
        [Form::Word(kind), Form::Text(text)] => match kind.as_str() {
            "subpath" => Filter::Below(text.into()),
            "literal" => Filter::Is(text.into()),
            "regex" => Filter::Fits(Regex::new(text).unwrap()),
            "global-name" => Filter::Other,
            kind => panic!("{kind}"),
        },
        [Form::Word(kind), ..] => match kind.as_str() {
            "require-all" => Filter::All(inner()),
            "require-not" => Filter::Not(Box::new(inner().remove(0))),
            "remote" | "local" | "target" => Filter::Other,
            kind => panic!("{kind}"),
        },
        _ => panic!("a filter without a kind"),
    })
}

/// Decides as the kernel does: by the last rule that fits.
struct Judge(Vec<Rule>);

impl Judge {
    fn of(plan: &SeatbeltPlan) -> Self {
        Self(rules(&plan.profile))
    }

    fn allows(&self, operation: &str, path: &str) -> bool {
        let is_meant = |named: &str| {
            named == operation
                || named == "default"
                || named.strip_suffix('*').is_some_and(|all| operation.starts_with(all))
        };
        let last = self.0.iter().rfind(|rule| {
            rule.operations.iter().any(|named| is_meant(named)) && rule.filter.fits(Path::new(path))
        });
        last.is_some_and(|rule| rule.allows)
    }
}

#[test]
fn what_a_command_may_read_and_write() {
    let plan = planned(|spec| {
        spec.shared = vec!["/Users/agent/shared".into()];
        spec.read_only = vec!["/opt/data".into()];
        spec.hidden = vec!["/Users/agent/work/private".into()];
        spec.unwritable = vec!["/Users/agent/work/vendor".into()];
        spec.home = HomeView::Tools;
    });
    let rows = [
        ("/usr/bin/make", true, false),
        ("/System/Library/Frameworks/x", true, false),
        ("/Users/agent/work", true, true),
        ("/Users/agent/work/src/main.rs", true, true),
        ("/Users/agent/work/private/x", false, false),
        ("/Users/agent/work/vendor/x", true, false),
        ("/Users/agent/shared/x", true, true),
        ("/opt/data/x", true, false),
        ("/private/tmp/x", true, true),
        ("/private/var/folders/a/b/T/x", true, true),
        ("/private/etc/hosts", true, false),
        ("/private/etc/sudoers", false, false),
        ("/private/etc/master.passwd", false, false),
        ("/Users/agent", false, false),
        ("/Users/agent/notes.txt", false, false),
        ("/Users/agent/.local/bin/tool", true, false),
        ("/Users/agent/Library/Fonts/x", true, false),
        ("/Users/agent/Library/Keychains/login.keychain-db", false, false),
        ("/Users/agent/Library/Application Support/Google/Chrome/Default/Cookies", false, false),
        ("/Users/agent/.ssh/id_ed25519", false, false),
        ("/Users/agent/.aws/credentials", false, false),
        ("/Users/agent/.claude/settings.json", false, false),
        ("/Users/other/x", false, false),
        ("/Volumes/x", false, false),
        // Names that other programs obey, or that hold secrets.
        ("/Users/agent/work/.vscode/tasks.json", true, false),
        ("/Users/agent/work/a/b/.VSCode/tasks.json", true, false),
        ("/Users/agent/shared/.vscode/tasks.json", true, false),
        ("/Users/agent/work/.git/hooks/pre-commit", true, false),
        ("/Users/agent/work/.git/config", true, false),
        ("/Users/agent/work/.git/objects/ab/cd", true, true),
        ("/Users/agent/work/.git/modules/a/hooks/x", true, false),
        ("/Users/agent/work/.git/HEAD", true, true),
        ("/Users/agent/work/.env", false, false),
        ("/Users/agent/work/deep/er/.ENV", false, false),
        ("/Users/agent/work/.env.example", true, true),
        ("/Users/agent/work/README.md", true, true),
    ];
    let judge = Judge::of(&plan);
    for (path, reads, writes) in rows {
        assert_eq!(judge.allows("file-read-data", path), reads, "read {path}");
        assert_eq!(judge.allows("file-write-create", path), writes, "write {path}");
    }
    // A repository stays where it is, and a new one can be made.
    assert!(!judge.allows("file-write-unlink", "/Users/agent/work/.git"));
    assert!(judge.allows("file-write-create", "/Users/agent/work/.git"));
    for folder in ["/", "/Users", "/Users/agent", "/tmp"] {
        assert!(judge.allows("file-read-metadata", folder), "{folder}");
    }
}

#[test]
fn read_only_and_unprotected_profiles_are_correct() {
    let read_only = planned(|spec| spec.workspace_access = MountAccess::ReadOnly);
    assert!(!Judge::of(&read_only).allows("file-write-create", "/Users/agent/work/x"));
    let off = planned(|spec| spec.protection = Protection::Off);
    assert!(Judge::of(&off).allows("file-write-create", "/Users/agent/work/.vscode/x"));
    assert!(off.enforcement.gaps.iter().any(|gap| gap.property == Property::ProtectedNames));
    let private = planned(|spec| spec.home = HomeView::Private);
    assert!(!Judge::of(&private).allows("file-read-data", "/Users/agent/.local/bin/tool"));
}

#[test]
fn the_profile_limits_network_and_programs() {
    let allows = |plan: &SeatbeltPlan, operation: &str, path: &str| Judge::of(plan).allows(operation, path);
    let none = planned(|_| {});
    assert!(!none.profile.contains("network"), "{}", none.profile);
    assert!(allows(&none, "process-fork", "/") && allows(&none, "process-exec", "/usr/bin/env"));
    let broker = planned(|spec| spec.network = Network::Broker { socket: "/Users/agent/broker.sock".into() });
    assert!(allows(&broker, "network-outbound", "/Users/agent/broker.sock"));
    assert!(!allows(&broker, "network-outbound", "/private/tmp/ssh.sock"));
    let open = planned(|spec| spec.network = Network::Open);
    assert!(open.profile.contains("(allow network-outbound (remote ip \"*:*\"))"));
    assert!(!allows(&open, "network-outbound", "/private/tmp/com.apple.launchd.x/Listeners"));
    let alone = planned(|spec| spec.spawn = Spawn::Threads);
    assert!(!allows(&alone, "process-fork", "/") && !allows(&alone, "process-exec", "/bin/sh"));
    assert!(allows(&alone, "process-exec", "/usr/bin/make"));
}

#[test]
fn requests_that_macos_cannot_enforce_are_refused() {
    type Change = fn(&mut SandboxSpec);
    let rows: &[(Change, &str)] = &[
        (|spec| spec.workspace = "/".into(), "root directory"),
        (|spec| spec.workspace = HOME.into(), "home"),
        (|spec| spec.workspace = "/Users/agent/.ssh".into(), "credentials"),
        (|spec| spec.workspace = "/Library/x".into(), "/Library is never writable"),
        (|spec| spec.workspace = "/tmp".into(), "/tmp is never writable"),
        (|spec| spec.workspace = "/private/tmp".into(), "/private/tmp is never writable"),
        (|spec| spec.workspace = "work".into(), "absolute"),
        (|spec| spec.workspace = "/Users/agent/a/../work".into(), "absolute"),
        (|spec| spec.read_only = vec!["/Users/agent/a\nb".into()], "invisible characters"),
        (|spec| spec.read_only = vec!["/Users/agent/.aws".into()], "credentials"),
        (|spec| spec.cwd = Some("/Users/agent/other".into()), "not visible in the sandbox"),
        (|spec| spec.command = Vec::new(), "program"),
        (|spec| spec.require_by_name = [Property::SystemCalls].into(), "operations and not system calls"),
        (|spec| spec.require_by_name = [Property::SecondWall].into(), "no Landlock"),
        (
            |spec| {
                spec.command = vec!["make".into()];
                spec.spawn = Spawn::Threads;
                spec.require_by_name = [Property::NoSpawn].into();
            },
            "absolute path",
        ),
    ];
    for (change, why) in rows {
        let mut spec = spec();
        change(&mut spec);
        let refusal = seatbelt_plan(&spec, &machine()).expect_err(why);
        assert!(refusal.to_string().contains(why), "{refusal} / {why}");
        assert!(!refusal.fix.is_empty());
    }
}

#[test]
fn arguments_and_profile_are_as_written_down() {
    let plan = planned(|spec| spec.home = HomeView::Tools);
    let arguments = plan.sandbox_exec_arguments();
    assert_eq!(arguments[0], "-p");
    assert_eq!(arguments[2..], ["--", "/usr/bin/make", "test"]);
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/seatbelt.sb");
    if std::env::var_os("STOCKADE_BLESS").is_some() {
        std::fs::write(&file, &plan.profile).unwrap();
    }
    assert_eq!(std::fs::read_to_string(file).unwrap(), plan.profile, "STOCKADE_BLESS=1 writes it anew");
}
