//! Packages, by the programs that install them: as arguments, and never as a line for a shell.

use super::{E2bCommand, E2bError};

/// Whose packages they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Packages {
    /// Those of Python, by pip.
    Pip,
    /// Those of Node.js, by npm.
    Npm,
    /// Those of Debian, by apt.
    Apt,
}

impl Packages {
    /// Returns the command that installs packages.
    ///
    /// # Errors
    ///
    /// When a name is not valid: it would be an option, or something else than the name and version of a package.
    pub fn install<N: AsRef<str>>(self, names: &[N]) -> Result<E2bCommand, E2bError> {
        if names.is_empty() || !names.iter().all(|name| is_name(name.as_ref())) {
            return Err(E2bError::Plain(
                "a package name starts with a letter, a digit or `@`, and has no spaces",
            ));
        }
        let words: &[&str] = match self {
            Self::Pip => &["pip", "install", "--no-input", "--disable-pip-version-check", "--"],
            Self::Npm => &["npm", "install", "--no-fund", "--no-audit", "--"],
            Self::Apt => &["sudo", "-n", "apt-get", "install", "-y", "--no-install-recommends", "--"],
        };
        let words = words.iter().copied().chain(names.iter().map(AsRef::as_ref));
        Ok(E2bCommand::of(words.map(str::to_owned)))
    }
}

/// Whether a text is the name of a package, perhaps with a version: `six==1.16.0`, `@scope/name@^2`, `libc6:amd64`.
fn is_name(name: &str) -> bool {
    let begins = name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '@');
    let may = |c: char| c.is_ascii_alphanumeric() || "@/._-+=<>~!^*[],:".contains(c);
    // Addresses and paths are packages as well, from any author.
    begins && name.len() <= 214 && name.chars().all(may) && !name.contains("://") && !name.contains("..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn package_names_are_validated() {
        for name in
            ["six==1.16.0", "requests[socks]>=2,<3", "@scope/name@^2.0", "libc6:amd64", "python3-pip", "g++"]
        {
            assert!(is_name(name), "{name}");
        }
        for name in [
            "",
            "-r",
            "--index-url",
            "a b",
            "a;b",
            "git+https://x/y",
            "../x",
            "/x",
            "./x",
            "$(x)",
            "a\nb",
            "`a`",
        ] {
            assert!(!is_name(name), "{name}");
        }
        let command = Packages::Npm.install(&["left-pad@1.3.0"]).unwrap();
        assert_eq!(command.words.last().map(String::as_str), Some("left-pad@1.3.0"));
        assert!(Packages::Pip.install::<&str>(&[]).is_err());
    }
}
