//! The kinds of login files, and where they are.

use std::path::Path;

use crate::draft::Draft;
use crate::file::LoginFileError;
use crate::{assignments, documents, git_credentials, netrc, npmrc};

/// The kind of a login file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LoginFileKind {
    /// `~/.netrc`, which curl, git, pip, Go and others read.
    Netrc,
    /// `~/.npmrc`, which npm, pnpm and yarn read.
    Npmrc,
    /// `~/.pypirc`, which twine reads.
    Pypirc,
    /// `~/.git-credentials` of git's helper `store`.
    GitCredentials,
    /// `~/.config/gh/hosts.yml` of the CLI of GitHub.
    GhHosts,
    /// `~/.docker/config.json`, and the file of podman in the same format.
    Docker,
    /// `~/.aws/credentials`: the keys of profiles, which sign requests.
    Aws,
    /// `~/.cargo/credentials.toml`, with the token for crates.io.
    Cargo,
    /// `~/.kube/config`, of whose contexts those with a token count.
    Kubeconfig,
}

type Reader = fn(&str, &mut Draft<'_>) -> Result<(), LoginFileError>;

/// The files below the home, their kinds and their readers. Each kind occurs with its usual path first.
const TABLE: &[(&str, LoginFileKind, Reader)] = &[
    (".netrc", LoginFileKind::Netrc, netrc::read),
    (".npmrc", LoginFileKind::Npmrc, npmrc::read),
    (".pypirc", LoginFileKind::Pypirc, assignments::pypirc),
    (".git-credentials", LoginFileKind::GitCredentials, git_credentials::read),
    (".config/git/credentials", LoginFileKind::GitCredentials, git_credentials::read),
    (".config/gh/hosts.yml", LoginFileKind::GhHosts, documents::gh_hosts),
    (".docker/config.json", LoginFileKind::Docker, documents::docker),
    (".config/containers/auth.json", LoginFileKind::Docker, documents::docker),
    (".aws/credentials", LoginFileKind::Aws, assignments::aws),
    (".cargo/credentials.toml", LoginFileKind::Cargo, documents::cargo),
    (".kube/config", LoginFileKind::Kubeconfig, documents::kubeconfig),
];

impl LoginFileKind {
    /// Returns the kind of a file by its path below the home.
    #[must_use]
    pub fn of(below_home: &Path) -> Option<Self> {
        TABLE.iter().find(|row| Path::new(row.0) == below_home).map(|row| row.1)
    }

    /// Returns the paths below the home of all known files.
    pub fn paths() -> impl Iterator<Item = &'static str> {
        TABLE.iter().map(|row| row.0)
    }

    pub(crate) fn read(self, text: &str, draft: &mut Draft<'_>) -> Result<(), LoginFileError> {
        TABLE.iter().find(|row| row.1 == self).map_or(Ok(()), |row| row.2(text, draft))
    }
}
