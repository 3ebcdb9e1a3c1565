//! The table of visible paths of the system and of the home.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::binds::is_plain;
use crate::choices::HomeView;
use crate::spec::MountAccess;

/// System paths that are visible where they exist, and the reason. A final `*` matches the rest of a name.
pub(crate) const SYSTEM: &[(&str, &str)] = &[
    ("/usr", "programs and libraries of the system"),
    ("/bin", "programs and libraries of the system"),
    ("/sbin", "programs and libraries of the system"),
    ("/lib", "programs and libraries of the system"),
    ("/lib64", "programs and libraries of the system"),
    ("/lib32", "programs and libraries of the system"),
    ("/etc/resolv.conf", "host names"),
    ("/etc/hosts", "host names"),
    ("/etc/hostname", "host names"),
    ("/etc/ssl", "certificates"),
    ("/etc/ca-certificates", "certificates"),
    ("/etc/pki", "certificates"),
    ("/etc/ld.so.cache", "library search paths"),
    ("/etc/ld.so.conf", "library search paths"),
    ("/etc/ld.so.conf.d", "library search paths"),
    ("/etc/alternatives", "links from program names to the installed alternatives"),
    ("/etc/localtime", "the time zone"),
    ("/etc/passwd", "user and group names"),
    ("/etc/group", "user and group names"),
    ("/etc/nsswitch.conf", "name resolution"),
    ("/etc/fonts", "font configuration"),
    ("/etc/services", "port names"),
    ("/etc/protocols", "protocol names"),
    ("/etc/host.conf", "name resolution"),
    ("/etc/gai.conf", "name resolution"),
    ("/etc/mime.types", "file types"),
    ("/etc/magic", "file types"),
    ("/etc/os-release", "operating system version"),
    ("/etc/lsb-release", "operating system version"),
    ("/etc/debian_version", "operating system version"),
    ("/etc/crypto-policies", "allowed ciphers"),
    ("/etc/java", "Java settings"),
    ("/etc/java-*", "Java settings"),
    ("/etc/maven/m2.conf", "Maven location"),
    ("/etc/maven/logging", "Maven logging"),
    ("/etc/chromium.d", "Chromium options"),
    ("/etc/terminfo", "terminal descriptions"),
    ("/etc/ImageMagick-*", "ImageMagick policy"),
    ("/etc/texmf", "TeX settings"),
    ("/etc/R", "R settings"),
];

/// The user's gitignore file.
pub(crate) const IGNORED: &str = ".config/git/ignore";

/// Paths below the home that are visible where they exist: the home view that shows them, and the reason.
pub(crate) const AT_HOME: &[(&str, HomeView, MountAccess, &str)] = &[
    (IGNORED, HomeView::Private, MountAccess::ReadOnly, "files that git ignores"),
    (".config/git/attributes", HomeView::Private, MountAccess::ReadOnly, "git attributes"),
    // Default locations of installers and version managers.
    ("bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".asdf", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".bun", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".cargo/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".composer/vendor", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".conda/envs", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".deno", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".dotnet/dotnet", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".dotnet/host", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".dotnet/packs", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".dotnet/sdk", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".dotnet/shared", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".dotnet/tools", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".elan", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".fnm", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".foundry/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".gem/ruby", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".ghcup", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".goenv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".gvm", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".jabba", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".jenv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".juliaup", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".krew/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/go", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/lib", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/node", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/pipx", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/fnm", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/gem", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/mise", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/pipx", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/pnpm", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/pypoetry", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/uv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".local/share/virtualenvs", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".nimble/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".nodenv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".npm-global", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".npm-packages", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".nvm", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".opam", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".pixi", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".proto", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".pub-cache/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".pyenv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".rbenv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".rustup", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".rvm", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".rye", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".sdkman", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".stack/programs", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".swiftly", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".tfenv", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".virtualenvs", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".volta", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("anaconda3", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("go/bin", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("mambaforge", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("micromamba", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("miniconda3", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("miniforge3", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    ("sdk", HomeView::Tools, MountAccess::ReadOnly, PROGRAMS),
    (".cargo/git", HomeView::Tools, MountAccess::ReadOnly, "downloaded libraries"),
    (".cargo/registry", HomeView::Tools, MountAccess::ReadOnly, "downloaded libraries"),
    (".m2/repository", HomeView::Tools, MountAccess::ReadOnly, "downloaded libraries"),
    ("go/pkg/mod", HomeView::Tools, MountAccess::ReadOnly, "downloaded libraries"),
];

/// The reason of directories of programs.
pub(super) const PROGRAMS: &str = "programs of the user";

/// Returns the rows of a home view.
pub(crate) fn rows_at_home(
    home: HomeView,
) -> impl Iterator<Item = &'static (&'static str, HomeView, MountAccess, &'static str)> {
    AT_HOME.iter().filter(move |row| row.1 == HomeView::Private || home == HomeView::Tools)
}

/// Returns directories of a search path that lie below a home, without duplicates.
pub(crate) fn path_at_home(
    environment: &BTreeMap<OsString, OsString>,
    home: &Path,
) -> impl Iterator<Item = PathBuf> + use<> {
    let path = environment.get(OsStr::new("PATH"));
    let folders = path.into_iter().flat_map(std::env::split_paths);
    let folders: BTreeSet<PathBuf> =
        folders.filter(|folder| folder.starts_with(home) && folder != home && is_plain(folder)).collect();
    folders.into_iter()
}
