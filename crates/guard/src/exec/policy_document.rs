//! A plan and its list of hosts as a policy of OpenShell: the sandbox knows the plan, and the egress broker the list.

use super::openshell_policy::{self, OpenShellEntry, OpenShellError, OpenShellHost, OpenShellPolicy};
use stockade_exec_sandbox::Plan;

use crate::egress::{Host, HostEntry, HostList};

/// Returns the policy of OpenShell that holds what `plan` does, as far as that goes. `hosts` are those that the command may reach.
///
/// # Errors
/// When the network is open, which no policy of OpenShell is, or there are more paths than one may list.
pub fn openshell_policy(plan: &Plan, hosts: Option<&HostList>) -> Result<OpenShellPolicy, OpenShellError> {
    let entries: Vec<_> = hosts.map(HostList::entries).unwrap_or_default().into_iter().map(entry).collect();
    openshell_policy::openshell_policy(plan, &entries)
}

fn entry(entry: HostEntry<'_>) -> OpenShellEntry {
    let HostEntry { host, is_below, port, is_denied, has_conditions, written, .. } = entry;
    let host = match host {
        Host::Name(name) if is_below => OpenShellHost::Below(name),
        Host::Name(name) => OpenShellHost::Name(name),
        Host::Address(address) => OpenShellHost::Address(address),
    };
    OpenShellEntry { host, port, is_denied, has_conditions, written: written.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_keeps_its_meaning() {
        let host = |host| OpenShellEntry {
            host,
            port: None,
            is_denied: false,
            has_conditions: false,
            written: String::new(),
        };
        let name = |name: &str| OpenShellHost::Name(name.to_owned());
        for (written, expected) in [
            ("api.example.com:8443", OpenShellEntry { port: Some(8443), ..host(name("api.example.com")) }),
            ("*.example.org", host(OpenShellHost::Below("example.org".to_owned()))),
            (
                "10.1.2.3:443",
                OpenShellEntry { port: Some(443), ..host(OpenShellHost::Address([10, 1, 2, 3].into())) },
            ),
            (
                "asked.example:80 GET /v1/**",
                OpenShellEntry { port: Some(80), has_conditions: true, ..host(name("asked.example")) },
            ),
            ("!tracker.example.net", OpenShellEntry { is_denied: true, ..host(name("tracker.example.net")) }),
        ] {
            let list = HostList::compile(&[written.to_owned()]).unwrap();
            let entries: Vec<_> = list.entries().into_iter().map(entry).collect();
            assert_eq!(entries, [OpenShellEntry { written: written.to_owned(), ..expected }]);
        }
    }
}
