//! Directories of the machine and of a home, by name.

// Of Linux and macOS together, because a text may run on either.
/// System directories, directly below the root.
#[rustfmt::skip]
pub const SYSTEM_DIRECTORIES: &[&str] = &[
    "bin", "boot", "dev", "etc", "home", "lib", "lib32", "lib64", "media", "mnt", "opt", "proc", "root", "run", "sbin", "srv",
    "sys", "usr", "var", "Applications", "Library", "System", "Users", "Volumes", "private",
];

/// Directories of a home that contain the files of its user, or the settings and keys of many programs. No skill makes them.
#[rustfmt::skip]
pub const PERSONAL_DIRECTORIES: &[&str] = &[
    "Desktop", "Documents", "Downloads", "Dropbox", "Library", "Movies", "Music", "OneDrive", "Pictures", "Public", "Videos",
    ".ssh", ".gnupg", ".aws", ".kube", ".config", ".local", ".password-store",
];
