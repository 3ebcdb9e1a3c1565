//! Whole plans, for a machine that is written by hand.

use std::path::{Path, PathBuf};

use stockade_exec_sandbox::host::{Entry, HostFacts, Kernel, ProtectedEntry, ProtectionMode, Stamp};
use stockade_exec_sandbox::mounts::Mount;
use stockade_exec_sandbox::provider::Provider;
use stockade_exec_sandbox::{
    HomeState, HomeView, MountAccess, Network, OnUnavailable, Property, SandboxBackend, SandboxMode,
    SandboxRule, SandboxSpec, What, bwrap_arguments, plan,
};

fn named(path: &str, kind: Entry, mode: ProtectionMode) -> ProtectedEntry {
    ProtectedEntry { path: path.into(), kind, mode, stamp: Stamp::default(), around: 0 }
}

pub(crate) fn machine() -> HostFacts {
    let folder = |path: &str| (PathBuf::from(path), Entry::Folder);
    let file = |path: &str| (PathBuf::from(path), Entry::File);
    let link = |path: &str, to: &str, real: &str| {
        (PathBuf::from(path), Entry::Link { to: Some(to.into()), resolved: Some(real.into()) })
    };
    HostFacts {
        capabilities: [].into(),
        entries: [
            folder("/usr"),
            link("/bin", "usr/bin", "/usr/bin"),
            link("/etc/resolv.conf", "/run/resolv.conf", "/run/resolv.conf"),
            file("/run/resolv.conf"),
            link("/etc/localtime", "/usr/share/zoneinfo/UTC", "/usr/share/zoneinfo/UTC"),
            file("/etc/hosts"),
            folder("/etc/ssl"),
            folder("/home/u/work"),
            folder("/srv/data"),
            folder("/srv/graph/run1"),
            (PathBuf::from("/run/broker.sock"), Entry::Socket),
        ]
        .into(),
        home: "/home/u".into(),
        user: 1000,
        group: 1000,
        environment: [("PATH".into(), "/usr/bin".into()), ("TOKEN".into(), "secret".into())].into(),
        kernel: Kernel { namespaces: true, landlock: 7, seccomp: true, mediation: true },
        bubblewrap: None,
        watched: Vec::new(),
        protected: vec![
            named(".git", Entry::Folder, ProtectionMode::Pin),
            named(".git/config", Entry::File, ProtectionMode::ReadOnly),
            named(".env", Entry::File, ProtectionMode::Hide),
            named(
                ".idea",
                Entry::Link { to: Some("/home/u".into()), resolved: None },
                ProtectionMode::ReadOnly,
            ),
        ],
        shown: Vec::new(),
        worktree: None,
        ..HostFacts::default()
    }
}

#[test]
fn a_whole_plan() {
    let mut spec = SandboxSpec::new("/home/u/work", ["make", "all"]);
    spec.read_only = vec!["/srv/data".into(), "/srv/missing".into(), "/srv".into(), "/srv/data".into()];
    spec.shared = vec!["/srv/graph/run1".into()];
    let mut machine = machine();
    machine.entries.insert("/srv".into(), Entry::Folder);
    let expected = "\
run      \"make\" \"all\"
in       \"/home/u/work\"
sandbox  native
network  none
mount    ro \"/usr\"  (programs and libraries of the system)
mount    -> \"/bin\" to \"usr/bin\"  (programs and libraries of the system)
mount    ro \"/etc/resolv.conf\" from \"/run/resolv.conf\"  (host names)
mount    ro \"/etc/hosts\"  (host names)
mount    ro \"/etc/ssl\"  (certificates)
mount    -> \"/etc/localtime\" to \"/usr/share/zoneinfo/UTC\"  (the time zone)
mount    ps \"/proc\"  (processes of the sandbox)
mount    dv \"/dev\"  (harmless devices, own terminals)
mount    rw \"/tmp\" in memory, 512 MiB  (private temporary files)
mount    ro \"/srv\"  (requested as readable)
mount    rw \"/home/u\" in memory, 256 MiB  (private home)
mount    rw \"/home/u/work\"  (the workspace)
mount    rw \"/srv/graph/run1\"  (shared with other commands)
mount    ro \"/srv/data\"  (requested as readable)
mount    rw \"/home/u/work/.git\"  (must not be renamed)
mount    ro \"/home/u/work/.git/config\"  (other programs obey it)
mount    -- \"/home/u/work/.env\"  (contains secrets, or reaches programs outside)
env      \"HOME\"=\"/home/u\"
env      \"LANG\"=\"C.UTF-8\"
env      \"PATH\"=\"/usr/bin\"
env      \"PWD\"=\"/home/u/work\"
env      \"TERM\"=\"dumb\"
enforced file isolation: mount namespace
enforced process isolation: PID namespace, which ends with its first process
enforced IPC isolation: IPC namespace, and a keyring of its own
enforced dropped privileges: no capabilities, and no way to gain any
enforced network isolation: network namespace, loopback only
enforced the system call filter: seccomp filter
enforced the additional Landlock layer: Landlock
enforced protected names: existing ones are read-only, new ones are refused when they are created
";
    assert_eq!(plan(&spec, &machine).unwrap().to_string(), expected);
}

