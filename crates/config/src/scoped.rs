//! Tables `[[scoped]]` of a config file, which apply in one directory, in one session of a harness, or until a point in time.
//! `stockade allow --project`, `--session` and `--for` write them.
//!
//! They add entries to lists, and rules, so that a later change of the list itself holds in them as well.
#![expect(clippy::disallowed_methods, reason = "resolves the directory of the project, and reads the clock")]

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use stockade_text::{Node, Timestamp, Value};

use crate::layer::Leaf;

/// The key of these tables.
pub(super) const SCOPED: &str = "scoped";

/// The keys of the conditions of a table.
pub(super) const CONDITIONS: [&str; 3] = ["directory", "session", "until"];

/// A table with its conditions.
#[derive(Debug, Default)]
pub(super) struct Scoped {
    /// The directory that the project is, or is in.
    pub(super) directory: Option<PathBuf>,
    /// The session of the harness.
    pub(super) session: Option<String>,
    /// The end.
    pub(super) until: Option<Timestamp>,
    /// What it adds.
    pub(super) leaves: Vec<Leaf>,
}

impl Scoped {
    /// Reads one of the conditions, or returns what is expected.
    pub(super) fn condition(&mut self, key: &str, node: &Node) -> Result<(), &'static str> {
        let text = match &node.value {
            Value::Text(text) | Value::Date(text) => text.as_str(),
            _ => "",
        };
        match key {
            "until" => {
                self.until = Some(point(text).ok_or("expected a time in UTC: \"2026-11-29T18:00:00Z\"")?);
            }
            "session" => {
                let session = Some(text).filter(|text| !text.is_empty());
                self.session = Some(session.ok_or("expected the id of a session")?.to_owned());
            }
            _ => {
                let directory = Some(Path::new(text)).filter(|path| path.is_absolute());
                self.directory = Some(directory.ok_or("expected an absolute path")?.to_owned());
            }
        }
        Ok(())
    }

    /// Whether it has a condition.
    pub(super) const fn is_limited(&self) -> bool {
        self.directory.is_some() || self.session.is_some() || self.until.is_some()
    }

    fn applies(&self, project: Option<&Path>, session: Option<&str>, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
            && self.session.as_deref().is_none_or(|own| session == Some(own))
            && self
                .directory
                .as_ref()
                .is_none_or(|directory| project.is_some_and(|project| project.starts_with(directory)))
    }
}

/// Returns the tables that apply to a project now, each as a layer of its own, and when the first of them ends.
pub(super) fn in_force(
    tables: Vec<Scoped>,
    project: Option<&Path>,
    session: Option<&str>,
) -> (Vec<Vec<Leaf>>, Option<Timestamp>) {
    let project = project.filter(|_| tables.iter().any(|table| table.directory.is_some()));
    let project = project.and_then(|project| fs::canonicalize(project).ok());
    let now = SystemTime::now().into();
    let tables: Vec<Scoped> =
        tables.into_iter().filter(|table| table.applies(project.as_deref(), session, now)).collect();
    let ends = tables.iter().filter_map(|table| table.until).min();
    (tables.into_iter().map(|table| table.leaves).collect(), ends)
}

