//! Secrets of the login files of tools: each login is bound to the hosts that its tool sends it to.
#![expect(clippy::disallowed_methods, reason = "looks up the home directory")]

use std::collections::BTreeSet;
use std::env;
use std::path::{Path, PathBuf};

use stockade_logins::{Destination, LoginFile, LoginFileKind, MAX_FILE};
use zeroize::Zeroizing;

use super::host_list::HostList;
use super::secret_binding::{SecretBinding, SecretError, SecretSource};
use super::secrets::source;

/// Maximum number of logins left out that an error lists.
const MAX_TOLD: usize = 5;

/// A login file of a tool in the user's home directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserLoginFile {
    path: PathBuf,
    below_home: String,
    kind: LoginFileKind,
}

/// The bindings of a login file, or the reason why it has no binding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginBindings {
    /// A binding for each login and host.
    pub bindings: Vec<SecretBinding>,
    /// Why there is no binding: none of the logins is for an allowed host.
    pub none: Option<SecretError>,
}

impl UserLoginFile {
    /// Returns the login file at this path, which may begin with `~/`.
    ///
    /// # Errors
    /// When the path is not the one of a known login file in the user's home directory.
    pub fn at(path: &Path) -> Result<Self, SecretError> {
        let home = env::home_dir().unwrap_or_default();
        let real = home.canonicalize().unwrap_or_else(|_| home.clone());
        Self::below(path, &[Path::new("~"), &home, &real], &real)
    }

    fn below(path: &Path, homes: &[&Path], real: &Path) -> Result<Self, SecretError> {
        let below = homes.iter().find_map(|home| path.strip_prefix(home).ok());
        let Some((below, kind)) = below.and_then(|below| Some((below, LoginFileKind::of(below)?))) else {
            let known: Vec<_> = LoginFileKind::paths().map(|path| format!("~/{path}")).collect();
            let fix = format!("name one of {}", known.join(", "));
            return Err(SecretError::new(
                &path.display().to_string(),
                "is not a known login file in the home directory",
                fix,
            ));
        };
        Ok(Self { path: real.join(below), below_home: below.display().to_string(), kind })
    }

    /// Returns its path below the home directory.
    #[must_use]
    pub fn below_home(&self) -> &str {
        &self.below_home
    }

