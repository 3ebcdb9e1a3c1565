//! Settings of secrets without the project's layer.
//!
//! A project's file can require a sandbox, but it must not enable secrets that the user keeps for that case. It can only narrow:
//! if it removes the host of a secret, the secret is withheld, and everything else applies as the project narrows it.

use serde_json::Value as Json;

use crate::config::Config;
use crate::error::ConfigNotice;
use crate::layer::{ConfigLayer, Leaf};
use stockade_egress::{HostList, SecretBinding};

const MUST: &str = "security.permission.enableNodePermissions";
const HOSTS: &str = "security.permission.allowedNetHosts";
const SECRETS: &str = "security.permission.secrets";

/// The settings of all layers but the project.
pub(super) struct Wide {
    /// Whether secrets may be used.
    lends: bool,
    /// Allowed hosts.
    hosts: Vec<String>,
}

impl Wide {
    /// Extracts the settings from the layers, the weakest first.
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
    /// Withholds secrets whose hosts only the project removes, with a notice. Other errors of a secret remain.
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
            message: format!("withholds `{name}`: this file removes the secret's host from `{HOSTS}`"),
        }));
    }

    /// Withholds all secrets, with a notice, if only a project sets `enableNodePermissions`.
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
                message: format!("has no effect because only the project sets `{MUST}`, and a project cannot enable secrets"),
            });
        }
    }
}
