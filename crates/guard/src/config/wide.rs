//! What holds for secrets without the project: its file can make a sandbox a must, and what a user has kept for that case, a stranger must
//! not set to work.

use serde_json::Value as Json;

use super::Config;
use super::error::ConfigNotice;
use super::layer::{ConfigLayer, Leaf};

const MUST: &str = "security.permission.enableNodePermissions";
const SECRETS: &str = "security.permission.secrets";

/// What everybody but the project says.
pub(super) struct Wide {
    /// Whether secrets are lent.
    lends: bool,
}

impl Wide {
    /// Takes it from the layers, the weakest first.
    pub(super) fn of(layers: &[Vec<Leaf>]) -> Self {
        let said = layers.iter().flatten().filter(|leaf| leaf.origin.layer != ConfigLayer::Project);
        let lends = said.filter(|leaf| leaf.path == MUST).fold(false, |holds, leaf| {
            let says = leaf.value == Json::Bool(true);
            says || (holds && leaf.only_narrows)
        });
        Self { lends }
    }
}

impl Config {
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
