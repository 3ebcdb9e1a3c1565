//! Environment variables of similar tools that request a sandbox. A user who sets them expects at least the same from Stockade,
//! and they never make a setting less strict.

use std::ffi::OsString;

use stockade_command::router::{Fallback, Machine, RouterConfig};

use crate::error::Problem;
use crate::keys::ConfigKey;
use crate::layer::{ConfigLayer, Leaf, of_text};

/// Returns the backend that the variables request. Every layer takes precedence over it.
pub(super) fn backend_of_other_tools(
    variables: &[(OsString, OsString)],
    problems: &mut Vec<Problem>,
) -> Vec<Leaf> {
    let asked = asked(variables);
    let mut leaves = Vec::new();
    if let Some(name) = asked.backends.first() {
        leaves.extend(say("backend", backend(name), "CODEBUDDY_SANDBOX_BACKEND", problems));
    }
    if let Machine::Remote { host } = &asked.machine
        && !host.is_empty()
    {
        leaves.extend(say("backendOptions", &format!("host={host}"), "CODEBUDDY_SSH_HOST", problems));
    }
    leaves
}

/// Returns the other settings that the variables request. None of them makes anything less strict.
pub(super) fn of_other_tools(variables: &[(OsString, OsString)], problems: &mut Vec<Problem>) -> Vec<Leaf> {
    let asked = asked(variables);
    let mut leaves = Vec::new();
    if asked.enabled {
        leaves.extend(say("enabled", "auto", "AUTO_SANDBOX", problems));
    }
    if asked.fallback == Fallback::Block {
        leaves.extend(say("onUnavailable", "refuse", "AUTO_SANDBOX_FAIL_CLOSED", problems));
    }
    leaves.into_iter().map(|leaf| Leaf { only_narrows: true, ..leaf }).collect()
}

fn asked(variables: &[(OsString, OsString)]) -> RouterConfig<String> {
    let value = |name: &str| {
        let found = variables.iter().find(|(known, _)| known == name)?;
        found.1.to_str().map(str::to_owned)
    };
    RouterConfig::from_variables(value, |name| (!name.is_empty()).then(|| name.to_owned()))
}

fn say(key: &str, text: &str, place: &str, problems: &mut Vec<Problem>) -> Vec<Leaf> {
    let path = format!("agents.*.skills.execSandbox.{key}");
    let Some(key) = ConfigKey::of(&path) else { return Vec::new() };
    of_text(&path, key, text, ConfigLayer::Environment, place, problems)
}

/// Translates the name that other tools use for a backend.
fn backend(name: &str) -> &str {
    match name {
        "os" => "auto",
        "bubblewrap" => "bwrap",
        // On Linux and macOS alike, `auto` selects the first that works.
        "seatbelt" => "auto",
        other => other,
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "lays out a file of configuration")]
mod tests {
    use super::*;
    use crate::{Config, ConfigSources, ExecConfig, Isolation};
    use stockade_exec_sandbox::{OnUnavailable, SandboxBackend};

    fn read(flags: &[(&str, &str)], variables: &[(&str, &str)]) -> Result<ExecConfig, String> {
        let owned = |(name, value): &(&str, &str)| (OsString::from(name), OsString::from(value));
        let mut sources =
            ConfigSources { environment: variables.iter().map(owned).collect(), ..Default::default() };
        // A layer below the environment: the user's file.
        let folder = tempfile::tempdir().unwrap();
        let lines: String = flags.iter().map(|(key, value)| format!("{key} = {value}\n")).collect();
        std::fs::write(
            folder.path().join("config.toml"),
            format!("[agents.\"*\".skills.execSandbox]\n{lines}"),
        )
        .unwrap();
        sources.user = Some(folder.path().to_owned());
        let config = Config::load(&sources).map_err(|error| error.to_string())?;
        Ok(config.agent("default").unwrap().exec)
    }

    /// Every variable, over every value that the configuration may have.
    #[test]
    fn variables_of_other_tools_make_nothing_milder() {
        let on = &[("AUTO_SANDBOX", "true")];
        let kind = |enabled: &str, variables: &[(&str, &str)]| {
            let exec = read(&[("enabled", &format!("\"{enabled}\""))], variables).unwrap();
            (exec.isolation == Isolation::Direct, exec.need.is_some())
        };
        assert_eq!(kind("never", &[]), (true, false));
        assert_eq!(kind("never", on), (false, true));
        assert_eq!(
            kind("never", &[("AUTO_SANDBOX", "1")]),
            (true, false),
            "only `true` enables it in those tools"
        );
        assert_eq!(kind("auto", on), (false, true));
        assert_eq!(kind("always", on), (false, false));
        assert_eq!(read(&[], on).unwrap().need, None, "by default, every command runs in a sandbox");
        for closed in ["AUTO_SANDBOX_FAIL_CLOSED", "CODEBUDDY_AUTO_SANDBOX_FAIL_CLOSED"] {
            let exec = read(&[("onUnavailable", "\"warn\"")], &[(closed, "true")]).unwrap();
            assert_eq!(exec.isolation, Isolation::Sandbox(OnUnavailable::Refuse), "{closed}");
            let exec = read(&[("onUnavailable", "\"ask\"")], &[(closed, "false")]).unwrap();
            assert_eq!(exec.isolation, Isolation::Sandbox(OnUnavailable::Ask), "{closed}");
        }
    }

    #[test]
    fn a_backend_is_named_as_others_name_it() {
        let rows = [("docker", "docker"), ("os", "auto"), ("bubblewrap", "bwrap"), (" E2B ", "e2b")];
        for (said, meant) in rows {
            let exec = read(&[], &[("CODEBUDDY_SANDBOX_BACKEND", said)]).unwrap();
            assert_eq!(exec.spec.backend, SandboxBackend::from_name(meant).unwrap(), "{said}");
        }
        let ssh = [("CODEBUDDY_SANDBOX_BACKEND", "ssh"), ("CODEBUDDY_SSH_HOST", "build.example")];
        let exec = read(&[], &ssh).unwrap();
        assert_eq!(exec.spec.backend.name(), "ssh");
        assert_eq!(exec.spec.backend_options.get("host").map(String::as_str), Some("build.example"));
        let exec = read(&[("backend", "\"native\"")], &[("CODEBUDDY_SANDBOX_BACKEND", "landlock")]).unwrap();
        assert_eq!(exec.spec.backend, SandboxBackend::Native, "every layer takes precedence");
        let refused = read(&[], &[("CODEBUDDY_SANDBOX_BACKEND", "../x")]).unwrap_err();
        assert!(refused.contains("CODEBUDDY_SANDBOX_BACKEND"), "{refused}");
    }
}
