//! What is visible of the system and of the home, row by row.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::binds::is_plain;
use crate::choices::HomeView;
use crate::spec::MountAccess;

/// Paths of the system that are visible where they exist, and why. A final `*` matches the rest of a name.
pub(crate) const SYSTEM: &[(&str, &str)] = &[
    ("/usr", "programs and libraries of the system"),
    ("/bin", "programs and libraries of the system"),
    ("/sbin", "programs and libraries of the system"),
    ("/lib", "programs and libraries of the system"),
    ("/lib64", "programs and libraries of the system"),
    ("/lib32", "programs and libraries of the system"),
    ("/etc/resolv.conf", "names of machines"),
    ("/etc/hosts", "names of machines"),
    ("/etc/hostname", "names of machines"),
    ("/etc/ssl", "certificates"),
    ("/etc/ca-certificates", "certificates"),
    ("/etc/pki", "certificates"),
    ("/etc/ld.so.cache", "where libraries are"),
    ("/etc/ld.so.conf", "where libraries are"),
    ("/etc/ld.so.conf.d", "where libraries are"),
    ("/etc/alternatives", "links from program names to the installed alternatives"),
    ("/etc/localtime", "the time zone"),
    ("/etc/passwd", "names of users"),
    ("/etc/group", "names of users"),
    ("/etc/nsswitch.conf", "where names are looked up"),
    ("/etc/fonts", "font configuration"),
    ("/etc/services", "names of ports"),
    ("/etc/protocols", "names of protocols"),
    ("/etc/host.conf", "where names are looked up"),
    ("/etc/gai.conf", "where names are looked up"),
    ("/etc/mime.types", "names of kinds of files"),
    ("/etc/magic", "names of kinds of files"),
    ("/etc/os-release", "which system this is"),
    ("/etc/lsb-release", "which system this is"),
    ("/etc/debian_version", "which system this is"),
    ("/etc/crypto-policies", "which ciphers may be used"),
    ("/etc/java", "settings of Java"),
    ("/etc/java-*", "settings of Java"),
    ("/etc/maven/m2.conf", "where Maven is"),
    ("/etc/maven/logging", "how Maven prints"),
    ("/etc/chromium.d", "options of Chromium"),
    ("/etc/terminfo", "what terminals can do"),
    ("/etc/ImageMagick-*", "what ImageMagick may do"),
    ("/etc/texmf", "settings of TeX"),
    ("/etc/R", "settings of R"),
];

/// The user's own list of files that git passes over.
pub(crate) const IGNORED: &str = ".config/git/ignore";

/// Paths below the home that are visible where they exist, when, and why.
pub(crate) const AT_HOME: &[(&str, HomeView, MountAccess, &str)] = &[
    (IGNORED, HomeView::Private, MountAccess::ReadOnly, "which files git passes over"),
    (".config/git/attributes", HomeView::Private, MountAccess::ReadOnly, "how git treats files"),
    // Where installers and version managers put toolchains unless they are told otherwise.
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
    (".cargo/git", HomeView::Tools, MountAccess::ReadOnly, "libraries that were fetched before"),
    (".cargo/registry", HomeView::Tools, MountAccess::ReadOnly, "libraries that were fetched before"),
    (".m2/repository", HomeView::Tools, MountAccess::ReadOnly, "libraries that were fetched before"),
    ("go/pkg/mod", HomeView::Tools, MountAccess::ReadOnly, "libraries that were fetched before"),
];

/// Why a folder of programs is visible.
pub(super) const PROGRAMS: &str = "programs of the user";

/// The rows of what is visible in the home.
pub(crate) fn rows_at_home(
    home: HomeView,
) -> impl Iterator<Item = &'static (&'static str, HomeView, MountAccess, &'static str)> {
    AT_HOME.iter().filter(move |row| row.1 == HomeView::Private || home == HomeView::Tools)
}

/// Folders of a search path that lie in a home, each once.
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
