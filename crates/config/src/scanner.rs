//! Configured severities of the scanner's rules.

use std::sync::LazyLock;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use stockade_scanner::{RuleChange, Scanner, Severity};
use stockade_text::nearest;

use crate::config::{Config, failed};
use crate::error::{ConfigError, Problem};
use crate::layer::Leaf;
use crate::sources::ConfigSources;

/// Returns the built-in rules with their own severities.
static SEVERITIES: LazyLock<BTreeMap<&'static str, Severity>> = LazyLock::new(|| {
    Scanner::builtin().rules().iter().map(|rule| (rule.id.as_str(), rule.severity)).collect()
});

/// Returns the rule id in a path.
fn rule_of(path: &str) -> Option<&str> {
    path.strip_prefix("scanner.rules.")?.split('.').next()
}

/// Returns a rule's own severity, as a configuration value.
pub(super) fn own_severity(path: &str) -> Option<Json> {
    let severity = SEVERITIES.get(rule_of(path)?)?;
    Some(Json::String(severity.name().to_ascii_lowercase()))
}

/// Reports unknown rule ids. A mistyped id would leave the intended rule unchanged.
pub(super) fn check<'l>(leaves: impl Iterator<Item = &'l Leaf>, problems: &mut Vec<Problem>) {
    for leaf in leaves {
        let Some(rule) = rule_of(&leaf.path).filter(|rule| !SEVERITIES.contains_key(rule)) else { continue };
        let place = leaf.origin.place.clone().unwrap_or_default();
        let fix = match nearest(rule, SEVERITIES.keys().copied()) {
            Some(near) => format!("write `{near}`"),
            None => "run `stockade rules` to list them; your own rules have their severity in their file"
                .to_owned(),
        };
        problems.push(Problem::of_place(&place, format!("no built-in rule has the id `{rule}`"), fix));
    }
}

impl Config {
    /// Returns the configured changes of scanner rules, as [`Scanner::changed`] takes them.
    #[must_use]
    pub fn rule_changes(&self) -> Vec<RuleChange> {
        let change = |rule: &String| {
            let value = self.get(&format!("scanner.rules.{rule}.severity"))?;
            let word = value.value.as_str()?;
            // Invalid words were rejected on parsing.
            let severity = Severity::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(word));
            let by = value.origin.place.unwrap_or_else(|| value.origin.layer.name().to_owned());
            Some(RuleChange { rule: rule.clone(), severity, by })
        };
        self.changed_rules.iter().filter_map(change).collect()
    }
}

impl ConfigSources {
    /// Returns the same changes as [`Config::rule_changes`], for callers that need no other settings.
    ///
    /// # Errors
    /// When a file, variable or option is invalid. The error lists every problem.
    pub fn rule_changes(&self) -> Result<Vec<RuleChange>, ConfigError> {
        let mut problems = Vec::new();
        let said = self.read(&mut problems);
        if !problems.is_empty() {
            return Err(failed(problems));
        }
        // Merging all layers takes time, so it is skipped if no layer configures a rule.
        match said.iter().any(|layer| !layer.leaves.is_empty()) {
            true => Ok(Config::load(self)?.rule_changes()),
            false => Ok(Vec::new()),
        }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "lays out a project")]
mod tests {
    use super::*;

    /// Loads the configuration of a user and of a project.
    fn load(user: &str, project: &str) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        let of_user = folder.path().join("user.toml");
        std::fs::write(&of_user, user).unwrap();
        std::fs::create_dir(folder.path().join(".stockade")).unwrap();
        std::fs::write(folder.path().join(".stockade/config.toml"), project).unwrap();
        let sources = ConfigSources {
            project: Some(folder.path().into()),
            file: Some(of_user),
            ..ConfigSources::default()
        };
        let config = Config::load(&sources).map_err(|error| error.to_string())?;
        let changes = sources.rule_changes().map_err(|error| error.to_string())?;
        assert_eq!(changes, config.rule_changes());
        Ok(config)
    }

    fn said(word: &str) -> String {
        if word.is_empty() {
            return String::new();
        }
        format!("[scanner.rules.EXEC_PIPE_BASH]\nseverity = \"{word}\"\n")
    }

    /// A project can only raise a severity or enable a rule. This rule is critical by default.
    #[test]
    fn what_a_project_says_is_never_milder() {
        let (off, warn, critical) = (Some(None), Some(Some(Severity::Warn)), Some(Some(Severity::Critical)));
        let rows = [
            ("", "", None),
            ("off", "", off),
            ("warn", "", warn),
            ("critical", "", critical),
            ("", "off", None),
            ("", "warn", None),
            ("", "critical", None),
            ("off", "warn", warn),
            ("off", "critical", critical),
            ("warn", "off", warn),
            ("warn", "critical", critical),
            ("critical", "warn", critical),
        ];
        for (user, project, wanted) in rows {
            let changes = load(&said(user), &said(project)).unwrap().rule_changes();
            let got = changes.first().map(|change| change.severity);
            assert_eq!(got, wanted, "{user} {project}");
        }
        // A rule that is a warning by default.
        let raised = "[scanner.rules.ENV_PRINTENV]\nseverity = \"critical\"\n";
        assert_eq!(
            own_severity("scanner.rules.ENV_PRINTENV.severity"),
            Some(Json::String("warn".to_owned()))
        );
        assert_eq!(load("", raised).unwrap().rule_changes()[0].severity, Some(Severity::Critical));
    }

    #[test]
    fn a_change_says_where_it_stands() {
        let config = load(&said("off"), "").unwrap();
        assert!(config.rule_changes()[0].by.ends_with("user.toml:2:1"), "{:?}", config.rule_changes());
        let values = config.values();
        assert!(values.iter().any(|value| value.path == "scanner.rules.EXEC_PIPE_BASH.severity"));
        let usual = config.get("scanner.rules.NET_CURL_PIPE.severity").unwrap();
        assert_eq!((usual.value, usual.origin.place), (Json::String("warn".to_owned()), None));
    }

    #[test]
    fn rules_that_are_not_there_are_told_with_the_nearest_name() {
        let rows = [
            ("EXEC_PIPE_BAHS", "write `EXEC_PIPE_BASH`"),
            ("exec_pipe_bash", "write `EXEC_PIPE_BASH`"),
            ("QQQQQQQQ", "`stockade rules` to list them"),
        ];
        for (rule, wanted) in rows {
            let text = format!("[scanner.rules.{rule}]\nseverity = \"off\"\n");
            for error in [load(&text, ""), load("", &text)] {
                let error = error.unwrap_err();
                assert!(error.contains(rule) && error.contains(wanted) && error.contains(":2:1"), "{error}");
            }
            let name = format!("STOCKADE_SCANNER__RULES__{rule}__SEVERITY");
            let sources = ConfigSources {
                environment: vec![(name.clone().into(), "off".into())],
                ..ConfigSources::default()
            };
            let error = Config::load(&sources).unwrap_err().to_string();
            assert!(error.contains(&name) && error.contains(wanted), "{error}");
        }
        let flags = vec![("scanner.rules.EXEC_PIPE_BASH.severity".to_owned(), "milder".to_owned())];
        assert!(Config::load(&ConfigSources { flags, ..ConfigSources::default() }).is_err());
    }
}
