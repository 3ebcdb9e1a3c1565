//! A sandbox request as JSON: what a program of a release is asked about, before a command runs and with it.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::limits::ResourceLimits;
use crate::patch::LimitsPatch;
use crate::spec::{HomeState, MountAccess, Network, SandboxSpec, Spawn};

/// The version of Stockade, which a program of the same release has as well.
const RELEASE: &str = env!("CARGO_PKG_VERSION");

/// What a backend is asked to do, in full.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct SandboxRequest {
    /// The version of Stockade that asks.
    pub release: String,
    command: Vec<String>,
    workspace: String,
    is_writable: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cwd: Option<String>,
    shared: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spill: Option<String>,
    read_only: Vec<String>,
    home_state: Vec<String>,
    hidden: Vec<String>,
    unwritable: Vec<String>,
    /// What the command may reach over the network.
    pub network: NetworkRequest,
    variables: Vec<(String, String)>,
    no_spawn: bool,
    /// A missing limit is unlimited.
    limits: LimitsPatch,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runtime: Option<String>,
}

/// What a command may reach over the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NetworkRequest {
    /// It reaches no other machine.
    None,
    /// An egress proxy of this machine.
    Broker,
    /// Whatever the machine of the command reaches.
    Open,
}

impl SandboxRequest {
    /// Returns the request of `spec`, with the values that `variables` has for those that are passed on.
    ///
    /// # Errors
    /// A word, path or variable that is not UTF-8.
    pub fn of(spec: &SandboxSpec, variables: &BTreeMap<OsString, OsString>) -> Result<Self, String> {
        let passed = spec.environment.pass.iter().filter_map(|name| Some((name, variables.get(name)?)));
        let set = spec.environment.set.iter().map(|(name, value)| (name, value));
        Ok(Self {
            release: RELEASE.to_owned(),
            command: spec.command.iter().map(|word| text(word)).collect::<Result<_, _>>()?,
            workspace: text(spec.workspace.as_os_str())?,
            is_writable: spec.workspace_access == MountAccess::ReadWrite,
            cwd: optional(spec.cwd.as_deref())?,
            shared: paths(&spec.shared)?,
            spill: optional(spec.spill.as_deref())?,
            read_only: paths(&spec.read_only)?,
            home_state: paths(spec.home_state.iter().map(|state| &state.target))?,
            hidden: paths(&spec.hidden)?,
            unwritable: paths(&spec.unwritable)?,
            network: match spec.network {
                Network::None => NetworkRequest::None,
                Network::Broker { .. } | Network::Proxy(_) => NetworkRequest::Broker,
                Network::Open => NetworkRequest::Open,
            },
            variables: passed
                .chain(set)
                .map(|(name, value)| Ok((text(name)?, text(value)?)))
                .collect::<Result<_, String>>()?,
            no_spawn: spec.spawn == Spawn::Threads,
            limits: LimitsPatch::of(&spec.limits),
            image: spec.container.image.clone(),
            runtime: spec.container.runtime.clone(),
        })
    }

    /// Returns whether the program that is asked comes with the same release.
    #[must_use]
    pub fn is_of_this_release(&self) -> bool {
        self.release == RELEASE
    }

    /// Returns what is asked for, with the options of the backend. What Stockade enforces itself is left out: what is required,
    /// reviewed and protected.
    #[must_use]
    pub fn into_spec(self, options: BTreeMap<String, String>) -> SandboxSpec {
        let path = PathBuf::from;
        let mut spec = SandboxSpec::new(self.workspace, self.command);
        spec.workspace_access = access(self.is_writable);
        spec.cwd = self.cwd.map(path);
        spec.shared = self.shared.into_iter().map(path).collect();
        spec.spill = self.spill.map(path);
        spec.read_only = self.read_only.into_iter().map(path).collect();
        spec.home_state = self.home_state.into_iter().map(home_state).collect();
        spec.hidden = self.hidden.into_iter().map(path).collect();
        spec.unwritable = self.unwritable.into_iter().map(path).collect();
        spec.network = match self.network {
            NetworkRequest::None => Network::None,
            // Which socket it is concerns no other machine.
            NetworkRequest::Broker => Network::Broker { socket: PathBuf::new() },
            NetworkRequest::Open => Network::Open,
        };
        spec.environment.set =
            self.variables.into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        spec.spawn = if self.no_spawn { Spawn::Threads } else { Spawn::Free };
        spec.limits = ResourceLimits::unlimited();
        self.limits.apply(&mut spec.limits);
        (spec.container.image, spec.container.runtime) = (self.image, self.runtime);
        spec.require.clear();
        spec.backend_options = options;
        spec
    }
}

