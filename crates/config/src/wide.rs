//! What holds for secrets without the project: its file can make a sandbox a must, and what a user has kept for that case, a stranger must
//! not set to work. What it can do is to narrow: where it takes away the host that a secret goes to, the secret is left out, and the rest
//! goes on as the project wants it.

use serde_json::Value as Json;

use crate::config::Config;
use crate::error::ConfigNotice;
use crate::layer::{ConfigLayer, Leaf};
use stockade_egress::{HostList, SecretBinding};

const MUST: &str = "security.permission.enableNodePermissions";
const HOSTS: &str = "security.permission.allowedNetHosts";
const SECRETS: &str = "security.permission.secrets";

/// What everybody but the project says.
pub(super) struct Wide {
    /// Whether secrets are lent.
    lends: bool,
    /// The hosts that commands reach.
    hosts: Vec<String>,
}

impl Wide {
    /// Takes it from the layers, the weakest first.
    pub(super) fn of(layers: &[Vec<Leaf>]) -> Self {
        let said = || layers.iter().flatten().filter(|leaf| leaf.origin.layer != ConfigLayer::Project);
        let hosts = said().rfind(|leaf| leaf.path == HOSTS);
        let hosts = hosts.and_then(|leaf| leaf.value.as_array()).into_iter().flatten();
        let hosts = hosts.filter_map(|host| host.as_str().map(str::to_owned)).collect();
        let lends = said().filter(|leaf| leaf.path == MUST).fold(false, |holds, leaf| {
            let says = leaf.value == Json::Bool(true);
            says || (holds && leaf.only_narrows)
        });
        Self { lends, hosts }
    }
}

impl Config {
    /// Leaves out secrets whose hosts commands would reach without the project, and says so. What else is wrong with one stays so.
    pub(super) fn withhold_secrets(&mut self, wide: &Wide) {
        let Ok(before) = HostList::compile(&wide.hosts) else { return };
        let mut withheld = Vec::new();
        for agent in self.agents.values_mut() {
            let Ok(now) = HostList::compile(&agent.exec.hosts) else { continue };
            let is_taken = |text: &String| {
                let binding = SecretBinding::read(text).ok()?;
                let is_taken = binding.is_reached(&before) && !binding.is_reached(&now);
                is_taken.then(|| binding.name().to_owned())
            };
            let taken: Vec<String> = agent.exec.secrets.iter().filter_map(is_taken).collect();
            agent.exec.secrets.retain(|text| is_taken(text).is_none());
            withheld
                .extend(taken.iter().filter(|name| !withheld.contains(*name)).cloned().collect::<Vec<_>>());
            agent.exec.withheld_secrets = taken;
        }
        let place = self.get(HOSTS).and_then(|value| value.origin.place).unwrap_or_default();
        self.notices.extend(withheld.into_iter().map(|name| ConfigNotice {
            key: SECRETS.to_owned(),
            place: place.clone(),
            message: format!(
                "does not lend `{name}` here, since this file takes the host that it goes to out of `{HOSTS}`"
            ),
        }));
    }

    /// Leaves out secrets that nobody but a project has switched on, and says so.
    pub(super) fn hold_back_secrets(&mut self, wide: &Wide) {
        if wide.lends {
            return;
        }
        let mut any = false;
        for agent in self.agents.values_mut() {
            any |= !agent.exec.secrets.is_empty();
            agent.exec.secrets.clear();
        }
        if any {
            self.notices.push(ConfigNotice {
                key: SECRETS.to_owned(),
                place: self.get(SECRETS).and_then(|value| value.origin.place).unwrap_or_default(),
                message: format!("has no effect, since nobody but the project sets `{MUST}`, and a project has no say in it"),
            });
        }
    }
}