    /// Returns a binding for each login and host that a list allows. Of several logins for one host and place, the first counts.
    /// The secrets are not kept. `list` names the host list.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn bindings(&self, hosts: &HostList, list: &str) -> Result<LoginBindings, SecretError> {
        let mut bindings: Vec<SecretBinding> = Vec::new();
        let mut needed = None;
        let file = self.read(|login| {
            let secret = login.secret().as_bytes();
            if let Some((why, _)) = source::judge(secret) {
                return Err(why.to_owned());
            }
            let all: Vec<_> = login.to.iter().filter_map(|to| self.binding(&login.of, to)).collect();
            let mut reached: Vec<_> =
                all.iter().filter(|binding| binding.is_reached(hosts)).cloned().collect();
            let Some(first) = all.first() else { return Err("has a host that is not valid".to_owned()) };
            if reached.is_empty() {
                needed.get_or_insert_with(|| first.host.written());
                return Err(format!("needs `{}`, which is not in the host list", first.host.written()));
            }
            if reached.iter().any(|new| bindings.iter().any(|other| other.is_same_place(new))) {
                return Err("is for the host and place of another login".to_owned());
            }
            bindings.append(&mut reached);
            Ok(())
        })?;
        let none = bindings.is_empty().then(|| {
            let told =
                file.left_out().iter().take(MAX_TOLD).map(|login| format!("`{}` {}", login.of, login.why));
            let told: Vec<_> = told.collect();
            let why = match told.as_slice() {
                [] => "contains no login".to_owned(),
                told => format!(
                    "contains no login for a host that the command may connect to: {}",
                    told.join("; ")
                ),
            };
            let fix = needed.map_or_else(
                || "log in again outside of the sandbox, or use --secret".to_owned(),
                |host| format!("add `{host}` to {list}"),
            );
            SecretError::new(&self.shown(), why, fix)
        });
        Ok(LoginBindings { bindings, none })
    }

    /// Returns the secret of a login.
    pub(super) fn secret(&self, of: &str) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let mut secret = None;
        self.read(|login| {
            if login.of == of && secret.is_none() {
                secret = Some(Zeroizing::new(login.secret().as_bytes().to_vec()));
            }
            Ok(())
        })?;
        secret.ok_or_else(|| {
            SecretError::new(
                &self.shown(),
                format!("has no login for `{of}` any more"),
                "run the command again",
            )
        })
    }

    /// Returns the copy of the file in which each secret that `placeholder` knows is replaced. Other logins are left out.
    pub(super) fn copy<'p>(
        &self,
        placeholder: impl Fn(&str, &[u8]) -> Option<&'p str>,
    ) -> Result<String, SecretError> {
        let (mut placeholders, mut seen) = (Vec::new(), BTreeSet::new());
        let file = self.read(|login| {
            let name = self.name_of(&login.of);
            let Some(found) = placeholder(&name, login.secret().as_bytes()).filter(|_| seen.insert(name))
            else {
                return Err("is not lent".to_owned());
            };
            placeholders.push(found);
            Ok(())
        })?;
        Ok(file.with_placeholders(&placeholders))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    fn read(
        &self,
        wanted: impl FnMut(&stockade_logins::Login) -> Result<(), String>,
    ) -> Result<LoginFile, SecretError> {
        let wrong = |why: String, fix: String| SecretError::new(&self.shown(), why, fix);
        let bytes = source::file(&self.path, MAX_FILE).map_err(|(why, fix)| wrong(why, fix))?;
        let fix = || "mend the file, or use --secret".to_owned();
        let text = std::str::from_utf8(&bytes).map_err(|_| wrong("is not valid UTF-8".to_owned(), fix()))?;
        LoginFile::read(self.kind, text, wanted).map_err(|error| wrong(error.to_string(), fix()))
    }

    fn shown(&self) -> String {
        format!("~/{}", self.below_home)
    }

    fn name_of(&self, of: &str) -> String {
        format!("~/{}:{of}", self.below_home)
    }

    /// Returns the binding of a login; nothing if its host is not valid.
    fn binding(&self, of: &str, to: &Destination) -> Option<SecretBinding> {
        let Destination { host, path, place } = to;
        if !host.bytes().chain(path.bytes()).all(|byte| byte.is_ascii_graphic() && byte != b'@') {
            return None;
        }
        let bound = SecretBinding::read(&format!("LOGIN=file:/@{host}{path} in {place}")).ok()?;
        let source = SecretSource::Login { file: self.clone(), of: of.to_owned() };
        Some(SecretBinding { name: self.name_of(of), source, ..bound })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn file(home: &Path, below: &str, text: &str) -> UserLoginFile {
        let path = home.join(below);
        fs::write(&path, text).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        UserLoginFile::below(&path, &[home], home).unwrap()
    }

    fn hosts(list: &[&str]) -> HostList {
        HostList::compile(&list.iter().map(|host| (*host).to_owned()).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn each_login_is_bound_to_the_hosts_that_a_list_allows() {
        let home = tempfile::tempdir().unwrap();
        let text = "machine a.example login me password password-a\nmachine A.example login you password password-b\n\
                    machine b.example login me password short\nmachine c.example login me password password-c\n\
                    machine d.example/x@y login me password password-d\n";
        let file = file(home.path(), ".netrc", text);
        let found = file.bindings(&hosts(&["a.example", "b.example", "d.example"]), "the list").unwrap();
        let bound: Vec<_> = found
            .bindings
            .iter()
            .map(|binding| format!("{} {}", binding.name(), binding.destination()))
            .collect();
        assert_eq!(
            bound,
            ["~/.netrc:a.example a.example:443 in the user or password of `Authorization: Basic`"]
        );
        assert_eq!(found.none, None);
        assert_eq!(*file.secret("a.example").unwrap(), *b"password-a");
        let lent = |name: &str, value: &[u8]| {
            (name == "~/.netrc:a.example" && value == b"password-a").then_some("placeholder")
        };
        assert_eq!(file.copy(lent).unwrap(), "machine a.example login me password placeholder\n");

        let none = file.bindings(&hosts(&["e.example"]), "the list").unwrap().none.unwrap();
        let why = none.to_string();
        assert!(
            why.contains("`a.example` needs `a.example:443`") && why.contains("shorter than 8 bytes"),
            "{why}"
        );
        assert!(why.contains("a host that is not valid") && !why.contains("password-"), "{why}");
        assert_eq!(none.fix, "add `a.example:443` to the list");
    }

    #[test]
    fn a_secret_of_several_hosts_is_one_secret() {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".config/gh")).unwrap();
        let text = "github.com:\n  oauth_token: gho_0123456789\n  user: me\n";
        let file = file(home.path(), ".config/gh/hosts.yml", text);
        let found = file.bindings(&hosts(&["api.github.com", "github.com"]), "the list").unwrap();
        let names: Vec<_> = found.bindings.iter().map(SecretBinding::name).collect();
        assert_eq!(names, ["~/.config/gh/hosts.yml:github.com"; 2]);
        SecretBinding::check(&found.bindings, &hosts(&["api.github.com", "github.com"]), "the list").unwrap();
    }

    #[test]
    fn only_known_files_of_the_user_are_login_files() {
        let home = Path::new("/home/me");
        let at = |path: &str| UserLoginFile::below(path.as_ref(), &[Path::new("~"), home], home);
        assert_eq!(at("~/.npmrc").unwrap().path, Path::new("/home/me/.npmrc"));
        assert_eq!(at("/home/me/.npmrc").unwrap(), at("~/.npmrc").unwrap());
        for path in [
            "/home/me/work/.npmrc",
            "/home/you/.npmrc",
            ".npmrc",
            "/home/me",
            "~/../you/.npmrc",
            "~/./x/../.npmrc",
        ] {
            let error = at(path).unwrap_err();
            assert!(error.fix.contains("~/.netrc"), "{path}: {error}");
        }
    }
}
