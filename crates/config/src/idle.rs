//! Keys that another key disables. They are errors, since their author expects an effect that they do not have.

use serde_json::{Value as Json, json};

use crate::config::{Config, ConfigValue};
use crate::error::{ConfigNotice, Problem};
use crate::keys::{ConfigKey, KEYS};
use crate::layer::ConfigLayer;

/// Keys that have no effect while another key has certain values.
struct Row {
    /// The keys without effect. `PREFIX.*` are all keys below a prefix that no other row about [`Row::by`] names.
    idle: &'static [&'static str],
    /// The key that disables them.
    by: &'static str,
    /// Its values that disable them, as JSON.
    while_it_is: &'static [&'static str],
    /// How to enable them.
    fix: &'static str,
}

/// The key that makes a sandbox mandatory.
const MUST: &str = "security.permission.enableNodePermissions";

/// Every key that another one can disable.
#[rustfmt::skip]
const ROWS: &[Row] = &[
    Row { idle: &["security.permission.allowedFsPaths", "security.permission.allowedNetHosts", "security.permission.secrets", "security.permission.logins"],
        by: "security.permission.enableNodePermissions", while_it_is: &["false"],
        fix: "set `security.permission.enableNodePermissions` to true" },
    Row { idle: &["agents.<id>.skills.execSandbox.alwaysSandbox"],
        by: "agents.<id>.skills.execSandbox.enabled", while_it_is: &["\"never\"", "\"always\""],
        fix: "set `execSandbox.enabled` to `auto`" },
    Row { idle: &["agents.<id>.skills.execSandbox.alwaysSandbox"],
        by: "agents.<id>.skills.execSandbox.mode", while_it_is: &["\"danger-full-access\"", "\"read-only\""],
        fix: "set `execSandbox.mode` to `workspace-write`" },
    Row { idle: &["agents.<id>.skills.execSandbox.*"],
        by: "agents.<id>.skills.execSandbox.enabled", while_it_is: &["\"never\""],
        fix: "set `execSandbox.enabled` to `always`" },
    Row { idle: &[
            "agents.<id>.skills.execSandbox.onUnavailable", "agents.<id>.skills.execSandbox.backend",
            "agents.<id>.skills.execSandbox.image", "agents.<id>.skills.execSandbox.runtime",
            "agents.<id>.skills.execSandbox.backendOptions", "agents.<id>.skills.execSandbox.home", "agents.<id>.skills.execSandbox.readOnlyAllowPaths", "agents.<id>.skills.execSandbox.envNamesPaths",
            "agents.<id>.skills.execSandbox.network",
        ],
        by: "agents.<id>.skills.execSandbox.mode", while_it_is: &["\"danger-full-access\""],
        fix: "set `execSandbox.mode` to `workspace-write`" },
    Row { idle: &["agents.<id>.skills.execSandbox.excludedCommands", "agents.<id>.skills.execSandbox.review"],
        by: "agents.<id>.skills.execSandbox.mode", while_it_is: &["\"danger-full-access\"", "\"read-only\""],
        fix: "set `execSandbox.mode` to `workspace-write`" },
    Row { idle: &["agents.<id>.skills.execSandbox.image", "agents.<id>.skills.execSandbox.runtime"],
        by: "agents.<id>.skills.execSandbox.backend",
        while_it_is: &["\"auto\"", "\"native\"", "\"bwrap\"", "\"landlock\""],
        fix: "set `execSandbox.backend` to `docker` or `podman`" },
    Row { idle: &["agents.<id>.skills.execSandbox.backendOptions"],
        by: "agents.<id>.skills.execSandbox.backend",
        while_it_is: &["\"auto\"", "\"native\"", "\"bwrap\"", "\"landlock\"", "\"docker\"", "\"podman\""],
        fix: "set `execSandbox.backend` to the backend of these options" },
    Row { idle: &["agents.<id>.allowedNetHosts"], by: "agents.<id>.skills.execSandbox.network", while_it_is: &["\"open\""],
        fix: "set `execSandbox.network` to `none`" },
    Row { idle: &["limits.mayForget"], by: "limits.server", while_it_is: &["null"], fix: "set `limits.server`" },
];

impl Row {
    /// Returns the paths of the keys without effect.
    fn keys(&self) -> impl Iterator<Item = &'static str> {
        self.idle.iter().flat_map(|entry| match entry.strip_suffix('*') {
            None => vec![*entry],
            Some(prefix) => {
                let below = KEYS.iter().map(|key| key.path).filter(|path| path.starts_with(prefix));
                below.filter(|path| !self.has_a_row(path)).collect()
            }
        })
    }

    /// Whether a key is the one that disables others, or a row lists it by its full path.
    fn has_a_row(&self, path: &str) -> bool {
        path == self.by || ROWS.iter().any(|row| row.by == self.by && row.idle.contains(&path))
    }
}

impl Config {
    /// Returns a problem for each key that is set but disabled. If a project or a managed file disables it, its author made no
    /// mistake, so this is only a notice.
    pub(super) fn idle(&self) -> (Vec<Problem>, Vec<ConfigNotice>) {
        let (mut problems, mut notices) = (Vec::new(), Vec::new());
        for (value, decided, row) in self.idle_values() {
            let (path, by, place) =
                (&value.path, &decided.path, value.origin.place.clone().unwrap_or_default());
            let message = format!("has no effect because `{by}` is {}", decided.value);
            match decided.origin.layer {
                ConfigLayer::Project | ConfigLayer::Managed => {
                    notices.push(ConfigNotice { key: path.clone(), place, message });
                }
                _ => {
                    let fix = format!("{}, or remove `{path}`", row.fix);
                    problems.push(Problem::of_place(&place, format!("`{path}` {message}"), fix));
                }
            }
        }
        (problems, notices)
    }

