//! What a refusal advises is right for the backend and the user, and a named backend is never replaced by no sandbox.

use std::path::{Path, PathBuf};

use stockade_exec_sandbox::backends::EngineFacts;
use stockade_exec_sandbox::handoff::HandedListeners;
use stockade_exec_sandbox::host::{Entry, HostFacts, Kernel};
use stockade_exec_sandbox::provider::Provider;
use stockade_exec_sandbox::{
    Network, OnUnavailable, Plan, Property, Refusal, SandboxBackend, SandboxSpec, plan,
};

const WORKSPACE: &str = "/home/u/a work";

/// A machine with everything but user namespaces, where they are not permitted.
fn machine(user: u32, owner: u32, namespaces: bool) -> HostFacts {
    HostFacts {
        entries: [WORKSPACE, "/usr", "/home/u"].map(|path| (PathBuf::from(path), Entry::Folder)).into(),
        home: "/home/u".into(),
        user,
        group: user,
        workspace_owner: Some((owner, owner)),
        kernel: Kernel { namespaces, landlock: 6, seccomp: true, mediation: true },
        engine: Some(Ok(EngineFacts::complete(format!("sha256:{}", "0".repeat(64))))),
        bubblewrap: (user != 0).then(|| Path::new("/usr/bin/bwrap").into()),
        ..HostFacts::default()
    }
}

fn planned(
    backend: SandboxBackend,
    facts: &HostFacts,
    change: impl FnOnce(&mut SandboxSpec),
) -> Result<Plan, Refusal> {
    let mut spec = SandboxSpec::new(WORKSPACE, ["true"]);
    spec.container.image = Some(format!("sha256:{}", "0".repeat(64)));
    spec.backend = backend;
    change(&mut spec);
    plan(&spec, facts)
}

#[test]
fn no_named_backend_is_replaced_by_no_sandbox() {
    for user in [0, 1000] {
        for backend in SandboxBackend::ALL {
            let facts = HostFacts {
                kernel: Kernel::default(),
                engine: None,
                bubblewrap: None,
                ..machine(user, 1000, false)
            };
            let planned = planned(*backend, &facts, |spec| spec.on_unavailable = OnUnavailable::Warn);
            let is_none = planned.is_ok_and(|plan| plan.provider == Provider::Nothing);
            assert_eq!(is_none, *backend == SandboxBackend::Auto, "{backend:?} of user {user}");
        }
    }
}

const NATIVE: &str = "choose the native backend: `--backend native`";
const PERMIT: &str = "permit user namespaces (sysctl user.max_user_namespaces";
const BROKER: &str =
    "or start `stockade broker serve`, and use its socket: `--network broker --broker SOCKET`";

/// What is asked for beside the backend.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Asked {
    Nothing,
    Requires(Property),
    Hosts,
}
use Asked::{Hosts, Nothing, Requires};

/// The backend; the user, the owner of the workspace, and whether namespaces are permitted; and parts of the advice.
type Row = (SandboxBackend, (u32, u32, bool), Asked, &'static [&'static str]);

#[test]
fn each_refusal_advises_what_is_accepted() {
    use SandboxBackend::{Bwrap, Docker, Landlock, Podman};
    #[rustfmt::skip]
    let rows: &[Row] = &[
        (Docker,   (1000, 1000, true),  Requires(Property::SecondWall), &[NATIVE]),
        (Podman,   (1000, 1000, false), Requires(Property::SecondWall), &[PERMIT, NATIVE]),
        (Bwrap,    (1000, 1000, true),  Requires(Property::SecondWall), &[NATIVE]),
        (Landlock, (1000, 1000, true),  Requires(Property::SecondWall), &[NATIVE]),
        (Landlock, (1000, 1000, true),  Requires(Property::ProtectedNames), &[NATIVE]),
        (Docker,   (1000, 1000, true),  Hosts, &[NATIVE, BROKER]),
        (Bwrap,    (1000, 1000, true),  Hosts, &[NATIVE]),
        (Landlock, (1000, 1000, true),  Hosts, &[NATIVE]),
        (Bwrap,    (0, 1000, true),     Nothing, &[NATIVE]),
        (Bwrap,    (0, 0, false),       Nothing, &[PERMIT, NATIVE]),
        (Docker,   (0, 0, true),        Nothing, &[NATIVE]),
        (Podman,   (0, 0, true),        Nothing, &[NATIVE]),
        (Landlock, (0, 0, true),        Nothing, &[NATIVE]),
        (Landlock, (0, 0, false),       Nothing, &["`chown -R 1000:1000 '/home/u/a work'`"]),
        (Docker,   (0, 0, false),       Nothing, &["`chown -R 1000:1000 '/home/u/a work'`"]),
    ];
    let (handoff, _listeners) = HandedListeners::new().unwrap();
    for (backend, (user, owner, namespaces), asked, advice) in rows {
        let ask = |spec: &mut SandboxSpec| match asked {
            Nothing => {}
            Requires(property) => spec.require_by_name = [*property].into(),
            Hosts => {
                spec.network = Network::Proxy(handoff.clone());
                spec.require = [Property::Network].into();
            }
        };
        let what = format!("{backend:?} of user {user}, workspace of {owner}, {asked:?}");
        let facts = machine(*user, *owner, *namespaces);
        let refusal = planned(*backend, &facts, ask).map(|plan| plan.provider).expect_err(&what);
        assert!(advice.iter().all(|part| refusal.fix.contains(part)), "{what}: {}", refusal.fix);
        assert_eq!(refusal.fix.contains("sysctl"), advice.contains(&PERMIT), "{what}: {}", refusal.fix);
        // What is advised is accepted: by the native backend where namespaces are permitted, and with another owner.
        let accepted = match namespaces {
            true => planned(SandboxBackend::Native, &facts, ask),
            false if advice.contains(&NATIVE) => {
                planned(SandboxBackend::Native, &machine(*user, *owner, true), ask)
            }
            false => planned(*backend, &machine(*user, 1000, false), ask),
        };
        assert!(accepted.is_ok(), "{what}: {:?}", accepted.err());
    }
}
