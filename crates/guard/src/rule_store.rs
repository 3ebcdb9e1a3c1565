//! The file of command rules that a user has added.

use std::path::PathBuf;

use stockade_command::Layer;
use stockade_command::rules::{
    CommandRuleFileError, CommandRuleFileProblem, CommandRuleFormat, CustomRules, MAX_COMMAND_RULE_FILE_BYTES,
};
use stockade_files::{KeptFile, KeptFileError};
use thiserror::Error;

/// A file of command rules that were added by answers to questions, or by `stockade policy add`.
///
/// The file is always replaced as a whole, so no reader sees a partial file, even after a crash or with a full disk. A damaged
/// file, one of a newer version, and one that other users can write are errors: the caller must not decide without the rules.
#[derive(Debug, Clone)]
pub struct RuleStore {
    file: KeptFile,
    format: CommandRuleFormat,
    layer: Layer,
}

/// The rules could not be read or stored.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuleStoreError {
    /// The file could not be read or replaced. It is unchanged.
    #[error("cannot use the rule file {}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: KeptFileError,
    },
    /// The file is invalid.
    #[error("the rules in {} are invalid; fix the file, or move it away to start without them", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// The problem, with its position.
        source: Box<CommandRuleFileError>,
    },
    /// A rule cannot be added or removed.
    #[error(transparent)]
    Rule(#[from] CommandRuleFileProblem),
}

impl RuleStore {
    /// Returns the store for rules of the user in a file, which need not exist yet. Nothing is read or written.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self::of(path, Layer::User)
    }

    /// Returns the store for rules of another layer. The extension of the file is its format; others than those of YAML and JSON
    /// are TOML.
    #[must_use]
    pub fn of(path: impl Into<PathBuf>, layer: Layer) -> Self {
        let path = path.into();
        let format = CommandRuleFormat::of_name(&path.to_string_lossy()).unwrap_or(CommandRuleFormat::Toml);
        let max = u64::try_from(MAX_COMMAND_RULE_FILE_BYTES).unwrap_or(u64::MAX);
        Self { file: KeptFile::new(path, max), format, layer }
    }

    /// Reads the rules. Without a file, the set is empty.
    ///
    /// # Errors
    /// When the file exists and any part of it is invalid.
    pub fn load(&self) -> Result<CustomRules, RuleStoreError> {
        let text = self.file.read().map_err(|source| self.unusable(source))?;
        self.parse(text.as_deref())
    }

    /// Reads the rules, calls `change`, and replaces the file. Concurrent changes wait.
    ///
    /// # Errors
    /// When the file cannot be used or replaced, or `change` fails. The file is then unchanged.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut CustomRules) -> Result<T, CommandRuleFileProblem>,
    ) -> Result<T, RuleStoreError> {
        let changed = self.file.change(|text| {
            let mut rules = self.parse(text)?;
            let before = rules.clone();
            let answer = change(&mut rules)?;
            Ok(((rules != before).then(|| rules.document().to_owned()), answer))
        });
        changed.map_err(|source| self.unusable(source))?
    }

    fn parse(&self, text: Option<&str>) -> Result<CustomRules, RuleStoreError> {
        let damaged =
            |error| RuleStoreError::Damaged { path: self.file.path().to_path_buf(), source: Box::new(error) };
        text.map_or_else(
            || Ok(CustomRules::in_format(self.format, self.layer)),
            |text| CustomRules::parse_for(text, self.format, self.layer).map_err(damaged),
        )
    }

    fn unusable(&self, source: KeptFileError) -> RuleStoreError {
        RuleStoreError::File { path: self.file.path().to_path_buf(), source }
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "damages files and asks for their mode")]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;
    use stockade_command::{CommandRule, Effect};

    fn rule(id: &str) -> CommandRule {
        CommandRule::prefix(id, &["git", id], Effect::Ask)
    }

    #[test]
    fn rules_are_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store = RuleStore::new(folder.path().join("rules.toml"));
        assert_eq!(store.load().unwrap().rules(), []);
        store.change(|rules| rules.add(&rule("push"))).unwrap();
        store.change(|rules| rules.add(&rule("pull"))).unwrap();
        assert!(matches!(store.change(|rules| rules.add(&rule("pull"))), Err(RuleStoreError::Rule(_))));
        store.change(|rules| rules.remove("push")).unwrap();
        let again = RuleStore::new(folder.path().join("rules.toml")).load().unwrap();
        assert_eq!(again.rules(), [rule("pull")]);
        let mode = fs::metadata(folder.path().join("rules.toml")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert!(!folder.path().join(".rules.toml.new").exists());
    }

    #[test]
    fn a_damaged_file_is_an_error_and_stays_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        let store = RuleStore::new(&path);
        store.change(|rules| rules.add(&rule("push"))).unwrap();
        let whole = fs::read(&path).unwrap();
        for damaged in
            [&whole[..whole.len() - 3], b"", b"version = 2\n", b"version = 1\nrule = 3", b"\xff\xfe"]
        {
            fs::write(&path, damaged).unwrap();
            assert!(store.load().is_err(), "{damaged:?}");
            assert!(store.change(|rules| rules.add(&rule("pull"))).is_err(), "{damaged:?}");
            assert_eq!(fs::read(&path).unwrap(), damaged);
        }
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(
            store.load(),
            Err(RuleStoreError::File { source: KeptFileError::OpenToOthers { .. }, .. })
        ));
        assert!(RuleStore::new(folder.path()).load().is_err(), "a folder was read");
    }
}