/// Reads a time to the second.
fn point(text: &str) -> Option<Timestamp> {
    Timestamp::parse(&format!("{}.000000Z", text.strip_suffix('Z')?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Config, ConfigSources};

    /// Loads a user's file for a project.
    fn load(text: &str, project: &Path) -> Result<Config, String> {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.toml"), text).unwrap();
        let sources = ConfigSources {
            user: Some(folder.path().to_owned()),
            project: Some(project.to_owned()),
            ..ConfigSources::default()
        };
        Config::load(&sources).map_err(|error| error.to_string())
    }

    fn hosts(config: &Config) -> Vec<String> {
        let value = config.get("agents.claude.allowedNetHosts").unwrap().value;
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_table_adds_where_and_while_it_applies() {
        let folder = tempfile::tempdir().unwrap();
        let inside = folder.path().join("inside/deeper");
        fs::create_dir_all(&inside).unwrap();
        let real = fs::canonicalize(folder.path().join("inside")).unwrap();
        let text = |condition: &str| {
            format!(
                "agents.claude.allowedNetHosts = [\"a.example\"]\n[[scoped]]\n{condition}\n\
                 agents.claude.allowedNetHosts = [\"b.example\"]\n"
            )
        };
        let directory = format!("directory = '{}'", real.display());
        for (condition, project, applies) in [
            (directory.clone(), &inside, true),
            (directory.clone(), &real, true),
            (directory.clone(), &folder.path().to_owned(), false),
            (directory.clone(), &folder.path().join("inside-too"), false),
            ("until = \"2999-01-01T00:00:00Z\"".into(), &inside, true),
            ("until = 2999-01-01T00:00:00Z".into(), &inside, true),
            ("until = \"2001-01-01T00:00:00Z\"".into(), &inside, false),
            (format!("{directory}\nuntil = \"2001-01-01T00:00:00Z\""), &inside, false),
        ] {
            let config = load(&text(&condition), project).unwrap();
            let wanted: &[&str] = if applies { &["a.example", "b.example"] } else { &["a.example"] };
            assert_eq!(hosts(&config), wanted, "{condition} {}", project.display());
            assert_eq!(config.ends().is_some(), applies && condition.contains("until"), "{condition}");
        }
    }

    #[test]
    fn what_is_denied_later_is_denied_in_it() {
        let text = "agents.claude.toolPolicy.deny = [\"write\"]\n[[scoped]]\nuntil = \"2999-01-01T00:00:00Z\"\n\
                    agents.claude.toolPolicy.deny = [\"exec\"]\n[[scoped]]\nuntil = \"2999-01-02T00:00:00Z\"\n\
                    agents.\"*\".toolPolicy.deny = [\"read\"]\n";
        let config = load(text, Path::new("/")).unwrap();
        let denied = config.get("agents.claude.toolPolicy.deny").unwrap().value;
        assert_eq!(denied, serde_json::json!(["write", "exec", "read"]));
        let origin = config.origin_of_entry("agents.claude.toolPolicy.deny", "write").unwrap();
        assert!(origin.place.unwrap().contains("config.toml:1:"));
    }

    #[test]
    fn rules_of_a_table_decide() {
        let rule = "[[scoped.agents.claude.commands.rules]]\nid = \"x\"\ndecision = \"allow\"\nprefix = [\"prog\"]\nreason = \"r\"\n";
        let config = load(&format!("[[scoped]]\nuntil = \"2999-01-01T00:00:00Z\"\n{rule}"), Path::new("/"));
        assert_eq!(config.unwrap().rules("claude").count(), 1);
        let config = load(&format!("[[scoped]]\nuntil = \"1999-01-01T00:00:00Z\"\n{rule}"), Path::new("/"));
        assert_eq!(config.unwrap().rules("claude").count(), 0);
    }

    #[test]
    fn slips_are_errors() {
        let entry = "agents.claude.allowedNetHosts = [\"b.example\"]";
        for (text, why) in [
            ("scoped = 1".to_owned(), "expected a list of tables"),
            ("scoped = [1]".to_owned(), "expected a table"),
            (format!("[[scoped]]\n{entry}"), "`directory` or `until`"),
            (format!("[[scoped]]\ndirectory = \"x\"\n{entry}"), "an absolute path"),
            (format!("[[scoped]]\nuntil = \"tomorrow\"\n{entry}"), "a time in UTC"),
            (format!("[[scoped]]\nuntil = 5\n{entry}"), "a time in UTC"),
            (
                "[[scoped]]\nuntil = \"2999-01-01T00:00:00Z\"\nagents.claude.maxSteps = 5".to_owned(),
                "no list",
            ),
            ("[[scoped]]\nuntil = \"2999-01-01T00:00:00Z\"\nscoped = []".to_owned(), "unknown key"),
            (format!("[[scoped]]\nuntill = \"2999-01-01T00:00:00Z\"\n{entry}"), "unknown key"),
        ] {
            let error = load(&text, Path::new("/")).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    /// A repository does not give itself more for a time.
    #[test]
    fn a_project_has_no_tables() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(".stockade")).unwrap();
        fs::write(folder.path().join(".stockade/config.toml"), "[[scoped]]\ndirectory = \"/\"\n").unwrap();
        assert!(load("", folder.path()).unwrap_err().contains("unknown key `scoped`"));
    }
}
