//! The described machine in a request for a plan.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Deserialize;
use stockade_guard::exec::host::{Entry, HostFacts, Kernel};
use stockade_guard::exec::mounts::mount_table;
use stockade_guard::exec::{Network, SandboxSpec};

use crate::fault::Fault;

/// The machine to plan for.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "HostFacts")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Host {
    /// `linux` or `macos`; `linux` by default.
    platform: Option<String>,
    /// The existing paths, or `"*"` for every path that a plan may look for.
    exists: Option<Exists>,
    /// Targets of symlinks: `{"/home/me": "/data/me"}`.
    #[serde(default)]
    realpath: BTreeMap<PathBuf, PathBuf>,
    /// The home directory of the user.
    home: Option<PathBuf>,
    /// The user ID; 1000 by default.
    uid: Option<u32>,
    /// The path and version of bubblewrap.
    bwrap: Option<Bwrap>,
    /// The version of Landlock; 0 for none.
    landlock_abi: Option<u32>,
    /// Whether user namespaces can be created; true by default.
    user_namespaces: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "ExistingPaths")]
#[serde(untagged)]
enum Exists {
    Everything(String),
    These(Vec<PathBuf>),
}

/// Bubblewrap on that machine.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "Bubblewrap")]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Bwrap {
    path: Option<PathBuf>,
    #[expect(
        dead_code,
        reason = "part of what a client tells about a machine; the arguments are the same for all"
    )]
    version: Option<String>,
}

impl Host {
    pub(super) fn is_mac(&self) -> bool {
        self.platform.as_deref() == Some("macos")
    }

    pub(super) fn has_bwrap(&self) -> bool {
        self.bwrap.is_some()
    }

    /// Returns the facts of this machine that concern a sandbox.
    pub(super) fn facts(self, spec: &SandboxSpec, home: Option<PathBuf>) -> Result<HostFacts, Fault> {
        match self.platform.as_deref() {
            None | Some("linux" | "macos") => {}
            Some(other) => return Err(Fault::unknown("platform", other, ["linux", "macos"].into_iter())),
        }
        let home = home.or(self.home).unwrap_or_else(|| PathBuf::from("/home/user"));
        let there = match self.exists {
            None => everything(spec, &home),
            Some(Exists::Everything(all)) if all == "*" => everything(spec, &home),
            Some(Exists::Everything(other)) => {
                return Err(Fault::parameters(format!(
                    "`exists` is a list of paths or \"*\", and not `{other}`"
                )));
            }
            Some(Exists::These(paths)) => paths,
        };
        let mut facts = HostFacts {
            user: self.uid.unwrap_or(1000),
            group: self.uid.unwrap_or(1000),
            kernel: Kernel {
                namespaces: self.user_namespaces.unwrap_or(true),
                landlock: self.landlock_abi.unwrap_or(0),
                seccomp: true,
                mediation: true,
            },
            bubblewrap: self.bwrap.map(|bwrap| bwrap.path.unwrap_or_else(|| "bwrap".into())),
            ..HostFacts::default()
        };
        // Whether a path is a file or a directory does not change the arguments.
        facts.entries = there.into_iter().map(|path| (path, Entry::Folder)).collect();
        // The workspace and the directory for spilled output are created before a command runs.
        for path in std::iter::once(&spec.workspace).chain(&spec.spill) {
            facts.entries.insert(path.clone(), Entry::Folder);
        }
        for (path, real) in self.realpath {
            facts.entries.insert(real.clone(), Entry::Folder);
            facts.entries.insert(path, Entry::Link { to: Some(real.clone()), resolved: Some(real) });
        }
        if let Network::Broker { socket } = &spec.network {
            facts.entries.insert(socket.clone(), Entry::Socket);
        }
        facts.home = home;
        Ok(facts)
    }
}

/// Returns every path that a plan looks for.
fn everything(spec: &SandboxSpec, home: &Path) -> Vec<PathBuf> {
    let named = spec.shared.iter().chain(&spec.read_only).cloned();
    let rows = mount_table().into_iter().filter(|(_, access, _)| *access == "read");
    let paths = rows.filter_map(|(path, ..)| {
        // Paths are in backticks; other rows are prose.
        let path = path.split('`').nth(1)?;
        Some(path.strip_prefix("~/").map_or_else(|| PathBuf::from(path), |below| home.join(below)))
    });
    paths.chain(named).collect()
}

/// Returns the facts of the machine that the server runs on.
#[cfg(target_os = "linux")]
pub(super) fn this(spec: &SandboxSpec, home: Option<PathBuf>) -> Result<HostFacts, Fault> {
    let facts = stockade_guard::exec::probe(spec);
    Ok(match home {
        Some(home) => HostFacts { home, ..facts },
        None => facts,
    })
}

/// Other systems have no facts: plans are made for the machine that the request describes.
#[cfg(not(target_os = "linux"))]
pub(super) fn this(_: &SandboxSpec, _: Option<PathBuf>) -> Result<HostFacts, Fault> {
    Err(Fault::new(
        crate::fault::NO_SANDBOX,
        "this system has no sandbox to plan for; describe one with `hostFacts`",
    ))
}
