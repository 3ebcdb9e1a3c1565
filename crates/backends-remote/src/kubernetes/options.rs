//! The options of the backend, `NAME=VALUE`, and what each means for a cluster.

use std::collections::BTreeMap;
use std::time::Duration;

use stockade_text::nearest;

use super::asked::cannot;
use super::settings::{ClusterSettings, ClusterWorkspace, NetworkPolicies, Workload};
use stockade_exec_sandbox::Refusal;

/// Takes a value into the settings, if it can be one.
type Take = fn(&mut ClusterSettings, &str) -> Option<()>;

/// An option: its name, what its values look like, what it means, and how it is taken.
type Row = (&'static str, &'static str, &'static str, Take);

#[rustfmt::skip]
const OPTIONS: &[Row] = &[
    ("context", "NAME", "the context of the kubeconfig; default: the current one", |_, value| (!value.is_empty()).then_some(())),
    ("namespace", "NAME", "the namespace of its objects; default: that of the context", |settings, value| {
        settings.namespace = super::name::is_label(value, 63).then(|| value.to_owned());
        settings.namespace.as_ref().map(drop)
    }),
    ("networkPolicies", "enforced", "whether the network of the cluster enforces NetworkPolicies, as Calico and Cilium do; the API does not report it", |settings, value| {
        settings.network_policies = (value == "enforced").then_some(NetworkPolicies::Enforced)?;
        Some(())
    }),
    ("workspace", "empty, upload or claim:NAME[/FOLDER]", "contents of the command's workspace", |settings, value| {
        settings.workspace = workspace(value)?;
        Some(())
    }),
    ("workload", "job or sandbox", "the kind of object that creates the pod: a Job, or a Sandbox of agents.x-k8s.io", |settings, value| {
        settings.workload = [("job", Workload::Job), ("sandbox", Workload::Sandbox)].iter().find(|row| row.0 == value)?.1;
        Some(())
    }),
    ("user", "UID:GID", "user and group of the command, never root", |settings, value| {
        let (user, group) = value.split_once(':')?;
        settings.user = Some((user.parse().ok()?, group.parse().ok()?));
        Some(())
    }),
    ("pullSecret", "NAME", "the Secret with which nodes pull the image", |settings, value| {
        settings.pull_secret = Some(value.to_owned());
        Some(())
    }),
    ("longest", "SECONDS", "time limit of commands without one of their own", |settings, value| {
        settings.longest = seconds(value)?;
        Some(())
    }),
    ("startTime", "SECONDS", "time limit until the command starts", |settings, value| {
        settings.start_time = seconds(value)?;
        Some(())
    }),
];

/// Reads the options of a backend: its settings, and the context of the kubeconfig that is meant.
pub(super) fn read(options: &BTreeMap<String, String>) -> Result<(ClusterSettings, Option<String>), Refusal> {
    let mut settings = ClusterSettings::default();
    for (name, value) in options {
        let Some(row) = OPTIONS.iter().find(|row| row.0 == name) else {
            let names = OPTIONS.iter().map(|row| row.0);
            let near = nearest(name, names.clone()).map(|near| format!("did you mean `{near}`? "));
            let all: Vec<&str> = names.collect();
            let fix = format!("{}there are {}", near.unwrap_or_default(), all.join(", "));
            return Err(cannot("unknown option", fix));
        };
        let wrong =
            || cannot("an option has an invalid value", format!("`{}` is {}: {}", row.0, row.1, row.2));
        (row.3)(&mut settings, value).ok_or_else(wrong)?;
    }
    Ok((settings, options.get("context").cloned()))
}

fn workspace(value: &str) -> Option<ClusterWorkspace> {
    match value.split_once(':') {
        None if value == "empty" => Some(ClusterWorkspace::Empty),
        None if value == "upload" => Some(ClusterWorkspace::Upload),
        Some(("claim", claim)) if !claim.is_empty() => {
            let (name, folder) = match claim.split_once('/') {
                Some((name, folder)) => (name, Some(folder.to_owned())),
                None => (claim, None),
            };
            Some(ClusterWorkspace::Claim { name: name.to_owned(), folder })
        }
        _ => None,
    }
}

/// A time that is neither nothing nor so long that adding to it goes wrong.
fn seconds(value: &str) -> Option<Duration> {
    const MAX_SECONDS: u64 = 30 * 24 * 3600;
    value.parse().ok().filter(|seconds| (1..=MAX_SECONDS).contains(seconds)).map(Duration::from_secs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(rows: &[(&str, &str)]) -> BTreeMap<String, String> {
        rows.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn options_are_parsed_and_errors_list_the_choices() {
        let all = [
            ("context", "prod"),
            ("namespace", "agents"),
            ("networkPolicies", "enforced"),
            ("workspace", "claim:work/a/b"),
            ("workload", "sandbox"),
            ("user", "1000:1000"),
            ("pullSecret", "registry"),
            ("longest", "60"),
            ("startTime", "5"),
        ];
        assert_eq!(all.len(), OPTIONS.len());
        let (settings, context) = read(&options(&all)).unwrap();
        assert_eq!(context.as_deref(), Some("prod"));
        assert_eq!(
            settings.workspace,
            ClusterWorkspace::Claim { name: "work".to_owned(), folder: Some("a/b".to_owned()) }
        );
        assert_eq!((settings.user, settings.longest), (Some((1000, 1000)), Duration::from_secs(60)));
        for (name, value) in [
            ("context", ""),
            ("namespace", "A_b"),
            ("networkPolicies", "maybe"),
            ("workspace", "folder"),
            ("workspace", "claim:"),
            ("workload", "pod"),
            ("user", "1000"),
            ("longest", "0"),
            ("startTime", "1h"),
        ] {
            let refusal = read(&options(&[(name, value)])).unwrap_err();
            assert!(refusal.fix.contains(name), "{refusal}: {}", refusal.fix);
        }
        let unknown = read(&options(&[("namspace", "a")])).unwrap_err();
        assert!(unknown.fix.contains("did you mean `namespace`"), "{}", unknown.fix);
    }
}