#[test]
fn a_broker_is_the_only_way_out() {
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.network = Network::Broker { socket: "/run/broker.sock".into() };
    let arguments = bwrap_arguments(&plan(&spec, &machine()).unwrap());
    let words: Vec<&str> = arguments.iter().map(|word| word.to_str().unwrap()).collect();
    let at = words.iter().position(|word| *word == "--unshare-all").unwrap();
    let expected = [
        "--unshare-all",
        "--unshare-net",
        "--bind",
        "/run/broker.sock",
        "/run/broker.sock",
        "--die-with-parent",
        "--new-session",
        "--chdir",
        "/home/u/work",
        "--",
        "true",
    ];
    assert_eq!(words[at..], expected);
    spec.network = Network::Broker { socket: "/run/other.sock".into() };
    assert_eq!(plan(&spec, &machine()).unwrap_err().rule, SandboxRule::Exists);
}

#[test]
fn no_value_of_a_variable_is_an_argument() {
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.environment.pass = vec!["TOKEN".into()];
    let plan = plan(&spec, &machine()).unwrap();
    assert!(plan.environment.contains(&("TOKEN".into(), "secret".into())));
    assert!(!bwrap_arguments(&plan).iter().any(|word| word.to_string_lossy().contains("secret")));
}

#[test]
fn what_cannot_be_enforced_refuses() {
    let mut machine = machine();
    machine.kernel = Kernel::default();
    let refusal = plan(&SandboxSpec::new("/home/u/work", ["true"]), &machine).unwrap_err();
    assert_eq!(refusal.what, What::Property(Property::Files));
    machine.kernel = Kernel { namespaces: true, landlock: 0, seccomp: false, mediation: false };
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    assert_eq!(plan(&spec, &machine).unwrap_err().what, What::Property(Property::SystemCalls));
    spec.require = [Property::Files].into();
    let gaps = plan(&spec, &machine).unwrap().enforcement.gaps;
    assert_eq!(
        gaps.iter().map(|gap| gap.property).collect::<Vec<_>>(),
        [Property::SecondWall, Property::Network]
    );
}

/// Who would run a command without a sandbox waives what is usual, and not what was named.
#[test]
fn properties_required_by_name_are_never_waived() {
    let mut machine = machine();
    machine.kernel = Kernel::default();
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.on_unavailable = OnUnavailable::Warn;
    assert_eq!(plan(&spec, &machine).unwrap().provider, Provider::Nothing);
    for property in Property::all() {
        spec.require_by_name = [property].into();
        let later = matches!(
            property,
            Property::Memory
                | Property::TotalMemory
                | Property::ProcessCount
                | Property::Priority
                | Property::Processors
                | Property::Disk
        );
        match plan(&spec, &machine) {
            // These are found out when they are set.
            Ok(plan) => assert!(later && plan.require == [property], "{property:?}"),
            Err(refusal) => assert_eq!(refusal.what, What::Property(property)),
        }
    }
}