    /// Returns the values without effect, each with the value that disables it.
    fn idle_values(&self) -> Vec<(ConfigValue, ConfigValue, &'static Row)> {
        let mut found = Vec::new();
        // This key applies regardless of `execSandbox`.
        let is_must = self.get(MUST).is_some_and(|must| must.value == json!(true));
        for row in ROWS.iter().filter(|row| !is_must || !row.by.starts_with("agents.")) {
            let agents: Vec<&str> = match row.by.contains("<id>") {
                true => self.agents.keys().map(String::as_str).collect(),
                false => vec![""],
            };
            for agent in agents {
                let Some(decided) = self.get(&row.by.replace("<id>", agent)) else { continue };
                if !row.while_it_is.contains(&decided.value.to_string().as_str()) {
                    continue;
                }
                let set = row.keys().filter_map(|key| self.get(&key.replace("<id>", agent)));
                let is_set =
                    |value: &ConfigValue| value.origin.layer != ConfigLayer::Default && says_something(value);
                found.extend(set.filter(is_set).map(|value| (value, decided.clone(), row)));
            }
        }
        found
    }
}

/// Whether a value differs from the default.
fn says_something(value: &ConfigValue) -> bool {
    let default = ConfigKey::of(&value.path).and_then(|key| serde_json::from_str::<Json>(key.default).ok());
    value.value != default.unwrap_or(json!(null))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "lays out a project")]
mod tests {
    use super::*;
    use crate::ConfigSources;

    fn load(flags: &[(&str, &str)]) -> Result<Config, String> {
        let flags = flags.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
        let sources = ConfigSources { flags, ..ConfigSources::default() };
        Config::load(&sources).map_err(|error| error.to_string())
    }

    #[test]
    fn the_rows_name_keys() {
        for row in ROWS {
            assert!(row.keys().next().is_some(), "{:?}", row.idle);
            for path in row.keys().chain([row.by]) {
                assert!(KEYS.iter().any(|key| key.path == path), "{path}");
            }
        }
    }

    #[test]
    fn everything_about_sandboxes_is_idle_without_one() {
        let never = ROWS.iter().find(|row| row.idle == ["agents.<id>.skills.execSandbox.*"]).unwrap();
        let names: Vec<_> = never.keys().filter_map(|path| path.rsplit('.').next()).collect();
        assert!(names.contains(&"timeoutMs") && names.contains(&"mode"), "{names:?}");
        assert!(!names.contains(&"enabled") && !names.contains(&"alwaysSandbox"), "{names:?}");
    }

    #[test]
    fn a_key_without_effect_is_refused_with_what_gives_it_one() {
        for (flags, wanted) in [
            (
                &[("security.permission.allowedNetHosts", "a.example")][..],
                "set `security.permission.enableNodePermissions` to true, or remove `security.permission.allowedNetHosts`",
            ),
            (
                &[
                    ("agents.bot.skills.execSandbox.enabled", "never"),
                    ("agents.bot.skills.execSandbox.timeoutMs", "5"),
                ],
                "set `execSandbox.enabled` to `always`, or remove `agents.bot.skills.execSandbox.timeoutMs`",
            ),
            (
                &[
                    ("agents.*.skills.execSandbox.mode", "read-only"),
                    ("agents.bot.skills.execSandbox.excludedCommands", "docker ps"),
                ],
                "set `execSandbox.mode` to `workspace-write`",
            ),
            (&[("limits.mayForget", "true")], "set `limits.server`"),
        ] {
            let error = load(flags).unwrap_err();
            assert!(error.contains("has no effect") && error.contains(wanted), "{flags:?}: {error}");
        }
    }

    /// Default values are never reported, and values with an effect are accepted.
    #[test]
    fn keys_with_an_effect_and_defaults_are_taken() {
        for flags in [
            &[("security.permission.allowedNetHosts", "[]")][..],
            &[
                ("security.permission.allowedNetHosts", "a.example"),
                ("security.permission.enableNodePermissions", "true"),
            ],
            &[("agents.bot.skills.execSandbox.enabled", "never")],
            &[
                ("agents.bot.skills.execSandbox.enabled", "never"),
                ("agents.bot.skills.execSandbox.network", "open"),
                ("security.permission.enableNodePermissions", "true"),
            ],
            &[("agents.bot.skills.execSandbox.timeoutMs", "5")],
            &[("agents.bot.skills.execSandbox.excludedCommands", "docker ps")],
        ] {
            assert!(load(flags).is_ok(), "{flags:?}");
        }
    }

    /// A repository must not make the configuration of its user unusable.
    #[test]
    fn what_a_project_takes_the_effect_of_is_only_told() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(".stockade")).unwrap();
        let text = "[agents.bot.skills.execSandbox]\nmode = \"read-only\"\n";
        std::fs::write(folder.path().join(".stockade/config.toml"), text).unwrap();
        let flags =
            vec![("agents.bot.skills.execSandbox.excludedCommands".to_owned(), "docker ps".to_owned())];
        let sources =
            ConfigSources { flags, project: Some(folder.path().into()), ..ConfigSources::default() };
        let config = Config::load(&sources).unwrap();
        assert!(config.notices().iter().any(|notice| notice.to_string().contains("has no effect")));
    }
}
