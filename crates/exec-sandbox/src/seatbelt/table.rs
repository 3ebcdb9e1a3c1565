//! The tables of rules for every profile.

/// Readable system directories, and the reason.
pub(super) const READ: &[(&str, &str)] = &[
    ("/usr", "programs and libraries of the system"),
    ("/bin", "programs and libraries of the system"),
    ("/sbin", "programs and libraries of the system"),
    ("/Library", "frameworks and developer tools"),
    ("/System", "programs and libraries of the system"),
    ("/opt/homebrew", "programs of Homebrew"),
    ("/usr/local", "programs of Homebrew and of the machine"),
    ("/dev", "devices, subject to file permissions"),
    ("/private/etc", "settings of the system"),
    ("/private/var/db/timezone", "the time zone"),
    ("/var/db/timezone", "the time zone"),
    ("/private/var/db/dyld", "libraries of the system"),
    ("/private/tmp", "temporary files"),
    ("/private/var/folders", "temporary files of each user"),
];

/// Writable temporary directories, and the reason.
pub(super) const WRITE: &[(&str, &str)] =
    &[("/private/tmp", "temporary files"), ("/private/var/folders", "temporary files of each user")];

/// Unreadable paths in these directories: passwords and sudo rules.
pub(super) const NEVER_READ: &[&str] = &[
    "/private/etc/master.passwd",
    "/private/etc/sudoers",
    "/private/etc/sudoers.d",
    "/private/etc/security",
    "/private/etc/krb5.keytab",
    "/private/etc/ssh",
    "/Library/Keychains",
    "/System/Library/Keychains",
    "/private/var/db/dslocal",
];

/// Directories at home that are readable with `home: tools`, without their credentials.
pub(super) const TOOLS_AT_HOME: &[(&str, &str)] = &[
    ("Library", "programs and frameworks of the user"),
    ("Projects", "projects of the user"),
    (".local", "programs that the user installed"),
    (".nvm", "versions of Node.js"),
];

/// Paths in them that are never readable, in addition to the table of names, which covers Linux.
pub(super) const NEVER_READ_AT_HOME: &[&str] = &[
    "Library/Keychains",
    "Library/Cookies",
    "Library/HTTPStorages",
    "Library/WebKit",
    "Library/Safari",
    "Library/Messages",
    "Library/Mail",
    "Library/Accounts",
    "Library/IdentityServices",
    "Library/Application Support",
    "Library/Containers",
    "Library/Group Containers",
    "Library/Preferences",
    "Library/Mobile Documents",
    "Library/Calendars",
    "Library/Caches",
    "Library/Logs",
    "Library/Saved Application State",
];

/// Directories that are never writable, nor any path above them.
pub(super) const SHARED_BY_ALL: &[&str] = &[
    "/private/tmp",
    "/private/var",
    "/private/var/tmp",
    "/private/var/folders",
    "/Users",
    "/Volumes",
    "/opt",
];

/// Directories that are never writable, nor any path in them, because programs of the machine run from there.
pub(super) const PROGRAMS: &[&str] = &[
    "/System",
    "/Library",
    "/Applications",
    "/opt/homebrew",
    "/private/etc",
    "/cores",
    "/private/var/db",
    "/private/var/root",
];

/// Symlinks in the root of macOS, and their targets, which profiles must name.
pub(super) const ROOT_LINKS: &[(&str, &str)] =
    &[("/etc", "/private/etc"), ("/tmp", "/private/tmp"), ("/var", "/private/var")];

/// Rules of every profile. The first denies everything that no later rule allows.
pub(super) const ALWAYS: &[(&str, &str)] = &[
    ("(deny default)", "everything that no rule below allows"),
    ("(allow signal (target same-sandbox))", "signals to processes of the sandbox"),
    ("(allow process-info* (target same-sandbox))", "information about processes of the sandbox"),
    ("(allow sysctl-read)", "system information"),
    ("(allow ipc-posix-sem)", "semaphores of language runtimes"),
    ("(allow file-read-data (literal \"/\"))", "names in the root directory"),
    ("(allow file-write-data (literal \"/dev/null\"))", "devices that store nothing"),
    ("(allow file-write-data (literal \"/dev/zero\"))", "devices that store nothing"),
    ("(allow file-write-data (literal \"/dev/dtracehelper\"))", "tracing registration of language runtimes"),
    ("(allow file-write* (literal \"/dev/ptmx\"))", "private terminals"),
    ("(allow file-write* (regex #\"^/dev/ttys[0-9]+$\"))", "private terminals"),
    ("(allow file-ioctl (literal \"/dev/ptmx\"))", "private terminals"),
    ("(allow file-ioctl (regex #\"^/dev/ttys[0-9]+$\"))", "private terminals"),
    ("(allow pseudo-tty)", "private terminals"),
    ("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.libinfo\"))", "names of users"),
    ("(allow mach-lookup (global-name \"com.apple.system.opendirectoryd.membership\"))", "names of users"),
    ("(allow mach-lookup (global-name \"com.apple.system.logger\"))", "system log"),
    (
        "(allow mach-lookup (global-name \"com.apple.system.notification_center\"))",
        "changes of the time zone",
    ),
];

/// Rules for an open network. Unix sockets, through which other programs are reachable, are not included.
pub(super) const OPEN_NETWORK: &[(&str, &str)] = &[
    ("(allow system-socket)", "sockets"),
    ("(allow network-outbound (remote ip \"*:*\"))", "other machines"),
    ("(allow network-bind (local ip \"*:*\"))", "servers of the command"),
    ("(allow network-inbound (local ip \"*:*\"))", "servers of the command"),
    ("(allow network-outbound (literal \"/private/var/run/mDNSResponder\"))", "host name resolution"),
    ("(allow mach-lookup (global-name \"com.apple.SystemConfiguration.configd\"))", "network configuration"),
    ("(allow mach-lookup (global-name \"com.apple.dnssd.service\"))", "host name resolution"),
    ("(allow mach-lookup (global-name \"com.apple.trustd\"))", "certificates"),
    ("(allow mach-lookup (global-name \"com.apple.trustd.agent\"))", "certificates"),
    ("(allow mach-lookup (global-name \"com.apple.networkd\"))", "network configuration"),
];