#[test]
fn refusals_include_a_fix() {
    let cases: &[(&str, &str, &str)] = &[
        ("/etc", "cannot make /etc writable: /etc is never shared, nor any path above or below it", "copy"),
        (
            "/home/u",
            "cannot make /home/u writable: it is or contains your home, and everything at home would be shared",
            "/home/u/project",
        ),
        (
            "/home/u/new",
            "cannot make /home/u/new writable: it does not exist, or has the wrong type",
            "mkdir -p /home/u/new",
        ),
        ("/tmp", "cannot make /tmp writable: /tmp is never writable for commands", "/tmp/work"),
    ];
    for (workspace, message, fix) in cases {
        let refusal = plan(&SandboxSpec::new(*workspace, ["true"]), &machine()).unwrap_err();
        assert_eq!(refusal.to_string(), *message);
        assert!(refusal.fix.contains(fix), "{}", refusal.fix);
    }
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    spec.cwd = Some("/var/lib".into());
    assert_eq!(plan(&spec, &machine()).unwrap_err().rule, SandboxRule::VisibleCwd);
    assert_eq!(
        plan(&SandboxSpec::new("/home/u/work", [""]), &machine()).unwrap_err().rule,
        SandboxRule::PlainCommand
    );
}

/// Git keeps passwords beside its settings, and in them.
#[test]
fn no_file_with_settings_of_git_is_shared() {
    let mut facts = machine();
    let plan_with = |facts: &HostFacts| plan(&SandboxSpec::new("/home/u/work", ["true"]), facts).unwrap();
    for (path, entry) in [
        ("/home/u/.gitconfig", Entry::File),
        ("/home/u/.config/git", Entry::Folder),
        ("/home/u/.config/git/config", Entry::File),
        ("/home/u/.config/git/credentials", Entry::File),
        ("/home/u/.config/git/ignore", Entry::File),
    ] {
        facts.entries.insert(path.into(), entry);
    }
    let mounts = plan_with(&facts).mounts;
    let of_git = |mount: &&Mount| mount.target.to_string_lossy().starts_with("/home/u/.");
    let shared: Vec<&Path> = mounts.iter().filter(of_git).map(|mount| mount.target.as_path()).collect();
    assert_eq!(shared, [Path::new("/home/u/.config/git/ignore")]);
    for named in [".gitconfig", ".config/git", ".config/git/ignore", ".config/git/credentials"] {
        let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
        spec.read_only.push(facts.home.join(named));
        assert!(matches!(plan(&spec, &facts).unwrap_err().rule, SandboxRule::CredentialFolder(_)), "{named}");
    }
}

/// Credentials lie in folders that are worth sharing.
#[test]
fn files_hidden_at_home_are_hidden_in_shared_directories() {
    let mut facts = machine();
    let link = |to: &str| Entry::Link { to: None, resolved: Some(to.into()) };
    for (path, entry) in [
        ("/home/u/.m2", Entry::Folder),
        ("/home/u/.m2/settings.xml", Entry::File),
        ("/home/u/.m2/repository", Entry::Folder),
        ("/home/u/.gradle/gradle.properties", Entry::File),
        ("/srv", Entry::Folder),
        ("/srv/cargo", Entry::Folder),
        ("/home/u/.cargo/credentials.toml", link("/srv/cargo/credentials.toml")),
        ("/srv/cargo/credentials.toml", Entry::File),
        ("/home/u/.ssh", link("/srv/keys")),
        ("/srv/keys", Entry::Folder),
    ] {
        facts.entries.insert(path.into(), entry);
    }
    let hidden = |read_only: &[&str]| {
        let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
        spec.read_only = read_only.iter().map(PathBuf::from).collect();
        let mounts = plan(&spec, &facts).map(|plan| plan.mounts).map_err(|refusal| refusal.rule)?;
        let hidden = mounts.into_iter().filter(|mount| mount.reason == "contains credentials");
        Ok::<Vec<PathBuf>, SandboxRule>(hidden.map(|mount| mount.target).collect())
    };
    assert_eq!(hidden(&[]), Ok(vec![]));
    assert_eq!(hidden(&["/home/u/.m2"]), Ok(vec!["/home/u/.m2/settings.xml".into()]));
    assert_eq!(hidden(&["/home/u/.m2/repository"]), Ok(vec![]));
    assert_eq!(hidden(&["/srv/cargo"]), Ok(vec!["/srv/cargo/credentials.toml".into()]));
    let file = Err(SandboxRule::CredentialFile(".m2/settings.xml"));
    assert_eq!(hidden(&["/home/u/.m2/settings.xml"]), file);
    let both = ["/srv/cargo/credentials.toml", "/srv/keys"].map(PathBuf::from);
    assert_eq!(hidden(&["/srv"]), Ok(both.to_vec()));
    for named in ["/srv/keys", "/srv/keys/x"] {
        assert_eq!(hidden(&[named]), Err(SandboxRule::CredentialFolder(".ssh")), "{named}");
    }
}

