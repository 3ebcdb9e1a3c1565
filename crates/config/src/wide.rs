//! Settings of secrets without the project's layer.
//!
//! A project's file can require a sandbox, but it must not enable secrets that the user keeps for that case. It can only narrow:
//! if it removes the host of a secret, the secret is withheld, and everything else applies as the project narrows it.

use serde_json::Value as Json;

use crate::config::{ALL, Config};
use crate::error::ConfigNotice;
use crate::layer::{ConfigLayer, Leaf};
use stockade_egress::{HostList, SecretBinding};

const MUST: &str = "security.permission.enableNodePermissions";
const HOSTS: &str = "security.permission.allowedNetHosts";
const OWN: &str = ".allowedNetHosts";
const SECRETS: &str = "security.permission.secrets";
const LOGINS: &str = "security.permission.logins";

/// The settings of all layers but the project.
pub(super) struct Wide {
    /// Whether secrets may be used.
    lends: bool,
    /// Allowed hosts of all agents.
    hosts: Vec<String>,
    /// Lists of hosts of one agent, or of `*`, the strongest layer first, each as the path of its key and its entries.
    own: Vec<(String, Vec<String>)>,
}

impl Wide {
    /// Extracts the settings from the layers, the weakest first.
    pub(super) fn of(layers: &[Vec<Leaf>]) -> Self {
        let said = || layers.iter().flatten().filter(|leaf| leaf.origin.layer != ConfigLayer::Project);
        let hosts = said().rfind(|leaf| leaf.path == HOSTS).map(entries).unwrap_or_default();
        let is_own = |leaf: &&Leaf| leaf.path.starts_with("agents.") && leaf.path.ends_with(OWN);
        let own = layers.iter().rev().flat_map(|layer| {
            let mut own: Vec<_> = layer.iter().filter(is_own).collect();
            // Within a layer, the list of an agent precedes the one of all agents.
            own.sort_by_key(|leaf| leaf.path == own_of(ALL));
            own
        });
        let own = own.filter(|leaf| leaf.origin.layer != ConfigLayer::Project);
        let own = own.map(|leaf| (leaf.path.clone(), entries(leaf))).collect();
        let lends = said().filter(|leaf| leaf.path == MUST).fold(false, |holds, leaf| {
            let says = leaf.value == Json::Bool(true);
            says || (holds && leaf.only_narrows)
        });
        Self { lends, hosts, own }
    }

    /// Returns the hosts of an agent.
    fn hosts_of(&self, agent: &str) -> Vec<String> {
        let paths = [own_of(agent), own_of(ALL)];
        let own = self.own.iter().find(|(path, _)| paths.contains(path));
        self.hosts.iter().chain(own.into_iter().flat_map(|(_, hosts)| hosts)).cloned().collect()
    }
}

/// The key of an agent's own hosts.
fn own_of(agent: &str) -> String {
    format!("agents.{agent}{OWN}")
}

fn entries(leaf: &Leaf) -> Vec<String> {
    let hosts = leaf.value.as_array().into_iter().flatten();
    hosts.filter_map(|host| host.as_str().map(str::to_owned)).collect()
}

impl Config {
    /// Removes hosts that an agent's own list adds to one of a managed file, with a notice: what the machine's owner sets for all
    /// agents is their limit, and a user must not extend it.
    pub(super) fn limit_own_hosts(&mut self) {
        let Some(limit) = self.get(HOSTS).filter(|limit| limit.origin.layer == ConfigLayer::Managed) else {
            return;
        };
        let listed: Vec<&str> =
            limit.value.as_array().into_iter().flatten().filter_map(Json::as_str).collect();
        self.agents.values_mut().for_each(|agent| agent.exec.hosts_are_fixed = true);
        let own: Vec<_> = self.agents.keys().filter_map(|id| self.get(&own_of(id))).collect();
        for own in own.into_iter().filter(|own| own.origin.layer != ConfigLayer::Managed) {
            let id = own.path.split('.').nth(1).unwrap_or_default();
            let Some(agent) = self.agents.get_mut(id) else { continue };
            let before = agent.exec.hosts.len();
            agent.exec.hosts.retain(|host| host.starts_with('!') || listed.contains(&host.as_str()));
            if agent.exec.hosts.len() < before && id != ALL {
                self.notices.push(ConfigNotice {
                    key: own.path.clone(),
                    place: own.origin.place.clone().unwrap_or_default(),
                    message: format!(
                        "adds no hosts: a managed file sets `{HOSTS}`, which limits every agent"
                    ),
                });
            }
        }
    }

    /// Withholds secrets whose hosts only the project removes, with a notice. Other errors of a secret remain.
    pub(super) fn withhold_secrets(&mut self, wide: &Wide) {
        let mut withheld = Vec::new();
        for (id, agent) in &mut self.agents {
            let Ok(before) = HostList::compile(&wide.hosts_of(id)) else { continue };
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
        let mut held = [(SECRETS, false), (LOGINS, false)];
        for agent in self.agents.values_mut() {
            for (list, (_, any)) in
                [&mut agent.exec.secrets, &mut agent.exec.logins].into_iter().zip(&mut held)
            {
                *any |= !list.is_empty();
                list.clear();
            }
        }
        for (key, _) in held.into_iter().filter(|(_, any)| *any) {
            self.notices.push(ConfigNotice {
                key: key.to_owned(),
                place: self.get(key).and_then(|value| value.origin.place).unwrap_or_default(),
                message: format!("has no effect because only the project sets `{MUST}`, and a project cannot enable secrets"),
            });
        }
    }
}