const fn access(is_writable: bool) -> MountAccess {
    if is_writable { MountAccess::ReadWrite } else { MountAccess::ReadOnly }
}

fn home_state(path: String) -> HomeState {
    let path = PathBuf::from(path);
    HomeState { source: path.clone(), target: path, access: MountAccess::ReadOnly }
}

/// Returns a word as JSON can carry it.
pub(super) fn text(text: &OsStr) -> Result<String, String> {
    text.to_str().map(str::to_owned).ok_or_else(|| format!("{text:?} is not UTF-8, and the protocol is JSON"))
}

fn paths(paths: impl IntoIterator<Item = impl AsRef<Path>>) -> Result<Vec<String>, String> {
    paths.into_iter().map(|path| text(path.as_ref().as_os_str())).collect()
}

fn optional(path: Option<&Path>) -> Result<Option<String>, String> {
    path.map(|path| text(path.as_os_str())).transpose()
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::limits::{Limit, Priority};
    use crate::processors::Processors;

    #[test]
    fn a_request_survives_the_round_trip_through_json() {
        let mut spec = SandboxSpec::new("/srv/w", ["make", "a b"]);
        spec.workspace_access = MountAccess::ReadOnly;
        spec.cwd = Some("/srv/w/sub".into());
        (spec.shared, spec.spill) = (vec!["/srv/s".into()], Some("/srv/spill".into()));
        (spec.read_only, spec.hidden) = (vec!["/opt/x".into()], vec!["/srv/w/.env".into()]);
        spec.unwritable = vec!["/srv/w/locked".into()];
        spec.home_state = vec![home_state("/home/u/.x".to_owned())];
        spec.environment.set = vec![("KEY".into(), "v".into())];
        spec.limits = ResourceLimits {
            wall_time: Limit::AtMost(Duration::from_millis(1500)),
            cpu_time: Limit::AtMost(Duration::from_secs(9)),
            processors: Limit::AtMost(Processors::HALF),
            files: Limit::AtMost(7),
            output: Limit::Unlimited,
            priority: Priority::Idle,
            ..ResourceLimits::default()
        };
        (spec.spawn, spec.network) = (Spawn::Threads, Network::Open);
        spec.container.image = Some("a@sha256:b".to_owned());
        spec.backend_options = [("template".to_owned(), "t".to_owned())].into();
        spec.require.clear();
        let sent = SandboxRequest::of(&spec, &BTreeMap::new()).unwrap();
        let json = serde_json::to_string(&sent).unwrap();
        let read: SandboxRequest = serde_json::from_str(&json).unwrap();
        assert!(read.is_of_this_release() && read == sent);
        assert_eq!(read.into_spec(spec.backend_options.clone()), spec);
    }

    #[test]
    fn variables_that_are_passed_on_have_their_values() {
        use std::os::unix::ffi::OsStringExt as _;
        let mut spec = SandboxSpec::new("/srv/w", ["true"]);
        spec.environment.pass = ["A".into(), "MISSING".into()].into();
        spec.environment.set = [("B".into(), "2".into())].into();
        let host: BTreeMap<OsString, OsString> = [("A".into(), "1".into()), ("C".into(), "3".into())].into();
        let sent = SandboxRequest::of(&spec, &host).unwrap().into_spec(BTreeMap::new());
        assert_eq!(sent.environment.set, [("A".into(), "1".into()), ("B".into(), "2".into())]);
        spec.hidden = vec![PathBuf::from(OsString::from_vec(vec![b'/', 0xff]))];
        assert!(SandboxRequest::of(&spec, &host).unwrap_err().contains("not UTF-8"));
    }
}