#[test]
fn a_programs_own_state_is_visible_only_at_home() {
    const KEPT: &str = "/home/u/.local/state/stockade/drive/claude/x/claude";
    let plan_of = |source: &str, target: &str, access, change: fn(&mut SandboxSpec)| {
        let mut machine = machine();
        let link = Entry::Link { to: None, resolved: Some("/srv/data".into()) };
        for (path, entry) in [
            (KEPT, Entry::Folder),
            ("/home/u/.claude", Entry::Folder),
            ("/home/u/.codex", link),
            ("/home/u/.local/share/claude/versions/2", Entry::File),
            ("/srv/tool", Entry::File),
        ] {
            machine.entries.insert(path.into(), entry);
        }
        let mut spec = SandboxSpec::new("/home/u/work", ["claude"]);
        spec.home_state = vec![HomeState { source: source.into(), target: target.into(), access }];
        change(&mut spec);
        plan(&spec, &machine).map(|plan| plan.to_string())
    };
    let (read, write) = (MountAccess::ReadOnly, MountAccess::ReadWrite);
    let nothing: fn(&mut SandboxSpec) = |_| {};
    for (source, target, access, line) in [
        (KEPT, "/home/u/.claude", write, format!("rw \"/home/u/.claude\" from {KEPT:?}")),
        ("/home/u/.claude", "/home/u/.claude", write, "rw \"/home/u/.claude\"".to_owned()),
        ("/srv/tool", "/srv/tool", read, "ro \"/srv/tool\"".to_owned()),
        (
            "/home/u/.local/share/claude/versions/2",
            "/home/u/.local/share/claude/versions/2",
            read,
            "ro \"/home/u/.local/share/claude/versions/2\"".to_owned(),
        ),
    ] {
        let text = plan_of(source, target, access, nothing).unwrap();
        assert!(text.contains(&format!("{line}  (the program's own state)")), "{source}: {text}");
    }
    let missing = plan_of("/home/u/.gemini", "/home/u/.gemini", write, nothing).unwrap();
    assert!(!missing.contains(".gemini"), "{missing}");
    for (source, target, access, rule) in [
        ("/home/u/.codex", "/home/u/.codex", write, SandboxRule::NoLinks),
        (KEPT, "/home/u", write, SandboxRule::Exists),
        (KEPT, "/usr/lib", write, SandboxRule::Exists),
        ("/srv/tool", "/usr/bin/tool", read, SandboxRule::Exists),
        ("/srv/tool", "/srv/tool", write, SandboxRule::Exists),
        (KEPT, "/home/u/../v", write, SandboxRule::PlainPath),
    ] {
        let refused = plan_of(source, target, access, nothing).unwrap_err();
        assert_eq!(refused.rule, rule, "{source} {target}");
    }
    // Where nothing may be changed, this is only read; and who cannot show it to one program alone does not.
    let read_only =
        plan_of(KEPT, "/home/u/.claude", write, |spec| SandboxMode::ReadOnly.apply(spec)).unwrap();
    assert!(read_only.contains("ro \"/home/u/.claude\" from"), "{read_only}");
    let landlock = plan_of(KEPT, "/home/u/.claude", write, |spec| {
        spec.backend = SandboxBackend::Landlock;
        spec.require.clear();
    });
    assert!(matches!(landlock.unwrap_err().rule, SandboxRule::CannotEnforce(_)));
}

