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

/// Files that every program or every login of the machine trusts, below the root. A row that ends with `/` covers a directory.
#[rustfmt::skip]
pub const TRUSTED_FILES: &[&str] = &[
    "etc/passwd", "etc/shadow", "etc/gshadow", "etc/group", "etc/sudoers", "etc/sudoers.d/", "etc/pam.d/", "etc/security/",
    "etc/hosts", "etc/resolv.conf", "etc/nsswitch.conf", "etc/ld.so.preload", "etc/ld.so.conf", "etc/ld.so.conf.d/",
    "etc/ssh/sshd_config", "etc/ssh/sshd_config.d/", "etc/ssl/certs/", "etc/pki/", "usr/local/share/ca-certificates/",
];

/// Names of files in `.ssh` of a home that list who may log in.
pub const LOGIN_KEY_FILES: &[&str] = &["authorized_keys", "authorized_keys2"];
