//! The directory that is attacked: a workspace with a repository, settings and secrets, and what is beside it.

#![expect(
    clippy::disallowed_methods,
    reason = "creates a directory and bait files to attack, and listening sockets"
)]

use std::ffi::OsString;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::os::linux::net::SocketAddrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::{Path, PathBuf};

/// Content of every secret. An attack whose output contains it has succeeded.
pub(super) const SECRET: &str = "hunter2-of-the-selftest";

/// Content of the file beside the workspace.
const BAIT: &[u8] = b"bait\n";

/// Owner of the workspace if root runs the test.
const UNPRIVILEGED: u32 = 65534;

/// Files of the user in the workspace, and their content. A `*` is replaced by the secret.
#[rustfmt::skip]
const FILES: &[(&str, &str)] = &[
    (".git/HEAD", "ref: refs/heads/main\n"),
    (".git/config", "[core]\n\trepositoryformatversion = 0\n"),
    (".git/hooks/pre-commit", "#!/bin/sh\n"),
    (".git/info/exclude", "# none\n"),
    (".git/logs/HEAD", "\n"),
    (".git/objects/info/packs", "\n"),
    (".git/refs/heads/main", "0123456789012345678901234567890123456789\n"),
    (".claude/settings.json", "{}\n"),
    (".env", "KEY=*\n"),
    ("conf/.env.production", "KEY=*\n"),
    ("src/file", "text\n"),
    ("docs/text", "text\n"),
    ("packages/index", "text\n"),
    ("node_modules/one/index.js", "text\n"),
    ("env/pyvenv.cfg", "home = /usr/bin\n"),
    ("env/bin/activate", "export VIRTUAL_ENV\n"),
    // A repository that git would obey, as projects have them in their tests.
    ("fixture/HEAD", "ref: refs/heads/main\n"),
    ("fixture/config", "[core]\n\tfsmonitor = ./watch\n"),
    ("fixture/objects/info/packs", "\n"),
    ("fixture/refs/heads/main", "0123456789012345678901234567890123456789\n"),
];

/// Hard links of the user to files of the table.
const HARD_LINKS: &[(&str, &str)] =
    &[(".claude/settings.json", "copies/settings"), (".env", "copies/secret")];

/// Symlinks of the user.
const LINKS: &[(&str, &str)] = &[("env/bin/python", "/usr/bin/python3")];

/// Targets of the attacks, and the workspace in which they start.
#[derive(Debug)]
pub(super) struct Ground {
    _folder: tempfile::TempDir,
    pub(super) workspace: PathBuf,
    bait: PathBuf,
    listener: TcpListener,
    abstract_name: String,
    _sockets: [UnixListener; 3],
}

impl Ground {
    pub(super) fn new() -> io::Result<Self> {
        let folder = tempfile::Builder::new().prefix("stockade-selftest-").tempdir()?;
        let place = fs::canonicalize(folder.path())?;
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755))?;
        let (workspace, bait) = (place.join("work"), place.join("bait"));
        fs::create_dir(&workspace)?;
        fs::write(&bait, BAIT)?;
        for (path, text) in FILES {
            make_parent(&workspace.join(path))?;
            fs::write(workspace.join(path), text.replace('*', SECRET))?;
        }
        for (from, to) in HARD_LINKS {
            make_parent(&workspace.join(to))?;
            fs::hard_link(workspace.join(from), workspace.join(to))?;
        }
        for (path, to) in LINKS {
            symlink(to, workspace.join(path))?;
        }
        let abstract_name = format!("{}", place.display());
        let abstract_socket =
            UnixListener::bind_addr(&SocketAddr::from_abstract_name(abstract_name.as_bytes())?)?;
        let sockets = [
            UnixListener::bind(workspace.join("listener"))?,
            UnixListener::bind(place.join("agent"))?,
            abstract_socket,
        ];
        if rustix::process::geteuid().is_root() {
            give_away(&workspace)?;
        }
        let listener = TcpListener::bind("127.0.0.1:0")?;
        Ok(Self { _folder: folder, workspace, bait, listener, abstract_name, _sockets: sockets })
    }

    /// Returns the variables of the scripts: `$BAIT` is a file beside the workspace, `$AGENT` a socket there, `$PORT` a
    /// listening TCP port of this machine, `$ABSTRACT` a listening abstract socket, and `$PEER` the ID of this process.
    pub(super) fn variables(&self) -> io::Result<Vec<(OsString, OsString)>> {
        let port = self.listener.local_addr()?.port().to_string();
        let agent = self.bait.with_file_name("agent");
        Ok(vec![
            ("BAIT".into(), self.bait.clone().into()),
            ("AGENT".into(), agent.into()),
            ("PORT".into(), port.into()),
            ("ABSTRACT".into(), self.abstract_name.clone().into()),
            ("PEER".into(), std::process::id().to_string().into()),
        ])
    }

    /// Whether the file beside the workspace is unchanged.
    pub(super) fn is_whole(&self) -> bool {
        fs::read(&self.bait).is_ok_and(|bytes| bytes == BAIT)
    }

    /// Whether a file of the workspace is as before: unchanged, or still missing.
    pub(super) fn is_unchanged(&self, path: &str) -> bool {
        let now = self.workspace.join(path);
        if let Some((_, to)) = LINKS.iter().find(|link| link.0 == path) {
            return fs::read_link(&now).is_ok_and(|now| now == Path::new(to));
        }
        let from = HARD_LINKS.iter().find(|link| link.1 == path).map_or(path, |link| link.0);
        match FILES.iter().find(|file| file.0 == from) {
            Some((_, text)) => {
                now.symlink_metadata().is_ok_and(|it| it.is_file())
                    && fs::read(&now).is_ok_and(|bytes| bytes == text.replace('*', SECRET).as_bytes())
            }
            None => now.symlink_metadata().is_err(),
        }
    }

    /// Whether a file of the workspace is a symlink.
    pub(super) fn is_link(&self, path: &str) -> bool {
        self.workspace.join(path).is_symlink()
    }

    /// Whether a file of the workspace contains a text.
    pub(super) fn contains(&self, path: &str, text: &str) -> bool {
        fs::read_to_string(self.workspace.join(path)).is_ok_and(|content| content.contains(text))
    }

    /// Returns the size of a file of the workspace.
    pub(super) fn size(&self, path: &str) -> u64 {
        self.workspace.join(path).metadata().map_or(0, |found| found.len())
    }
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Gives a directory and everything in it to an ordinary user.
fn give_away(path: &Path) -> io::Result<()> {
    let found = path.symlink_metadata()?;
    if found.is_dir() {
        for entry in fs::read_dir(path)? {
            give_away(&entry?.path())?;
        }
    }
    std::os::unix::fs::lchown(path, Some(UNPRIVILEGED), Some(UNPRIVILEGED))
}
