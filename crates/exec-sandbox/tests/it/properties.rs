//! What is true of every plan, whatever the spec is. Fuzz targets call these too.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

use stockade_exec_sandbox::host::{Entry, HostFacts, Kernel};
use stockade_exec_sandbox::mounts::MountKind;
use stockade_exec_sandbox::{MountAccess, SandboxSpec, bwrap_arguments, plan};

/// Splits lines of bytes into a letter for the kind, and the rest.
pub(crate) fn plans_hold(data: &[u8]) {
    let mut facts = HostFacts {
        home: "/home/u".into(),
        user: 1000,
        kernel: Kernel { namespaces: true, landlock: 7, seccomp: true, mediation: true },
        ..HostFacts::default()
    };
    let mut spec = SandboxSpec::new("/srv/work", ["true"]);
    facts.entries.insert("/srv/work".into(), Entry::Folder);
    for line in data.split(|byte| *byte == b'\n') {
        let Some((kind, rest)) = line.split_first() else { continue };
        let text = OsString::from_vec(rest.to_vec());
        match kind {
            b'w' => spec.workspace = text.into(),
            b'r' => spec.read_only.push(text.into()),
            b's' => spec.shared.push(text.into()),
            b'd' => drop(facts.entries.insert(text.into(), Entry::Folder)),
            b'l' => drop(
                facts.entries.insert(text.into(), Entry::Link { to: None, resolved: Some("/etc".into()) }),
            ),
            b'a' => spec.command.push(text),
            b'c' => spec.cwd = Some(text.into()),
            b'e' => drop(facts.environment.insert(text, "secret".into())),
            b'v' => spec.environment.set.push((text, "value".into())),
            _ => {}
        }
    }
    if let Ok(plan) = plan(&spec, &facts) {
        nothing_of_the_system_is_let_in(
            &plan.mounts.iter().map(|mount| (&mount.target, &mount.kind)).collect::<Vec<_>>(),
        );
        options_are_not_words(&spec, &bwrap_arguments(&plan));
        let inherited = plan.environment.iter().filter(|(_, value)| value == "secret");
        assert!(inherited.into_iter().all(|(name, _)| is_listed(&name.to_string_lossy())));
    }
}

fn nothing_of_the_system_is_let_in(mounts: &[(&PathBuf, &MountKind)]) {
    for (target, kind) in mounts {
        let MountKind::Bind { source, access, .. } = kind else { continue };
        let plain = target.components().all(|part| !matches!(part, std::path::Component::ParentDir));
        assert!(plain && target.is_absolute(), "{target:?}");
        let below = |folder: &str| source.starts_with(folder) || Path::new(folder).starts_with(source);
        let secret =
            ["/proc", "/sys", "/dev", "/root", "/home/u/.ssh", "/home/u/.aws"].iter().any(|it| below(it));
        assert!(!secret, "{source:?}");
        let machine =
            ["/etc", "/usr", "/run", "/tmp"].iter().any(|folder| Path::new(folder).starts_with(source));
        assert!(*access == MountAccess::ReadOnly || !machine, "{source:?} is writable");
    }
}

/// Whatever is a word of the command stands behind `--`, and whatever is a path begins with `/`.
fn options_are_not_words(spec: &SandboxSpec, arguments: &[OsString]) {
    let end = arguments.iter().position(|word| word == "--").unwrap();
    assert_eq!(arguments[end + 1..], spec.command);
    const OPTIONS: &[&str] = &[
        "--bind",
        "--ro-bind",
        "--symlink",
        "--proc",
        "--dev",
        "--size",
        "--tmpfs",
        "--unshare-all",
        "--share-net",
        "--unshare-net",
        "--die-with-parent",
        "--new-session",
        "--chdir",
    ];
    for word in &arguments[..end] {
        let text = word.to_string_lossy();
        let number = text.bytes().all(|byte| byte.is_ascii_digit());
        assert!(OPTIONS.contains(&&*text) || text.starts_with('/') || number, "{text}");
    }
}

fn is_listed(name: &str) -> bool {
    const LISTED: &[&str] = &[
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "COLORTERM",
        "COLUMNS",
        "LINES",
        "NO_COLOR",
        "FORCE_COLOR",
        "CLICOLOR",
        "CLICOLOR_FORCE",
        "CI",
        "NODE_ENV",
    ];
    LISTED.contains(&name) || name.starts_with("LC_")
}
