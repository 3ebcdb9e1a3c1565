//! Mirrors of package registries in the user's own settings. The sandbox hides these files, since they may hold passwords, so an
//! installation gets the address of a mirror as a variable.
#![expect(clippy::disallowed_methods, reason = "finds the home, where settings of package managers are")]

use std::env;
use std::path::{Path, PathBuf};

use stockade_files::{Writers, read_trusted};

/// Maximum size of a settings file.
const MAX_SETTINGS: usize = 64 << 10;

/// A setting with the address of a mirror.
pub(crate) struct MirrorSetting {
    /// Files below the home; the first that has the key counts.
    pub(crate) files: &'static [&'static str],
    /// The key, before a `=`.
    pub(crate) key: &'static str,
    /// Variables that mean the same.
    pub(crate) variables: &'static [&'static str],
}

/// A package registry of the user's choice, and how package managers are told of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mirror {
    /// Its host, with a port if it has one.
    pub(crate) host: String,
    /// Variables to set.
    pub(crate) variables: Vec<(&'static str, String)>,
}

impl MirrorSetting {
    /// Returns the mirror that the user has set.
    pub(crate) fn read(&self) -> Option<Mirror> {
        self.read_below(&env::var_os("HOME").map(PathBuf::from).filter(|home| home.is_absolute())?)
    }

    fn read_below(&self, home: &Path) -> Option<Mirror> {
        let text = |file: &&str| read_trusted(&home.join(file), Writers::Owner, MAX_SETTINGS).ok();
        let value = self.files.iter().filter_map(text).find_map(|text| self.value(&text))?;
        let host = host_of(&value)?;
        Some(Mirror { host, variables: self.variables.iter().map(|name| (*name, value.clone())).collect() })
    }

    fn value(&self, text: &str) -> Option<String> {
        let value = |line: &str| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == self.key).then(|| value.trim().trim_matches(['"', '\'']).to_owned())
        };
        text.lines().find_map(value)
    }
}

/// Returns the host of a URL with nothing in it but an address: no user, no password, no spaces.
fn host_of(url: &str) -> Option<String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"))?;
    let host = rest.split(['/', '?', '#']).next()?;
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte);
    (!host.is_empty() && host.bytes().all(is_plain) && url.bytes().all(|byte| byte.is_ascii_graphic()))
        .then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const NPM: MirrorSetting =
        MirrorSetting { files: &[".npmrc"], key: "registry", variables: &["npm_config_registry"] };

    #[test]
    fn the_users_mirror_is_found() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(NPM.read_below(home.path()), None);
        for (text, host) in [
            ("save-exact=true\nregistry = https://npm.example.com/x/\n", Some("npm.example.com")),
            ("registry=http://10.0.0.7:4873/\n//10.0.0.7:4873/:_authToken=secret\n", Some("10.0.0.7:4873")),
            ("@own:registry=https://npm.example.com/\n", None),
            ("registry=https://user:password@npm.example.com/\n", None),
            ("registry=ftp://npm.example.com/\n", None),
            ("registry=https://a b/\n", None),
        ] {
            fs::write(home.path().join(".npmrc"), text).unwrap();
            let found = NPM.read_below(home.path());
            assert_eq!(found.as_ref().map(|mirror| mirror.host.as_str()), host, "{text}");
            let names = found.iter().flat_map(|mirror| &mirror.variables).map(|(name, _)| *name);
            assert_eq!(names.count(), usize::from(host.is_some()), "{text}");
        }
    }
}
