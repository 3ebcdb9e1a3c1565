//! Rules of the scanner that are off, or worse or milder than they say.

use std::sync::LazyLock;

use std::collections::BTreeMap;

use serde_json::Value as Json;
use stockade_scanner::{RuleChange, Scanner, Severity};
use stockade_text::nearest;

use crate::config::{Config, failed};
use crate::error::{ConfigError, Problem};
use crate::layer::Leaf;
use crate::sources::ConfigSources;

/// The built-in rules, and how bad a hit of each is.
static SEVERITIES: LazyLock<BTreeMap<&'static str, Severity>> = LazyLock::new(|| {
    Scanner::builtin().rules().iter().map(|rule| (rule.id.as_str(), rule.severity)).collect()
});

/// The rule that a path is about.
fn rule_of(path: &str) -> Option<&str> {
    path.strip_prefix("scanner.rules.")?.split('.').next()
}

/// What a rule itself says, in the words of a configuration.
pub(super) fn own_severity(path: &str) -> Option<Json> {
    let severity = SEVERITIES.get(rule_of(path)?)?;
    Some(Json::String(severity.name().to_ascii_lowercase()))
}

/// Looks for rules that are not there: nothing would hold of what is said about the one that is meant.
pub(super) fn check<'l>(leaves: impl Iterator<Item = &'l Leaf>, problems: &mut Vec<Problem>) {
    for leaf in leaves {
        let Some(rule) = rule_of(&leaf.path).filter(|rule| !SEVERITIES.contains_key(rule)) else { continue };
        let place = leaf.origin.place.clone().unwrap_or_default();
        let fix = match nearest(rule, SEVERITIES.keys().copied()) {
            Some(near) => format!("write `{near}`"),
            None => {
                "`stockade rules` lists them; a rule of your own says in its file how bad it is".to_owned()
            }
        };
        problems.push(Problem::of_place(&place, format!("no built-in rule has the id `{rule}`"), fix));
    }
}

impl Config {
    /// Returns what is changed of rules of the scanner, as [`Scanner::changed`] takes it.
    #[must_use]
    pub fn rule_changes(&self) -> Vec<RuleChange> {
        let change = |rule: &String| {
            let value = self.get(&format!("scanner.rules.{rule}.severity"))?;
            let word = value.value.as_str()?;
            // What is no word of these was refused when it was read.
            let severity = Severity::ALL.into_iter().find(|one| one.name().eq_ignore_ascii_case(word));
            let by = value.origin.place.unwrap_or_else(|| value.origin.layer.name().to_owned());
            Some(RuleChange { rule: rule.clone(), severity, by })
        };
        self.changed_rules.iter().filter_map(change).collect()
    }
}

impl ConfigSources {
    /// Returns what is changed of rules of the scanner: [`Config::rule_changes`], for who needs nothing else of a configuration.
    ///
    /// # Errors
    /// When any file, variable or option cannot be used, with all that is wrong.
    pub fn rule_changes(&self) -> Result<Vec<RuleChange>, ConfigError> {
        let mut problems = Vec::new();
        let said = self.read(&mut problems);
        if !problems.is_empty() {
            return Err(failed(problems));
        }
        // Whoever configures nothing need not wait until all of it is put together.
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

    /// The configuration of a user who says one thing, in a project that says another.
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

    /// A project only ever makes a rule worse, or switches one on. The rule is critical by itself.
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
        // Of a rule that only warns.
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
            ("QQQQQQQQ", "`stockade rules` lists them"),
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