/// The targets of mounts in the home, in their order.
fn seen_at_home(facts: &HostFacts, change: fn(&mut SandboxSpec)) -> Vec<String> {
    let mut spec = SandboxSpec::new("/home/u/work", ["true"]);
    change(&mut spec);
    let mounts = plan(&spec, facts).unwrap().mounts;
    let targets = mounts.iter().filter_map(|mount| mount.target.strip_prefix("/home/u").ok());
    let targets = targets.map(|target| target.to_string_lossy().into_owned());
    targets.filter(|target| !target.is_empty() && !target.starts_with("work")).collect()
}

#[test]
fn toolchains_are_visible_in_standard_places_and_on_the_search_path() {
    let mut facts = machine();
    let there = [
        ".cargo/bin",
        ".rustup",
        ".nvm",
        ".pyenv",
        ".local/bin",
        ".local/share/uv",
        "go/bin",
        "tools/bin",
        ".ssh/bin",
        "unnamed/bin",
    ];
    let entries = there.map(|below| (Path::new("/home/u").join(below), Entry::Folder));
    facts.entries.extend(entries);
    let path = "/usr/bin:/home/u/tools/bin:/home/u/.ssh/bin:/home/u:/home/u/gone/bin:bin:/home/u/.nvm/versions/node/v20/bin";
    facts.environment.insert("PATH".into(), path.into());
    let mut seen = seen_at_home(&facts, |_| {});
    seen.sort();
    let toolchains =
        [".cargo/bin", ".local/bin", ".local/share/uv", ".nvm", ".pyenv", ".rustup", "go/bin", "tools/bin"];
    assert_eq!(seen, toolchains, "tools are the default");
    assert_eq!(seen_at_home(&facts, |spec| spec.home = HomeView::Private), [] as [&str; 0]);
}

#[test]
fn no_toolchain_hides_a_workspace_that_lies_in_it() {
    let mut facts = machine();
    for below in ["sdk", "sdk/app", "own/bin", "own/bin/shared"] {
        facts.entries.insert(Path::new("/home/u").join(below), Entry::Folder);
    }
    facts.environment.insert("PATH".into(), "/home/u/own/bin:/home/u/sdk/app/bin".into());
    let seen = seen_at_home(&facts, |spec| {
        spec.workspace = "/home/u/sdk/app".into();
        spec.shared = vec!["/home/u/own/bin/shared".into()];
    });
    assert!(!seen.contains(&"sdk".to_owned()) && !seen.contains(&"own/bin".to_owned()), "{seen:?}");
}

/// Where agents work by default lies in folders that hold credentials.
#[test]
fn a_default_workspace_of_an_agent_is_shared_and_nothing_beside_it() {
    for row in stockade_names::DEFAULT_WORKSPACES {
        for path in row.paths {
            let at = Path::new("/home/u").join(path.replace('*', "x"));
            let mut facts = machine();
            facts.entries.insert(at.clone(), Entry::Folder);
            facts.entries.insert(at.join("sub"), Entry::Folder);
            for workspace in [at.clone(), at.join("sub")] {
                let plan = plan(&SandboxSpec::new(&workspace, ["true"]), &facts).unwrap();
                assert!(plan.mounts.iter().any(|mount| mount.target == workspace), "{}", workspace.display());
            }
            let beside = at.parent().unwrap().to_path_buf();
            facts.entries.insert(beside.clone(), Entry::Folder);
            let refused = plan(&SandboxSpec::new(&beside, ["true"]), &facts);
            assert!(
                matches!(refused, Err(refusal) if matches!(refusal.rule, SandboxRule::CredentialFolder(_)))
                    || row.tool.contains("Worktrees"),
                "{}",
                beside.display()
            );
        }
    }
}
