//! The rules for commands that a user has added, in a file.
#![expect(clippy::disallowed_methods, reason = "reads and replaces the file that the rules are kept in")]

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use stockade_policy::CommandRuleError;
use stockade_policy::commands::rules::{CommandRuleFileError, CustomRules, MAX_COMMAND_RULE_FILE_BYTES};
use thiserror::Error;

/// A file of rules for commands that were added by answering questions.
///
/// The file is only ever replaced whole: a reader, a crash or a full disk never sees half of it. A file that is damaged,
/// that a newer version wrote, or that others can write, is an error: whoever decides with it must not start.
#[derive(Debug, Clone)]
pub struct RuleStore {
    path: PathBuf,
}

/// The rules could not be read or kept.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RuleStoreError {
    /// The file could not be read.
    #[error("cannot read the rules in {}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// What is in the file cannot be used.
    #[error("the rules in {} cannot be used; mend the file, or move it away to start without them", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it, and where.
        source: Box<CommandRuleFileError>,
    },
    /// Others than its owner can write the file.
    #[error("others can write the rules in {}: run `chmod go-w` on it, after reading it", path.display())]
    OpenToOthers {
        /// The file.
        path: PathBuf,
    },
    /// The file could not be replaced. It is as it was.
    #[error("cannot write the rules to {}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A rule cannot be used.
    #[error("cannot keep a rule")]
    Rule(#[from] CommandRuleError),
}

impl RuleStore {
    /// Returns the store in a file, which need not exist yet. Nothing is read or written.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Reads the rules. There are none where there is no file.
    ///
    /// # Errors
    /// When there is a file, and not all of it can be used.
    pub fn load(&self) -> Result<CustomRules, RuleStoreError> {
        let failed = |source| RuleStoreError::Read { path: self.path.clone(), source };
        let file = match File::open(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(CustomRules::default()),
            Err(error) => return Err(failed(error)),
        };
        let metadata = file.metadata().map_err(failed)?;
        if !metadata.is_file() {
            return Err(failed(io::Error::other("it is no file")));
        }
        if metadata.permissions().mode() & 0o022 != 0 {
            return Err(RuleStoreError::OpenToOthers { path: self.path.clone() });
        }
        let mut text = String::new();
        // A little more than allowed, so that the file is refused for what it is: too large.
        let most = u64::try_from(MAX_COMMAND_RULE_FILE_BYTES).unwrap_or(u64::MAX).saturating_add(1);
        file.take(most).read_to_string(&mut text).map_err(failed)?;
        let damaged = |error| RuleStoreError::Damaged { path: self.path.clone(), source: Box::new(error) };
        CustomRules::parse(&text).map_err(damaged)
    }

    /// Changes the rules: reads them, lets `change` have them, and replaces the file. Others who change it meanwhile
    /// wait.
    ///
    /// # Errors
    /// When the file cannot be used or replaced, or `change` fails. The file is as it was then.
    pub fn change<T>(
        &self,
        change: impl FnOnce(&mut CustomRules) -> Result<T, CommandRuleError>,
    ) -> Result<T, RuleStoreError> {
        let failed = |source| RuleStoreError::Write { path: self.path.clone(), source };
        let _lock = self.lock().map_err(failed)?;
        let mut rules = self.load()?;
        let before = rules.clone();
        let answer = change(&mut rules)?;
        if rules != before {
            self.replace(rules.render().as_bytes()).map_err(failed)?;
        }
        Ok(answer)
    }

    /// Waits until nobody else changes the file. The lock goes with what is returned.
    fn lock(&self) -> io::Result<File> {
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(self.beside(".lock")?)?;
        rustix::fs::flock(&lock, rustix::fs::FlockOperation::LockExclusive)?;
        Ok(lock)
    }

    /// Writes a new file, makes sure that it is on the disk, and puts it in the place of the old one.
    fn replace(&self, text: &[u8]) -> io::Result<()> {
        let new = self.beside(".new")?;
        // What a crash has left; the lock says that nobody is at it.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(text)?;
        file.sync_all()?;
        fs::rename(&new, &self.path)?;
        let folder = self.path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()
    }

    /// Returns a hidden name in the same folder.
    fn beside(&self, ending: &str) -> io::Result<PathBuf> {
        let name = self.path.file_name().ok_or_else(|| io::Error::other("it names no file"))?;
        let mut hidden = std::ffi::OsString::from(".");
        hidden.push(name);
        hidden.push(ending);
        Ok(self.path.with_file_name(hidden))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stockade_policy::{CommandRule, Effect};

    fn rule(id: &str) -> CommandRule {
        CommandRule::prefix(id, &["git", id], Effect::Ask)
    }

    #[test]
    fn rules_are_there_after_a_restart() {
        let folder = tempfile::tempdir().unwrap();
        let store = RuleStore::new(folder.path().join("rules.toml"));
        assert_eq!(store.load().unwrap().rules(), []);
        store.change(|rules| rules.add(rule("push"))).unwrap();
        store.change(|rules| rules.add(rule("pull"))).unwrap();
        assert!(matches!(store.change(|rules| rules.add(rule("pull"))), Err(RuleStoreError::Rule(_))));
        store.change(|rules| Ok(rules.remove("push"))).unwrap();
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
        store.change(|rules| rules.add(rule("push"))).unwrap();
        let whole = fs::read(&path).unwrap();
        for damaged in
            [&whole[..whole.len() - 3], b"", b"version = 2\n", b"version = 1\nrule = 3", b"\xff\xfe"]
        {
            fs::write(&path, damaged).unwrap();
            assert!(store.load().is_err(), "{damaged:?}");
            assert!(store.change(|rules| rules.add(rule("pull"))).is_err(), "{damaged:?}");
            assert_eq!(fs::read(&path).unwrap(), damaged);
        }
        fs::write(&path, &whole).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o666)).unwrap();
        assert!(matches!(store.load(), Err(RuleStoreError::OpenToOthers { .. })));
        assert!(RuleStore::new(folder.path()).load().is_err(), "a folder was read");
    }

    #[test]
    fn what_a_crash_has_left_is_no_obstacle_and_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(".rules.toml.new"), "half a fi").unwrap();
        let store = RuleStore::new(folder.path().join("rules.toml"));
        assert_eq!(store.load().unwrap().rules(), []);
        store.change(|rules| rules.add(rule("push"))).unwrap();
        assert_eq!(store.load().unwrap().rules().len(), 1);
    }

    #[test]
    fn nobody_loses_a_rule_to_somebody_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rules.toml");
        std::thread::scope(|scope| {
            for writer in 0..4 {
                let store = RuleStore::new(&path);
                scope.spawn(move || {
                    for number in 0..5 {
                        store.change(|rules| rules.add(rule(&format!("r{writer}-{number}")))).unwrap();
                    }
                });
            }
        });
        assert_eq!(RuleStore::new(&path).load().unwrap().rules().len(), 20);
    }
}
